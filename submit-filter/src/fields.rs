//! The fields of a job description as the site's rules read and write them.
//!
//! Nothing is allocated to read them, but where a text is not UTF-8: what stands in the place of
//! its bytes is kept then, so that no user hides a text from rules by one such byte. What takes a
//! pass over a text is kept as well, so that no long one is gone through once for each rule, and
//! each such pass is charged to the budget of evaluation before it is made.

mod kept;
mod writes;

use crate::heterogeneous;
use job_types::time::{Seconds, UnixTime};
use site_rules::derived::{self, RESOURCE_FIELDS};
use site_rules::fault::Fault;
use site_rules::field::{self, COUNTED_LISTS, FieldNumber, Fields, GpuCounts, MAIL_TYPES, Name, OPEN_MODES, PROFILES, SHARED, X11};
use site_rules::steps::{Steps, WORK_OF_MARK};
use site_rules::value::{Resources, TextList, Texts, Value};
use slurm_sys::job_description::{JobDescription, ListField, Minutes};
use slurm_sys::job_fields::{AskedMemory, Flag, NumberField, Specialised, TextField};
use slurm_sys::job_lengths::LONGEST_ENTRY;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::CStr;
use std::ops::Range;

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

/// Where a field stands in a job description.
#[derive(Clone, Copy, Debug)]
enum Source {
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
    /// One of some words, by its number, of which the first is this.
    Word(NumberField, &'static [&'static str], i64),
    Flag(Flag),
    /// Memory of each node.
    NodeMemory,
    CpuMemory,
    Cores,
    Threads,
    Nice,
    SiteFactor,
    /// Something of its own, which only [`JobFields::own`] reads.
    Own,
    Derived,
}

