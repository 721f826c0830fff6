//! A job that is described on the command line: what it would be as a submission, and what the
//! submit filter would do with it.

pub(crate) mod arguments;
pub(crate) mod effect;
pub(crate) mod filter;
pub(crate) mod given;
pub(crate) mod job;
mod plugins;
mod script;
mod standard_input;
pub(crate) mod trajectory;

use anyhow::{anyhow, bail};
use command_parts::output::count;
use job_types::number::UserId;
use job_types::options::Mode;
use job_types::policy::Admission;
use job_types::record::WaitSource;
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Bounds, DecisionInputs, Submission, Timeliness, mode_of};
use predictor_core::forecasts::forecast::{Claimed, JobShape, WaitForecaster};
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

use crate::installation::ahead;

/// The job as it would be submitted.
#[derive(Debug, Serialize)]
pub(crate) struct JobReport {
    pub(crate) user: UserId,
    pub(crate) user_name: Option<String>,
    pub(crate) partition: String,
    pub(crate) nodes: u32,
    pub(crate) cpus: u32,
    pub(crate) tasks: Option<u32>,
    pub(crate) limit_s: Option<i64>,
    pub(crate) begin: Option<i64>,
    pub(crate) deadline: Option<i64>,
    pub(crate) reserve_at: Option<i64>,
    /// Begin and end of the window for a firm slot, in Unix seconds.
    pub(crate) reserve_window: Option<[i64; 2]>,
}

impl JobReport {
    pub(crate) fn of(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>, user_name: Option<String>) -> Self {
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

    /// The job in a line for people.
    pub(crate) fn text(&self) -> String {
        let plural = |number: u32, unit: Unit| format!("{} {}", count(number.into()), unit.word(number));
        let mut text = format!("{}, {}", plural(self.nodes, Unit::Nodes), plural(self.cpus, Unit::Cpus));
        if let Some(tasks) = self.tasks {
            text.push_str(&format!(", {} {}", count(tasks.into()), if tasks == 1 { "task" } else { "tasks" }));
        }
        let limit = self.limit_s.map_or("no time limit".to_owned(), |limit| format!("time limit {}", Seconds(limit)));
        let user = self.user_name.as_ref().map_or_else(|| self.user.to_string(), |name| format!("{name} ({})", self.user));
        text.push_str(&format!(" in {}, {limit}, user {user}", self.partition));
        text
    }

    /// Returns the unit in which the user counts the job ([`Submission::unit`]), and how many the
    /// job has.
    pub(crate) fn counts_in(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>) -> (Unit, u32) {
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

/// Refuses a job that is meant for other clusters than the one whose snapshot this is.
pub(crate) fn check_clusters(job: &job::Job, snapshot: &Snapshot<Vec<u8>>) -> anyhow::Result<()> {
    let own = snapshot.provenance().cluster;
    match job.clusters() {
        None => Ok(()),
        Some(named) if named == own => Ok(()),
        Some(named) if named.contains(',') || named.eq_ignore_ascii_case("all") => {
            bail!("--clusters: sbatch chooses one of {named}; name one, whose forecast it is to be (this snapshot is of {own})")
        }
        Some(named) => {
            bail!("--clusters: this snapshot is of cluster {own}; name the state directory of {named} with --state-directory")
        }
    }
}

/// What the filter would decide about a submission from, if nothing was decided about since the
/// snapshot was made.
///
/// # Errors
/// The snapshot has no such partition; those that it has are named.
pub(crate) fn situation<'a>(
    snapshot: &'a Snapshot<Vec<u8>>,
    submission: &'a Submission<'a>,
    now: UnixTime,
) -> anyhow::Result<DecisionInputs<'a, Snapshot<Vec<u8>>>> {
    let (partition, policy) = submission.governed_by(snapshot).ok_or_else(|| {
        let known = snapshot.partitions().map(|partition| partition.name.to_owned()).collect::<Vec<_>>().join(", ");
        match submission.partitions().next() {
            None => anyhow!("no default partition; name one with --partition: {known}"),
            Some(name) => anyhow!("no partition {name:?} in the snapshot; there are: {known}"),
        }
    })?;
    let bounds = Bounds::of(submission, &partition, snapshot);
    Ok(DecisionInputs { forecasts: snapshot, partition, policy, submission, bounds, now, claimed: Claimed::default() })
}

/// What else is to be known.
pub(crate) fn notes(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>) -> Vec<String> {
    let DecisionInputs { submission, partition, policy, forecasts: snapshot, now, .. } = situation;
    let mut notes = Vec::new();
    match snapshot.score(partition.index) {
        Some(score) if score.source == WaitSource::Qbets => {
            notes.push(format!("waits are forecast from past jobs of like class alone: {}", score.reason));
        }
        Some(score) if score.source == WaitSource::Nothing => notes.push(format!("no waits are forecast here: {}", score.reason)),
        _ => {}
    }
    match snapshot.timeliness(*now) {
        Timeliness::Current => {}
        Timeliness::TooOld => {
            notes.push(format!("the snapshot is {} old, and the filter does not use it any more", snapshot.age(*now)));
        }
        Timeliness::Ahead => notes.push(ahead(snapshot, *now)),
    }
    let size = submission.size(partition);
    if partition.cpus == 0 {
        notes.push(format!("slurmctld knows no partition {} any more", partition.name));
    } else if size.nodes > partition.nodes || size.cpus > partition.cpus {
        notes.push(format!("the job is larger than the partition, which has {} nodes and {} CPUs", partition.nodes, partition.cpus));
    }
    let limit = submission.limit_in(partition);
    if let Some(longest) = partition.max_time.filter(|longest| limit.is_none_or(|limit| limit > *longest)) {
        notes.push(format!("the time limit is longer than the partition's longest, {longest}"));
    }
    // For a job that is admitted, the field is taken out.
    let is_slurms = policy.admission == Admission::Off || mode_of(&submission.asked, policy) < Mode::Enforce;
    let earliest = submission.begin.map_or(*now, |begin| begin.max(*now));
    if let Some((deadline, limit)) = submission.deadline.zip(limit)
        && earliest + limit > deadline
        && is_slurms
    {
        // src/slurmctld/job_mgr.c, deadline_ok.
        notes.push("the earliest begin plus the time limit lies beyond the deadline, so sbatch would refuse the job".to_owned());
    }
    notes
}

/// The job at a size, with a limit.
pub(crate) fn shape_of(situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>, size: Size, limit: Option<Seconds>) -> JobShape {
    let DecisionInputs { submission, partition, forecasts: snapshot, .. } = situation;
    let association = snapshot.association(submission.user, submission.account, submission.qos);
    JobShape { user: submission.user, association, partition: partition.index, size, limit }
}
