//! How a command says that it did not succeed.

/// Why a command ends without success.
#[derive(Debug)]
pub enum Failure {
    /// The answer is no: a refusal, a check that failed, a daemon that did not do it.
    No(anyhow::Error),
    /// Wrong usage, or input that cannot be read.
    Input(anyhow::Error),
}

impl Failure {
    /// The error and its causes, in one line.
    pub fn message(&self) -> String {
        let (Self::No(error) | Self::Input(error)) = self;
        format!("{error:#}")
    }
}
