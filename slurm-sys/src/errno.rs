//! The thread's last error, where libslurm leaves its own: its functions for that come and go
//! between releases, errno stays.

use std::ffi::c_int;

/// The thread's last error; 0 for none.
pub(crate) fn get() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Sets the thread's last error; 0 makes what is found afterwards that of the next call.
pub(crate) fn set(code: c_int) {
    // SAFETY: the calling thread's errno, which is always there.
    unsafe { *libc::__errno_location() = code }
}
