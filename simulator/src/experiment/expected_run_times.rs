//! What is known of run times, what jobs that run and wait are expected to run for that, and the
//! plan of the queue that follows.

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, UserId};

use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use learning::RunTimeLearner;
use learning::run_times::ArrivingJob;
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeQuestion, point};
use queue_plan::{Assumption, Pass};

use super::queue_state::{Expected, QueuedJob, pending_job, queue_of, state_of};
use crate::engine::{Cluster, Job, JobIndex, Record};

/// Forecasts of run times as the daemon publishes them, and a plan of the queue made with them.
pub(super) struct ExpectedRunTimes {
    learner: RunTimeLearner,
    /// By job: what is expected of it.
    expected: Vec<Expected>,
}

impl ExpectedRunTimes {
    /// Before anything is known, for a workload of so many jobs.
    pub(super) fn new(jobs: usize) -> Self {
        Self { learner: RunTimeLearner::new(&[Unit::Cpus]), expected: vec![Expected::default(); jobs] }
    }

    /// Publishes what was learnt since the last time.
    pub(super) fn publish(&mut self) {
        self.learner.fit(usize::MAX);
    }

    /// What was published.
    pub(super) fn published(&self) -> &RunTimeLearner {
        &self.learner
    }

    /// How long a job that was submitted is expected to run.
    pub(super) fn of_job(&self, index: JobIndex) -> Option<Seconds> {
        self.expected.get(index as usize).map(|expected| expected.run_time)
    }

    /// How long a job would be expected to run that was submitted now; `None` without a forecast.
    pub(super) fn of_coming(&self, job: &Job) -> Option<Seconds> {
        Some(point(&self.forecast(&question(job))?.within(Some(job.estimate))))
    }

    /// The forecast of a job's run time from what was published.
    pub(super) fn forecast(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
        self.learner.forecast(asked)
    }

    /// The sizes of a user that something was published of, ascending.
    pub(super) fn sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_ {
        self.learner.sizes(user, partition, unit)
    }

    /// A job is submitted. Without a decision about it, it is expected to run as is forecast,
    /// or else to its limit.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, decided: Option<Seconds>) {
        let limit = job.estimate;
        let expected = decided.or_else(|| self.of_coming(job)).unwrap_or(limit);
        self.learner.arrived(index, &waiting_job(job, job.submit));
        if let Some(place) = self.expected.get_mut(index as usize) {
            let limit = limit.max(Seconds(1));
            *place = Expected { run_time: expected.clamp(Seconds(1), limit), limit };
        }
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        let past = EndedJob {
            submitted: waiting_job(job, record.eligible),
            allocated: None,
            start: Some(record.start),
            end: record.end,
            suspended: record.held,
        };
        self.learner.ended(index, &past);
    }

    /// Free processors over time if jobs run as long as expected and each that waits starts as soon
    /// as there is room, in the order of the queue; those that become eligible later come last.
    pub(super) fn plan(&self, cluster: &Cluster) -> Vec<(UnixTime, i64)> {
        self.plan_of(cluster, &queue_of(cluster), |_, _| {})
    }

    /// The same of a queue in another order; `planned` is told when each of its jobs is to start.
    ///
    /// The daemon's own plan of one pool of processors, of which a replay, which plans anew every
    /// thirty seconds of months, asks for the pass with expected run times alone.
    pub(super) fn plan_of(
        &self,
        cluster: &Cluster,
        queue: &[QueuedJob],
        mut planned: impl FnMut(&QueuedJob, UnixTime),
    ) -> Vec<(UnixTime, i64)> {
        let state = state_of(cluster, queue, |job| self.expected.get(job as usize).copied().unwrap_or_default());
        let pass = Pass::of_state(&state, Assumption::Expected);
        for (index, start) in &pass.starts {
            if let (Some(job), Ok(start)) = (queue.get(*index), start) {
                planned(job, *start);
            }
        }
        pass.published_free(0).into_iter().map(|(at, free)| (at, free.cpus)).collect()
    }

    /// The queue with jobs to come: like those that were submitted within the last day, of which
    /// `submitted` says when, which and how large.
    pub(super) fn with_coming(&self, cluster: &Cluster, submitted: impl Iterator<Item = (UnixTime, JobIndex, u32)>) -> queue_plan::State {
        let expected = |job: JobIndex| self.expected.get(job as usize).copied().unwrap_or_default();
        let past = submitted.map(|(at, job, processors)| pending_job(at, processors, expected(job).run_time));
        state_of(cluster, &queue_of(cluster), expected).with_coming(past)
    }
}

/// What is asked of the run time of a job as it is written.
pub(super) fn question(job: &Job) -> RunTimeQuestion {
    let (user, partition, count) = (job.user, job.partition_index(), job.processors);
    RunTimeQuestion { user, partition, unit: Unit::Cpus, count, limit: Some(job.estimate) }
}

/// A job as the forecasts of run times see it.
pub(super) fn arriving(index: JobIndex, job: &Job) -> ArrivingJob {
    ArrivingJob { id: index, submitted: waiting_job(job, job.submit), occupied_cpus: job.processors }
}

/// A job as the forecasts see it that becomes eligible at a moment.
pub(super) fn waiting_job(job: &Job, eligible: UnixTime) -> WaitingJob {
    WaitingJob {
        user: job.user,
        account: AccountIndex(job.group),
        partition: job.partition_index(),
        qos: job.qos,
        size: Size { nodes: job.processors, cpus: job.processors },
        limit: Some(job.estimate),
        eligible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::backfill::Easy;
    use crate::engine::estimates::Requested;
    use crate::engine::order::FirstCome;
    use crate::engine::{Machine, Policy, Scheduler, Submitted, simulate};

    /// Promises the first job its nodes at a time, and plans when the second one is submitted.
    struct Plans {
        run_times: ExpectedRunTimes,
        at: UnixTime,
        planned: Option<Vec<(UnixTime, i64)>>,
    }

    impl Policy for Plans {
        fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
            if index == 1 {
                self.planned = Some(self.run_times.plan(cluster));
            }
            self.run_times.passed(index, job, Some(Seconds(100)));
            Submitted { job: *job, eligible: job.submit, hold_until: (index == 0).then_some(self.at) }
        }
    }

    /// When all processors are free by the plan at a moment, with a job that is expected to run for
    /// 100 s, has a limit of 1,200 s and was promised its nodes at 1,000.
    fn all_free(at: i64) -> UnixTime {
        let job = |submit, processors, estimate| Job {
            submit: UnixTime(submit),
            processors,
            run_time: Seconds(200),
            estimate: Seconds(estimate),
            ..Job::default()
        };
        let jobs = [job(0, 4, 1_200), job(at, 1, 300)];
        let mut policy = Plans { run_times: ExpectedRunTimes::new(2), at: UnixTime(1_000), planned: None };
        let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill: Box::new(Easy::default()), estimates: Box::new(Requested) };
        simulate(&jobs, &Machine::new(4), &mut scheduler, &mut policy).unwrap();
        policy.planned.unwrap().into_iter().find(|(_, free)| *free == 4).unwrap().0
    }

    #[test]
    fn a_job_that_waits_on_its_nodes_is_expected_to_run_from_its_reserved_time_on() {
        assert_eq!([10, 999, 1_050].map(all_free), [UnixTime(1_100); 3]);
        // Once it has outlived that, it is corrected by how long it has run, up to its limit.
        assert_eq!([1_120, 1_170].map(all_free), [UnixTime(1_160), UnixTime(1_200)]);
    }
}
