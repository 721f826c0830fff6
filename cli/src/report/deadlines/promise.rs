//! Jobs that were admitted with deadlines, from slurmdbd's records and from slurmctld's queue.

use std::collections::BTreeMap;

use job_types::job::Ending;
use job_types::number::{JobId, UserId};
use job_types::policy::Admission;
use job_types::promise::{Promise, PromiseState, PromisedDeadline};
use job_types::time::UnixTime;
use slurm_sys::client::EndedJobRecord;
use slurm_sys::client::controller::QueuedJob;

use crate::user;

/// A job that was admitted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AdmittedJob {
    pub(super) partition: String,
    pub(super) user: UserId,
    pub(super) user_name: Option<String>,
    given: PromisedDeadline,
    /// When and how its last run ended; `None` while it is in the queue.
    end: Option<(UnixTime, Ending)>,
}

impl AdmittedJob {
    /// What has become of its deadline.
    pub(super) fn state(&self, now: UnixTime) -> PromiseState {
        self.given.state(self.end, now)
    }

    /// The rule that admitted it.
    pub(super) fn rule(&self) -> Admission {
        self.given.by
    }

    /// The probability that was promised, where one was.
    pub(super) fn promised(&self) -> Option<f64> {
        self.given.promised()
    }

    /// Returns the job's user, by name if that is known.
    pub(super) fn user(&self) -> String {
        self.user_name.clone().unwrap_or_else(|| self.user.to_string())
    }
}

/// All that were found. A job that was requeued has several records and one promise.
#[derive(Debug, Default)]
pub(super) struct AdmittedJobs(BTreeMap<(JobId, UnixTime), AdmittedJob>);

impl AdmittedJobs {
    /// Takes one run of a job into account, if it was admitted. The last of several runs decides.
    pub(super) fn add_ended(&mut self, run: &EndedJobRecord<'_>, partition: &str) {
        let Some(given) = read(run.admin_comment.as_deref()) else { return };
        let Some(how) = run.state.ending() else { return };
        let end = (UnixTime(run.ended), how);
        let known = self.0.entry((run.job_id, given.given_at)).or_insert_with(|| AdmittedJob {
            partition: partition.to_owned(),
            user: run.user_id,
            user_name: run.user.as_deref().map(str::to_owned).or_else(|| user::name(run.user_id)),
            given,
            end: Some(end),
        });
        if known.end.is_none_or(|(before, _)| before <= end.0) {
            // What the daemon has changed since stands in the latest record.
            (known.given, known.end) = (given, Some(end));
        }
    }

    /// Takes a job of the queue into account, if it was admitted and has not ended. To be told
    /// after what has ended: a job that was requeued is in the queue again.
    pub(super) fn add_queued(&mut self, job: &QueuedJob, partition: &str) {
        if job.ended.is_some() || job.state.ending().is_some_and(|how| how != Ending::Interrupted) {
            return;
        }
        let Some(given) = read(job.admin_comment.as_deref()) else { return };
        let user_name = job.user.clone().or_else(|| user::name(job.user_id));
        let admitted = AdmittedJob { partition: partition.to_owned(), user: job.user_id, user_name, given, end: None };
        self.0.insert((job.job_id, given.given_at), admitted);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &AdmittedJob> {
        self.0.values()
    }
}

/// The deadline that a job was admitted with.
fn read(admin_comment: Option<&str>) -> Option<PromisedDeadline> {
    Promise::read(admin_comment?)?.deadline()
}

/// A job of a test.
#[cfg(test)]
pub(super) fn test_job(partition: &str, promised: f64, deadline: UnixTime, end: Option<(UnixTime, Ending)>) -> AdmittedJob {
    let given = PromisedDeadline {
        by: Admission::Probability,
        given_at: UnixTime(5),
        deadline,
        wanted: Some(0.9),
        probability: Some(promised),
        begin: None,
        shared_estimate: None,
        limit_is_ours: false,
        was_ended_as_late: false,
    };
    AdmittedJob { partition: partition.to_owned(), user: UserId(1), user_name: None, given, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::QosId;
    use slurm_sys::client::JobState;
    use std::borrow::Cow;

    const DEADLINE: i64 = 1_000_000;
    const LATER: UnixTime = UnixTime(2_000_000);

    fn comment(mode: &str) -> String {
        let written = format!(r#""written":{{"admitted_by":"probability","deadline":{DEADLINE},"wanted":0.9}}"#);
        let forecast = r#""forecast":{"wait_jobs":9,"run_s":60,"run_range_s":[60,60],"run_jobs":1,"deadline_probability":0.96}"#;
        format!(
            r#"{{"queuecast":{{"version":1,"generation":1,"at":5,"mode":"{mode}","asked":{{"nodes":4,"cpus":4,"deadline":{DEADLINE}}},{written},{forecast}}}}}"#
        )
    }

    fn run(comment: &str, ended: i64, state: JobState) -> EndedJobRecord<'_> {
        EndedJobRecord {
            job_id: JobId(7),
            array: None,
            user_id: UserId(1),
            user: Some(Cow::Borrowed("alice")),
            account: None,
            partition: None,
            qos_id: QosId(1),
            name: None,
            features: None,
            wckey: None,
            work_dir: None,
            submit_line: None,
            requested_cpus: 4,
            allocated_cpus: Some(4),
            requested_nodes: Some(4),
            allocated_nodes: 4,
            requested_memory_mebibytes: None,
            time_limit_seconds: Some(4_200),
            is_unlimited: false,
            submitted: Some(5),
            eligible: Some(5),
            started: Some(ended - 60),
            ended,
            suspended_seconds: 0,
            state,
            admin_comment: Some(Cow::Borrowed(comment)),
        }
    }

    fn states(mode: &str, runs: &[(i64, JobState)], now: UnixTime) -> Vec<PromiseState> {
        let comment = comment(mode);
        let mut found = AdmittedJobs::default();
        runs.iter().for_each(|(ended, state)| found.add_ended(&run(&comment, *ended, *state), "batch"));
        found.iter().map(|job| job.state(now)).collect()
    }

    #[test]
    fn of_a_requeued_job_the_last_run_decides_in_whatever_order_they_are_told() {
        let mut runs = [(DEADLINE - 600, JobState::NodeFailed), (DEADLINE - 60, JobState::Completed)];
        for _ in 0..2 {
            assert_eq!(states("enforce", &runs, LATER), [PromiseState::Kept]);
            runs.reverse();
        }
        let lost = [(DEADLINE - 600, JobState::NodeFailed)];
        assert_eq!(states("enforce", &lost, UnixTime(DEADLINE)), [PromiseState::Open]);
        assert_eq!(states("enforce", &lost, LATER), [PromiseState::Missed], "nobody ran it again");
    }

    #[test]
    fn what_was_only_advised_was_not_promised() {
        assert_eq!(states("advise", &[(DEADLINE, JobState::Completed)], LATER), []);
    }
}
