//! Forecasts held against workload logs, in order of time.

mod log;

pub use log::{Workload, read};
