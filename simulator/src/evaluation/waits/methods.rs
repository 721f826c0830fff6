//! The methods, each asked about every job of the test part.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use job_types::record::WaitSource;
use job_types::time::UnixTime;
use learning::training::Training;
use learning::waits::blended::{BlendedWaits, Settings};
use learning::waits::qbets::{self, ClassForecast, Qbets};
use learning::{Asked, Trials};
use predictor_core::forecasts::blend::{MEMBERS, Member};
use predictor_core::forecasts::forecast::PERCENTILES;
use published_methods::waits::apq::Apq;
use published_methods::waits::nearest::NearestNeighbours;
use published_methods::waits::{Split, WaitPredictor, ibl};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{EvaluationError, Forecasts, InForce, Replay};
use crate::evaluation::Methods;

/// Upper bounds in seconds on the percentiles 1 to 99.
pub(super) type Bounds = [u32; PERCENTILES];

/// A way to forecast waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Method {
    /// The default of this project.
    Best,
    /// Adaptive, by Hariharan et al. 2020.
    Apq,
    /// Instance based, by Li and others.
    Ibl,
    /// Plain k nearest neighbours.
    #[strum(serialize = "knn")]
    Nearest,
    /// Binomial bounds, by Nurmi and others.
    Qbets,
    /// The forecast that no job waits.
    Zero,
}

impl Method {
    /// All of them, the slowest first, so that the cores are used to the end.
    const ALL: [Method; 6] = [Method::Best, Method::Apq, Method::Ibl, Method::Nearest, Method::Qbets, Method::Zero];

    /// Returns the key of the method in reports.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is asked where only inexpensive methods are ([`Methods::Inexpensive`]).
    fn is_inexpensive(self) -> bool {
        !matches!(self, Method::Apq | Method::Ibl)
    }
}

