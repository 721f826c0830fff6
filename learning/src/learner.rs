//! The learner: one sweep over the cluster's past and present, and the default predictor beside it.

mod admission_outcome;
mod comparison;
mod deadline_learner;
mod deadlines;
mod fill;
mod kept;
mod promise_outcome;
mod promises;
mod record;
mod recorded_forecast;
mod reserved_times;
mod run;
mod run_times;
mod scores;
mod source;
mod tracker;
mod trials;

#[cfg(test)]
mod tests;

pub use self::admission_outcome::AdmissionOutcome;
pub use self::deadline_learner::{DeadlineLearner, DeadlineOutcome};
pub use self::fill::REPLAYED;
pub use self::kept::SOURCES;
pub use self::promise_outcome::PromiseOutcome;
pub use self::recorded_forecast::RecordedForecast;
pub use self::reserved_times::ReservedTimes;
pub use self::run::{Run, RunId};
pub use self::run_times::RunTimeLearner;
pub use self::scores::Scores;
pub use self::source::{Change, Choice};
pub use self::trials::{Asked, Trials};

use self::promises::Promises;
use self::record::{LatestRecords, Record};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex};

use self::run::is_sound;
use self::tracker::{Open, RunEvent, Tracker};
use crate::sweep::{Arrivals, EventKind, Sweep};
use crate::waits::blended::{BlendedWaits, Retrained, Retraining, Settings};
use crate::waits::qbets::Qbets;
use job_types::job::{EndedJob, Job, WaitingJob};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::wait_model::WaitModel;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The numbers of jobs and runs that a learner keeps, and its other settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnerSettings {
    /// Settings of the default predictor of waits.
    pub waits: Settings,
    /// Jobs whose features are kept, the latest, beside those that wait: enough for the most that
    /// are trained on, with some to spare, because jobs are trained on in the order in which they
    /// started.
    pub most_rows: usize,
    /// Runs of the past that are gone through at the start, the latest to end: 52 bytes each, and
    /// 60 for their events. What is older has left the groups long ago, and teaches no trees.
    pub most_swept: usize,
    /// Runs of the past that teach the forecast of run times its weights, the latest, about 100
    /// microseconds each; what goes before takes part as past run times only.
    pub most_taught: usize,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for LearnerSettings {
    fn default() -> LearnerSettings {
        let waits = Settings::default();
        LearnerSettings {
            waits,
            most_rows: waits.most_training + waits.most_training / 4,
            most_swept: 2_000_000,
            most_taught: 100_000,
            seed: 1,
        }
    }
}

/// How long a group of jobs is remembered after its last arrival or start. Features cap the time
/// since then at as much.
const REMEMBERED_GROUPS: Seconds = Seconds(30 * 86_400);

/// The interval at which groups are forgotten that are not to be remembered any longer.
const FORGETTING_INTERVAL: Seconds = Seconds(6 * 3_600);

/// The most sizes of users that are fitted again at one refresh. Each takes about 50 microseconds.
const MOST_FITTED: usize = 500;

/// The forecast that one source made when a job arrived.
#[serde_with::serde_as]
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SourceForecast {
    point_s: f64,
    #[serde_as(as = "Arc<[_; PERCENTILES]>")]
    bounds_s: Arc<[u32; PERCENTILES]>,
}

impl SourceForecast {
    fn asked(&self) -> Asked<'_> {
        Asked { point_s: self.point_s, bounds_s: &self.bounds_s }
    }
}

/// The forecasts that were made when a job arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ArrivalForecast {
    default: SourceForecast,
    /// `None` where QBETS had too few waits for any bound.
    qbets: Option<SourceForecast>,
}

impl ArrivalForecast {
    /// The forecasts that are scored against the wait that follows. Where the job's record holds
    /// the default's forecast that the submit filter gave, it is that one, as far as it was
    /// recorded.
    fn corrected_by(self, recorded: Option<&RecordedForecast>) -> ArrivalForecast {
        let Some(recorded) = recorded else { return self };
        let bounds_s = Arc::new(recorded.bounds_s(&self.default.bounds_s));
        ArrivalForecast { default: SourceForecast { point_s: recorded.point_s, bounds_s }, ..self }
    }
}

