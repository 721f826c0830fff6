//! Which of the waiting jobs may start now.

mod conservative;
mod easy;
mod in_order;
mod slurm;

pub use conservative::Conservative;
pub use easy::{Candidates, Easy};
pub use in_order::InOrder;
pub use slurm::{ParameterError, Slurm, SlurmParameters};

use job_types::time::UnixTime;

use super::{Cluster, Event};

/// Which of the waiting jobs may start now.
pub trait Backfill: Send {
    /// Starts, after an event, the jobs of the queue that may start now, by [`Cluster::start`].
    fn pass(&mut self, event: Event, cluster: &mut Cluster);

    /// When it wants to be asked again, whatever happens until then.
    fn wakes_at(&self) -> Option<UnixTime> {
        None
    }
}
