//! The admitted jobs that wait, as whoever is admitted next has to respect them.

use job_types::time::{Seconds, UnixTime};

/// An admitted job that waits, with its place in the plan of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromisedJob {
    /// When the job is to be done.
    pub deadline: UnixTime,
    /// When the job is planned to start.
    pub start: UnixTime,
    /// When the job is planned to have ended.
    pub end: UnixTime,
    /// How many CPUs the job needs.
    pub cpus: u32,
    /// How much later the job may start and still be done with the probability that it was
    /// promised.
    pub slack: Seconds,
}

impl PromisedJob {
    /// A job that is planned to start at a moment, with these run times in seconds and their
    /// probabilities, ascending, of which the probability `wanted` was promised.
    #[must_use]
    pub fn of(deadline: UnixTime, start: UnixTime, cpus: u32, run_times: &[(f64, f64)], wanted: f64) -> PromisedJob {
        let mut below = 0.0;
        let reaches = |(_, weight): &&(f64, f64)| {
            below += weight;
            below >= wanted - 1e-6
        };
        let longest = run_times.iter().find(reaches).or(run_times.last()).map_or(Seconds::ZERO, |(run_s, _)| Seconds(run_s.ceil() as i64));
        PromisedJob { deadline, start, end: start + mean(run_times), cpus, slack: deadline - start - longest }
    }

    /// Whether a job with a deadline goes before this one, and this one can be put off by that
    /// much.
    #[must_use]
    pub fn gives_way(&self, deadline: UnixTime, by: Seconds) -> bool {
        self.deadline > deadline && self.slack >= by
    }
}

/// The mean of run times in seconds with their probabilities, at least a second.
#[must_use]
pub fn mean(run_times: &[(f64, f64)]) -> Seconds {
    let mean_s: f64 = run_times.iter().map(|(run_s, weight)| run_s * weight).sum();
    Seconds(mean_s.round() as i64).max(Seconds(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_is_what_is_left_after_the_run_time_that_is_not_exceeded_with_the_promised_probability() {
        let run_times = [(100.0, 0.5), (300.0, 0.4), (1_000.0, 0.1)];
        let job = |wanted| PromisedJob::of(UnixTime(5_000), UnixTime(1_000), 4, &run_times, wanted);
        assert_eq!(job(0.9).end, UnixTime(1_270));
        assert_eq!([0.5, 0.8, 0.9, 0.95].map(|wanted| job(wanted).slack), [3_900, 3_700, 3_700, 3_000].map(Seconds));
    }

    #[test]
    fn only_a_later_deadline_with_enough_slack_gives_way() {
        let job = PromisedJob { deadline: UnixTime(900), start: UnixTime(100), end: UnixTime(300), cpus: 4, slack: Seconds(60) };
        assert!(job.gives_way(UnixTime(800), Seconds(60)));
        assert!(!job.gives_way(UnixTime(800), Seconds(61)), "no slack");
        assert!(!job.gives_way(UnixTime(900), Seconds(1)), "who came first stays first");
    }
}
