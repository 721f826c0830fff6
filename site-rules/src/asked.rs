//! What a job's user asked for, after rules were applied: what stood in the fields that they have
//! written is kept, and read in the place of what stands there now.

use crate::data::OwnedValue;
use crate::derived;
use crate::fault::Fault;
use crate::field::{self, COUNTED_LISTS, FieldNumber, Fields, GpuCounts, Name};
use crate::operators;
use crate::overlay::Write;
use crate::steps::Steps;
use crate::value::{Texts, Value};
use std::cell::OnceCell;

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

    fn has_any(&self, names: &[Name]) -> bool {
        self.fields.iter().any(|(field, _)| field.name().is_some_and(|name| names.contains(&name)))
    }

    fn get(&self, field: FieldNumber) -> Option<&Option<OwnedValue>> {
        self.fields.iter().find(|(other, _)| *other == field).map(|(_, value)| value)
    }
}

/// A job as its user asked for it, of the job that rules have written. What follows from several
/// fields is derived anew only where one of them was overwritten.
pub struct AsAsked<'a> {
    job: &'a dyn Fields,
    overwritten: &'a Overwritten,
    /// The types of GPUs, where rules have written a list of resources.
    gpu_types: Option<Vec<String>>,
    /// What was counted in lists of which one was overwritten.
    gpu_counts: OnceCell<GpuCounts>,
}

impl<'a> AsAsked<'a> {
    /// The job, and what stood in the fields that rules have written.
    #[must_use]
    pub fn new(job: &'a dyn Fields, overwritten: &'a Overwritten) -> AsAsked<'a> {
        let mut before = AsAsked { job, overwritten, gpu_types: None, gpu_counts: OnceCell::new() };
        if overwritten.has_any(&derived::RESOURCE_FIELDS) {
            before.gpu_types = Some(derived::gpu_types(&before).map(str::to_owned).collect());
        }
        before
    }

    /// The name of a field that follows from one that was overwritten.
    fn changed(&self, field: FieldNumber) -> Option<Name> {
        field.name().filter(|name| name.is_derived() && self.overwritten.has_any(name.depends_on()))
    }
}

