//! What Slurm's configuration says on this host.

use std::path::PathBuf;

use ::slurm_conf::SlurmSettings;
use slurm_sys::client::{self, ClientError};

use super::permissions::SlurmUser;
use super::programs::Programs;
use super::shared_object;
use super::slurm_conf;

/// What Slurm's configuration says on this host.
#[derive(Debug)]
pub(super) struct Slurm {
    /// slurm.conf, where there is one.
    pub(super) path: Option<PathBuf>,
    /// Whether libslurm can be used, and why not.
    pub(super) libslurm: Result<(), ClientError>,
    /// The directories in which plugins are looked for, in that order.
    pub(super) plugin_directories: Vec<PathBuf>,
    /// The plugins that slurmctld hands a submission to, in that order.
    pub(super) job_submit_plugins: Vec<String>,
    /// plugstack.conf, there or not.
    pub(super) plugstack: Option<PathBuf>,
    pub(super) slurm_user: Option<SlurmUser>,
    /// The hosts of slurmctld.
    pub(super) controllers: Vec<String>,
    /// The partitions that stand in slurm.conf; a running slurmctld may have others.
    pub(super) partitions: Vec<String>,
    /// The file in which slurmctld puts its process number.
    pub(super) slurmctld_pid_file: PathBuf,
    /// Hash over slurm.conf and what it includes; `None` if it is not known.
    pub(super) hash: Option<u64>,
    /// The parts of slurm.conf that can't be read.
    pub(super) problems: Vec<String>,
}

impl Slurm {
    /// Takes libslurm's word where it can be had, and reads slurm.conf for the rest.
    pub(super) fn read(programs: &Programs) -> Self {
        let from_libslurm = client::local_configuration();
        let path = match &from_libslurm {
            Ok(local) => local.path.as_deref().map(PathBuf::from).filter(|path| path.is_file()).or_else(SlurmSettings::usual_path),
            Err(_) => SlurmSettings::usual_path(),
        };
        let (conf, hash) = path.as_deref().map(slurm_conf::read).unwrap_or_default();
        let local = from_libslurm.as_ref().ok();
        let value = |from_libslurm: Option<&String>, key| from_libslurm.map(String::as_str).or_else(|| conf.get(key)).map(str::to_owned);
        let plugin_directories = value(local.map(|local| &local.plugin_directories), "PluginDir");
        let job_submit_plugins = value(local.map(|local| &local.job_submit_plugins), "JobSubmitPlugins").unwrap_or_default();
        let plugstack = value(local.and_then(|local| local.plugstack.as_ref()), "PlugStackConfig").map(PathBuf::from);
        let slurm_user = match local {
            Some(local) => Some(SlurmUser::from_number(local.slurm_user_id)),
            // Slurm's own default is root.
            None => path.as_ref().and_then(|_| SlurmUser::find(conf.get("SlurmUser").unwrap_or("root"))),
        };
        Self {
            plugin_directories: plugin_directories
                .map(|list| list.split(':').filter(|directory| !directory.is_empty()).map(PathBuf::from).collect())
                .unwrap_or_else(|| built_in(programs)),
            job_submit_plugins: job_submit_plugins.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            plugstack: plugstack.or_else(|| path.as_ref().map(|path| path.with_file_name("plugstack.conf"))),
            slurm_user,
            slurmctld_pid_file: PathBuf::from(conf.get("SlurmctldPidFile").unwrap_or("/var/run/slurmctld.pid")),
            hash: path.is_some().then_some(hash),
            controllers: conf.controllers,
            partitions: conf.partitions,
            problems: conf.problems,
            libslurm: from_libslurm.map(drop),
            path,
        }
    }

    /// Returns the place of queuecast in the list of job_submit plugins; `None` if it is not there.
    pub(super) fn place_of_queuecast(&self) -> Option<usize> {
        self.job_submit_plugins.iter().position(|name| name == "queuecast" || name == "job_submit/queuecast")
    }
}

/// Returns where the installed programs look for plugins if slurm.conf does not say.
fn built_in(programs: &Programs) -> Vec<PathBuf> {
    programs.all().iter().find_map(|program| shared_object::plugin_directory_of(&program.path)).into_iter().collect()
}
