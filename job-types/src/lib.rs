//! What a job is and what it carries: a job that waits, runs or has ended, the numbers that tell
//! whose it is and where it runs, its size and times, what its user asks for, what the site allows,
//! the record that the decision about it leaves with it, and the promise in that record.
//!
//! Both plugins, the daemon and the command line speak of jobs in these types. Nothing here
//! forecasts or decides.

pub mod cluster_name;
pub mod firm;
pub mod job;
pub mod joint;
pub mod number;
pub mod options;
pub mod policy;
pub mod promise;
pub mod record;
pub mod share;
pub mod size;
pub mod slot;
pub mod slot_name;
pub mod text;
pub mod time;
pub mod together;
pub mod tres;
pub mod window;
