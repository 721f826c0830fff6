//! Logs of the past as all commands read them: in the Standard Workload Format or as `sacct`
//! printed them, packed or not, from a file or standard input; and of slurmdbd's jobs.

mod name;
mod options;
mod read;
mod remarks;
mod slurmdbd;

pub(crate) use name::name;
pub(crate) use options::LogFileOptions;
pub(crate) use read::{LogFile, read_log, read_workload};
pub(crate) use remarks::{lines, tell};
pub(crate) use slurmdbd::{SlurmdbdJobs, read_slurmdbd};
