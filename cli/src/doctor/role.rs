//! What a host is for.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::programs::Programs;

/// What a host is for, and so what is checked on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Role {
    /// slurmctld and queuecastd run here.
    Controller,
    /// Users submit jobs here.
    Login,
    /// Jobs run here.
    Node,
}

impl Role {
    /// The name, as the option and the report have it.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }
}

/// What this host seems to be for, and why; `controllers` are the hosts that slurm.conf names as
/// those of slurmctld.
pub(super) fn guess(controllers: &[String], programs: &Programs, host: &str, slurmctld_runs: bool) -> (Role, String) {
    if slurmctld_runs {
        return (Role::Controller, "slurmctld runs here".to_owned());
    }
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    let is_named = controllers.iter().any(|controller| short(controller) == short(host));
    if is_named && programs.has("slurmctld") {
        return (Role::Controller, format!("slurmctld is installed here, and SlurmctldHost is {host}"));
    }
    if programs.has("slurmd") {
        return (Role::Node, "slurmd is installed here".to_owned());
    }
    (Role::Login, "neither slurmctld of this cluster nor slurmd is here".to_owned())
}
