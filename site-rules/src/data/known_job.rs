//! A job of the file, read as its fields.

use super::{OwnedValue, Parts, StoredValue};
use crate::derived;
use crate::field::{self, FieldNumber, Fields, GpuCounts, Name};
use crate::value::{Kind, Texts, Value};
use job_types::number::JobId;
use job_types::time::UnixTime;
use std::cell::OnceCell;
use zerocopy::byteorder::little_endian::U32;

/// What slurmctld tells of every job, as it fills in what was not said: where that is absent, the
/// job was not read since it was submitted or changed.
const ALWAYS_TOLD: [Name; 15] = [
    Name::Bitflags,
    Name::GresDisableBind,
    Name::GresEnforceBind,
    Name::GroupId,
    Name::IsBatch,
    Name::JobId,
    Name::MemIsZero,
    Name::MinCpus,
    Name::MinNodes,
    Name::Partition,
    Name::Reboot,
    Name::SpreadJob,
    Name::TimeLimitIsUnlimited,
    Name::UseMinNodes,
    Name::UserId,
];

/// A job as the daemon read it, with the fields that rules read.
#[derive(Debug)]
pub struct KnownJob<'a> {
    /// When it was read.
    pub read_at: UnixTime,
    /// The array that it is a task of.
    pub array: Option<JobId>,
    fields: Vec<(FieldNumber, StoredValue<'a>)>,
    gpu_types: Vec<&'a str>,
    gpu_counts: OnceCell<GpuCounts>,
}

/// Fields that a change of a job writes; `None` makes one absent.
pub type FieldChanges = [(FieldNumber, Option<OwnedValue>)];

impl<'a> KnownJob<'a> {
    pub(super) fn of(parts: &Parts<'a>, start: U32) -> Option<KnownJob<'a>> {
        let (array, read_at, fields): (Option<u32>, i64, Vec<(FieldNumber, StoredValue<'a>)>) = parts.decoded(start)?;
        // A field is of its kind, as whoever reads it relies on.
        let is_of_kind = |(field, value): &(FieldNumber, StoredValue<'_>)| {
            field.get().is_some_and(|field| field.kind != Kind::Variables && field.kind == Value::from(*value).kind())
        };
        if !fields.iter().all(is_of_kind) {
            return None;
        }
        Some(KnownJob { array: array.map(JobId), ..KnownJob::with_fields(UnixTime(read_at), fields) })
    }

    fn with_fields(read_at: UnixTime, fields: Vec<(FieldNumber, StoredValue<'a>)>) -> KnownJob<'a> {
        let of_gpus = |name: Name| {
            let text = fields.iter().find_map(|(field, value)| match value {
                StoredValue::Resources(text) if *field == FieldNumber::from(name) => Some(*text),
                _ => None,
            });
            derived::gpu_types_of(text.unwrap_or_default())
        };
        let gpu_types = derived::RESOURCE_FIELDS.into_iter().flat_map(of_gpus).collect();
        KnownJob { read_at, array: None, fields, gpu_types, gpu_counts: OnceCell::new() }
    }

    /// A job as it was submitted, which nobody has read since. Lists of texts are left out.
    #[must_use]
    pub fn submitted(at: UnixTime, fields: &'a [(FieldNumber, OwnedValue)]) -> KnownJob<'a> {
        let stored = fields.iter().filter(|(_, value)| !matches!(value, OwnedValue::Texts(_)));
        KnownJob::with_fields(at, stored.map(|(field, value)| (*field, value.stored(""))).collect())
    }

    /// Returns the job after a change, without lists of texts. A field that stands in the place of
    /// one that is written goes with it, such as no limit in that of a time limit.
    #[must_use]
    pub fn changed(&self, changes: &'a FieldChanges) -> KnownJob<'a> {
        let mut fields = self.fields.clone();
        for (field, value) in changes {
            let displaced = field.name().map_or(&[][..], Name::displaces);
            let value = value.as_ref().filter(|value| !matches!(value, OwnedValue::Texts(_)));
            let is_displaced = |other: &FieldNumber| value.is_some() && displaced.iter().any(|name| FieldNumber::from(*name) == *other);
            fields.retain(|(other, _)| other != field && !is_displaced(other));
            fields.extend(value.map(|value| (*field, value.stored(""))));
            for name in displaced.iter().filter(|_| value.is_some()) {
                if FieldNumber::from(*name).get().is_some_and(|field| field.kind == Kind::Truth) {
                    fields.push((FieldNumber::from(*name), StoredValue::Truth(false)));
                }
            }
        }
        KnownJob { array: self.array, ..KnownJob::with_fields(self.read_at, fields) }
    }
}

impl Fields for KnownJob<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        match field.name()? {
            Name::GpuTypes => Some(Value::Texts(Texts::Listed(&self.gpu_types))),
            name if name.is_derived() => derived::value(name, self),
            _ => self.fields.iter().find(|(other, _)| *other == field).map(|(_, value)| Value::from(*value)),
        }
    }

    /// The environment of a job that was submitted is not read.
    fn variable(&self, _: &str) -> Option<&str> {
        None
    }

    fn knows(&self, field: FieldNumber) -> bool {
        let Some(name) = field.name() else { return true };
        let is_told = match name {
            // An unlimited job has no value here; for every other job slurmctld tells a time limit,
            // at least the partition's.
            Name::TimeLimit => !matches!(self.field(Name::TimeLimitIsUnlimited.into()), Some(Value::Truth(true))),
            _ => ALWAYS_TOLD.contains(&name),
        };
        !is_told || self.has(field)
    }

    fn gpu_counts(&self) -> GpuCounts {
        *self.gpu_counts.get_or_init(|| field::gpu_counts(self))
    }
}
