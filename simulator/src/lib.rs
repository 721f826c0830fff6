//! A scheduling engine, the workloads that it runs, and what is learnt from them.
//!
//! - [`swf`] reads and writes logs in the Standard Workload Format, [`accounting`]
//!   makes such a log of what Slurm's accounting knows, [`sacct`] of what `sacct` printed, and
//!   [`remarks`] says what they left out; [`workload`] makes jobs of a log, by explicit rules.
//! - [`lublin`] makes workloads by the Lublin-Feitelson model, with users and estimates.
//! - [`engine`] runs a workload on a machine under a scheduler, with a policy in front.
//! - [`deadlines`] replays the published methods of admission by deadline.
//! - [`economy`] makes up a year of jobs that bid, and says what a replay of it comes to.
//! - [`metrics`] says what the records of a run come to; [`output`] writes them for other programs.
//! - [`experiment`] replays logs with molding and deferral in front; [`evaluation`] holds forecasts
//!   against logs.
//! - [`assessment`] says by both whether all this would pay on the cluster that a log is from, and
//!   [`guard`] whether it pays where it is in force.
//!
//! Times are whole seconds from the beginning of a workload, sizes are processors. Nothing here
//! reads a clock, and randomness comes from a seed that the caller gives.

pub mod accounting;
pub mod assessment;
pub mod deadlines;
pub mod economy;
pub mod engine;
pub mod evaluation;
pub mod experiment;
pub mod guard;
mod lines;
pub mod lublin;
pub mod metrics;
pub mod output;
pub mod remarks;
pub mod sacct;
pub mod swf;
pub mod workload;
