//! A job that waits, one that runs and one that has ended.
//!
//! A task of an array and each run of a requeued job are jobs of their own. Slurm and workload logs
//! give accounts, partitions and qualities of service by name; whoever learns gives each name an
//! index once, and knows jobs by these from then on. So the types are generic over what stands for
//! the three, and the indices are what stands for them unless something else is said.

use crate::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use crate::size::Size;
use crate::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// A job that waits: all that is known of it before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingJob<A = AccountIndex, P = PartitionIndex, Q = QosIndex> {
    /// The number of the user whose job it is.
    pub user: UserId,
    /// The account that is charged for the job.
    pub account: A,
    /// The partition in which the job waits.
    pub partition: P,
    /// The job's quality of service.
    pub qos: Q,
    /// The nodes and CPUs that the job asked for.
    pub size: Size,
    /// The job's time limit; `None` is unlimited or not known.
    pub limit: Option<Seconds>,
    /// When the job could first have started: nothing but resources and priority kept it waiting
    /// since.
    pub eligible: UnixTime,
}

/// A job that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningJob<A = AccountIndex, P = PartitionIndex, Q = QosIndex> {
    /// The job as it was while it waited.
    pub submitted: WaitingJob<A, P, Q>,
    /// Nodes and CPUs that it got, where they are others than it asked for; nodes that are given
    /// whole, for one.
    pub allocated: Option<Size>,
    /// When it started.
    pub start: UnixTime,
}

/// A job that has ended, or was cancelled while it waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedJob<A = AccountIndex, P = PartitionIndex, Q = QosIndex> {
    /// The job as it was while it waited.
    pub submitted: WaitingJob<A, P, Q>,
    /// Nodes and CPUs that it got, where they are others than it asked for.
    pub allocated: Option<Size>,
    /// When it started; `None` if it never did.
    pub start: Option<UnixTime>,
    /// When it ended, or was cancelled.
    pub end: UnixTime,
    /// Seconds between start and end in which the job's program did not run, because the job was
    /// suspended or waited on its nodes for a reserved time.
    pub suspended: Seconds,
}

/// A job, as far as it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job<A = AccountIndex, P = PartitionIndex, Q = QosIndex> {
    /// It waits.
    Waiting(WaitingJob<A, P, Q>),
    /// It runs.
    Running(RunningJob<A, P, Q>),
    /// It has ended.
    Ended(EndedJob<A, P, Q>),
}

/// How a run of a job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The job's program came to its end without an error.
    #[default]
    Completed,
    /// The job's program ended with an error, or used more memory than it may.
    Failed,
    /// The job's time limit ended the run.
    TimedOut,
    /// The job's user or an operator ended the run.
    Cancelled,
    /// The job was put back into the queue, gave way to another job, or lost a node: its program
    /// had not come to its end.
    Interrupted,
    /// Slurm ended the job for the deadline that it has in Slurm's own field.
    SlurmsDeadline,
}

impl<A, P, Q> WaitingJob<A, P, Q> {
    /// The time limit, 0 where there is none.
    #[must_use]
    pub fn limit_or_zero(&self) -> Seconds {
        self.limit.unwrap_or(Seconds::ZERO)
    }

    /// Replaces how the job names its account, partition and quality of service, and keeps the
    /// rest.
    #[must_use]
    pub fn of<B, R, S>(&self, account: B, partition: R, qos: S) -> WaitingJob<B, R, S> {
        let WaitingJob { user, size, limit, eligible, .. } = *self;
        WaitingJob { user, account, partition, qos, size, limit, eligible }
    }
}

impl<A, P, Q> RunningJob<A, P, Q> {
    /// Nodes and CPUs that it occupies.
    #[must_use]
    pub fn occupied(&self) -> Size {
        self.allocated.unwrap_or(self.submitted.size)
    }

    /// When its time limit ends it; `None` is never.
    #[must_use]
    pub fn limit_end(&self) -> Option<UnixTime> {
        self.submitted.limit.map(|limit| self.start + limit)
    }
}

impl<A, P, Q> EndedJob<A, P, Q> {
    /// Returns the time from eligibility to start; `None` if the job never started.
    #[must_use]
    pub fn wait(&self) -> Option<Seconds> {
        wait(self.submitted.eligible, self.start)
    }

    /// Returns the time from start to end without suspensions; `None` if the job never started.
    #[must_use]
    pub fn run_time(&self) -> Option<Seconds> {
        Some(Seconds(((self.end - self.start?) - self.suspended).0.max(0)))
    }

    /// Nodes and CPUs that it occupied while it ran.
    #[must_use]
    pub fn occupied(&self) -> Size {
        self.allocated.unwrap_or(self.submitted.size)
    }

    /// Replaces how the job names its account, partition and quality of service, and keeps the
    /// rest.
    #[must_use]
    pub fn of<B, R, S>(&self, account: B, partition: R, qos: S) -> EndedJob<B, R, S> {
        let EndedJob { submitted, allocated, start, end, suspended } = self;
        let submitted = submitted.of(account, partition, qos);
        EndedJob { submitted, allocated: *allocated, start: *start, end: *end, suspended: *suspended }
    }
}

impl<A, P, Q> Job<A, P, Q> {
    /// The job as it was while it waited.
    #[must_use]
    pub fn submitted(&self) -> &WaitingJob<A, P, Q> {
        match self {
            Job::Waiting(submitted) | Job::Running(RunningJob { submitted, .. }) | Job::Ended(EndedJob { submitted, .. }) => submitted,
        }
    }

