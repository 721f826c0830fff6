//! What was checked, and what came of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::role::Role;

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckOutcome {
    /// The part is as it should be.
    Ok,
    /// The part could not be looked at; the reason is what was found.
    NotChecked,
    /// It works, or will not be missed now, but somebody should look at it.
    Warning,
    /// It does not work, or will not after the next restart.
    Failed,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    /// The part of the installation that it is about, under which reports list it.
    pub(super) subject: String,
    /// What was checked.
    pub(super) name: String,
    /// The outcome of the check.
    pub(super) outcome: CheckOutcome,
    /// What was found, or why nothing could be.
    pub(super) found: String,
    /// What to do about it; none where all is well.
    pub(super) advice: Option<String>,
}

/// The checks of one subject, in the order in which they were made.
#[derive(Debug)]
pub(super) struct Checks {
    subject: &'static str,
    list: Vec<Check>,
}

impl Checks {
    /// An empty list of checks of one subject.
    pub(super) fn of(subject: &'static str) -> Self {
        Self { subject, list: Vec::new() }
    }

    /// Adds a check that found all as it should be.
    pub(super) fn ok(&mut self, name: &str, found: impl Into<String>) {
        self.add(name, CheckOutcome::Ok, found.into(), None);
    }

    /// Adds a check that found something that somebody should look at.
    pub(super) fn warning(&mut self, name: &str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(name, CheckOutcome::Warning, found.into(), Some(advice.into()));
    }

    /// Adds a check that found something that does not work.
    pub(super) fn failed(&mut self, name: &str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(name, CheckOutcome::Failed, found.into(), Some(advice.into()));
    }

    /// Adds a check that could not be made.
    pub(super) fn not_checked(&mut self, name: &str, reason: impl Into<String>) {
        self.add(name, CheckOutcome::NotChecked, reason.into(), None);
    }

    /// A check whose outcome is known only now.
    pub(super) fn add(&mut self, name: &str, outcome: CheckOutcome, found: String, advice: Option<String>) {
        self.list.push(Check { subject: self.subject.to_owned(), name: name.to_owned(), outcome, found, advice });
    }

    /// The checks, in the order in which they were added.
    pub(super) fn into_list(self) -> Vec<Check> {
        self.list
    }
}

/// A configuration file of this host, by what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConfigurationFile {
    /// The usual name of the file.
    pub(super) name: String,
    /// The path of the file on this host.
    pub(super) path: PathBuf,
    /// XXH3-64 of the text of the file and of what it includes, in hexadecimal digits.
    pub(super) hash: String,
}

/// What a node answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NodeReport {
    /// The name of the node.
    pub(super) node: String,
    /// The checks of the node that were not well; none if it did not answer.
    pub(super) checks: Vec<Check>,
}

/// The whole report.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) role: Role,
    pub(super) role_because: String,
    pub(super) host: String,
    pub(super) built_for: String,
    pub(super) checked_against: Option<String>,
    pub(super) failed: usize,
    pub(super) warnings: usize,
    pub(super) not_checked: usize,
    pub(super) checks: Vec<Check>,
    pub(super) files: Vec<ConfigurationFile>,
    pub(super) nodes: Vec<NodeReport>,
}

impl Report {
    /// Takes the checks in, and counts them.
    pub(super) fn take(&mut self, checks: Checks) {
        for check in checks.into_list() {
            match check.outcome {
                CheckOutcome::Ok => {}
                CheckOutcome::NotChecked => self.not_checked += 1,
                CheckOutcome::Warning => self.warnings += 1,
                CheckOutcome::Failed => self.failed += 1,
            }
            self.checks.push(check);
        }
    }
}
