//! A record for tests: what rules read of each submission, written into the file that the
//! environment names.

use crate::fields::JobFields;
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use slurm_sys::job_description::JobDescription;
use std::fmt::Write as _;

/// Writes all fields of a job that are not absent, each with its name in a line.
pub(crate) fn record(description: &JobDescription<'_>) {
    let Some(path) = std::env::var_os("QUEUECAST_FIELDS_INTO") else { return };
    let fields = JobFields::from(description);
    let mut text = String::new();
    for (field, name) in FIELDS.iter().zip(Name::ALL) {
        if let Some(value) = fields.field(FieldNumber::from(*name)) {
            let _ = writeln!(text, "{}={}", field.name, value.to_string().escape_debug());
        }
    }
    let _ = std::fs::write(path, text);
}
