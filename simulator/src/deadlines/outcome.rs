//! What a replay with deadlines comes to (Yeo and Buyya 2006, section 5).

use super::methods::{Choices, Method};
use crate::engine::shared::{DeadlineJob, Fate, simulate};
use crate::experiment::ratio_error;

/// An end behind the deadline by no more than this is one by rounding, in seconds.
const ROUNDING_S: f64 = 1e-3;

/// What a replay came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// Jobs that were submitted.
    pub submitted: usize,
    /// Jobs that were taken.
    pub accepted: usize,
    /// Accepted jobs that were done by their deadlines.
    pub fulfilled: usize,
    /// The mean of response time over run time of the jobs that were done by their deadlines;
    /// `None` if there are none.
    pub mean_slowdown: Option<f64>,
}

/// Standard errors of what a replay came to, by twenty batches of jobs in a row: neighbours depend
/// on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StandardErrors {
    /// The standard error of the percentage of submitted jobs that were done by their deadlines.
    pub fulfilled_percent: f64,
    /// The standard error of the part of the accepted jobs that were done by their deadlines.
    pub kept: f64,
}

fn is_in_time(job: &DeadlineJob, end_s: f64) -> bool {
    end_s <= job.deadline.0 as f64 + ROUNDING_S
}

impl StandardErrors {
    /// Computes the standard errors from what became of these jobs.
    #[must_use]
    pub fn of(jobs: &[DeadlineJob], fates: &[Fate]) -> Self {
        const BATCHES: usize = 20;
        let ends: Vec<Option<bool>> = jobs
            .iter()
            .zip(fates)
            .map(|(job, fate)| if let Fate::Done { end_s, .. } = fate { Some(is_in_time(job, *end_s)) } else { None })
            .collect();
        let batches = || ends.chunks(ends.len().div_ceil(BATCHES).max(1));
        let in_time = |batch: &[Option<bool>]| batch.iter().filter(|end| **end == Some(true)).count() as f64;
        Self {
            fulfilled_percent: 100.0 * ratio_error(batches().map(|batch| (in_time(batch), batch.len() as f64))),
            kept: ratio_error(batches().map(|batch| (in_time(batch), batch.iter().flatten().count() as f64))),
        }
    }
}

impl Outcome {
    /// What became of these jobs.
    #[must_use]
    pub fn of(jobs: &[DeadlineJob], fates: &[Fate]) -> Self {
        let ends = || {
            jobs.iter().zip(fates).filter_map(|(job, fate)| if let Fate::Done { end_s, .. } = fate { Some((job, *end_s)) } else { None })
        };
        let in_time = || ends().filter(|(job, end_s)| is_in_time(job, *end_s));
        let fulfilled = in_time().count();
        let slowdowns: f64 = in_time().map(|(job, end_s)| (end_s - job.submit.0 as f64) / job.run_time.0 as f64).sum();
        Self {
            submitted: jobs.len(),
            accepted: ends().count(),
            fulfilled,
            mean_slowdown: (fulfilled > 0).then(|| slowdowns / fulfilled as f64),
        }
    }

    /// Replays jobs under a method on a machine of so many nodes.
    #[must_use]
    pub fn of_replay(jobs: &[DeadlineJob], nodes: usize, method: Method, choices: &Choices) -> Self {
        let (mut policy, sharing) = choices.policy(method, nodes);
        Self::of(jobs, &simulate(jobs, nodes, sharing, &mut *policy))
    }

    /// Per cent of the submitted jobs that were done by their deadlines.
    #[must_use]
    pub fn fulfilled_percent(&self) -> f64 {
        100.0 * self.fulfilled as f64 / self.submitted.max(1) as f64
    }

    /// Jobs that were taken and were late.
    #[must_use]
    pub fn late(&self) -> usize {
        self.accepted - self.fulfilled
    }
}

#[cfg(test)]
mod tests {
    use job_types::time::{Seconds, UnixTime};

    use super::*;

    #[test]
    fn errors_are_those_of_batches_of_jobs_in_a_row() {
        let job = DeadlineJob { submit: UnixTime(10), run_time: Seconds(50), estimate: Seconds(50), nodes: 1, deadline: UnixTime(110) };
        let fate = |n: usize| if n < 20 { Fate::Done { start_s: 10.0, end_s: 60.0 } } else { Fate::Refused { at_s: 10.0 } };
        let errors = StandardErrors::of(&[job; 40], &(0..40).map(fate).collect::<Vec<_>>());
        // Ten batches of all and ten of none: the deviation of the mean of twenty.
        assert!((errors.fulfilled_percent - 100.0 * (0.25 / 19.0_f64).sqrt()).abs() < 1e-9, "{errors:?}");
        assert_eq!(errors.kept, 0.0);
    }

    #[test]
    fn a_job_counts_if_it_is_done_by_its_deadline_and_only_then_for_the_slowdown() {
        let job = DeadlineJob { submit: UnixTime(10), run_time: Seconds(50), estimate: Seconds(50), nodes: 1, deadline: UnixTime(110) };
        let done = |end_s| Fate::Done { start_s: 10.0, end_s };
        let outcome = Outcome::of(&[job; 4], &[done(60.0), done(110.0), done(111.0), Fate::Refused { at_s: 10.0 }]);
        assert_eq!((outcome.submitted, outcome.accepted, outcome.fulfilled, outcome.late()), (4, 3, 2, 1));
        assert_eq!((outcome.mean_slowdown, outcome.fulfilled_percent()), (Some(1.5), 50.0));
        assert_eq!(Outcome::of(&[job], &[Fate::Refused { at_s: 10.0 }]).mean_slowdown, None);
    }
}
