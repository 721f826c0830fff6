//! End to end, on real Slurm clusters.
//!
//! A [`Cluster`] is a private one, made by `ci/cluster` and stopped when it is dropped. Tests that
//! bring one up need root, because their jobs are several users'. They are marked `#[ignore]`, so
//! that `cargo test` counts them as not run; `ci/test` runs them.

// Everything here is called by tests, which fail by panicking.
#![allow(clippy::expect_used, clippy::panic)]

mod began;
mod clock;
mod cluster;
pub mod comparison;
mod daemon;
pub mod documentation;
mod job;
mod past;
mod place;
mod shared;
mod two_clusters;

pub use began::{Began, TELLS_BEGIN};
pub use clock::ShiftedClock;
pub use cluster::{Cluster, Options, install_plugins};
pub use daemon::{Daemon, IMPORTED, PATIENCE, QUICK, with_imported};
pub use job::{Job, Submitted};
pub use past::{LARGE_WAIT, Past, now};
pub use shared::Shared;
pub use two_clusters::{SCENARIO, TwoClusters};

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Directory of the project.
#[must_use]
pub fn project() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Directory into which cargo puts the programs and plugins of this build.
///
/// # Panics
/// Where this program does not run from a target directory that has them.
#[must_use]
pub fn built() -> PathBuf {
    find_built().expect("built by: cargo build --workspace")
}

pub(crate) fn find_built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let has_plugins = |directory: &&Path| directory.join("libjob_submit_queuecast.so").is_file() && directory.join("queuecastd").is_file();
    program.ancestors().skip(1).take(2).find(has_plugins).map(Path::to_path_buf)
}

/// Waits until `condition` gives a value, and returns it.
///
/// # Panics
/// Where that takes longer than `timeout`.
pub fn wait_for<T>(what: &str, timeout: Duration, condition: impl FnMut() -> Option<T>) -> T {
    wait_at_most(timeout, condition).unwrap_or_else(|| panic!("waited {timeout:?} in vain for {what}"))
}

/// Waits until `condition` gives a value, and returns it; `None` where that takes longer than
/// `timeout`.
pub fn wait_at_most<T>(timeout: Duration, mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    loop {
        if let Some(value) = condition() {
            return Some(value);
        }
        if begin.elapsed() >= timeout {
            return None;
        }
        // A question is often a command of Slurm's: the longer it takes, the more rarely it is put.
        std::thread::sleep((begin.elapsed() / 8).clamp(Duration::from_millis(20), Duration::from_secs(1)));
    }
}
