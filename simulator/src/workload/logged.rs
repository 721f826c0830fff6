//! A record of a log as a job of the past, read by the same rules whatever it is read for.

use job_types::job::Ending;
use job_types::number::{QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

use crate::swf::{Accounted, Record, Status};

/// What a record does not say. Replays and forecasts each need other things to be said:
/// [`FOR_REPLAY`], [`IN_QUEUE`] and [`FOR_FORECAST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// When the job was submitted.
    Submission,
    /// How long it waited, until it started or was given up.
    Wait,
    /// A run time of a second at least: the job never started, ended in the second in which it
    /// did, or nobody noted how long it ran.
    RunTime,
    /// The number of processors on which it ran. The number that it asked for is not enough.
    Allocation,
    /// How large it was: neither the processors that it had nor those that it asked for.
    Size,
    /// Whose it is.
    User,
}

/// What a replay needs to know: when a job came, how long it runs and on how many processors. These
/// are the rules of the simulator that replays are held against (PySS, Hebrew University).
pub const FOR_REPLAY: [Lack; 3] = [Lack::RunTime, Lack::Submission, Lack::Allocation];

/// What has to be known of a job to have it in the queue that forecasts see, whether it ran or not.
pub const IN_QUEUE: [Lack; 4] = [Lack::Wait, Lack::Submission, Lack::Size, Lack::User];

/// What has to be known of a job to hold a forecast against it. By these rules the publications on
/// forecasts count: a job that asked for processors and ran is one, although nobody noted how many
/// it had, and one whose wait is not known is none.
pub const FOR_FORECAST: [Lack; 5] = [Lack::Wait, Lack::RunTime, Lack::Submission, Lack::Size, Lack::User];

/// A record of a log as a job of the past. What the log does not know is `None`; logs write 0 for a
/// size that nobody noted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoggedJob {
    /// The job's number in the log.
    pub number: u32,
    /// When the job was submitted, from the beginning of the log.
    pub submit: Option<UnixTime>,
    /// The time from the job's submission until it left the queue.
    pub wait: Option<Seconds>,
    /// How long the job ran; `None` for one that left the queue without having started. What was
    /// cancelled without having run a second is taken to have been cancelled while it waited, and
    /// so is what never got a processor.
    pub run_time: Option<Seconds>,
    /// The time limit that the job's user gave; 0 where the log says so.
    pub limit: Option<Seconds>,
    /// Processors that the job had.
    pub allocated: Option<u32>,
    /// Processors that the job asked for.
    pub requested: Option<u32>,
    /// Nodes that the job asked for.
    pub requested_nodes: Option<u32>,
    /// Nodes that the job had.
    pub allocated_nodes: Option<u32>,
    /// The number that the job's quality of service has in the log, from 1.
    pub qos: Option<QosIndex>,
    /// The number of the user whose job it is.
    pub user: Option<UserId>,
    /// The number of the job's group.
    pub group: Option<u32>,
    /// The number of the job's application.
    pub executable: Option<u32>,
    /// The number of the job's queue.
    pub queue: Option<u32>,
    /// The number of the job's partition.
    pub partition: Option<u32>,
    /// How the job ended. A log that tells no time limits from failures has its failures alone.
    pub ending: Option<Ending>,
}

/// The job that a record tells of.
impl From<&Record> for LoggedJob {
    fn from(record: &Record) -> Self {
        let allocated = size(record.allocated_processors);
        let Accounted { requested_nodes, allocated_nodes, qos } = record.accounted;
        let has_started = |run: &u64| *run > 0 || (allocated.is_some() && record.status != Some(Status::Cancelled));
        Self {
            number: number(Some(record.job_number)).unwrap_or(u32::MAX),
            submit: record.submit_time_seconds.map(seconds).map(UnixTime),
            wait: record.wait_time_seconds.map(seconds).map(Seconds),
            run_time: record.run_time_seconds.filter(has_started).map(seconds).map(Seconds),
            limit: record.requested_time_seconds.map(seconds).map(Seconds),
            allocated,
            requested: size(record.requested_processors),
            requested_nodes,
            allocated_nodes,
            qos,
            user: number(record.user).map(UserId),
            group: number(record.group),
            executable: number(record.executable),
            queue: number(record.queue),
            partition: number(record.partition),
            ending: record.status.map(ending),
        }
    }
}

impl LoggedJob {
    /// The processors that it occupied: those that it had, or those that it asked for where the log
    /// lacks the former.
    #[must_use]
    pub fn occupied(&self) -> Option<u32> {
        self.allocated.or(self.requested)
    }

    /// The processors that it asked for, or those that it had where the log lacks the former.
    #[must_use]
    pub fn asked(&self) -> Option<u32> {
        self.requested.or(self.allocated)
    }

