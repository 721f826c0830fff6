//! How busy the machine was, and is expected to be (Hariharan et al. 2020, III.A).

use job_types::time::{Seconds, UnixTime};
use std::collections::VecDeque;

/// The predicted load is the mean over this long.
const WEEK: Seconds = Seconds(7 * 86_400);
/// The week is divided into intervals of this length.
const INTERVAL_S: i64 = 1_800;

/// CPU seconds that ran so far, and those of the last week by intervals.
#[derive(Clone, Debug)]
pub(super) struct Load {
    processors: f64,
    running_cpus: f64,
    ran_cpu_seconds: f64,
    at: Option<UnixTime>,
    /// CPU seconds that had run at the beginnings of the intervals of the last week, earliest
    /// first.
    intervals: VecDeque<(UnixTime, f64)>,
}

impl Load {
    /// An empty machine of so many processors.
    pub(super) fn new(processors: u32) -> Load {
        Load { processors: f64::from(processors.max(1)), running_cpus: 0.0, ran_cpu_seconds: 0.0, at: None, intervals: VecDeque::new() }
    }

    /// Goes on to a moment.
    pub(super) fn until(&mut self, now: UnixTime) {
        let Some(before) = self.at else {
            self.at = Some(now);
            self.intervals.push_back((now, 0.0));
            return;
        };
        // After a gap of more than a week only the last one matters.
        let mut next = UnixTime((before.0.div_euclid(INTERVAL_S) + 1) * INTERVAL_S).max(UnixTime(now.0 - 2 * WEEK.0));
        while next <= now {
            let ran = self.ran_cpu_seconds + self.running_cpus * (next - before).0 as f64;
            self.intervals.push_back((next, ran));
            next = next + Seconds(INTERVAL_S);
        }
        self.ran_cpu_seconds += self.running_cpus * (now - before).0.max(0) as f64;
        self.at = Some(before.max(now));
        while self.intervals.get(1).is_some_and(|(begin, _)| now - *begin >= WEEK) {
            self.intervals.pop_front();
        }
    }

    /// A job begins to use so many CPUs.
    pub(super) fn starts(&mut self, cpus: u32) {
        self.running_cpus += f64::from(cpus);
    }

    /// A job ends.
    pub(super) fn ends(&mut self, cpus: u32) {
        self.running_cpus = (self.running_cpus - f64::from(cpus)).max(0.0);
    }

    /// CPU seconds that ran so far.
    pub(super) fn ran(&self) -> f64 {
        self.ran_cpu_seconds
    }

    /// `T_e / T_t` since a moment at which `ran` CPU seconds had run; the share of CPUs in use
    /// where no time has passed.
    pub(super) fn since(&self, begin: UnixTime, ran: f64) -> f64 {
        let duration = self.at.map_or(0, |at| (at - begin).0);
        if duration <= 0 {
            return (self.running_cpus / self.processors).clamp(0.0, 1.0);
        }
        ((self.ran_cpu_seconds - ran) / (duration as f64 * self.processors)).clamp(0.0, 1.0)
    }

    /// The mean load of the last week's intervals. They have the same length, so that their mean is
    /// that of the whole time.
    pub(super) fn predicted(&self) -> f64 {
        self.intervals.front().map_or(0.0, |(begin, ran)| self.since(*begin, *ran))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_what_ran_of_what_could_have() {
        let mut load = Load::new(10);
        load.until(UnixTime(0));
        load.starts(5);
        load.until(UnixTime(100));
        assert_eq!(load.since(UnixTime(0), 0.0), 0.5);
        load.ends(5);
        load.until(UnixTime(200));
        assert_eq!(load.since(UnixTime(0), 0.0), 0.25);
        assert_eq!(load.since(UnixTime(200), load.ran()), 0.0);
    }

    #[test]
    fn the_predicted_load_forgets_what_is_older_than_a_week() {
        let mut load = Load::new(4);
        load.until(UnixTime(0));
        load.starts(4);
        load.until(UnixTime(WEEK.0));
        assert_eq!(load.predicted(), 1.0);
        load.ends(4);
        load.until(UnixTime(WEEK.0 * 3 / 2));
        assert!((load.predicted() - 0.5).abs() < 0.01);
        load.until(UnixTime(WEEK.0 * 4));
        assert_eq!(load.predicted(), 0.0);
    }
}
