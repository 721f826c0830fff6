//! What was read, and who waited how long.

use std::collections::{BTreeMap, BTreeSet};

use job_types::job::EndedJob;
use job_types::number::PartitionIndex;
use job_types::time::Seconds;
use predictor_core::forecasts::class::{cpus_of_size_class, size_class};
use serde::Serialize;

use super::names::QueueNames;
use super::replayed::ReplayedPast;
use crate::evaluation::Workload;
use crate::metrics::Distribution;
use crate::swf::Log;

/// What a past says of itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Past {
    /// Jobs that were read.
    pub records: usize,
    /// Jobs that ran for at least one second and of which everything is known that a forecast
    /// needs.
    pub ran: usize,
    /// Jobs that were in the queue and did not run.
    pub did_not_run: usize,
    /// Jobs of which it is not known when they left the queue, or how large they were.
    pub left_out: usize,
    /// Jobs that replays can run.
    pub replayable: usize,
    /// Replayable jobs without a time limit.
    pub without_limit: usize,
    /// Replayable jobs that are larger than the machine; they get all of it.
    pub larger_than_machine: usize,
    /// Jobs on one processor, which can't be made smaller.
    pub serial: usize,
    /// Users of the jobs that ran.
    pub users: usize,
    /// Queues and partitions of the jobs that ran.
    pub queues: usize,
    /// Processors of the machine.
    pub processors: u32,
    /// Whether the log says how large the machine is. Where it does not, it is taken to be as large
    /// as the largest job.
    pub says_processors: bool,
    /// When the first job was submitted, in Unix seconds; `None` where the log does not say when it
    /// began.
    pub first_submission: Option<i64>,
    /// Whether the log says how long jobs waited. Where it does not, waits below are `None`.
    pub says_waits: bool,
    /// Days from the first submission to the last end.
    pub days: f64,
    /// Processor time of the jobs, as a part of what there was in that time.
    pub utilisation: f64,
    /// All jobs that ran.
    pub all: WaitClass,
    /// Waits by queue, the largest queue first.
    pub by_queue: Vec<WaitClass>,
    /// Waits by class of size, ascending.
    pub by_size: Vec<WaitClass>,
    /// Waits by queue and class of size, in the order of both.
    pub by_queue_and_size: Vec<WaitClass>,
}

/// How long some of the jobs waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitClass {
    /// The queue; `None` where the class goes over all of them.
    pub queue: Option<String>,
    /// Fewest processors of its jobs; `None` where it goes over all sizes.
    pub at_least_processors: Option<u32>,
    /// Most processors of its jobs; `None` where there is no end.
    pub at_most_processors: Option<u32>,
    /// The number of these jobs.
    pub jobs: usize,
    /// How long these jobs waited, in seconds; `None` if the log does not say it.
    pub wait_s: Option<Distribution>,
    /// The part of them that waited for more than an hour; `None` likewise.
    pub waited_an_hour: Option<f64>,
    /// How long these jobs ran, in seconds.
    pub run_s: Distribution,
    /// The processor time of these jobs, as a part of that of all jobs.
    pub part_of_work: f64,
}

