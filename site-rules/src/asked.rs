//! What a job's user asked for, after rules were applied: what stood in the fields that they have
//! written is kept, and read in the place of what stands there now.

use crate::data::OwnedValue;
use crate::derived;
use crate::fault::Fault;
use crate::field::{FieldNumber, Fields, Name};
use crate::overlay::Write;
use crate::steps::Steps;
use crate::value::{Texts, Value};

/// What stood in the fields and variables that rules have written; `None` for what was absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overwritten {
    fields: Vec<(FieldNumber, Option<OwnedValue>)>,
    variables: Vec<(String, Option<String>)>,
}

impl Overwritten {
    /// What stands in the fields of a job that are to be written, and in those that are gone then.
    #[must_use]
    pub fn by(writes: &[Write<'_>], job: &dyn Fields) -> Overwritten {
        let displaced = |write: &Write<'_>| write.field.name().map_or(&[][..], Name::displaces);
        let fields =
            writes.iter().flat_map(|write| [write.field].into_iter().chain(displaced(write).iter().copied().map(FieldNumber::from)));
        let fields = fields.filter(|field| !field.is_environment());
        let variables = writes.iter().filter_map(Write::variable).map(|(name, _)| name);
        Overwritten {
            fields: fields.map(|field| (field, job.field(field).map(OwnedValue::from))).collect(),
            variables: variables.map(|name| (name.to_owned(), job.variable(name).map(str::to_owned))).collect(),
        }
    }

    fn get(&self, field: FieldNumber) -> Option<&Option<OwnedValue>> {
        self.fields.iter().find(|(other, _)| *other == field).map(|(_, value)| value)
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
        match self.overwritten.variables.iter().find(|(other, _)| other == name) {
            Some((_, value)) => value.as_deref(),
            None => self.job.variable(name),
        }
    }

    fn charge(&self, field: FieldNumber, steps: &mut Steps) -> Result<(), Fault> {
        self.job.charge(field, steps)
    }

    fn charge_variable(&self, name: &str, steps: &mut Steps) -> Result<(), Fault> {
        self.job.charge_variable(name, steps)
    }
}