    /// Nodes and processors that it asked for, with what it had in the place of what the log lacks.
    /// A log that does not know nodes counts each processor as one.
    #[must_use]
    pub fn asked_size(&self) -> Option<Size> {
        let cpus = self.asked()?;
        Some(Size { nodes: self.requested_nodes.or(self.allocated_nodes).unwrap_or(cpus), cpus })
    }

    /// Nodes and processors that it occupied, with what it asked for in the place of what the log
    /// lacks. A log that does not know nodes counts each processor as one.
    #[must_use]
    pub fn occupied_size(&self) -> Option<Size> {
        let cpus = self.occupied()?;
        Some(Size { nodes: self.allocated_nodes.or(self.requested_nodes).unwrap_or(cpus), cpus })
    }

    /// Whether the record does not say this.
    #[must_use]
    pub fn lacks(&self, what: Lack) -> bool {
        match what {
            Lack::Submission => self.submit.is_none(),
            Lack::Wait => self.wait.is_none(),
            Lack::RunTime => self.run_time.is_none_or(|run_time| run_time <= Seconds::ZERO),
            Lack::Allocation => self.allocated.is_none(),
            Lack::Size => self.occupied().is_none(),
            Lack::User => self.user.is_none(),
        }
    }

    /// The first of what is needed that the record does not say; `None` where it says all of it.
    #[must_use]
    pub fn first_lack(&self, needed: &[Lack]) -> Option<Lack> {
        needed.iter().copied().find(|what| self.lacks(*what))
    }
}

/// How a job ended of which a log has this status. The parts of a job that was checkpointed come to
/// their ends.
fn ending(status: Status) -> Ending {
    match status {
        Status::Completed | Status::PartToBeContinued | Status::LastPartCompleted => Ending::Completed,
        Status::Failed | Status::LastPartFailed => Ending::Failed,
        Status::Cancelled => Ending::Cancelled,
    }
}

/// Seconds of a log, no more than a few thousand years.
fn seconds(value: u64) -> i64 {
    value.min(1 << 36) as i64
}

fn number(value: Option<u64>) -> Option<u32> {
    value.and_then(|value| u32::try_from(value).ok())
}

fn size(processors: Option<u64>) -> Option<u32> {
    processors.filter(|processors| *processors > 0).map(|processors| u32::try_from(processors).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran() -> Record {
        Record {
            job_number: 1,
            submit_time_seconds: Some(100),
            wait_time_seconds: Some(5),
            run_time_seconds: Some(60),
            allocated_processors: Some(4),
            requested_processors: Some(8),
            user: Some(3),
            ..Record::default()
        }
    }

    fn lacks(record: &Record) -> [Option<Lack>; 3] {
        let job = LoggedJob::from(record);
        [&FOR_REPLAY[..], &IN_QUEUE, &FOR_FORECAST].map(|needed| job.first_lack(needed))
    }

    #[test]
    fn each_use_of_a_log_needs_something_else_of_a_record() {
        assert_eq!(lacks(&ran()), [None; 3]);
        assert_eq!(lacks(&Record { wait_time_seconds: None, ..ran() }), [None, Some(Lack::Wait), Some(Lack::Wait)]);
        assert_eq!(lacks(&Record { user: None, ..ran() }), [None, Some(Lack::User), Some(Lack::User)]);
        assert_eq!(lacks(&Record { submit_time_seconds: None, ..ran() }), [Some(Lack::Submission); 3]);
        // It was asked for, and nobody noted what was given.
        assert_eq!(lacks(&Record { allocated_processors: Some(0), ..ran() }), [Some(Lack::Allocation), None, None]);
        let without_size = Record { allocated_processors: None, requested_processors: None, ..ran() };
        assert_eq!(lacks(&without_size), [Some(Lack::Allocation), Some(Lack::Size), Some(Lack::Size)]);
        // It was in the queue, and is no job that ran.
        assert_eq!(lacks(&Record { run_time_seconds: Some(0), ..ran() }), [Some(Lack::RunTime), None, Some(Lack::RunTime)]);
    }

    #[test]
    fn what_was_cancelled_or_got_no_processor_never_started() {
        let run_time = |record: Record| LoggedJob::from(&Record { run_time_seconds: Some(0), ..record }).run_time;
        assert_eq!(run_time(ran()), Some(Seconds::ZERO));
        assert_eq!(run_time(Record { status: Some(Status::Cancelled), ..ran() }), None);
        assert_eq!(run_time(Record { allocated_processors: None, ..ran() }), None);
    }

    #[test]
    fn a_job_is_as_large_as_it_asked_for_and_occupies_what_it_got() {
        let sizes = |allocated_processors, requested_processors| {
            let job = LoggedJob::from(&Record { allocated_processors, requested_processors, ..ran() });
            (job.asked(), job.occupied())
        };
        assert_eq!(sizes(Some(16), Some(12)), (Some(12), Some(16)));
        assert_eq!(sizes(Some(16), None), (Some(16), Some(16)));
        assert_eq!(sizes(Some(0), Some(12)), (Some(12), Some(12)));
    }
}