/// Asks the methods that are wanted, side by side.
pub(super) fn forecast_all(
    wanted: Methods,
    replay: &Replay,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Forecasts>, EvaluationError> {
    let methods: Vec<Method> = Method::ALL.into_iter().filter(|method| wanted == Methods::All || method.is_inexpensive()).collect();
    let done = AtomicUsize::new(0);
    let total = methods.len() * replay.rows();
    let step = |rows: usize| progress(done.fetch_add(rows, Ordering::Relaxed) + rows, total);
    methods.par_iter().with_max_len(1).map(|method| forecast(*method, replay, &step)).collect()
}

fn forecast(method: Method, replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Result<Forecasts, EvaluationError> {
    match method {
        Method::Best => best(replay, step),
        Method::Zero => {
            step(replay.rows());
            Ok(Forecasts { points_s: vec![0.0; replay.test.len()], ..nothing(method) })
        }
        Method::Qbets => Ok(qbets(replay, step)),
        Method::Nearest => {
            let count = NearestNeighbours::tune(&replay.past, &split(replay));
            let note = format!("knn: the mean of {count} neighbours, chosen on the validation part");
            Ok(points(method, NearestNeighbours::new(count), note, replay, step))
        }
        Method::Ibl => {
            let parameters = ibl::InstanceBased::tune(&replay.past, &split(replay), replay.seed);
            let note = format!("ibl: {:?}, weights found by a genetic algorithm on the validation part", parameters.model);
            Ok(points(method, ibl::InstanceBased::new(parameters), note, replay, step))
        }
        Method::Apq => {
            let parameters = Apq::tune(&replay.past, &split(replay));
            let note = format!("apq: parameters of table IV, chosen on the validation part: {parameters:?}");
            Ok(points(method, Apq::new(parameters), note, replay, step))
        }
    }
}

fn nothing(method: Method) -> Forecasts {
    Forecasts {
        method,
        points_s: Vec::new(),
        bounds: Vec::new(),
        members: Vec::new(),
        weights: Vec::new(),
        in_force: Vec::new(),
        durations_s: Vec::new(),
        notes: Vec::new(),
    }
}

/// Jobs of the validation part, and of the history before it.
const VALIDATION_JOBS: usize = 4_000;
const HISTORY_JOBS: usize = 6_000;

/// How often progress is told, in jobs.
const PROGRESS_JOBS: usize = 250;

/// The parts of the log that parameters are chosen on: the 4,000 jobs before the test part, with
/// the 6,000 before those as history (V), or in the same proportion of what there is.
fn split(replay: &Replay) -> Split {
    let end = replay.test.start;
    let validation = VALIDATION_JOBS.min(2 * end / 5);
    let first = end.saturating_sub(validation + HISTORY_JOBS);
    let (history, validation) = (replay.rows_of(first..end - validation), replay.rows_of(end - validation..end));
    Split { history, validation, ..Split::default() }
}

/// A method that gives points only.
fn points<P: WaitPredictor>(method: Method, predictor: P, note: String, replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Forecasts {
    let mut state = (predictor, nothing(method));
    let arrive = |(predictor, found): &mut (P, Forecasts), row: usize| {
        tell(replay, row, step);
        if replay.is_test(row) {
            found.points_s.push(predictor.point(&replay.past, row));
        }
    };
    replay.run(&mut state, arrive, |(predictor, _), row| predictor.learn(&replay.past, row), |_, _, _| ());
    Forecasts { notes: vec![note], ..state.1 }
}

/// QBETS, whose bounds are asked at every twentieth.
fn qbets(replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Forecasts {
    let mut state = (Qbets::new(), nothing(Method::Qbets));
    let arrive = |(predictor, found): &mut (Qbets, Forecasts), row: usize| {
        tell(replay, row, step);
        if replay.is_test(row) {
            found.points_s.push(predictor.point(&replay.past, row));
            found.bounds.push(qbets_bounds(predictor, replay, row));
        }
    };
    replay.run(&mut state, arrive, |(predictor, _), row| predictor.learn(&replay.past, row), |_, _, _| ());
    let (predictor, found) = state;
    let (downtimes, lasted) = predictor.downtimes();
    let note = format!("qbets: {downtimes} downtimes of the machine were found, {} in all, and not counted as waiting", lasted);
    Forecasts { notes: vec![note], ..found }
}

/// QBETS's bounds on the percentiles 5, 10 to 95, which also stand for those below each. A
/// percentile that the history is too short for has the bound of the one before.
fn qbets_bounds(predictor: &Qbets, replay: &Replay, row: usize) -> Option<Bounds> {
    let mut bounds = [0; PERCENTILES];
    let mut known = None;
    for (step, chunk) in (1..).zip(bounds.chunks_mut(5)) {
        let quantile = (f64::from(step) / 20.0).min(0.99);
        let bound = predictor.bound(&replay.past, row, quantile, qbets::CONFIDENCE);
        known = bound.map(job_types::time::Seconds::clamped_u32).or(known);
        chunk.fill(known.unwrap_or(0));
    }
    known.map(|_| bounds)
}

/// Tells the progress every some hundred jobs.
fn tell(replay: &Replay, row: usize, step: &(dyn Fn(usize) + Sync)) {
    if row.is_multiple_of(PROGRESS_JOBS) {
        step(PROGRESS_JOBS.min(replay.rows() - row));
    }
}

/// What was forecast when a job arrived, until its wait is known.
struct ArrivalForecast {
    point_s: f64,
    bounds_s: Bounds,
    qbets: Option<(f64, Bounds)>,
}

impl ArrivalForecast {
    fn asked(&self) -> (Asked<'_>, Option<Asked<'_>>) {
        let qbets = self.qbets.as_ref().map(|(point_s, bounds_s)| Asked { point_s: *point_s, bounds_s });
        (Asked { point_s: self.point_s, bounds_s: &self.bounds_s }, qbets)
    }
}

/// The forecast of a class as it is shown and held against the wait: its median, and its bounds.
fn of_class(class: &ClassForecast) -> Option<(f64, Bounds)> {
    Some((f64::from(class.median_s), class.distribution_s()?))
}

fn best(replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Result<Forecasts, EvaluationError> {
    struct State {
        waits: BlendedWaits,
        qbets: Qbets,
        found: Forecasts,
        members: [Vec<f64>; MEMBERS],
        weights: [f64; MEMBERS],
        trials: Trials,
        /// The forecasts by row, until the wait is known.
        asked: HashMap<usize, ArrivalForecast>,
        random: ChaCha8Rng,
        failure: Option<String>,
    }
    let defaults = Settings::default();
    let settings = Settings { training: Training { seed: replay.seed, ..defaults.training }, ..defaults };
    let mut state = State {
        waits: BlendedWaits::new(settings),
        qbets: Qbets::new(),
        found: nothing(Method::Best),
        members: Default::default(),
        weights: [0.0; MEMBERS],
        trials: Trials::default(),
        asked: HashMap::new(),
        random: ChaCha8Rng::seed_from_u64(replay.seed),
        failure: None,
    };
    let arrive = |state: &mut State, row: usize| {
        tell(replay, row, step);
        if let Some(retraining) = state.waits.retraining(&replay.past) {
            match retraining.run() {
                Ok(retrained) => state.waits.adopt(retrained),
                Err(error) => state.failure = Some(error.to_string()),
            }
        }
        let begin = Instant::now();
        let forecast = state.waits.arrive(&replay.past, row);
        let duration_s = begin.elapsed().as_secs_f64();
        let qbets = replay.past.job(row).and_then(|job| of_class(&state.qbets.forecast(job.submitted())?));
        if let Some(bounds_s) = forecast.bounds_s.filter(|_| state.waits.forests().is_some()) {
            state.asked.insert(row, ArrivalForecast { point_s: forecast.point_s, bounds_s, qbets });
        }
        if !replay.is_test(row) {
            return;
        }
        state.found.durations_s.push(duration_s);
        state.found.points_s.push(forecast.point_s);
        state.found.bounds.push(forecast.bounds_s);
        let choice = replay.past.job(row).and_then(|job| state.trials.choice(job.submitted().partition)).unwrap_or_default();
        let (point_s, bounds) = match choice.source {
            WaitSource::Blended => (Some(forecast.point_s), forecast.bounds_s),
            WaitSource::Qbets => qbets.unzip(),
            WaitSource::Nothing => (None, None),
        };
        state.found.in_force.push(InForce { source: choice.source, point_s, bounds });
        for (forecasts, root) in state.members.iter_mut().zip(forecast.members) {
            forecasts.push(f64::from(root).powi(2));
        }
        for (sum, weight) in state.weights.iter_mut().zip(state.waits.weights()) {
            *sum += f64::from(*weight);
        }
    };
    let start = |state: &mut State, row: usize| {
        state.waits.learn(&replay.past, row);
        let Some((job, wait)) = replay.past.job(row).and_then(|job| Some((job, job.wait()?))) else { return };
        state.trials.wait_is_known(job.submitted().partition);
        state.qbets.observe(job.submitted(), wait);
        if let Some(forecast) = state.asked.remove(&row) {
            let (default, qbets) = forecast.asked();
            state.trials.learn(job.submitted().partition, default, qbets, wait.0, state.random.random());
        }
        state.trials.choose(job.submitted().partition, state.waits.forests().is_some());
    };
    let leave = |state: &mut State, row: usize, at: UnixTime| {
        state.waits.leave(row, at);
        if let Some((forecast, job)) = state.asked.remove(&row).zip(replay.past.job(row)) {
            let (default, qbets) = forecast.asked();
            let waited_s = (at - job.submitted().eligible).0.max(0);
            state.trials.leave(job.submitted().partition, default, qbets, waited_s, state.random.random());
        }
    };
    replay.run(&mut state, arrive, start, leave);
    if let Some(why) = state.failure {
        return Err(EvaluationError::Method { method: Method::Best.name(), why });
    }
    let jobs = replay.test.len() as f64;
    let weights = Member::ALL.into_iter().zip(state.weights).map(|(member, sum)| (member.name(), sum / jobs)).collect();
    let members = Member::ALL.into_iter().map(Member::name).zip(state.members).collect();
    Ok(Forecasts { members, weights, ..state.found })
}
