//! Writes the snapshot that the daemon publishes: whole ([`write()`]), or as one user may read it
//! ([`for_reader()`]).
//!
//! What a snapshot is, its layout and how it is read are `predictor_core::snapshot`'s. Whoever only
//! reads, as the submit filter, does without this crate.
//!
//! It does no I/O, and takes the time as an argument.

mod assemble;
mod coming;
mod deadlines;
mod for_reader;
mod limits;
mod model;
mod plan;
mod reserved;
mod state;
mod submissions;
mod text;
mod waits;
mod write;

pub use coming::ComingJob;
pub use for_reader::for_reader;
pub use reserved::ReservedCpus;
pub use state::{Origin, PartitionState, RunningJob, SharedNodeState};
pub use submissions::{MOST_SUBMISSIONS, SeenSubmissions};
pub use write::write;