    /// When it started; `None` if it never did, or has not yet.
    #[must_use]
    pub fn start(&self) -> Option<UnixTime> {
        match self {
            Job::Waiting(_) => None,
            Job::Running(job) => Some(job.start),
            Job::Ended(job) => job.start,
        }
    }

    /// When it ended, or was cancelled; `None` if it has not yet.
    #[must_use]
    pub fn end(&self) -> Option<UnixTime> {
        match self {
            Job::Waiting(_) | Job::Running(_) => None,
            Job::Ended(job) => Some(job.end),
        }
    }

    /// Returns the time from eligibility to start; `None` if the job has not started.
    #[must_use]
    pub fn wait(&self) -> Option<Seconds> {
        wait(self.submitted().eligible, self.start())
    }

    /// Returns the time from start to end without suspensions; `None` if the job never started or
    /// has not ended.
    #[must_use]
    pub fn run_time(&self) -> Option<Seconds> {
        match self {
            Job::Waiting(_) | Job::Running(_) => None,
            Job::Ended(job) => job.run_time(),
        }
    }

    /// Nodes and CPUs that it got, where they are others than it asked for.
    #[must_use]
    pub fn allocated(&self) -> Option<Size> {
        match self {
            Job::Waiting(_) => None,
            Job::Running(RunningJob { allocated, .. }) | Job::Ended(EndedJob { allocated, .. }) => *allocated,
        }
    }

    /// Nodes and CPUs that it occupies while it runs, as far as is known.
    #[must_use]
    pub fn occupied(&self) -> Size {
        self.allocated().unwrap_or(self.submitted().size)
    }

    /// Replaces how the job names its account, partition and quality of service, and keeps the
    /// rest.
    #[must_use]
    pub fn of<B, R, S>(&self, account: B, partition: R, qos: S) -> Job<B, R, S> {
        match self {
            Job::Waiting(job) => Job::Waiting(job.of(account, partition, qos)),
            Job::Running(RunningJob { submitted, allocated, start }) => {
                Job::Running(RunningJob { submitted: submitted.of(account, partition, qos), allocated: *allocated, start: *start })
            }
            Job::Ended(job) => Job::Ended(job.of(account, partition, qos)),
        }
    }
}

impl<A, P, Q> From<EndedJob<A, P, Q>> for Job<A, P, Q> {
    fn from(job: EndedJob<A, P, Q>) -> Self {
        Job::Ended(job)
    }
}

impl<A: Copy, P: Copy, Q: Copy> From<&EndedJob<A, P, Q>> for Job<A, P, Q> {
    fn from(job: &EndedJob<A, P, Q>) -> Self {
        Job::Ended(*job)
    }
}

impl<A: Copy, P: Copy, Q: Copy> Job<A, P, Q> {
    /// Returns the job as one that has started. `allocated` is the size that it got; `None` if that
    /// is the size that it asked for.
    #[must_use]
    pub fn started(&self, start: UnixTime, allocated: Option<Size>) -> Self {
        Job::Running(RunningJob { submitted: *self.submitted(), allocated, start })
    }

    /// Returns the job as one that has ended, or that was cancelled while it waited.
    #[must_use]
    pub fn ended(&self, end: UnixTime, suspended: Seconds) -> Self {
        let (submitted, allocated, start) = (*self.submitted(), self.allocated(), self.start());
        Job::Ended(EndedJob { submitted, allocated, start, end, suspended })
    }
}

fn wait(eligible: UnixTime, start: Option<UnixTime>) -> Option<Seconds> {
    Some(Seconds((start? - eligible).0.max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: WaitingJob = WaitingJob {
        user: UserId(1_000),
        account: AccountIndex(2),
        partition: PartitionIndex(3),
        qos: QosIndex(1),
        size: Size { nodes: 1, cpus: 4 },
        limit: Some(Seconds(3_600)),
        eligible: UnixTime(1_000),
    };

    #[test]
    fn a_job_waits_until_it_starts_and_runs_until_it_ends_but_for_the_time_that_it_was_suspended() {
        let waiting = Job::Waiting(JOB);
        let whole_node = Size { nodes: 1, cpus: 16 };
        let running = waiting.started(UnixTime(1_060), Some(whole_node));
        assert_eq!((waiting.wait(), running.wait(), running.end()), (None, Some(Seconds(60)), None));
        assert_eq!((waiting.occupied(), running.occupied()), (JOB.size, whole_node));
        let Job::Ended(ended) = running.ended(UnixTime(2_060), Seconds(100)) else { panic!("it has ended") };
        assert_eq!((ended.wait(), ended.run_time(), ended.occupied()), (Some(Seconds(60)), Some(Seconds(900)), whole_node));
    }

    #[test]
    fn a_job_that_was_cancelled_while_it_waited_has_neither_wait_nor_run_time() {
        let Job::Ended(ended) = Job::Waiting(JOB).ended(UnixTime(1_500), Seconds::ZERO) else { panic!("it has ended") };
        assert_eq!((ended.wait(), ended.run_time(), ended.end), (None, None, UnixTime(1_500)));
    }

    #[test]
    fn names_take_the_place_of_indices_and_leave_everything_else() {
        let named = Job::Waiting(JOB).started(UnixTime(1_060), None).of("physics", "batch", "normal");
        assert_eq!((named.submitted().account, named.submitted().partition, named.submitted().qos), ("physics", "batch", "normal"));
        assert_eq!(named.of(JOB.account, JOB.partition, JOB.qos), Job::Waiting(JOB).started(UnixTime(1_060), None));
    }
}
