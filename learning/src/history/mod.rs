//! What is kept of the past: the latest starts of each partition, and run times by user and size.
//!
//! Memory is bounded: each partition and each user's size keeps its most recent jobs only.

mod run_times;
mod starts;

pub use run_times::RunTimeHistory;
pub use starts::StartHistory;

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::PartitionIndex;
use job_types::time::UnixTime;
use predictor_core::forecasts::forecast::ClassBounds;
use predictor_core::forecasts::run_time_models::{LikeJobs, RunTimeModel};
use predictor_core::forecasts::wait_model::FittedPast;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The numbers of jobs that a history keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryLimits {
    /// Latest starts of each partition.
    pub starts: usize,
    /// Most recent jobs of each user at each size.
    pub user_size_jobs: usize,
}

impl Default for HistoryLimits {
    fn default() -> HistoryLimits {
        HistoryLimits { starts: 8_192, user_size_jobs: 1_000 }
    }
}

/// The past of one cluster.
#[derive(Debug, Serialize, Deserialize)]
pub struct History {
    partitions: HashMap<Box<str>, PartitionIndex>,
    starts: StartHistory,
    run_times: RunTimeHistory,
    ended_jobs: u64,
    oldest_end: Option<UnixTime>,
    newest_end: Option<UnixTime>,
}

impl History {
    /// An empty history.
    #[must_use]
    pub fn new(limits: HistoryLimits) -> History {
        History {
            partitions: HashMap::new(),
            starts: StartHistory::new(limits.starts),
            run_times: RunTimeHistory::new(limits.user_size_jobs),
            ended_jobs: 0,
            oldest_end: None,
            newest_end: None,
        }
    }

    /// Adds a job that has ended, whose partition has a name. Jobs may come in any order.
    ///
    /// Returns whether it was taken: a record whose times contradict each other is not, nor one
    /// beyond 65,535 partitions.
    pub fn push<A, P: AsRef<str>, Q>(&mut self, job: &EndedJob<A, P, Q>) -> bool {
        self.take(job, true)
    }

    /// Adds, as [`History::push`] does, a run that ended because it was requeued or preempted, or a
    /// node failed. Its wait counts, but how long it ran says nothing of its program.
    pub fn push_interrupted<A, P: AsRef<str>, Q>(&mut self, job: &EndedJob<A, P, Q>) -> bool {
        self.take(job, false)
    }

    fn take<A, P: AsRef<str>, Q>(&mut self, job: &EndedJob<A, P, Q>, ran_whole: bool) -> bool {
        let WaitingJob { user, size, limit, eligible, .. } = job.submitted;
        let in_order = eligible <= job.end && job.start.is_none_or(|start| start <= job.end);
        if !in_order || eligible.0 <= 0 || size.cpus == 0 || size.nodes == 0 {
            return false;
        }
        let Some(partition) = self.partition_index(job.submitted.partition.as_ref()) else { return false };
        self.ended_jobs += 1;
        self.oldest_end = Some(self.oldest_end.map_or(job.end, |oldest| oldest.min(job.end)));
        self.newest_end = Some(self.newest_end.map_or(job.end, |newest| newest.max(job.end)));
        // A job that was cancelled while pending tells how long it had waited, not how long it
        // would have.
        let Some((start, wait)) = job.start.zip(job.wait()) else { return true };
        self.starts.push(partition, size, limit, eligible, wait);
        if let Some(run_time) = job.run_time().filter(|_| ran_whole) {
            self.run_times.push(user, partition, size, limit, start, run_time);
        }
        true
    }

    /// Fits what has changed since the last time.
    pub fn fit(&mut self, confidence: f64) {
        self.fit_waits(confidence);
        self.fit_run_times();
    }

    /// Fits the waits alone: goes through all starts that are kept, about 10 microseconds each, if
    /// others have come.
    pub fn fit_waits(&mut self, confidence: f64) {
        self.starts.fit(confidence);
    }

    /// Fits the run times alone.
    pub fn fit_run_times(&mut self) {
        self.run_times.fit();
    }

    /// Lets go of the sizes of users at which no job has started since a moment.
    pub fn forget(&mut self, since: UnixTime) {
        self.run_times.forget(since);
    }

    /// The classes of jobs of like delay, with the bounds on their waits, as they were fitted last.
    #[must_use]
    pub fn classes(&self) -> &[ClassBounds] {
        self.starts.classes()
    }

    /// The fitted run times.
    #[must_use]
    pub fn run_times(&self) -> &RunTimeHistory {
        &self.run_times
    }

    /// Names of the partitions seen, in the order of their indices.
    #[must_use]
    pub fn partition_names(&self) -> Vec<&str> {
        let mut names = vec![""; self.partitions.len()];
        for (name, index) in &self.partitions {
            if let Some(slot) = names.get_mut(usize::from(index.0)) {
                *slot = name;
            }
        }
        names
    }

    /// Index of a partition, new if it was not known; `None` beyond 65,535 of them.
    pub fn partition_index(&mut self, name: &str) -> Option<PartitionIndex> {
        if let Some(index) = self.partitions.get(name) {
            return Some(*index);
        }
        let index = u16::try_from(self.partitions.len()).ok().map(PartitionIndex).filter(|index| *index != PartitionIndex::UNKNOWN)?;
        self.partitions.insert(name.into(), index);
        Some(index)
    }

    /// How many ended jobs were taken.
    #[must_use]
    pub fn ended_jobs(&self) -> u64 {
        self.ended_jobs
    }

    /// When the first and the last of them ended.
    #[must_use]
    pub fn ends(&self) -> Option<(UnixTime, UnixTime)> {
        self.oldest_end.zip(self.newest_end)
    }
}

impl FittedPast for History {
    fn partition_index(&mut self, name: &str) -> Option<PartitionIndex> {
        self.partition_index(name)
    }

    fn partition_names(&self) -> Vec<&str> {
        self.partition_names()
    }

    fn classes(&self) -> &[ClassBounds] {
        self.classes()
    }

    fn run_times(&self) -> &BTreeMap<LikeJobs, RunTimeModel> {
        self.run_times.fitted()
    }

    fn ended_jobs(&self) -> u64 {
        self.ended_jobs
    }

    fn ends(&self) -> Option<(UnixTime, UnixTime)> {
        self.ends()
    }
}
