//! Keeps the history and makes snapshots of it.

use job_types::number::PartitionIndex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use job_types::time::{Seconds, UnixTime};
use learning::history::{History, HistoryLimits};
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::deadline_run_times::with_deadline;
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::run_time_models::KnownRunTimes;
use predictor_core::forecasts::wait_model::WaitModel;
use slurm_sys::client::controller::Sharing;
use snapshot_writer::{Origin, PartitionState, SharedNodeState, write};

use crate::api::{Api, Standing};
use crate::failure::Failure;
use crate::known::cluster::{Cluster, Ended, QueuedRun};
use crate::known::names::PartitionIndices;
use crate::known::promised_job::PromisedJob;
use crate::known::shared_nodes::ForecastSharer;
use crate::known::slurm_reservations;
use crate::plan::Question;
use crate::publish::shared_memory::SharedMemory;
use crate::publish::state_directory::StateDirectory;
use crate::settings::Settings;

/// Keeps the history and makes snapshots of it.
pub(crate) struct Publisher {
    cluster_name: String,
    /// Whether the cluster gives whole nodes in every partition.
    whole_nodes: bool,
    history: History,
    cluster: Option<Arc<Cluster>>,
    /// What was learnt of waits, and as of when.
    model: Option<(Arc<WaitModel>, UnixTime)>,
    /// The last plan of the queue.
    plan: Option<QueuePlan>,
    /// How long the last fit took, if nothing has come since and it has not been published.
    fitting: Option<Duration>,
    accounting_read_at: Option<UnixTime>,
    generation: u64,
    /// Memory to share with the filter; `None` where snapshots go into the file alone.
    memory: Option<SharedMemory>,
    /// The API, where there is one.
    api: Option<Api>,
    /// The question that the last plan answers.
    planned: Option<Arc<Question>>,
    /// Whether the last snapshot could be shared.
    is_shared: bool,
}

/// A snapshot that was put in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    pub(crate) generation: u64,
    pub(crate) published_at: UnixTime,
    pub(crate) length: usize,
    /// Whether it has a plan of the queue as it was read last.
    pub(crate) has_plan: bool,
    pub(crate) fitting: Duration,
    pub(crate) writing: Duration,
}

impl Publisher {
    /// A publisher that knows nothing yet, or what an earlier daemon knew. Its snapshots are
    /// numbered from `generation` on. Where there is `memory` the filter is handed them over in it,
    /// beside the file.
    pub(crate) fn new(
        cluster_name: String,
        whole_nodes: bool,
        kept: Option<History>,
        generation: u64,
        memory: Option<SharedMemory>,
        api: Option<Api>,
    ) -> Self {
        Self {
            cluster_name,
            whole_nodes,
            history: kept.unwrap_or_else(|| History::new(HistoryLimits::default())),
            cluster: None,
            model: None,
            plan: None,
            fitting: None,
            accounting_read_at: None,
            generation,
            memory,
            api,
            planned: None,
            is_shared: true,
        }
    }

    /// Forgets the ended jobs, the cluster, the model and the plan that it was given.
    pub(crate) fn start_afresh(&mut self) {
        self.history = History::new(HistoryLimits::default());
        (self.cluster, self.model, self.plan, self.fitting, self.accounting_read_at) = (None, None, None, None, None);
        self.planned = None;
    }

    /// The history, to be kept, without the users whose last jobs started before `since`.
    pub(crate) fn history(&mut self, since: UnixTime) -> &History {
        self.history.forget(since);
        &self.history
    }

    /// Adds jobs that have ended. Returns how many of them the history took.
    pub(crate) fn add(&mut self, jobs: &[Ended]) -> usize {
        self.fitting = None;
        let taken = jobs
            .iter()
            .filter(|run| if run.is_interrupted { self.history.push_interrupted(&run.job) } else { self.history.push(&run.job) });
        taken.count()
    }

