//! The share of a node that a job needs (Yeo and Buyya 2006, equations 1 and 2).

/// The power of a node, of which shares are parts, with room for the rounding of sums: shares that
/// were dealt out to add up to one may add up to a little more when they are summed again.
pub const WHOLE_NODE: f64 = 1.0 + 1e-9;

/// The share of a job whose deadline has passed: the whole node.
///
/// Equation 1 has no value there, and grows without bound before. A job can't use more than the
/// node, and with a share without bound it would stop all others.
pub const LATE_SHARE: f64 = 1.0;

/// What a job still has to do on a node, and until when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// How long it still runs by its estimate if it has the whole node, in seconds
    /// (`remaining_runtime_ij`).
    pub remaining_run_s: f64,
    /// The time until its deadline, in seconds (`remaining_deadline_i`); zero or less once that has
    /// passed.
    pub remaining_deadline_s: f64,
}

impl Claim {
    /// The least share of the node with which the job is done by its deadline (equation 1). It is
    /// more than one where the job would be late with the whole node; [`LATE_SHARE`] once the
    /// deadline has passed.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.is_late() { LATE_SHARE } else { self.remaining_run_s.max(0.0) / self.remaining_deadline_s }
    }

    /// Whether its deadline has passed.
    #[must_use]
    pub fn is_late(&self) -> bool {
        // A remaining time that is no number counts as a deadline that has passed.
        self.remaining_deadline_s <= 0.0 || self.remaining_deadline_s.is_nan()
    }
}

/// The share of a node that all its jobs need together (equation 2).
#[must_use]
pub fn total_share(claims: &[Claim]) -> f64 {
    claims.iter().map(Claim::share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_the_run_time_that_remains_over_the_time_until_the_deadline() {
        let claims = [(50.0, 100.0), (25.0, 100.0), (300.0, 100.0)]
            .map(|(remaining_run_s, remaining_deadline_s)| Claim { remaining_run_s, remaining_deadline_s });
        assert_eq!(claims.map(|claim| claim.share()), [0.5, 0.25, 3.0]);
        assert_eq!(total_share(&claims), 3.75);
        assert_eq!(total_share(&[]), 0.0);
    }

    #[test]
    fn a_job_that_is_late_asks_for_the_whole_node() {
        for remaining_deadline_s in [0.0, -5.0, f64::NAN] {
            let claim = Claim { remaining_run_s: 10.0, remaining_deadline_s };
            assert!(claim.is_late());
            assert_eq!(claim.share(), LATE_SHARE);
        }
    }
}
