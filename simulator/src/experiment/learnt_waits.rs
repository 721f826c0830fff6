//! Waits as the daemon learns and publishes them, while a simulation runs.
//!
//! The learner is the daemon's, and is told of the simulation what the daemon is told of a cluster.
//! What it has learnt is asked in the form in which it is published. So a replay decides from the
//! forecasts of a snapshot: those that are in force in the partition, QBETS where the default is
//! worse, whatever the state as well as by the state at a later moment, and as old as a snapshot
//! is.

use std::collections::BTreeMap;

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{JobId, PartitionIndex};
use job_types::policy::Policy;
use job_types::promise::{PromisedReservation, ReservedRun};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::training::Training;
use learning::waits::blended::Settings;
use learning::{Learner, LearnerSettings, NamedJob, PromiseOutcome, Run, RunId, RunTimeLearner};
use predictor_core::forecasts::forecast::{ClassBounds, RunTimeQuestion};
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::run_time_models::{self, LikeJobs, RunTimeModel};
use predictor_core::forecasts::wait_model::{FittedPast, WaitModel};
use predictor_core::snapshot::Snapshot;
use snapshot_writer::{ComingJob, Origin, PartitionState, ReservedCpus, RunningJob, write};

use super::expected_run_times::{question, waiting_job};
use super::parts::Site;
use crate::engine::{Job, JobIndex, Record, Revised};

/// The confidence with which the bounds of QBETS hold: the daemon's default.
const CONFIDENCE: f64 = 0.95;

/// A job that waits or runs, or is held back.
struct OpenJob {
    job: Job,
    account: String,
    qos: String,
    eligible: UnixTime,
    start: Option<UnixTime>,
    /// How long it waits on its nodes from its start on.
    waits_on_nodes: Seconds,
    /// The reservation that it was given.
    reservation: Option<ReservationGiven>,
}

/// A reservation as the record of a job has it.
#[derive(Clone, Copy)]
pub(super) struct ReservationGiven {
    /// What the submit filter writes of it.
    pub(super) promise: PromisedReservation,
    /// The time limit that the job was submitted with, without padding.
    pub(super) own_limit: Seconds,
}

impl OpenJob {
    fn limit(&self) -> Seconds {
        self.job.estimate
    }

    /// What its reservation takes.
    fn reserved(&self) -> Option<ReservedCpus> {
        let given = self.reservation?;
        Some(ReservedCpus { from: self.eligible, until: given.promise.at + given.own_limit, cpus: self.job.processors })
    }

    fn size(&self) -> Size {
        Size { nodes: self.job.processors, cpus: self.job.processors }
    }

    /// What is asked of its run time, which is in what its limit leaves of its wait on its nodes.
    fn question(&self) -> RunTimeQuestion {
        RunTimeQuestion { limit: Some(self.limit() - self.waits_on_nodes), ..question(&self.job) }
    }

    fn submitted(&self) -> WaitingJob<&str, PartitionIndex, &str> {
        waiting_job(&self.job, self.eligible).of(&self.account, self.job.partition_index(), &self.qos)
    }

    /// The run as the learner knows it, with the job as far as it has come.
    fn run<J>(&self, index: JobIndex, job: J) -> Run<J> {
        Run {
            id: RunId { submitted: self.job.submit.0, job: JobId(index) },
            array: None,
            tasks: 1,
            is_held: false,
            job,
            recorded_forecast: None,
            promise: None,
            admission: None,
            is_in_slot: false,
            is_interrupted: false,
        }
    }

    /// The run while it waits or goes on.
    fn live(&self, index: JobIndex, now: UnixTime) -> Run<NamedJob<'_>> {
        let waiting = NamedJob::Waiting(self.submitted());
        let reserved = ReservedRun { submitted: self.job.submit, started: self.start, ended: None };
        let promise =
            self.reservation.filter(|given| now > given.promise.at).and_then(|given| PromiseOutcome::of(&given.promise, &reserved, now));
        Run { promise, ..self.run(index, self.start.map_or(waiting, |start| waiting.started(start, None))) }
    }
}

/// What a simulated cluster publishes of itself, besides what it has learnt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedSite {
    pub(crate) site: Site,
    pub(crate) policy: Policy,
    /// How many partitions it has, which are called by their indices.
    pub(crate) partitions: u16,
}

