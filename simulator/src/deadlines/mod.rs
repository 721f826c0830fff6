//! The published methods of admission by deadline, replayed: Yeo and Buyya 2006 ("Managing Risk of
//! Inaccurate Runtime Estimates for Deadline Constrained Job Admission Control in Clusters"),
//! sections 4 and 5.
//!
//! [`workload`] makes jobs with deadlines of the last jobs of a log, [`methods`] are EDF, Libra and
//! LibraRisk as policies of the engine whose nodes are shared in time
//! ([`engine::shared`](crate::engine::shared)), [`by_probability`](by_probability()) is
//! admission by probability on the same nodes, [`outcome`] is what a replay comes to, [`figures`]
//! are the published figures, and [`statements`] says of each statement of the publication whether
//! it holds.

mod by_probability;
pub mod figures;
pub mod methods;
pub mod outcome;
mod spread;
pub mod statements;
pub mod workload;

pub use by_probability::{ByProbabilityOptions, by_probability};
pub use figures::{Figure, Point, Settings, points};
pub use methods::{Choices, Method, Projection};
pub use outcome::{Outcome, StandardErrors, fates_of};
pub use spread::Spread;
pub use statements::{Statement, statements};
pub use workload::{BaseJob, LastJobs, Urgencies, base_jobs};
