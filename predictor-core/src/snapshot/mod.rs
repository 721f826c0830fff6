//! The snapshot: what the daemon publishes and the filter decides from.
//!
//! [`layout`] is the form in which it is stored, little-endian and without padding. A [`Snapshot`]
//! checks length, version and checksum once, as it is opened, and from then on answers from the
//! bytes as they lie in memory: it makes the forecasts that decisions ask for, and says of the site
//! what they ask besides.
//!
//! The crate `snapshot-writer` writes it whole, into memory that the daemon seals and into a file
//! that it renames into place; neither is changed afterwards. What writer and reader have to agree
//! on beside the layout stands here: how words are written as numbers ([`Numbered`]), and how much
//! of some things is published.

mod coming_view;
mod deadline_view;
pub mod layout;
mod limit_view;
mod model_view;
mod numbers;
mod plan_view;
mod reader;
mod reserved_view;
mod submission_view;
mod waits;

pub use coming_view::{PRESENT_TELLS, coming_until};
pub use deadline_view::MOST_PROMISED;
pub use limit_view::ROOT_ACCOUNT;
pub use model_view::ModelSummary;
pub use numbers::{Numbered, unit_number};
pub use plan_view::PlanView;
pub use reader::{Announced, HEADER_LENGTH, Provenance, Snapshot, SnapshotError};
pub use reserved_view::reserved_at;
pub use submission_view::SeenSubmission;
