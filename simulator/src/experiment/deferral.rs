//! Delayed submissions by Hariharan et al. 2020 (IV.B).

use job_types::time::{Seconds, UnixTime};

use super::Decider;
use super::paper_molding::PaperMolding;
use crate::engine::{Cluster, Job, JobIndex, Record, Submitted};

/// How soon after the last end another job's end has to come to be waited for as well, as a part of
/// the time until the last end (IV.B).
const SOON_AFTER: f64 = 0.05;

/// The part by which the response has to become shorter (IV.B).
const THRESHOLD: f64 = 0.3;

/// What happens to jobs that are submitted while one is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// They are held behind it and keep their distance: the hold queue of IV.B. Nothing else is
    /// deferred meanwhile.
    Queue,
    /// They are decided about as if it was not there: it carries a begin time.
    SingleJobs,
}

/// The time from which a deferred job's response counts. Hariharan et al. do not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The response counts from the submission by the user, who waits.
    FromSubmission,
    /// The response counts from the time at which the job is passed on.
    FromRelease,
}

/// Molding by Hariharan et al. 2020, and deferral until running jobs are expected to end where that
/// makes the response shorter by 30 %. A job's size is decided when it is submitted, with what is
/// forecast for the time at which it is passed on.
pub struct Deferral {
    molding: PaperMolding,
    hold: Hold,
    counted: Counted,
    /// The expected run time of each job.
    expected: Vec<Seconds>,
    /// The time until which the hold queue is closed. `delay` is how long it holds each job.
    closed_until: UnixTime,
    delay: Seconds,
}

impl Deferral {
    /// Creates the policy for a workload of `jobs` jobs.
    #[must_use]
    pub fn new(molding: PaperMolding, hold: Hold, counted: Counted, jobs: usize) -> Self {
        Self { molding, hold, counted, expected: vec![Seconds::ZERO; jobs], closed_until: UnixTime(i64::MIN), delay: Seconds::ZERO }
    }

    /// The future time of IV.B: from the first expected end on, as long as another follows within 5
    /// % of the time until it.
    fn future_time(&self, cluster: &Cluster) -> Option<UnixTime> {
        let now = cluster.now();
        let end = |job: JobIndex| cluster.record(job).start + self.expected.get(job as usize).copied().unwrap_or_default();
        let mut ends: Vec<UnixTime> = cluster.running().by_expected_end().map(|(.., job)| end(job)).filter(|end| *end > now).collect();
        ends.sort_unstable();
        let mut ends = ends.into_iter();
        let mut future = ends.next()?;
        for end in ends {
            if end > future + Seconds(((future - now).0 as f64 * SOON_AFTER) as i64) {
                break;
            }
            future = end;
        }
        Some(future)
    }
}

impl Decider for Deferral {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        let pass = |best: Option<(u32, Seconds)>, eligible: UnixTime| {
            let (processors, estimate) = best.unwrap_or((asked.processors, asked.estimate));
            Submitted { job: Job { processors, estimate, ..*asked }, eligible, hold_until: None }
        };
        if self.hold == Hold::Queue && now < self.closed_until {
            let best = self.molding.best(index, asked, now, now + self.delay);
            return pass(best.map(|best| best.written()), now + self.delay);
        }
        let Some(current) = self.molding.best(index, asked, now, now) else { return pass(None, now) };
        let later = self.future_time(cluster).and_then(|time| Some((time, self.molding.best(index, asked, now, time)?)));
        if let Some((time, later)) = later {
            let until = if self.counted == Counted::FromSubmission { (time - now).0 as f64 } else { 0.0 };
            if until + later.response_s() <= (1.0 - THRESHOLD) * current.response_s() {
                (self.closed_until, self.delay) = (time, time - now);
                return pass(Some(later.written()), time);
            }
        }
        pass(Some(current.written()), now)
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        if let Some(place) = self.expected.get_mut(index as usize) {
            *place = self.molding.expected(index, &submitted.job);
        }
        self.molding.passed(index, asked, submitted, cluster);
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.molding.started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.molding.ended(index, job, record);
    }
}
