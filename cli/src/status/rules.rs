//! What is told of the site's own rules.

use rules_compiler::in_force::{self, LoadState};
use serde::Serialize;
use slurm_conf::state_directory::RULES_OFF;

use crate::place::Place;

/// The site's own rules.
#[derive(Debug, Serialize)]
pub(super) struct RulesReport {
    /// How many are in force; `None` where that can't be read.
    pub(super) in_force: Option<usize>,
    /// Why it can't.
    pub(super) error: Option<String>,
    /// Whether they are switched off.
    pub(super) kill_switch: bool,
    /// By which they are told from others.
    pub(super) number: Option<String>,
    /// Since when.
    pub(super) since: Option<i64>,
    /// Who put them there.
    pub(super) by: Option<&'static str>,
    /// The files that they come from.
    pub(super) files: Vec<String>,
    /// Whether the files can't be used, so that the rules before stay in force.
    pub(super) broken: bool,
    /// When the files were last compiled.
    pub(super) compiled_at: Option<i64>,
    /// What is wrong with them.
    pub(super) errors: Vec<String>,
    /// What else there is to say of them.
    pub(super) warnings: Vec<String>,
}

impl RulesReport {
    /// What the state directory tells.
    pub(super) fn of(place: &Place) -> Self {
        let state = in_force::state(&place.directory).ok().flatten();
        let (rules, error) = match in_force::read(&place.directory) {
            Ok(rules) => (rules, None),
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
            kill_switch: place.directory.join(RULES_OFF).symlink_metadata().is_ok(),
            number,
            since: told.as_ref().map(|told| told.since),
            by: told.as_ref().map(|told| told.by.name()),
            files: told.map(|told| told.files).unwrap_or_default(),
            broken: !errors.is_empty(),
            compiled_at,
            errors,
            warnings,
        }
    }

    /// Whether there is nothing to tell: the site has no rules.
    pub(super) fn is_none(&self) -> bool {
        self.in_force == Some(0) && !self.broken && !self.kill_switch
    }
}
