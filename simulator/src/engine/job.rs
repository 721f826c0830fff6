//! A job, as the engine sees it.

use job_types::job::Ending;
use job_types::number::{PartitionIndex, QosIndex, UserId};
use job_types::time::{Seconds, UnixTime};

/// The place of a job among those of a simulation, from 0, in order of submission.
pub type JobIndex = u32;

/// One rigid job.
///
/// Group, application, queue and partition are numbers as the log has them, so that they can be
/// written again as they were; the indices of `job_types` are places in tables of the learner's.
/// `u32::MAX` stands for what the log does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Job {
    /// When the job is submitted, on the clock of the workload: that of a log begins at 0.
    #[serde(rename = "submit_seconds")]
    pub submit: UnixTime,
    /// How long the job runs once it has started, at least 1 s.
    #[serde(rename = "run_seconds")]
    pub run_time: Seconds,
    /// What the job's user says that it runs at most: its time limit, at least 1 s.
    #[serde(rename = "estimate_seconds")]
    pub estimate: Seconds,
    /// How many processors the job needs, at least 1.
    pub processors: u32,
    /// The job's number in the log.
    pub number: u32,
    /// The number of the user whose job it is.
    pub user: UserId,
    /// The number of the job's group.
    pub group: u32,
    /// The number of the job's application.
    pub executable: u32,
    /// The number of the job's queue.
    pub queue: u32,
    /// The number of the job's partition.
    pub partition: u32,
    /// The number of the job's quality of service, from 1; 0 where the past does not say it, as
    /// workload logs don't.
    #[serde(skip)]
    pub qos: QosIndex,
    /// How the job's run ended, by the log; that it came to its end where the log does not say.
    #[serde(skip)]
    pub ending: Ending,
}

impl Job {
    /// The partition that forecasts and decisions take the job's queue for; unknown where the log
    /// does not say the queue, or numbers it higher than there are indices.
    #[must_use]
    pub fn partition_index(&self) -> PartitionIndex {
        u16::try_from(self.queue).map_or(PartitionIndex::UNKNOWN, PartitionIndex)
    }

    /// What forecasts and decisions call the job's quality of service; empty where it is not known.
    #[must_use]
    pub fn qos_name(&self) -> String {
        if self.qos == QosIndex::default() { String::new() } else { self.qos.to_string() }
    }

    /// Processors times run time.
    #[must_use]
    pub fn work_processor_seconds(&self) -> f64 {
        f64::from(self.processors) * self.run_time.0 as f64
    }
}
