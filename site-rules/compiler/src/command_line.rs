//! A job as an `sbatch` command line describes it, with the same fields as the description that
//! slurmctld gets of it.
//!
//! It follows what the sbatch of a [`Release`] does with its options (src/common/slurm_opt.c and
//! src/sbatch/opt.c): the `#SBATCH` lines of the script first, the environment's `SBATCH_`
//! variables over them, the command line over both, and then what sbatch counts from them, such as
//! `min_cpus`. Of salloc and srun, the options that they share with sbatch are read likewise, and
//! no environment. Components of a heterogeneous job are not known here, and options of plugins
//! only where they are named. Generic resources are written as the later releases write them, with
//! `gres/` before each, and what 23.11 and later repeat as `cpu=` in `tres_per_task` is left out:
//! what rules read of either is the same.

mod environment;
mod generic_resources;
mod given;
mod hint;
mod job;
mod known;
mod release;
mod script;
mod tasks_and_nodes;
pub(crate) mod values;

use crate::described::DescribedJob;
use given::Word;
use job_types::number::UserId;
use job_types::time::UnixTime;
use known::{Program, Says};
use site_rules::data::OwnedValue;
use site_rules::field::Name;
use std::collections::BTreeMap;
use thiserror::Error;

pub use given::{Given, Origin};
pub use known::{PluginOption, SbatchOption, Takes, sbatch_options};
pub use release::{NotARelease, Release};
pub use script::{UnreadLines, unread_lines};

/// Why a heterogeneous job is not read.
const HETEROGENEOUS: &str = "components of a heterogeneous job are not evaluated here";

/// Why a command line is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandLineError {
    /// The command line does not begin with `sbatch`, `salloc` or `srun`.
    #[error("a command line begins with sbatch, salloc or srun, not with {0:?}")]
    OtherProgram(String),
    /// sbatch has no such option.
    #[error("the option {option} is not known{}", nearest_in_words(.nearest))]
    UnknownOption {
        /// The option.
        option: String,
        /// The option that is most like it, where one is.
        nearest: Option<String>,
    },
    /// sbatch of that release has no such option, and that of another one has.
    #[error("sbatch of Slurm {release} has no option {option}")]
    NotInRelease {
        /// The option.
        option: String,
        /// The release.
        release: Release,
    },
    /// sbatch itself refuses what was asked for together.
    #[error("sbatch refuses this: {0}")]
    RefusedBySbatch(String),
    /// The command line has an option that is not evaluated here.
    #[error("the option {0} is not evaluated here")]
    UnreadOption(String),
    /// Something stands among the options of a script that is none.
    #[error("{0:?} is no option")]
    NoOption(String),
    /// Options that exclude each other.
    #[error("{0} and {1} exclude each other")]
    Exclusive(String, String),
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
        /// The value that the option was given.
        value: String,
        /// What the option takes.
        expected: String,
    },
    /// There is neither a script nor `--wrap`.
    #[error("there is no script: name one, or give --wrap")]
    NoScript,
    /// Something can't be evaluated here.
    #[error("{0}")]
    NotEvaluated(&'static str),
    /// The error is in the script.
    #[error("line {line} of the script: {error}")]
    InScript {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        error: Box<CommandLineError>,
    },
    /// It stands in the environment.
    #[error("{variable} in the environment: {error}")]
    InEnvironment {
        /// The variable.
        variable: &'static str,
        /// What is wrong there.
        error: Box<CommandLineError>,
    },
    /// A quotation mark or a backslash has no other.
    #[error("a quotation mark is not closed in {0:?}")]
    Quotation(String),
}

impl CommandLineError {
    /// Adds to the error the place at which it was found.
    fn at(self, origin: Origin) -> CommandLineError {
        match origin {
            Origin::CommandLine => self,
            Origin::Script(line) => CommandLineError::InScript { line, error: Box::new(self) },
            Origin::Environment(variable) => CommandLineError::InEnvironment { variable, error: Box::new(self) },
        }
    }

