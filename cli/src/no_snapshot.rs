//! Why there is no snapshot to be had.

use std::io;
use std::path::PathBuf;

use predictor_core::snapshot::SnapshotError;
use thiserror::Error;

use crate::api::NotAnswered;

/// Why there is no snapshot to be had.
#[derive(Debug, Error, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum NoSnapshot {
    /// There is no snapshot.
    #[error(
        "no snapshot in {}: is queuecastd running? start it with `systemctl start queuecastd`, or name another place with --state-directory",
        .0.display()
    )]
    Absent(PathBuf),
    /// There is none on this host, and the daemon sends none.
    #[error("no snapshot in {}, and none over the network: {}", .0.display(), .1)]
    #[strum(serialize = "not_sent")]
    NotSent(PathBuf, Box<NotAnswered>),
    /// The snapshot can't be read.
    #[error("{}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// Users other than its owner may write the snapshot, so that the filter does not trust it.
    #[error("{}: others than its owner may write it, so the filter does not use it; `chmod go-w` it", .0.display())]
    Untrusted(PathBuf),
    /// The file is not a snapshot that can be used.
    #[error(
        "{}: {}; restart queuecastd, which writes a new one (the filter goes on with the last good one until that is too old)",
        .0.display(), .1
    )]
    Damaged(PathBuf, SnapshotError),
}

/// The lack of a snapshot, if the configuration that would say where to look cannot be used either.
#[derive(Debug, Error)]
#[error("{none} ({configuration})")]
pub(crate) struct NoSnapshotHere {
    pub(crate) none: NoSnapshot,
    pub(crate) configuration: String,
}

impl NoSnapshot {
    /// A word for it, for programs.
    pub(crate) fn word(&self) -> &'static str {
        self.into()
    }
}
