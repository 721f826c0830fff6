//! Forecasts of run times held against a log, by the protocol of Hariharan et al. 2020 (V).
//!
//! All methods go through the same events in the same order: each is asked about a job when it
//! arrives, and told a run time when the job ends. Parameters and load functions come from the jobs
//! before the test part.

mod methods;
mod report;
mod shipped;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::PartitionIndex;
use learning::run_times::RunTimePrediction;
use learning::sweep::events;
use predictor_core::forecasts::class::{cpus_of_size_class, size_class};
use predictor_core::forecasts::forecast::below_and_up_to;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

pub use self::report::{RunTimeClassReport, RunTimePartReport, RunTimeReport};

use self::methods::{Forecast, HISTORY_JOBS, Method, Way};
use super::averages::{mean, median};
use super::{ByMethod, EvaluationError, Methods, QueueReport, SizeReport, Workload};

/// Which jobs of a log to forecast, and the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTimeOptions {
    /// First job to forecast, counted from 1 among the jobs that ran.
    pub from: usize,
    /// Last job to forecast; the last of the log where that has fewer.
    pub to: usize,
    /// Seed of all that is random.
    pub seed: u64,
    /// Which methods are asked.
    pub methods: Methods,
}

impl Default for RunTimeOptions {
    /// Hariharan et al.'s test part: all jobs from the 20,001st on (V).
    fn default() -> Self {
        Self { from: 20_001, to: usize::MAX, seed: 1, methods: Methods::All }
    }
}

/// Progress is told after so many events.
const PROGRESS_EVENTS: usize = 4_096;
/// Nominal values of the coverage.
const NOMINAL: [(&str, f64); 4] = [("0.5", 0.5), ("0.75", 0.75), ("0.9", 0.9), ("0.95", 0.95)];
/// First seconds of the classes of run times.
const CLASSES_S: [u32; 5] = [0, 100, 1_000, 10_000, 100_000];
/// Blocks in which the coverage is told as well.
const BLOCK_JOBS: usize = 4_000;

/// How one method did on one job.
#[derive(Debug, Clone, Copy)]
struct RunTimeScore {
    error_s: f64,
    length_s: f64,
    has_range: bool,
    success: bool,
    success_beyond_limit: bool,
    /// Randomised probability integral transform.
    transform: Option<f64>,
}