/// Bounds that were told lately. Those of one row of the default's table, or of one class, are told
/// again and again.
#[derive(Clone, Debug, Default)]
struct SharedBounds(Vec<Arc<[u32; PERCENTILES]>>);

impl SharedBounds {
    fn get(&mut self, bounds_s: [u32; PERCENTILES]) -> Arc<[u32; PERCENTILES]> {
        let SharedBounds(told) = self;
        if let Some(shared) = told.iter().find(|shared| ***shared == bounds_s) {
            return Arc::clone(shared);
        }
        // A table has some tens of rows, and is renewed as a whole.
        if told.len() >= 64 {
            told.clear();
        }
        let shared = Arc::new(bounds_s);
        told.push(Arc::clone(&shared));
        shared
    }
}

/// Names in the order in which they were first heard; that of index 0 is empty, for jobs that have
/// none.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Names {
    indices: HashMap<Box<str>, u32>,
    names: Vec<String>,
}

impl Names {
    fn new() -> Names {
        Names { indices: HashMap::from([("".into(), 0)]), names: vec![String::new()] }
    }

    fn index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.indices.insert(name.into(), index);
        self.names.push(name.to_owned());
        index
    }
}

/// A job as slurmdbd and slurmctld tell it: account and quality of service by name, the partition
/// by the index that the daemon gave it.
pub type NamedJob<'a> = Job<&'a str, PartitionIndex, &'a str>;

/// The outcome of a refresh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refreshed {
    /// Arrivals, starts and ends that were new.
    pub events: usize,
    /// How many of these events are older than what had been known before.
    pub late: usize,
    /// Partitions in which other forecasts are in force than before, or for another reason.
    pub changes: Vec<Change>,
}

/// Learns from a cluster's past and present.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learner {
    settings: LearnerSettings,
    sweep: Sweep,
    waits: BlendedWaits,
    /// What bounds waits where the default is worse, or has not been tried.
    qbets: Qbets,
    run_times: RunTimeLearner,
    /// What is to be swept over first; `None` once it has been.
    #[serde(skip)]
    first: Option<LatestRecords>,
    tracker: Tracker,
    asked: HashMap<u32, ArrivalForecast>,
    #[serde(skip)]
    default_bounds: SharedBounds,
    #[serde(skip)]
    qbets_bounds: SharedBounds,
    trials: Trials,
    promises: Promises,
    random: ChaCha8Rng,
    accounts: Names,
    qos: Names,
    /// When the last event happened that was told.
    last: UnixTime,
    /// The moment at which the queue was read for the last refresh. What was published then is what
    /// submissions have seen since.
    refreshed_at: UnixTime,
    /// Rows of jobs that became known only after what they saw had been replaced. Nothing is learnt
    /// from what stands in their features.
    overtaken: HashSet<u32>,
    groups_forgotten_at: UnixTime,
}

impl Learner {
    /// A learner that knows nothing yet.
    #[must_use]
    pub fn new(settings: LearnerSettings) -> Learner {
        Learner {
            settings,
            // The distributions of table I are for the published method, which is not in the
            // daemon.
            sweep: Sweep::new(0, 0).keeping(settings.most_rows),
            waits: BlendedWaits::new(settings.waits),
            qbets: Qbets::new(),
            run_times: RunTimeLearner::new(&Unit::ALL),
            first: Some(LatestRecords::default()),
            tracker: Tracker::default(),
            asked: HashMap::new(),
            default_bounds: SharedBounds::default(),
            qbets_bounds: SharedBounds::default(),
            trials: Trials::default(),
            promises: Promises::default(),
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            accounts: Names::new(),
            qos: Names::new(),
            last: UnixTime(0),
            refreshed_at: UnixTime(0),
            overtaken: HashSet::new(),
            groups_forgotten_at: UnixTime(0),
        }
    }

    /// Drops the forecasts of run times, for whoever makes them elsewhere.
    #[must_use]
    pub fn without_run_times(self) -> Learner {
        Learner { run_times: RunTimeLearner::new(&[]), ..self }
    }

    /// The cluster has so many CPUs from now on.
    pub fn set_cpus(&mut self, cpus: u32) {
        self.sweep.set_cpus(cpus);
    }