    /// The option on the command line that it is about, as it was written, where it is about one.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        match self {
            CommandLineError::UnknownOption { option, .. }
            | CommandLineError::NotInRelease { option, .. }
            | CommandLineError::UnreadOption(option)
            | CommandLineError::AmbiguousOption(option)
            | CommandLineError::NoValue(option)
            | CommandLineError::TakesNoValue(option)
            | CommandLineError::Exclusive(_, option)
            | CommandLineError::WrongValue { option, .. } => Some(option),
            _ => None,
        }
    }

    /// What is wrong, wherever it stands.
    #[must_use]
    pub fn fault(&self) -> &CommandLineError {
        match self {
            CommandLineError::InScript { error, .. } | CommandLineError::InEnvironment { error, .. } => error.fault(),
            other => other,
        }
    }
}

fn nearest_in_words(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}

/// The circumstances in which a command is given.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The release of the programs to which the command is given.
    pub release: Release,
    /// The moment at which the command is given.
    pub now: UnixTime,
    /// The time zone in which the moments of options are read.
    pub zone: jiff::tz::TimeZone,
    /// The user who gives the command.
    pub user: UserId,
    /// The directory in which the command is given.
    pub directory: String,
    /// The variables of the environment by their names.
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

/// Reads words that a shell has split, as [`parse`] reads a line.
///
/// # Errors
/// What is not understood, by its name.
pub fn of(words: &[String], setting: &Setting, script: impl Fn(&str) -> Option<String>) -> Result<DescribedJob, CommandLineError> {
    let (path, rest) = words.split_first().ok_or_else(|| CommandLineError::OtherProgram(String::new()))?;
    let program = Program::of(path).ok_or_else(|| CommandLineError::OtherProgram(path.clone()))?;
    let rest = Word::typed(rest);
    let (given, arguments) = given::split(program, setting.release, &[], &rest)?;
    let arguments = texts(arguments)?;
    let (mut values, given) = if program == Program::Sbatch {
        let text = script_text(&given, &arguments, &script)?.ok_or(CommandLineError::NoScript)?;
        let given = all_given(given, &text, setting, &[])?;
        (batch_job(&given, &arguments, text, setting)?, given)
    } else {
        (interactive_job(program, &given, &arguments, setting)?, given)
    };
    if let Some(unread) = given.iter().find(|given| given.says == Some(Says::Unread)) {
        return Err(CommandLineError::UnreadOption(unread.written.clone()).at(unread.origin));
    }
    values.insert(Name::SubmitLine, OwnedValue::Text(words.join(" ")));
    // The environment goes with batch jobs alone.
    let environment = if program == Program::Sbatch { setting.environment.clone() } else { BTreeMap::new() };
    Ok(described(values, environment))
}

/// A submission by sbatch, and the options that make it.
#[derive(Clone, Debug)]
pub struct Sbatch {
    /// The job.
    pub job: DescribedJob,
    /// The options in the order in which sbatch takes them: of the script, of the environment, of
    /// the command line.
    pub given: Vec<Given>,
}

/// Reads the words behind `sbatch`, where there need be no script: the job is then read as if the
/// script said nothing.
///
/// Options of plugins are known by `plugins`. Those of sbatch that mean nothing for the fields of a
/// job are read and left out.
///
/// # Errors
/// What is not understood, by its name and place.
pub fn sbatch(
    words: &[String],
    setting: &Setting,
    plugins: &[PluginOption],
    script: impl Fn(&str) -> Option<String>,
) -> Result<Sbatch, CommandLineError> {
    let words = Word::typed(words);
    let (given, arguments) = given::split(Program::Sbatch, setting.release, plugins, &words)?;
    let arguments = texts(arguments)?;
    let text = script_text(&given, &arguments, &script)?.unwrap_or_default();
    let given = all_given(given, &text, setting, plugins)?;
    let values = batch_job(&given, &arguments, text, setting)?;
    Ok(Sbatch { job: described(values, setting.environment.clone()), given })
}

