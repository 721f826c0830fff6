//! The report for people.

use command_parts::output::{BAD, GOOD, HEADING, Lines};

use super::report::{Check, CheckOutcome, Report};

/// Widths of the columns for outcome and name.
const OUTCOME_WIDTH: usize = 13;
const NAME_WIDTH: usize = 21;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("host", &report.host);
    lines.line("role", format!("{}: {}", report.role.name(), report.role_because));
    if let Some(version) = &report.checked_against {
        lines.line("against", format!("Slurm {version}"));
    }
    let mut subject = "";
    for check in &report.checks {
        if check.subject != subject {
            subject = &check.subject;
            lines.heading(subject);
        }
        one(&mut lines, check);
    }
    lines.plain("");
    lines.plain(summary(report));
    lines.text()
}

fn one(lines: &mut Lines, check: &Check) {
    let (word, style) = match check.outcome {
        CheckOutcome::Ok => ("ok", GOOD),
        CheckOutcome::NotChecked => ("not checked", anstyle::Style::new()),
        CheckOutcome::Warning => ("warning", HEADING),
        CheckOutcome::Failed => ("failed", BAD),
    };
    lines.plain(format!("{style}{word:<OUTCOME_WIDTH$}{style:#}{:<NAME_WIDTH$}{}", check.name, check.found));
    if let Some(advice) = &check.advice {
        lines.plain(format!("{:indent$}to do: {advice}", "", indent = OUTCOME_WIDTH + NAME_WIDTH));
    }
}

fn summary(report: &Report) -> String {
    let warnings = if report.warnings == 1 { "warning" } else { "warnings" };
    let not_checked = if report.not_checked > 0 { format!(", {} not checked", report.not_checked) } else { String::new() };
    format!("{} failed, {} {warnings}{not_checked}", report.failed, report.warnings)
}
