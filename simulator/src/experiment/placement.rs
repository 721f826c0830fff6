//! Reservations placed inside windows, among the jobs of a log (Röblitz and Rzadca 2006, section
//! 5).
//!
//! One of each ten jobs in a row is drawn, taken out of the log, and asks for a reservation in its
//! place: of its size, for as long as it ran, at some time in a window. The others are jobs, and
//! what becomes of them is held against a replay of them alone.

mod figures;
mod run_times;
#[cfg(test)]
mod tests;
mod workload;

pub use figures::{HighLoad, OverDraws, PlacementExperiment, PlacementSummary};
pub use run_times::PlacementRunTimes;
pub use workload::{SoundJobs, TooFewSoundJobs};

use job_types::time::{Seconds, UnixTime};
use queue_plan::Resources;
use queue_plan::placement::{
    ClusterService, Delays, Earliest, Load, Moving, Preference, Probe, Probing, Ranking, Rated, Request, Slot, WhatIf,
};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::workload::Drawn;
use crate::engine::Job;
use crate::engine::reserved::{Afterwards, AsEstimated, Outcome, simulate};

/// How slots are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementMethod {
    /// By whether the present workload will be done (section 4.1).
    Load,
    /// By plans with a placeholder for each slot (section 4.2).
    WhatIf,
    /// By plans as [`Self::WhatIf`], and slots move inside their windows after they were granted.
    Movable,
    /// As [`Self::Movable`], by plans that know all jobs that will come, which nobody can: a bound.
    Oracle,
    /// The first slot that is free (Smith, Foster and Taylor 2000).
    Earliest,
    /// The first slot that is free and delays no job that waits (Heine et al. 2005).
    EarliestDelayingNobody,
}

impl PlacementMethod {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Load, Self::WhatIf, Self::Movable, Self::Oracle, Self::Earliest, Self::EarliestDelayingNobody];

    /// What it is called on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::WhatIf => "what-if",
            Self::Movable => "movable",
            Self::Oracle => "oracle",
            Self::Earliest => "earliest",
            Self::EarliestDelayingNobody => "earliest-delaying-nobody",
        }
    }
}

/// Which of slots that are equally good all who ask prefer, by where it lies in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementPreference {
    /// The first.
    #[default]
    Earliest,
    /// The one that is nearest to the middle of the window.
    Middle,
    /// The last.
    Latest,
}

impl PlacementPreference {
    /// The preference of a request whose starts lie between `earliest` and `window` after it.
    fn of(self, earliest: UnixTime, window: Seconds) -> Preference {
        match self {
            Self::Earliest => Preference::Earliest,
            Self::Middle => Preference::Nearest(earliest + Seconds(window.0 / 2)),
            Self::Latest => Preference::Latest,
        }
    }
}

/// Which experiments are made, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementOptions {
    /// The methods.
    pub methods: Vec<PlacementMethod>,
    /// Times from the submission of a request to the begin of its window.
    pub book_ahead: Vec<Seconds>,
    /// Times from the first to the last start inside the window.
    pub windows: Vec<Seconds>,
    /// Which slots are looked at.
    pub probing: Probing,
    /// The weight of the makespan in what-if; the rest is that of the mean completion time.
    pub makespan_weight: f64,
    /// Which of slots that are equally good is taken.
    pub preference: PlacementPreference,
    /// Whether a request that can't be granted stays open until its window has passed.
    pub is_patient: bool,
    /// How slots move with [`PlacementMethod::Movable`].
    pub moving: Moving,
    /// How long jobs run in plans; `None` for their estimates, and as long as they will with
    /// [`PlacementMethod::Oracle`].
    pub run_times: Option<PlacementRunTimes>,
    /// The seed of the first draw.
    pub seed: u64,
    /// How many draws.
    pub seeds: u32,
}

/// How long after the last start of its window the oracle still knows who comes: who is delayed by
/// a reservation may delay others after its end.
const BEYOND_WINDOWS: Seconds = Seconds(2 * 86_400);

