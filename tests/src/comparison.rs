//! The engine's model of Slurm's schedulers held against Slurm: the same submissions on a private
//! cluster and in the simulator.
//!
//! [`submissions`] are short jobs with loose limits; [`Site`] is a cluster whose scheduling is not
//! all defaults; [`run`] submits to it and reads back what happened; [`replay`] gives the same
//! submissions, with the run times that they had, to the engine; [`Difference`] says how far apart
//! the start times are.

mod difference;
mod replay;
mod run;
mod site;
mod submissions;

pub use difference::Difference;
pub use replay::{Replay, replay, submission_priorities};
pub use run::{Happened, Recording, run};
pub use site::{NODES, Printed, Site};
pub use submissions::{Submission, submissions};
