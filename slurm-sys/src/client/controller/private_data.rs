//! What users may not see of each other.

use super::Answer;
use crate::client::error::ClientError;
use crate::client::library::{Libslurm, libslurm};
use crate::client::start::PrivateData;

/// `PrivateData` as slurmctld has it now.
///
/// # Errors
/// As [`super::jobs`].
pub fn private_data() -> Result<PrivateData, ClientError> {
    #[cfg(slurm_free_conf)]
    let free = |libslurm: &Libslurm| libslurm.slurm_free_conf;
    #[cfg(not(slurm_free_conf))]
    let free = |libslurm: &Libslurm| libslurm.slurm_free_ctl_conf;
    // SAFETY: time 0 asks for everything; the place for the answer is ours.
    let answer = Answer::ask("configuration", free, |place| unsafe { libslurm().slurm_load_ctl_conf(0, place) })?;
    // SAFETY: not null (checked by `ask`).
    Ok(PrivateData::from_raw(unsafe { (*answer.message).private_data }.into()))
}
