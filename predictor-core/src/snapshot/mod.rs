//! The snapshot: what the daemon publishes and the filter decides from.
//!
//! The daemon writes a snapshot whole into memory that it seals, and into a file that it renames
//! into place; neither is changed afterwards. A reader checks length, version and checksum once, in
//! [`Snapshot::open`], and from then on reads it as it lies in its memory.

mod coming_records;
mod deadline_records;
mod deadline_view;
pub mod layout;
mod limit_records;
mod limit_view;
mod model_records;
mod model_view;
mod numbers;
mod plan_records;
mod plan_view;
mod reader;
mod reader_view;
mod reserved_records;
mod submission_records;
mod submissions;
mod text;
mod wait_records;
mod waits;
mod writer;

pub use coming_records::ComingJob;
pub use model_view::ModelSummary;
pub use plan_view::PlanView;
pub use reader::{Announced, HEADER_LENGTH, Provenance, Snapshot, SnapshotError};
pub use reserved_records::ReservedCpus;
pub use submission_records::{MOST_SUBMISSIONS, SeenSubmission, SeenSubmissions};
pub use writer::{Origin, PartitionState, RunningJob, SharedNodeState, write};
