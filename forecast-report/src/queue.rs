//! The jobs that wait, with the starts that are expected of them.

use std::collections::BTreeMap;

use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::PlannedJob;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

use crate::age::note_on_age;

/// The queue as a snapshot has it, with its jobs told as `J`.
#[derive(Debug, Serialize)]
pub struct QueueReport<J> {
    /// The number of the snapshot.
    pub generation: u64,
    /// How old it is, in seconds.
    pub snapshot_age_s: i64,
    /// The cluster whose snapshot it is.
    pub cluster: String,
    /// As of when the queue was planned, in Unix seconds; `None` without a plan.
    pub plan_at: Option<i64>,
    /// Whether all jobs were placed.
    pub is_complete: Option<bool>,
    /// How many jobs wait, whoever's.
    pub pending_jobs: Option<u32>,
    /// The jobs, in the order in which they are served.
    pub jobs: Vec<J>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A job that waits; times are in Unix seconds.
#[derive(Debug, Serialize)]
pub struct WaitingJob {
    /// Its number; of an array that of the first task.
    pub job_id: JobId,
    /// Whose it is.
    pub user: UserId,
    /// The name of that user, where it is known.
    pub user_name: Option<String>,
    /// Its partition, or the first that it names.
    pub partition: String,
    /// How many nodes it asks for.
    pub nodes: u32,
    /// How many CPUs on all of them.
    pub cpus: u32,
    /// How many tasks of an array wait together.
    pub tasks: u32,
    /// Its time limit in seconds; `None` is unlimited.
    pub limit_s: Option<i64>,
    /// Its priority, as Slurm has it.
    pub priority: u32,
    /// When it is expected to start.
    pub expected_start: Option<i64>,
    /// When it starts if jobs end early.
    pub earliest_start: Option<i64>,
    /// When it starts if jobs run until their time limits.
    pub latest_start: Option<i64>,
    /// Why no start is expected.
    pub obstacle: Option<&'static str>,
    /// The same in words.
    #[serde(skip)]
    pub why: Option<String>,
}

impl<J> QueueReport<J> {
    /// The queue that a snapshot has, each of its jobs told by `told`, or left out. `privacy` is
    /// what is to be known of a snapshot without what is other users'.
    pub fn of(
        snapshot: &Snapshot<Vec<u8>>,
        now: UnixTime,
        privacy: Option<String>,
        user_name: impl Fn(UserId) -> Option<String>,
        told: impl Fn(WaitingJob) -> Option<J>,
    ) -> Self {
        let plan = snapshot.plan();
        let partitions: Vec<&str> = snapshot.partitions().map(|partition| partition.name).collect();
        let mut user_names = BTreeMap::new();
        let mut waiting = |job: PlannedJob| {
            let user_name = user_names.entry(job.user).or_insert_with(|| user_name(job.user)).clone();
            told(WaitingJob::of(&job, &partitions, user_name))
        };
        Self {
            generation: snapshot.generation(),
            snapshot_age_s: snapshot.age(now).0,
            cluster: snapshot.provenance().cluster.to_owned(),
            plan_at: plan.map(|plan| plan.at.0),
            is_complete: plan.map(|plan| plan.is_complete),
            pending_jobs: plan.map(|plan| plan.pending_jobs),
            jobs: plan.iter().flat_map(|plan| plan.jobs()).filter_map(&mut waiting).collect(),
            notes: notes(snapshot, now, privacy),
        }
    }
}

impl WaitingJob {
    fn of(job: &PlannedJob, partitions: &[&str], user_name: Option<String>) -> Self {
        let start = job.start.ok();
        Self {
            job_id: job.job,
            user: job.user,
            user_name,
            partition: partitions.get(usize::from(job.partition.0)).map_or_else(String::new, |name| (*name).to_owned()),
            nodes: job.size.nodes,
            cpus: job.size.cpus,
            tasks: job.tasks,
            limit_s: job.limit.map(|limit| limit.0),
            priority: job.priority,
            expected_start: start.map(|start| start.expected.0),
            earliest_start: start.map(|start| start.lower.0),
            latest_start: start.map(|start| start.upper.0),
            obstacle: job.start.err().map(|obstacle| obstacle.name()),
            why: job.start.err().map(|obstacle| obstacle.to_string()),
        }
    }

    /// The job's user as people know them.
    #[must_use]
    pub fn user(&self) -> String {
        self.user_name.clone().unwrap_or_else(|| self.user.to_string())
    }
}

/// What else is to be known.
fn notes(snapshot: &Snapshot<Vec<u8>>, now: UnixTime, privacy: Option<String>) -> Vec<String> {
    let has_all_users = privacy.is_none();
    let mut notes: Vec<String> = privacy.into_iter().chain(note_on_age(snapshot, now)).collect();
    let Some(plan) = snapshot.plan() else {
        notes.push(
            "the snapshot has no plan of the queue: slurmctld was not read, or planning took too long (see the log of queuecastd)"
                .to_owned(),
        );
        return notes;
    };
    let age = (now - plan.at).max(Seconds::ZERO);
    if age > snapshot.age(now) + Seconds::MINUTE {
        notes.push(format!("the queue was read {age} ago: does slurmctld answer?"));
    }
    if !plan.is_complete {
        notes.push("more jobs wait than are planned, so that starts may be later than they say".to_owned());
    }
    let told = plan.jobs().count();
    if has_all_users && told < plan.pending_jobs as usize {
        notes.push(format!("of {} jobs that wait, the snapshot has the first {told}", plan.pending_jobs));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use made_up_site::{MadeUpSite, NOW, batch, enforcing, free_cpus};

    #[test]
    fn jobs_that_are_not_shown_are_missed_only_where_they_may_be_seen() {
        let snapshot = MadeUpSite::new(NOW).partition(batch(enforcing())).queue(&free_cpus(NOW, vec![(NOW, 256)], 3)).snapshot();
        let notes = |privacy: Option<&str>| QueueReport::of(&snapshot, NOW, privacy.map(str::to_owned), |_| None, Some).notes;
        assert_eq!(notes(None), ["of 3 jobs that wait, the snapshot has the first 0"]);
        assert_eq!(notes(Some("others are private")), ["others are private"]);
    }

    #[test]
    fn without_a_plan_it_is_said_why_there_are_no_jobs() {
        let snapshot = MadeUpSite::new(NOW).partition(batch(enforcing())).snapshot();
        let queue = QueueReport::of(&snapshot, NOW, None, |_| None, Some);
        assert_eq!((queue.plan_at, queue.pending_jobs, queue.jobs.len()), (None, None, 0));
        assert!(queue.notes.iter().any(|note| note.contains("no plan of the queue")), "{:?}", queue.notes);
    }
}
