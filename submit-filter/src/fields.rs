//! The fields of a job description as the site's rules read and write them.
//!
//! Nothing is allocated to read them, but where a text is not UTF-8: what stands in the place of
//! its bytes is kept then, so that no user hides a text from rules by one such byte. What takes a
//! pass over a text is kept as well, so that no long one is gone through once for each rule, and
//! each such pass is charged to the budget of evaluation before it is made.

mod direct;
mod kept;
mod source;
mod writes;

use site_rules::derived::{self, RESOURCE_FIELDS};
use site_rules::fault::Fault;
use site_rules::field::{self, COUNTED_LISTS, FieldNumber, Fields, GpuCounts, MAIL_TYPES, Name, PROFILES};
use site_rules::steps::{Steps, WORK_OF_MARK};
use site_rules::value::{Resources, TextList, Texts, Value};
use slurm_sys::job_description::{JobDescription, ListField};
use slurm_sys::job_fields::{NumberField, TextField};
use slurm_sys::job_lengths::LONGEST_ENTRY;
use source::Source;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::CStr;
use std::ops::Range;

pub use direct::DirectFields;
pub(crate) use kept::{changed_fields, submitted_fields};
pub use writes::{WriteError, Writes};

/// Bytes of a MiB, in which Slurm counts memory and disk.
const MEBIBYTE: i64 = 1 << 20;

/// How many times as much work it is to count in a list as to go through a text.
const WORK_OF_COUNTING: usize = 32;

/// How many times as fast the end of a text is found as it is gone through.
const SPEED_OF_LENGTH: usize = 4;

/// How many marks in the place of what is not UTF-8 are counted in an entry of a list.
const FEW_MARKS: usize = 1024;

/// How many entries of an environment are looked at in the time of a step.
const VARIABLES_A_STEP: usize = 2;

/// How many places of types of GPUs are kept without an allocation.
const FEW: usize = 8;

/// Whether the Slurm that this is built for has a field.
#[must_use]
pub fn is_known(name: Name) -> bool {
    Source::from(name).is_known()
}

/// A value that borrows nothing.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Integer(i64),
    Truth(bool),
}

/// The fields of a job description.
#[derive(Debug)]
pub struct JobFields<'a> {
    description: &'a JobDescription<'a>,
    /// Texts that were read; those that are not UTF-8 are made so.
    texts: [OnceCell<Option<Cow<'a, str>>>; TextField::ALL.len()],
    /// Numbers and truths that were derived.
    derived: [OnceCell<Option<Scalar>>; Name::ALL.len()],
    arguments: Entries<'a>,
    spank_variables: Entries<'a>,
    environment: Entries<'a>,
    mail_types: Bits,
    profiles: Bits,
    gpu_types: OnceCell<GpuTypes>,
    gpu_counts: OnceCell<GpuCounts>,
}

/// The fields of a description.
impl<'a> From<&'a JobDescription<'a>> for JobFields<'a> {
    fn from(description: &'a JobDescription<'a>) -> Self {
        let mail = description.number(NumberField::MailType).unwrap_or(0);
        // The first bit is for nothing, and all bits are for everything.
        let profile = if description.profile() == u32::MAX { !1 } else { description.profile() };
        JobFields {
            description,
            texts: [const { OnceCell::new() }; TextField::ALL.len()],
            derived: [const { OnceCell::new() }; Name::ALL.len()],
            arguments: Entries::of(description, ListField::Argv),
            spank_variables: Entries::of(description, ListField::SpankJobEnv),
            environment: Entries::of(description, ListField::Environment),
            mail_types: Bits { bits: u32::try_from(mail).unwrap_or(0), names: MAIL_TYPES },
            profiles: Bits { bits: profile, names: PROFILES },
            gpu_types: OnceCell::new(),
            gpu_counts: OnceCell::new(),
        }
    }
}

impl<'a> JobFields<'a> {
    /// Takes what it costs to read a text, and reads it, unless that was done.
    fn charge_text(&self, field: TextField, steps: &mut Steps) -> Result<(), Fault> {
        let Some(read) = self.texts.get(field as usize).filter(|read| read.get().is_none()) else { return Ok(()) };
        let length = self.description.text_length(field, steps.too_many_bytes());
        steps.take_for(length)?;
        let Some(text) = self.description.text(field) else { return Ok(()) };
        if let Ok(text) = text.to_str() {
            read.get_or_init(|| Some(Cow::Borrowed(text)));
            return Ok(());
        }
        // The steps are taken bit by bit, so that a text with few such bytes costs little more.
        text.to_bytes().utf8_chunks().try_for_each(|chunk| steps.take_for(chunk.valid().len().saturating_add(WORK_OF_MARK)))
    }

