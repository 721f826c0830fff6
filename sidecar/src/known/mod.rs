//! What the daemon knows, as the values that its rooms hand to each other: the cluster with its
//! jobs, what was promised to them, and what is kept over a restart.

pub(crate) mod awaited;
pub(crate) mod checkpoint;
pub(crate) mod cluster;
pub(crate) mod damaged;
pub(crate) mod genuine;
pub(crate) mod names;
pub(crate) mod privacy;
pub(crate) mod promised_job;
pub(crate) mod promised_jobs;
pub(crate) mod rule_load_report;
pub(crate) mod seen;
pub(crate) mod shared_nodes;
pub(crate) mod slurm_reservations;
pub(crate) mod submissions;

#[cfg(test)]
pub(crate) mod made_up;
