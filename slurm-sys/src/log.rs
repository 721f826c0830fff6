//! Slurm's own log, from inside its daemons.

use crate::bindings;
use std::ffi::CString;

/// Writes a line at Slurm's `info` level.
pub fn info(line: &str) {
    if let Ok(line) = CString::new(line) {
        // SAFETY: the format takes one string, and gets one.
        unsafe { bindings::slurm_info(c"%s".as_ptr(), line.as_ptr()) };
    }
}

/// Writes a line at Slurm's `error` level.
pub fn error(line: &str) {
    if let Ok(line) = CString::new(line) {
        // SAFETY: the format takes one string, and gets one.
        unsafe { bindings::slurm_error(c"%s".as_ptr(), line.as_ptr()) };
    }
}