    /// Takes the steps for a field that is derived from other fields.
    fn charge_derived(&self, name: Name, steps: &mut Steps) -> Result<(), Fault> {
        let is_known = match name {
            Name::GpuTypes => self.gpu_types.get().is_some(),
            _ => self.derived.get(name as usize).is_some_and(|derived| derived.get().is_some()),
        };
        if is_known {
            return Ok(());
        }
        let is_counted = self.gpu_counts.get().is_some() && name != Name::GpuTypes;
        for of in name.depends_on().iter().filter(|of| !(is_counted && COUNTED_LISTS.contains(of))) {
            if let Source::Text(field) | Source::Resources(field) = Source::from(*of) {
                self.charge_text(field, steps)?;
                steps.take_for(self.text(field).map_or(0, str::len).saturating_mul(WORK_OF_COUNTING))?;
            }
        }
        Ok(())
    }

    fn text(&self, field: TextField) -> Option<&str> {
        let read = || self.description.text(field).map(CStr::to_string_lossy);
        self.texts.get(field as usize)?.get_or_init(read).as_deref()
    }

    /// What is derived of other fields, once.
    fn derived(&self, name: Name) -> Option<Value<'_>> {
        if matches!(name, Name::LicenseNames | Name::Partitions | Name::QosNames) {
            return derived::value(name, self);
        }
        let derive = || match derived::value(name, self)? {
            Value::Integer(number) => Some(Scalar::Integer(number)),
            Value::Truth(truth) => Some(Scalar::Truth(truth)),
            _ => None,
        };
        match self.derived.get(name as usize)?.get_or_init(derive).as_ref()? {
            Scalar::Integer(number) => Some(Value::Integer(*number)),
            Scalar::Truth(truth) => Some(Value::Truth(*truth)),
        }
    }
}

impl Fields for JobFields<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        match Source::from(name) {
            Source::Text(field) => self.text(field).map(Value::Text),
            Source::Resources(field) => self.text(field).map(|text| Value::Resources(Resources(text))),
            Source::MailTypes => Some(Value::Texts(Texts::Listed(&self.mail_types))),
            Source::Profiles => Some(Value::Texts(Texts::Listed(&self.profiles))),
            Source::List(ListField::Argv) => Some(Value::Texts(Texts::Listed(&self.arguments))),
            Source::List(ListField::SpankJobEnv) => Some(Value::Texts(Texts::Listed(&self.spank_variables))),
            Source::Derived if name == Name::GpuTypes => Some(Value::Texts(Texts::Listed(self))),
            Source::Derived => self.derived(name),
            other => other.read(self.description),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.text(self.description.place_of(name)?)?.strip_prefix(name)?.strip_prefix('=')
    }

    fn charge(&self, field: FieldNumber, steps: &mut Steps) -> Result<(), Fault> {
        let Some(name) = field.name() else { return Ok(()) };
        match Source::from(name) {
            Source::Text(field) | Source::Resources(field) => self.charge_text(field, steps),
            Source::Derived => self.charge_derived(name, steps),
            Source::ScriptSize => {
                let most = steps.too_many_bytes().saturating_mul(SPEED_OF_LENGTH);
                steps.take_for(self.description.text_length(TextField::Script, most) / SPEED_OF_LENGTH)
            }
            _ => Ok(()),
        }
    }

    fn charge_variable(&self, name: &str, steps: &mut Steps) -> Result<(), Fault> {
        let entries = self.description.entries(ListField::Environment);
        steps.take(u32::try_from(entries / VARIABLES_A_STEP).unwrap_or(u32::MAX))?;
        let place = self.description.place_of(name);
        place.and_then(|place| self.environment.work(place)).map_or(Ok(()), |bytes| steps.take_for(bytes))
    }

    fn has(&self, field: FieldNumber) -> bool {
        match field.name().map(Source::from) {
            Some(Source::Text(text) | Source::Resources(text)) => self.description.text_length(text, 1) > 0,
            _ => self.field(field).is_some(),
        }
    }

    fn gpu_counts(&self) -> GpuCounts {
        *self.gpu_counts.get_or_init(|| field::gpu_counts(self))
    }
}

