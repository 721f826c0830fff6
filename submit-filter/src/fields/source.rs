//! Where each field stands in a job description, found once, when this is compiled, from the two
//! lists that there are: what rules call a field and what its values are ([`FIELDS`]), and what
//! Slurm has under that name ([`slurm_sys::job_fields`]). A field follows from both how it is read
//! here and how it is written in [`super::writes`]. What is encoded in a way of its own is listed.

use super::MEBIBYTE;
use crate::heterogeneous;
use job_types::time::{Seconds, UnixTime};
use site_rules::field::{FIELDS, Field, Name, OPEN_MODES, SHARED, X11};
use site_rules::value::{Kind, Value};
use slurm_sys::job_description::{JobDescription, ListField};
use slurm_sys::job_fields::{AskedMemory, Flag, NumberField, Specialised, TextField, Unit};

/// The place of a field in a job description.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Text(TextField),
    Resources(TextField),
    Number(NumberField),
    /// Bytes, counted in MiB.
    Mebibytes(NumberField),
    Seconds(NumberField),
    Minutes(NumberField),
    Moment(NumberField),
    /// A truth that is false where nothing is said.
    Truth(NumberField),
    /// A truth that is absent where nothing is said.
    SaidTruth(NumberField),
    /// One of these words, by its number; the number of the first word is the last value here.
    Word(NumberField, &'static [&'static str], i64),
    /// One of these words, by the lowest bit that is set.
    LowestBit(NumberField, &'static [&'static str]),
    Flag(Flag),
    /// A truth that one flag says and another one denies.
    EitherFlag(Flag, Flag),
    MailTypes,
    Profiles,
    /// Memory of each node.
    NodeMemory,
    CpuMemory,
    Cores,
    Threads,
    Nice,
    SiteFactor,
    /// Whether all there is of something is asked for, which stands in the place of a number.
    All(fn(&JobDescription<'_>) -> bool),
    /// What a description says of itself, and nobody writes.
    Condition(fn(&JobDescription<'_>) -> bool),
    JobId,
    ScriptSize,
    /// How many entries a list has.
    Length(ListField),
    List(ListField),
    /// The environment, of which each variable is read and written by itself.
    Environment,
    Derived,
}

/// How many fields there are.
const COUNT: usize = Name::ALL.len();

/// The source of each field, in the order of [`Name::ALL`].
static SOURCES: [Source; COUNT] = sources();

const fn sources() -> [Source; COUNT] {
    let mut sources = [Source::Derived; COUNT];
    let mut place = 0;
    while place < COUNT {
        let found = found(Name::ALL[place], &FIELDS[place]);
        assert!(found.is_some(), "a field that follows from no other stands in the job description");
        if let Some(source) = found {
            sources[place] = source;
        }
        place += 1;
    }
    sources
}

const fn found(name: Name, field: &Field) -> Option<Source> {
    Some(match name {
        Name::Argc => Source::Length(ListField::Argv),
        Name::Argv => Source::List(ListField::Argv),
        Name::CoreSpec => Source::Cores,
        Name::EnvSize => Source::Length(ListField::Environment),
        Name::Environment => Source::Environment,
        Name::IsBatch => Source::Condition(heterogeneous::is_batch),
        Name::IsCron => Source::Condition(|job| job.is_cron()),
        Name::IsSiblingCopy => Source::Condition(|job| job.is_sibling_copy()),
        Name::IsTestOnly => Source::Condition(|job| job.is_only_tested()),
        Name::JobId => Source::JobId,
        Name::KillInvalidDepend => Source::EitherFlag(Flag::KillInvalidDependency, Flag::NoKillInvalidDependency),
        Name::MailType => Source::MailTypes,
        Name::MemIsZero => Source::All(|job| job.wants_all_memory()),
        Name::MemoryPerCpu => Source::CpuMemory,
        Name::MemoryPerNode => Source::NodeMemory,
        Name::Nice => Source::Nice,
        Name::OpenMode => Source::Word(NumberField::OpenMode, OPEN_MODES, 1),
        Name::Profile => Source::Profiles,
        Name::ScriptSize => Source::ScriptSize,
        Name::Shared => Source::Word(NumberField::Shared, SHARED, 0),
        Name::SiteFactor => Source::SiteFactor,
        Name::SpankJobEnv => Source::List(ListField::SpankJobEnv),
        Name::ThreadSpec => Source::Threads,
        Name::TimeLimitIsUnlimited => Source::All(|job| job.is_unlimited()),
        Name::X11Forward => Source::LowestBit(NumberField::X11, X11),
        _ if name.is_derived() => Source::Derived,
        _ => return by_name(field),
    })
}

/// The text, number or flag of Slurm's that has the field's name, read as the values that the field
/// has.
const fn by_name(field: &Field) -> Option<Source> {
    let mut place = 0;
    while place < TextField::ALL.len() {
        let text = TextField::ALL[place];
        if is_same(text.name(), field.name) {
            return match field.kind {
                Kind::Text => Some(Source::Text(text)),
                Kind::Resources => Some(Source::Resources(text)),
                _ => None,
            };
        }
        place += 1;
    }
    place = 0;
    while place < NumberField::ALL.len() {
        let number = NumberField::ALL[place];
        if is_same(number.name(), field.name) {
            return match (field.kind, number.unit()) {
                (Kind::Integer, Unit::One) => Some(Source::Number(number)),
                (Kind::Integer, Unit::Mebibytes) => Some(Source::Mebibytes(number)),
                (Kind::Duration, Unit::One) => Some(Source::Seconds(number)),
                (Kind::Duration, Unit::Minutes) => Some(Source::Minutes(number)),
                (Kind::Moment, Unit::One) => Some(Source::Moment(number)),
                (Kind::Truth, Unit::One) if field.may_be_absent => Some(Source::SaidTruth(number)),
                (Kind::Truth, Unit::One) => Some(Source::Truth(number)),
                _ => None,
            };
        }
        place += 1;
    }
    place = 0;
    while place < Flag::ALL.len() {
        if is_same(Flag::ALL[place].name(), field.name) {
            return Some(Source::Flag(Flag::ALL[place]));
        }
        place += 1;
    }
    None
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// Returns the source of a field.
impl From<Name> for Source {
    fn from(name: Name) -> Self {
        SOURCES[name as usize]
    }
}

impl Source {
    /// Whether the Slurm that this is built for has it.
    pub(super) fn is_known(self) -> bool {
        match self {
            Source::Text(field) | Source::Resources(field) => field.is_known(),
            Source::Number(field)
            | Source::Mebibytes(field)
            | Source::Seconds(field)
            | Source::Minutes(field)
            | Source::Moment(field)
            | Source::Truth(field)
            | Source::SaidTruth(field)
            | Source::Word(field, ..)
            | Source::LowestBit(field, _) => field.is_known(),
            Source::Flag(flag) => flag.is_known(),
            _ => true,
        }
    }

    /// What a job has there; `None` for what it has not, and for texts, lists and what is derived,
    /// which borrow from who keeps them.
    pub(super) fn read(self, description: &JobDescription<'_>) -> Option<Value<'static>> {
        let number = |field| description.number(field);
        let bytes = |mebibytes: u64| Value::Integer(i64::try_from(mebibytes).unwrap_or(i64::MAX).saturating_mul(MEBIBYTE));
        match self {
            Source::Number(field) => number(field).map(Value::Integer),
            Source::Mebibytes(field) => number(field).map(|mebibytes| Value::Integer(mebibytes.saturating_mul(MEBIBYTE))),
            Source::Seconds(field) => number(field).map(|seconds| Value::Duration(Seconds(seconds))),
            Source::Minutes(field) => number(field).map(|minutes| Value::Duration(Seconds(minutes.saturating_mul(60)))),
            Source::Moment(field) => number(field).map(|moment| Value::Moment(UnixTime(moment))),
            Source::Truth(field) => Some(Value::Truth(number(field).is_some_and(|number| number != 0))),
            Source::SaidTruth(field) => number(field).map(|number| Value::Truth(number != 0)),
            Source::Word(field, words, first) => {
                let place = usize::try_from(number(field)?.checked_sub(first)?).ok()?;
                words.get(place).map(|word| Value::Text(word))
            }
            Source::LowestBit(field, words) => {
                let bits = number(field)?;
                words.iter().enumerate().find(|(bit, _)| bits >> bit & 1 == 1).map(|(_, word)| Value::Text(word))
            }
            Source::Flag(flag) => Some(Value::Truth(description.has_flag(flag))),
            Source::EitherFlag(says, _) if description.has_flag(says) => Some(Value::Truth(true)),
            Source::EitherFlag(_, denies) => description.has_flag(denies).then_some(Value::Truth(false)),
            Source::NodeMemory => match description.memory()? {
                AskedMemory::OfEachNode(mebibytes) => Some(bytes(mebibytes)),
                _ => None,
            },
            Source::CpuMemory => match description.memory()? {
                AskedMemory::ForEachCpu(mebibytes) => Some(bytes(mebibytes)),
                _ => None,
            },
            Source::Cores => match description.specialised()? {
                Specialised::Cores(cores) => Some(Value::Integer(i64::from(cores))),
                Specialised::Threads(_) => None,
            },
            Source::Threads => match description.specialised()? {
                Specialised::Threads(threads) => Some(Value::Integer(i64::from(threads))),
                Specialised::Cores(_) => None,
            },
            Source::Nice => description.nice().map(Value::Integer),
            Source::SiteFactor => description.site_factor().map(Value::Integer),
            Source::All(holds) | Source::Condition(holds) => Some(Value::Truth(holds(description))),
            Source::JobId => description.job_id().map(|number| Value::Integer(i64::from(number))),
            Source::ScriptSize => description.text(TextField::Script).map(|script| length(script.count_bytes())),
            Source::Length(list) => Some(length(description.entries(list))),
            Source::Text(_)
            | Source::Resources(_)
            | Source::MailTypes
            | Source::Profiles
            | Source::List(_)
            | Source::Environment
            | Source::Derived => None,
        }
    }
}

fn length(length: usize) -> Value<'static> {
    Value::Integer(i64::try_from(length).unwrap_or(i64::MAX))
}