impl PublishedSite {
    /// The partitions, in which nothing runs or waits.
    pub(crate) fn partitions(&self) -> Vec<PartitionState> {
        let partition = |index: u16| PartitionState {
            name: index.to_string(),
            policy: self.policy,
            is_default: false,
            whole_nodes: false,
            cpus: self.site.processors,
            nodes: self.site.processors,
            max_time: self.site.longest_limit,
            default_time: None,
            running: Vec::new(),
            pending_jobs: 0,
            pending_cpus: 0,
            coming: Vec::new(),
            reserved: Vec::new(),
            limits: Default::default(),
            slurm_reservations: Vec::new(),
            shared_nodes: Vec::new(),
        };
        (0..self.partitions).map(partition).collect()
    }

    /// The bytes of a snapshot of these partitions at a moment.
    pub(crate) fn snapshot(
        &self,
        now: UnixTime,
        partitions: &[PartitionState],
        run_times: BTreeMap<LikeJobs, RunTimeModel>,
        model: Option<&WaitModel>,
        plan: Option<&QueuePlan>,
    ) -> Vec<u8> {
        let names = partitions.iter().map(|partition| partition.name.clone()).collect();
        let origin = Origin { published_at: now, maximum_age: self.site.refresh, site_policy: self.policy, ..Origin::default() };
        write(&mut PublishedPast { names, run_times }, partitions, &origin, model, plan)
    }
}

/// The run times that the simulation has published.
struct PublishedPast {
    names: Vec<String>,
    run_times: BTreeMap<LikeJobs, RunTimeModel>,
}

impl FittedPast for PublishedPast {
    fn partition_index(&mut self, name: &str) -> Option<PartitionIndex> {
        self.names.iter().position(|known| known == name).map(|place| PartitionIndex(place as u16))
    }

    fn partition_names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn classes(&self) -> &[ClassBounds] {
        &[]
    }

    fn run_times(&self) -> &BTreeMap<LikeJobs, RunTimeModel> {
        &self.run_times
    }

    fn ended_jobs(&self) -> u64 {
        0
    }

    fn ends(&self) -> Option<(UnixTime, UnixTime)> {
        None
    }
}

/// The daemon's learner of waits, and what it has published.
pub(super) struct LearntWaits {
    site: PublishedSite,
    learner: Learner,
    open: BTreeMap<JobIndex, OpenJob>,
    /// When the learner was last told of the queue.
    told_at: Option<UnixTime>,
    published: Option<Snapshot<Vec<u8>>>,
}

impl LearntWaits {
    /// Creates a learner that knows nothing yet.
    pub(super) fn new(site: PublishedSite, seed: u64) -> Self {
        let defaults = Settings::default();
        // The model is trained half as often as by the daemon, and on fewer jobs, because training
        // takes most of the time of an experiment.
        let training = Training { seed, ..defaults.training };
        let waits = Settings { training_interval: 2_000, most_training: 20_000, training, ..defaults };
        let most_rows = waits.most_training + waits.most_training / 4;
        let settings = LearnerSettings { waits, most_rows, seed, ..LearnerSettings::default() };
        let mut learner = Learner::new(settings).without_run_times();
        learner.set_cpus(site.site.processors);
        Self { site, learner, open: BTreeMap::new(), told_at: None, published: None }
    }

    /// What was published last.
    pub(super) fn published(&self) -> Option<&Snapshot<Vec<u8>>> {
        self.published.as_ref()
    }

    /// What was learnt, to be published.
    pub(super) fn model(&mut self) -> WaitModel {
        self.learner.model(CONFIDENCE)
    }

    /// Publishes what is known now. Run times have been published as `run_times` says.
    pub(super) fn publish(&mut self, now: UnixTime, run_times: &RunTimeLearner) {
        self.tell(now);
        // What a snapshot needs of run times here is what expected ends rest on.
        let mut needed = BTreeMap::new();
        for open in self.open.values().filter(|open| open.start.is_some()) {
            run_time_models::forecast(&open.question(), |like| {
                let model = run_times.model(like)?;
                needed.insert(*like, model.clone());
                Some(model.forecast())
            });
        }
        let model = self.model();
        let bytes = self.site.snapshot(now, &self.partitions(now), needed, Some(&model), None);
        self.published = Snapshot::open(bytes).ok();
    }