fn source(name: Name) -> Source {
    use Source::*;
    match name {
        Name::Account => Text(TextField::Account),
        Name::AcctgFreq => Text(TextField::AcctgFreq),
        Name::AdminComment => Text(TextField::AdminComment),
        Name::AllocNode => Text(TextField::AllocNode),
        Name::AllocSid => Number(NumberField::AllocSid),
        Name::ArrayInx => Text(TextField::ArrayInx),
        Name::BatchFeatures => Text(TextField::BatchFeatures),
        Name::BeginTime => Moment(NumberField::BeginTime),
        Name::Bitflags => Number(NumberField::Bitflags),
        Name::BoardsPerNode => Number(NumberField::BoardsPerNode),
        Name::BurstBuffer => Text(TextField::BurstBuffer),
        Name::ClusterFeatures => Text(TextField::ClusterFeatures),
        Name::Clusters => Text(TextField::Clusters),
        Name::Comment => Text(TextField::Comment),
        Name::Container => Text(TextField::Container),
        Name::ContainerId => Text(TextField::ContainerId),
        Name::ContainerType => Text(TextField::ContainerType),
        Name::ConsolidateSegments => Flag(self::Flag::ConsolidateSegments),
        Name::Contiguous => Truth(NumberField::Contiguous),
        Name::CoreSpec => Cores,
        Name::CoresPerSocket => Number(NumberField::CoresPerSocket),
        Name::CpuBind => Text(TextField::CpuBind),
        Name::CpuFreqGov => Number(NumberField::CpuFreqGov),
        Name::CpuFreqMax => Number(NumberField::CpuFreqMax),
        Name::CpuFreqMin => Number(NumberField::CpuFreqMin),
        Name::CpusPerTask => Number(NumberField::CpusPerTask),
        Name::CpusPerTres => Resources(TextField::CpusPerTres),
        Name::Deadline => Moment(NumberField::Deadline),
        Name::DelayBoot => Seconds(NumberField::DelayBoot),
        Name::Dependency => Text(TextField::Dependency),
        Name::EndTime => Moment(NumberField::EndTime),
        Name::ExcNodes => Text(TextField::ExcNodes),
        Name::Extra => Text(TextField::Extra),
        Name::Features => Text(TextField::Features),
        Name::GresAllowTaskSharing => Flag(self::Flag::GresAllowTaskSharing),
        Name::GresDisableBind => Flag(self::Flag::GresDisableBind),
        Name::GresEnforceBind => Flag(self::Flag::GresEnforceBind),
        Name::GresOneTaskPerSharing => Flag(self::Flag::GresOneTaskPerSharing),
        Name::GroupId => Number(NumberField::GroupId),
        Name::HetJobOffset => Number(NumberField::HetJobOffset),
        Name::Immediate => Truth(NumberField::Immediate),
        Name::JobIdStr => Text(TextField::JobIdStr),
        Name::JobSizeStr => Text(TextField::JobSizeStr),
        Name::KillOnNodeFail => SaidTruth(NumberField::KillOnNodeFail),
        Name::Licenses => Text(TextField::Licenses),
        Name::MailUser => Text(TextField::MailUser),
        Name::MaxCpus => Number(NumberField::MaxCpus),
        Name::MaxNodes => Number(NumberField::MaxNodes),
        Name::McsLabel => Text(TextField::McsLabel),
        Name::MemBind => Text(TextField::MemBind),
        Name::MemPerTres => Resources(TextField::MemPerTres),
        Name::MemUpdateDelay => Minutes(NumberField::MemUpdateDelay),
        Name::MemUpdateMargin => Number(NumberField::MemUpdateMargin),
        Name::MemoryPerCpu => CpuMemory,
        Name::MemoryPerNode => NodeMemory,
        Name::MinCpus => Number(NumberField::MinCpus),
        Name::MinNodes => Number(NumberField::MinNodes),
        Name::JobName => Text(TextField::Name),
        Name::Network => Text(TextField::Network),
        Name::Nice => Nice,
        Name::NtasksPerBoard => Number(NumberField::NtasksPerBoard),
        Name::NtasksPerCore => Number(NumberField::NtasksPerCore),
        Name::NtasksPerNode => Number(NumberField::NtasksPerNode),
        Name::NtasksPerSocket => Number(NumberField::NtasksPerSocket),
        Name::NtasksPerTres => Number(NumberField::NtasksPerTres),
        Name::NumTasks => Number(NumberField::NumTasks),
        Name::OomKillStep => SaidTruth(NumberField::OomKillStep),
        Name::OpenMode => Word(NumberField::OpenMode, OPEN_MODES, 1),
        Name::OriginCluster => Text(TextField::OriginCluster),
        Name::Overcommit => Truth(NumberField::Overcommit),
        Name::Partition => Text(TextField::Partition),
        Name::PlaneSize => Number(NumberField::PlaneSize),
        Name::PnMinCpus => Number(NumberField::PnMinCpus),
        Name::PnMinTmpDisk => Mebibytes(NumberField::PnMinTmpDisk),
        Name::Prefer => Text(TextField::Prefer),
        Name::Priority => Number(NumberField::Priority),
        Name::Qos => Text(TextField::Qos),
        Name::Reboot => Truth(NumberField::Reboot),
        Name::ReqContext => Text(TextField::ReqContext),
        Name::ReqNodes => Text(TextField::ReqNodes),
        Name::ReqSwitch => Number(NumberField::ReqSwitch),
        Name::Requeue => SaidTruth(NumberField::Requeue),
        Name::Reservation => Text(TextField::Reservation),
        Name::ResvPortCnt => Number(NumberField::ResvPortCnt),
        Name::Script => Text(TextField::Script),
        Name::SegmentSize => Number(NumberField::SegmentSize),
        Name::SelinuxContext => Text(TextField::SelinuxContext),
        Name::Shared => Word(NumberField::Shared, SHARED, 0),
        Name::SiteFactor => SiteFactor,
        Name::SocketsPerBoard => Number(NumberField::SocketsPerBoard),
        Name::SocketsPerNode => Number(NumberField::SocketsPerNode),
        Name::SpreadJob => Flag(self::Flag::SpreadJob),
        Name::SpreadSegments => Flag(self::Flag::SpreadSegments),
        Name::StdErr => Text(TextField::StdErr),
        Name::StdIn => Text(TextField::StdIn),
        Name::StdOut => Text(TextField::StdOut),
        Name::StepmgrEnabled => Flag(self::Flag::StepmgrEnabled),
        Name::SubmitLine => Text(TextField::SubmitLine),
        Name::TaskDist => Number(NumberField::TaskDist),
        Name::ThreadSpec => Threads,
        Name::ThreadsPerCore => Number(NumberField::ThreadsPerCore),
        Name::TimeLimit => Minutes(NumberField::TimeLimit),
        Name::TimeMin => Minutes(NumberField::TimeMin),
        Name::TresBind => Text(TextField::TresBind),
        Name::TresFreq => Text(TextField::TresFreq),
        Name::TresPerJob => Resources(TextField::TresPerJob),
        Name::TresPerNode => Resources(TextField::TresPerNode),
        Name::TresPerSocket => Resources(TextField::TresPerSocket),
        Name::TresPerTask => Resources(TextField::TresPerTask),
        Name::UseMinNodes => Flag(self::Flag::UseMinNodes),
        Name::UserId => Number(NumberField::UserId),
        Name::Wait4switch => Seconds(NumberField::Wait4switch),
        Name::WaitAllNodes => SaidTruth(NumberField::WaitAllNodes),
        Name::WarnSignal => Number(NumberField::WarnSignal),
        Name::WarnTime => Seconds(NumberField::WarnTime),
        Name::Wckey => Text(TextField::Wckey),
        Name::WorkDir => Text(TextField::WorkDir),
        Name::Argc
        | Name::Argv
        | Name::EnvSize
        | Name::Environment
        | Name::IsBatch
        | Name::IsCron
        | Name::IsSiblingCopy
        | Name::IsTestOnly
        | Name::JobId
        | Name::KillInvalidDepend
        | Name::MailType
        | Name::MemIsZero
        | Name::Profile
        | Name::ScriptSize
        | Name::SpankJobEnv
        | Name::TimeLimitIsUnlimited
        | Name::X11Forward => Own,
        Name::ArraySize
        | Name::Cpus
        | Name::CpusPerGpu
        | Name::Exclusive
        | Name::GpuTypes
        | Name::Gpus
        | Name::GpusPerNode
        | Name::GpusPerSocket
        | Name::GpusPerTask
        | Name::HasUntypedGpus
        | Name::IsArray
        | Name::IsHeld
        | Name::IsInteractive
        | Name::LicenseNames
        | Name::MemPerGpu
        | Name::Memory
        | Name::Partitions
        | Name::QosNames
        | Name::Tasks => Derived,
    }
}

