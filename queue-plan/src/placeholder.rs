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
    /// Where it takes them.
    pub location: Location,
}

/// Where a placeholder takes its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Where there is room beside what stands: in the first pool of nodes, in the order of
    /// partitions, that has room for the whole time, or in the first of all if none has.
    Anywhere,
    /// In the partition at this place of the state.
    Partition(u16),
    /// On these nodes, evenly spread over them; on those that take no jobs it takes nothing.
    Nodes(Vec<u32>),
}
