//! What delays a job, and how many times its run time that makes (7.2.2.1).

use crate::engine::preemptive::{Job, Milliseconds, Record};

/// The three delays of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// D_q: from its submission until it runs for the first time.
    pub queued: Milliseconds,
    /// D_s: while it is suspended.
    pub suspended: Milliseconds,
    /// D_l: because it shares its nodes: all the rest.
    pub shared: Milliseconds,
}

impl Delay {
    /// What delayed a job that ended.
    #[must_use]
    pub fn of(job: &Job, record: &Record) -> Self {
        Self {
            queued: record.queued().unwrap_or_default(),
            suspended: record.suspended,
            shared: record.slowed_down(job).unwrap_or_default(),
        }
    }

    /// The delay of the job: D_q + D_s + D_l, in minutes.
    #[must_use]
    pub fn minutes(&self) -> f64 {
        (self.queued + self.suspended + self.shared).minutes()
    }

    /// The dilation (D_q + D_s + D_l + t) / t with t in whole minutes, rounded up, by which the
    /// thesis's tables are reproduced. A job that was not delayed has 1.
    #[must_use]
    pub fn dilation(&self, job: &Job) -> f64 {
        1.0 + self.minutes() / job.whole_minutes() as f64
    }

    /// The dilation with t as it is, to the millisecond; no run is shorter than one.
    #[must_use]
    pub fn exact_dilation(&self, job: &Job) -> f64 {
        1.0 + self.minutes() / job.run_time.max(Milliseconds(1)).minutes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::{at, job, waited};

    #[test]
    fn a_delay_has_three_parts() {
        let job = at(60, job(1, 90, 2));
        // It waits for 2 min, is suspended for 3 min, and runs for 90 s at half its speed.
        let record = Record {
            first_start: Some(Milliseconds(180_000)),
            end: Some(Milliseconds(540_000)),
            suspended: Milliseconds(180_000),
            suspensions: 1,
            ..waited(&job, 0, 0.0)
        };
        let delay = Delay::of(&job, &record);
        assert_eq!([delay.queued, delay.suspended, delay.shared].map(|part| part.0), [120_000, 180_000, 90_000]);
        assert_eq!(delay.minutes(), 6.5);
        assert_eq!(delay.dilation(&job), 1.0 + 6.5 / 2.0);
        assert_eq!(delay.exact_dilation(&job), 1.0 + 6.5 / 1.5);
    }

    #[test]
    fn ten_jobs_one_after_the_other_are_half_as_late_as_all_at_once() {
        // The example of 7.2.2.1: ten jobs of 100 minutes, in sequence and time-shared.
        let job = job(1, 6000, 1);
        let in_sequence = (0..10).map(|before| waited(&job, before * 100, 0.0));
        let at_once = (0..10).map(|_| Record { end: Some(Milliseconds(1_000 * Milliseconds::MINUTE.0)), ..waited(&job, 0, 0.0) });
        assert_eq!(in_sequence.map(|record| Delay::of(&job, &record).minutes()).sum::<f64>(), 4500.0);
        assert_eq!(at_once.map(|record| Delay::of(&job, &record).minutes()).sum::<f64>(), 9000.0);
    }

    #[test]
    fn a_job_that_is_not_delayed_has_a_dilation_of_one() {
        let job = job(1, 0, 1);
        let delay = Delay::of(&job, &waited(&job, 0, 0.0));
        assert_eq!((delay.dilation(&job), delay.exact_dilation(&job)), (1.0, 1.0));
    }
}
