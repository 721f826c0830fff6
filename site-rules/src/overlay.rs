//! What rules have written into a job, which the rules behind them read in the place of what its
//! user asked for.

use crate::derived;
use crate::evaluate::Written;
use crate::fault::Fault;
use crate::field::{FieldNumber, Fields, Name};
use crate::scratch::Scratch;
use crate::value::{Texts, Value};

/// A field that is to have another value.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The field.
    pub field: FieldNumber,
    /// Its value; `None` to make it absent.
    pub value: Option<Value<'a>>,
}

/// A job with what was written into it.
#[derive(Clone)]
pub struct Overlay<'a> {
    base: &'a dyn Fields,
    writes: Vec<Write<'a>>,
    /// What stands in the same place as a field that was written, and is gone by that.
    displaced: Vec<Write<'a>>,
}

impl<'a> Overlay<'a> {
    /// A job into which nothing was written.
    #[must_use]
    pub fn new(base: &'a dyn Fields) -> Self {
        Overlay { base, writes: Vec::new(), displaced: Vec::new() }
    }

    /// Writes a field.
    pub fn write(&mut self, write: Write<'a>) {
        let is_other = |other: &Write<'_>| other.field != write.field;
        self.writes.retain(is_other);
        self.displaced.retain(is_other);
        self.writes.push(write);
        for name in write.field.name().map_or(&[][..], Name::displaces) {
            let field = FieldNumber::from(*name);
            self.writes.retain(|other| other.field != field);
            self.displaced.retain(|other| other.field != field);
            let value = matches!(self.base.field(field), Some(Value::Truth(_))).then_some(Value::Truth(false));
            self.displaced.push(Write { field, value });
        }
    }

    /// What was written, each field once, in the order in which they were written last.
    #[must_use]
    pub fn into_writes(self) -> Vec<Write<'a>> {
        self.writes
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
                Some(name) => derived::value(name, self),
                None => self.base.field(field),
            },
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.base.variable(name)
    }
}

impl<'a> Written<'a> for Overlay<'a> {
    fn written(&self, field: FieldNumber, scratch: &mut Scratch<'a>) -> Result<Option<Option<Value<'a>>>, Fault> {
        if self.writes.is_empty() {
            return Ok(None);
        }
        if let Some(value) = self.own(field) {
            return Ok(Some(value));
        }
        let Some(name) = field.name().filter(|name| name.is_derived()) else { return Ok(None) };
        // What follows from what was written is a number or a truth, or is put into the scratch
        // memory, as it would not live as long.
        if name == Name::GpuTypes {
            let mut types = "";
            for one in derived::gpu_types(self) {
                if !Texts::Separated(types, ',').iter().any(|other| other == one) {
                    types = scratch.joined(&[types, if types.is_empty() { "" } else { "," }, one])?;
                }
            }
            return Ok(Some(Some(Value::Texts(Texts::Separated(types, ',')))));
        }
        Ok(Some(match derived::value(name, self) {
            None => None,
            Some(Value::Truth(truth)) => Some(Value::Truth(truth)),
            Some(Value::Integer(number)) => Some(Value::Integer(number)),
            Some(Value::Real(number)) => Some(Value::Real(number)),
            Some(Value::Duration(duration)) => Some(Value::Duration(duration)),
            Some(Value::Moment(at)) => Some(Value::Moment(at)),
            Some(Value::Text(text)) => Some(Value::Text(scratch.joined(&[text])?)),
            Some(Value::Texts(Texts::Separated(text, separator))) => {
                Some(Value::Texts(Texts::Separated(scratch.joined(&[text])?, separator)))
            }
            Some(Value::Texts(Texts::Listed(_)) | Value::Resources(_)) => return Ok(None),
        }))
    }
}
