//! What molding would have done to the latest jobs.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::replayed::ReplayedPast;
use super::schedulers::{EASY, Schedule, Schedulers};
use super::{AssessmentError, Options, Progress, Stage};
use crate::engine::Job;
use crate::experiment::{self, Comparison, JITTER, compare_under};

/// How often each question is asked, with other curves of speed-up, other users who use it, and
/// other moments of submission.
const DRAWS: u64 = 3;

/// The parts of the jobs that use it.
const ADOPTIONS: [f64; 2] = [0.5, 1.0];

/// The latest jobs replayed with molding as it ships and without. A job is the same computation at
/// every size, along a curve of speed-up that is drawn for each application, because no past says
/// what a job would have run at another size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Molding {
    /// Jobs before those that may be changed.
    pub history_jobs: usize,
    /// Jobs that may be changed.
    pub jobs: usize,
    /// What molding does under each scheduler: under Slurm's, with the settings of the site or its
    /// defaults, and under EASY. A gain under only one of them may come from that scheduler.
    pub by_scheduler: Vec<Molded>,
}

/// What molding does under one scheduler.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Molded {
    /// The scheduler under which the jobs are replayed.
    pub under: Under,
    /// The outcomes for each part of the jobs that uses molding, the smallest part first.
    pub adoptions: Vec<Adoption>,
}

/// A scheduler that molding is replayed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Under {
    /// Slurm's schedulers with the site's own settings and priorities.
    Site,
    /// Slurm's schedulers with their defaults, first come, first served.
    SlurmDefaults,
    /// EASY backfilling, first come, first served.
    Easy,
}

impl Under {
    /// Describes the scheduler in words that follow "replayed".
    #[must_use]
    pub fn how(self) -> &'static str {
        match self {
            Under::Site => "with the site's settings",
            Under::SlurmDefaults => "with Slurm's defaults",
            Under::Easy => "under EASY",
        }
    }

    /// Returns this scheduler's schedule among the schedules of all jobs.
    pub(super) fn schedule(self, schedulers: &Schedulers) -> Option<&Schedule> {
        match self {
            Under::Site | Under::SlurmDefaults => schedulers.schedules.first(),
            Under::Easy => schedulers.schedule(EASY),
        }
    }
}

/// What molding does where so many use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Adoption {
    /// The part of the jobs that use it, drawn job by job.
    pub adoption: f64,
    /// What was found with each draw of curves and users.
    pub draws: Vec<Comparison>,
}

impl Adoption {
    /// Returns the part by which the mean response of all jobs fell, one value for each draw; below
    /// 0 if it rose.
    #[must_use]
    pub fn gains(&self) -> Vec<f64> {
        self.draws.iter().map(|draw| -change(draw.baseline.mean_response_s, draw.ours.mean_response_s)).collect()
    }

    /// Returns the seconds by which the mean response of all jobs fell, the mean over the draws.
    #[must_use]
    pub fn gain_s(&self) -> f64 {
        mean(self.draws.iter().map(|draw| draw.baseline.mean_response_s - draw.ours.mean_response_s))
    }

    /// Returns the part by which the mean response of the jobs that use molding changed, the mean
    /// over the draws.
    #[must_use]
    pub fn adopters_change(&self) -> f64 {
        mean(self.draws.iter().map(|draw| change(draw.adopters.baseline_response_s, draw.adopters.response_s)))
    }

    /// Returns the part by which the mean response of the other jobs changed, the mean over the
    /// draws. Above 0 it is the price that they pay. `None` if there are no other jobs.
    #[must_use]
    pub fn others_change(&self) -> Option<f64> {
        let has_others = self.draws.iter().all(|draw| draw.others.jobs > 0);
        has_others.then(|| mean(self.draws.iter().map(|draw| change(draw.others.baseline_response_s, draw.others.response_s))))
    }
}

/// Returns the change from one figure to another, as a part of the first.
fn change(from: f64, to: f64) -> f64 {
    if from > 0.0 { to / from - 1.0 } else { 0.0 }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}

/// Replays the latest jobs, by scheduler, adoption and draw, side by side.
pub(super) fn molding(past: &ReplayedPast, options: &Options, progress: Progress<'_>) -> Result<Molding, AssessmentError> {
    let (jobs, _) = past.last(options.most.molding_jobs);
    let history_jobs = jobs.len() / 3;
    let site = if options.scheduler.known.is_some() { Under::Site } else { Under::SlurmDefaults };
    let schedulers = [site, Under::Easy];
    let of_scheduler = |under| ADOPTIONS.into_iter().flat_map(move |adoption| (0..DRAWS).map(move |draw| (under, adoption, draw)));
    let cells: Vec<(Under, f64, u64)> = schedulers.into_iter().flat_map(of_scheduler).collect();
    let (done, all) = (AtomicUsize::new(0), cells.len() * jobs.len());
    let replay = |(under, adoption, draw): &(Under, f64, u64)| {
        let told = AtomicUsize::new(0);
        let shown = |submitted: usize, _: usize| {
            let more = submitted.saturating_sub(told.swap(submitted, Ordering::Relaxed));
            progress(Stage::Molding, done.fetch_add(more, Ordering::Relaxed) + more, all);
        };
        let (from, to) = (history_jobs + 1, jobs.len());
        let seed = options.seed.wrapping_add(*draw);
        let asked = experiment::Options { adoption: *adoption, from, to, seed, jitter: JITTER, ..experiment::Options::default() };
        let scheduler = |jobs: &[Job]| match under {
            Under::Site | Under::SlurmDefaults => options.scheduler.scheduler(jobs, past.processors),
            Under::Easy => experiment::easy(),
        };
        compare_under(&scheduler, jobs, past.processors, &asked, &shown)
    };
    let found: Result<Vec<Comparison>, _> = cells.par_iter().with_max_len(1).map(replay).collect();
    let mut found = found?.into_iter();
    let mut adoption = |adoption| Adoption { adoption, draws: found.by_ref().take(DRAWS as usize).collect() };
    let by_scheduler = schedulers.map(|under| Molded { under, adoptions: ADOPTIONS.into_iter().map(&mut adoption).collect() }).to_vec();
    progress(Stage::Molding, all, all);
    Ok(Molding { history_jobs, jobs: jobs.len() - history_jobs, by_scheduler })
}
