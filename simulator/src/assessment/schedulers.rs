//! What other schedulers, and other settings of Slurm's, would have done to the latest jobs.

use std::sync::atomic::{AtomicUsize, Ordering};

use job_types::time::Seconds;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::replayed::ReplayedPast;
use super::{AssessmentError, Options, Progress, Stage};
use crate::engine::backfill::{Conservative, Easy, InOrder, Slurm, SlurmParameters};
use crate::engine::estimates::Requested;
use crate::engine::order::{Associations, FirstCome, Multifactor, PrioritySettings};
use crate::engine::policy::AsSubmitted;
use crate::engine::{Backfill, Job, Machine, Order, Record, Scheduler, simulate};
use crate::metrics::{Distribution, bounded_slowdown};

/// What is known of the site's own scheduler; Slurm's defaults and first come, first served where
/// nothing is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SiteScheduler {
    /// The parameters of Slurm's schedulers.
    pub parameters: SlurmParameters,
    /// The weights of the priorities; first come, first served without.
    pub priorities: Option<PrioritySettings>,
    /// What of these is the site's own; `None` where nothing is.
    pub known: Option<Known>,
}

/// What was read of the site's own configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Whether all of its files could be read.
    pub is_whole: bool,
    /// Whether it has parameters of Slurm's schedulers; Slurm's defaults hold otherwise.
    pub has_parameters: bool,
    /// Whether it has settings of priorities; Slurm's defaults hold otherwise.
    pub has_priorities: bool,
}

impl Known {
    /// What the site's own schedule is called.
    fn name(self) -> &'static str {
        if self.is_whole { "as the site has it" } else { "as far as slurm.conf could be read" }
    }

    /// What the site's own schedule consists of.
    fn what(self) -> &'static str {
        match (self.has_parameters, self.has_priorities) {
            (true, true) => "Slurm with the site's SchedulerParameters and priorities",
            (true, false) => "Slurm with the site's SchedulerParameters and the default priorities: slurm.conf sets none",
            (false, true) => "Slurm with the site's priorities and the default SchedulerParameters: slurm.conf sets none",
            (false, false) => "Slurm with the default SchedulerParameters and priorities: slurm.conf sets none",
        }
    }
}

/// What schedulers do with the latest jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schedulers {
    /// Jobs that fill the machine and are not counted.
    pub history_jobs: usize,
    /// Jobs that are counted.
    pub jobs: usize,
    /// Whether the first schedule has the site's own settings; Slurm's defaults otherwise.
    pub is_site_known: bool,
    /// How long these jobs waited as the log has it, in seconds; `None` where it does not say.
    pub logged_wait_s: Option<Distribution>,
    /// What was found: the site's own settings first, or Slurm's defaults.
    pub schedules: Vec<Schedule>,
    /// How much of a difference is chance: the part by which the mean response changes under the
    /// first scheduler when every submission is moved by up to a minute, the larger of two draws.
    /// Smaller differences between schedules say nothing.
    pub chance: f64,
}

impl Schedulers {
    /// The schedule of that name.
    #[must_use]
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        self.schedules.iter().find(|schedule| schedule.name == name)
    }
}

/// What EASY is called, under which molding is replayed as well.
pub(super) const EASY: &str = "EASY";

/// What one scheduler does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schedule {
    /// What it is called.
    pub name: String,
    /// What it is, or what differs in it, for those who do not know the name.
    pub what: String,
    /// How long jobs wait, in seconds.
    pub wait_s: Distribution,
    /// The times from submission to end, in seconds.
    pub response_s: Distribution,
    /// The bounded slowdown: response over run time, where run times shorter than 10 s count as 10
    /// s.
    pub bounded_slowdown: Distribution,
}

/// A scheduler to try.
struct Candidate {
    name: String,
    what: String,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Slurm(SlurmParameters),
    Easy,
    Conservative,
    InOrder,
}

impl SiteScheduler {
    /// Slurm's schedulers as the site has them, or with their defaults, for a replay of `jobs`.
    pub(crate) fn scheduler(&self, jobs: &[Job], processors: u32) -> Scheduler {
        self.with_backfill(Box::new(Slurm::new(self.parameters.clone())), jobs, processors)
    }

    /// Returns a scheduler with another backfilling that keeps the site's order of the queue.
    fn with_backfill(&self, backfill: Box<dyn Backfill>, jobs: &[Job], processors: u32) -> Scheduler {
        Scheduler { order: self.order(jobs, processors), backfill, estimates: Box::new(Requested) }
    }

