//! Forecasts of wait and run time, decisions about submissions, and the snapshot that carries them.
//!
//! This is the pure part of queuecast: it does no I/O, knows no C, and takes the time as an
//! argument.

pub mod admission;
pub mod blend;
pub mod class;
pub mod counters;
pub mod deadline_history;
pub mod deadline_run_times;
pub mod decision;
pub mod forecast;
pub mod levels;
pub mod limits;
pub mod past;
pub mod promise;
pub mod queue_plan;
pub mod refusals;
pub mod reliability;
pub mod set_aside;
pub mod shared_nodes;
pub mod site;
pub mod snapshot;
pub mod standing;
pub mod trees;
pub mod wait_model;