    /// The partitions with what runs and waits in them.
    pub(super) fn partitions(&self, now: UnixTime) -> Vec<PartitionState> {
        let mut partitions = self.site.partitions();
        for open in self.open.values() {
            let Some(partition) = partitions.get_mut(usize::from(open.job.partition_index().0)) else { continue };
            partition.reserved.extend(open.reserved());
            match open.start {
                Some(start) => {
                    let limit_end = Some(start + open.limit());
                    let (user, waits_on_nodes) = (open.job.user, open.waits_on_nodes);
                    partition.running.push(RunningJob { user, size: open.size(), start, waits_on_nodes, limit_end });
                }
                None if open.eligible <= now => {
                    partition.pending_jobs += 1;
                    partition.pending_cpus += u64::from(open.job.processors);
                }
                None => partition.coming.push(ComingJob { at: open.eligible, cpus: open.job.processors, limit: Some(open.limit()) }),
            }
        }
        partitions
    }

    /// Tells the learner of the queue as it is now, and has it trained where it is time to.
    fn tell(&mut self, now: UnixTime) {
        self.told_at = Some(now);
        self.learner.refresh(self.open.iter().map(|(index, open)| open.live(*index, now)), now);
        if let Some(retraining) = self.learner.retraining()
            && let Ok(retrained) = retraining.run()
        {
            self.learner.adopt(retrained);
        }
    }

    /// A job is submitted that comes into the queue at a time, now or later.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, now: UnixTime, eligible: UnixTime) {
        // The learner is told of the queue as often as the daemon reads it, whether or not anything
        // is decided from it.
        if self.told_at.is_none_or(|told| now - told >= self.site.site.refresh) {
            self.tell(now);
        }
        self.open.insert(
            index,
            OpenJob {
                job: *job,
                account: job.group.to_string(),
                qos: job.qos_name(),
                eligible,
                start: None,
                waits_on_nodes: Seconds::ZERO,
                reservation: None,
            },
        );
    }

    /// A job that was submitted was given a reservation.
    pub(super) fn reserved(&mut self, index: JobIndex, given: ReservationGiven) {
        if let Some(open) = self.open.get_mut(&index) {
            open.reservation = Some(given);
        }
    }

    /// A job has been changed after its submission.
    pub(super) fn revised(&mut self, revised: &Revised) {
        if let Some(open) = self.open.get_mut(&revised.job) {
            open.eligible = revised.eligible.unwrap_or(open.eligible);
            open.job.estimate = revised.estimate.unwrap_or(open.job.estimate);
        }
    }

    /// A job has started, and waits so long on its nodes before it runs.
    pub(super) fn started(&mut self, index: JobIndex, at: UnixTime, waits_on_nodes: Seconds) {
        if let Some(open) = self.open.get_mut(&index) {
            (open.start, open.waits_on_nodes) = (Some(at), waits_on_nodes);
        }
    }

    /// A job that has not started was taken back. What became of it tells nothing of waits, and
    /// nothing of promises before its time.
    pub(super) fn withdrawn(&mut self, index: JobIndex) {
        self.open.remove(&index);
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, record: &Record) {
        if let Some(open) = self.open.remove(&index) {
            let (submitted, start) = (open.submitted(), open.start);
            let job = EndedJob { submitted, allocated: None, start, end: record.end, suspended: record.held };
            let promise = open.reservation.and_then(|given| PromiseOutcome::of(&given.promise, &record.reserved_run(), record.end));
            self.learner.ended(&Run { promise, ..open.run(index, job) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{QosIndex, UserId};
    use predictor_core::forecasts::forecast::WaitForecaster;

    #[test]
    fn the_quality_of_service_of_a_job_is_learnt_and_published() {
        let site = Site { processors: 8, longest_limit: None, refresh: Seconds::MINUTE };
        let mut waits = LearntWaits::new(PublishedSite { site, policy: Policy::default(), partitions: 1 }, 1);
        let now = UnixTime(1_000);
        for (index, qos) in [(0, 0), (1, 2)] {
            let job = Job { submit: now, estimate: Seconds(600), processors: 2, qos: QosIndex(qos), ..Job::default() };
            waits.passed(index, &job, now, now);
        }
        waits.publish(now + Seconds::MINUTE, &RunTimeLearner::new(&[]));
        assert_eq!(waits.model().qos, ["", "2"]);
        let published = waits.published().unwrap();
        assert_eq!(published.association(UserId(0), None, Some("2")).qos, QosIndex(1));
    }
}