    fn order(&self, jobs: &[Job], processors: u32) -> Box<dyn Order> {
        match &self.priorities {
            Some(settings) => {
                let first = jobs.first().map(|job| job.submit).unwrap_or_default();
                Box::new(Multifactor::new(settings.clone(), Associations::of_users(jobs), processors, first))
            }
            None => Box::new(FirstCome),
        }
    }
}

impl Kind {
    fn backfill(&self) -> Box<dyn Backfill> {
        match self {
            Kind::Slurm(parameters) => Box::new(Slurm::new(parameters.clone())),
            Kind::Easy => Box::new(Easy::default()),
            Kind::Conservative => Box::new(Conservative::new()),
            Kind::InOrder => Box::new(InOrder),
        }
    }
}

/// The longest `bf_window` that Slurm takes.
const LONGEST_WINDOW: Seconds = Seconds(30 * 86_400);

/// The first is what all others are held against.
fn candidates(site: &SiteScheduler, jobs: &[Job]) -> Vec<Candidate> {
    let own = &site.parameters;
    let mut found = Vec::new();
    let mut add = |name: String, what: &str, kind: Kind| found.push(Candidate { name, what: what.to_owned(), kind });
    if let Some(known) = site.known {
        add(known.name().to_owned(), known.what(), Kind::Slurm(own.clone()));
    } else {
        add("Slurm's defaults".to_owned(), "Slurm's main and backfill schedulers, first come, first served", Kind::Slurm(own.clone()));
    }
    let mut setting = |name: String, what: &str, parameters: SlurmParameters| {
        if parameters != *own {
            add(name, what, Kind::Slurm(parameters));
        }
    };
    let longest = jobs.iter().map(|job| job.estimate).max().unwrap_or_default();
    let window = Seconds(longest.0.div_euclid(3_600).saturating_add(1).saturating_mul(3_600)).min(LONGEST_WINDOW);
    if window > own.bf_window {
        let name = format!("bf_window={}", window.0 / 60);
        setting(name, "plans as far ahead as the longest time limit", SlurmParameters { bf_window: window, ..own.clone() });
    }
    let tests = own.bf_max_job_test.saturating_mul(10).min(1_000_000);
    setting(
        format!("bf_max_job_test={tests}"),
        "tries ten times as many jobs in a pass",
        SlurmParameters { bf_max_job_test: tests, ..own.clone() },
    );
    let few = (own.bf_max_job_test / 10).max(1);
    setting(
        format!("bf_max_job_test={few}"),
        "tries a tenth as many jobs in a pass",
        SlurmParameters { bf_max_job_test: few, ..own.clone() },
    );
    if own.bf_interval > Seconds::ZERO {
        let slow = Seconds((own.bf_interval.0.saturating_mul(10)).min(10_800));
        setting(format!("bf_interval={}", slow.0), "backfills a tenth as often", SlurmParameters { bf_interval: slow, ..own.clone() });
    }
    let coarse = Seconds((own.bf_resolution.0.saturating_mul(10)).min(3_600));
    setting(
        format!("bf_resolution={}", coarse.0),
        "plans in steps ten times as long",
        SlurmParameters { bf_resolution: coarse, ..own.clone() },
    );
    setting(
        "bf_min_age_reserve=3600".to_owned(),
        "keeps no nodes for a job before it has waited for an hour",
        SlurmParameters { bf_min_age_reserve: Seconds(3_600), ..own.clone() },
    );
    add(EASY.to_owned(), "keeps nodes for the first job of the queue alone", Kind::Easy);
    add("conservative".to_owned(), "keeps nodes for every job of the queue, without an end of the plan", Kind::Conservative);
    add("no backfilling".to_owned(), "nobody overtakes", Kind::InOrder);
    found
}

/// The jobs, each submitted up to a minute later.
fn moved(jobs: &[Job], seed: u64) -> Vec<Job> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut moved: Vec<Job> = jobs.iter().map(|job| Job { submit: job.submit + Seconds(random.random_range(0..=60)), ..*job }).collect();
    moved.sort_by_key(|job| job.submit);
    moved
}

/// Draws of moved submissions.
const DRAWS: u64 = 2;

