//! What a replay with deadlines comes to (Yeo and Buyya 2006, section 5).

use job_types::job::Ending;
use job_types::promise::PromiseState;
use job_types::time::UnixTime;

use super::methods::{Choices, Method};
use crate::engine::shared::{DeadlineJob, Fate, simulate};
use crate::experiment::{deadline_state, ratio_error};

/// An end behind the deadline by no more than this is one by rounding, in seconds.
const ROUNDING_S: f64 = 1e-3;

/// What a replay came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// Jobs that were submitted.
    pub submitted: usize,
    /// Jobs that came to their own end, of which alone it can be said that they are done: all of
    /// them where it does not count how they ended.
    pub completing: usize,
    /// Jobs that were taken.
    pub accepted: usize,
    /// Accepted jobs that were done by their deadlines.
    pub fulfilled: usize,
    /// Accepted jobs that ended otherwise before their deadlines, and count for nobody.
    pub withdrawn: usize,
    /// The mean of response time over run time of the jobs that were done by their deadlines;
    /// `None` if there are none.
    pub mean_slowdown: Option<f64>,
}

/// Standard errors of what a replay came to, by twenty batches of jobs in a row: neighbours depend
/// on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StandardErrors {
    /// The standard error of [`Outcome::fulfilled_percent`].
    pub fulfilled_percent: f64,
    /// The standard error of the part of the deadlines that were kept or missed that was kept.
    pub kept: f64,
}

/// What became of a job's deadline; `None` if it was refused.
fn state_of(job: &DeadlineJob, fate: &Fate, ending: Ending) -> Option<PromiseState> {
    let Fate::Done { end_s, .. } = fate else { return None };
    Some(deadline_state(job.deadline, Some(UnixTime((end_s - ROUNDING_S).ceil() as i64)), ending))
}

impl StandardErrors {
    /// Computes the standard errors from what became of these jobs, which end so.
    #[must_use]
    pub fn of(jobs: &[DeadlineJob], fates: &[Fate], endings: &[Ending]) -> Self {
        const BATCHES: usize = 20;
        let of_job = |((job, fate), ending): ((&DeadlineJob, &Fate), &Ending)| (state_of(job, fate, *ending), *ending);
        let states: Vec<(Option<PromiseState>, Ending)> = jobs.iter().zip(fates).zip(endings).map(of_job).collect();
        let batches = || states.chunks(states.len().div_ceil(BATCHES).max(1));
        let kept = |batch: &[(Option<PromiseState>, Ending)]| batch.iter().filter(|(state, _)| *state == Some(PromiseState::Kept)).count();
        let decided = |(state, _): &&(Option<PromiseState>, Ending)| state.and_then(PromiseState::is_kept).is_some();
        let completing = |(_, ending): &&(Option<PromiseState>, Ending)| *ending == Ending::Completed;
        Self {
            fulfilled_percent: 100.0
                * ratio_error(batches().map(|batch| (kept(batch) as f64, batch.iter().filter(completing).count() as f64))),
            kept: ratio_error(batches().map(|batch| (kept(batch) as f64, batch.iter().filter(decided).count() as f64))),
        }
    }
}

/// Replays jobs under a method on a machine of so many nodes. Returns what became of each.
#[must_use]
pub fn fates_of(jobs: &[DeadlineJob], nodes: usize, method: Method, choices: &Choices) -> Vec<Fate> {
    let (mut policy, sharing) = choices.policy(method, nodes);
    simulate(jobs, nodes, sharing, &mut *policy)
}

impl Outcome {
    /// What became of these jobs, as published: however a job ends, it is done.
    #[must_use]
    pub fn of(jobs: &[DeadlineJob], fates: &[Fate]) -> Self {
        Self::of_endings(jobs, fates, &vec![Ending::Completed; jobs.len()])
    }

