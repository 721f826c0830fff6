//! A job as an `sbatch` command line describes it, with the same fields as the description that
//! slurmctld gets of it.
//!
//! It follows what sbatch does with its options (src/common/slurm_opt.c and src/sbatch/opt.c of
//! 26.05): the `#SBATCH` lines of the script first, the command line over them, and then what
//! sbatch counts from them, such as `min_cpus`. Of salloc and srun, the options that they share
//! with sbatch are read likewise. The environment's `SBATCH_` variables, plugins of sbatch, and
//! components of a heterogeneous job are not known here. Of what the releases send differently it
//! has the latest: generic resources begin with `gres/`, and `num_tasks` is absent where only
//! `--ntasks-per-node` is given; what 23.11 and later repeat as `cpu=` in `tres_per_task` is left
//! out.

mod options;
mod script;
mod values;

use crate::described::DescribedJob;
use job_types::number::UserId;
use job_types::time::UnixTime;
use options::{Given, Program};
use site_rules::data::OwnedValue;
use site_rules::field::Name;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a command line is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandLineError {
    /// It does not begin with `sbatch`, `salloc` or `srun`.
    #[error("a command line begins with sbatch, salloc or srun, not with {0:?}")]
    OtherProgram(String),
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

/// Reads a command line as a shell would split it, without expanding anything.
///
/// `script` gives the text of the script with a name. Where there is none, the job is read as
/// if the script said nothing.
///
/// # Errors
/// What is not understood, by its name.
pub fn parse(line: &str, setting: &Setting, script: impl Fn(&str) -> Option<String>) -> Result<DescribedJob, CommandLineError> {
    of(&script::words(line)?, setting, script)
}

/// The same of words that a shell has split.
///
/// # Errors
/// What is not understood, by its name.
pub fn of(words: &[String], setting: &Setting, script: impl Fn(&str) -> Option<String>) -> Result<DescribedJob, CommandLineError> {
    let (path, words) = words.split_first().ok_or_else(|| CommandLineError::OtherProgram(String::new()))?;
    let program = Program::of(path).ok_or_else(|| CommandLineError::OtherProgram(path.clone()))?;
    let (given, arguments) = options::split(program, words)?;
    if arguments.iter().any(|argument| argument == ":") {
        return Err(CommandLineError::NotEvaluated("components of a heterogeneous job are not evaluated here"));
    }
    let line = std::iter::once(path).chain(words).map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut values = if program == Program::Sbatch {
        batch_job(&given, arguments, setting, script)?
    } else {
        interactive_job(program, &given, arguments, setting)?
    };
    values.insert(Name::SubmitLine, OwnedValue::Text(line));
    values.retain(|_, value| !matches!(value, OwnedValue::Text(text) | OwnedValue::Resources(text) if text.is_empty()));
    // The environment goes with batch jobs alone.
    let environment = if program == Program::Sbatch { setting.environment.clone() } else { BTreeMap::new() };
    Ok(DescribedJob::new(values, environment))
}

type Values = BTreeMap<Name, OwnedValue>;

fn batch_job(
    given: &[Given],
    arguments: &[String],
    setting: &Setting,
    script: impl Fn(&str) -> Option<String>,
) -> Result<Values, CommandLineError> {
    let wrapped = given.iter().rev().find_map(|given| given.value.clone().filter(|_| given.name == "wrap"));
    let text = match (&wrapped, arguments.first()) {
        (Some(_), Some(_)) => return Err(CommandLineError::NotEvaluated("there is a script beside --wrap")),
        (Some(command), None) => format!("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"),
        (None, Some(name)) => script(name).unwrap_or_default(),
        (None, None) => return Err(CommandLineError::NoScript),
    };
    let mut job = options::Job::new(setting);
    let in_script = script::options(&text)?;
    let (of_script, rest) = options::split(Program::Sbatch, &in_script)?;
    if let Some(word) = rest.first() {
        return Err(CommandLineError::UnknownOption(word.clone()));
    }
    for given in of_script.iter().chain(given) {
        job.take(given)?;
    }
    let mut values = job.finish()?;
    let name = match (&wrapped, arguments.first()) {
        (Some(_), _) => "wrap",
        (None, script) => script.map_or("sbatch", |script| script.rsplit('/').next().unwrap_or(script)),
    };
    values.entry(Name::JobName).or_insert_with(|| OwnedValue::Text(name.to_owned()));
    values.insert(Name::ScriptSize, OwnedValue::Integer(i64::try_from(text.len()).unwrap_or(i64::MAX)));
    values.insert(Name::Script, OwnedValue::Text(text));
    values.insert(Name::IsBatch, OwnedValue::Truth(true));
    values.insert(Name::Argc, OwnedValue::Integer(i64::try_from(arguments.len()).unwrap_or(i64::MAX)));
    values.insert(Name::Argv, OwnedValue::Texts(arguments.to_vec()));
    let variables = i64::try_from(setting.environment.len()).unwrap_or(i64::MAX);
    values.insert(Name::EnvSize, OwnedValue::Integer(variables));
    Ok(values)
}

/// A job of salloc or srun, which has neither script nor files of output of its own.
fn interactive_job(program: Program, given: &[Given], arguments: &[String], setting: &Setting) -> Result<Values, CommandLineError> {
    let mut job = options::Job::new(setting);
    for given in given {
        job.take(given)?;
    }
    let mut values = job.finish()?;
    for name in [Name::StdIn, Name::StdOut, Name::StdErr] {
        values.remove(&name);
    }
    let command = arguments.first().map(|command| command.rsplit('/').next().unwrap_or(command));
    let name = command.or((program == Program::Salloc).then_some("interactive"));
    if let Some(name) = name {
        values.entry(Name::JobName).or_insert_with(|| OwnedValue::Text(name.to_owned()));
    }
    Ok(values)
}