/// Replays the latest jobs under each, side by side.
pub(super) fn schedulers(past: &ReplayedPast, options: &Options, progress: Progress<'_>) -> Result<Schedulers, AssessmentError> {
    let (jobs, waits) = past.last(options.most.scheduled_jobs);
    let history_jobs = jobs.len() / 10;
    let site = &options.scheduler;
    let candidates = candidates(site, jobs);
    let machine = Machine::new(past.processors);
    let (done, all) = (AtomicUsize::new(0), candidates.len() + DRAWS as usize);
    let replay = |kind: &Kind, jobs: &[Job]| {
        let mut scheduler = site.with_backfill(kind.backfill(), jobs, past.processors);
        let records = simulate(jobs, &machine, &mut scheduler, &mut AsSubmitted);
        progress(Stage::Schedulers, done.fetch_add(1, Ordering::Relaxed) + 1, all);
        records
    };
    let schedules = || -> Result<Vec<Schedule>, AssessmentError> {
        let schedule = |candidate: &Candidate| {
            let records = replay(&candidate.kind, jobs)?;
            Ok(Schedule::of(candidate, records.get(history_jobs..).unwrap_or_default()))
        };
        candidates.par_iter().with_max_len(1).map(schedule).collect()
    };
    let draws: Vec<u64> = (0..DRAWS).map(|draw| options.seed.wrapping_add(draw)).collect();
    let responses = || -> Result<Vec<f64>, AssessmentError> {
        let response = |seed: &u64| {
            let jobs = moved(jobs, *seed);
            let records = candidates.first().map(|first| replay(&first.kind, &jobs)).transpose()?.unwrap_or_default();
            Ok(mean_response_s(records.get(history_jobs..).unwrap_or_default()))
        };
        draws.par_iter().with_max_len(1).map(response).collect()
    };
    let (schedules, responses) = rayon::join(schedules, responses);
    let (schedules, responses) = (schedules?, responses?);
    let own_s = schedules.first().map_or(0.0, |first| first.response_s.mean);
    let chance = responses.into_iter().map(|response_s| (response_s / own_s.max(1.0) - 1.0).abs()).fold(0.0, f64::max);
    let counted = waits.get(history_jobs..).unwrap_or_default();
    Ok(Schedulers {
        history_jobs,
        jobs: jobs.len() - history_jobs,
        is_site_known: site.known.is_some(),
        logged_wait_s: (counted.iter().flatten().count() > 0).then(|| Distribution::of(counted.iter().flatten().map(|wait| wait.0 as f64))),
        schedules,
        chance,
    })
}

fn mean_response_s(records: &[Record]) -> f64 {
    Distribution::of(records.iter().map(|record| record.response().0 as f64)).mean
}

impl Schedule {
    fn of(candidate: &Candidate, records: &[Record]) -> Self {
        Self {
            name: candidate.name.clone(),
            what: candidate.what.clone(),
            wait_s: Distribution::of(records.iter().map(|record| record.wait().0 as f64)),
            response_s: Distribution::of(records.iter().map(|record| record.response().0 as f64)),
            bounded_slowdown: Distribution::of(records.iter().map(bounded_slowdown)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::UnixTime;

    /// What is known of a configuration that was read whole.
    const READ: Known = Known { is_whole: true, has_parameters: true, has_priorities: true };

    #[test]
    fn each_setting_is_tried_that_differs_from_the_sites_own() {
        let jobs = [Job { estimate: Seconds(3 * 86_400), ..Job::default() }];
        let names = |site: &SiteScheduler| candidates(site, &jobs).into_iter().map(|candidate| candidate.name).collect::<Vec<_>>();
        let defaults = names(&SiteScheduler::default());
        assert_eq!(defaults[..3], ["Slurm's defaults", "bf_window=4380", "bf_max_job_test=5000"]);
        assert_eq!(defaults[defaults.len() - 3..], ["EASY", "conservative", "no backfilling"]);
        let parameters =
            SlurmParameters { bf_window: Seconds(10 * 86_400), bf_min_age_reserve: Seconds(3_600), ..SlurmParameters::default() };
        let own = names(&SiteScheduler { parameters, priorities: None, known: Some(READ) });
        assert_eq!(own.first().map(String::as_str), Some("as the site has it"));
        let partly = Some(Known { is_whole: false, ..READ });
        let partly = names(&SiteScheduler { known: partly, ..SiteScheduler::default() });
        assert_eq!(partly.first().map(String::as_str), Some("as far as slurm.conf could be read"));
        assert!(!own.iter().any(|name| name.starts_with("bf_window") || name.starts_with("bf_min_age")), "{own:?}");
    }

    #[test]
    fn moved_jobs_are_the_same_jobs_up_to_a_minute_later() {
        let jobs: Vec<Job> =
            (0..50).map(|place| Job { submit: UnixTime(i64::from(place) * 30), number: place, ..Job::default() }).collect();
        let moved = moved(&jobs, 1);
        assert!(moved.is_sorted_by_key(|job| job.submit) && moved != jobs);
        for job in moved {
            assert!((0..=60).contains(&(job.submit - jobs[job.number as usize].submit).0));
        }
    }
}
