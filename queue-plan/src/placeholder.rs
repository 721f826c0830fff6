//! Resources that are kept for a time, as if a job had them.

use job_types::time::UnixTime;

use crate::resources::Resources;

/// A block of resources from a time to a time, for a job that is thought of and not in the queue.
///
/// Others find its resources taken, as those of a running job. It is no reservation: a job may
/// start before it whose time limit reaches into it, if the job is expected to end before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// When it begins.
    pub start: UnixTime,
    /// When it ends.
    pub end: UnixTime,
    /// What it takes.
    pub takes: Resources,
    /// The place where it takes its resources.
    pub location: Location,
}

/// The place where a placeholder takes its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Any place with room beside what stands: the first pool of nodes, in the order of partitions,
    /// that has room for the whole time, or the first pool of all if none has room.
    Anywhere,
    /// The partition at this place of the state.
    Partition(u16),
    /// These nodes. The resources are spread evenly over them; nodes that take no jobs give
    /// nothing.
    Nodes(Vec<u32>),
}