/// The types of the GPUs, which borrow from the fields themselves.
impl TextList for JobFields<'_> {
    fn text(&self, place: usize) -> Option<&str> {
        let (field, part) = self.gpu_types.get_or_init(|| GpuTypes::from(self)).get(place)?;
        match self.field(FieldNumber::from(field))? {
            Value::Resources(Resources(text)) => text.get(part),
            _ => None,
        }
    }
}

/// The places of the types of GPUs in the lists of resources.
#[derive(Debug, Default)]
struct GpuTypes {
    few: [Option<(Name, Place)>; FEW],
    more: Vec<(Name, Place)>,
}

/// The part of a text from `start` to `end`.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
}

impl From<&JobFields<'_>> for GpuTypes {
    fn from(job: &JobFields<'_>) -> Self {
        let mut types = GpuTypes::default();
        let mut number = 0;
        for field in RESOURCE_FIELDS {
            let Some(Value::Resources(Resources(text))) = job.field(FieldNumber::from(field)) else { continue };
            for part in derived::gpu_types_of(text) {
                // A part of a text begins behind where the text does.
                let start = part.as_ptr() as usize - text.as_ptr() as usize;
                let place = (field, Place { start, end: start + part.len() });
                match types.few.get_mut(number) {
                    Some(slot) => *slot = Some(place),
                    None => types.more.push(place),
                }
                number += 1;
            }
        }
        types
    }
}

impl GpuTypes {
    fn get(&self, place: usize) -> Option<(Name, Range<usize>)> {
        let found = match self.few.get(place) {
            Some(slot) => *slot,
            None => self.more.get(place - FEW).copied(),
        };
        found.map(|(field, part)| (field, part.start..part.end))
    }
}

/// How many entries of a list have places together for what is made of them.
const TOGETHER: usize = 64;

/// Entries of a list that are not UTF-8, made readable one by one as they are asked for.
type MadeReadable = Box<[OnceCell<Box<[OnceCell<Box<str>>; TOGETHER]>>]>;

/// A list of texts of a description.
#[derive(Debug)]
struct Entries<'a> {
    description: &'a JobDescription<'a>,
    field: ListField,
    made_readable: OnceCell<MadeReadable>,
}

impl<'a> Entries<'a> {
    fn of(description: &'a JobDescription<'a>, field: ListField) -> Entries<'a> {
        Entries { description, field, made_readable: OnceCell::new() }
    }

    fn readable(&self, place: usize, entry: &CStr) -> Option<&str> {
        let places = || self.description.entries(self.field).div_ceil(TOGETHER);
        let made = self.made_readable.get_or_init(|| (0..places()).map(|_| OnceCell::new()).collect());
        let together = made.get(place / TOGETHER)?.get_or_init(|| Box::new([const { OnceCell::new() }; TOGETHER]));
        Some(together.get(place % TOGETHER)?.get_or_init(|| readable(entry)))
    }
}

impl TextList for Entries<'_> {
    fn text(&self, place: usize) -> Option<&str> {
        let entry = self.description.entry(self.field, place)?;
        entry.to_str().ok().or_else(|| self.readable(place, entry))
    }

    fn work(&self, place: usize) -> Option<usize> {
        let length = self.description.entry_length(self.field, place)?;
        if length > LONGEST_ENTRY {
            return Some(usize::MAX);
        }
        let entry = self.description.entry(self.field, place)?;
        if entry.to_str().is_ok() {
            return Some(length);
        }
        let marks = entry.to_bytes().utf8_chunks().take(FEW_MARKS).count();
        // If there are more marks, there are taken to be as many as there are bytes.
        let marks = if marks < FEW_MARKS { marks } else { length };
        Some(length.saturating_add(marks.saturating_mul(WORK_OF_MARK)))
    }
}

/// The names of the bits that are set, the lowest first.
#[derive(Debug)]
struct Bits {
    bits: u32,
    names: &'static [&'static str],
}

impl TextList for Bits {
    fn text(&self, place: usize) -> Option<&str> {
        let set = self.names.iter().enumerate().filter(|(bit, _)| self.bits >> bit & 1 == 1);
        set.map(|(_, name)| *name).nth(place)
    }
}

/// A text with U+FFFD in the place of what is not UTF-8.
fn readable(text: &CStr) -> Box<str> {
    text.to_string_lossy().into()
}
