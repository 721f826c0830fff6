//! How a command says that it did not succeed.

use std::process::ExitCode;

/// Why a command ends without success; the variant decides the exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer is no: a refusal, a check that failed, a daemon that did not do it. Exit
    /// status 1.
    No(anyhow::Error),
    /// Wrong usage, or input that cannot be read. Exit status 2.
    Input(anyhow::Error),
}

impl Failure {
    /// Writes the error and its causes to standard error, and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let (error, status) = match self {
            Self::No(error) => (error, 1),
            Self::Input(error) => (error, 2),
        };
        eprintln!("queuecast: {error:#}");
        ExitCode::from(status)
    }
}
