//! Deadline delays and the risk of a node (Yeo and Buyya 2006, equations 4 to 6).

use super::share::Claim;

/// A standard deviation of deadline delays up to this, over their mean, is one of rounding.
const ROUNDING: f64 = 1e-7;

/// Returns how much a delay weighs against the time that was left until the deadline (equation 4):
/// 1 for a job in time, infinity for a job whose deadline has passed, for which the equation has no
/// value.
#[must_use]
pub fn deadline_delay(delay_s: f64, claim: &Claim) -> f64 {
    if claim.is_late() { f64::INFINITY } else { (delay_s + claim.remaining_deadline_s) / claim.remaining_deadline_s }
}

/// Mean and standard deviation of the deadline delays of the jobs of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// Their mean (equation 5).
    pub mean: f64,
    /// Their standard deviation, which is the risk (equation 6). No number where a deadline has
    /// passed.
    pub deviation: f64,
}

impl Risk {
    /// The risk of a node whose jobs are late by these delays, in seconds. A node without jobs has
    /// none.
    #[must_use]
    pub fn of(claims: &[Claim], delays_s: &[f64]) -> Risk {
        let delays = || claims.iter().zip(delays_s).map(|(claim, delay)| deadline_delay(*delay, claim));
        let jobs = (claims.len().max(1)) as f64;
        let mean = delays().sum::<f64>() / jobs;
        // The mean of the squares without the square of the mean, in the form that loses no digits.
        let variance = delays().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / jobs;
        Risk { mean, deviation: variance.sqrt() }
    }

    /// Whether there is none but of rounding. A node with a job whose deadline has passed always
    /// has some.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.deviation <= self.mean * ROUNDING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(remaining_deadline_s: f64) -> Claim {
        Claim { remaining_run_s: 1.0, remaining_deadline_s }
    }

    /// The example of section 3.2.
    #[test]
    fn the_same_delay_weighs_more_where_less_time_was_left() {
        assert_eq!(deadline_delay(20.0, &claim(5.0)), 5.0);
        assert_eq!(deadline_delay(20.0, &claim(10.0)), 3.0);
        assert_eq!(deadline_delay(0.0, &claim(10.0)), 1.0);
    }

    /// Computed by hand: 5 and 3 have the mean 4, and both are 1 away from it.
    #[test]
    fn the_risk_is_the_standard_deviation_of_the_deadline_delays() {
        let risk = Risk::of(&[claim(5.0), claim(10.0)], &[20.0, 20.0]);
        assert_eq!((risk.mean, risk.deviation, risk.is_zero()), (4.0, 1.0, false));
    }

    #[test]
    fn one_job_alone_and_jobs_that_are_equally_late_have_no_risk() {
        assert!(Risk::of(&[claim(5.0)], &[20.0]).is_zero());
        assert!(Risk::of(&[claim(5.0), claim(10.0)], &[5.0, 10.0]).is_zero());
        assert!(Risk::of(&[claim(5.0), claim(10.0)], &[0.0, 0.0]).is_zero());
        assert!(Risk::of(&[], &[]).is_zero());
    }

    #[test]
    fn a_deadline_that_has_passed_is_a_risk_for_the_node_even_for_one_job_alone() {
        assert!(!Risk::of(&[claim(0.0)], &[1.0]).is_zero());
        assert!(!Risk::of(&[claim(-1.0), claim(10.0)], &[3.0, 0.0]).is_zero());
    }
}
