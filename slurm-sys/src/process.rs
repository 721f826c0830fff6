//! What a SPANK plugin does to the process that loaded it: its environment, its end, its signals,
//! its sleep. And who is at the other end of a socket.

use job_types::number::UserId;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// The user as whom this process runs; in slurmctld this is SlurmUser (slurm.conf(5)).
#[must_use]
pub fn own_user() -> UserId {
    // SAFETY: geteuid reads a number of this process and can't fail.
    UserId(unsafe { libc::geteuid() })
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

/// Gives all processes of a process group a `nice`, with their threads (setpriority(2)).
///
/// # Errors
/// What the kernel says, but for a group that is gone.
pub fn set_nice_of_group(group: u32, nice: i32) -> io::Result<()> {
    // SAFETY: a call with numbers.
    let outcome = unsafe { libc::setpriority(libc::PRIO_PGRP, group, nice) };
    let error = io::Error::last_os_error();
    if outcome == 0 || is_gone(&error) { Ok(()) } else { Err(error) }
}

/// Whether an error says that there is no such process any more.
#[must_use]
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}

/// Keeps the plugin in memory until the process ends, although it will be unloaded: a thread of its
/// own may still run. Returns whether it is kept.
#[must_use]
pub fn stay_loaded() -> bool {
    // SAFETY: dladdr fills the structure, which is valid and lives through the call, with the name
    // of the file that this function is in, which lives as long as the file is loaded; dlopen is
    // asked for what is loaded already, so that nothing is run.
    unsafe {
        let mut found: libc::Dl_info = MaybeUninit::zeroed().assume_init();
        let here = stay_loaded as fn() -> bool as *const libc::c_void;
        libc::dladdr(here, &raw mut found) != 0
            && !found.dli_fname.is_null()
            && !libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE).is_null()
    }
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

/// Signals on which salloc gives its allocation back, which its child would do as well until it
/// executes the shell (salloc.c, `sig_array`). Those of job control stay as salloc has them: it
/// moves its child into the foreground only after the fork.
const SIGNALS_OF_SALLOC: [libc::c_int; 6] = [libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Keeps signals at their default effect, unblocked, until it is dropped; then all is as it was.
struct DefaultSignals<const COUNT: usize> {
    signals: [libc::c_int; COUNT],
    actions: [Option<libc::sigaction>; COUNT],
    mask: Option<libc::sigset_t>,
}

impl<const COUNT: usize> DefaultSignals<COUNT> {
    fn install(signals: [libc::c_int; COUNT]) -> Self {
        let mut actions = [None; COUNT];
        for (signal, saved) in signals.into_iter().zip(&mut actions) {
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
        Self { signals, actions, mask }
    }
}

impl<const COUNT: usize> Drop for DefaultSignals<COUNT> {
    fn drop(&mut self) {
        if let Some(mask) = &self.mask {
            // SAFETY: the mask is the one that the kernel gave.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
        }
        for (signal, saved) in self.signals.into_iter().zip(&self.actions) {
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
    let _signals = DefaultSignals::install(SIGNALS);
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

/// Why [`sleep_until_or_interrupted`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// It is time.
    OnTime,
    /// Somebody at the terminal has typed Ctrl-C.
    Interrupted,
    /// It was told to stop.
    Told,
}

/// Sleeps until a time of the wall clock as [`sleep_until`] does, or until SIGINT, which then has
/// no other effect.
///
/// Now and at each whole second that is left it calls `goes_on` with the seconds that are left, and
/// comes back where that says no. The clock is read anew each time, so that it may be set
/// meanwhile.
pub fn sleep_until_or_interrupted(unix_seconds: i64, mut goes_on: impl FnMut(i64) -> bool) -> Woken {
    const NANOSECONDS: i128 = 1_000_000_000;
    let _signals = DefaultSignals::install(SIGNALS_OF_SALLOC);
    // SAFETY: the sets are valid and live through the calls; sigemptyset initialises what it is
    // given. The mask is put back when `_signals` is dropped.
    let interrupt = unsafe {
        let mut interrupt: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut interrupt);
        libc::sigaddset(&raw mut interrupt, libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const interrupt, std::ptr::null_mut());
        interrupt
    };
    loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        let left = i128::from(unix_seconds) * NANOSECONDS - now;
        if left <= 0 {
            return Woken::OnTime;
        }
        if !goes_on(i64::try_from((left + NANOSECONDS - 1) / NANOSECONDS).unwrap_or(i64::MAX)) {
            return Woken::Told;
        }
        // To the next whole second that is left: from 1 ns to a second.
        let part = (left - 1) % NANOSECONDS + 1;
        let timeout = libc::timespec { tv_sec: (part / NANOSECONDS) as i64, tv_nsec: (part % NANOSECONDS) as i64 };
        // SAFETY: set and time are valid and live through the call; what came with the signal is
        // not asked for.
        if unsafe { libc::sigtimedwait(&raw const interrupt, std::ptr::null_mut(), &raw const timeout) } == libc::SIGINT {
            return Woken::Interrupted;
        }
    }
}

/// Has two functions called around each fork of this process from now on (pthread_atfork(3)):
/// `before` in this process, and `in_child` in the new one. Returns whether they will be.
///
/// They must not unwind. glibc forgets them when the plugin that they belong to is unloaded.
#[must_use]
pub fn around_forks(before: extern "C" fn(), in_child: extern "C" fn()) -> bool {
    // SAFETY: both are functions without arguments that stay loaded for as long as they are
    // registered.
    unsafe { libc::pthread_atfork(Some(before), None, Some(in_child)) == 0 }
}
