//! Why the daemon ended although nobody asked it to.

use std::path::PathBuf;
use std::process::ExitCode;

use slurm_conf::ConfigurationError;
use slurm_sys::client::ClientError;
use thiserror::Error;

/// Why the daemon ended although nobody asked it to.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Configuration(#[from] ConfigurationError),
    #[error("{0}")]
    Slurm(#[from] ClientError),
    #[error("state directory {}: {reason}", path.display())]
    StateDirectory { path: PathBuf, reason: String },
    #[error("another queuecastd{holder} publishes into {}: end it first, or give this one its own state_directory", path.display())]
    Locked { path: PathBuf, holder: String },
    #[error("cannot publish {}: {source}", path.display())]
    Publish { path: PathBuf, source: std::io::Error },
    #[error("cannot serve metrics at {address}: {source} (see [metrics] in queuecast.toml)")]
    Metrics { address: std::net::SocketAddr, source: std::io::Error },
    #[error("cannot {what}: {source}")]
    System { what: &'static str, source: std::io::Error },
    #[error("the thread {name} ended with a panic; its message is above")]
    Thread { name: &'static str },
}

impl Failure {
    /// 2 where the configuration is at fault, else 1.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}
