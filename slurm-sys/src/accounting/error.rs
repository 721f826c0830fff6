//! Why slurmdbd did not take a record.

use std::ffi::c_int;

use crate::client::ClientError;
use crate::client::last_error::describe;
use crate::{bindings, errno};

/// Why slurmdbd did not take a record.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// slurmdbd cannot be asked at all.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// slurmdbd cannot be reached.
    #[error(
        "slurmdbd does not answer: {reason}; is it running on the host and port that slurm.conf names (AccountingStorageHost, AccountingStoragePort)?"
    )]
    Unreachable {
        /// The system's words for it.
        reason: String,
    },
    /// slurmdbd answers, but not to this user.
    #[error(
        "slurmdbd does not let this user {doing}: run it as root, as SlurmUser, or as a user whose admin level is Administrator (sacctmgr show user)"
    )]
    Denied {
        /// What the request to slurmdbd was for.
        doing: &'static str,
    },
    /// slurmdbd could not do it.
    #[error("slurmdbd did not {doing}: {reason} (Slurm error {code}); its log (LogFile in slurmdbd.conf) says more")]
    Refused {
        /// What the request to slurmdbd was for.
        doing: &'static str,
        /// Slurm's error number, or the system's.
        code: i32,
        /// Slurm's own description of the error.
        reason: String,
    },
    /// A name that no cluster can have.
    #[error("{name:?} is not the name of a cluster")]
    ClusterName {
        /// The name that is not valid.
        name: String,
    },
}

pub(super) fn last_error(doing: &'static str) -> WriteError {
    error_of(doing, errno::get())
}

pub(super) fn error_of(doing: &'static str, code: c_int) -> WriteError {
    if u32::try_from(code) == Ok(bindings::ESLURM_ACCESS_DENIED) {
        return WriteError::Denied { doing };
    }
    let reason = if code == 0 { "no reason given".to_owned() } else { describe(code) };
    if matches!(code, libc::ECONNREFUSED | libc::ETIMEDOUT | libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EPIPE | libc::ECONNRESET) {
        return WriteError::Unreachable { reason };
    }
    WriteError::Refused { doing, code, reason }
}