impl Past {
    pub(super) fn of(log: &Log, workload: &Workload, names: &QueueNames, replayed: &ReplayedPast, says_waits: bool) -> Self {
        let jobs = workload.jobs.as_slice();
        let work: f64 = jobs.iter().map(work).sum();
        let class = |queue: Option<PartitionIndex>, size: Option<u8>, jobs: &[&EndedJob]| {
            let cpus = size.map(cpus_of_size_class);
            let label = queue.and_then(|queue| workload.queues.get(usize::from(queue.0)));
            WaitClass {
                queue: label.map(|label| names.name(label)),
                at_least_processors: cpus.as_ref().map(|cpus| *cpus.start()),
                at_most_processors: cpus.map(|cpus| *cpus.end()).filter(|most| *most < u32::MAX),
                ..WaitClass::of(jobs, work, says_waits)
            }
        };
        let everything: Vec<&EndedJob> = jobs.iter().collect();
        let mut by_queue: BTreeMap<PartitionIndex, Vec<&EndedJob>> = BTreeMap::new();
        let mut by_size: BTreeMap<u8, Vec<&EndedJob>> = BTreeMap::new();
        let mut by_both: BTreeMap<(PartitionIndex, u8), Vec<&EndedJob>> = BTreeMap::new();
        for job in jobs {
            let (queue, size) = (job.submitted.partition, size_class(job.submitted.size));
            by_queue.entry(queue).or_default().push(job);
            by_size.entry(size).or_default().push(job);
            by_both.entry((queue, size)).or_default().push(job);
        }
        let mut queues: Vec<(PartitionIndex, Vec<&EndedJob>)> = by_queue.into_iter().collect();
        queues.sort_by_key(|(_, jobs)| std::cmp::Reverse(jobs.len()));
        let place = |queue: &PartitionIndex| queues.iter().position(|(known, _)| known == queue);
        let mut both: Vec<((PartitionIndex, u8), Vec<&EndedJob>)> = by_both.into_iter().collect();
        both.sort_by_key(|((queue, size), _)| (place(queue), *size));
        let (first, last) = replayed.period();
        let seconds = (last - first).0.max(1) as f64;
        let used: f64 = replayed.jobs.iter().map(|job| job.work_processor_seconds()).sum();
        Self {
            records: log.records.len(),
            ran: jobs.len(),
            did_not_run: workload.queue.len() - jobs.len(),
            left_out: workload.left_out,
            replayable: replayed.jobs.len(),
            without_limit: replayed.without_limit,
            larger_than_machine: replayed.larger,
            serial: jobs.iter().filter(|job| job.submitted.size.cpus <= 1).count(),
            users: jobs.iter().map(|job| job.submitted.user).collect::<BTreeSet<_>>().len(),
            queues: queues.len(),
            processors: workload.processors,
            says_processors: log.header.max_processors().is_some(),
            first_submission: log.header.unix_start_time().map(|begin| begin + first.0),
            says_waits,
            days: seconds / 86_400.0,
            utilisation: (used / (f64::from(workload.processors) * seconds)).min(1.0),
            all: class(None, None, &everything),
            by_queue: queues.iter().map(|(queue, jobs)| class(Some(*queue), None, jobs)).collect(),
            by_size: by_size.iter().map(|(size, jobs)| class(None, Some(*size), jobs)).collect(),
            by_queue_and_size: both.iter().map(|((queue, size), jobs)| class(Some(*queue), Some(*size), jobs)).collect(),
        }
    }
}

/// Processor seconds of a job.
fn work(job: &EndedJob) -> f64 {
    f64::from(job.occupied().cpus) * job.run_time().unwrap_or_default().0 as f64
}

impl WaitClass {
    /// The mean of the waits, in seconds; 0 where the log says none.
    #[must_use]
    pub fn mean_wait(&self) -> f64 {
        self.wait_s.as_ref().map_or(0.0, |wait| wait.mean)
    }

    fn of(jobs: &[&EndedJob], all_work: f64, says_waits: bool) -> Self {
        let seconds = |of: fn(&EndedJob) -> Option<Seconds>| Distribution::of(jobs.iter().map(|job| of(job).unwrap_or_default().0 as f64));
        let long = jobs.iter().filter(|job| job.wait().is_some_and(|wait| wait > Seconds(3_600))).count();
        let own: f64 = jobs.iter().map(|job| work(job)).sum();
        Self {
            queue: None,
            at_least_processors: None,
            at_most_processors: None,
            jobs: jobs.len(),
            wait_s: says_waits.then(|| seconds(EndedJob::wait)),
            waited_an_hour: says_waits.then(|| long as f64 / jobs.len().max(1) as f64),
            run_s: seconds(EndedJob::run_time),
            part_of_work: if all_work > 0.0 { own / all_work } else { 0.0 },
        }
    }
}
