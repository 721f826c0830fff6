//! The methods that are held against a log, and their way through it.

use job_types::job::EndedJob;
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor, Tuple, TupleHistory};
use learning::sweep::{Event, EventKind, events};
use predictor_core::forecasts::forecast::RunTimeRange;
use published_methods::genetic::Evolution;
use published_methods::run_times::{Baseline, LastTwo, Li, RangeSets, Requested, Smith};

use super::shipped::Shipped;

/// Number of jobs in the history (Hariharan et al. 2020, V).
pub(super) const HISTORY_JOBS: usize = 15_000;
/// Index of the first job of the history, which is the log's 5,000th (section V).
const HISTORY_FROM: usize = 4_999;
/// Parameters are searched on so many jobs before the test part; the first of them only teach.
const SEARCH_JOBS: usize = 6_000;
const SEARCH_TEACHING_JOBS: usize = 2_000;
/// Jobs of the search that are asked about, for the method whose forecasts cost much.
const SEARCH_QUESTIONS: usize = 400;
/// Bounds of the searches.
const SEARCH: Evolution = Evolution { population: 24, generations: 12, tournament: 3, crossover: 0.8, mutation: 0.05, elite: 2, seed: 1 };

/// One method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Method {
    Li,
    Best,
    RangeSets,
    Smith,
    Baseline,
    LastTwo,
    Requested,
}

impl Method {
    /// All of them, those that take long first.
    pub(super) const ALL: [Method; 7] =
        [Method::Li, Method::Best, Method::RangeSets, Method::Smith, Method::Baseline, Method::LastTwo, Method::Requested];

    /// Returns the key of the method in the report.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is asked where only inexpensive methods are (`Methods::Inexpensive`).
    pub(super) fn is_inexpensive(self) -> bool {
        !matches!(self, Method::Li | Method::Smith | Method::RangeSets)
    }

    /// Whether it gives a point that is yet to be turned into a range.
    fn gives_points(self) -> bool {
        matches!(self, Method::Li | Method::Smith | Method::LastTwo | Method::Requested)
    }
}

/// What a method says of one job of the test part.
pub(super) struct Forecast {
    /// Index of the job.
    pub(super) index: usize,
    /// Ranges and point.
    pub(super) prediction: RunTimePrediction,
    /// The whole distribution, where the method has one: ranges whose probabilities sum to 1.
    pub(super) distribution: Option<Vec<RunTimeRange>>,
}

enum Predictor {
    Default(Box<Shipped>),
    Published(Box<dyn RunTimePredictor>),
}

/// The log that all methods go through.
pub(super) struct Way<'a> {
    pub(super) jobs: &'a [EndedJob],
    pub(super) events: &'a [Event],
    pub(super) processors: u32,
    /// Indices of the test part.
    pub(super) test: std::ops::Range<usize>,
    pub(super) seed: u64,
}

