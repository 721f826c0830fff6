//! What is read of Slurm: ended jobs from slurmdbd, and from slurmctld the queue, its partitions,
//! nodes, limits and reservations.

pub(crate) mod accounting;
pub(crate) mod controller;
mod conversion;
pub(crate) mod earlier_clusters;
pub(crate) mod limits;
pub(crate) mod queue_reader;
mod queued_runs;
