//! What the configuration on this host says of plugins.

use super::error::ClientError;
use super::{start, value};

/// What the configuration on this host says of plugins; slurmctld may run with another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalConfiguration {
    /// slurm.conf, as libslurm found it. It need not exist where the configuration came from
    /// slurmctld.
    pub path: Option<String>,
    /// `PluginDir`, a list with colons; where slurm.conf does not say, what Slurm was built with.
    pub plugin_directories: String,
    /// `JobSubmitPlugins`, a list with commas, perhaps empty.
    pub job_submit_plugins: String,
    /// `PlugStackConfig`, where it is set.
    pub plugstack: Option<String>,
    /// The user id of `SlurmUser`.
    pub slurm_user_id: u32,
}

/// What the configuration on this host says of plugins.
///
/// # Errors
/// As [`super::initialise`], which it calls.
pub fn local_configuration() -> Result<LocalConfiguration, ClientError> {
    start::initialise()?;
    let configuration = start::configuration();
    // SAFETY: libslurm filled the configuration in `initialise` and changes it only in
    // slurm_conf_reinit, which nothing here calls; the strings in it are null or null-terminated,
    // and are copied.
    unsafe {
        Ok(LocalConfiguration {
            path: value::owned_text((*configuration).slurm_conf),
            plugin_directories: value::owned_text((*configuration).plugindir).unwrap_or_default(),
            job_submit_plugins: value::owned_text((*configuration).job_submit_plugins).unwrap_or_default(),
            plugstack: value::owned_text((*configuration).plugstack),
            slurm_user_id: (*configuration).slurm_user_id,
        })
    }
}
