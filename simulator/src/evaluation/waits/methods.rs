//! The methods, each asked about every job of the test part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use predictor_core::binomial::PERCENTILES;
use predictor_core::trees::training::Training;
use predictor_core::waits::blended::{BlendedWaits, MEMBERS, Member, Settings};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{EvaluationError, Forecasts, Replay};

/// Upper bounds in seconds on the percentiles 1 to 99.
pub(super) type Bounds = [u32; PERCENTILES];

/// A way to forecast waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Method {
    /// The default of this project.
    Best,
    /// Adaptive, by the end-to-end paper.
    Apq,
    /// Instance based, by Li and others.
    Ibl,
    /// Plain k nearest neighbours.
    Nearest,
    /// Binomial bounds, by Nurmi and others.
    Qbets,
    /// Always zero.
    Zero,
}

impl Method {
    /// All of them, the slowest first, so that the cores are used to the end.
    const ALL: [Method; 6] = [Method::Best, Method::Apq, Method::Ibl, Method::Nearest, Method::Qbets, Method::Zero];

    /// Its key in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Best => "best",
            Method::Apq => "apq",
            Method::Ibl => "ibl",
            Method::Nearest => "knn",
            Method::Qbets => "qbets",
            Method::Zero => "zero",
        }
    }
}

/// Asks all methods, side by side.
pub(super) fn forecast_all(replay: &Replay, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Vec<Forecasts>, EvaluationError> {
    let done = AtomicUsize::new(0);
    let total = Method::ALL.len() * replay.test.end;
    let step = |rows: usize| progress(done.fetch_add(rows, Ordering::Relaxed) + rows, total);
    Method::ALL.par_iter().with_max_len(1).map(|method| forecast(*method, replay, &step)).collect()
}

fn forecast(method: Method, replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Result<Forecasts, EvaluationError> {
    match method {
        Method::Best => best(replay, step),
        Method::Zero => {
            step(replay.test.end);
            Ok(Forecasts { points_s: vec![0.0; replay.test.len()], ..nothing(method) })
        }
        _ => {
            step(replay.test.end);
            Ok(nothing(method))
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
        durations_s: Vec::new(),
        notes: Vec::new(),
    }
}

/// How often progress is told, in jobs.
const PROGRESS_JOBS: usize = 250;

fn best(replay: &Replay, step: &(dyn Fn(usize) + Sync)) -> Result<Forecasts, EvaluationError> {
    struct State {
        waits: BlendedWaits,
        found: Forecasts,
        members: [Vec<f64>; MEMBERS],
        weights: [f64; MEMBERS],
        failure: Option<String>,
    }
    let defaults = Settings::default();
    let settings = Settings { training: Training { seed: replay.seed, ..defaults.training }, ..defaults };
    let mut state = State {
        waits: BlendedWaits::new(settings),
        found: nothing(Method::Best),
        members: Default::default(),
        weights: [0.0; MEMBERS],
        failure: None,
    };
    let arrive = |state: &mut State, row: usize| {
        if row % PROGRESS_JOBS == 0 {
            step(PROGRESS_JOBS.min(replay.test.end - row));
        }
        if let Some(retraining) = state.waits.retraining(&replay.past) {
            match retraining.run() {
                Ok(retrained) => state.waits.adopt(retrained),
                Err(error) => state.failure = Some(error.to_string()),
            }
        }
        let begin = Instant::now();
        let forecast = state.waits.arrive(&replay.past, row);
        let duration_s = begin.elapsed().as_secs_f64();
        if !replay.test.contains(&row) {
            return;
        }
        state.found.durations_s.push(duration_s);
        state.found.points_s.push(forecast.point_s);
        state.found.bounds.push(forecast.bounds_s);
        for (forecasts, root) in state.members.iter_mut().zip(forecast.members) {
            forecasts.push(f64::from(root).powi(2));
        }
        for (sum, weight) in state.weights.iter_mut().zip(state.waits.weights()) {
            *sum += f64::from(*weight);
        }
    };
    replay.run(&mut state, arrive, |state, row| state.waits.learn(&replay.past, row));
    if let Some(why) = state.failure {
        return Err(EvaluationError::Method { method: Method::Best.name(), why });
    }
    let jobs = replay.test.len() as f64;
    let weights = Member::ALL.into_iter().zip(state.weights).map(|(member, sum)| (member.name(), sum / jobs)).collect();
    let members = Member::ALL.into_iter().map(Member::name).zip(state.members).collect();
    Ok(Forecasts { members, weights, ..state.found })
}
