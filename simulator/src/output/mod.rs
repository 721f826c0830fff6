//! Schedules in formats that other programs read.
//!
//! - [`write_swf`]: the Standard Workload Format.
//! - [`batsim`]: the `jobs.csv` and `schedule.json` of the simulator Batsim, from which evalys
//!   draws.
//! - [`Allocation`]: which processors each job had.

mod allocation;
pub mod batsim;
mod swf;

pub use allocation::{Allocation, allocate};
pub use swf::write_swf;
