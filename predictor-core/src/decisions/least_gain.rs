//! The least gain for which a job is molded or deferred.

use job_types::policy::Policy;
use job_types::time::Seconds;
use std::fmt;

/// What a change has to gain of the response time, from when the job may begin to its end: at least
/// this part of it, and at least this time. Less is not worth another size or begin time to the
/// person who submits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastGain {
    /// The part of the response as written, 0 to 1.
    pub part: f64,
    /// The time.
    pub time: Seconds,
}

/// The least gain that a policy wants of every change.
impl From<&Policy> for LeastGain {
    fn from(policy: &Policy) -> Self {
        LeastGain { part: policy.min_gain, time: policy.min_gain_time }
    }
}

impl LeastGain {
    /// What it wants of a deferral, for which it may want a greater part.
    #[must_use]
    pub fn of_deferral(policy: &Policy) -> LeastGain {
        LeastGain { part: policy.min_gain.max(policy.defer_threshold), time: policy.min_gain_time }
    }

    /// Whether a response of `after` in the place of `before` gains enough. A response that is no
    /// shorter never does.
    #[must_use]
    pub fn is_reached(&self, before: Seconds, after: Seconds) -> bool {
        after < before && before - after >= self.time && after.0 as f64 <= before.0 as f64 * (1.0 - self.part)
    }
}

impl fmt::Display for LeastGain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} % and {}", (self.part * 1_000.0).round() / 10.0, self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(part: f64, time_s: i64, before_s: i64, after_s: i64) -> bool {
        LeastGain { part, time: Seconds(time_s) }.is_reached(Seconds(before_s), Seconds(after_s))
    }

    #[test]
    fn a_gain_has_to_reach_both_the_part_and_the_time() {
        // 5 % of 1,000 s are 50 s, and of 2,000 s 100 s.
        assert_eq!([941, 940].map(|after| reached(0.05, 60, 1_000, after)), [false, true]);
        assert_eq!([1_901, 1_900].map(|after| reached(0.05, 60, 2_000, after)), [false, true]);
        assert!(!reached(0.05, 60, 12, 1), "nobody wants 11 s");
    }

    #[test]
    fn what_is_no_sooner_is_no_gain_however_little_is_wanted() {
        assert_eq!([13, 12, 11].map(|after| reached(0.0, 0, 12, after)), [false, false, true]);
    }

    #[test]
    fn it_is_told_in_percent_and_time() {
        let told = |part, time_s| LeastGain { part, time: Seconds(time_s) }.to_string();
        assert_eq!([told(0.05, 60), told(0.125, 0), told(0.3, 3_600)], ["5 % and 1 min", "12.5 % and 0 s", "30 % and 1 h"]);
    }
}
