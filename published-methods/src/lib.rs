//! Published methods of forecasting waits and run times, and of reserving by them, each as its
//! authors describe it.
//!
//! The default forecasts are held against them on workload logs. Nothing that is installed on a
//! cluster forecasts by them: the plugins and the daemon do without this crate.

pub mod dbscan;
pub mod genetic;
pub mod run_times;
pub mod varq;
pub mod waits;
