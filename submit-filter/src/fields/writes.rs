//! Writing fields of a job description: all that rules have written, or nothing.

use super::MEBIBYTE;
use super::source::Source;
use site_rules::field::{FieldNumber, MAIL_TYPES, PROFILES, variable};
use site_rules::value::{Resources, Texts, Value};
use site_rules::{overlay, resources};
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::{AskedMemory, Flag, NumberField, Specialised, TextField};
use slurm_sys::text::SlurmText;
use thiserror::Error;

/// Why something can't be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// There is no such field, or rules may not write it.
    #[error("{0} can't be written")]
    NotWritable(&'static str),
    /// The Slurm that this is built for has no such field.
    #[error("this release of Slurm has no {0}")]
    NotKnown(&'static str),
    /// The field takes values of another kind, or other words.
    #[error("{0} takes no such value")]
    WrongValue(&'static str),
    /// There is no memory for the text.
    #[error("there is no memory for {0}")]
    NoMemory(&'static str),
}

/// One field with what is to stand in it.
#[derive(Debug)]
enum Write {
    Text(TextField, Option<SlurmText>),
    Number(NumberField, i64),
    NoNumber(NumberField),
    Memory(Option<AskedMemory>),
    Specialised(Option<Specialised>),
    Nice(Option<i64>),
    SiteFactor(Option<i64>),
    Flag(Flag, bool),
    /// A truth that the first flag says and the second one denies.
    EitherFlag(Flag, Flag, Option<bool>),
    Profile(u32),
    /// A variable of the environment, which is taken out where there is no entry.
    Variable(String, Option<SlurmText>),
}

/// What is to be written, with all texts there, so that nothing can fail any more.
#[derive(Debug, Default)]
pub struct Writes {
    fields: Vec<Write>,
    /// Variables of the script's environment that sbatch made of the same options, and what takes
    /// their places.
    variables: Vec<(&'static str, SlurmText)>,
}

impl Writes {
    /// Prepares what is to be written into a job description, each field once.
    ///
    /// What follows from it is written with it, where it isn't written itself: the other end of a
    /// range of nodes that would be empty, CPUs that were counted from tasks, a shortest time limit
    /// above the time limit, and the variables that sbatch made of the same options.
    ///
    /// # Errors
    /// The first value that can't be written.
    pub fn prepare<'v>(
        description: &JobDescription<'_>,
        written: impl IntoIterator<Item = overlay::Write<'v>>,
    ) -> Result<Writes, WriteError> {
        let mut writes = Writes::default();
        for overlay::Write { field, value } in written {
            let write = prepared(field, value)?;
            writes.fields.push(write);
        }
        writes.add_what_follows(description);
        writes.add_variables(description).ok_or(WriteError::NoMemory("environment"))?;
        Ok(writes)
    }

    /// Whether nothing is to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Writes it.
    pub fn apply(self, description: &mut JobDescription<'_>) {
        for write in self.fields {
            match write {
                Write::Text(field, text) => description.set_text(field, text),
                Write::Number(field, number) => description.set_number(field, number),
                Write::NoNumber(field) => description.unset_number(field),
                Write::Memory(memory) => description.set_memory(memory),
                Write::Specialised(left) => description.set_specialised(left),
                Write::Nice(nice) => description.set_nice(nice),
                Write::SiteFactor(factor) => description.set_site_factor(factor),
                Write::Flag(flag, is_set) => description.set_flag(flag, is_set),
                Write::EitherFlag(says, denies, truth) => {
                    description.set_flag(says, truth == Some(true));
                    description.set_flag(denies, truth == Some(false));
                }
                Write::Profile(bits) => description.set_profile(bits),
                Write::Variable(name, entry) => description.set_variable(&name, entry),
            }
        }
        for (name, entry) in self.variables {
            description.replace_variable(name, entry);
        }
    }

    /// What is written into a number.
    fn number(&self, field: NumberField) -> Option<i64> {
        self.fields.iter().rev().find_map(|write| match write {
            Write::Number(written, number) if *written == field => Some(*number),
            _ => None,
        })
    }

    fn memory(&self) -> Option<AskedMemory> {
        self.fields.iter().rev().find_map(|write| match write {
            Write::Memory(memory) => *memory,
            _ => None,
        })
    }

    fn add_what_follows(&mut self, description: &JobDescription<'_>) {
        let before = |field| description.number(field);
        // The end that a rule wrote counts; with a number of nodes alone the other one is the same.
        let (least, most) = (self.number(NumberField::MinNodes), self.number(NumberField::MaxNodes));
        match (least, most) {
            (Some(least), None) if before(NumberField::MaxNodes).is_some_and(|most| most < least) => {
                self.fields.push(Write::Number(NumberField::MaxNodes, least));
            }
            (None, Some(most)) if before(NumberField::MinNodes).is_some_and(|least| least > most) => {
                self.fields.push(Write::Number(NumberField::MinNodes, most));
            }
            _ => {}
        }
        if let (Some(limit), None) = (self.number(NumberField::TimeLimit), self.number(NumberField::TimeMin))
            && before(NumberField::TimeMin).is_some_and(|shortest| shortest > limit)
        {
            self.fields.push(Write::Number(NumberField::TimeMin, limit));
        }
        let (tasks, cpus) = (self.number(NumberField::NumTasks), self.number(NumberField::CpusPerTask));
        if tasks.is_some() || cpus.is_some() {
            let one = |number: Option<i64>| number.unwrap_or(1);
            let (tasks_before, cpus_before) = (one(before(NumberField::NumTasks)), one(before(NumberField::CpusPerTask)));
            let (tasks, cpus) = (tasks.unwrap_or(tasks_before), cpus.unwrap_or(cpus_before));
            // sbatch counts the CPUs from both, and has a node hold those of a task.
            if self.number(NumberField::MinCpus).is_none() && before(NumberField::MinCpus) == Some(tasks_before.saturating_mul(cpus_before))
            {
                self.fields.push(Write::Number(NumberField::MinCpus, tasks.saturating_mul(cpus)));
            }
            if self.number(NumberField::PnMinCpus).is_none() && before(NumberField::PnMinCpus) == Some(cpus_before) {
                self.fields.push(Write::Number(NumberField::PnMinCpus, cpus));
            }
        }
    }

    /// The variables that srun reads in the script, where sbatch has set them; `None` where there
    /// is no memory.
    fn add_variables(&mut self, description: &JobDescription<'_>) -> Option<()> {
        const OF_NUMBERS: [(&str, NumberField); 5] = [
            ("SLURM_NTASKS", NumberField::NumTasks),
            ("SLURM_NPROCS", NumberField::NumTasks),
            ("SLURM_CPUS_PER_TASK", NumberField::CpusPerTask),
            ("SRUN_CPUS_PER_TASK", NumberField::CpusPerTask),
            ("SLURM_NTASKS_PER_NODE", NumberField::NtasksPerNode),
        ];
        for (name, field) in OF_NUMBERS {
            if let Some(number) = self.number(field)
                && description.has_variable(name)
            {
                self.variables.push((name, SlurmText::new(&format!("{name}={number}"))?));
            }
        }
        const OF_GPUS: [(&str, TextField); 2] =
            [("SLURM_CPUS_PER_GPU", TextField::CpusPerTres), ("SLURM_MEM_PER_GPU", TextField::MemPerTres)];
        for (name, field) in OF_GPUS {
            let written = self.fields.iter().rev().find_map(|write| match write {
                Write::Text(written, text) if *written == field => Some(text.as_ref().and_then(SlurmText::as_str)),
                _ => None,
            });
            if let Some(list) = written.filter(|_| description.has_variable(name)) {
                let count = resources::all(list.unwrap_or_default()).find(|resource| resource.kind == "gpu").map(|gpu| gpu.count);
                let entry = match count {
                    Some(count) => Some(SlurmText::new(&format!("{name}={count}"))?),
                    None => None,
                };
                self.fields.push(Write::Variable(name.to_owned(), entry));
            }
        }
        let entry = match self.memory() {
            Some(AskedMemory::OfEachNode(mebibytes)) => format!("SLURM_MEM_PER_NODE={mebibytes}"),
            Some(AskedMemory::ForEachCpu(mebibytes)) => format!("SLURM_MEM_PER_CPU={mebibytes}"),
            Some(AskedMemory::Whole) => "SLURM_MEM_PER_NODE=0".to_owned(),
            None => return Some(()),
        };
        // Each variable takes the other's place, because srun takes only one of them.
        for name in ["SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"].into_iter().filter(|name| description.has_variable(name)) {
            self.variables.push((name, SlurmText::new(&entry)?));
        }
        Some(())
    }
}

fn prepared(field: FieldNumber, value: Option<Value<'_>>) -> Result<Write, WriteError> {
    let known = field.get().zip(field.name()).filter(|(field, _)| field.is_writable);
    let Some((field, name)) = known else {
        return Err(WriteError::NotWritable(field.get().map_or("a field of no name", |field| field.name)));
    };
    let source = Source::from(name);
    if !source.is_known() {
        return Err(WriteError::NotKnown(field.name));
    }
    let Some(value) = value else {
        return cleared(source).filter(|_| field.may_be_absent).ok_or(WriteError::WrongValue(field.name));
    };
    let text = |text: &str| match text {
        "" => Ok(None),
        text => SlurmText::new(text).map(Some).ok_or(WriteError::NoMemory(field.name)),
    };
    Ok(match (source, value) {
        (Source::Text(place), Value::Text(value)) => Write::Text(place, text(value)?),
        (Source::Resources(place), Value::Text(value) | Value::Resources(Resources(value))) => {
            Write::Text(place, text(&prefixed(value, JobDescription::resource_prefix()))?)
        }
        (Source::Number(place), Value::Integer(number)) => Write::Number(place, number),
        (Source::Mebibytes(place), Value::Integer(bytes)) => Write::Number(place, mebibytes(bytes)),
        (Source::Seconds(place), Value::Duration(seconds)) => Write::Number(place, seconds.0),
        (Source::Minutes(place), Value::Duration(limit)) => Write::Number(place, limit.minutes_rounded_up().max(1)),
        (Source::Moment(place), Value::Moment(moment)) => Write::Number(place, moment.0),
        (Source::Truth(place) | Source::SaidTruth(place), Value::Truth(truth)) => Write::Number(place, i64::from(truth)),
        (Source::Word(place, words, first), Value::Text(word)) => {
            let number = words.iter().zip(first..).find(|(known, _)| **known == word).map(|(_, number)| number);
            Write::Number(place, number.ok_or(WriteError::WrongValue(field.name))?)
        }
        (Source::NodeMemory, Value::Integer(bytes)) => Write::Memory(Some(memory(bytes, AskedMemory::OfEachNode))),
        (Source::CpuMemory, Value::Integer(bytes)) => Write::Memory(Some(memory(bytes, AskedMemory::ForEachCpu))),
        (Source::Cores, Value::Integer(cores)) => Write::Specialised(Some(Specialised::Cores(small(cores)))),
        (Source::Threads, Value::Integer(threads)) => Write::Specialised(Some(Specialised::Threads(small(threads)))),
        (Source::Flag(flag), Value::Truth(truth)) => Write::Flag(flag, truth),
        (Source::EitherFlag(says, denies), Value::Truth(truth)) => Write::EitherFlag(says, denies, Some(truth)),
        (Source::MailTypes, Value::Texts(types)) => {
            let bits = bits(types, MAIL_TYPES).ok_or(WriteError::WrongValue(field.name))?;
            Write::Number(NumberField::MailType, i64::from(bits))
        }
        (Source::Profiles, Value::Texts(profiles)) => Write::Profile(bits(profiles, PROFILES).ok_or(WriteError::WrongValue(field.name))?),
        (Source::Environment, Value::Text(entry)) => {
            let (variable, value) = variable(entry);
            let entry = value.map(|_| SlurmText::new(entry).ok_or(WriteError::NoMemory(field.name))).transpose()?;
            Write::Variable(variable.to_owned(), entry)
        }
        (Source::Nice, Value::Integer(nice)) => Write::Nice(Some(nice)),
        (Source::SiteFactor, Value::Integer(factor)) => Write::SiteFactor(Some(factor)),
        _ => return Err(WriteError::WrongValue(field.name)),
    })
}

/// The bits of words, by their places; `None` where one is not among the names.
fn bits(words: Texts<'_>, names: &[&str]) -> Option<u32> {
    words.iter().try_fold(0_u32, |bits, word| Some(bits | 1 << names.iter().position(|name| *name == word)?))
}

/// What makes a field absent; `None` for one that can't be.
fn cleared(source: Source) -> Option<Write> {
    Some(match source {
        Source::EitherFlag(says, denies) => Write::EitherFlag(says, denies, None),
        Source::Text(place) | Source::Resources(place) => Write::Text(place, None),
        Source::Number(place)
        | Source::Mebibytes(place)
        | Source::Seconds(place)
        | Source::Minutes(place)
        | Source::Moment(place)
        | Source::SaidTruth(place)
        | Source::Word(place, ..) => Write::NoNumber(place),
        Source::NodeMemory | Source::CpuMemory => Write::Memory(None),
        Source::Cores | Source::Threads => Write::Specialised(None),
        Source::Nice => Write::Nice(None),
        Source::SiteFactor => Write::SiteFactor(None),
        _ => return None,
    })
}

/// Bytes as MiB, rounded up.
fn mebibytes(bytes: i64) -> i64 {
    let bytes = bytes.max(0);
    bytes / MEBIBYTE + i64::from(bytes % MEBIBYTE > 0)
}

/// No memory is all of it, as in `--mem=0`.
fn memory(bytes: i64, of_each: fn(u64) -> AskedMemory) -> AskedMemory {
    match mebibytes(bytes).unsigned_abs() {
        0 => AskedMemory::Whole,
        mebibytes => of_each(mebibytes),
    }
}

fn small(number: i64) -> u16 {
    u16::try_from(number.max(0)).unwrap_or(u16::MAX)
}

/// A list of resources with the prefix of sbatch before each that has none. What is no generic
/// resource, such as `cpu=4` or `license/matlab=1`, stays as it is.
fn prefixed(list: &str, prefix: &str) -> String {
    let part = |part: &str| {
        let bare = part.strip_prefix("gres/").or(part.strip_prefix("gres:"));
        let is_other = part.contains('/') || part.starts_with("cpu=") || part.starts_with("cpu:");
        match bare {
            Some(bare) => format!("{prefix}{bare}"),
            None if is_other => part.to_owned(),
            None => format!("{prefix}{part}"),
        }
    };
    list.split(',').filter(|part| !part.is_empty()).map(part).collect::<Vec<_>>().join(",")
}
