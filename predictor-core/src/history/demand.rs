//! The demand on a partition over time: CPUs of all jobs that were running or eligible, as means over steps of equal width.

use crate::time::{Seconds, UnixTime};
use std::collections::VecDeque;

/// Demand in CPU-seconds of each step, as differences from step to step, so that a job costs four additions whenever it is learnt of.
#[derive(Debug)]
pub struct Demand {
    resolution_s: i64,
    steps: usize,
    /// Number of the first step that is kept, counted from the epoch.
    first_step: i64,
    /// Change of the CPU-seconds at each step; what happened before the first step is in the first.
    changes: VecDeque<i64>,
    /// The same for jobs that have not ended, replaced as a whole.
    live: Vec<(i64, i64)>,
    /// CPU-seconds of each step, as of the last [`Demand::settle`].
    levels: Vec<i64>,
    settled: bool,
}

impl Demand {
    /// No demand, to be known for `window` back in steps of `resolution`.
    #[must_use]
    pub fn new(window: Seconds, resolution: Seconds) -> Demand {
        let resolution_s = resolution.0.max(1);
        let steps = usize::try_from(window.0.max(0) / resolution_s).unwrap_or(0).clamp(1, 4_000_000);
        Demand { resolution_s, steps, first_step: 0, changes: VecDeque::new(), live: Vec::new(), levels: Vec::new(), settled: true }
    }

    /// Adds the demand of an ended job from when it was eligible to when it ended.
    pub fn add(&mut self, from: UnixTime, to: UnixTime, cpus: u32) {
        for (step, change) in self.changes_of(from, to, cpus) {
            self.change(step, change);
        }
        self.settled = false;
    }

    /// Adds the demand of a job that has not ended.
    pub fn add_live(&mut self, from: UnixTime, now: UnixTime, cpus: u32) {
        self.live.extend(self.changes_of(from, now, cpus));
        self.settled = false;
    }

    /// What a job changes, in CPU-seconds, at the steps where its part of them changes.
    fn changes_of(&self, from: UnixTime, to: UnixTime, cpus: u32) -> [(i64, i64); 4] {
        let (from, to, cpus) = (from.0, to.0.max(from.0), i64::from(cpus));
        let (first, last) = (from.div_euclid(self.resolution_s), to.div_euclid(self.resolution_s));
        let whole = cpus * self.resolution_s;
        // What is missing of its first step, and what it has of its last.
        let missing = cpus * from.rem_euclid(self.resolution_s);
        let begun = cpus * to.rem_euclid(self.resolution_s);
        [(first, whole - missing), (first + 1, missing), (last, begun - whole), (last + 1, -begun)]
    }

    /// Forgets the jobs that had not ended.
    pub fn clear_live(&mut self) {
        self.settled &= self.live.is_empty();
        self.live.clear();
    }

    /// Brings the levels up to date with what was added.
    pub fn settle(&mut self) {
        if self.settled {
            return;
        }
        self.levels.clear();
        self.levels.extend(self.changes.iter());
        for (step, change) in &self.live {
            let index = usize::try_from((step - self.first_step).max(0)).unwrap_or(usize::MAX);
            if let Some(level) = self.levels.get_mut(index) {
                *level += change;
            }
        }
        let mut demand = 0;
        for level in &mut self.levels {
            demand += *level;
            *level = demand;
        }
        self.settled = true;
    }

    /// Mean demand in CPUs over the step of a moment, as of the last [`Demand::settle`]; `None` where it is not known.
    #[must_use]
    pub fn at(&self, moment: UnixTime) -> Option<f64> {
        let step = moment.0.div_euclid(self.resolution_s) - self.first_step;
        self.levels.get(usize::try_from(step).ok()?).map(|level| *level as f64 / self.resolution_s as f64)
    }

    fn change(&mut self, step: i64, cpus: i64) {
        if self.changes.is_empty() {
            self.first_step = step;
        }
        while step < self.first_step && self.changes.len() < self.steps {
            self.changes.push_front(0);
            self.first_step -= 1;
        }
        let mut index = step - self.first_step;
        while index >= self.changes.len() as i64 {
            // A jump beyond the whole window leaves nothing of it.
            if index >= 2 * self.steps as i64 {
                let before: i64 = self.changes.iter().sum();
                self.changes.clear();
                self.changes.push_back(before);
                self.first_step = step;
                index = 0;
                break;
            }
            self.changes.push_back(0);
            if self.changes.len() > self.steps {
                let before = self.changes.pop_front().unwrap_or(0);
                if let Some(first) = self.changes.front_mut() {
                    *first += before;
                }
                self.first_step += 1;
                index -= 1;
            }
        }
        // What lies before the window changes its beginning.
        if let Some(change) = self.changes.get_mut(usize::try_from(index.max(0)).unwrap_or(0)) {
            *change += cpus;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn demand_counts_running_and_eligible_jobs() {
        let mut demand = Demand::new(Seconds(10_000), Seconds(100));
        demand.add(UnixTime(1_000), UnixTime(1_350), 4);
        demand.add(UnixTime(1_200), UnixTime(1_250), 2);
        demand.add_live(UnixTime(1_300), UnixTime(1_500), 8);
        demand.settle();
        let at = |second| demand.at(UnixTime(second)).unwrap();
        // In the step from 1,200 on 4 CPUs for 100 s and 2 for 50 s, in the next 4 for 50 s and 8 for 100 s.
        assert_eq!([at(1_000), at(1_250), at(1_310), at(1_400)], [4.0, 5.0, 10.0, 8.0]);
        assert_eq!(demand.at(UnixTime(0)), None);
    }

    proptest! {
        #[test]
        fn demand_equals_a_count_by_hand_in_any_order_of_jobs(
            jobs in prop::collection::vec((0i64..5_000, 0i64..800, 1u32..9), 1..40),
            moment in 4_100i64..5_900,
        ) {
            // The window of 2,000 s behind the last end is what is certain to be known.
            let mut demand = Demand::new(Seconds(2_000), Seconds(10));
            for (from, length, cpus) in &jobs {
                demand.add(UnixTime(*from), UnixTime(from + length), *cpus);
            }
            demand.settle();
            let last = jobs.iter().map(|(from, length, _)| from + length).max().unwrap();
            let begin = moment / 10 * 10;
            if begin <= last && begin > last - 1_950 && let Some(level) = demand.at(UnixTime(moment)) {
                let by_hand: i64 = jobs.iter()
                    .map(|(from, length, cpus)| i64::from(*cpus) * ((from + length).min(begin + 10) - (*from).max(begin)).max(0))
                    .sum();
                prop_assert_eq!(level, by_hand as f64 / 10.0);
            }
        }
    }
}
