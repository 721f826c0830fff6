//! The job that is described by options, by a script and by the environment, as sbatch would submit
//! it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;

use anyhow::{Context, anyhow, bail};
use jiff::tz::TimeZone;
use job_types::options::UserOptions;
use job_types::time::UnixTime;
use predictor_core::decisions::Submission;
use rules_compiler::command_line::{self, CommandLineError, Given, Origin, Sbatch, Setting, UnreadLines};
use rules_compiler::described::DescribedJob;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::value::Value;

use super::arguments::JobArguments;
use super::effect::{Effect, effect};
use super::{plugins, script};
use crate::asked::AskedArguments;
use crate::slurm_release::own_release;
use crate::user;

/// A described job.
#[derive(Debug)]
pub(crate) struct Job {
    /// The user's name, where there is one.
    pub(crate) user_name: Option<String>,
    fields: DescribedJob,
    /// The options that hold, each once, in the order in which sbatch takes them.
    pub(crate) given: Vec<Given>,
    asked: UserOptions,
    /// Options behind the script, which are its arguments.
    pub(super) behind_script: Vec<String>,
}

impl Job {
    /// The lines of options in the script that sbatch does not read.
    pub(super) fn unread_lines(&self) -> Option<UnreadLines> {
        match self.fields.field(FieldNumber::from(Name::Script)) {
            Some(Value::Text(script)) => command_line::unread_lines(script),
            _ => None,
        }
    }
}

impl JobArguments {
    /// The job that sbatch would submit, with `more` of its arguments behind those that were given
    /// here, and what it asks of queuecast.
    ///
    /// # Errors
    /// What sbatch would refuse, and what can't be read here, with the reason.
    pub(crate) fn job(&self, more: &[String], asked: &AskedArguments, now: UnixTime) -> anyhow::Result<Job> {
        let (user, user_name) = user::find(self.user.as_deref())?;
        let text = |value: std::ffi::OsString| value.into_string().ok();
        let setting = Setting {
            release: own_release(),
            now,
            zone: TimeZone::system(),
            user,
            directory: env::current_dir().map(|directory| directory.display().to_string()).unwrap_or_default(),
            environment: env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect(),
        };
        let Sbatch { job: fields, given } = read(&self.with(more), &setting)?;
        let given = that_hold(given);
        for option in &given {
            refuse(option)?;
        }
        let in_script: BTreeMap<String, String> = given
            .iter()
            .filter(|given| given.is_of_plugin())
            .map(|given| (given.name.clone(), given.value.clone().unwrap_or_else(|| "1".to_owned())))
            .collect();
        let asked = asked.asked(&in_script, now)?;
        let job = Job { user_name, fields, given, asked, behind_script: self.options_behind_script() };
        let Submission { deadline, begin, .. } = job.submission();
        if let Some(deadline) = deadline.filter(|deadline| *deadline <= now) {
            bail!("--deadline: {} ago; sbatch refuses a deadline that has passed", now - deadline);
        }
        if begin.zip(deadline).is_some_and(|(begin, deadline)| deadline < begin) {
            bail!("--deadline lies before --begin; sbatch refuses that");
        }
        Ok(job)
    }
}

/// Reads the words as sbatch does. Where one is not known, sbatch is asked which options its
/// plugins have.
fn read(words: &[String], setting: &Setting) -> anyhow::Result<Sbatch> {
    let (name, failure) = (RefCell::new(None), RefCell::new(None));
    let text = RefCell::new(None::<String>);
    let script = |named: &str| {
        name.replace(Some(named.to_owned()));
        // Standard input can be read only once.
        if text.borrow().is_none() {
            match script::text(named) {
                Ok(read) => text.replace(Some(read)),
                Err(error) => failure.replace(Some(error)).map(|_| String::new()),
            };
        }
        text.borrow().clone()
    };
    let own = plugins::own();
    let mut outcome = command_line::sbatch(words, setting, &own, script);
    if let Err(error) = &outcome
        && matches!(error.fault(), CommandLineError::UnknownOption { .. })
    {
        let all = [own, plugins::others()].concat();
        outcome = command_line::sbatch(words, setting, &all, script);
    }
    if let Some(error) = failure.take() {
        return Err(error);
    }
    outcome.map_err(|error| match (&error, name.take()) {
        (CommandLineError::InScript { .. }, Some(name)) => anyhow!(error).context(name),
        _ => anyhow!(error),
    })
}

/// The last of each option.
fn that_hold(given: Vec<Given>) -> Vec<Given> {
    let mut holding: Vec<Given> = Vec::new();
    for option in given {
        holding.retain(|other| other.name != option.name);
        holding.push(option);
    }
    holding
}

/// Refuses what can't be read here.
fn refuse(option: &Given) -> anyhow::Result<()> {
    if option.is_of_plugin() {
        return Ok(());
    }
    if option.name == "nodes" && option.value.as_deref().is_some_and(|nodes| nodes.trim().parse() == Ok(0)) {
        bail!("{}: a job without nodes is not forecast", named(option));
    }
    match effect(&option.name) {
        Effect::Refused(why) => Err(anyhow!("{why}")).with_context(|| named(option)),
        Effect::Ends => bail!("{}: sbatch prints something and submits nothing", named(option)),
        Effect::Counted | Effect::NotCounted(_) | Effect::Nothing => Ok(()),
    }
}

/// An option with the place where it was given, if that is not the command line.
fn named(option: &Given) -> String {
    match option.origin {
        Origin::CommandLine => format!("--{}", option.name),
        Origin::Environment(variable) => format!("{variable} in the environment"),
        Origin::Script(line) => format!("line {line} of the script: --{}", option.name),
    }
}

impl Job {
    /// Returns the job with other options of queuecast.
    pub(crate) fn asking(self, asked: UserOptions) -> Self {
        Self { asked, ..self }
    }

    /// The clusters that it may be sent to, where it names any.
    pub(super) fn clusters(&self) -> Option<&str> {
        match self.fields.field(FieldNumber::from(Name::Clusters)) {
            Some(Value::Text(clusters)) => Some(clusters),
            _ => None,
        }
    }

    /// The submission that the filter would see.
    pub(crate) fn submission(&self) -> Submission<'_> {
        submission_reader::submission(&self.fields, self.asked.clone())
    }
}
