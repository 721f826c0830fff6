//! The plugin on the node, in slurmstepd: makes a job wait that is there before its reserved time.

use std::error::Error;
use std::io::{self, Write};

use jiff::tz::TimeZone;
use job_types::options::HOLD_UNTIL_VARIABLE;
use slurm_spank::{SpankError, SpankHandle};
use slurm_sys::bindings::SLURM_BATCH_SCRIPT;
use slurm_sys::process;

use crate::forwarded;
use crate::hold::{self, Hold};

/// Is called in the task's process, as the user, just before the program is executed.
pub(crate) fn task_init(spank: &mut SpankHandle<'_>) -> Result<(), Box<dyn Error>> {
    let hold_until = spank.getenv_lossy(HOLD_UNTIL_VARIABLE)?;
    // What the script submits in its turn is its own affair.
    spank.unsetenv(HOLD_UNTIL_VARIABLE)?;
    for variable in forwarded::variables() {
        spank.unsetenv(variable)?;
    }
    match hold_until {
        Some(value) if step_may_wait(spank)? => wait(spank, &value),
        _ => Ok(()),
    }
}

/// The batch script waits; of the steps only the first, whose srun made the allocation and set the
/// variable for it.
fn step_may_wait(spank: &SpankHandle<'_>) -> Result<bool, SpankError> {
    let step = spank.job_stepid()?;
    Ok(step == SLURM_BATCH_SCRIPT || step == 0)
}

fn wait(spank: &SpankHandle<'_>, value: &str) -> Result<(), Box<dyn Error>> {
    // Releases before 23.02 do not set it; the time limit then ends the wait with the job.
    let job_end = spank.getenv_lossy("SLURM_JOB_END_TIME")?.and_then(|text| text.parse().ok());
    let speaks = spank.task_global_id()? == 0;
    match hold::decide(value.trim(), jiff::Timestamp::now().as_second(), job_end) {
        Hold::Nothing => {}
        Hold::Ignored(reason) if speaks => say(&format!("queuecast: not waiting: {reason}")),
        Hold::Ignored(_) => {}
        Hold::Until(until) => {
            if speaks {
                say(&hold::announcement(until, &TimeZone::system()));
            }
            process::sleep_until(until);
        }
    }
    Ok(())
}

/// Writes one line on the job's standard error, which is the task's by now.
fn say(line: &str) {
    // A job without a standard error waits all the same.
    let _ = writeln!(io::stderr(), "{line}");
}
