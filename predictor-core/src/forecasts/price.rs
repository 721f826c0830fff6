//! The price of the machine's time: how much longer those who wait, and those who will come, wait
//! for each CPU that is taken for a second.

use job_types::time::{Seconds, UnixTime};
use std::borrow::Cow;

/// The price of a CPU up to a time ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceStep {
    /// The time, counted from when the prices were made, until which the price holds; it begins
    /// where the step before ends.
    pub until: Seconds,
    /// By how many seconds all others together wait longer for each CPU that is taken for a second.
    pub waited: f32,
}

/// The prices of a CPU of a partition.
#[derive(Clone, Debug)]
pub struct Prices<'a> {
    /// When they were made.
    pub at: UnixTime,
    /// The prices; their times ascend. What lies beyond the last costs as much as the last.
    pub steps: Cow<'a, [PriceStep]>,
}

/// CPUs for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// When they are taken.
    pub start: UnixTime,
    /// For how long.
    pub time: Seconds,
    /// How many.
    pub cpus: u32,
}

impl Prices<'_> {
    /// By how many seconds all others together wait longer for an area.
    #[must_use]
    pub fn of(&self, area: Area) -> f64 {
        let (from, to) = (area.start - self.at, area.start + area.time - self.at);
        let (mut begin, mut waited) = (Seconds::ZERO, 0.0);
        for (place, step) in self.steps.iter().enumerate() {
            let is_last = place + 1 == self.steps.len();
            let end = if is_last { to.max(step.until) } else { step.until };
            // What lies before the prices were made costs as much as the first.
            let first = if place == 0 { from.min(begin) } else { begin };
            let within = end.min(to) - first.max(from);
            waited += f64::from(step.waited) * within.max(Seconds::ZERO).0 as f64;
            begin = step.until;
        }
        waited * f64::from(area.cpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: UnixTime = UnixTime(1_000_000);

    fn waited(start: i64, time: i64, cpus: u32) -> f64 {
        let steps = vec![PriceStep { until: Seconds(100), waited: 2.0 }, PriceStep { until: Seconds(300), waited: 0.5 }];
        Prices { at: AT, steps: steps.into() }.of(Area { start: AT + Seconds(start), time: Seconds(time), cpus })
    }

    #[test]
    fn an_area_costs_what_each_of_its_parts_does() {
        assert_eq!(waited(0, 100, 1), 200.0);
        assert_eq!(waited(50, 100, 4), 4.0 * (100.0 + 25.0));
        assert_eq!(waited(100, 200, 1), 100.0);
    }

    #[test]
    fn before_and_beyond_the_prices_the_nearest_holds() {
        assert_eq!((waited(-50, 100, 1), waited(-100, 50, 1)), (200.0, 100.0));
        assert_eq!((waited(250, 100, 1), waited(900, 10, 2)), (50.0, 10.0));
        assert_eq!((waited(0, 0, 7), waited(40, 10, 0)), (0.0, 0.0));
    }

    #[test]
    fn without_prices_nothing_costs_anything() {
        let area = Area { start: AT, time: Seconds(100), cpus: 3 };
        assert_eq!(Prices { at: AT, steps: Vec::new().into() }.of(area), 0.0);
    }
}