impl Default for PlacementOptions {
    /// The published experiments: two methods, 36 windows, one draw.
    fn default() -> Self {
        let hours = |hours: [i64; 6]| hours.map(|hours| Seconds(hours * 3_600)).to_vec();
        Self {
            methods: vec![PlacementMethod::Load, PlacementMethod::WhatIf],
            book_ahead: hours([0, 2, 4, 6, 12, 24]),
            windows: hours([0, 1, 2, 5, 10, 30]),
            probing: Probing::default(),
            makespan_weight: WhatIf::default().makespan_weight,
            preference: PlacementPreference::Earliest,
            is_patient: false,
            moving: Moving::default(),
            run_times: None,
            seed: 1,
            seeds: 1,
        }
    }
}

impl PlacementOptions {
    /// Returns how long jobs run in the plans of a method.
    #[must_use]
    pub fn run_times_of(&self, method: PlacementMethod) -> PlacementRunTimes {
        let unless_chosen = if method == PlacementMethod::Oracle { PlacementRunTimes::Actual } else { PlacementRunTimes::Estimated };
        self.run_times.unwrap_or(unless_chosen)
    }

    /// Returns how many experiments these are.
    #[must_use]
    pub fn experiments(&self) -> usize {
        self.methods.len() * self.book_ahead.len() * self.windows.len() * self.seeds as usize
    }
}

/// What was found.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Placements {
    /// Each experiment, by method, seed, book-ahead and window.
    pub experiments: Vec<PlacementExperiment>,
    /// What they come to, by method.
    pub summary: Vec<PlacementSummary>,
    /// The jobs of the first draw without any reservation, and in the experiment in which one of
    /// them is delayed the longest: for pictures.
    #[serde(skip)]
    pub pictured: Pictured,
}

/// What the pictures show, of the first draw.
#[derive(Debug, Clone, Default)]
pub struct Pictured {
    /// The jobs that are not requests.
    pub jobs: Vec<Job>,
    /// What becomes of them without reservations.
    pub alone: Outcome,
    /// The delays of each experiment with the widest window.
    pub added: Vec<Added>,
    /// The experiment with the job that is delayed the longest.
    pub longest_delay: Option<LongestDelay>,
}

/// By how much longer jobs wait in an experiment.
#[derive(Debug, Clone)]
pub struct Added {
    /// By which method slots were ranked.
    pub method: PlacementMethod,
    /// From the submission of a request to the begin of its window.
    pub book_ahead: Seconds,
    /// When each delayed job starts, and how much longer it waits.
    pub delays: Vec<(UnixTime, Seconds)>,
}

/// An experiment with the job that is delayed the longest.
#[derive(Debug, Clone)]
pub struct LongestDelay {
    /// By which method slots were ranked.
    pub method: PlacementMethod,
    /// The place of the job among the jobs.
    pub job: usize,
    /// What becomes of everybody.
    pub outcome: Outcome,
    /// The reservations, with their processors.
    pub reservations: Vec<(Slot, u32)>,
}

/// One experiment that is to be made.
struct Task {
    method: PlacementMethod,
    seed: u64,
    drawn: usize,
    book_ahead: Seconds,
    window: Seconds,
}

/// One experiment that was made.
struct Made {
    experiment: PlacementExperiment,
    requests: Vec<Request>,
    outcome: Outcome,
}

/// Makes the experiments, on as many threads as there are in the pool of the caller. `progress` is
/// told after each.
pub fn placements(jobs: &SoundJobs, options: &PlacementOptions, progress: &(impl Fn() + Sync)) -> Placements {
    let seeds: Vec<u64> = (0..u64::from(options.seeds)).map(|place| options.seed.wrapping_add(place)).collect();
    let alone = ClusterService { ranking: Earliest::default(), probing: options.probing };
    let draws: Vec<(Drawn, Outcome)> = seeds
        .par_iter()
        .map(|seed| {
            let drawn = Drawn::of(jobs, *seed);
            let alone = simulate(&drawn.jobs, &[], jobs.processors, &alone, Afterwards::default(), &mut AsEstimated);
            (drawn, alone)
        })
        .collect();
    let mut tasks = Vec::new();
    for &method in &options.methods {
        for (drawn, &seed) in seeds.iter().enumerate() {
            for &book_ahead in &options.book_ahead {
                tasks.extend(options.windows.iter().map(|&window| Task { method, seed, drawn, book_ahead, window }));
            }
        }
    }
    let widest = options.windows.iter().max().copied();
    let made: Vec<Made> = tasks
        .par_iter()
        .filter_map(|task| {
            let (drawn, alone) = draws.get(task.drawn)?;
            let mut made = make(task, drawn, alone, jobs.processors, options);
            // Only pictures need what became of everybody, and they are of the first draw.
            if task.drawn != 0 || Some(task.window) != widest {
                made.outcome = Outcome::default();
            }
            progress();
            Some(made)
        })
        .collect();
    let summary = options.methods.iter().map(|&method| PlacementSummary::of(method, made.iter().map(|made| &made.experiment)));
    let summary = summary.collect();
    let pictured = draws.into_iter().next().map(|(drawn, alone)| pictured(&made, drawn.jobs, alone)).unwrap_or_default();
    Placements { experiments: made.into_iter().map(|made| made.experiment).collect(), summary, pictured }
}

