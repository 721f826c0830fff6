//! What is counted of experiments.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

use super::PlacementMethod;
use crate::engine::Job;
use crate::engine::reserved::Outcome;

/// One experiment: a method, a draw, a book-ahead and a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacementExperiment {
    /// How slots are ranked.
    pub method: PlacementMethod,
    /// The seed of the draw.
    pub seed: u64,
    /// From the submission of a request to the begin of its window.
    pub book_ahead_s: i64,
    /// From the first to the last start inside the window.
    pub window_s: i64,
    /// How many reservations were asked for.
    pub requested: usize,
    /// How many were granted.
    pub granted: usize,
    /// Those of the fifth of the requests that were submitted at the highest backlog: how many, and
    /// how many of them were granted.
    #[serde(flatten)]
    pub high_load: HighLoad,
    /// From the first submission to the last end of a job, without reservations.
    pub original_makespan_s: i64,
    /// The same with them.
    pub makespan_s: i64,
    /// Jobs that wait longer than without reservations.
    pub delayed_jobs: usize,
    /// Jobs that wait less long.
    pub gained_jobs: usize,
    /// Mean wait of the delayed jobs without reservations.
    pub original_wait_s: f64,
    /// Mean wait of the delayed jobs.
    pub affected_wait_s: f64,
    /// By how much the delayed jobs wait longer, all together.
    pub added_wait_s: i64,
    /// By how much all jobs wait longer in the mean.
    pub net_wait_s: f64,
    /// Processor seconds that jobs would have had but for reservations to come.
    pub idle_processor_s: i64,
    /// Slots that were moved after they were granted.
    pub moved: usize,
    /// Reservations that were given back because their job started before.
    pub early: usize,
    /// The backlog at each request, in seconds, and whether it was granted.
    #[serde(skip)]
    pub(super) by_backlog: Vec<(f64, bool)>,
}

/// Requests at the highest backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HighLoad {
    /// How many there were.
    #[serde(rename = "high_load_requested")]
    pub requested: usize,
    /// How many of them were granted.
    #[serde(rename = "high_load_granted")]
    pub granted: usize,
}

impl HighLoad {
    /// The fifth with the highest backlog.
    fn of(mut by_backlog: Vec<(f64, bool)>) -> Self {
        by_backlog.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let requested = by_backlog.len() / 5;
        Self { requested, granted: by_backlog.iter().take(requested).filter(|(_, granted)| *granted).count() }
    }

    fn part(self) -> Option<f64> {
        (self.requested > 0).then(|| self.granted as f64 / self.requested as f64)
    }
}

/// The jobs that start later than without reservations, by their places, and by how much.
pub(super) fn delays(alone: &Outcome, outcome: &Outcome) -> Vec<(usize, Seconds)> {
    let later = outcome.starts.iter().zip(&alone.starts).map(|(start, alone)| *start - *alone).enumerate();
    later.filter(|(_, later)| *later > Seconds::ZERO).collect()
}

impl PlacementExperiment {
    /// Counts what became of jobs and requests.
    pub(super) fn of(
        (method, seed): (PlacementMethod, u64),
        (book_ahead, window): (Seconds, Seconds),
        jobs: &[Job],
        alone: &Outcome,
        outcome: &Outcome,
    ) -> Self {
        let delays = delays(alone, outcome);
        let added: i64 = delays.iter().map(|(_, delay)| delay.0).sum();
        let wait = |outcome: &Outcome, job: usize| (outcome.starts[job] - jobs[job].submit).0 as f64;
        let mean = |outcome: &Outcome| mean(delays.iter().map(|(job, _)| wait(outcome, *job)));
        let net: i64 = outcome.starts.iter().zip(&alone.starts).map(|(start, alone)| (*start - *alone).0).sum();
        let by_backlog: Vec<_> = outcome.requests.iter().map(|record| (record.backlog_s, record.granted.is_some())).collect();
        Self {
            method,
            seed,
            book_ahead_s: book_ahead.0,
            window_s: window.0,
            requested: outcome.requests.len(),
            granted: by_backlog.iter().filter(|(_, granted)| *granted).count(),
            high_load: HighLoad::of(by_backlog.clone()),
            original_makespan_s: makespan(jobs, alone),
            makespan_s: makespan(jobs, outcome),
            delayed_jobs: delays.len(),
            gained_jobs: outcome.starts.iter().zip(&alone.starts).filter(|(start, alone)| start < alone).count(),
            original_wait_s: mean(alone),
            affected_wait_s: mean(outcome),
            added_wait_s: added,
            net_wait_s: net as f64 / jobs.len().max(1) as f64,
            idle_processor_s: outcome.idle_processor_s,
            moved: outcome.requests.iter().map(|record| record.moved).sum(),
            early: outcome.requests.iter().filter(|record| record.is_early).count(),
            by_backlog,
        }
    }

