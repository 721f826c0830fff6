//! libslurm, loaded when it is first needed.
//!
//! Programs do not link it: so a program starts, and can say what is wrong, where the libslurm that
//! it was built for is not installed (any more), and its commands that ask nothing of Slurm work
//! without it.

use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::ClientError;

#[allow(
    missing_docs,
    unreachable_pub,
    non_camel_case_types,
    // Each function comes as a field and as a method.
    dead_code,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
mod functions {
    //! Generated from the installed headers: what is taken from libslurm, each function with its
    //! declared type.
    use crate::bindings::*;
    include!(concat!(env!("OUT_DIR"), "/libslurm.rs"));
}

pub(crate) use functions::Libslurm;

/// The file name of the library that belongs to the headers of this build. Its number goes up with
/// every release of Slurm, so that the name stands for the release (META in Slurm's source).
pub const FILE_NAME: &str = env!("QUEUECAST_LIBSLURM");

/// The library of this process.
struct Shared(Libslurm);
// SAFETY: addresses of functions, and of a variable that only `start` reads. What may be called at
// once is for the callers to keep.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

static LIBRARY: OnceLock<Result<Shared, String>> = OnceLock::new();

/// Loads the library, once per process. It stays loaded.
///
/// # Errors
/// [`ClientError::Library`] where it is not there, with the dynamic linker's words.
pub fn load() -> Result<(), ClientError> {
    library().as_ref().map(drop).map_err(|message| ClientError::Library { message: message.clone() })
}

/// The library. What is in `client` and `accounting` calls it only behind `initialise`, which has
/// loaded it; anything else ends the program as libslurm itself does where it can't go on.
pub(crate) fn libslurm() -> &'static Libslurm {
    match library() {
        Ok(Shared(library)) => library,
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(1)
        }
    }
}

fn library() -> &'static Result<Shared, String> {
    LIBRARY.get_or_init(|| open().map(Shared))
}

fn open() -> Result<Libslurm, String> {
    // SAFETY: the installed Slurm's library, whose constructors its own commands run as well. Its
    // plugins look its functions up among the global symbols.
    let library = unsafe { Library::open(Some(FILE_NAME), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| error.to_string())?;
    // SAFETY: each function is declared as in the headers of the release that the file name stands
    // for.
    unsafe { Libslurm::from_library(library) }.map_err(|error| error.to_string())
}
