//! What commands have in common that try rules on jobs of the past.

use anyhow::anyhow;
use command_parts::failure::Failure;
use command_parts::output::{self, Lines};
use serde::Serialize;
use site_rules::rules::RuleSet;
use slurm_sys::client::AccountingConnection;

use super::recorded::RecordedJob;
use super::sources::{Sources, problem_lines};
use crate::report::past::{Past, PastArguments};

/// Which job a line is about.
#[derive(Debug, Default, Serialize)]
pub(super) struct AboutJob {
    pub(super) job_id: Option<u32>,
    pub(super) user: Option<String>,
    pub(super) partition: Option<String>,
    pub(super) submitted: Option<i64>,
}

impl From<&RecordedJob> for AboutJob {
    fn from(job: &RecordedJob) -> Self {
        Self { job_id: Some(job.id.0), user: job.user.clone(), partition: job.partition.clone(), submitted: job.submitted.map(|at| at.0) }
    }
}

impl AboutJob {
    /// The name of its user, for people.
    pub(super) fn user_name(&self) -> &str {
        self.user.as_deref().unwrap_or("unknown user")
    }
}

/// Adds a line, or counts it among those that are left out where so many are shown already.
pub(super) fn show<L>(line: L, shown: &mut Vec<L>, most: usize, left_out: &mut usize) {
    if shown.len() < most {
        shown.push(line);
    } else {
        *left_out += 1;
    }
}

/// Says how many are left out.
pub(super) fn say_left_out(left_out: usize, lines: &mut Lines) {
    if left_out > 0 {
        lines.plain(format!("and {} more; --jobs says how many are shown", output::count(left_out as u64)));
    }
}

/// The compiled rules.
///
/// # Errors
/// What is wrong with them.
pub(super) fn rules_of(sources: Sources) -> Result<RuleSet, Failure> {
    let problems = sources.problems();
    sources.compiled.rules.ok_or_else(|| Failure::No(anyhow!("the rules have errors:\n{}", problem_lines(&problems).trim_end())))
}

/// Tells each job that has ended in a stretch of the past, as slurmdbd has recorded it.
///
/// # Errors
/// Where slurmdbd does not answer.
pub(super) fn recorded_jobs(
    arguments: &PastArguments,
    cluster: &str,
    past: Past,
    mut tell: impl FnMut(&RecordedJob),
) -> anyhow::Result<()> {
    let qos = AccountingConnection::open()?.qos_names()?;
    arguments.read(cluster, past, |record, _| tell(&RecordedJob::of(record, &qos)))
}
