//! What a SPANK plugin does to the process that loaded it: its environment, its end, its signals,
//! its sleep.

use job_types::number::UserId;
use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use std::io;
use std::mem::MaybeUninit;
use std::time::{SystemTime, UNIX_EPOCH};

/// The user as whom this process runs; in slurmctld this is SlurmUser (slurm.conf(5)).
#[must_use]
pub fn own_user() -> UserId {
    UserId(nix::unistd::geteuid().as_raw())
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
    error.raw_os_error() == Some(Errno::ESRCH as i32)
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
const SIGNALS: [Signal; 12] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGALRM,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGXCPU,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGPIPE,
];

/// Signals on which salloc gives its allocation back, which its child would do as well until it
/// executes the shell (salloc.c, `sig_array`). Those of job control stay as salloc has them: it
/// moves its child into the foreground only after the fork.
const SIGNALS_OF_SALLOC: [Signal; 6] =
    [Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGPIPE, Signal::SIGTERM, Signal::SIGUSR1, Signal::SIGUSR2];

/// Keeps signals at their default effect, unblocked, until it is dropped; then all is as it was.
struct DefaultSignals<const COUNT: usize> {
    signals: [Signal; COUNT],
    actions: [Option<SigAction>; COUNT],
    mask: Option<SigSet>,
}

impl<const COUNT: usize> DefaultSignals<COUNT> {
    fn install(signals: [Signal; COUNT]) -> Self {
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default action calls nothing of this process.
        let actions = signals.map(|signal| unsafe { sigaction(signal, &default) }.ok());
        let mask = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK).ok();
        Self { signals, actions, mask }
    }
}

impl<const COUNT: usize> Drop for DefaultSignals<COUNT> {
    fn drop(&mut self) {
        if let Some(mask) = &self.mask {
            let _ = mask.thread_set_mask();
        }
        for (signal, saved) in self.signals.into_iter().zip(&self.actions) {
            if let Some(action) = saved {
                // SAFETY: the action is the one that the kernel gave for this signal.
                let _ = unsafe { sigaction(signal, action) };
            }
        }
    }
}

/// Sleeps until a time of the wall clock, in Unix seconds, whatever happens to the clock meanwhile.
///
/// Signals have their default effect meanwhile, so that one that ends a process ends this one.
pub fn sleep_until(unix_seconds: i64) {
    let _signals = DefaultSignals::install(SIGNALS);
    let wake = TimeSpec::new(unix_seconds, 0);
    while clock_nanosleep(ClockId::CLOCK_REALTIME, ClockNanosleepFlags::TIMER_ABSTIME, &wake) == Err(Errno::EINTR) {}
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
    // The mask is put back when `_signals` is dropped.
    let interrupt = SigSet::from(Signal::SIGINT);
    let _ = interrupt.thread_block();
    loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        let left = i128::from(unix_seconds) * NANOSECONDS - now;
        if left <= 0 {
            return Woken::OnTime;
        }
        if !goes_on(i64::try_from((left + NANOSECONDS - 1) / NANOSECONDS).unwrap_or(i64::MAX)) {
            return Woken::Told;
        }
        // The timeout reaches to the next whole second that is left: from 1 ns to a second.
        let part = (left - 1) % NANOSECONDS + 1;
        let timeout = TimeSpec::new((part / NANOSECONDS) as i64, (part % NANOSECONDS) as i64);
        // SAFETY: set and time are valid and live through the call; what came with the signal is
        // not asked for.
        if unsafe { libc::sigtimedwait(interrupt.as_ref(), std::ptr::null_mut(), timeout.as_ref()) } == libc::SIGINT {
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
