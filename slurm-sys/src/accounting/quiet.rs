//! Keeping libslurm's own messages off standard error.

use crate::errno;

/// Standard error, sent to nowhere until dropped.
struct Quiet {
    kept: libc::c_int,
}

impl Quiet {
    fn new() -> Option<Self> {
        // SAFETY: plain system calls on descriptors that are opened here; on failure standard error
        // stays as it is.
        unsafe {
            let kept = libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, 3);
            if kept < 0 {
                return None;
            }
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if nowhere < 0 {
                libc::close(kept);
                return None;
            }
            libc::dup2(nowhere, libc::STDERR_FILENO);
            libc::close(nowhere);
            Some(Self { kept })
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: puts back the descriptor that `new` kept, and closes the copy once.
        unsafe {
            libc::dup2(self.kept, libc::STDERR_FILENO);
            libc::close(self.kept);
        }
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