    /// What became of these jobs, which end so, as it counts on a cluster.
    #[must_use]
    pub fn of_endings(jobs: &[DeadlineJob], fates: &[Fate], endings: &[Ending]) -> Self {
        let mut outcome = Self { submitted: jobs.len(), ..Self::default() };
        let mut slowdowns = 0.0;
        for ((job, fate), ending) in jobs.iter().zip(fates).zip(endings) {
            outcome.completing += usize::from(*ending == Ending::Completed);
            let (Some(state), Fate::Done { end_s, .. }) = (state_of(job, fate, *ending), fate) else { continue };
            outcome.accepted += 1;
            match state {
                PromiseState::Kept => {
                    outcome.fulfilled += 1;
                    slowdowns += (end_s - job.submit.0 as f64) / job.run_time.0 as f64;
                }
                PromiseState::Withdrawn => outcome.withdrawn += 1,
                PromiseState::Missed | PromiseState::Open => {}
            }
        }
        Self { mean_slowdown: (outcome.fulfilled > 0).then(|| slowdowns / outcome.fulfilled as f64), ..outcome }
    }

    /// Replays jobs under a method on a machine of so many nodes.
    #[must_use]
    pub fn of_replay(jobs: &[DeadlineJob], nodes: usize, method: Method, choices: &Choices) -> Self {
        Self::of(jobs, &fates_of(jobs, nodes, method, choices))
    }

    /// Per cent of the submitted jobs that came to their own end which were done by their
    /// deadlines.
    #[must_use]
    pub fn fulfilled_percent(&self) -> f64 {
        100.0 * self.fulfilled as f64 / self.completing.max(1) as f64
    }

    /// Jobs that were taken and were late.
    #[must_use]
    pub fn late(&self) -> usize {
        self.accepted - self.fulfilled - self.withdrawn
    }

    /// The part of the deadlines of those that were taken that was kept, of those that were kept or
    /// missed; `None` if none was.
    #[must_use]
    pub fn kept(&self) -> Option<f64> {
        let decided = self.fulfilled + self.late();
        (decided > 0).then(|| self.fulfilled as f64 / decided as f64)
    }
}

#[cfg(test)]
mod tests {
    use job_types::time::Seconds;

    use super::*;

    #[test]
    fn errors_are_those_of_batches_of_jobs_in_a_row() {
        let job = DeadlineJob { submit: UnixTime(10), run_time: Seconds(50), estimate: Seconds(50), nodes: 1, deadline: UnixTime(110) };
        let fate = |n: usize| if n < 20 { Fate::Done { start_s: 10.0, end_s: 60.0 } } else { Fate::Refused { at_s: 10.0 } };
        let errors = StandardErrors::of(&[job; 40], &(0..40).map(fate).collect::<Vec<_>>(), &[Ending::Completed; 40]);
        // Ten batches of all and ten of none: the deviation of the mean of twenty.
        assert!((errors.fulfilled_percent - 100.0 * (0.25 / 19.0_f64).sqrt()).abs() < 1e-9, "{errors:?}");
        assert_eq!(errors.kept, 0.0);
    }

    #[test]
    fn what_ended_otherwise_before_its_deadline_counts_for_nobody_and_after_it_as_late() {
        let job = DeadlineJob { submit: UnixTime(10), run_time: Seconds(50), estimate: Seconds(50), nodes: 1, deadline: UnixTime(110) };
        let done = |end_s| Fate::Done { start_s: 10.0, end_s };
        let fates = [done(60.0), done(60.0), done(111.0), done(111.0), Fate::Refused { at_s: 10.0 }];
        let endings = [Ending::Completed, Ending::Failed, Ending::Cancelled, Ending::Completed, Ending::Failed];
        let outcome = Outcome::of_endings(&[job; 5], &fates, &endings);
        assert_eq!((outcome.accepted, outcome.fulfilled, outcome.withdrawn, outcome.late()), (4, 1, 1, 2));
        assert_eq!((outcome.fulfilled_percent(), outcome.kept()), (50.0, Some(1.0 / 3.0)), "of two that came to their own end");
        assert_eq!(deadline_state(UnixTime(110), None, Ending::Completed), PromiseState::Missed, "it was taken back at its deadline");
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
