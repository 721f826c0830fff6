//! Workloads made by the Lublin-Feitelson model.
//!
//! [`jobs`] draws jobs as the published model does: submit time, kind, size, run time. [`workload`]
//! makes a whole log of it, with users, time limits, queues, and the waits that first come first
//! served with EASY backfilling gives: something to learn from where no log is at hand. The same
//! options give the same log, byte for byte.

mod arrivals;
mod estimates;
mod model;
pub mod parameters;
mod users;
mod workload;

pub use arrivals::{Arrivals, DailyCycle, HALF_HOURS};
pub use model::Model;
pub use parameters::{Kind, Mix, Parameters};
pub use workload::{ModelJob, Options, jobs, workload};

/// An option that no workload can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOption(pub(crate) &'static str);
