//! For a test: what rules read of each submission, into the file that the environment names.

use crate::fields::JobFields;
use job_types::time::{Seconds, UnixTime};
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::value::{Resources, Value};
use slurm_sys::job_description::JobDescription;
use std::fmt::Write as _;

/// Writes all fields of a job that are not absent, each with its name in a line.
pub(crate) fn record(description: &JobDescription<'_>) {
    let Some(path) = std::env::var_os("QUEUECAST_FIELDS_INTO") else { return };
    let fields = JobFields::of(description);
    let mut text = String::new();
    for (field, name) in FIELDS.iter().zip(Name::ALL) {
        if let Some(value) = fields.field(FieldNumber::from(*name)) {
            let _ = writeln!(text, "{}={}", field.name, in_words(value).escape_debug());
        }
    }
    let _ = std::fs::write(path, text);
}

fn in_words(value: Value<'_>) -> String {
    match value {
        Value::Truth(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) | Value::Resources(Resources(text)) => text.to_owned(),
        Value::Duration(Seconds(seconds)) => format!("{seconds}s"),
        Value::Moment(UnixTime(seconds)) => format!("@{seconds}"),
        Value::Texts(texts) => texts.iter().collect::<Vec<_>>().join("|"),
    }
}
