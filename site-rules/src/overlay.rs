//! What rules have written into a job, which the rules behind them read in the place of what its
//! user asked for.

use crate::derived;
use crate::evaluate::Written;
use crate::fault::Fault;
use crate::field::{self, COUNTED_LISTS, FieldNumber, Fields, GpuCounts, Name, variable};
use crate::operators;
use crate::scratch::Scratch;
use crate::steps::Steps;
use crate::value::{Texts, Value};
use std::cell::{OnceCell, RefCell};

/// A field that is to have another value.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The field that is written.
    pub field: FieldNumber,
    /// The value that the field is to have; `None` to make it absent.
    pub value: Option<Value<'a>>,
}

impl<'a> Write<'a> {
    /// The variable of the environment that is written, and its new value; `None` where it is taken
    /// out.
    pub(crate) fn variable(&self) -> Option<(&'a str, Option<&'a str>)> {
        match self.value {
            Some(Value::Text(entry)) if self.field.is_environment() => Some(variable(entry)),
            _ => None,
        }
    }

    fn other_variable_than(&self, other: &Write<'_>) -> bool {
        match (self.variable(), other.variable()) {
            (Some((name, _)), Some((other, _))) => name != other,
            _ => false,
        }
    }
}

/// A job with what was written into it.
#[derive(Clone)]
pub struct Overlay<'a> {
    base: &'a dyn Fields,
    writes: Vec<Write<'a>>,
    /// What stands in the same place as a field that was written, and is gone by that.
    displaced: Vec<Write<'a>>,
    /// What was computed of fields that were written, until one of those is written again.
    derived: RefCell<Vec<Write<'a>>>,
    /// What was counted in lists of which one was written.
    counts: OnceCell<GpuCounts>,
}

impl<'a> Overlay<'a> {
    /// A job into which nothing was written.
    #[must_use]
    pub fn new(base: &'a dyn Fields) -> Self {
        Overlay { base, writes: Vec::new(), displaced: Vec::new(), derived: RefCell::default(), counts: OnceCell::new() }
    }

    /// Writes a field.
    pub fn write(&mut self, write: Write<'a>) {
        let is_other = |other: &Write<'_>| other.field != write.field || other.other_variable_than(&write);
        self.writes.retain(is_other);
        self.displaced.retain(is_other);
        self.writes.push(write);
        self.forget_what_depends_on(write.field);
        for name in write.field.name().map_or(&[][..], Name::displaces) {
            let field = FieldNumber::from(*name);
            self.writes.retain(|other| other.field != field);
            self.displaced.retain(|other| other.field != field);
            let value = matches!(self.base.field(field), Some(Value::Truth(_))).then_some(Value::Truth(false));
            self.displaced.push(Write { field, value });
            self.forget_what_depends_on(field);
        }
    }

    fn forget_what_depends_on(&mut self, field: FieldNumber) {
        let Some(name) = field.name() else { return };
        self.derived.get_mut().retain(|other| other.field.name().is_some_and(|other| !other.depends_on().contains(&name)));
        if COUNTED_LISTS.contains(&name) {
            self.counts = OnceCell::new();
        }
    }

    /// Whether one of these was written, or is gone by what was.
    fn has_any(&self, names: &[Name]) -> bool {
        let mut fields = self.writes.iter().chain(&self.displaced).filter_map(|write| write.field.name());
        fields.any(|name| names.contains(&name))
    }

    /// What was written, each field once, in the order in which they were written last.
    #[must_use]
    pub fn into_writes(self) -> Vec<Write<'a>> {
        self.writes
    }

    /// What was written into a variable of the environment.
    #[allow(clippy::option_option)]
    fn own_variable(&self, name: &str) -> Option<Option<&'a str>> {
        self.writes.iter().filter_map(Write::variable).find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    fn own(&self, field: FieldNumber) -> Option<Option<Value<'a>>> {
        let mut of_field = self.writes.iter().chain(&self.displaced).filter(|write| write.field == field);
        of_field.next().map(|write| write.value)
    }
}

