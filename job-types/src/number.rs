//! The numbers by which users, jobs, accounts, partitions and qualities of service are known, each
//! of a type of its own, so that none is taken for another.
//!
//! An *id* is Slurm's own number and means the same everywhere. An *index* is a place in a table of
//! names: in the daemon the order in which it first heard of them, in a workload log the order in
//! which they first appear. It means something only together with its table.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares a number as a type of its own, which is stored, compared and shown as the number.
macro_rules! number {
    ($(#[$documentation:meta])* $name:ident($number:ty)) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// A user's numeric id, as the operating system and Slurm have it.
    UserId(u32)
}

number! {
    /// A job's number in Slurm. A task of an array has one of its own; all runs of a requeued job
    /// share one.
    JobId(u32)
}

number! {
    /// Slurm's number of a quality of service, by which its accounting refers to it.
    QosId(u32)
}

number! {
    /// Index of an account (of a group, in a workload log).
    AccountIndex(u32)
}

number! {
    /// Index of a partition (of a queue, in a workload log).
    PartitionIndex(u16)
}

number! {
    /// Index of a quality of service.
    QosIndex(u16)
}

impl AccountIndex {
    /// Stands for an account that is in no table.
    pub const UNKNOWN: AccountIndex = AccountIndex(u32::MAX);
}

impl PartitionIndex {
    /// Stands for a partition that is in no table.
    pub const UNKNOWN: PartitionIndex = PartitionIndex(u16::MAX);
}

impl QosIndex {
    /// Stands for a quality of service that is in no table.
    pub const UNKNOWN: QosIndex = QosIndex(u16::MAX);
}
