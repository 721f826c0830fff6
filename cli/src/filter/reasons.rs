//! Why commands are not understood, counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sources::counted;
use crate::output::Lines;

/// The most reasons that are told apart.
const MOST: usize = 100;

/// The most that are shown to people.
const SHOWN: usize = 10;

/// A reason, and how many jobs it keeps from being understood.
#[derive(Debug, Serialize)]
pub(super) struct ReasonLine {
    reason: String,
    jobs: usize,
}

/// Reasons with the number of their jobs.
#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeMap<String, usize>);

impl Reasons {
    /// Notes the reason of a job.
    pub(super) fn note(&mut self, reason: String) {
        let is_told = self.0.contains_key(&reason) || self.0.len() < MOST;
        *self.0.entry(if is_told { reason } else { "other reasons".to_owned() }).or_default() += 1;
    }

    /// The reasons, those of most jobs first.
    pub(super) fn lines(self) -> Vec<ReasonLine> {
        let mut lines: Vec<ReasonLine> = self.0.into_iter().map(|(reason, jobs)| ReasonLine { reason, jobs }).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.jobs));
        lines
    }
}

/// Shows the most frequent reasons.
pub(super) fn show(reasons: &[ReasonLine], lines: &mut Lines) {
    if !reasons.is_empty() {
        lines.heading("Commands that are not understood");
        for ReasonLine { reason, jobs } in reasons.iter().take(SHOWN) {
            lines.plain(format!("{}: {reason}", counted(*jobs, "job")));
        }
    }
}
