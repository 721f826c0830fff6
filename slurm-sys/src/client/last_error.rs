//! The thread's last error of libslurm.

use super::library::libslurm;
use super::value;
use crate::errno;

/// Forgets the thread's last error, so that [`last`] afterwards tells of the next call only.
pub(crate) fn forget() {
    errno::set(0);
}

/// The thread's last error: its number, and Slurm's words for it. A failure that left no number is
/// `SLURM_ERROR`.
pub(super) fn last() -> (i32, String) {
    let code = errno::get();
    if code == 0 {
        return (-1, "no reason given".to_owned());
    }
    (code, describe(code))
}

/// Slurm's words for one of its error numbers, or the system's.
pub(crate) fn describe(code: i32) -> String {
    // SAFETY: slurm_strerror looks the number up in a static table, or falls back to strerror; both
    // return a string that stays valid until this thread asks again, and it is copied at once.
    let words = unsafe { value::text(libslurm().slurm_strerror(code)) };
    words.map_or_else(|| "unknown error".to_owned(), |words| words.to_lowercase())
}
