//! The bindings describe the library that is installed.
#![allow(unsafe_code)]

use slurm_sys::bindings;

#[test]
fn the_headers_and_the_library_are_of_one_version() {
    // SAFETY: slurm_api_version takes no argument and reads a constant of the library.
    let library = unsafe { bindings::slurm_api_version() };
    assert!(library > 0);
    assert!(bindings::SLURM_VERSION_NUMBER >= 0x16_05_00, "older than 22.05");
}
