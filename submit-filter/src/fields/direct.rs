//! The fields of a job description for whoever reads each of a few once: nothing is kept.

use super::source::Source;
use site_rules::derived;
use site_rules::field::{FieldNumber, Fields};
use site_rules::value::{Resources, Value};
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::TextField;

/// The fields of a job description, each read anew from where it stands. A text that is not UTF-8
/// is one that the job has and that can't be read, and lists of texts are left out.
#[derive(Debug)]
pub struct DirectFields<'a>(&'a JobDescription<'a>);

/// The fields of a description.
impl<'a> From<&'a JobDescription<'a>> for DirectFields<'a> {
    fn from(description: &'a JobDescription<'a>) -> Self {
        DirectFields(description)
    }
}

impl<'a> DirectFields<'a> {
    fn text(&self, field: TextField) -> Option<&str> {
        self.0.text(field)?.to_str().ok()
    }
}

impl Fields for DirectFields<'_> {
    #[inline]
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        match Source::from(name) {
            Source::Text(text) => self.text(text).map(Value::Text),
            Source::Resources(text) => self.text(text).map(|text| Value::Resources(Resources(text))),
            Source::Derived => derived::value(name, self),
            other => other.read(self.0),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.0.variable(name)?.to_str().ok()
    }

    #[inline]
    fn has(&self, field: FieldNumber) -> bool {
        match field.name().map(Source::from) {
            Some(Source::Text(text) | Source::Resources(text)) => self.0.text_length(text, 1) > 0,
            _ => self.field(field).is_some(),
        }
    }
}
