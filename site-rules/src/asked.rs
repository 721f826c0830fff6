//! What a job's user asked for, after rules were applied: what stood in the fields that they have
//! written is kept, and read in the place of what stands there now.

use crate::data::OwnedValue;
use crate::derived;
use crate::field::{FieldNumber, Fields, Name};
use crate::overlay::Write;
use crate::value::{Texts, Value};

/// What stood in the fields that rules have written; `None` for what was absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overwritten(Vec<(FieldNumber, Option<OwnedValue>)>);

impl Overwritten {
    /// What stands in the fields of a job that are to be written, and in those that are gone then.
    #[must_use]
    pub fn by(writes: &[Write<'_>], job: &dyn Fields) -> Overwritten {
        let displaced = |write: &Write<'_>| write.field.name().map_or(&[][..], Name::displaces);
        let fields =
            writes.iter().flat_map(|write| [write.field].into_iter().chain(displaced(write).iter().copied().map(FieldNumber::from)));
        Overwritten(fields.map(|field| (field, job.field(field).map(OwnedValue::from))).collect())
    }

    fn get(&self, field: FieldNumber) -> Option<&Option<OwnedValue>> {
        self.0.iter().find(|(other, _)| *other == field).map(|(_, value)| value)
    }
}

/// A job as its user asked for it, of the job that rules have written.
pub struct AsAsked<'a> {
    job: &'a dyn Fields,
    overwritten: &'a Overwritten,
    /// The types of GPUs, where rules have written a list of resources.
    gpu_types: Option<Vec<String>>,
}

impl<'a> AsAsked<'a> {
    /// The job, and what stood in the fields that rules have written.
    #[must_use]
    pub fn new(job: &'a dyn Fields, overwritten: &'a Overwritten) -> AsAsked<'a> {
        let mut before = AsAsked { job, overwritten, gpu_types: None };
        if derived::RESOURCE_FIELDS.iter().any(|name| overwritten.get(FieldNumber::from(*name)).is_some()) {
            before.gpu_types = Some(derived::gpu_types(&before).map(str::to_owned).collect());
        }
        before
    }
}

impl Fields for AsAsked<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        if let Some(value) = self.overwritten.get(field) {
            return value.as_ref().map(OwnedValue::borrowed);
        }
        match (field.name()?, &self.gpu_types) {
            (Name::GpuTypes, Some(types)) => Some(Value::Texts(Texts::Listed(types))),
            (Name::GpuTypes, None) => self.job.field(field),
            (name, _) if name.is_derived() => derived::value(name, self),
            _ => self.job.field(field),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.job.variable(name)
    }
}
