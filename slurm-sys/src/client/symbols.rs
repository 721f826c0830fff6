//! A gap in libslurm, closed.
//!
//! When a connection to slurmdbd is lost, libslurm's plugin `accounting_storage/slurmdbd` reports
//! it through `slurmdbd_msg_type_2_str()`, which Slurm's own programs have from libslurmfull, but
//! which libslurm does not export (src/api/Makefile.am, version.map; so in 22.05 to 26.05). The
//! dynamic linker then ends the process with "symbol lookup error". libslurmfull lies beside the
//! plugins: it is loaded behind libslurm, so that only what libslurm lacks is taken from it.

use std::ffi::{CString, c_char};

/// What the plugin needs and libslurm may lack.
const LACKING: &std::ffi::CStr = c"slurmdbd_msg_type_2_str";

/// Loads libslurmfull from the first of the plugin directories (separated by colons) that has it,
/// if anything is lacking. Returns whether nothing is lacking now.
pub(super) fn complete(plugin_directories: &str) -> bool {
    plugin_directories.split(':').any(|directory| {
        if is_known() {
            return true;
        }
        if let Ok(path) = CString::new(format!("{directory}/libslurmfull.so")) {
            // SAFETY: a null-terminated path of a library of the installed Slurm, the same that its
            // own programs load. It stays loaded.
            unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
        }
        is_known()
    })
}

/// Whether the process can resolve what the plugin needs.
fn is_known() -> bool {
    let name: *const c_char = LACKING.as_ptr();
    // SAFETY: looks a null-terminated name up, and does not call what it finds.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name) }.is_null()
}
