//! The jobs of a workload log as the forecasts see them.

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex};
use std::collections::HashMap;
use std::hash::Hash;

use job_types::time::Seconds;

use crate::swf::{Log, NO_LIMIT_SECONDS};
use crate::workload::{IN_QUEUE, LoggedJob};

/// What a log says, as far as forecasts are concerned.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The jobs that ran, in order of submission: those of whose records all is known that a
    /// forecast needs ([`FOR_FORECAST`](crate::workload::FOR_FORECAST)), whatever their status.
    /// These are the jobs that the publications count and forecast.
    pub jobs: Vec<EndedJob>,
    /// All that was in the queue, in the same order: the jobs that ran, those that ended in the
    /// second in which they started, and those that were cancelled while they waited.
    pub queue: Vec<EndedJob>,
    /// Records that could not be placed in the queue ([`IN_QUEUE`]): it is not known when they left
    /// it, or how large they were.
    pub left_out: usize,
    /// Processors of the machine; the most that ever ran at once where the header does not say.
    pub processors: u32,
    /// Whether the users' time limits are known.
    pub has_limits: bool,
    /// What the log calls the queues that the jobs' `partition` counts: the number of the queue,
    /// and behind a slash that of the partition; `-` stands for what it does not say.
    pub queues: Vec<String>,
}

impl Workload {
    /// The last so many of the jobs that ran, with what else was in the queue from the first of
    /// them on: a shorter past of the same cluster. What ran or waited then already is not in it.
    #[must_use]
    pub fn last_jobs(&self, jobs: usize) -> Self {
        let left_out = self.jobs.len().saturating_sub(jobs);
        let ran = |(_, job): &(usize, &EndedJob)| ran(job);
        let first = self.queue.iter().enumerate().filter(ran).nth(left_out).map_or(self.queue.len(), |(row, _)| row);
        Self {
            jobs: self.jobs.get(left_out..).unwrap_or_default().to_vec(),
            queue: self.queue.get(first..).unwrap_or_default().to_vec(),
            queues: self.queues.clone(),
            ..*self
        }
    }
}

/// Takes from a log what was in the queue.
#[must_use]
pub fn read(log: &Log) -> Workload {
    let begin = Seconds(log.header.unix_start_time().unwrap_or(0));
    let (mut partitions, mut accounts) = (Indices::default(), Indices::default());
    let mut queue: Vec<EndedJob> =
        log.records.iter().map(LoggedJob::from).filter_map(|logged| ended_job(&logged, begin, &mut partitions, &mut accounts)).collect();
    let left_out = log.records.len() - queue.len();
    // Some logs are in order of their ends. The sort is stable: jobs of one second keep the log's
    // order.
    queue.sort_by_key(|job| job.submitted.eligible);
    let jobs: Vec<EndedJob> = queue.iter().filter(|job| ran(job)).copied().collect();
    let with_limit = jobs.iter().filter(|job| job.submitted.limit.is_some()).count();
    let processors = log.header.max_processors().and_then(|processors| u32::try_from(processors).ok());
    let largest = jobs.iter().map(|job| job.occupied().cpus).max().unwrap_or(1);
    let processors = processors.unwrap_or(largest).max(largest);
    let queues = partitions.in_order().into_iter().map(queue_name).collect();
    Workload { has_limits: 2 * with_limit > jobs.len(), processors, jobs, queue, left_out, queues }
}

/// Whether a job ran for a second at least, as the publications count them.
pub(super) fn ran(job: &EndedJob) -> bool {
    job.run_time().is_some_and(|run_time| run_time > Seconds::ZERO)
}

/// What a log calls a queue: the numbers of its queue and its partition.
type Queue = (Option<u32>, Option<u32>);

