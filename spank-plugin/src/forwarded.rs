//! The variables through which Slurm itself carries the options of a plugin from one command to the
//! next.
//!
//! sbatch and salloc export what they have in the control environment with the prefix
//! `SLURM_SPANK_` (src/sbatch/sbatch.c, `_set_spank_env`), and every option as
//! `_SLURM_SPANK_OPTION_<plugin>_<option>` (src/common/plugstack.c, `_opt_env_name`). The job
//! inherits both, and an sbatch inside the job takes the two prefixes together for an option that
//! its user gave (`spank_process_env_options`). Without the plugin's care, a job that submits
//! another would reserve nodes for it too.

use job_types::options::OPTIONS;

/// The name under which Slurm knows the plugin.
pub(crate) const PLUGIN_NAME: &str = "queuecast";

/// All such variables of this plugin.
pub(crate) fn variables() -> impl Iterator<Item = String> {
    OPTIONS.iter().flat_map(|option| {
        let as_option = format!("_SLURM_SPANK_OPTION_{PLUGIN_NAME}_{}", option.name.replace('-', "_"));
        [format!("SLURM_SPANK_{}", option.variable), format!("SLURM_SPANK_{as_option}"), as_option]
    })
}