impl Way<'_> {
    /// Lets a method go through the log until the last job of the test part arrives, and hands over
    /// what it says. `passed` is called after each event. Returns a remark about what was chosen on
    /// the validation part.
    pub(super) fn go(&self, method: Method, mut forecast: impl FnMut(Forecast), mut passed: impl FnMut()) -> Option<String> {
        let (mut predictor, remark) = self.predictor(method);
        let mut point_ranges = PointRanges::new(self.jobs.len());
        let mut mean = Mean::default();
        for event in self.events {
            let index = event.job as usize;
            let Some(past) = self.jobs.get(index).filter(|_| event.kind != EventKind::Arrival || index < self.test.end) else { break };
            let job = ArrivingJob::new(event.job, past);
            match event.kind {
                EventKind::Arrival => {
                    let (said, distribution) = match &mut predictor {
                        Predictor::Default(shipped) => shipped.predict(&job).unzip(),
                        Predictor::Published(published) => (published.predict(&job), None),
                    };
                    let fallback_s = job.submitted.limit.map_or(mean.value(), |limit| limit.0 as f64);
                    let mut prediction = said.unwrap_or_else(|| RunTimePrediction::point(fallback_s));
                    if method.gives_points() {
                        prediction.ranges.extend(point_ranges.range(index, &job, prediction.point_s));
                    }
                    if self.test.contains(&index) {
                        forecast(Forecast { index, prediction, distribution });
                    }
                }
                EventKind::Start => {
                    if let Predictor::Published(published) = &mut predictor {
                        published.starts(&job, event.at);
                    }
                }
                EventKind::End | EventKind::EndAtOnce => {
                    let run_time = past.run_time();
                    match &mut predictor {
                        Predictor::Default(shipped) => shipped.ended(&job, past),
                        Predictor::Published(published) => published.ends(&job, event.at, run_time),
                    }
                    if let Some(run_time) = run_time {
                        mean.push(run_time.0 as f64);
                        point_ranges.ended(index, &job, run_time.0 as f64);
                    }
                }
            }
            passed();
        }
        remark
    }

    fn predictor(&self, method: Method) -> (Predictor, Option<String>) {
        let published = |predictor: Box<dyn RunTimePredictor>| (Predictor::Published(predictor), None);
        let search = Evolution { seed: self.seed, ..SEARCH };
        let window = self.test.start.saturating_sub(SEARCH_JOBS)..self.test.start;
        let teaching = SEARCH_TEACHING_JOBS.min(window.len() / 2);
        let (validation, until) =
            (self.jobs.get(window).unwrap_or_default(), self.jobs.get(self.test.start).map(|job| job.submitted.eligible));
        match (method, until) {
            (Method::Baseline, _) => published(Box::new(Baseline::new(HISTORY_JOBS))),
            (Method::LastTwo, _) => published(Box::new(LastTwo::new())),
            (Method::Requested, _) => published(Box::new(Requested)),
            (Method::RangeSets, _) => {
                let validation_jobs = u32::try_from(self.test.start).unwrap_or(u32::MAX);
                published(Box::new(RangeSets::new(self.processors, validation_jobs, HISTORY_JOBS)))
            }
            (Method::Smith, Some(until)) => {
                let templates = Smith::search(validation, &events(validation), until, teaching, &search);
                let remark = format!("smith: a set of {} templates was found on the validation part", templates.len());
                (Predictor::Published(Box::new(Smith::new(templates))), Some(remark))
            }
            (Method::Li, Some(until)) => {
                let parameters = Li::search(validation, &events(validation), until, teaching, SEARCH_QUESTIONS, &search);
                let remark = format!(
                    "li: {} neighbours, kernel width {:.3} and a history of {} jobs were found on the validation part",
                    parameters.neighbours, parameters.kernel_width, parameters.history
                );
                (Predictor::Published(Box::new(Li::new(parameters))), Some(remark))
            }
            (Method::Best, _) | (_, None) => (Predictor::Default(Box::default()), None),
        }
    }
}

/// Turns points into ranges as Hariharan et al. do (VI.B): as long as the mean absolute error of
/// the method's forecasts for the like jobs in the history. Hariharan et al. put the range about
/// the job's actual run time, which would make every range a success; here it lies about the point.
struct PointRanges {
    points_s: Vec<f64>,
    errors_s: TupleHistory<f64>,
}

impl PointRanges {
    fn new(jobs: usize) -> PointRanges {
        PointRanges { points_s: vec![f64::NAN; jobs], errors_s: TupleHistory::new(HISTORY_JOBS) }
    }

    fn range(&mut self, index: usize, job: &ArrivingJob, point_s: f64) -> Option<RunTimeRange> {
        if let Some(point) = self.points_s.get_mut(index) {
            *point = point_s;
        }
        let errors = self.errors_s.get(&Tuple::from(job))?;
        let half = errors.iter().sum::<f64>() / errors.len() as f64 / 2.0;
        Some(RunTimeRange::new((point_s - half).max(0.0).round() as u32, (point_s + half).max(0.0).round() as u32, 1.0))
    }

    fn ended(&mut self, index: usize, job: &ArrivingJob, run_time_s: f64) {
        if let Some(point_s) = self.points_s.get(index).filter(|point_s| index >= HISTORY_FROM && point_s.is_finite()) {
            self.errors_s.push(Tuple::from(job), (point_s - run_time_s).abs());
        }
    }
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn push(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(&self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }
}
