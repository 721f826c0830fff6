//! How a benchmark ends.

use thiserror::Error;

/// The targets that were missed, one sentence each; or why nothing was measured.
pub(crate) type Outcome = anyhow::Result<Vec<String>>;

/// The command line asks for what can't be done.
#[derive(Debug, Error)]
#[error("{0} (--help explains the options)")]
pub(crate) struct WrongUsage(pub(crate) String);
