//! Why a question to Slurm got no answer.

use thiserror::Error;

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
    /// The process that reads jobs for this one has not answered.
    #[error("the process that reads the jobs {reason}")]
    Reader {
        /// What became of it.
        reason: String,
    },
    /// A text that was to be handed to Slurm holds a null byte.
    #[error("{text:?} holds a null byte and cannot be handed to Slurm")]
    Text {
        /// The text that libslurm cannot take.
        text: String,
    },
}
