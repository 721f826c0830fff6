//! The exit status of a command that did not succeed.

use std::process::ExitCode;

use command_parts::failure::Failure;
use slurm_sys::client::ClientError;
use thiserror::Error;

use crate::api::NotAnswered;
use crate::grid::NoCluster;
use crate::no_snapshot::{NoSnapshot, NoSnapshotHere};

/// Exit status: the answer is no.
const NO: u8 = 1;
/// Exit status: wrong usage, or input that cannot be read. clap's own.
const WRONG_USAGE: u8 = 2;
/// Exit status: there is no snapshot that can be read, or queuecastd does not answer.
pub(crate) const NO_SNAPSHOT: u8 = 3;
/// Exit status: slurmctld does not answer, or cannot be asked here.
const NO_SLURMCTLD: u8 = 4;
/// Exit status: slurmdbd does not answer.
const NO_SLURMDBD: u8 = 5;

/// slurmctld was asked in another way than for an answer to hand on, and did not answer.
#[derive(Debug, Clone, Copy, Error)]
#[error("slurmctld does not answer")]
pub(crate) struct NoSlurmctld;

/// Writes the error and its causes to standard error, and gives the exit status.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    anstream::eprintln!("queuecast: {}", failure.message());
    ExitCode::from(of(failure))
}

/// Whether the command needs something that is not there now and may be there later.
pub(crate) fn may_pass(failure: &Failure) -> bool {
    of(failure) >= NO_SNAPSHOT
}

/// The exit status of a failure. Where its cause is that something is not there which the command
/// needs, that decides the exit status, in whatever command; else the variant does.
fn of(failure: &Failure) -> u8 {
    let (error, otherwise) = match failure {
        Failure::No(error) => (error, NO),
        Failure::Input(error) => (error, WRONG_USAGE),
    };
    // An error that others were put around is found by its type alone, and one that is the source
    // of another in the chain.
    let slurm = error.downcast_ref::<ClientError>().or_else(|| error.chain().find_map(|cause| cause.downcast_ref()));
    let is_away = error.downcast_ref().is_some_and(|not_answered| !matches!(not_answered, NotAnswered::Refused(_)));
    if error.is::<NoSnapshot>() || error.is::<NoSnapshotHere>() || error.is::<NoCluster>() || is_away {
        NO_SNAPSHOT
    } else if error.is::<NoSlurmctld>() {
        NO_SLURMCTLD
    } else {
        slurm.and_then(not_there).unwrap_or(otherwise)
    }
}

/// The exit status by who of Slurm did not answer.
fn not_there(error: &ClientError) -> Option<u8> {
    match error {
        // Without libslurm and slurm.conf no daemon can be asked. That counts as no slurmctld,
        // because slurmctld is asked first.
        ClientError::Controller { .. } | ClientError::Library { .. } | ClientError::Configuration { .. } | ClientError::Reader { .. } => {
            Some(NO_SLURMCTLD)
        }
        ClientError::NoAccounting { .. } | ClientError::Accounting { .. } | ClientError::ClusterUnknown { .. } => Some(NO_SLURMDBD),
        ClientError::Text { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::anyhow;

    use super::*;

    fn status(error: anyhow::Error) -> u8 {
        of(&Failure::Input(error))
    }

    #[test]
    fn what_is_not_there_decides_whatever_was_put_around_it() {
        let controller = || ClientError::Controller { what: "jobs", code: 1, reason: "no".into() };
        let accounting = || ClientError::Accounting { what: "jobs", code: 1, reason: "no".into() };
        let snapshot = || NoSnapshot::Absent(PathBuf::from("/nowhere"));
        for (failed, expected) in [
            (anyhow!(controller()), NO_SLURMCTLD),
            (anyhow!(ClientError::Configuration { message: String::new() }), NO_SLURMCTLD),
            (anyhow!(accounting()), NO_SLURMDBD),
            (anyhow!(snapshot()), NO_SNAPSHOT),
        ] {
            assert_eq!(status(failed.context("while it was read").context("in all")), expected);
        }
        assert_eq!(of(&Failure::No(anyhow!(accounting()))), NO_SLURMDBD);
        assert_eq!(status(anyhow!(NoSlurmctld).context("name the nodes")), NO_SLURMCTLD);
    }

    #[test]
    fn without_such_a_cause_the_answer_is_no_or_the_usage_wrong() {
        assert_eq!((of(&Failure::No(anyhow!("no"))), status(anyhow!("what?"))), (NO, WRONG_USAGE));
        assert_eq!(status(anyhow!(ClientError::Text { text: String::new() })), WRONG_USAGE);
    }
}
