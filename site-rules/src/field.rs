//! The fields of a job that rules can read and write.

use crate::value::{Kind, Value};

/// A field of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// As rules call it: Slurm's name in `job_desc_msg_t`, where it has one.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether a job may be without it, so that it must be tested by `has` before it is used.
    pub may_be_absent: bool,
    /// Whether rules may write it.
    pub is_writable: bool,
    /// What it is, in a line.
    pub meaning: &'static str,
}

/// The place of a field in [`FIELDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldNumber(pub u16);

/// A job of which fields can be read.
pub trait Fields {
    /// What the job has in a field; `None` where it is absent.
    fn field(&self, field: FieldNumber) -> Option<Value<'_>>;

    /// The value of a variable in the job's environment.
    fn variable(&self, name: &str) -> Option<&str>;
}

/// All fields, in the order of their names. A rule file refers to them by name, and what is compiled
/// of it by place.
pub const FIELDS: &[Field] = &[
    Field { name: "account", kind: Kind::Text, may_be_absent: true, is_writable: true, meaning: "The account that it is charged to." },
    Field {
        name: "partition",
        kind: Kind::Text,
        may_be_absent: true,
        is_writable: true,
        meaning: "The partition, or several separated by commas.",
    },
    Field {
        name: "time_limit",
        kind: Kind::Duration,
        may_be_absent: true,
        is_writable: true,
        meaning: "The time limit; absent where none is given or none is wanted.",
    },
];
