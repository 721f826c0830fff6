//! The machine that jobs run on.

use job_types::time::UnixTime;

/// Processors that are taken for a time, whatever waits: an advance reservation, or maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// When the block begins, on the clock of the workload.
    pub start: UnixTime,
    /// When the block ends, on the clock of the workload.
    pub end: UnixTime,
    /// How many processors are taken.
    pub processors: u32,
}

/// One pool of equal processors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// How many processors it has.
    pub processors: u32,
    /// When some of them are not for jobs.
    pub blocks: Vec<Block>,
}

impl Machine {
    /// A machine that is always there whole.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        Self { processors, blocks: Vec::new() }
    }
}
