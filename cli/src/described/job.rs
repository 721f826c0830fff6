//! The job that is described by options, by a script and by the environment, as sbatch would submit
//! it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;

use anyhow::{Context, anyhow, bail};
use jiff::tz::TimeZone;
use job_types::number::UserId;
use job_types::options::UserOptions;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{FixedSizeReason, NodeRange, Placement, StartBlocker, Submission, TimeLimit};
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
    user: UserId,
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
        let job = Job { user, user_name, fields, given, asked, behind_script: self.options_behind_script() };
        let View { deadline, begin, .. } = job.view();
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

/// What the decisions see of a job's fields.
struct View<'a> {
    job: &'a DescribedJob,
    begin: Option<UnixTime>,
    deadline: Option<UnixTime>,
}

impl<'a> View<'a> {
    fn value(&self, name: Name) -> Option<Value<'a>> {
        self.job.field(FieldNumber::from(name))
    }

    fn text(&self, name: Name) -> Option<&'a str> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, name: Name) -> Option<u32> {
        match self.value(name) {
            Some(Value::Integer(number)) => u32::try_from(number).ok(),
            _ => None,
        }
    }

    fn span(&self, name: Name) -> Option<Seconds> {
        match self.value(name) {
            Some(Value::Duration(seconds)) => Some(seconds),
            _ => None,
        }
    }

    fn is(&self, name: Name) -> bool {
        matches!(self.value(name), Some(Value::Truth(true)))
    }

    fn has(&self, name: Name) -> bool {
        self.value(name).is_some()
    }

    fn limit(&self) -> TimeLimit {
        match self.span(Name::TimeLimit) {
            Some(limit) => TimeLimit::Limited(limit),
            None if self.is(Name::TimeLimitIsUnlimited) => TimeLimit::Unlimited,
            None => TimeLimit::Unset,
        }
    }

    fn nodes(&self) -> Option<NodeRange> {
        let least = self.number(Name::MinNodes)?;
        Some(NodeRange { least, most: self.number(Name::MaxNodes).unwrap_or(least).max(least) })
    }

    /// Tasks, as the releases before 23.02 send them for a fixed number of nodes as well.
    fn tasks(&self) -> Option<u32> {
        self.number(Name::NumTasks).or_else(|| {
            let nodes = self.nodes().filter(|nodes| nodes.least == nodes.most)?;
            Some(nodes.least.saturating_mul(self.number(Name::NtasksPerNode)?))
        })
    }

    fn keeps_from_starting(&self, obstacle: StartBlocker) -> bool {
        match obstacle {
            StartBlocker::Reservation => self.has(Name::Reservation),
            StartBlocker::Dependency => self.has(Name::Dependency),
            StartBlocker::Held => self.is(Name::IsHeld),
        }
    }

    fn is_placed_by(&self, placement: Placement) -> bool {
        match placement {
            Placement::Features => self.has(Name::Features) || self.has(Name::ClusterFeatures),
            Placement::ExcludedNodes => self.has(Name::ExcNodes),
            Placement::GenericResources => [Name::TresPerNode, Name::TresPerSocket, Name::TresPerTask].into_iter().any(|name| {
                let Some(Value::Resources(list)) = self.value(name) else { return false };
                list.0.split(',').any(|entry| !entry.is_empty() && !matches!(entry.split_once([':', '=']), Some(("cpu", _))))
            }),
            Placement::Memory => {
                [Name::MemoryPerNode, Name::MemoryPerCpu, Name::MemPerTres].into_iter().any(|name| self.has(name))
                    || self.is(Name::MemIsZero)
            }
            Placement::NodeShape => {
                let shapes = [Name::SocketsPerNode, Name::CoresPerSocket, Name::ThreadsPerCore, Name::PnMinTmpDisk, Name::ReqSwitch];
                let of_task = self.number(Name::CpusPerTask).unwrap_or(1);
                shapes.into_iter().any(|name| self.has(name))
                    || self.is(Name::Contiguous)
                    || self.number(Name::PnMinCpus).is_some_and(|cpus| cpus > of_task)
            }
        }
    }

    fn is_tied_by(&self, tie: FixedSizeReason) -> bool {
        match tie {
            // Their components are refused before, and sbatch submits batch jobs alone.
            FixedSizeReason::Heterogeneous | FixedSizeReason::Interactive => false,
            FixedSizeReason::NodeList => self.has(Name::ReqNodes),
            FixedSizeReason::Reservation => self.has(Name::Reservation),
            FixedSizeReason::Licences => self.has(Name::Licenses),
            FixedSizeReason::GenericResourcesPerJob => self.has(Name::TresPerJob),
            FixedSizeReason::CountedFeatures => self.text(Name::Features).is_some_and(|features| features.contains('*')),
            FixedSizeReason::MostCpus => self.has(Name::MaxCpus),
            FixedSizeReason::SeveralPartitions => self.text(Name::Partition).is_some_and(|names| names.contains(',')),
        }
    }
}

impl Job {
    /// The same job, asking for something else of queuecast.
    pub(crate) fn asking(self, asked: UserOptions) -> Self {
        Self { asked, ..self }
    }

    fn view(&self) -> View<'_> {
        let moment = |name: Name| match self.fields.field(FieldNumber::from(name)) {
            Some(Value::Moment(moment)) => Some(moment),
            _ => None,
        };
        View { job: &self.fields, begin: moment(Name::BeginTime), deadline: moment(Name::Deadline) }
    }

    /// The clusters that it may be sent to, where it names any.
    pub(super) fn clusters(&self) -> Option<&str> {
        self.view().text(Name::Clusters)
    }

    /// The submission that the filter would see.
    pub(crate) fn submission(&self) -> Submission<'_> {
        let view = self.view();
        Submission {
            user: self.user,
            partition: view.text(Name::Partition),
            account: view.text(Name::Account),
            qos: view.text(Name::Qos),
            nodes: view.nodes(),
            tasks: view.tasks(),
            tasks_per_node: view.number(Name::NtasksPerNode),
            cpus_per_task: view.number(Name::CpusPerTask),
            min_cpus: view.number(Name::MinCpus),
            whole_nodes: view.is(Name::Exclusive),
            limit: view.limit(),
            shortest_limit: view.span(Name::TimeMin),
            begin: view.begin,
            deadline: view.deadline,
            is_array: view.is(Name::IsArray),
            is_immediate: false,
            is_interactive: false,
            chooses_clusters: view.has(Name::ClusterFeatures),
            obstacle: StartBlocker::first(|obstacle| view.keeps_from_starting(obstacle)),
            placement: Placement::first(|placement| view.is_placed_by(placement)),
            tie: FixedSizeReason::first(|tie| view.is_tied_by(tie)),
            asked: self.asked.clone(),
        }
    }
}
