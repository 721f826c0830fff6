//! What is forecast: the wait, the run time, and being done by a time.

use std::collections::BTreeMap;

use job_types::options::UserOptions;
use job_types::policy::{Policy, When};
use job_types::record::WaitSource;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{DecisionInputs, Submission, decide};
use predictor_core::forecasts::forecast::{Moment, RunTimeForecaster, RunTimeQuestion, RunTimeRange, WaitClass, WaitForecaster, median};
use serde::Serialize;

use crate::job::JobReport;
use crate::situation::{Situation, shape_of};

/// The probabilities for which bounds on the wait are shown, as keys.
const BOUND_PROBABILITIES: [&str; 5] = ["0.25", "0.5", "0.75", "0.9", "0.95"];

/// The durations for which the probability of starting within them is shown: 1 min to 2 d.
const START_DURATIONS_S: [i64; 9] = [60, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800];

/// The forecast of the wait.
#[derive(Debug, Serialize)]
pub struct WaitReport {
    /// The method that forecast it, by name.
    pub source: &'static str,
    /// The class whose past it rests on, where it does on one.
    pub class: Option<ClassReport>,
    /// How many past jobs it rests on.
    pub jobs: u32,
    /// CPUs of the running and eligible jobs, this one included, over the partition's CPUs.
    pub pressure: Option<f64>,
    /// Confidence of the bounds of a class; those of the default are corrected so as to hold as
    /// often as they say.
    pub confidence: Option<f64>,
    /// The point forecast, in seconds from when the job may begin.
    pub median_s: i64,
    /// The wait in seconds that is not exceeded with a probability; `None` where it is not known.
    pub bounds_s: BTreeMap<&'static str, Option<i64>>,
    /// The probability of starting within some durations.
    pub starts_within: Vec<StartsWithin>,
    /// Probability and the bound that holds with it, for each percentile that has one; for the
    /// picture.
    #[serde(skip)]
    pub percentiles_s: Vec<(f64, i64)>,
}

/// Which past jobs a forecast rests on; absent is "all".
#[derive(Debug, Serialize)]
pub struct ClassReport {
    /// The partition of the jobs.
    pub partition: String,
    /// Fewest and most CPUs; no most in the last class.
    pub cpus: Option<(u32, Option<u32>)>,
    /// Shortest and longest time limit in seconds; no longest in the last class.
    pub limits_s: Option<(i64, Option<i64>)>,
}

/// The probability of starting within a duration.
#[derive(Debug, Serialize)]
pub struct StartsWithin {
    /// The duration, in seconds.
    pub duration_s: i64,
    /// Its probability.
    pub probability: f64,
}

impl WaitReport {
    /// The forecast for the job as it is written; `None` where nothing is known of waits in its
    /// partition.
    pub fn of(situation: &Situation<'_>) -> Option<Self> {
        let DecisionInputs { submission, partition, forecasts: snapshot, now, claimed, .. } = situation;
        let shape = shape_of(situation, submission.size(partition), submission.limit_in(partition));
        let moment = Moment { now: *now, at: *now, claimed: *claimed }.at(submission.begin.unwrap_or(*now));
        let wait = snapshot.wait(&shape, Some(&moment))?;
        let pressure = snapshot.pressure(partition, shape.size.cpus, &moment);
        let bound = |key: &&'static str| (*key, key.parse().ok().and_then(|probability| wait.bound(probability)).map(|bound| bound.0));
        let start = |duration_s: i64| StartsWithin { duration_s, probability: wait.probability_within(Seconds(duration_s)) };
        Some(Self {
            source: wait.source.name(),
            class: wait.class.map(|class| ClassReport::of(partition.name, class)),
            jobs: wait.jobs,
            pressure: pressure.map(|pressure| (pressure * 1e3).round() / 1e3),
            confidence: (wait.source == WaitSource::Qbets).then(|| (snapshot.provenance().confidence * 1e6).round() / 1e6),
            median_s: wait.median.0,
            bounds_s: BOUND_PROBABILITIES.iter().map(bound).collect(),
            starts_within: START_DURATIONS_S.into_iter().map(start).collect(),
            percentiles_s: (1..=99)
                .map(|percent| f64::from(percent) / 100.0)
                .filter_map(|probability| Some((probability, wait.bound(probability)?.0)))
                .collect(),
        })
    }
}

