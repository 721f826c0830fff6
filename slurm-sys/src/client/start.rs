//! Starting libslurm without letting it end the process.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stderr, fork};

use super::error::ClientError;
use super::library::{self, libslurm};
use super::{symbols, value};
use crate::bindings;

/// How long reading the configuration may take: libslurm waits a minute for a slurm.conf that it
/// fetches from slurmctld.
const START_LIMIT: Duration = Duration::from_secs(75);

static STARTED: Mutex<bool> = Mutex::new(false);

/// Reads slurm.conf, where `SLURM_CONF` or libslurm's own default says that it is. Once per
/// process; later calls cost nothing.
///
/// libslurm ends the process (`fatal()`, then `exit(1)`) when slurm.conf is missing or cannot be
/// understood. So a child process tries first, and what it prints becomes the error. Call it before
/// threads are started where you can: the child is made by `fork`.
///
/// What remains: libslurm also ends the process when memory runs out, when a plugin that slurm.conf
/// names disappears afterwards, and when slurm.conf breaks in the instant between the trial and the
/// reading. And where libslurmfull is not beside Slurm's plugins, the loss of a connection to
/// slurmdbd ends it too (see the module `symbols`).
///
/// # Errors
/// [`ClientError::Library`] where libslurm is not there; [`ClientError::Configuration`] with
/// libslurm's own message; a later call tries again.
pub fn initialise() -> Result<(), ClientError> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if *started {
        return Ok(());
    }
    library::load()?;
    check_named_file()?;
    try_in_child()?;
    // SAFETY: a null path lets libslurm find its own configuration, which the child just did
    // without harm.
    unsafe { libslurm().slurm_init(std::ptr::null()) };
    // SAFETY: libslurm has just filled its configuration; see `site`.
    let plugin_directories = unsafe { value::owned_text((*configuration()).plugindir) };
    symbols::complete(&plugin_directories.unwrap_or_default());
    *started = true;
    Ok(())
}

/// What slurm.conf says of this cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// `ClusterName`.
    pub cluster: String,
    /// `AccountingStorageType`, empty where not set.
    pub accounting_storage_type: String,
    /// `AuthInfo`, empty where not set.
    pub auth_info: String,
    /// The user id of `SlurmUser`, which slurmctld runs as.
    pub slurm_user_id: u32,
    /// Whether every job gets whole nodes, whatever its partition (`SelectType=select/linear`).
    pub whole_nodes: bool,
    /// What users may not see of each other.
    pub private_data: PrivateData,
}

/// What users may not see of each other (`PrivateData` of slurm.conf).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrivateData {
    /// Others' jobs.
    pub jobs: bool,
    /// Others' names and associations.
    pub users: bool,
    /// Accounts that they do not belong to.
    pub accounts: bool,
}

impl PrivateData {
    /// Reads the bits `PRIVATE_DATA_JOBS`, `PRIVATE_DATA_USERS` and `PRIVATE_DATA_ACCOUNTS` of
    /// slurm.h, which bindgen leaves out because they are made by a macro with an argument.
    pub(super) fn from_raw(bits: u32) -> Self {
        Self { jobs: bits & 1 != 0, users: bits & 1 << 4 != 0, accounts: bits & 1 << 5 != 0 }
    }
}

/// What slurm.conf says of this cluster.
///
/// # Errors
/// As [`initialise`], which it calls.
pub fn site() -> Result<Site, ClientError> {
    initialise()?;
    let configuration = configuration();
    // SAFETY: libslurm filled the configuration in `initialise` and changes it only in
    // slurm_conf_reinit, which nothing here calls; the strings in it are null or null-terminated,
    // and are copied.
    unsafe {
        Ok(Site {
            cluster: value::owned_text((*configuration).cluster_name).unwrap_or_default(),
            accounting_storage_type: value::owned_text((*configuration).accounting_storage_type).unwrap_or_default(),
            auth_info: value::owned_text((*configuration).authinfo).unwrap_or_default(),
            slurm_user_id: (*configuration).slurm_user_id,
            whole_nodes: value::text((*configuration).select_type).as_deref() == Some("select/linear"),
            private_data: PrivateData::from_raw((*configuration).private_data.into()),
        })
    }
}

/// Whether records of ended jobs can be had: slurm.conf must name slurmdbd.
///
/// # Errors
/// [`ClientError::NoAccounting`] where it does not, and as [`initialise`].
pub(crate) fn require_slurmdbd() -> Result<(), ClientError> {
    let configured = site()?.accounting_storage_type;
    if configured == "accounting_storage/slurmdbd" { Ok(()) } else { Err(ClientError::NoAccounting { configured }) }
}

/// The configuration in force in this process (src/common/read_config.h).
pub(super) fn configuration() -> *const bindings::slurm_conf_t {
    // SAFETY: looks an address up.
    unsafe { libslurm().slurm_conf() }
}

/// Whether the file that `SLURM_CONF` names, where it names one, can be read. libslurm would look
/// for it for a minute.
fn check_named_file() -> Result<(), ClientError> {
    let Some(path) = std::env::var_os("SLURM_CONF") else {
        return Ok(());
    };
    File::open(&path).map(drop).map_err(|error| ClientError::Configuration { message: format!("{}: {error}", path.to_string_lossy()) })
}

/// Lets a child process read the configuration. Its standard error is the reason of a failure.
fn try_in_child() -> Result<(), ClientError> {
    let system_failure = |call: &str, error: io::Error| ClientError::Configuration { message: format!("{call}: {error}") };
    let (output, child_end) = io::pipe().map_err(|error| system_failure("pipe", error))?;
    // SAFETY: the child calls only libslurm and C, never returns into Rust, and ends by _exit or by
    // libslurm's exit.
    let child = match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            // SAFETY: descriptors of our own; a null path as in `initialise`.
            unsafe {
                let _ = dup2_stderr(&child_end);
                libslurm().slurm_init(std::ptr::null());
                libc::_exit(0);
            }
        }
        Ok(ForkResult::Parent { child }) => child,
        Err(error) => return Err(system_failure("fork", error.into())),
    };
    drop(child_end);
    let (succeeded, said) = wait_for(child, output);
    if succeeded {
        return Ok(());
    }
    let said = said.trim();
    Err(ClientError::Configuration {
        message: if said.is_empty() { "it ended the trial process without a word".to_owned() } else { said.replace('\n', "; ") },
    })
}

/// Waits until the child ends, and kills it when that takes too long. Whether it succeeded, and
/// what it printed.
fn wait_for(child: Pid, output: PipeReader) -> (bool, String) {
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = output.take(16 * 1024).read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let deadline = Instant::now() + START_LIMIT;
    let succeeded = loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Ok(WaitStatus::StillAlive) => {
                // It has not been waited for, so that its number is still its own.
                let _ = kill(child, Signal::SIGKILL);
                let _ = waitpid(child, None);
                break false;
            }
            Ok(status) => break status == WaitStatus::Exited(child, 0),
            Err(Errno::EINTR) => {}
            // Somebody else has waited for our child (a handler of SIGCHLD); nothing is known, so
            // nothing is promised.
            Err(_) => break false,
        }
    };
    (succeeded, reader.join().unwrap_or_default())
}
