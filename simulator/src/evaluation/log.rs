//! The jobs of a workload log as the forecasts see them.

use std::collections::HashMap;
use std::hash::Hash;

use predictor_core::past::PastJob;
use predictor_core::size::Size;
use predictor_core::time::{Seconds, UnixTime};

use crate::swf::{Log, Record};

/// What a log says, as far as forecasts are concerned.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The jobs that ran, in order of submission: submit time, size and user known, wait at least 0 and run time above 0, whatever their status.
    pub jobs: Vec<PastJob>,
    /// Processors of the machine; the most that ever ran at once where the header does not say.
    pub processors: u32,
    /// Whether the users' time limits are known.
    pub has_limits: bool,
    /// What the log calls the queues that the jobs' `partition` counts: the number of the queue, and behind a slash that of the partition; `-` stands
    /// for what it does not say.
    pub queues: Vec<String>,
}

/// Takes from a log the jobs that ran.
#[must_use]
pub fn read(log: &Log) -> Workload {
    let begin = log.header.unix_start_time().unwrap_or(0);
    let (mut partitions, mut accounts) = (Indices::default(), Indices::default());
    let mut jobs: Vec<PastJob> = log.records.iter().filter_map(|record| past_job(record, begin, &mut partitions, &mut accounts)).collect();
    // Some logs are in order of their ends. The sort is stable: jobs of one second keep the log's order.
    jobs.sort_by_key(|job| job.eligible);
    let with_limit = jobs.iter().filter(|job| job.limit.is_some()).count();
    let processors = log.header.max_processors().and_then(|processors| u32::try_from(processors).ok());
    let largest = jobs.iter().map(|job| job.size.cpus).max().unwrap_or(1);
    let queues = partitions.in_order().into_iter().map(queue_name).collect();
    Workload { has_limits: 2 * with_limit > jobs.len(), processors: processors.unwrap_or(largest).max(largest), jobs, queues }
}

fn queue_name((queue, partition): (Option<u64>, Option<u64>)) -> String {
    let name = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    if partition.is_some() { format!("{}/{}", name(queue), name(partition)) } else { name(queue) }
}

/// Numbers things in the order of their first appearance.
#[derive(Default)]
struct Indices<T>(HashMap<T, u32>);

impl<T: Eq + Hash> Indices<T> {
    fn of(&mut self, thing: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }

    fn in_order(self) -> Vec<T> {
        let mut things: Vec<(T, u32)> = self.0.into_iter().collect();
        things.sort_unstable_by_key(|(_, index)| *index);
        things.into_iter().map(|(thing, _)| thing).collect()
    }
}

fn past_job(
    record: &Record,
    begin: i64,
    partitions: &mut Indices<(Option<u64>, Option<u64>)>,
    accounts: &mut Indices<Option<u64>>,
) -> Option<PastJob> {
    let wait = i64::try_from(record.wait_time_seconds?).ok()?;
    let run_time = i64::try_from(record.run_time_seconds.filter(|seconds| *seconds > 0)?).ok()?;
    let submit = i64::try_from(record.submit_time_seconds?).ok()?;
    let cpus = u32::try_from(record.processors()?).ok()?;
    let user = u32::try_from(record.user?).ok()?;
    let eligible = UnixTime(begin + submit);
    let start = eligible + Seconds(wait);
    let limit = record.requested_time_seconds.filter(|seconds| *seconds > 0);
    Some(PastJob {
        user,
        account: accounts.of(record.group),
        partition: u16::try_from(partitions.of((record.queue, record.partition))).ok()?,
        qos: 0,
        size: Size { nodes: cpus, cpus },
        limit: limit.and_then(|seconds| i64::try_from(seconds).ok()).map(Seconds),
        eligible,
        start: Some(start),
        end: Some(start + Seconds(run_time)),
        suspended: Seconds::ZERO,
    })
}
