//! What researchers run of `queuecast`: commands that take a workload log and ask neither Slurm nor
//! a snapshot.
//!
//! - [`evaluate`] holds forecasts and policies against the past of logs (`queuecast evaluate`).
//! - [`simulate`] replays a log under a scheduler, with a policy in front (`queuecast simulate`).
//!
//! Each has its command line (`Arguments`) and its `run`, which the binary calls.

pub mod evaluate;
pub mod simulate;
