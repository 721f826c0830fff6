//! The job that is told of.

use job_types::number::UserId;
use job_types::size::Unit;
use predictor_core::decisions::{DecisionInputs, Submission};
use serde::Serialize;

use crate::situation::Situation;

/// The job as it would be submitted.
#[derive(Debug, Serialize)]
pub struct JobReport {
    /// Its user.
    pub user: UserId,
    /// The name of the user, where it is known.
    pub user_name: Option<String>,
    /// Its partition, or several separated by commas.
    pub partition: String,
    /// How many nodes.
    pub nodes: u32,
    /// CPUs on all of them.
    pub cpus: u32,
    /// How many tasks, where that is known.
    pub tasks: Option<u32>,
    /// Its time limit in seconds; `None` is unlimited.
    pub limit_s: Option<i64>,
    /// When it may begin, in Unix seconds.
    pub begin: Option<i64>,
    /// When it must have ended, in Unix seconds.
    pub deadline: Option<i64>,
    /// The reserved time that it asks for, in Unix seconds.
    pub reserve_at: Option<i64>,
    /// Begin and end of the window for a firm slot, in Unix seconds.
    pub reserve_window: Option<[i64; 2]>,
}

impl JobReport {
    /// The job as it is written, of a user with that name.
    #[must_use]
    pub fn of(situation: &Situation<'_>, user_name: Option<String>) -> Self {
        let DecisionInputs { submission, partition, .. } = situation;
        let size = submission.size(partition);
        Self {
            user: submission.user,
            user_name,
            partition: submission.partition.map_or_else(|| partition.name.to_owned(), str::to_owned),
            nodes: size.nodes,
            cpus: size.cpus,
            tasks: submission.tasks.or_else(|| tasks_on_nodes(submission)),
            limit_s: submission.limit_in(partition).map(|limit| limit.0),
            begin: submission.begin.map(|begin| begin.0),
            deadline: submission.deadline.map(|deadline| deadline.0),
            reserve_at: submission.asked.reserve_at,
            reserve_window: submission.asked.reserve_window.map(|window| [window.earliest.0, window.latest.0]),
        }
    }

    /// Returns the unit in which the user counts the job ([`Submission::unit`]), and how many the
    /// job has.
    pub(crate) fn counts_in(situation: &Situation<'_>) -> (Unit, u32) {
        let unit = situation.submission.unit();
        (unit, situation.submission.size(&situation.partition).count(unit))
    }
}

/// The tasks of a job that gives a fixed number of nodes and the tasks on each of them. From 23.02
/// on sbatch leaves it to slurmctld to count them.
fn tasks_on_nodes(submission: &Submission<'_>) -> Option<u32> {
    let nodes = submission.nodes.filter(|nodes| nodes.least == nodes.most)?;
    Some(nodes.least.saturating_mul(submission.tasks_per_node?))
}
