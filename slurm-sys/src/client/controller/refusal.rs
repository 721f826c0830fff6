//! Why slurmctld made no change, as far as its number says so whatever was to be changed.

use super::ClientError;
use crate::bindings;

/// Why slurmctld made no change, or whether it answered at all.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Whoever asked is no operator of this cluster.
    Denied {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// It was refused for another reason.
    Refused {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// There was no answer; the change may have been made all the same.
    Away(ClientError),
}

impl Refusal {
    /// By Slurm's number (slurm/slurm_errno.h). slurmctld's own answers are numbered from 2000 on;
    /// the numbers below, the system's, and those of the protocol and of authentication above say
    /// that there was no answer of its.
    pub(super) fn of(what: &'static str, code: i32, reason: String) -> Self {
        match u32::try_from(code).unwrap_or(0) {
            bindings::ESLURM_ACCESS_DENIED | bindings::ESLURM_USER_ID_MISSING => Self::Denied { code, reason },
            bindings::ESLURM_IN_STANDBY_MODE | bindings::ESLURM_IN_STANDBY_USE_BACKUP => {
                Self::Away(ClientError::Controller { what, code, reason })
            }
            2_000..=2_999 => Self::Refused { code, reason },
            _ => Self::Away(ClientError::Controller { what, code, reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_the_way_to_slurmctld_is_no_answer_of_its() {
        let kind = |code| Refusal::of("change", code, String::new());
        for code in [-1, 0, libc::ECONNREFUSED, bindings::SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR as i32] {
            assert!(matches!(kind(code), Refusal::Away(_)), "{code}");
        }
        // A second controller that has not taken over.
        assert!(matches!(kind(bindings::ESLURM_IN_STANDBY_MODE as i32), Refusal::Away(_)));
        assert!(matches!(kind(bindings::ESLURM_USER_ID_MISSING as i32), Refusal::Denied { .. }));
        assert!(matches!(kind(bindings::ESLURM_INVALID_TIME_LIMIT as i32), Refusal::Refused { .. }));
    }
}
