//! What is counted of each rule, in this process and in the daemon's page.

use crate::counts::new_owner;
use parking_lot::Mutex;
use site_rules::counts::{COUNTS, PAGE, RULE_SET, RuleCount, RuleCounts, place};
use site_rules::rules::RuleNumber;
use slurm_sys::memory::{CountsPage, HandOver};

/// A rule that was asked about a request, with what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedRule {
    pub(crate) rule: RuleNumber,
    pub(crate) has_matched: bool,
    pub(crate) has_failed: bool,
    pub(crate) has_refused: bool,
    pub(crate) has_warned: bool,
    pub(crate) is_observed: bool,
    pub(crate) steps: u32,
    pub(crate) nanoseconds: u32,
}

/// The counts of the rules in force. They are added to under a lock, for many rules at a time: a
/// rule has a line of the cache to itself, and to add to each number by itself would cost as much
/// as evaluation does.
#[derive(Debug)]
pub(crate) struct Counting(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    /// Whose rules they are, anew for each set of rules.
    owner: u64,
    rule_set: u64,
    counts: Vec<RuleCounts>,
    page: Option<Page>,
}

#[derive(Debug)]
struct Page {
    memory: CountsPage,
    /// Process, its beginning, and descriptor: a daemon that was started again has another page.
    from: (u32, u64, i32),
}

impl Inner {
    fn begin_page(&self) {
        if let Some(page) = &self.page {
            let numbers = std::iter::once(self.rule_set).chain(self.counts.iter().flatten().copied());
            page.memory.begin(self.owner, numbers.chain(std::iter::repeat(0)).take(PAGE));
        }
    }
}

impl Counting {
    pub(crate) const fn new() -> Counting {
        Counting(Mutex::new(Inner { owner: 0, rule_set: 0, counts: Vec::new(), page: None }))
    }

    /// Begins to count for a set of so many rules.
    pub(crate) fn begin(&self, rule_set: u64, rules: usize) {
        let mut inner = self.0.lock();
        inner.owner = new_owner();
        inner.rule_set = rule_set;
        inner.counts = vec![[0; COUNTS.len()]; rules];
        inner.begin_page();
    }

    /// Adds what became of the rules of a set that were asked about a request. What was asked
    /// before another set was taken up is no longer counted.
    pub(crate) fn add(&self, rule_set: u64, asked: &[AskedRule]) {
        let mut inner = self.0.lock();
        let Inner { owner, rule_set: counted, counts, page } = &mut *inner;
        if *counted != rule_set {
            return;
        }
        for asked in asked {
            let Some(of_rule) = counts.get_mut(usize::from(asked.rule.0)) else { continue };
            let mut add = |count: RuleCount, number: u64| {
                if number == 0 {
                    return;
                }
                if let Some(sum) = of_rule.get_mut(count as usize) {
                    *sum = sum.wrapping_add(number);
                    if let Some(page) = page {
                        page.memory.put(*owner, place(asked.rule, count), *sum);
                    }
                }
            };
            add(RuleCount::Asked, 1);
            add(RuleCount::Matched, u64::from(asked.has_matched));
            add(RuleCount::Failed, u64::from(asked.has_failed));
            add(RuleCount::Refused, u64::from(asked.has_refused));
            add(RuleCount::Warned, u64::from(asked.has_warned));
            add(RuleCount::Observed, u64::from(asked.is_observed));
            add(RuleCount::Steps, u64::from(asked.steps));
            add(RuleCount::Nanoseconds, u64::from(asked.nanoseconds));
        }
    }

    /// Counts in the page that a daemon hands over from now on, if it is another one than before.
    pub(crate) fn take_page(&self, hand_over: &HandOver) {
        let Some(handed) = hand_over.rule_counts else { return };
        let from = (hand_over.process, hand_over.began, handed.descriptor);
        let mut inner = self.0.lock();
        if inner.page.as_ref().is_some_and(|page| page.from == from) {
            return;
        }
        match hand_over.open_rule_counts(PAGE) {
            Ok(Some(memory)) => {
                inner.page = Some(Page { memory, from });
                if inner.rule_set != 0 {
                    inner.begin_page();
                }
            }
            Ok(None) => {}
            Err(error) => {
                slurm_sys::log::info(&format!("job_submit/queuecast: counts of rules are not shown to queuecastd: {error}"));
            }
        }
    }

    /// Gives the page back, and forgets what was counted.
    pub(crate) fn let_go(&self) {
        *self.0.lock() = Inner { owner: 0, rule_set: 0, counts: Vec::new(), page: None };
    }
}

/// The number of the rule set stands first, because [`Inner::begin_page`] writes it first.
const _: () = assert!(RULE_SET == 0);
