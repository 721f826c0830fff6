//! What is told of the site's own rules.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use rules_compiler::counted::CountedRules;
use rules_compiler::in_force::{self, InForceError, LoadState};
use serde::Serialize;
use slurm_conf::state_directory::{RULE_COUNTERS, RULE_COUNTERS_ENVELOPE, RULES_OFF};

use crate::installation::Installation;

/// The site's own rules.
#[derive(Debug, Serialize)]
pub(super) struct RulesReport {
    /// How many are in force; `None` where that can't be read.
    pub(super) in_force: Option<usize>,
    /// Why it can't.
    pub(super) error: Option<String>,
    /// Whether they are switched off.
    pub(super) kill_switch: bool,
    /// The number that tells this set of rules from others.
    pub(super) number: Option<String>,
    /// When the rules came into force, in Unix seconds.
    pub(super) since: Option<i64>,
    /// Who put the rules in force.
    pub(super) by: Option<&'static str>,
    /// The files that the rules come from.
    pub(super) files: Vec<String>,
    /// Whether the files can't be used, so that the rules before stay in force.
    pub(super) broken: bool,
    /// When the files were last compiled.
    pub(super) compiled_at: Option<i64>,
    /// What is wrong with them.
    pub(super) errors: Vec<String>,
    /// What else there is to say of them.
    pub(super) warnings: Vec<String>,
    /// What each rule did; `None` where that is not known.
    pub(super) counted: Option<RulesCounted>,
    /// What rules can ask about users and jobs; `None` where there is nothing, or it is private.
    pub(super) data: Option<DataReport>,
}

/// What rules did.
#[derive(Debug, Serialize)]
pub(super) struct RulesCounted {
    /// Since when it was counted.
    pub(super) since: i64,
    /// The rules in their order.
    pub(super) rules: Vec<RuleCounted>,
}

/// What a rule did.
#[derive(Debug, Serialize)]
pub(super) struct RuleCounted {
    pub(super) name: String,
    /// The counts of the rule, by what is counted.
    #[serde(flatten)]
    pub(super) counts: BTreeMap<&'static str, u64>,
}

/// What is known of users and jobs.
#[derive(Debug, Serialize)]
pub(super) struct DataReport {
    /// When it was written.
    pub(super) written_at: i64,
    /// Users whose groups are known.
    pub(super) users: usize,
    /// Jobs that wait or run.
    pub(super) jobs: usize,
    /// Users and jobs that had no place in it.
    pub(super) left_out: u64,
}

impl RulesReport {
    /// What the state directory tells.
    pub(super) fn of(installation: &Installation) -> Self {
        let state = in_force::state(&installation.directory).ok().flatten();
        let (rules, error) = match in_force::read(&installation.directory) {
            Ok(rules) => (rules, None),
            Err(InForceError::File { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
                let reason = "they name users and accounts, which are private on this cluster: administrators see them";
                (None, Some(reason.to_owned()))
            }
            Err(error) => (None, Some(error.to_string())),
        };
        let number = rules.as_ref().map(|(_, number)| in_force::written(*number));
        let compiled_at = state.as_ref().map(|state| state.compiled_at);
        let LoadState { errors, warnings, in_force, .. } = state.unwrap_or_default();
        // What is told of others than those that are there says nothing about these.
        let told = in_force.filter(|told| Some(&told.number) == number.as_ref());
        Self {
            in_force: if error.is_some() { None } else { Some(rules.map_or(0, |(rules, _)| rules.rules.len())) },
            error,
            kill_switch: installation.directory.join(RULES_OFF).symlink_metadata().is_ok(),
            number,
            since: told.as_ref().map(|told| told.since),
            by: told.as_ref().map(|told| told.by.name()),
            files: told.map(|told| told.files).unwrap_or_default(),
            broken: !errors.is_empty(),
            compiled_at,
            errors,
            warnings,
            counted: counted(installation),
            data: data(installation),
        }
    }

    /// Whether there is nothing to tell: the site has no rules.
    pub(super) fn is_none(&self) -> bool {
        self.in_force == Some(0) && !self.broken && !self.kill_switch
    }
}

fn counted(installation: &Installation) -> Option<RulesCounted> {
    let path = installation.directory.join(RULE_COUNTERS);
    let counted = CountedRules::from_bytes(&RULE_COUNTERS_ENVELOPE.read(&path).ok()??)?;
    let rules = counted.rules.iter().map(|rule| RuleCounted { name: rule.name.clone(), counts: rule.named().collect() });
    Some(RulesCounted { since: counted.since, rules: rules.collect() })
}

fn data(installation: &Installation) -> Option<DataReport> {
    let file = installation.rules_data()?;
    let ((users, jobs), left_out) = (file.counts(), file.left_out());
    Some(DataReport { written_at: file.written_at().0, users, jobs, left_out: u64::from(left_out.users) + u64::from(left_out.jobs) })
}
