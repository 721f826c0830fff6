//! What all commands of `queuecast` are made of, whoever runs them.
//!
//! - [`output`] writes reports: lines and tables for people, one JSON object for programs.
//! - [`plot`] draws pictures, as SVG and PNG.
//! - [`log_file`] reads workload logs, from files and standard input.
//! - [`duration`] reads lengths of time on the command line.
//! - [`failure`] says why a command did not succeed.
//!
//! Nothing here asks Slurm.

pub mod duration;
pub mod failure;
pub mod log_file;
pub mod output;
pub mod plot;
