//! The default as it ships: what the daemon publishes of run times, asked about each job as it
//! arrives.

use job_types::job::EndedJob;
use job_types::size::Unit;
use learning::RunTimeLearner;
use learning::run_times::{ArrivingJob, RunTimePrediction, Tuple, TupleHistory};
use predictor_core::forecasts::forecast::{RunTimeQuestion, RunTimeRange, median};

/// What like jobs span is taken from so many jobs of the past, as many as Hariharan et al.'s
/// history holds (V).
const LIKE_JOBS: usize = 15_000;
/// A range belongs to the set if its seconds are this many times as probable as they would be if
/// the run time lay anywhere, evenly, within what the run times of like jobs span on average. Over
/// many jobs such sets hold more run times than any others of the same total length.
const TIMES_AS_PROBABLE: f64 = 1.15;
/// What like jobs span before anything is known, in seconds.
const UNKNOWN_SPAN_S: f64 = 86_400.0;

/// The daemon's learner, every model of which is fitted and published as soon as it changes, and a
/// set of ranges as Hariharan et al. want one (III.F), which nothing that ships needs.
pub(super) struct Shipped {
    pub(super) learner: RunTimeLearner,
    /// Run times of like jobs.
    like: TupleHistory<u32>,
    mean_span_s: FadingMean,
}

impl Default for Shipped {
    fn default() -> Self {
        let learner = RunTimeLearner::new(&[Unit::Cpus]);
        Self { learner, like: TupleHistory::new(LIKE_JOBS), mean_span_s: FadingMean::default() }
    }
}

impl Shipped {
    /// The forecast for a job that arrives now: the median with a set of ranges, and the whole
    /// distribution within the job's limit.
    pub(super) fn predict(&mut self, job: &ArrivingJob) -> Option<(RunTimePrediction, Vec<RunTimeRange>)> {
        if let Some(run_times) = self.like.get(&Tuple::from(job)) {
            let span_s = run_times.iter().max().zip(run_times.iter().min()).map_or(0, |(longest, shortest)| longest - shortest);
            self.mean_span_s.push(f64::from(span_s) + 1.0);
        }
        let submitted = &job.submitted;
        self.learner.arrived(job.id, submitted);
        let (unit, count) = (Unit::Cpus, submitted.size.count(Unit::Cpus));
        let asked = RunTimeQuestion { user: submitted.user, partition: submitted.partition, unit, count, limit: submitted.limit };
        let distribution = self.learner.forecast(&asked)?.within(submitted.limit);
        let density = TIMES_AS_PROBABLE / self.mean_span_s.mean().unwrap_or(UNKNOWN_SPAN_S).max(1.0);
        let prediction = RunTimePrediction { ranges: denser_than(&distribution, density), point_s: median(&distribution).0 as f64 };
        Some((prediction, distribution))
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, job: &ArrivingJob, past: &EndedJob) {
        if let Some(run_time) = past.run_time() {
            self.like.push(Tuple::from(job), run_time.clamped_u32());
        }
        self.learner.ended(job.id, past);
        self.learner.fit(usize::MAX);
    }
}

/// The ranges whose seconds have more than `density` probability each; where that is none, the
/// densest.
fn denser_than(ranges: &[RunTimeRange], density: f64) -> Vec<RunTimeRange> {
    let of = |range: &RunTimeRange| range.probability() / ((range.upper() - range.lower()).0 as f64 + 1.0);
    let densest = ranges.iter().map(of).fold(0.0, f64::max);
    let threshold = density.min(densest * 0.999);
    ranges.iter().filter(|range| of(range) > threshold).copied().collect()
}

/// A mean in which a value loses three ten-thousandths of its weight with every later one.
#[derive(Default)]
struct FadingMean {
    sum: f64,
    weight: f64,
}

impl FadingMean {
    fn push(&mut self, value: f64) {
        self.sum = self.sum * 0.9997 + value;
        self.weight = self.weight * 0.9997 + 1.0;
    }

    fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dense_ranges_make_the_set() {
        let ranges = [RunTimeRange::new(3, 3, 0.5), RunTimeRange::new(10, 14, 0.25), RunTimeRange::new(20, 20, 0.25)];
        let firsts = |density| denser_than(&ranges, density).iter().map(|range| range.lower().0).collect::<Vec<_>>();
        assert_eq!((firsts(0.3), firsts(0.1), firsts(0.01)), (vec![3], vec![3, 20], vec![3, 10, 20]));
        assert_eq!(firsts(0.9), [3], "the densest, where nothing is dense enough");
    }
}