/// What follows from fields is computed of these.
impl Fields for Overlay<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        match self.own(field) {
            Some(value) => value,
            None => match field.name().filter(|name| name.is_derived()) {
                Some(name) if self.has_any(name.depends_on()) => derived::value(name, self),
                _ => self.base.field(field),
            },
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.own_variable(name).unwrap_or_else(|| self.base.variable(name))
    }

    fn charge(&self, field: FieldNumber, steps: &mut Steps) -> Result<(), Fault> {
        match self.own(field) {
            Some(_) => Ok(()),
            None => self.base.charge(field, steps),
        }
    }

    fn charge_variable(&self, name: &str, steps: &mut Steps) -> Result<(), Fault> {
        self.base.charge_variable(name, steps)
    }

    fn has(&self, field: FieldNumber) -> bool {
        match self.own(field) {
            Some(value) => value.is_some(),
            None if field.name().is_some_and(Name::is_derived) => self.field(field).is_some(),
            None => self.base.has(field),
        }
    }

    fn gpu_counts(&self) -> GpuCounts {
        if !self.has_any(&COUNTED_LISTS) {
            return self.base.gpu_counts();
        }
        *self.counts.get_or_init(|| field::gpu_counts(self))
    }
}

impl<'a> Written<'a> for Overlay<'a> {
    fn job(&self) -> Option<&dyn Fields> {
        (!self.writes.is_empty()).then_some(self)
    }

    fn written_variable(&self, name: &str) -> Option<Option<&'a str>> {
        self.own_variable(name)
    }

    fn written(&self, field: FieldNumber, scratch: &mut Scratch<'a>, steps: &mut Steps) -> Result<Option<Option<Value<'a>>>, Fault> {
        if self.writes.is_empty() {
            return Ok(None);
        }
        if let Some(value) = self.own(field) {
            return Ok(Some(value));
        }
        // What does not follow from what was written is that of the job.
        let is_changed = |name: &Name| name.is_derived() && self.has_any(name.depends_on());
        let Some(name) = field.name().filter(is_changed) else { return Ok(None) };
        let known = self.derived.borrow().iter().find(|known| known.field == field).map(|known| known.value);
        if let Some(value) = known {
            return Ok(Some(value));
        }
        for of in name.depends_on() {
            let of = FieldNumber::from(*of);
            self.charge(of, steps)?;
            if let Some(value) = Fields::field(self, of) {
                operators::charge(&value, steps)?;
            }
        }
        let value = self.derived_value(name, scratch, steps)?;
        self.derived.borrow_mut().push(Write { field, value });
        Ok(Some(value))
    }
}

impl<'a> Overlay<'a> {
    /// What follows from what was written: a number or a truth, or a text in the scratch memory, as
    /// it would not live as long.
    fn derived_value(&self, name: Name, scratch: &mut Scratch<'a>, steps: &mut Steps) -> Result<Option<Value<'a>>, Fault> {
        if let (Name::Partitions | Name::QosNames, [of]) = (name, name.depends_on()) {
            let text = match self.own(FieldNumber::from(*of)) {
                Some(Some(Value::Text(text))) => text,
                _ => "",
            };
            return Ok(Some(Value::Texts(Texts::Separated(text, ','))));
        }
        if name == Name::GpuTypes {
            let mut types: Vec<&str> = Vec::new();
            for one in derived::gpu_types(self) {
                steps.take(1 + u32::try_from(types.len() / 4).unwrap_or(u32::MAX))?;
                if !types.contains(&one) {
                    types.extend([",", one]);
                }
            }
            let types = scratch.joined(types.get(1..).unwrap_or_default())?;
            return Ok(Some(Value::Texts(Texts::Separated(types, ','))));
        }
        Ok(match derived::value(name, self) {
            Some(Value::Truth(truth)) => Some(Value::Truth(truth)),
            Some(Value::Integer(number)) => Some(Value::Integer(number)),
            Some(Value::Real(number)) => Some(Value::Real(number)),
            Some(Value::Duration(duration)) => Some(Value::Duration(duration)),
            Some(Value::Moment(at)) => Some(Value::Moment(at)),
            Some(Value::Text(text)) => Some(Value::Text(scratch.joined(&[text])?)),
            Some(Value::Texts(Texts::Separated(text, separator))) => {
                Some(Value::Texts(Texts::Separated(scratch.joined(&[text])?, separator)))
            }
            Some(Value::Texts(Texts::Licenses(text))) => Some(Value::Texts(Texts::Licenses(scratch.joined(&[text])?))),
            Some(Value::Texts(_) | Value::Resources(_)) | None => None,
        })
    }
}
