//! What is kept of the past: recent waits by class, run times by user and size, and the demand on each partition over time.
//!
//! Memory is bounded: each class and each user's size keeps its most recent jobs only.

mod demand;
mod run_times;
mod waits;

pub use demand::Demand;
pub use run_times::{RunTimeHistory, RunTimeModel, UserSize};
pub use waits::{WaitDistribution, WaitHistory};

use crate::size::Size;
use crate::time::{Seconds, UnixTime};
use std::collections::HashMap;

/// A job that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedJob<'a> {
    /// Numeric id of the user.
    pub user: u32,
    /// Name of the partition that it ran in.
    pub partition: &'a str,
    /// Nodes and CPUs.
    pub size: Size,
    /// Time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// When it could first have started.
    pub eligible: UnixTime,
    /// When it started; `None` if it was cancelled before.
    pub start: Option<UnixTime>,
    /// When it ended.
    pub end: UnixTime,
    /// How long it was suspended between start and end.
    pub suspended: Seconds,
}

/// A job that is running or pending now, as far as it presses on its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveJob<'a> {
    /// Numeric id of the user.
    pub user: u32,
    /// Name of the partition.
    pub partition: &'a str,
    /// Nodes and CPUs.
    pub size: Size,
    /// Time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// When it could first have started, or will be able to.
    pub eligible: UnixTime,
    /// When it started; `None` while it is pending.
    pub start: Option<UnixTime>,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Most recent jobs of each class.
    pub class_jobs: usize,
    /// Most recent jobs of each user at each size.
    pub user_size_jobs: usize,
    /// How far back the demand on partitions is known.
    pub window: Seconds,
    /// Width of the steps in which the demand is counted.
    pub demand_resolution: Seconds,
}

impl Default for HistoryLimits {
    fn default() -> HistoryLimits {
        HistoryLimits { class_jobs: 6_000, user_size_jobs: 1_000, window: Seconds(365 * 86_400), demand_resolution: Seconds(300) }
    }
}

/// The past of one cluster.
#[derive(Debug)]
pub struct History {
    limits: HistoryLimits,
    partitions: HashMap<Box<str>, u16>,
    demand: Vec<Demand>,
    waits: WaitHistory,
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
            limits,
            partitions: HashMap::new(),
            demand: Vec::new(),
            waits: WaitHistory::new(limits.class_jobs),
            run_times: RunTimeHistory::new(limits.user_size_jobs),
            ended_jobs: 0,
            oldest_end: None,
            newest_end: None,
        }
    }

    /// Adds a job that has ended. Jobs may come in any order; the recent ones of a class are those that became eligible last.
    ///
    /// Returns whether it was taken: a record whose times contradict each other is not, nor one beyond 65,535 partitions.
    pub fn push(&mut self, job: &EndedJob<'_>) -> bool {
        self.take(job, true)
    }

    /// As [`History::push`], of a run that ended because it was requeued or preempted, or a node failed: its wait counts, but how long it
    /// ran says nothing of its program.
    pub fn push_interrupted(&mut self, job: &EndedJob<'_>) -> bool {
        self.take(job, false)
    }

    fn take(&mut self, job: &EndedJob<'_>, ran_whole: bool) -> bool {
        let in_order = job.eligible <= job.end && job.start.is_none_or(|start| start <= job.end);
        if !in_order || job.eligible.0 <= 0 || job.size.cpus == 0 || job.size.nodes == 0 {
            return false;
        }
        let Some(partition) = self.partition_index(job.partition) else { return false };
        self.ended_jobs += 1;
        self.oldest_end = Some(self.oldest_end.map_or(job.end, |oldest| oldest.min(job.end)));
        self.newest_end = Some(self.newest_end.map_or(job.end, |newest| newest.max(job.end)));
        if let Some(demand) = self.demand.get_mut(usize::from(partition)) {
            demand.add(job.eligible, job.end, job.size.cpus);
        }
        // A job that was cancelled while pending tells how long it had waited, not how long it would have.
        let Some(start) = job.start else { return true };
        let wait = Seconds((start - job.eligible).0.max(0));
        self.waits.push(partition, job.size, job.limit, job.eligible, wait);
        if ran_whole {
            let run_time = Seconds(((job.end - start) - job.suspended).0.max(0));
            self.run_times.push(job.user, partition, job.size, job.limit, start, run_time);
        }
        true
    }

    /// Sets the demand of jobs that have not ended yet, in the place of those given before.
    pub fn set_live<'a>(&mut self, jobs: impl IntoIterator<Item = LiveJob<'a>>, now: UnixTime) {
        self.demand.iter_mut().for_each(Demand::clear_live);
        for job in jobs {
            if job.eligible <= now
                && let Some(partition) = self.partition_index(job.partition)
                && let Some(demand) = self.demand.get_mut(usize::from(partition))
            {
                demand.add_live(job.eligible, now, job.size.cpus);
            }
        }
    }

    /// Fits what has changed since the last time. `capacity` gives a partition's CPUs, as far as they are known.
    pub fn fit(&mut self, confidence: f64, capacity: impl Fn(&str) -> Option<u32>) {
        let mut capacities = vec![None; self.demand.len()];
        for (name, index) in &self.partitions {
            if let Some(slot) = capacities.get_mut(usize::from(*index)) {
                *slot = capacity(name);
            }
        }
        self.demand.iter_mut().for_each(Demand::settle);
        let demand = &self.demand;
        self.waits.fit(confidence, |partition, moment| {
            let cpus = (*capacities.get(usize::from(partition))?)?;
            let level = demand.get(usize::from(partition))?.at(moment)?;
            Some(level / f64::from(cpus.max(1)))
        });
        self.run_times.fit();
    }

    /// The fitted waits.
    #[must_use]
    pub fn waits(&self) -> &WaitHistory {
        &self.waits
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
            if let Some(slot) = names.get_mut(usize::from(*index)) {
                *slot = name;
            }
        }
        names
    }

    /// Index of a partition, new if it was not known; `None` beyond 65,535 of them.
    pub fn partition_index(&mut self, name: &str) -> Option<u16> {
        if let Some(index) = self.partitions.get(name) {
            return Some(*index);
        }
        let index = u16::try_from(self.partitions.len()).ok().filter(|index| *index < u16::MAX)?;
        self.partitions.insert(name.into(), index);
        self.demand.push(Demand::new(self.limits.window, self.limits.demand_resolution));
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
