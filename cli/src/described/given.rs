//! What the options of sbatch mean for the forecast, option by option.

use std::collections::BTreeMap;

use rules_compiler::command_line::{Given, Origin};
use serde::Serialize;

use super::effect::{Effect, NotCounted, effect};
use super::job::Job;

/// An option of sbatch that holds for the job.
#[derive(Debug, Serialize)]
pub(crate) struct OptionReport {
    option: String,
    value: Option<String>,
    /// The place where the option was given: `script`, `environment` or `command line`.
    origin: &'static str,
    /// The line of the script, counted from 1; `None` if the option stands elsewhere.
    line: Option<usize>,
    variable: Option<&'static str>,
    /// What becomes of it: `counted`, `not counted` (in full), `no effect`, `queuecast` (an option
    /// of ours), or `not known` (one of another plugin).
    effect: &'static str,
}

/// Whether it is an option of queuecast's own plugin.
fn is_own(option: &Given) -> bool {
    option.is_of_plugin() && job_types::options::OPTIONS.iter().any(|own| own.name == option.name)
}

impl From<&Given> for OptionReport {
    fn from(given: &Given) -> Self {
        let (origin, line, variable) = match given.origin {
            Origin::Script(line) => ("script", Some(line), None),
            Origin::Environment(variable) => ("environment", None, Some(variable)),
            Origin::CommandLine => ("command line", None, None),
        };
        let effect = match effect(&given.name) {
            _ if is_own(given) => "queuecast",
            _ if given.is_of_plugin() => "not known",
            Effect::Counted => "counted",
            Effect::NotCounted(_) => "not counted",
            Effect::Nothing | Effect::Refused(_) | Effect::Ends => "no effect",
        };
        Self { option: given.name.clone(), value: given.value.clone(), origin, line, variable, effect }
    }
}

impl OptionReport {
    /// The options that hold for a job.
    pub(crate) fn all(job: &Job) -> Vec<Self> {
        job.given.iter().map(Self::from).collect()
    }

    /// What was read from the script and the environment, in a line for people; `None` where
    /// nothing was.
    pub(crate) fn text(options: &[Self]) -> Option<String> {
        let option = |option: &Self| {
            let place = match (option.line, option.variable) {
                (Some(line), _) => format!("line {line}"),
                (None, Some(variable)) => variable.to_owned(),
                (None, None) => return None,
            };
            let value = option.value.as_ref().map(|value| format!("={value}")).unwrap_or_default();
            Some(format!("--{}{value} ({place})", option.option))
        };
        let read: Vec<String> = options.iter().filter_map(option).collect();
        (!read.is_empty()).then(|| read.join(", "))
    }
}

/// The options that hold for a job and say what it needs, in words for another cluster's command.
pub(crate) fn for_other_clusters(job: &Job) -> Vec<String> {
    let is_of_this_host = |option: &&Given| option.is_of_plugin() || matches!(option.name.as_str(), "cluster" | "clusters" | "wrap");
    let says_needs = |option: &&Given| matches!(effect(&option.name), Effect::Counted | Effect::NotCounted(_));
    let word = |option: &Given| match &option.value {
        Some(value) => format!("--{}={value}", option.name),
        None => format!("--{}", option.name),
    };
    job.given.iter().filter(|option| !is_of_this_host(option) && says_needs(option)).map(word).collect()
}

/// What is to be known of options that the forecast does not count, or not in full.
pub(crate) fn remarks(job: &Job) -> Vec<String> {
    let mut not_counted: BTreeMap<NotCounted, Vec<String>> = BTreeMap::new();
    let (mut without_effect, mut foreign) = (Vec::new(), Vec::new());
    for option in job.given.iter().filter(|option| !is_own(option)) {
        let name = format!("--{}", option.name);
        match effect(&option.name) {
            _ if option.is_of_plugin() => foreign.push(name),
            Effect::NotCounted(what) => {
                let value = option.value.as_ref().map(|value| format!("={value}")).unwrap_or_default();
                not_counted.entry(what).or_default().push(name + &value);
            }
            Effect::Nothing => without_effect.push(name),
            Effect::Counted | Effect::Refused(_) | Effect::Ends => {}
        }
    }
    let verb = |names: &[String], one: &'static str, several: &'static str| if names.len() == 1 { one } else { several };
    let mut remarks: Vec<String> = not_counted.iter().map(|(what, options)| format!("{}: {}", options.join(", "), what.remark())).collect();
    if !foreign.is_empty() {
        let belongs = verb(&foreign, "is an option of another plugin: what it does is", "are options of other plugins: what they do is");
        remarks.push(format!("{} {belongs} not known here", foreign.join(", ")));
    }
    remarks.extend(job.unread_lines().map(|lines| lines.to_string()));
    if !job.behind_script.is_empty() {
        let stands =
            verb(&job.behind_script, "stands behind the script and is its argument", "stand behind the script and are its arguments");
        remarks.push(format!("{} {stands}; options of this command stand before it", job.behind_script.join(", ")));
    }
    if !without_effect.is_empty() {
        let changes = verb(&without_effect, "changes", "change");
        remarks.push(format!("{} {changes} nothing of the forecast", without_effect.join(", ")));
    }
    remarks
}

/// The options of queuecast in the script, of a command that has its own in their place.
pub(crate) fn passed_over(job: &Job) -> Option<String> {
    let own: Vec<String> = job.given.iter().filter(|option| is_own(option)).map(|option| format!("--{}", option.name)).collect();
    (!own.is_empty())
        .then(|| format!("{} of the script: not gone by here, where this command's own options say what is asked for", own.join(", ")))
}
