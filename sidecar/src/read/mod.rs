//! What is read of Slurm: ended jobs from slurmdbd, and the queue, its partitions, nodes, limits and
//! reservations from slurmctld.

pub(crate) mod accounting;
pub(crate) mod admitted;
pub(crate) mod awaited;
pub(crate) mod clock;
pub(crate) mod cluster;
pub(crate) mod controller;
pub(crate) mod genuine;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod privacy;
pub(crate) mod promised;
pub(crate) mod queue_reader;
pub(crate) mod reserved;
pub(crate) mod seen;
pub(crate) mod set_aside;
pub(crate) mod shared_nodes;
pub(crate) mod submissions;