/// A ranking that is known by name only when the program runs.
enum Ranked {
    Load(Load),
    WhatIf(WhatIf),
    Earliest(Earliest),
}

impl Ranked {
    fn of(options: &PlacementOptions, method: PlacementMethod) -> Self {
        match method {
            PlacementMethod::Load => Self::Load(Load::default()),
            PlacementMethod::WhatIf | PlacementMethod::Movable | PlacementMethod::Oracle => {
                Self::WhatIf(WhatIf { makespan_weight: options.makespan_weight })
            }
            PlacementMethod::Earliest => Self::Earliest(Earliest { delays: Delays::Anybody }),
            PlacementMethod::EarliestDelayingNobody => Self::Earliest(Earliest { delays: Delays::Nobody }),
        }
    }
}

impl Ranking for Ranked {
    fn rate(&self, probe: &Probe<'_>) -> Vec<Rated> {
        match self {
            Self::Load(ranking) => ranking.rate(probe),
            Self::WhatIf(ranking) => ranking.rate(probe),
            Self::Earliest(ranking) => ranking.rate(probe),
        }
    }
}

fn make(task: &Task, drawn: &Drawn, alone: &Outcome, processors: u32, options: &PlacementOptions) -> Made {
    let request = |job: &Job| {
        let earliest_start = job.submit + task.book_ahead;
        Request {
            submitted: job.submit,
            duration: job.run_time,
            earliest_start,
            latest_end: earliest_start + job.run_time + task.window,
            takes: Resources::of_cpus(job.processors.into()),
            preference: options.preference.of(earliest_start, task.window),
        }
    };
    let requests: Vec<Request> = drawn.requests.iter().map(request).collect();
    let service = ClusterService { ranking: Ranked::of(options, task.method), probing: options.probing };
    let knows_all = task.method == PlacementMethod::Oracle;
    let moving = (knows_all || task.method == PlacementMethod::Movable).then_some(options.moving);
    let foresight = knows_all.then_some(task.book_ahead + task.window + BEYOND_WINDOWS);
    let afterwards = Afterwards { is_patient: options.is_patient, moving, foresight };
    let mut expectations = options.run_times_of(task.method).expectations(drawn.jobs.len());
    let outcome = simulate(&drawn.jobs, &requests, processors, &service, afterwards, expectations.as_mut());
    let experiment = PlacementExperiment::of((task.method, task.seed), (task.book_ahead, task.window), &drawn.jobs, alone, &outcome);
    Made { experiment, requests, outcome }
}

fn pictured(made: &[Made], jobs: Vec<Job>, alone: Outcome) -> Pictured {
    let mut pictured = Pictured::default();
    let mut longest = Seconds::ZERO;
    for one in made.iter().filter(|made| !made.outcome.starts.is_empty()) {
        let delays = figures::delays(&alone, &one.outcome);
        let delayed = delays.iter().map(|&(job, delay)| (one.outcome.starts[job], delay)).collect();
        let book_ahead = Seconds(one.experiment.book_ahead_s);
        pictured.added.push(Added { method: one.experiment.method, book_ahead, delays: delayed });
        if let Some(&(job, delay)) = delays.iter().max_by_key(|(_, delay)| *delay)
            && delay > longest
        {
            longest = delay;
            let granted = one.outcome.requests.iter().zip(&one.requests);
            let reservations = granted.filter_map(|(record, request)| Some((record.granted?, request.takes.size().cpus))).collect();
            pictured.longest_delay = Some(LongestDelay { method: one.experiment.method, job, outcome: one.outcome.clone(), reservations });
        }
    }
    Pictured { jobs, alone, ..pictured }
}
