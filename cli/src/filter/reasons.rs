//! Why commands are not understood, counted.

use command_parts::output::Lines;
use job_types::text::is_obeyed;
use std::collections::BTreeMap;

use serde::Serialize;

use super::sources::counted;

/// The most reasons that are told apart.
const MOST: usize = 100;

/// The longest reason, in characters.
const LONGEST: usize = 160;

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
    /// Notes the reason of a job. It has words of the command in it, which are a user's: what would
    /// move a terminal's cursor is left out, and what is long is cut.
    pub(super) fn note(&mut self, reason: &str) {
        let reason: String = reason.chars().filter(|character| !is_obeyed(*character)).take(LONGEST).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_wrote_into_a_command_does_not_reach_the_terminal_as_it_is() {
        let mut reasons = Reasons::default();
        for _ in 0..2 {
            reasons.note(&format!("the option --\u{1b}[2J{} is not known", "x".repeat(500)));
        }
        let lines = reasons.lines();
        assert_eq!((lines.len(), lines[0].jobs, lines[0].reason.chars().count()), (1, 2, LONGEST));
        assert!(lines[0].reason.starts_with("the option --[2Jxxx"), "{}", lines[0].reason);
    }
}
