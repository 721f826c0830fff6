//! What a SPANK plugin does to the process that loaded it: its environment, its end, its signals,
//! its sleep. And who is at the other end of a socket.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// The user id of the process at the other end of a socket, as the kernel noted it when that
/// process connected (unix(7), `SO_PEERCRED`).
///
/// # Errors
/// Where the kernel does not say.
pub fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open; the structure and its length are valid and live through the
    // call.
    let outcome = unsafe {
        let place = (&raw mut credentials).cast();
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut length)
    };
    if outcome != 0 || length as usize != size_of::<libc::ucred>() {
        return Err(io::Error::last_os_error());
    }
    Ok(credentials.uid)
}

/// Sets a variable of this process.
pub fn set_variable(name: &str, value: &str) {
    // SAFETY: the callers run in sbatch, salloc or srun, in callbacks between which and Slurm's own
    // changes of the environment nothing runs in parallel; glibc itself locks among writers.
    unsafe { std::env::set_var(name, value) }
}

/// Removes a variable of this process.
pub fn remove_variable(name: &str) {
    // SAFETY: as in `set_variable`.
    unsafe { std::env::remove_var(name) }
}

/// Ends the process with the status that Slurm's commands use for errors (`SLURM_EXIT_ERROR`, by
/// default 1).
///
/// Handlers of `atexit` do not run: Slurm's would call back into this plugin and unload it while it
/// is on the stack.
pub fn leave() -> ! {
    let status = std::env::var("SLURM_EXIT_ERROR").ok().and_then(|text| text.parse().ok()).filter(|&status| status != 0);
    // SAFETY: a null pointer makes fflush write out every open stream; _exit takes any status.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(status.unwrap_or(1))
    }
}

/// Signals that end a job, are sent to one, or that slurmstepd keeps for itself (slurmstepd.c:
/// blocked in 22.05, handled in 24.11; a forked task inherits both until it executes the job's
/// program).
const SIGNALS: [libc::c_int; 12] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGXCPU,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
];

/// Keeps signals at their default effect, unblocked, until it is dropped; then all is as it was.
struct DefaultSignals {
    actions: [Option<libc::sigaction>; SIGNALS.len()],
    mask: Option<libc::sigset_t>,
}

impl DefaultSignals {
    fn install() -> Self {
        let mut actions = [None; SIGNALS.len()];
        for (signal, saved) in SIGNALS.into_iter().zip(&mut actions) {
            // SAFETY: both structures are valid and live through the call; all zeros is a sigaction
            // with the default action, no flags and an empty mask.
            unsafe {
                let default: libc::sigaction = MaybeUninit::zeroed().assume_init();
                let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
                if libc::sigaction(signal, &raw const default, &raw mut before) == 0 {
                    *saved = Some(before);
                }
            }
        }
        // SAFETY: the sets are valid and live through the calls; sigemptyset initialises what it is
        // given.
        let mask = unsafe {
            let mut none: libc::sigset_t = MaybeUninit::zeroed().assume_init();
            let mut before: libc::sigset_t = MaybeUninit::zeroed().assume_init();
            libc::sigemptyset(&raw mut none);
            (libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, &raw mut before) == 0).then_some(before)
        };
        Self { actions, mask }
    }
}

impl Drop for DefaultSignals {
    fn drop(&mut self) {
        if let Some(mask) = &self.mask {
            // SAFETY: the mask is the one that the kernel gave.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
        }
        for (signal, saved) in SIGNALS.into_iter().zip(&self.actions) {
            if let Some(action) = saved {
                // SAFETY: the action is the one that the kernel gave for this signal.
                unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
            }
        }
    }
}

/// Sleeps until a time of the wall clock, in Unix seconds, whatever happens to the clock meanwhile.
///
/// Signals have their default effect meanwhile, so that one that ends a process ends this one.
pub fn sleep_until(unix_seconds: i64) {
    let _signals = DefaultSignals::install();
    let wake = libc::timespec { tv_sec: unix_seconds, tv_nsec: 0 };
    loop {
        // SAFETY: the time is valid and lives through the call; an absolute sleep leaves no
        // remainder to write.
        let outcome = unsafe { libc::clock_nanosleep(libc::CLOCK_REALTIME, libc::TIMER_ABSTIME, &raw const wake, std::ptr::null_mut()) };
        if outcome != libc::EINTR {
            return;
        }
    }
}
