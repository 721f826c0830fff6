//! Reads what a submission asks of queuecast.

use job_types::options::{OptionError, UserOptions, VARIABLE_PREFIX};
use slurm_sys::job_description::{JobDescription, Variables};

/// Reads what the user asked for from the job's control environment, which the user can forge.
///
/// # Errors
/// The first variable of ours that can't be read.
pub(crate) fn asked(description: &JobDescription<'_>) -> Result<UserOptions, OptionError> {
    let mut asked = UserOptions::default();
    for (name, value) in description.variables(Variables::Control, VARIABLE_PREFIX) {
        asked.set(name, value)?;
    }
    Ok(asked)
}

/// Whether there is a variable of ours in the job's control environment.
pub(crate) fn asks(description: &JobDescription<'_>) -> bool {
    description.variables(Variables::Control, VARIABLE_PREFIX).next().is_some()
}
