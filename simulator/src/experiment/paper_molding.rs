//! Molding by Hariharan et al. 2020 (IV.A and VI.C).

use std::collections::{BTreeMap, HashMap};

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::RunTimePredictor;
use predictor_core::decisions::gain;
use predictor_core::forecasts::forecast::RunTimeRange;
use published_methods::run_times::RangeSets;

use super::Decider;
use super::expected_run_times::arriving;
use super::waits::PastWaits;
use crate::engine::{Cluster, Job, JobIndex, Record, Submitted};

/// Molding by Hariharan et al. 2020: among the sizes that the user has asked for, the one whose
/// response-time ranges have the highest gain (IV.A), with the time limit of VI.C. Run times are
/// its rangeSets. Waits are the default forecast of this project, which is better than theirs own
/// and cheap enough to be asked for each size.
pub struct PaperMolding {
    run_times: RangeSets,
    waits: PastWaits,
    /// The longest estimate that each user gave at each size.
    sizes: HashMap<UserId, BTreeMap<u32, Seconds>>,
    longest_limit: Seconds,
}

/// What is forecast at a size.
#[derive(Debug, Clone)]
pub(super) struct Forecast {
    processors: u32,
    estimate: Seconds,
    wait: Seconds,
    ranges: Vec<RunTimeRange>,
    run_time_s: f64,
}

impl Forecast {
    /// Size and estimate, as they are to be written.
    pub(super) fn written(&self) -> (u32, Seconds) {
        (self.processors, self.estimate)
    }

    /// Point forecast of the response, in seconds (IV.B).
    pub(super) fn response_s(&self) -> f64 {
        self.wait.0 as f64 + self.run_time_s
    }
}

impl PaperMolding {
    /// Creates the policy for a machine with this many processors on which no job runs longer than
    /// `longest_limit`. The load functions are learnt from the first `history` jobs.
    #[must_use]
    pub fn new(processors: u32, history: u32, longest_limit: Seconds, seed: u64) -> Self {
        Self {
            run_times: RangeSets::new(processors, history, 15_000),
            waits: PastWaits::new(processors, seed),
            sizes: HashMap::new(),
            longest_limit,
        }
    }

    /// Point forecast of a job's run time; its estimate where its user never ran one of that size.
    pub(super) fn expected(&mut self, index: JobIndex, job: &Job) -> Seconds {
        let prediction = self.run_times.predict(&arriving(index, job));
        prediction.map_or(job.estimate, |prediction| Seconds(prediction.point_s as i64).clamp(Seconds(1), job.estimate))
    }

    /// Forecasts a job at a size; `None` where its user never ran one of that size.
    fn forecast(&mut self, index: JobIndex, asked: &Job, processors: u32, now: UnixTime, eligible: UnixTime) -> Option<Forecast> {
        let longest_past = self.sizes.get(&asked.user).and_then(|sizes| sizes.get(&processors)).copied();
        let estimate = estimate(asked, processors, longest_past, self.longest_limit);
        let job = Job { processors, estimate, ..*asked };
        let prediction = self.run_times.predict(&arriving(index, &job))?;
        let wait = Seconds(self.waits.forecast_s(&job, now, eligible) as i64);
        Some(Forecast { processors, estimate, wait, ranges: prediction.ranges, run_time_s: prediction.point_s })
    }

    /// The forecasts at the size as written, where its user has run that, and at the one with the
    /// highest gain.
    pub(super) fn best(&mut self, index: JobIndex, asked: &Job, now: UnixTime, eligible: UnixTime) -> Option<Forecast> {
        let sizes: Vec<u32> = self.sizes.get(&asked.user)?.keys().copied().filter(|size| *size != asked.processors).collect();
        let written = self.forecast(index, asked, asked.processors, now, eligible)?;
        let others = sizes.into_iter().filter_map(|size| self.forecast(index, asked, size, now, eligible));
        let all: Vec<Forecast> = std::iter::once(written).chain(others).collect();
        let end = |forecast: &Forecast| forecast.wait + forecast.ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper);
        let longest = all.iter().map(end).max().unwrap_or(Seconds(1)).max(Seconds(1));
        let score = |forecast: &Forecast| gain(&forecast.ranges, forecast.wait, longest);
        // Among equal scores the first one wins, which is the size as written.
        all.into_iter()
            .map(|forecast| (score(&forecast), forecast))
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|best| best.1)
    }
}

/// The estimate at another size (VI.C): for a larger one the original; for a smaller one the least
/// of the user's longest at that size and the system's longest that exceeds the original, or else
/// the original.
fn estimate(asked: &Job, processors: u32, longest_past: Option<Seconds>, longest_limit: Seconds) -> Seconds {
    let original = asked.estimate;
    if processors >= asked.processors {
        return original;
    }
    longest_past.into_iter().chain([longest_limit]).filter(|limit| *limit > original).min().unwrap_or(original)
}

impl Decider for PaperMolding {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        let best = self.best(index, asked, now, now).map(|best| best.written());
        let (processors, estimate) = best.unwrap_or((asked.processors, asked.estimate));
        Submitted { job: Job { processors, estimate, ..*asked }, eligible: now, hold_until: None }
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        let longest = self.sizes.entry(asked.user).or_default().entry(asked.processors).or_default();
        *longest = asked.estimate.max(*longest);
        self.waits.passed(index, &submitted.job, cluster.now(), submitted.eligible);
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.run_times.starts(&arriving(index, job), record.start);
        self.waits.started(index, record.start);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.run_times.ends(&arriving(index, job), record.end, Some(record.run_time()));
        self.waits.ended(index, record.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_estimate_rule() {
        let asked = Job { processors: 16, estimate: Seconds(3_600), ..Job::default() };
        // Larger: the original. Smaller: the least of the two that exceeds it.
        assert_eq!(estimate(&asked, 32, Some(Seconds(600)), Seconds(86_400)), Seconds(3_600));
        assert_eq!(estimate(&asked, 8, Some(Seconds(7_200)), Seconds(86_400)), Seconds(7_200));
        assert_eq!(estimate(&asked, 8, Some(Seconds(600)), Seconds(86_400)), Seconds(86_400));
        assert_eq!(estimate(&asked, 8, Some(Seconds(600)), Seconds(3_600)), Seconds(3_600));
    }
}