    /// The indices of these partitions, by which the learner and the snapshot know them.
    pub(crate) fn partition_indices<'a>(&mut self, names: impl Iterator<Item = &'a Arc<str>>) -> PartitionIndices {
        let mut indices = PartitionIndices::new();
        for name in names {
            if !indices.contains_key(name)
                && let Some(index) = self.history.partition_index(name)
            {
                indices.insert(Arc::clone(name), index);
            }
        }
        indices
    }

    /// The indices of the partitions of a cluster.
    fn indices_of(&mut self, cluster: &Cluster) -> PartitionIndices {
        let names: Vec<Arc<str>> = cluster.partitions.iter().map(|partition| Arc::from(partition.name.as_str())).collect();
        self.partition_indices(names.iter())
    }

    /// The name of a partition.
    pub(crate) fn partition_name(&self, index: PartitionIndex) -> &str {
        self.history.partition_names().get(usize::from(index.0)).copied().unwrap_or_default()
    }

    /// Replaces what was learnt of waits.
    pub(crate) fn set_model(&mut self, model: Arc<WaitModel>, at: UnixTime) {
        self.model = Some((model, at));
    }

    /// All jobs that ended before this have been added.
    pub(crate) fn set_accounting_read(&mut self, until: UnixTime) {
        self.accounting_read_at = Some(until);
    }

    /// Replaces what is known of the cluster.
    pub(crate) fn set_cluster(&mut self, cluster: Arc<Cluster>) {
        self.cluster = Some(cluster);
        self.fitting = None;
    }

    /// Replaces the plan of the queue, which answers this question.
    pub(crate) fn set_plan(&mut self, plan: QueuePlan, question: Option<Arc<Question>>) {
        (self.plan, self.planned) = (Some(plan), question);
    }

    /// Fits what has changed, and puts a question to the planner; `None` where nothing is known of
    /// the cluster. `weighs_others` says by a partition's name whether decisions there ask what the
    /// machine's time costs.
    pub(crate) fn question(&mut self, weighs_others: impl Fn(&str) -> bool) -> Option<Question> {
        let cluster = self.cluster.clone()?;
        self.fit();
        let indices = self.indices_of(&cluster);
        let known = Known { history: &self.history, model: self.model.as_ref().map(|(model, _)| &**model) };
        let run_times = known.run_times();
        let of_job = |user, partition, size, limit| run_times.of_job(user, partition, size, limit);
        let priced = indices.iter().filter(|(name, _)| weighs_others(name)).map(|(_, index)| *index);
        Some(Question::new(&cluster, &indices, self.whole_nodes, of_job, known.deadlines()).priced(priced))
    }

    /// What is known of the cluster.
    pub(crate) fn cluster(&self) -> Option<Arc<Cluster>> {
        self.cluster.clone()
    }

    /// How many ended jobs the history has taken.
    pub(crate) fn ended_jobs(&self) -> u64 {
        self.history.ended_jobs()
    }

    /// Fits what has changed, and publishes. Returns the snapshot as well.
    ///
    /// # Errors
    /// The snapshot cannot be put in place; the one before stays there.
    pub(crate) fn publish(
        &mut self,
        now: UnixTime,
        settings: &Settings,
        directory: &StateDirectory,
    ) -> Result<(Published, Vec<u8>), Failure> {
        let confidence = settings.configuration.wait.confidence;
        if self.fitting.is_none() {
            self.fit();
        }
        let mut fitting = self.fitting.take().unwrap_or_default();
        let origin = Origin {
            cluster: self.cluster_name.clone(),
            configuration_error: settings.error.clone(),
            generation: self.generation,
            published_at: now,
            maximum_age: Seconds(settings.configuration.snapshot.maximum_age_seconds),
            confidence,
            site_policy: settings.site_policy(),
            accounting_read_at: self.accounting_read_at,
            controller_read_at: self.cluster.as_ref().map(|cluster| cluster.read_at),
            controller_ahead: self.cluster.as_ref().and_then(|cluster| cluster.controller_ahead).unwrap_or_default(),
            configuration_loaded_at: settings.loaded_at,
            limits: self.cluster.as_ref().map(|cluster| Arc::clone(&cluster.limits)).unwrap_or_default(),
            submissions: self.cluster.as_ref().map(|cluster| Arc::clone(&cluster.submissions)).unwrap_or_default(),
        };
        let cluster = self.cluster.clone();
        let indices = cluster.as_deref().map(|cluster| self.indices_of(cluster)).unwrap_or_default();
        // A queue that is long gone is no better to forecast from than none.
        let model = self.model.as_ref().filter(|(_, at)| now - *at <= origin.maximum_age).map(|(model, _)| &**model);
        if model.is_none_or(|model| model.classes.is_empty()) {
            let started = Instant::now();
            self.history.fit_waits(confidence);
            fitting += started.elapsed();
        }
        let started = Instant::now();
        let known = Known { history: &self.history, model };
        let shared_nodes = cluster.as_deref().map(|cluster| cluster.shared_nodes.states(|sharer| known.share(sharer, &indices)));
        let shared_nodes = shared_nodes.unwrap_or_default();
        let states = partition_states(cluster.as_deref(), shared_nodes, self.whole_nodes, now, settings);
        // A plan of a queue that has been read again since would tell of jobs that have started,
        // and not of new ones.
        let plan = self.plan.as_ref().filter(|plan| Some(plan.at) == origin.controller_read_at && now - plan.at <= origin.maximum_age);
        let has_plan = plan.is_some();
        let bytes = write(&mut self.history, &states, &origin, model, plan);
        self.share(&bytes, directory);
        directory.publish(&bytes).map_err(|source| Failure::Publish { path: directory.snapshot(), source })?;
        self.generation += 1;
        let length = bytes.len();
        if let Some(api) = &self.api {
            let question = self.planned.as_ref().filter(|_| has_plan);
            let policies = settings.configuration.firm.clone();
            let accounting = Arc::clone(&origin.limits);
            let standing = |question| Standing::new(origin.generation, question, accounting, policies, origin.maximum_age);
            api.set_standing(question.map(Arc::clone).map(standing));
            api.set_snapshot(bytes.clone(), directory.privacy().hides_jobs());
        }
        let writing = started.elapsed();
        Ok((Published { generation: origin.generation, published_at: now, length, has_plan, fitting, writing }, bytes))
    }

    /// Hands a snapshot over in memory. Where that fails the filter takes the file.
    fn share(&mut self, bytes: &[u8], directory: &StateDirectory) {
        let Some(memory) = &mut self.memory else { return };
        let shared = memory.share(bytes);
        let handed = directory.hand_over(shared.as_ref().ok());
        match shared.and(handed) {
            Ok(()) => self.is_shared = true,
            Err(error) if self.is_shared => {
                self.is_shared = false;
                tracing::warn!(%error, "the snapshot can't be shared in memory: the filter reads the file instead");
            }
            Err(_) => {}
        }
    }

    /// What the filter has counted in memory that is shared with it.
    pub(crate) fn counted(&self) -> Option<(u64, Vec<u64>)> {
        self.memory.as_ref()?.counted()
    }

    /// What the filter has counted of each rule in memory that is shared with it.
    pub(crate) fn counted_by_rule(&self) -> Option<(u64, Vec<u64>)> {
        self.memory.as_ref()?.counted_by_rule()
    }

    /// Fits the run times. The waits are fitted where they are needed.
    fn fit(&mut self) {
        let started = Instant::now();
        self.history.fit_run_times();
        self.fitting = Some(started.elapsed());
    }
}