/// Whether the Slurm that this is built for has a field.
#[must_use]
pub fn is_known(name: Name) -> bool {
    match source(name) {
        Source::Text(field) | Source::Resources(field) => field.is_known(),
        Source::Number(field)
        | Source::Mebibytes(field)
        | Source::Seconds(field)
        | Source::Minutes(field)
        | Source::Moment(field)
        | Source::Truth(field)
        | Source::SaidTruth(field)
        | Source::Word(field, ..) => field.is_known(),
        Source::Flag(flag) => flag.is_known(),
        _ => true,
    }
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

impl<'a> JobFields<'a> {
    /// The fields of a description.
    #[must_use]
    pub fn of(description: &'a JobDescription<'a>) -> JobFields<'a> {
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
        // Bit by bit, so that a text with few such bytes costs little more.
        text.to_bytes().utf8_chunks().try_for_each(|chunk| steps.take_for(chunk.valid().len().saturating_add(WORK_OF_MARK)))
    }

    /// The same for what is derived of other fields.
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
            if let Source::Text(field) | Source::Resources(field) = source(*of) {
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

    fn number(&self, field: NumberField) -> Option<i64> {
        self.description.number(field)
    }

    /// What is read in a way of its own.
    fn own(&self, name: Name) -> Option<Value<'_>> {
        let description = self.description;
        let length = |list| i64::try_from(description.entries(list)).unwrap_or(i64::MAX);
        Some(match name {
            Name::Argc => Value::Integer(length(ListField::Argv)),
            Name::Argv => Value::Texts(Texts::Listed(&self.arguments)),
            Name::EnvSize => Value::Integer(length(ListField::Environment)),
            Name::IsBatch => Value::Truth(heterogeneous::is_batch(description)),
            Name::IsCron => Value::Truth(description.is_cron()),
            Name::IsSiblingCopy => Value::Truth(description.is_sibling_copy()),
            Name::IsTestOnly => Value::Truth(description.is_only_tested()),
            Name::JobId => Value::Integer(i64::from(description.job_id()?)),
            Name::KillInvalidDepend if description.has_flag(Flag::KillInvalidDependency) => Value::Truth(true),
            Name::KillInvalidDepend if description.has_flag(Flag::NoKillInvalidDependency) => Value::Truth(false),
            Name::MailType => Value::Texts(Texts::Listed(&self.mail_types)),
            Name::MemIsZero => Value::Truth(description.memory() == Some(AskedMemory::Whole)),
            Name::Profile => Value::Texts(Texts::Listed(&self.profiles)),
            Name::ScriptSize => Value::Integer(i64::try_from(description.text(TextField::Script)?.count_bytes()).unwrap_or(i64::MAX)),
            Name::SpankJobEnv => Value::Texts(Texts::Listed(&self.spank_variables)),
            Name::TimeLimitIsUnlimited => Value::Truth(description.time_limit() == Some(Minutes::Unlimited)),
            Name::X11Forward => {
                let bits = self.number(NumberField::X11)?;
                Value::Text(X11.iter().enumerate().find(|(bit, _)| bits >> bit & 1 == 1)?.1)
            }
            _ => return None,
        })
    }
}