impl ClassReport {
    fn of(partition: &str, class: WaitClass) -> Self {
        let last = |last: u32| Some(last).filter(|last| *last < u32::MAX);
        let is_any_size = class.first_cpus <= 1 && class.last_cpus == u32::MAX;
        let is_any_limit = class.first_limit_s == 0 && class.last_limit_s == u32::MAX;
        Self {
            partition: partition.to_owned(),
            cpus: (!is_any_size).then(|| (class.first_cpus.max(1), last(class.last_cpus))),
            limits_s: (!is_any_limit).then(|| (i64::from(class.first_limit_s), last(class.last_limit_s).map(i64::from))),
        }
    }
}

/// The forecast of the run time.
#[derive(Debug, Serialize)]
pub struct RunTimeReport {
    /// Past jobs of the user at this size; 0 where jobs of the user of other sizes, other users'
    /// jobs, or the time limit stand in for them.
    pub jobs: u32,
    /// The unit in which sizes are counted.
    pub unit: Unit,
    /// The median in seconds, or the time limit; `None` where neither is known.
    pub point_s: Option<i64>,
    /// The ranges; none where the time limit is taken.
    pub ranges: Vec<RangeReport>,
}

/// A range of run times and its probability.
#[derive(Debug, Serialize)]
pub struct RangeReport {
    /// The shortest, in seconds.
    pub lower_s: i64,
    /// The longest, in seconds.
    pub upper_s: i64,
    /// Its probability.
    pub probability: f64,
}

impl RunTimeReport {
    /// The forecast for the job as it is written.
    pub fn of(situation: &Situation<'_>) -> Self {
        let DecisionInputs { submission, partition, forecasts: snapshot, .. } = situation;
        let (unit, count) = JobReport::counts_in(situation);
        let limit = submission.limit_in(partition);
        let asked = RunTimeQuestion { user: submission.user, partition: partition.index, unit, count, limit };
        match snapshot.run_time(&asked) {
            Some(past) => {
                let ranges = past.within(limit);
                let report = |range: &RunTimeRange| RangeReport {
                    lower_s: range.lower().0,
                    upper_s: range.upper().0,
                    probability: (range.probability() * 1e4).round() / 1e4,
                };
                Self { jobs: past.jobs, unit, point_s: Some(median(&ranges).0), ranges: ranges.iter().map(report).collect() }
            }
            None => Self { jobs: 0, unit, point_s: limit.map(|limit| limit.0), ranges: Vec::new() },
        }
    }
}

/// The probability of being done by a time.
#[derive(Debug, Serialize)]
pub struct DoneReport {
    /// The time, in Unix seconds.
    pub by: i64,
    /// The probability.
    pub probability: f64,
    /// Whether it is the job's deadline.
    pub is_deadline: bool,
}

impl DoneReport {
    /// Returns the reports for the deadline and the other requested times; none if nothing is known
    /// of waits.
    pub fn all(situation: &Situation<'_>, by: &[UnixTime]) -> Vec<Self> {
        let deadline = situation.submission.deadline;
        let times = deadline.into_iter().map(|deadline| (deadline, true)).chain(by.iter().map(|time| (*time, false)));
        times.filter_map(|(by, is_deadline)| Some(Self { by: by.0, probability: done_by(situation, by)?, is_deadline })).collect()
    }
}

/// The probability of being done by a time, as the decisions forecast it for a deadline, of the job
/// as it is written.
fn done_by(situation: &Situation<'_>, by: UnixTime) -> Option<f64> {
    let submission = Submission { deadline: Some(by), asked: UserOptions::default(), ..situation.submission.clone() };
    let policy = Policy { mold: When::Never, defer: When::Never, ..situation.policy };
    let as_written = decide(&DecisionInputs { submission: &submission, policy, ..*situation }).as_written?;
    as_written.wait?;
    as_written.deadline_probability.map(|probability| (probability * 1e4).round() / 1e4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_class_does_not_bound_is_told_as_all() {
        let class = WaitClass { first_cpus: 0, last_cpus: u32::MAX, first_limit_s: 0, last_limit_s: u32::MAX };
        let told = |class| {
            let report = ClassReport::of("batch", class);
            (report.cpus, report.limits_s)
        };
        assert_eq!(told(class), (None, None));
        assert_eq!(told(WaitClass { last_cpus: 4, last_limit_s: 600, ..class }), (Some((1, Some(4))), Some((0, Some(600)))));
        assert_eq!(told(WaitClass { first_cpus: 5, first_limit_s: 601, ..class }), (Some((5, None)), Some((601, None))));
    }
}
