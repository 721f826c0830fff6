//! Jobs that slurmctld showed to have ended and whose records slurmdbd has not shown yet.
//!
//! slurmctld hands its records over in the order in which they came about. Where it cannot reach
//! slurmdbd, they wait with it for as long as that lasts, days perhaps, while slurmdbd answers
//! everybody else; and then they come, older than what is read again as a matter of course. What is
//! awaited says from when on to read again.

use job_types::number::JobId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How many are awaited at the most: 5 MB. The first ones say from when on to read, so that those
/// beyond need not be known.
const MOST: usize = 100_000;
/// A record counts as overtaken when slurmdbd has shown one of a job that ended so much later.
const OVERTAKING_SECONDS: i64 = 600;
/// What was overtaken so long ago does not come any more: slurmctld threw it away (`MaxDBDMsgs` of
/// slurm.conf).
const LONGEST_OVERTAKEN: Duration = Duration::from_secs(3_600);

/// What is awaited, by the job's number and its submit time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Awaited {
    jobs: HashMap<(JobId, i64), Job>,
    /// The latest end among the records that slurmdbd has shown.
    newest_end: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    ended: i64,
    /// Since when records of later jobs are known. After a restart it is given its time again.
    #[serde(skip)]
    overtaken: Option<Instant>,
}

impl Awaited {
    /// slurmctld shows a job that has ended, whose record is not known.
    pub(crate) fn insert(&mut self, job_id: JobId, submitted: i64, ended: i64) {
        if self.jobs.len() < MOST {
            self.jobs.entry((job_id, submitted)).or_insert(Job { ended, overtaken: None });
        }
    }

    /// Takes note that the record of an ended job has arrived from slurmdbd.
    pub(crate) fn told(&mut self, job_id: JobId, submitted: i64, ended: i64) {
        self.jobs.remove(&(job_id, submitted));
        self.newest_end = self.newest_end.max(ended);
    }

    /// When the first of the jobs ended whose records are awaited, after giving up what does not
    /// come any more.
    pub(crate) fn since(&mut self, now: Instant) -> Option<i64> {
        let newest_end = self.newest_end;
        self.jobs.retain(|(job, _), awaited| {
            if newest_end > awaited.ended + OVERTAKING_SECONDS {
                awaited.overtaken.get_or_insert(now);
            }
            let is_lost = awaited.overtaken.is_some_and(|since| now.saturating_duration_since(since) > LONGEST_OVERTAKEN);
            if is_lost {
                tracing::debug!(job = job.0, ended = awaited.ended, "the record of an ended job did not reach slurmdbd");
            }
            !is_lost
        });
        self.jobs.values().map(|awaited| awaited.ended).min()
    }

    /// Lets go of what ended before this.
    pub(crate) fn forget_before(&mut self, since: i64) {
        self.jobs.retain(|_, awaited| awaited.ended >= since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_awaited_from_its_end_until_its_record_is_told_however_long_that_takes() {
        let (mut awaited, now) = (Awaited::default(), Instant::now());
        assert_eq!(awaited.since(now), None);
        awaited.insert(JobId(7), 900, 1_000);
        awaited.insert(JobId(8), 950, 1_100);
        let days_later = now + Duration::from_secs(5 * 86_400);
        assert_eq!(awaited.since(days_later), Some(1_000));
        awaited.told(JobId(7), 900, 1_000);
        assert_eq!(awaited.since(days_later), Some(1_100));
        awaited.told(JobId(8), 950, 1_100);
        assert_eq!(awaited.since(days_later), None);
    }

    #[test]
    fn a_record_that_later_ones_have_overtaken_is_given_up_after_an_hour() {
        let (mut awaited, now) = (Awaited::default(), Instant::now());
        awaited.insert(JobId(7), 900, 1_000);
        awaited.told(JobId(9), 1_500, 1_700);
        assert_eq!(awaited.since(now), Some(1_000));
        assert_eq!(awaited.since(now + Duration::from_secs(3_600)), Some(1_000));
        assert_eq!(awaited.since(now + Duration::from_secs(3_601)), None);
    }

    #[test]
    fn no_more_than_so_many_are_awaited() {
        let mut awaited = Awaited::default();
        for job in 0..150_000 {
            awaited.insert(JobId(job), 0, i64::from(job));
        }
        assert_eq!(awaited.jobs.len(), MOST);
        awaited.forget_before(99_990);
        assert_eq!(awaited.since(Instant::now()), Some(99_990));
    }
}
