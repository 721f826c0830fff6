//! Logs of the past as all commands read them: in the Standard Workload Format or as `sacct`
//! printed them, packed or not, from a file or standard input.

mod name;
mod options;
mod read;
mod remarks;

pub use name::name;
pub use options::LogFileOptions;
pub use read::{LogFile, read_log, read_workload};
pub use remarks::{lines, tell};