impl Fields for JobFields<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        let bytes = |mebibytes: u64| Value::Integer(i64::try_from(mebibytes).unwrap_or(i64::MAX).saturating_mul(MEBIBYTE));
        match source(name) {
            Source::Text(field) => self.text(field).map(Value::Text),
            Source::Resources(field) => self.text(field).map(|text| Value::Resources(Resources(text))),
            Source::Number(field) => self.number(field).map(Value::Integer),
            Source::Mebibytes(field) => self.number(field).map(|mebibytes| Value::Integer(mebibytes.saturating_mul(MEBIBYTE))),
            Source::Seconds(field) => self.number(field).map(|seconds| Value::Duration(Seconds(seconds))),
            Source::Minutes(field) => self.number(field).map(|minutes| Value::Duration(Seconds(minutes.saturating_mul(60)))),
            Source::Moment(field) => self.number(field).map(|moment| Value::Moment(UnixTime(moment))),
            Source::Truth(field) => Some(Value::Truth(self.number(field).is_some_and(|number| number != 0))),
            Source::SaidTruth(field) => self.number(field).map(|number| Value::Truth(number != 0)),
            Source::Word(field, words, first) => {
                let place = usize::try_from(self.number(field)?.checked_sub(first)?).ok()?;
                words.get(place).map(|word| Value::Text(word))
            }
            Source::Flag(flag) => Some(Value::Truth(self.description.has_flag(flag))),
            Source::NodeMemory => match self.description.memory()? {
                AskedMemory::OfEachNode(mebibytes) => Some(bytes(mebibytes)),
                _ => None,
            },
            Source::CpuMemory => match self.description.memory()? {
                AskedMemory::ForEachCpu(mebibytes) => Some(bytes(mebibytes)),
                _ => None,
            },
            Source::Cores => match self.description.specialised()? {
                Specialised::Cores(cores) => Some(Value::Integer(i64::from(cores))),
                Specialised::Threads(_) => None,
            },
            Source::Threads => match self.description.specialised()? {
                Specialised::Threads(threads) => Some(Value::Integer(i64::from(threads))),
                Specialised::Cores(_) => None,
            },
            Source::Nice => self.description.nice().map(Value::Integer),
            Source::SiteFactor => self.description.site_factor().map(Value::Integer),
            Source::Own => self.own(name),
            Source::Derived if name == Name::GpuTypes => Some(Value::Texts(Texts::Listed(self))),
            Source::Derived => self.derived(name),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.text(self.description.place_of(name)?)?.strip_prefix(name)?.strip_prefix('=')
    }

    fn charge(&self, field: FieldNumber, steps: &mut Steps) -> Result<(), Fault> {
        let Some(name) = field.name() else { return Ok(()) };
        match source(name) {
            Source::Text(field) | Source::Resources(field) => self.charge_text(field, steps),
            Source::Derived => self.charge_derived(name, steps),
            Source::Own if name == Name::ScriptSize => {
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
        match field.name().map(source) {
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
        let (field, part) = self.gpu_types.get_or_init(|| GpuTypes::of(self)).get(place)?;
        match self.field(FieldNumber::from(field))? {
            Value::Resources(Resources(text)) => text.get(part),
            _ => None,
        }
    }
}

/// Where types of GPUs stand in the lists of resources.
#[derive(Debug, Default)]
struct GpuTypes {
    few: [Option<(Name, Place)>; FEW],
    more: Vec<(Name, Place)>,
}

/// From where to where a part of a text reaches.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
}

impl GpuTypes {
    fn of(job: &JobFields<'_>) -> GpuTypes {
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
        // Of more it is taken that there are as many as there are bytes.
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
