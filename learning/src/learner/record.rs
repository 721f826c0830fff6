//! A run in few bytes, for the time between its reading and the first sweep: a million of them are
//! 60 MB.

use super::{Run, RunId};
use job_types::job::{EndedJob, Job, RunningJob, WaitingJob};
use job_types::number::{AccountIndex, JobId, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// A run; its moments in Unix seconds, 0 where there is none, which lasts until 2106.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    submitted: u32,
    job: JobId,
    user: UserId,
    account: AccountIndex,
    nodes: u32,
    cpus: u32,
    /// What it got where that is something else, 0 otherwise.
    allocated_nodes: u32,
    allocated_cpus: u32,
    /// The time limit in seconds; all bits are set where there is none.
    limit_s: u32,
    eligible: u32,
    start: u32,
    end: u32,
    suspended_s: u32,
    partition: PartitionIndex,
    qos: QosIndex,
    pub(super) is_in_slot: bool,
    pub(super) is_interrupted: bool,
}

/// Runs in any order of which only so many are kept, those that ended last.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestRecords {
    records: Vec<Record>,
    /// What ended before this is not among them.
    since: u32,
}

impl LatestRecords {
    /// Adds a run, and lets go of those that ended first where there are an eighth more than
    /// `most`.
    pub(super) fn push(&mut self, record: Record, most: usize) {
        if record.end < self.since {
            return;
        }
        if self.records.is_empty() {
            self.records.reserve_exact(most.saturating_add(most / 8).min(FIRST_ROOM));
        }
        self.records.push(record);
        if self.records.len() > most.saturating_add(most / 8) {
            let first_kept = self.records.len() - most;
            let (_, first, _) = self.records.select_nth_unstable_by_key(first_kept, |record| record.end);
            self.since = first.end;
            self.records.drain(..first_kept);
        }
    }

    pub(super) fn into_records(self) -> Vec<Record> {
        self.records
    }
}

/// Room for so many runs is made at once.
const FIRST_ROOM: usize = 65_536;

fn narrow(moment: i64) -> u32 {
    u32::try_from(moment.max(0)).unwrap_or(u32::MAX)
}

fn moment(seconds: u32) -> Option<UnixTime> {
    (seconds != 0).then_some(UnixTime(i64::from(seconds)))
}

impl Record {
    pub(super) fn new<J>(run: &Run<J>, job: &Job) -> Record {
        let Run { id, is_in_slot, is_interrupted, .. } = *run;
        let submitted = job.submitted();
        let suspended = if let Job::Ended(job) = job { job.suspended } else { Seconds::ZERO };
        Record {
            submitted: narrow(id.submitted),
            job: id.job,
            user: submitted.user,
            account: submitted.account,
            nodes: submitted.size.nodes,
            cpus: submitted.size.cpus,
            allocated_nodes: job.allocated().map_or(0, |size| size.nodes),
            allocated_cpus: job.allocated().map_or(0, |size| size.cpus),
            limit_s: submitted.limit.map_or(u32::MAX, |limit| narrow(limit.0)),
            eligible: narrow(submitted.eligible.0),
            start: job.start().map_or(0, |start| narrow(start.0)),
            end: job.end().map_or(0, |end| narrow(end.0)),
            suspended_s: narrow(suspended.0),
            partition: submitted.partition,
            qos: submitted.qos,
            is_in_slot,
            is_interrupted,
        }
    }

    pub(super) fn id(&self) -> RunId {
        RunId { submitted: i64::from(self.submitted), job: self.job }
    }

    /// Returns the key by which runs are sorted into the order of their arrivals.
    pub(super) fn order(&self) -> (u32, u32, JobId) {
        (self.eligible, self.submitted, self.job)
    }

    pub(super) fn job(&self) -> Job {
        let submitted = WaitingJob {
            user: self.user,
            account: self.account,
            partition: self.partition,
            qos: self.qos,
            size: Size { nodes: self.nodes, cpus: self.cpus },
            limit: (self.limit_s != u32::MAX).then_some(Seconds(i64::from(self.limit_s))),
            eligible: UnixTime(i64::from(self.eligible)),
        };
        let allocated = (self.allocated_cpus != 0).then_some(Size { nodes: self.allocated_nodes, cpus: self.allocated_cpus });
        let suspended = Seconds(i64::from(self.suspended_s));
        match (moment(self.start), moment(self.end)) {
            (None, None) => Job::Waiting(submitted),
            (Some(start), None) => Job::Running(RunningJob { submitted, allocated, start }),
            (start, Some(end)) => Job::Ended(EndedJob { submitted, allocated, start, end, suspended }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_runs_than_are_wanted_those_are_kept_that_ended_last_in_whatever_order_they_came() {
        for newest_first in [true, false] {
            let mut latest = LatestRecords::default();
            for n in 0..10_000u32 {
                let end = 1 + if newest_first { 9_999 - n } else { n };
                let submitted = WaitingJob {
                    user: UserId(0),
                    account: AccountIndex(0),
                    partition: PartitionIndex(0),
                    qos: QosIndex(0),
                    size: Size { nodes: 1, cpus: 1 },
                    limit: None,
                    eligible: UnixTime(1),
                };
                let job = Job::Waiting(submitted).started(UnixTime(1), None).ended(UnixTime(i64::from(end)), Seconds::ZERO);
                let run = Run {
                    id: RunId { submitted: 1, job: JobId(n) },
                    array: None,
                    tasks: 1,
                    is_held: false,
                    job,
                    recorded_forecast: None,
                    promise: None,
                    admission: None,
                    is_in_slot: false,
                    is_interrupted: false,
                };
                latest.push(Record::new(&run, &job), 800);
                assert!(latest.records.len() <= 900);
            }
            let records = latest.into_records();
            assert!(records.len() >= 800);
            assert!(records.iter().all(|record| record.end > 9_000));
        }
    }
}
