//! A job as an `sbatch` command line describes it, with the same fields as the description that
//! slurmctld gets of it.
//!
//! It follows what sbatch does with its options (src/common/slurm_opt.c and src/sbatch/opt.c of
//! 26.05): the `#SBATCH` lines of the script first, the command line over them, and then what
//! sbatch counts from them, such as `min_cpus`. The environment's `SBATCH_` variables, plugins of
//! sbatch, and components of a heterogeneous job are not known here. Of what the releases send
//! differently it has the latest: generic resources begin with `gres/`, and `num_tasks` is absent
//! where only `--ntasks-per-node` is given; what 23.11 and later repeat as `cpu=` in
//! `tres_per_task` is left out.

mod options;
mod script;
mod values;

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use site_rules::derived;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::value::{Resources, TextList, Texts, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a command line is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandLineError {
    /// It does not begin with `sbatch`.
    #[error("a command line begins with sbatch, not with {0:?}")]
    NotSbatch(String),
    /// sbatch has no such option, or it is one that is not evaluated here.
    #[error("the option {0} is not known")]
    UnknownOption(String),
    /// Several options begin like this one.
    #[error("the option {0} could be several")]
    AmbiguousOption(String),
    /// The option needs a value.
    #[error("the option {0} needs a value")]
    NoValue(String),
    /// The option takes no value.
    #[error("the option {0} takes no value")]
    TakesNoValue(String),
    /// The value is none that the option takes.
    #[error("the option {option} does not take {value:?}: {expected}")]
    WrongValue {
        /// The option.
        option: String,
        /// Its value.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// There is neither a script nor `--wrap`.
    #[error("there is no script: name one, or give --wrap")]
    NoScript,
    /// Something can't be evaluated here.
    #[error("{0}")]
    NotEvaluated(&'static str),
    /// A quotation mark or a backslash has no other.
    #[error("a quotation mark is not closed in {0:?}")]
    Quotation(String),
}

/// Where and by whom a command is given.
#[derive(Clone, Debug)]
pub struct Setting {
    /// When.
    pub now: UnixTime,
    /// In which time zone.
    pub zone: jiff::tz::TimeZone,
    /// By whom.
    pub user: UserId,
    /// In which directory.
    pub directory: String,
    /// With these variables in the environment.
    pub environment: BTreeMap<String, String>,
}

/// A value that owns what it holds.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Truth(bool),
    Integer(i64),
    Text(String),
    Duration(Seconds),
    Moment(UnixTime),
    Texts(Vec<Box<str>>),
    Resources(String),
}

/// A job as a command line describes it.
#[derive(Clone, Debug)]
pub struct CommandLine {
    values: BTreeMap<Name, Owned>,
    environment: BTreeMap<String, String>,
    gpu_types: Vec<Box<str>>,
}

impl CommandLine {
    /// Reads a command line as a shell would split it, without expanding anything.
    ///
    /// `script` gives the text of the script with a name. Where there is none, the job is read as
    /// if the script said nothing.
    ///
    /// # Errors
    /// What is not understood, by its name.
    pub fn parse(line: &str, setting: &Setting, script: impl Fn(&str) -> Option<String>) -> Result<CommandLine, CommandLineError> {
        CommandLine::of(&script::words(line)?, setting, script)
    }

    /// The same of words that a shell has split.
    ///
    /// # Errors
    /// What is not understood, by its name.
    pub fn of(words: &[String], setting: &Setting, script: impl Fn(&str) -> Option<String>) -> Result<CommandLine, CommandLineError> {
        let (program, words) = words.split_first().ok_or_else(|| CommandLineError::NotSbatch(String::new()))?;
        if program.rsplit('/').next() != Some("sbatch") {
            return Err(CommandLineError::NotSbatch(program.clone()));
        }
        let (given, arguments) = options::split(words)?;
        if arguments.iter().any(|argument| argument == ":") {
            return Err(CommandLineError::NotEvaluated("components of a heterogeneous job are not evaluated here"));
        }
        let wrapped = given.iter().rev().find_map(|given| given.value.clone().filter(|_| given.name == "wrap"));
        let text = match (&wrapped, arguments.first()) {
            (Some(_), Some(_)) => return Err(CommandLineError::NotEvaluated("there is a script beside --wrap")),
            (Some(command), None) => format!("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"),
            (None, Some(name)) => script(name).unwrap_or_default(),
            (None, None) => return Err(CommandLineError::NoScript),
        };
        let mut job = options::Job::new(setting);
        let in_script = script::options(&text)?;
        let (of_script, rest) = options::split(&in_script)?;
        if let Some(word) = rest.first() {
            return Err(CommandLineError::UnknownOption(word.clone()));
        }
        for given in of_script.iter().chain(&given) {
            job.take(given)?;
        }
        let mut values = job.finish()?;
        let name = match (&wrapped, arguments.first()) {
            (Some(_), _) => "wrap",
            (None, script) => script.map_or("sbatch", |script| script.rsplit('/').next().unwrap_or(script)),
        };
        values.entry(Name::JobName).or_insert_with(|| Owned::Text(name.to_owned()));
        values.insert(Name::ScriptSize, Owned::Integer(i64::try_from(text.len()).unwrap_or(i64::MAX)));
        values.insert(Name::Script, Owned::Text(text));
        values.insert(Name::IsBatch, Owned::Truth(true));
        values.insert(Name::Argc, Owned::Integer(i64::try_from(arguments.len()).unwrap_or(i64::MAX)));
        values.insert(Name::Argv, Owned::Texts(arguments.iter().map(|argument| argument.as_str().into()).collect()));
        let variables = i64::try_from(setting.environment.len()).unwrap_or(i64::MAX);
        values.insert(Name::EnvSize, Owned::Integer(variables));
        let line = std::iter::once(program).chain(words).map(String::as_str).collect::<Vec<_>>().join(" ");
        values.insert(Name::SubmitLine, Owned::Text(line));
        values.retain(|_, value| !matches!(value, Owned::Text(text) | Owned::Resources(text) if text.is_empty()));
        let mut job = CommandLine { values, environment: setting.environment.clone(), gpu_types: Vec::new() };
        job.gpu_types = derived::gpu_types(&job).map(Into::into).collect();
        Ok(job)
    }
}

impl Fields for CommandLine {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        if name == Name::GpuTypes {
            return Some(Value::Texts(Texts::Listed(&self.gpu_types as &dyn TextList)));
        }
        if name.is_derived() {
            return derived::value(name, self);
        }
        match self.values.get(&name) {
            Some(Owned::Truth(truth)) => Some(Value::Truth(*truth)),
            Some(Owned::Integer(number)) => Some(Value::Integer(*number)),
            Some(Owned::Text(text)) => Some(Value::Text(text)),
            Some(Owned::Duration(duration)) => Some(Value::Duration(*duration)),
            Some(Owned::Moment(moment)) => Some(Value::Moment(*moment)),
            Some(Owned::Texts(texts)) => Some(Value::Texts(Texts::Listed(texts as &dyn TextList))),
            Some(Owned::Resources(text)) => Some(Value::Resources(Resources(text))),
            // What is always there is false, nothing, or an empty list where it is not said.
            None => field.get().filter(|field| !field.may_be_absent).and_then(|field| values::nothing(field.kind)),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }
}