fn queue_name((queue, partition): Queue) -> String {
    let name = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
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

/// Stands for the quality of service of a job of which the log says none, as the empty name does in
/// the daemon.
const NO_QOS: QosIndex = QosIndex(0);

/// The job as the forecasts see it; `None` where it can't be placed in the queue ([`IN_QUEUE`]).
fn ended_job(logged: &LoggedJob, begin: Seconds, partitions: &mut Indices<Queue>, accounts: &mut Indices<Option<u32>>) -> Option<EndedJob> {
    if logged.first_lack(&IN_QUEUE).is_some() {
        return None;
    }
    let (asked, occupied) = (logged.asked_size()?, logged.occupied_size()?);
    let eligible = logged.submit? + begin;
    let left = eligible + logged.wait?;
    let run_time = logged.run_time;
    let submitted = WaitingJob {
        user: logged.user?,
        account: AccountIndex(accounts.of(logged.group)),
        partition: u16::try_from(partitions.of((logged.queue, logged.partition))).ok().map(PartitionIndex)?,
        qos: logged.qos.unwrap_or(NO_QOS),
        size: asked,
        limit: logged.limit.filter(|limit| (1..NO_LIMIT_SECONDS as i64).contains(&limit.0)),
        eligible,
    };
    Some(EndedJob {
        submitted,
        allocated: run_time.and((occupied != asked).then_some(occupied)),
        start: run_time.map(|_| left),
        end: run_time.map_or(left, |run_time| left + run_time),
        suspended: Seconds::ZERO,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swf::Reader;

    fn read_text(log: &str) -> Workload {
        read(&Reader::new(log.as_bytes()).unwrap().into_log().unwrap())
    }

    #[test]
    fn what_was_cancelled_or_ended_at_once_was_in_the_queue_and_is_not_among_the_jobs_that_ran() {
        let workload = read_text(
            "1 100 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n\
             2 110 7 -1 -1 -1 -1 8 90 -1 5 3 1 -1 1 -1 -1 -1\n\
             3 120 9 0 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n\
             4 130 11 0 2 -1 -1 -1 90 -1 5 3 1 -1 1 -1 -1 -1\n\
             5 140 -1 0 4 -1 -1 4 90 -1 0 3 1 -1 1 -1 -1 -1\n\
             6 150 3 -1 -1 -1 -1 -1 90 -1 5 3 1 -1 1 -1 -1 -1\n",
        );
        assert_eq!((workload.jobs.len(), workload.queue.len(), workload.left_out), (1, 4, 2));
        let told: Vec<_> = workload
            .queue
            .iter()
            .map(|job| (job.submitted.eligible.0, job.submitted.size.cpus, job.wait().map(|wait| wait.0), job.end.0))
            .collect();
        assert_eq!(told, [(100, 4, Some(5), 165), (110, 8, None, 117), (120, 4, Some(9), 129), (130, 2, None, 141)]);
        let (last, none) = (workload.last_jobs(1), workload.last_jobs(0));
        assert_eq!((last.jobs.len(), last.queue.len(), none.jobs.len(), none.queue.len()), (1, 4, 0, 0));
    }

    #[test]
    fn each_processor_is_a_node_and_no_quality_of_service_is_known_in_a_workload_log() {
        let workload = read_text(
            "; MaxNodes: 4\n; MaxProcs: 64\n\
             1 100 5 60 16 -1 -1 12 90 -1 1 3 1 -1 1 -1 -1 -1\n",
        );
        let job = workload.jobs[0];
        assert_eq!((job.submitted.size.nodes, job.occupied().nodes, job.submitted.qos), (12, 16, QosIndex(0)));
    }

    #[test]
    fn a_limit_without_end_is_none() {
        let workload = read_text(
            "1 100 5 60 4 -1 -1 4 2147483647 -1 1 3 1 -1 1 -1 -1 -1\n\
             2 100 5 60 4 -1 -1 4 2147483646 -1 1 3 1 -1 1 -1 -1 -1\n\
             3 100 5 60 4 -1 -1 4 0 -1 1 3 1 -1 1 -1 -1 -1\n",
        );
        let limits: Vec<_> = workload.jobs.iter().map(|job| job.submitted.limit.map(|limit| limit.0)).collect();
        assert_eq!((limits, workload.has_limits), (vec![None, Some(2_147_483_646), None], false));
    }

    #[test]
    fn a_job_is_as_large_as_it_asked_for_and_occupies_what_it_got() {
        let workload = read_text(
            "1 100 5 60 16 -1 -1 12 90 -1 1 3 1 -1 1 -1 -1 -1\n\
             2 100 5 60 16 -1 -1 -1 90 -1 1 3 1 -1 1 -1 -1 -1\n\
             3 100 5 60 -1 -1 -1 12 90 -1 1 3 1 -1 1 -1 -1 -1\n",
        );
        let sizes: Vec<_> = workload.jobs.iter().map(|job| (job.submitted.size.cpus, job.occupied().cpus)).collect();
        assert_eq!(sizes, [(12, 16), (16, 16), (12, 12)]);
        assert_eq!(workload.processors, 16);
    }
}
