//! What this process has counted, and the daemon's page that it is copied into.

use parking_lot::RwLock;
use predictor_core::decisions::counters::{COUNTERS, Counter};
use predictor_core::decisions::refusals::{NotedRefusal, SHOWN};
use slurm_sys::memory::{CountsPage, HandOver};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of this process. They hold whatever becomes of the daemon and its page.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The counters, and the last refusals for deadlines.
    numbers: [AtomicU64; SHOWN],
    /// The number under which this process counts; 0 before it has a page.
    owner: AtomicU64,
    page: RwLock<Option<Page>>,
}

#[derive(Debug)]
struct Page {
    memory: CountsPage,
    /// Process, its beginning, and descriptor: a daemon that was started again has another page.
    from: (u32, u64, i32),
}

impl Counts {
    pub(crate) const fn new() -> Counts {
        Counts { numbers: [const { AtomicU64::new(0) }; SHOWN], owner: AtomicU64::new(0), page: parking_lot::const_rwlock(None) }
    }

    /// Adds one to a counter.
    pub(crate) fn count(&self, counter: Counter) {
        let value = self.added(counter);
        self.show(counter.index(), value);
    }

    /// Counts a submission that was refused for its deadline, and notes whose it was.
    pub(crate) fn refused(&self, refusal: &NotedRefusal) {
        let ordinal = self.added(Counter::NotAdmitted);
        for (place, value) in refusal.numbers(ordinal) {
            if let Some(number) = self.numbers.get(place) {
                number.fetch_max(value, Ordering::Relaxed);
            }
            self.show(place, value);
        }
        // Whoever sees it counted finds it noted.
        self.show(Counter::NotAdmitted.index(), ordinal);
    }

    /// Adds one to a counter of this process. Returns its value.
    fn added(&self, counter: Counter) -> u64 {
        let number = self.numbers.get(counter.index());
        number.map_or(0, |number| number.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }

    /// Shows a number to the daemon.
    fn show(&self, index: usize, value: u64) {
        // While the page is being replaced, whoever replaces it copies all numbers.
        if let Some(page) = self.page.try_read().as_deref().and_then(Option::as_ref) {
            page.memory.raise(self.owner.load(Ordering::Relaxed), index, value);
        }
    }

    /// Gives the page back; what is counted from now on stays in this process until there is
    /// another.
    pub(crate) fn let_go(&self) {
        *self.page.write() = None;
    }

    /// Counts in the page that a daemon hands over from now on, if it is another one than before.
    /// One that can't be had leaves the numbers in this process, until a daemon hands over a page.
    pub(crate) fn take_page(&self, hand_over: &HandOver) {
        let from = (hand_over.process, hand_over.began, hand_over.counts.descriptor);
        if self.page.read().as_ref().is_some_and(|page| page.from == from) {
            return;
        }
        let memory = match hand_over.open_counts(SHOWN) {
            Ok(memory) => memory,
            Err(error) => {
                return slurm_sys::log::info(&format!("job_submit/queuecast: counters are not shown to queuecastd: {error}"));
            }
        };
        match (self.owner.load(Ordering::Relaxed), memory.read()) {
            // A slurmctld before this one counted there. To go on in its name loses nothing that
            // the daemon has not seen yet.
            (0, Some((owner, numbers))) => {
                for (index, (number, before)) in self.numbers.iter().zip(numbers).enumerate() {
                    // What is behind the counters says itself which is the later one.
                    let add = if index < COUNTERS.len() { AtomicU64::fetch_add } else { AtomicU64::fetch_max };
                    add(number, before, Ordering::Relaxed);
                }
                self.owner.store(owner, Ordering::Relaxed);
            }
            (0, None) => self.owner.store(new_owner(), Ordering::Relaxed),
            _ => {}
        }
        let owner = self.owner.load(Ordering::Relaxed);
        let numbers = || self.numbers.iter().map(|number| number.load(Ordering::Relaxed));
        if memory.read().is_none_or(|(counting, _)| counting != owner) {
            memory.begin(owner, numbers());
        }
        *self.page.write() = Some(Page { memory, from });
        // Adds what was counted while the page was not yet in its place.
        if let Some(page) = self.page.read().as_ref() {
            numbers().enumerate().for_each(|(index, value)| page.memory.raise(owner, index, value));
        }
    }
}

/// A name to count as that nobody else has.
pub(crate) fn new_owner() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