/// What was learnt.
struct Known<'a> {
    history: &'a History,
    model: Option<&'a WaitModel>,
}

impl<'a> Known<'a> {
    /// What is known of run times.
    fn run_times(&self) -> KnownRunTimes<'a> {
        KnownRunTimes { learnt: self.model.map(|model| &model.run_times), kept: self.history.run_times().fitted() }
    }

    /// What jobs with deadlines have taught.
    fn deadlines(&self) -> &[(PartitionIndex, DeadlineHistory)] {
        self.model.map_or(&[], |model| &model.deadlines)
    }

    /// What a job needs of its nodes that was admitted by its probability.
    fn share(&self, sharer: &ForecastSharer, indices: &PartitionIndices) -> NeededShare {
        let partition = indices.get(&sharer.partition).copied();
        let of_deadlines = self.deadlines().iter().find(|(index, _)| Some(*index) == partition);
        let history = of_deadlines.map(|(_, history)| *history).unwrap_or_default();
        let past = partition.and_then(|partition| self.run_times().of_job(sharer.user, partition, sharer.size, Some(sharer.estimate)));
        let run_times = with_deadline(past, Some(sharer.estimate), sharer.given, &history.given);
        NeededShare::of(&run_times, sharer.done, sharer.left)
    }
}

/// The partitions with their jobs and policies.
fn partition_states(
    cluster: Option<&Cluster>,
    mut shared_nodes: HashMap<&str, Vec<SharedNodeState>>,
    whole_nodes: bool,
    now: UnixTime,
    settings: &Settings,
) -> Vec<PartitionState> {
    let Some(cluster) = cluster else { return Vec::new() };
    let mut jobs: HashMap<&str, Vec<&QueuedRun>> = HashMap::new();
    for job in &cluster.jobs {
        jobs.entry(&**job.partition()).or_default().push(job);
    }
    let mut slurm_reservations = slurm_reservations::by_partition(&cluster.queue, now);
    let states = cluster.partitions.iter().zip(&cluster.partition_limits).map(|(partition, limits)| {
        let jobs = jobs.remove(partition.name.as_str()).unwrap_or_default();
        let pending = || jobs.iter().filter(|job| job.is_pending(now));
        let policy = settings.policy(&partition.name);
        let shared_nodes = shared_nodes.remove(&*partition.name).filter(|_| policy.admission.chooses_shared_nodes());
        PartitionState {
            policy,
            name: partition.name.clone(),
            is_default: partition.is_default,
            whole_nodes: whole_nodes || partition.sharing == Sharing::Exclusive,
            cpus: partition.total_cpus,
            nodes: partition.total_nodes,
            max_time: partition.max_time_seconds.map(Seconds),
            default_time: partition.default_time_seconds.map(Seconds),
            running: jobs.iter().filter_map(|job| job.running()).collect(),
            pending_jobs: pending().fold(0, |sum: u32, job| sum.saturating_add(job.run.tasks)),
            pending_cpus: pending().map(|job| u64::from(job.size.cpus)).sum(),
            coming: jobs.iter().filter_map(|job| job.coming(now)).collect(),
            reserved: cluster
                .reserved
                .iter()
                .filter(|reserved| reserved.is_in(&partition.name))
                .filter_map(PromisedJob::reserved_cpus)
                .collect(),
            limits: limits.clone(),
            slurm_reservations: slurm_reservations.remove(partition.name.as_str()).unwrap_or_default(),
            shared_nodes: shared_nodes.unwrap_or_default(),
        }
    });
    states.collect()
}

#[cfg(test)]
mod tests;