type Values = BTreeMap<Name, OwnedValue>;

fn described(mut values: Values, environment: BTreeMap<String, String>) -> DescribedJob {
    values.retain(|_, value| !matches!(value, OwnedValue::Text(text) | OwnedValue::Resources(text) if text.is_empty()));
    DescribedJob::new(values, environment)
}

/// The script and its arguments.
fn texts(arguments: &[Word]) -> Result<Vec<String>, CommandLineError> {
    if arguments.iter().any(|argument| argument.text == ":") {
        return Err(CommandLineError::NotEvaluated(HETEROGENEOUS));
    }
    Ok(arguments.iter().map(|argument| argument.text.clone()).collect())
}

/// The text of the script that is named or that `--wrap` makes; `None` where there is neither.
fn script_text(given: &[Given], arguments: &[String], script: impl Fn(&str) -> Option<String>) -> Result<Option<String>, CommandLineError> {
    let wrapped = given.iter().rev().find_map(|given| given.value.as_ref().filter(|_| given.name == "wrap"));
    match (wrapped, arguments.first()) {
        (Some(_), Some(_)) => Err(CommandLineError::NotEvaluated("there is a script beside --wrap")),
        (Some(command), None) => Ok(Some(format!("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"))),
        (None, Some(name)) => Ok(Some(script(name).unwrap_or_default())),
        (None, None) => Ok(None),
    }
}

/// The options of the script, of the environment and of the command line, as sbatch takes them one
/// after the other (`process_options_second_pass` in src/sbatch/opt.c).
fn all_given(typed: Vec<Given>, text: &str, setting: &Setting, plugins: &[PluginOption]) -> Result<Vec<Given>, CommandLineError> {
    let in_script = script::options(text)?;
    let (mut given, rest) = given::split(Program::Sbatch, setting.release, plugins, &in_script)?;
    if let Some(word) = rest.first() {
        return Err(CommandLineError::NoOption(word.text.clone()).at(word.origin));
    }
    environment::add(&setting.environment, setting.release, &mut given);
    given.extend(typed);
    let passes_over = given.iter().any(|given| given.name == "ignore-pbs");
    if let Some(line) = script::translated_line(text).filter(|_| !passes_over) {
        let why = "sbatch translates #PBS and #BSUB lines, which is not done here; with --ignore-pbs it passes over them";
        return Err(CommandLineError::NotEvaluated(why).at(Origin::Script(line)));
    }
    one_kind_of_memory(&mut given)?;
    Ok(given)
}

/// Memory is asked for in one way: two of the script or the command line exclude each other, and
/// one there wins over the environment (`_validate_memory_options` in src/common/slurm_opt.c).
fn one_kind_of_memory(given: &mut Vec<Given>) -> Result<(), CommandLineError> {
    let is_memory = |given: &Given| matches!(given.name.as_str(), "mem" | "mem-per-cpu" | "mem-per-gpu");
    let is_of_environment = |given: &Given| matches!(given.origin, Origin::Environment(_));
    let mut typed = given.iter().filter(|given| is_memory(given) && !is_of_environment(given));
    let Some(first) = typed.next() else { return Ok(()) };
    if let Some(other) = typed.find(|other| other.name != first.name) {
        return Err(CommandLineError::Exclusive(first.written.clone(), other.written.clone()).at(other.origin));
    }
    given.retain(|given| !(is_memory(given) && is_of_environment(given)));
    Ok(())
}

fn batch_job(given: &[Given], arguments: &[String], text: String, setting: &Setting) -> Result<Values, CommandLineError> {
    let mut job = job::Job::new(setting);
    job.take_all(given)?;
    let mut values = job.finish()?;
    let name = match arguments.first() {
        None => "wrap",
        Some(script) => script.rsplit('/').next().unwrap_or(script),
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
    let mut job = job::Job::new(setting);
    job.take_all(given)?;
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