/// Forecasts the run times of the jobs `from` to `to` in order of time, each from what was known
/// when it arrived. `progress` is told how much of the work is done, of how much.
///
/// # Errors
///
/// [`EvaluationError::TooFewJobs`] where the log has not got the jobs.
pub fn evaluate_run_times(
    workload: &Workload,
    options: &RunTimeOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<RunTimeReport, EvaluationError> {
    let jobs = workload.jobs.as_slice();
    let test = options.from.saturating_sub(1)..options.to.min(jobs.len());
    if test.is_empty() {
        return Err(EvaluationError::TooFewJobs { found: jobs.len(), wanted: options.from });
    }
    let events = events(jobs);
    let way = Way { jobs, events: &events, processors: workload.processors, test: test.clone(), seed: options.seed };
    let is_wanted = |method: &Method| options.methods == Methods::All || method.is_inexpensive();
    let methods: Vec<Method> =
        Method::ALL.into_iter().filter(is_wanted).filter(|method| workload.has_limits || *method != Method::Requested).collect();

    let (done, all) = (AtomicUsize::new(0), methods.len() * events.len());
    let pass = |count: usize| progress((done.fetch_add(count, Ordering::Relaxed) + count).min(all), all);
    let results: Vec<(Method, Vec<RunTimeScore>, Option<String>)> = methods
        .into_par_iter()
        .with_max_len(1)
        .map(|method| {
            let mut random = ChaCha8Rng::seed_from_u64(options.seed);
            let mut scores = Vec::with_capacity(test.len());
            let mut events_passed = 0;
            let forecast =
                |forecast: Forecast| scores.extend(jobs.get(forecast.index).and_then(|job| score(job, &forecast, random.random())));
            let remark = way.go(method, forecast, || {
                events_passed += 1;
                if events_passed % PROGRESS_EVENTS == 0 {
                    pass(PROGRESS_EVENTS);
                }
            });
            pass(events.len() - events_passed / PROGRESS_EVENTS * PROGRESS_EVENTS);
            (method, scores, remark)
        })
        .collect();
    Ok(report(workload, &test, &results))
}

fn score(job: &EndedJob, forecast: &Forecast, uniform: f64) -> Option<RunTimeScore> {
    let run_time = job.run_time()?;
    let prediction: &RunTimePrediction = &forecast.prediction;
    let in_range = prediction.holds(run_time.0);
    let ran_into_limit = job.submitted.limit.is_some_and(|limit| run_time >= limit && prediction.holds(limit.0));
    let transform = forecast.distribution.as_ref().map(|distribution| {
        let within_limit = job.submitted.limit.map_or(run_time, |limit| run_time.min(limit));
        let (less, up_to) = below_and_up_to(distribution, within_limit.clamped_u32());
        less + uniform * (up_to - less)
    });
    Some(RunTimeScore {
        error_s: (prediction.point_s - run_time.0 as f64).abs(),
        length_s: prediction.length_s(),
        has_range: !prediction.ranges.is_empty(),
        success: in_range || ran_into_limit,
        success_beyond_limit: in_range,
        transform,
    })
}

fn report(workload: &Workload, test: &std::ops::Range<usize>, results: &Results) -> RunTimeReport {
    let of = |wanted: Method| results.iter().find(|(method, _, _)| *method == wanted).map_or(&[][..], |(_, scores, _)| scores);
    let baseline = of(Method::Baseline);
    let best = of(Method::Best);
    let transforms: Vec<f64> = best.iter().filter_map(|score| score.transform).collect();
    let by_method = |value: &dyn Fn(&[RunTimeScore]) -> f64| -> ByMethod<f64> {
        results.iter().map(|(method, scores, _)| (method.name(), value(scores))).collect()
    };
    let part = |is: fn(&RunTimeScore) -> bool| by_method(&|scores| mean(scores.iter().map(|score| f64::from(is(score)))));
    let base_length: f64 = baseline.iter().map(|score| score.length_s).sum();
    let percent = |length: f64| 100.0 * length / base_length.max(f64::MIN_POSITIVE);

    let run_times: Vec<f64> = workload
        .jobs
        .get(test.clone())
        .unwrap_or_default()
        .iter()
        .filter_map(EndedJob::run_time)
        .map(|run_time| run_time.0 as f64)
        .collect();
    let classes = CLASSES_S.iter().enumerate().map(|(class, from_s)| {
        let below_s = CLASSES_S.get(class + 1).copied();
        let is_member = |run_time_s: f64| run_time_s >= f64::from(*from_s) && below_s.is_none_or(|below_s| run_time_s < f64::from(below_s));
        let errors = |scores: &[RunTimeScore]| {
            mean(scores.iter().zip(&run_times).filter(|(_, run_time_s)| is_member(**run_time_s)).map(|(score, _)| score.error_s / 60.0))
        };
        let jobs = run_times.iter().filter(|run_time_s| is_member(**run_time_s)).count();
        RunTimeClassReport { from_s: *from_s, below_s, jobs, aae_minutes: by_method(&errors) }
    });

    let mut notes: Vec<String> = results.iter().filter_map(|(_, _, remark)| remark.clone()).collect();
    if !workload.has_limits {
        notes.push("requested: left out, the log has no requested times; the other methods go without them".to_owned());
    }
    notes.push(format!("baseline, range_sets and the errors of point forecasts look at the last {HISTORY_JOBS} jobs that ended"));
    notes.push(
        "smith, li, last_two, requested: a range as long as the mean absolute error of the like jobs lies about the point forecast"
            .to_owned(),
    );

    RunTimeReport {
        test_jobs: run_times.len(),
        success_rate: part(|score| score.success),
        coverage_percent: by_method(&|scores| {
            percent(scores.iter().zip(baseline).filter(|(_, baseline)| baseline.has_range).map(|(score, _)| score.length_s).sum())
        }),
        aae_minutes: by_method(&|scores| mean(scores.iter().map(|score| score.error_s / 60.0))),
        median_ae_minutes: by_method(&|scores| median(scores.iter().map(|score| score.error_s / 60.0).collect())),
        by_queue: by_queue(workload, test, results),
        by_size: by_size(workload, test, results),
        pit_coverage: coverage(&transforms),
        from: test.start + 1,
        to: test.end,
        success_rate_beyond_limit: part(|score| score.success_beyond_limit),
        coverage_with_new_percent: by_method(&|scores| percent(scores.iter().map(|score| score.length_s).sum())),
        median_coverage_percent: by_method(&|scores| {
            let with_baseline = scores.iter().zip(baseline).filter(|(_, baseline)| baseline.has_range);
            median(with_baseline.map(|(score, baseline)| 100.0 * score.length_s / baseline.length_s).collect())
        }),
        with_range: part(|score| score.has_range),
        by_run_time: classes.collect(),
        reliability: (1..20).map(|step| f64::from(step) / 20.0).map(|nominal| [nominal, at_most(&transforms, nominal)]).collect(),
        block_pit_coverage: transforms.chunks(BLOCK_JOBS).map(coverage).collect(),
        notes,
    }
}

/// What each method forecast of the test part, and a remark of it.
type Results = [(Method, Vec<RunTimeScore>, Option<String>)];

/// Places in the test part of the jobs that have something in common.
fn grouped<K: Ord>(workload: &Workload, test: &std::ops::Range<usize>, key: impl Fn(&WaitingJob) -> K) -> BTreeMap<K, Vec<usize>> {
    let mut places: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (place, job) in workload.jobs.get(test.clone()).unwrap_or_default().iter().enumerate() {
        places.entry(key(&job.submitted)).or_default().push(place);
    }
    places
}

fn by_queue(workload: &Workload, test: &std::ops::Range<usize>, results: &Results) -> Vec<QueueReport<RunTimePartReport>> {
    let name = |index: PartitionIndex| workload.queues.get(usize::from(index.0)).cloned().unwrap_or_else(|| index.to_string());
    let places = grouped(workload, test, |job| job.partition);
    places.into_iter().map(|(queue, places)| QueueReport { queue: name(queue), part: part(results, &places) }).collect()
}

fn by_size(workload: &Workload, test: &std::ops::Range<usize>, results: &Results) -> Vec<SizeReport<RunTimePartReport>> {
    let report = |(class, places): (u8, Vec<usize>)| {
        let cpus = cpus_of_size_class(class);
        SizeReport {
            at_least_processors: *cpus.start(),
            at_most_processors: Some(*cpus.end()).filter(|most| *most < u32::MAX),
            part: part(results, &places),
        }
    };
    grouped(workload, test, |job| size_class(job.size)).into_iter().map(report).collect()
}

fn part(results: &Results, places: &[usize]) -> RunTimePartReport {
    let minutes =
        |scores: &[RunTimeScore]| -> Vec<f64> { places.iter().filter_map(|place| Some(scores.get(*place)?.error_s / 60.0)).collect() };
    let best = results.iter().find(|(method, _, _)| *method == Method::Best).map_or(&[][..], |(_, scores, _)| scores);
    let transforms: Vec<f64> = places.iter().filter_map(|place| best.get(*place)?.transform).collect();
    RunTimePartReport {
        jobs: places.len(),
        aae_minutes: results.iter().map(|(method, scores, _)| (method.name(), mean(minutes(scores)))).collect(),
        median_ae_minutes: results.iter().map(|(method, scores, _)| (method.name(), median(minutes(scores)))).collect(),
        pit_coverage: coverage(&transforms),
    }
}

fn coverage(transforms: &[f64]) -> BTreeMap<&'static str, f64> {
    NOMINAL.iter().map(|(name, nominal)| (*name, at_most(transforms, *nominal))).collect()
}

fn at_most(transforms: &[f64], nominal: f64) -> f64 {
    mean(transforms.iter().map(|transform| f64::from(*transform <= nominal)))
}

#[cfg(test)]
mod tests;
