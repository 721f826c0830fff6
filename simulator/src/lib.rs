//! Workload logs and workload models.
//!
//! - [`swf`] reads and writes logs in the Standard Workload Format.
//! - [`evaluation`] holds forecasts against logs.
//! - [`lublin`] makes workloads by the Lublin-Feitelson model, with users and estimates.
//! - [`plan`] says when the pending jobs of a cluster will start.
//! - [`profile`] counts free processors over time.
//! - [`schedule`] gives the jobs of a workload their start times.
//!
//! Times are whole seconds from the beginning of a workload, sizes are processors. Nothing here reads a clock, and randomness
//! comes from a seed that the caller gives.

pub mod engine;
pub mod evaluation;
pub mod experiment;
pub mod lublin;
pub mod metrics;
pub mod plan;
pub mod output;
pub mod profile;
pub mod schedule;
pub mod swf;
pub mod workload;
