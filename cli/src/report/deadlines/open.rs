//! The admitted jobs in the queue, and when they are expected to be done.

use forecast_report::note_on_age;
use std::collections::BTreeMap;

use command_parts::output::duration;
use job_types::number::{JobId, UserId};
use job_types::promise::Promise;
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use serde::Serialize;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

use crate::expected;
use crate::installation::Installation;
use crate::user;

/// A job of the queue that was admitted with a deadline.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct OpenJob {
    job_id: JobId,
    user: UserId,
    user_name: Option<String>,
    pub(super) partition: String,
    rule: &'static str,
    pub(super) deadline: i64,
    pub(super) state: &'static str,
    pub(super) promised: Option<f64>,
    started: Option<i64>,
    pub(super) expected_end: Option<i64>,
    latest_end: Option<i64>,
    pub(super) late_s: Option<i64>,
}

impl OpenJob {
    /// Reports on a job that was admitted and has not ended. A waiting job is expected to start
    /// when the plan of the queue says, and to run for as long as was forecast when it was
    /// submitted.
    fn of(job: &QueuedJob, partition: &str, expected_starts: &BTreeMap<JobId, i64>, now: UnixTime) -> Option<Self> {
        let state = match job.state {
            JobState::Pending | JobState::Requeued => "waiting",
            JobState::Running | JobState::Suspended | JobState::Completing => "running",
            _ => return None,
        };
        let record = Record::parse(job.admin_comment.as_deref()?)?;
        let given = Promise::standing(&record)?.deadline()?;
        let started = job.started.filter(|_| state == "running");
        let start = started.or_else(|| expected_starts.get(&job.job_id).copied());
        let run = record.forecast.as_ref().map(|forecast| Seconds(forecast.run_s.saturating_add(job.suspended_seconds)));
        let expected_end = start.zip(run).map(|(start, run)| expected::end(UnixTime(start), run, now).0);
        Some(Self {
            job_id: job.job_id,
            user: job.user_id,
            user_name: job.user.clone().or_else(|| user::name(job.user_id)),
            partition: partition.to_owned(),
            rule: given.by.as_str(),
            deadline: given.deadline.0,
            state,
            promised: given.promised(),
            started,
            expected_end,
            latest_end: start.zip(job.time_limit_seconds).map(|(start, limit)| start.saturating_add(limit)),
            late_s: expected_end.map(|end| end - given.deadline.0).filter(|late| *late > 0),
        })
    }

    /// Returns the number and the user of the job, for people.
    pub(super) fn job_and_user(&self) -> [String; 2] {
        [self.job_id.to_string(), self.user_name.clone().unwrap_or_else(|| self.user.to_string())]
    }

    /// Returns when the job's time limit ends it, for people; the job may be suspended.
    pub(super) fn latest_end(&self) -> Option<UnixTime> {
        self.latest_end.map(UnixTime)
    }
}

/// Returns the admitted jobs in the queue, the next to fall due first.
pub(super) fn open_jobs(
    queued: &[(&QueuedJob, &str)],
    installation: &Installation,
    now: UnixTime,
    notes: &mut Vec<String>,
) -> Vec<OpenJob> {
    let snapshot = installation.snapshot();
    notes.extend(installation.privacy_note());
    match &snapshot {
        Err(error) => notes.push(format!("when waiting jobs start is not known: {error}")),
        Ok(snapshot) => notes.extend(note_on_age(snapshot, now)),
    }
    let starts = expected::starts(snapshot.as_ref().ok());
    let mut jobs: Vec<OpenJob> = queued.iter().filter_map(|(job, partition)| OpenJob::of(job, partition, &starts, now)).collect();
    jobs.sort_by_key(|job| (job.deadline, job.job_id));
    jobs
}

/// How far a moment is, in words.
pub(super) fn distance(at: UnixTime, now: UnixTime) -> String {
    if at > now { format!("in {}", duration(at - now)) } else { format!("{} ago", duration((now - at).max(Seconds::ZERO))) }
}
