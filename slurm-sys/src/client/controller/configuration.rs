//! The configuration that slurmctld has now, which may have changed since slurm.conf was read here.

use super::Answer;
use crate::bindings::slurm_conf_t;
use crate::client::error::ClientError;
use crate::client::library::{Libslurm, libslurm};

impl Answer<slurm_conf_t> {
    /// All of it. Its texts are null or null-terminated.
    pub(super) fn configuration() -> Result<Self, ClientError> {
        #[cfg(slurm_free_conf)]
        let free = |libslurm: &Libslurm| libslurm.slurm_free_conf;
        #[cfg(not(slurm_free_conf))]
        let free = |libslurm: &Libslurm| libslurm.slurm_free_ctl_conf;
        // SAFETY: time 0 asks for everything; the place for the answer is ours.
        Self::ask("configuration", free, |place| unsafe { libslurm().slurm_load_ctl_conf(0, place) })
    }
}
