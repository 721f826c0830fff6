//! Why a reservation was not made, changed or deleted.

use crate::bindings;
use crate::client::controller::refusal::Refusal;
use crate::client::error::ClientError;
use thiserror::Error;

/// Why a reservation was not made, changed or deleted; what was there stays as it was, but where
/// it is said.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReservationError {
    /// Too few nodes are free over all the time: jobs run on the others for longer by their limits
    /// (`ESLURM_NODES_BUSY`), or they are down, drained or in other reservations.
    #[error("too few nodes are free at that time")]
    NodesBusy,
    /// Another reservation has some of its nodes, which are to stay the same, at that time
    /// (`ESLURM_RESERVATION_OVERLAP`).
    #[error("another reservation has some of the nodes at that time")]
    Overlaps,
    /// There is none of this name, or not any more (`ESLURM_RESERVATION_INVALID`).
    #[error("there is no such reservation")]
    NotThere,
    /// There is one of this name already (`ESLURM_RESERVATION_NAME_DUP`).
    #[error("there is a reservation of that name already")]
    NameTaken,
    /// Jobs wait for it or run in it (`ESLURM_RESERVATION_BUSY`).
    #[error("jobs wait for the reservation or run in it")]
    InUse,
    /// It has begun, and its start can't be changed any more (`ESLURM_RSV_ALREADY_STARTED`).
    #[error("the reservation has begun")]
    Started,
    /// It was given too few new nodes, and then not all back that it had had: it is as it was with
    /// so many nodes. Somebody else's reservation or job, of the moment between, has the others.
    #[error("another reservation or job has taken some of its nodes: it has {nodes} now")]
    Shrunk {
        /// How many nodes it has.
        nodes: u32,
    },
    /// Whoever asks is no operator of this cluster; or slurmctld knows no user of a name that it
    /// was given, for which some releases have the same number (`ESLURM_USER_ID_MISSING`).
    #[error(
        "slurmctld lets only root, SlurmUser and operators make reservations, and for users that it knows: {reason} (Slurm error {code})"
    )]
    Denied {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// slurmctld refused it for another reason.
    #[error("slurmctld refused the reservation: {reason} (Slurm error {code})")]
    Refused {
        /// Slurm's error number.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// slurmctld did not answer; it may have done what was asked all the same.
    #[error(transparent)]
    Away(#[from] ClientError),
}

impl ReservationError {
    /// By Slurm's number (slurm/slurm_errno.h).
    pub(super) fn of(what: &'static str, (code, reason): (i32, String)) -> Self {
        match u32::try_from(code).unwrap_or(0) {
            bindings::ESLURM_NODES_BUSY => Self::NodesBusy,
            bindings::ESLURM_RESERVATION_OVERLAP => Self::Overlaps,
            bindings::ESLURM_RESERVATION_INVALID => Self::NotThere,
            bindings::ESLURM_RESERVATION_NAME_DUP => Self::NameTaken,
            bindings::ESLURM_RESERVATION_BUSY => Self::InUse,
            bindings::ESLURM_RSV_ALREADY_STARTED => Self::Started,
            _ => match Refusal::of(what, code, reason) {
                Refusal::Denied { code, reason } => Self::Denied { code, reason },
                Refusal::Refused { code, reason } => Self::Refused { code, reason },
                Refusal::Away(error) => Self::Away(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_for_different_answers_is_told_apart_by_slurms_number() {
        let kind = |code| ReservationError::of("reservation", (i32::try_from(code).unwrap(), String::new()));
        assert_eq!(kind(bindings::ESLURM_NODES_BUSY), ReservationError::NodesBusy);
        assert_eq!(kind(bindings::ESLURM_RESERVATION_OVERLAP), ReservationError::Overlaps);
        assert_eq!(kind(bindings::ESLURM_RESERVATION_INVALID), ReservationError::NotThere);
        assert_eq!(kind(bindings::ESLURM_RESERVATION_NAME_DUP), ReservationError::NameTaken);
        assert_eq!(kind(bindings::ESLURM_RESERVATION_BUSY), ReservationError::InUse);
        assert_eq!(kind(bindings::ESLURM_RSV_ALREADY_STARTED), ReservationError::Started);
        assert!(matches!(kind(bindings::ESLURM_USER_ID_MISSING), ReservationError::Denied { .. }));
        assert!(matches!(kind(bindings::ESLURM_INVALID_ACCOUNT), ReservationError::Refused { .. }));
        assert!(matches!(kind(bindings::SLURM_UNEXPECTED_MSG_ERROR), ReservationError::Away(_)));
    }
}