impl Fields for AsAsked<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        if let Some(value) = self.overwritten.get(field) {
            return value.as_ref().map(OwnedValue::borrowed);
        }
        match (self.changed(field), &self.gpu_types) {
            (Some(Name::GpuTypes), Some(types)) => Some(Value::Texts(Texts::Listed(types))),
            (Some(name), _) => derived::value(name, self),
            (None, _) => self.job.field(field),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        match self.overwritten.variables.iter().find(|(other, _)| other == name) {
            Some((_, value)) => value.as_deref(),
            None => self.job.variable(name),
        }
    }

    fn charge(&self, field: FieldNumber, steps: &mut Steps) -> Result<(), Fault> {
        if self.overwritten.get(field).is_some() {
            return Ok(());
        }
        let Some(name) = self.changed(field) else { return self.job.charge(field, steps) };
        let is_at_hand = |of: &Name| match name {
            Name::GpuTypes => true,
            _ => self.gpu_counts.get().is_some() && COUNTED_LISTS.contains(of),
        };
        for of in name.depends_on().iter().filter(|of| !is_at_hand(of)) {
            let of = FieldNumber::from(*of);
            self.charge(of, steps)?;
            self.field(of).map_or(Ok(()), |value| operators::charge(&value, steps))?;
        }
        Ok(())
    }

    fn charge_variable(&self, name: &str, steps: &mut Steps) -> Result<(), Fault> {
        self.job.charge_variable(name, steps)
    }

    fn has(&self, field: FieldNumber) -> bool {
        match self.overwritten.get(field) {
            Some(value) => value.is_some(),
            None if self.changed(field).is_some() => self.field(field).is_some(),
            None => self.job.has(field),
        }
    }

    fn gpu_counts(&self) -> GpuCounts {
        if !self.overwritten.has_any(&COUNTED_LISTS) {
            return self.job.gpu_counts();
        }
        *self.gpu_counts.get_or_init(|| field::gpu_counts(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Resources;
    use std::cell::RefCell;

    /// A job that notes what is asked of it.
    #[derive(Default)]
    struct Job {
        read: RefCell<Vec<Name>>,
        looked_for: RefCell<Vec<Name>>,
        counted: OnceCell<()>,
    }

    impl Fields for Job {
        fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
            let name = field.name()?;
            self.read.borrow_mut().push(name);
            match name {
                Name::MinNodes => Some(Value::Integer(2)),
                Name::TresPerNode => Some(Value::Resources(Resources("gres/gpu:a100:2"))),
                Name::Script => Some(Value::Text("#!/bin/sh")),
                name if name.is_derived() => derived::value(name, self),
                _ => None,
            }
        }

        fn variable(&self, _: &str) -> Option<&str> {
            None
        }

        fn has(&self, field: FieldNumber) -> bool {
            self.looked_for.borrow_mut().extend(field.name());
            true
        }

        fn gpu_counts(&self) -> GpuCounts {
            let _ = self.counted.set(());
            field::gpu_counts(self)
        }
    }

    fn overwritten(name: Name, value: Option<OwnedValue>) -> Overwritten {
        Overwritten { fields: vec![(name.into(), value)], variables: Vec::new() }
    }

    fn integer(job: &AsAsked<'_>, name: Name) -> Option<String> {
        job.field(name.into()).map(|value| value.to_string())
    }

    #[test]
    fn what_was_not_overwritten_is_asked_of_the_job_without_reading_it() {
        let (job, comment) = (Job::default(), overwritten(Name::Comment, None));
        let asked = AsAsked::new(&job, &comment);
        assert!(asked.has(Name::Script.into()) && !asked.has(Name::Comment.into()));
        assert_eq!((job.read.take(), job.looked_for.take()), (Vec::new(), vec![Name::Script]));
        assert_eq!(integer(&asked, Name::Gpus).as_deref(), Some("4"));
        assert_eq!(job.read.take().first(), Some(&Name::Gpus), "the job itself derives it, and keeps it");
        asked.gpu_counts();
        assert!(job.counted.get().is_some());
    }

    #[test]
    fn what_follows_from_an_overwritten_field_is_derived_anew() {
        let (job, nodes) = (Job::default(), overwritten(Name::MinNodes, Some(OwnedValue::Integer(3))));
        let asked = AsAsked::new(&job, &nodes);
        assert_eq!((integer(&asked, Name::MinNodes).as_deref(), integer(&asked, Name::Gpus).as_deref()), (Some("3"), Some("6")));
        assert!(!job.read.take().contains(&Name::Gpus) && job.counted.get().is_some(), "lists that nobody has written are counted once");
        let list = OwnedValue::Resources("gres/gpu:h100:1".to_owned());
        let (job, list) = (Job::default(), overwritten(Name::TresPerNode, Some(list)));
        let asked = AsAsked::new(&job, &list);
        assert_eq!((integer(&asked, Name::Gpus).as_deref(), integer(&asked, Name::GpuTypes).as_deref()), (Some("2"), Some("h100")));
        assert!(asked.has(Name::Gpus.into()) && job.counted.get().is_none());
    }

    #[test]
    fn to_derive_anew_costs_steps_until_it_is_counted() {
        let (job, list) = (Job::default(), overwritten(Name::TresPerNode, Some(OwnedValue::Resources("gpu,".repeat(100)))));
        let asked = AsAsked::new(&job, &list);
        let mut few = Steps(100);
        assert_eq!(asked.charge(Name::Gpus.into(), &mut few), Err(Fault::Budget));
        asked.gpu_counts();
        let mut few = Steps(100);
        assert_eq!((asked.charge(Name::Gpus.into(), &mut few), few), (Ok(()), Steps(100)));
    }
}
