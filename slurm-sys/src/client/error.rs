//! Why a question to Slurm got no answer.

use thiserror::Error;

use super::library::libslurm;
use super::value;
use crate::errno;

/// Why a question to Slurm got no answer. Every variant but [`ClientError::Library`] and
/// [`ClientError::Text`] may pass: asking again later is sensible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClientError {
    /// The libslurm that belongs to this build is not there.
    #[error("libslurm cannot be loaded: {message}; install the queuecast that was built for this Slurm (queuecast doctor says which)")]
    Library {
        /// The dynamic linker's own error message.
        message: String,
    },
    /// libslurm cannot use the site's configuration.
    #[error("libslurm cannot be started: {message}; check slurm.conf (the variable SLURM_CONF names another one)")]
    Configuration {
        /// What libslurm printed, or what is missing.
        message: String,
    },
    /// The site keeps no accounting records in slurmdbd.
    #[error("AccountingStorageType is {configured:?} in slurm.conf: records of ended jobs need accounting_storage/slurmdbd")]
    NoAccounting {
        /// The value in slurm.conf.
        configured: String,
    },
    /// slurmdbd did not answer, or answered that it cannot.
    #[error("slurmdbd gave no {what}: {reason} (Slurm error {code})")]
    Accounting {
        /// What the request was for.
        what: &'static str,
        /// Slurm's error number, or the system's.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// slurmdbd answered, but does not know this cluster: its database is away, or the cluster was
    /// never registered.
    #[error("slurmdbd does not show cluster {cluster:?}: its database is away, or the cluster is not registered (sacctmgr list cluster)")]
    ClusterUnknown {
        /// The cluster that was asked for.
        cluster: String,
    },
    /// slurmctld did not answer, or answered that it cannot.
    #[error("slurmctld gave no {what}: {reason} (Slurm error {code})")]
    Controller {
        /// What the request was for.
        what: &'static str,
        /// Slurm's error number, or the system's.
        code: i32,
        /// Slurm's own words for it.
        reason: String,
    },
    /// A text that was to be handed to Slurm holds a null byte.
    #[error("{text:?} holds a null byte and cannot be handed to Slurm")]
    Text {
        /// The text that libslurm cannot take.
        text: String,
    },
}

/// Forgets the thread's last error, so that [`last`] afterwards tells of the next call only.
pub(crate) fn forget() {
    errno::set(0);
}

/// The thread's last error: its number, and Slurm's words for it. A failure that left no number is
/// `SLURM_ERROR`.
pub(super) fn last() -> (i32, String) {
    let code = errno::get();
    if code == 0 {
        return (-1, "no reason given".to_owned());
    }
    (code, describe(code))
}

/// Slurm's words for one of its error numbers, or the system's.
pub(crate) fn describe(code: i32) -> String {
    // SAFETY: slurm_strerror looks the number up in a static table, or falls back to strerror; both
    // return a string that stays valid until this thread asks again, and it is copied at once.
    let words = unsafe { value::text(libslurm().slurm_strerror(code)) };
    words.map_or_else(|| "unknown error".to_owned(), |words| words.to_lowercase())
}
