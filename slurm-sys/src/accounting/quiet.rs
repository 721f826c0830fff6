//! Keeping libslurm's own messages off standard error.

use crate::errno;
use nix::unistd::dup2_stderr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Standard error, sent to nowhere until dropped.
struct Quiet {
    kept: OwnedFd,
}

impl Quiet {
    /// Makes standard error quiet. On failure standard error stays as it is.
    fn new() -> io::Result<Self> {
        let kept = io::stderr().as_fd().try_clone_to_owned()?;
        dup2_stderr(OpenOptions::new().write(true).open("/dev/null")?)?;
        Ok(Self { kept })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = dup2_stderr(&self.kept);
    }
}

/// Runs a call of libslurm without what it prints: it reports every archive that it loads as a
/// message, and every error twice. What other threads print meanwhile is lost, so this is for
/// programs of one thread.
pub(super) fn quietly<T>(call: impl FnOnce() -> T) -> T {
    let quiet = Quiet::new();
    let result = call();
    // Putting standard error back may change errno.
    let error = errno::get();
    drop(quiet);
    errno::set(error);
    result
}
