//! The plugin in salloc: makes its shell, or the command that it runs, wait for the reserved time.
//!
//! No callback of the plugin interface lies between the grant of an allocation and the shell
//! (src/salloc/salloc.c). But salloc forks to start it, and has the number of its job in its
//! environment by then. So the plugin has itself called around forks: before, in salloc, it asks
//! slurmctld what was granted; and the new process waits before it becomes the shell. By then
//! salloc makes it the foreground of the terminal, so that Ctrl-C reaches it alone, and not the
//! allocation.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use jiff::tz::TimeZone;
use job_types::number::JobId;
use slurm_conf::duration;
use slurm_sys::process::{self, Woken};

use crate::granted;
use crate::hold::{self, Hold};

/// The job inside which salloc was started; 0 for none.
static OUTER_JOB: AtomicU32 = AtomicU32::new(0);

/// The allocation whose shell is to wait; 0 for none.
static JOB: AtomicU32 = AtomicU32::new(0);

/// The time until which the shell waits, in Unix seconds.
static UNTIL: AtomicI64 = AtomicI64::new(0);

/// How many seconds pass between two questions whether the allocation is still there. salloc itself
/// tells its child nothing (`_job_complete_handler` signals it only where salloc was built or told
/// so).
const SECONDS_BETWEEN_LOOKS: i64 = 5;

/// Has the shell of this salloc wait, if slurmctld grants its job a wait. Returns whether it will.
#[must_use]
pub(crate) fn waits_for_its_time() -> bool {
    OUTER_JOB.store(job_of_environment().unwrap_or(0), Ordering::Relaxed);
    process::around_forks(before_fork, in_child)
}

/// The job that the environment tells of.
fn job_of_environment() -> Option<u32> {
    env::var("SLURM_JOB_ID").ok()?.parse().ok()
}

extern "C" fn before_fork() {
    // A panic ends here, and the shell begins at once.
    let _ = catch_unwind(|| {
        let Some(job) = job_of_environment().filter(|job| *job != OUTER_JOB.load(Ordering::Relaxed)) else { return };
        let Some(grant) = granted::hold(JobId(job)) else { return };
        match hold::decide(&grant.until.to_string(), jiff::Timestamp::now().as_second(), grant.end) {
            Hold::Until(until) => {
                UNTIL.store(until, Ordering::Relaxed);
                JOB.store(job, Ordering::Relaxed);
            }
            Hold::Ignored(reason) => say(&format!("queuecast: not waiting: {reason}\n")),
            Hold::Nothing => {}
        }
    });
}

extern "C" fn in_child() {
    let ended = catch_unwind(|| {
        // One fork is that of salloc for its shell; processes that follow are not to wait again.
        let job = JOB.swap(0, Ordering::Relaxed);
        job != 0 && wait(JobId(job), UNTIL.load(Ordering::Relaxed)) == Woken::Told
    });
    if matches!(ended, Ok(true)) {
        say("queuecast: the allocation has ended before the reserved time\n");
        process::leave();
    }
}

fn wait(job: JobId, until: i64) -> Woken {
    let is_terminal = io::stderr().is_terminal();
    let announcement = hold::announcement(until, &TimeZone::system());
    if !is_terminal {
        say(&format!("{announcement}\n"));
    }
    let woken = process::sleep_until_or_interrupted(until, |left| {
        if is_terminal {
            // Over the line before it, whose end is cleared.
            say(&format!("\r{announcement}: {} (Ctrl-C: begin now)\x1b[K", duration::format(left)));
        }
        left % SECONDS_BETWEEN_LOOKS != 0 || !slurm_sys::allocation::has_ended(job)
    });
    if is_terminal {
        say("\n");
    }
    woken
}

fn say(text: &str) {
    // Whoever has closed the standard error of salloc waits all the same.
    let _ = io::stderr().write_all(text.as_bytes());
}