    /// The part of the requests that was granted.
    #[must_use]
    pub fn success_rate(&self) -> f64 {
        self.granted as f64 / self.requested.max(1) as f64
    }
}

/// From the first submission to the last end.
fn makespan(jobs: &[Job], outcome: &Outcome) -> i64 {
    let first = jobs.first().map_or(UnixTime::default(), |job| job.submit);
    let last = jobs.iter().zip(&outcome.starts).map(|(job, start)| *start + job.run_time).max();
    last.map_or(0, |last| (last - first).0)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// A figure over draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverDraws {
    /// Its mean.
    pub mean: f64,
    /// The standard error of that, over the draws; `None` with one draw.
    pub standard_error: Option<f64>,
}

impl OverDraws {
    /// Returns the mean of the values of each draw, with its standard error.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, standard_error: (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()) }
    }
}

/// What the experiments of a method come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacementSummary {
    /// How slots are ranked.
    pub method: PlacementMethod,
    /// The part of the requests that was granted, in the mean of the experiments.
    pub success_rate: f64,
    /// The same of those in which book-ahead and window are at most two hours; `None` if there are
    /// none.
    pub small_success_rate: Option<f64>,
    /// The part that was granted of the fifth of each experiment's requests that were submitted at
    /// the highest backlog.
    pub high_load_success_rate: Option<f64>,
    /// The same of the fifth of all experiments' requests, draw by draw.
    pub high_load_of_all_success_rate: Option<f64>,
    /// By how much delayed jobs wait longer, all together and over all book-aheads: by window in
    /// seconds.
    pub added_wait_s: BTreeMap<i64, OverDraws>,
    /// The least and the most by which the makespan grows, as a part of it.
    pub makespan_growth: [f64; 2],
}

/// Both parameters are at most this in what section 5.2 calls small.
const SMALL_S: i64 = 2 * 3_600;

impl PlacementSummary {
    pub(super) fn of<'a>(method: PlacementMethod, experiments: impl Iterator<Item = &'a PlacementExperiment>) -> Self {
        let ours: Vec<_> = experiments.filter(|experiment| experiment.method == method).collect();
        let is_small = |experiment: &&&PlacementExperiment| experiment.book_ahead_s <= SMALL_S && experiment.window_s <= SMALL_S;
        let small: Vec<f64> = ours.iter().filter(is_small).map(|experiment| experiment.success_rate()).collect();
        let high: Vec<f64> = ours.iter().filter_map(|experiment| experiment.high_load.part()).collect();
        let mut of_all: BTreeMap<u64, Vec<(f64, bool)>> = BTreeMap::new();
        let mut added: BTreeMap<i64, BTreeMap<u64, f64>> = BTreeMap::new();
        for experiment in &ours {
            of_all.entry(experiment.seed).or_default().extend(&experiment.by_backlog);
            *added.entry(experiment.window_s).or_default().entry(experiment.seed).or_default() += experiment.added_wait_s as f64;
        }
        let of_all: Vec<f64> = of_all.into_values().filter_map(|requests| HighLoad::of(requests).part()).collect();
        let over_draws = |by_seed: BTreeMap<u64, f64>| OverDraws::of(&by_seed.into_values().collect::<Vec<_>>());
        let growth = |experiment: &&PlacementExperiment| {
            (experiment.makespan_s - experiment.original_makespan_s) as f64 / experiment.original_makespan_s.max(1) as f64
        };
        let growths = || ours.iter().map(growth);
        let known = |values: &[f64]| (!values.is_empty()).then(|| mean(values.iter().copied()));
        Self {
            method,
            success_rate: mean(ours.iter().map(|experiment| experiment.success_rate())),
            small_success_rate: known(&small),
            high_load_success_rate: known(&high),
            high_load_of_all_success_rate: known(&of_all),
            added_wait_s: added.into_iter().map(|(window, by_seed)| (window, over_draws(by_seed))).collect(),
            makespan_growth: [growths().fold(f64::INFINITY, f64::min), growths().fold(f64::NEG_INFINITY, f64::max)],
        }
    }
}
