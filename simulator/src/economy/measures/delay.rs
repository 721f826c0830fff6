//! What delays a job, and how many times its run time that makes (7.2.2.1).

use crate::economy::{Job, MILLISECONDS_PER_MINUTE, Replayed};

/// The three delays of a job, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// D_q: from its submission until it runs for the first time.
    pub queued_milliseconds: u64,
    /// D_s: while it is suspended.
    pub suspended_milliseconds: u64,
    /// D_l: because it shares its nodes: all the rest.
    pub load_milliseconds: u64,
}

/// Milliseconds as minutes.
pub(super) fn minutes(milliseconds: u64) -> f64 {
    milliseconds as f64 / MILLISECONDS_PER_MINUTE as f64
}

impl Delay {
    /// What delayed a job that ended.
    #[must_use]
    pub fn of(job: &Job, replayed: &Replayed) -> Self {
        let present = replayed.end_milliseconds.saturating_sub(replayed.first_start_milliseconds);
        Self {
            queued_milliseconds: replayed.first_start_milliseconds.saturating_sub(job.submit_milliseconds),
            suspended_milliseconds: replayed.suspended_milliseconds,
            load_milliseconds: present.saturating_sub(replayed.suspended_milliseconds).saturating_sub(job.run_time_milliseconds),
        }
    }

    /// The delay of the job: D_q + D_s + D_l, in minutes.
    #[must_use]
    pub fn minutes(&self) -> f64 {
        minutes(self.queued_milliseconds + self.suspended_milliseconds + self.load_milliseconds)
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
        1.0 + self.minutes() / minutes(job.run_time_milliseconds.max(1))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::economy::job::tests::job;

    /// What a replay did with a job that waited for so many minutes, and was not delayed otherwise.
    pub(in crate::economy::measures) fn waited(job: &Job, minutes: u64, bid: f64) -> Replayed {
        let first_start_milliseconds = job.submit_milliseconds + minutes * MILLISECONDS_PER_MINUTE;
        let end_milliseconds = first_start_milliseconds + job.run_time_milliseconds;
        Replayed { first_start_milliseconds, end_milliseconds, bid, ..Replayed::default() }
    }

    #[test]
    fn a_delay_has_three_parts() {
        let job = Job { submit_milliseconds: 60_000, ..job(1, 90, 2) };
        // It waits for 2 min, is suspended for 3 min, and runs for 90 s at half its speed.
        let replayed = Replayed {
            first_start_milliseconds: 180_000,
            end_milliseconds: 540_000,
            suspended_milliseconds: 180_000,
            suspensions: 1,
            ..Replayed::default()
        };
        let delay = Delay::of(&job, &replayed);
        let parts = (delay.queued_milliseconds, delay.suspended_milliseconds, delay.load_milliseconds);
        assert_eq!(parts, (120_000, 180_000, 90_000));
        assert_eq!(delay.minutes(), 6.5);
        assert_eq!(delay.dilation(&job), 1.0 + 6.5 / 2.0);
        assert_eq!(delay.exact_dilation(&job), 1.0 + 6.5 / 1.5);
    }

    #[test]
    fn ten_jobs_one_after_the_other_are_half_as_late_as_all_at_once() {
        // The example of 7.2.2.1: ten jobs of 100 minutes, in sequence and time-shared.
        let job = job(1, 6000, 1);
        let in_sequence = (0..10).map(|before| waited(&job, before * 100, 0.0));
        let at_once = (0..10).map(|_| Replayed { end_milliseconds: 1000 * MILLISECONDS_PER_MINUTE, ..Replayed::default() });
        assert_eq!(in_sequence.map(|replayed| Delay::of(&job, &replayed).minutes()).sum::<f64>(), 4500.0);
        assert_eq!(at_once.map(|replayed| Delay::of(&job, &replayed).minutes()).sum::<f64>(), 9000.0);
    }

    #[test]
    fn a_job_that_is_not_delayed_has_a_dilation_of_one() {
        let job = job(1, 0, 1);
        let delay = Delay::of(&job, &waited(&job, 0, 0.0));
        assert_eq!((delay.dilation(&job), delay.exact_dilation(&job)), (1.0, 1.0));
    }
}
