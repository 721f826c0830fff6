//! Bidding anew while a job waits: what the thesis advises its users to do (9.1).

use crate::engine::preemptive::Milliseconds;

const MILLISECONDS_PER_HOUR: u64 = 60 * Milliseconds::MINUTE.0;

/// How a waiting job's bid rises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// The bid after the first hour, in credits per node and minute: twice nothing is nothing, so
    /// that the doubling begins here.
    pub after_first_hour: f64,
    /// No bid is above this.
    pub limit: f64,
}

impl Default for Ramp {
    /// From 1 to 1000, which is the highest bid of the thesis (7.2.2.6).
    fn default() -> Self {
        Self { after_first_hour: 1.0, limit: 1000.0 }
    }
}

impl Ramp {
    /// The bid of a job that has waited for so long: 0 in the first hour, then doubled each hour.
    #[must_use]
    pub fn bid(&self, waited_milliseconds: u64) -> f64 {
        match (waited_milliseconds / MILLISECONDS_PER_HOUR).checked_sub(1) {
            None => 0.0,
            Some(doublings) => {
                let doublings = i32::try_from(doublings).unwrap_or(i32::MAX);
                (self.after_first_hour * 2_f64.powi(doublings)).min(self.limit)
            }
        }
    }

    /// How long a job has waited when it bids anew next; `None` once its bid is at the limit.
    #[must_use]
    pub fn next_change_milliseconds(&self, waited_milliseconds: u64) -> Option<u64> {
        let next = (waited_milliseconds / MILLISECONDS_PER_HOUR + 1).checked_mul(MILLISECONDS_PER_HOUR)?;
        (self.bid(next) > self.bid(waited_milliseconds)).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bid_starts_at_nothing_and_doubles_each_hour_up_to_the_limit() {
        let ramp = Ramp { after_first_hour: 1.0, limit: 6.0 };
        let hours = [0, 1, 2, 3, 4, 100].map(|hours| ramp.bid(hours * MILLISECONDS_PER_HOUR));
        assert_eq!(hours, [0.0, 1.0, 2.0, 4.0, 6.0, 6.0]);
        assert_eq!(ramp.bid(MILLISECONDS_PER_HOUR - 1), 0.0);
        assert_eq!(ramp.bid(u64::MAX), 6.0);
    }

    #[test]
    fn a_job_bids_anew_at_whole_hours_until_it_is_at_the_limit() {
        let ramp = Ramp { after_first_hour: 1.0, limit: 2.0 };
        assert_eq!(ramp.next_change_milliseconds(0), Some(MILLISECONDS_PER_HOUR));
        assert_eq!(ramp.next_change_milliseconds(MILLISECONDS_PER_HOUR), Some(2 * MILLISECONDS_PER_HOUR));
        assert_eq!(ramp.next_change_milliseconds(2 * MILLISECONDS_PER_HOUR), None);
        assert_eq!(ramp.next_change_milliseconds(u64::MAX), None);
    }
}