    /// A run has ended; each is to be told once. It counts from the next refresh on. Returns
    /// whether it was taken: one that was never eligible is not, nor one whose times contradict
    /// each other.
    pub fn ended(&mut self, run: &Run<EndedJob<&str, PartitionIndex, &str>>) -> bool {
        let Job::Ended(job) = self.indexed(&Job::Ended(run.job)) else { return false };
        if !is_sound(&Job::Ended(job)) {
            return false;
        }
        if let Some(outcome) = &run.promise {
            self.promises.observe_reservation(run.id.job, job.submitted.partition, job.submitted.size.cpus, outcome);
        }
        if let Some(outcome) = &run.admission {
            self.promises.observe_deadline(run.id.job, job.submitted.partition, job.submitted.size.cpus, outcome);
            self.promises.observe_run(run.id, &job, outcome, run.is_interrupted);
        }
        match &mut self.first {
            Some(records) => records.push(Record::new(run, &Job::Ended(job)), self.settings.most_swept),
            None => self.tracker.ended(&run.with(job)),
        }
        true
    }

    /// Takes what has happened since the last refresh: the runs that were told to have ended, and
    /// those that slurmctld showed at `now` to wait or to run. Before the first refresh all ended
    /// runs must have been told, in any order; it sweeps over them, and trains.
    pub fn refresh<'a>(&mut self, live: impl IntoIterator<Item = Run<NamedJob<'a>>>, now: UnixTime) -> Refreshed {
        let most_fitted = if self.is_filled() { MOST_FITTED } else { usize::MAX };
        let mut refreshed = match self.first.take() {
            Some(records) => self.fill(records.into_records(), live, now),
            None => self.go_on(live, now),
        };
        self.run_times.fit(most_fitted);
        self.refreshed_at = now;
        self.waits.outwait(now);
        self.promises.settle(now);
        self.promises.relax(now);
        if now - self.groups_forgotten_at > FORGETTING_INTERVAL {
            self.sweep.forget_groups(UnixTime(now.0 - REMEMBERED_GROUPS.0));
            self.groups_forgotten_at = now;
        }
        refreshed.changes = self.trials.choose_all(self.waits.forests().is_some());
        refreshed
    }

    /// Whether there has been a first refresh.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        self.first.is_none()
    }

    fn go_on<'a>(&mut self, live: impl IntoIterator<Item = Run<NamedJob<'a>>>, now: UnixTime) -> Refreshed {
        self.look(live, now);
        let mut refreshed = Refreshed::default();
        let events = self.tracker.take_events();
        let mut published = self.published(&events);
        for event in events {
            let moment = event.at.max(self.last);
            refreshed.events += 1;
            refreshed.late += usize::from(moment > event.at);
            self.last = moment;
            let Some(open) = self.tracker.get_mut(event.serial) else { continue };
            match (event.kind, open.row) {
                (EventKind::Arrival, _) => {
                    let job = *open.job.submitted();
                    let features = published.remove(&event.serial);
                    let row = self.arrive(&job, moment, features.as_deref(), features.is_some());
                    self.run_times.arrived(row, &job);
                    if features.is_none() {
                        self.overtaken.insert(row);
                    }
                    if let Some(open) = self.tracker.get_mut(event.serial) {
                        open.row = Some(row);
                    }
                }
                (EventKind::Start, Some(row)) => {
                    let (occupied, recorded_forecast) = (open.job.occupied(), open.recorded_forecast);
                    if open.is_in_slot {
                        self.start_in_slot(row, event.at, occupied);
                    } else {
                        self.start(row, event.at, occupied, recorded_forecast.as_ref());
                    }
                }
                (EventKind::End | EventKind::EndAtOnce, _) => {
                    let ended = self.tracker.remove(event.serial);
                    if let Some(Open { row: Some(row), job: Job::Ended(job), is_interrupted, recorded_forecast, .. }) = ended {
                        self.end(row, &job, event.at, is_interrupted, recorded_forecast.as_ref());
                        if is_interrupted {
                            self.run_times.left(row);
                        } else {
                            self.run_times.ended(row, &job);
                        }
                    }
                }
                (EventKind::Start, None) => {}
            }
        }
        refreshed
    }

    /// What jobs saw that have arrived since the last refresh: what was published then, which is
    /// still as it was. What those saw that arrived before is not known any more, and is not
    /// guessed from a later state: it would show the trees a queue that the submit filter could not
    /// have seen.
    fn published(&mut self, events: &[RunEvent]) -> HashMap<u64, Vec<f32>> {
        let mut published = HashMap::new();
        for arrival in events.iter().filter(|event| event.kind == EventKind::Arrival && event.at >= self.refreshed_at) {
            if let Some(open) = self.tracker.get_mut(arrival.serial) {
                published.insert(arrival.serial, self.sweep.seen(open.job.submitted(), arrival.at));
            }
        }
        published
    }

    /// Learns what became of the promises to a run that waits or runs, where that is known.
    fn hold_to_its_promise<J>(&mut self, run: &Run<J>, job: &Job) {
        let submitted = job.submitted();
        if let Some(outcome) = run.promise.filter(|_| job.end().is_none()) {
            self.promises.observe_reservation(run.id.job, submitted.partition, submitted.size.cpus, &outcome);
        }
        if let Some(outcome) = run.admission.filter(|_| job.end().is_none()) {
            self.promises.observe_deadline(run.id.job, submitted.partition, submitted.size.cpus, &outcome);
        }
    }

    /// Compares the queue with what was known of it.
    fn look<'a>(&mut self, live: impl IntoIterator<Item = Run<NamedJob<'a>>>, now: UnixTime) {
        self.tracker.begin_look();
        let mut waiting: HashMap<RunId, (WaitingJob, u32)> = HashMap::new();
        for run in live {
            let job = self.indexed(&run.job);
            self.hold_to_its_promise(&run, &job);
            let is_sound = is_sound(&job);
            match job {
                Job::Ended(job) if is_sound => self.tracker.ended(&run.with(job)),
                Job::Running(job) if is_sound => self.tracker.runs(&run.with(job)),
                Job::Ended(_) | Job::Running(_) => {}
                Job::Waiting(job) => {
                    let tasks = if is_sound && !run.is_held && job.eligible <= now { run.tasks } else { 0 };
                    let entry = waiting.entry(run.id_while_waiting()).or_insert((job, 0));
                    if entry.1 == 0 {
                        entry.0 = job;
                    }
                    entry.1 = entry.1.saturating_add(tasks);
                }
            }
        }
        // The runs are sorted, so that their order does not depend on the map's.
        let mut waiting: Vec<_> = waiting.into_iter().collect();
        waiting.sort_unstable_by_key(|(id, _)| *id);
        for (id, (job, count)) in waiting {
            self.tracker.waits(id, job, count, now);
        }
        self.tracker.end_look(now);
    }

    /// The job with indices in the place of names. Qualities of service beyond the 65,535 that have
    /// an index count together as one that is not known, as they do in the filter.
    fn indexed(&mut self, job: &NamedJob<'_>) -> Job {
        let WaitingJob { account, partition, qos, .. } = *job.submitted();
        let qos = u16::try_from(self.qos.index(qos)).map_or(QosIndex::UNKNOWN, QosIndex);
        job.of(AccountIndex(self.accounts.index(account)), partition, qos)
    }

    /// A job arrives, as far as it is known `now`, with the features that followed for it from what
    /// was published; and its wait is forecast, if it is to be.
    fn arrive(&mut self, job: &WaitingJob, now: UnixTime, features: Option<&[f32]>, forecasts: bool) -> u32 {
        let row = self.sweep.arrive_seeing(job, now, features);
        if forecasts && self.waits.forests().is_some() {
            let forecast = self.waits.arrive(self.sweep.arrivals(), row as usize);
            if let Some(bounds_s) = forecast.bounds_s {
                let default = SourceForecast { point_s: forecast.point_s, bounds_s: self.default_bounds.get(bounds_s) };
                let of_class = self.qbets.forecast(job).and_then(|class| Some((class.median_s, class.distribution_s()?)));
                let qbets = of_class
                    .map(|(median_s, bounds_s)| SourceForecast { point_s: f64::from(median_s), bounds_s: self.qbets_bounds.get(bounds_s) });
                self.asked.insert(row, ArrivalForecast { default, qbets });
            }
        }
        row
    }

    /// A job starts, and its wait is known.
    fn start(&mut self, row: u32, at: UnixTime, size: Size, recorded: Option<&RecordedForecast>) {
        self.sweep.start_with(row, at, size);
        let past = self.sweep.arrivals();
        let Some((partition, wait)) = past.job(row as usize).and_then(|job| Some((job.submitted().partition, job.wait()?))) else {
            self.forget(row);
            return;
        };
        self.trials.wait_is_known(partition);
        if let Some(job) = past.job(row as usize) {
            self.qbets.observe(job.submitted(), wait);
        }
        if !self.overtaken.remove(&row) {
            self.waits.learn(past, row as usize);
        }
        if let Some(asked) = self.asked.remove(&row) {
            let asked = asked.corrected_by(recorded);
            let qbets = asked.qbets.as_ref().map(SourceForecast::asked);
            self.trials.learn(partition, asked.default.asked(), qbets, wait.0, self.random.random());
        }
    }

    /// A job starts in its firm slot: it has its nodes, but how long it waited says nothing.
    fn start_in_slot(&mut self, row: u32, at: UnixTime, size: Size) {
        self.sweep.start_without_wait(row, at, size);
        self.forget(row);
    }

    /// A job ends; or is cancelled before it starts, which tells that it would have waited longer.
    /// Where it was lost sight of (`is_interrupted`), it is not known when that was.
    fn end(&mut self, row: u32, job: &EndedJob, at: UnixTime, is_interrupted: bool, recorded: Option<&RecordedForecast>) {
        if job.start.is_none() && is_interrupted {
            self.forget(row);
        } else if job.start.is_none() {
            self.leave(row, job, at, recorded);
        }
        if is_interrupted && job.start.is_some() {
            self.sweep.interrupt(row);
        } else {
            self.sweep.end(row, at, job.suspended);
        }
    }

    fn forget(&mut self, row: u32) {
        self.waits.forget(row as usize);
        self.asked.remove(&row);
        self.overtaken.remove(&row);
    }

    fn leave(&mut self, row: u32, job: &EndedJob, at: UnixTime, recorded: Option<&RecordedForecast>) {
        self.waits.leave(row as usize, at);
        self.overtaken.remove(&row);
        if let Some(asked) = self.asked.remove(&row) {
            let asked = asked.corrected_by(recorded);
            let waited_s = (at - job.submitted.eligible).0.max(0);
            let qbets = asked.qbets.as_ref().map(SourceForecast::asked);
            self.trials.leave(job.submitted.partition, asked.default.asked(), qbets, waited_s, self.random.random());
        }
    }

    /// What the forests are to be trained on now, if it is time to. [`Retraining::run`] takes long,
    /// and may go on beside everything else.
    pub fn retraining(&mut self) -> Option<Retraining> {
        self.waits.retraining(self.sweep.arrivals())
    }

    /// Takes forests that were trained.
    pub fn adopt(&mut self, retrained: Retrained) {
        self.waits.adopt(retrained);
    }

    /// What was learnt, for the snapshot; the bounds of QBETS at the confidence.
    #[must_use]
    pub fn model(&mut self, confidence: f64) -> WaitModel {
        let [by_limit, expected] = self.sweep.ends();
        let (ends_by_limit, ends_expected) = (by_limit.freed.to_vec(), expected.freed.to_vec());
        WaitModel {
            forests: self.waits.forests().cloned(),
            weights: *self.waits.weights(),
            table: self.waits.table().clone(),
            groups: self.sweep.groups(),
            cpus: self.sweep.cpus(),
            ends_by_limit,
            ends_expected,
            users: self.sweep.users().collect(),
            accounts: self.accounts.names.clone(),
            qos: self.qos.names.clone(),
            classes: self.qbets.classes(confidence),
            scores: self.trials.published(),
            promises: self.promises.published(),
            deadlines: self.promises.deadline_histories(),
            run_times: self.run_times.published(),
        }
    }

    /// What each of the latest jobs saw as it arrived.
    #[must_use]
    pub fn past(&self) -> &Arrivals {
        self.sweep.arrivals()
    }

    /// How well the forecasts do in a partition; `None` where no job has started.
    #[must_use]
    pub fn scores(&self, partition: PartitionIndex) -> Option<&Scores> {
        self.trials.scores(partition)
    }

    /// Returns which forecasts are in force in a partition; `None` if no job has started there.
    #[must_use]
    pub fn choice(&self, partition: PartitionIndex) -> Option<Choice> {
        self.trials.choice(partition)
    }

    /// How many runs wait or run.
    #[must_use]
    pub fn open_runs(&self) -> usize {
        self.tracker.len()
    }
}
