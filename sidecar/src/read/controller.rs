//! The thread that reads the queue, the partitions, the nodes and the reservations from slurmctld.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};
use job_types::job::{EndedJob, Job, RunningJob, WaitingJob};
use job_types::record;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::{AdmissionOutcome, PromiseOutcome, RecordedForecast, Run, RunId};
use predictor_core::decisions::limits::AccountingLimits;
use slurm_sys::client::controller::{self, Priorities, QueuedJob, UserRecord};
use slurm_sys::client::{ClientError, JobState};

use crate::clock::controller_ahead;
use crate::clock::now;
use crate::known::cluster::{Cluster, Ended, Queue, QueuedRun};
use crate::known::genuine::Genuine;
use crate::known::names::{first_partition, shared};
use crate::known::privacy::Privacy;
use crate::known::promised_jobs::promised_jobs;
use crate::known::shared_nodes::SharedNodes;
use crate::known::submissions::Submissions;
use crate::message::Message;
use crate::read::accounting::wait_on_nodes;
use crate::read::limits;
use crate::read::queue_reader;
use crate::rules::site_data;
use crate::rules::site_tables::KnownTables;

/// Reads at each request, until the main thread has dropped its end.
pub(crate) fn run(
    requests: &Receiver<()>,
    sender: &Sender<Message>,
    site_data: &site_data::Rounds,
    tables: &KnownTables,
    privacy: &Privacy,
    mut genuine: Genuine,
) {
    let mut names = HashSet::new();
    let mut rules = KnownRules::default();
    let mut submissions = Submissions::default();
    for () in requests {
        let answer = read(&mut names, &mut rules, &mut submissions, site_data, tables, privacy, &mut genuine).map(Arc::new);
        if sender.send(Message::Controller(answer)).is_err() {
            return;
        }
    }
}

/// How long what changes rarely is taken to hold before it is asked for again: for limits of
/// accounting slurmctld packs every association for an answer.
const RULES_AGE: Duration = Duration::from_secs(60);

/// The limits of accounting, how priorities are made, and who the users are.
#[derive(Clone)]
struct Rules {
    limits: Arc<AccountingLimits>,
    priorities: Arc<Priorities>,
    users: Arc<[UserRecord]>,
}

/// These rules as they were read last.
#[derive(Default)]
struct KnownRules {
    read: Option<(Instant, Rules)>,
}

impl KnownRules {
    fn current(&mut self, tables: &KnownTables) -> Result<Rules, ClientError> {
        match &self.read {
            Some((at, rules)) if at.elapsed() < RULES_AGE => Ok(rules.clone()),
            _ => {
                let accounts = controller::accounts()?;
                tables.take(&accounts, &controller::partitions()?);
                let limits = Arc::new(limits::accounting(&accounts));
                let priorities = Arc::new(controller::priorities()?);
                tracing::debug!(qos = limits.qos.len(), associations = limits.associations.len(), ?priorities, "read limits");
                let rules = Rules { limits, priorities, users: accounts.users.into() };
                self.read = Some((Instant::now(), rules.clone()));
                Ok(rules)
            }
        }
    }
}

fn read(
    names: &mut HashSet<Arc<str>>,
    rules: &mut KnownRules,
    submissions: &mut Submissions,
    site_data: &site_data::Rounds,
    tables: &KnownTables,
    privacy: &Privacy,
    genuine: &mut Genuine,
) -> Result<Cluster, ClientError> {
    // Before anything that could be private is written: a reconfiguration may have changed it.
    privacy.set(controller::private_data()?);
    let Rules { limits, priorities, users } = rules.current(tables)?;
    let partitions = controller::partitions()?;
    let nodes = controller::nodes(&partitions)?;
    let partition_limits = partitions.iter().map(|partition| limits::of_partition(partition, &nodes)).collect();
    let reservations = controller::reservations()?;
    let cpus = nodes.iter().fold(0u32, |sum, node| sum.saturating_add(node.cpus));
    let read_at = UnixTime(now());
    let is_wanted = site_data.are_wanted();
    let (controller::Queue { jobs: mut queue, answered_at }, described) = queue_reader::queue(is_wanted)?;
    if is_wanted {
        // What was submitted up to the answer is in it, by the controller's own clock.
        let counted_before = answered_at.map_or(read_at, |answered_at| read_at.min(UnixTime(answered_at)));
        let counts = site_data::Counts::of(&queue, counted_before);
        site_data.hand_over(site_data::Round { read_at, users, jobs: described, counts });
    }
    let controller_ahead = controller_ahead(read_at, answered_at.map(UnixTime), UnixTime(now()));
    genuine.keep_in_queue(&mut queue);
    let jobs = queue.iter().filter_map(|job| live(job, names, read_at)).collect();
    let ended = queue.iter().filter_map(|job| ended(job, names)).collect();
    let (reserved, admitted) = promised_jobs(&queue, asked, priorities.enforces_limits);
    let submissions = Arc::new(submissions.seen(&queue, asked, read_at));
    let shared_nodes = SharedNodes::new(&partitions, &nodes, &queue, asked, read_at);
    let queue = Queue::new(&nodes, reservations, &queue, names);
    Ok(Cluster {
        read_at,
        controller_ahead,
        cpus,
        partitions,
        jobs,
        ended,
        shared_nodes,
        reserved,
        admitted,
        submissions,
        priorities,
        queue,
        limits,
        partition_limits,
        record_key: genuine.key(),
    })
}

fn id(job: &QueuedJob) -> RunId {
    RunId { submitted: job.submitted.unwrap_or_default(), job: job.job_id }
}

/// The job as it was while it waited; `None` where its partition is not known.
fn submitted(job: &QueuedJob, eligible: UnixTime, names: &mut HashSet<Arc<str>>) -> Option<WaitingJob<Arc<str>, Arc<str>, Arc<str>>> {
    Some(WaitingJob {
        user: job.user_id,
        account: shared(job.account.as_deref().unwrap_or_default(), names),
        partition: shared(first_partition(job.partition.as_deref()?), names),
        qos: shared(job.qos.as_deref().unwrap_or_default(), names),
        size: asked(job),
        limit: job.time_limit_seconds.map(Seconds),
        eligible,
    })
}

/// What it got, where that is another size than it asked for.
fn allocated(job: &QueuedJob) -> Option<Size> {
    Some(occupied(job)).filter(|size| *size != asked(job))
}

/// What one job, or one task of an array, occupies or waits for.
fn occupied(job: &QueuedJob) -> Size {
    Size { nodes: job.nodes.max(1), cpus: job.cpus.max(1) }
}

/// What a job, or one task of an array, asked for. slurmctld shows what it got in its place once it
/// runs, and tells the former beside it.
fn asked(job: &QueuedJob) -> Size {
    let least = |requested: Option<u32>, shown: u32| requested.filter(|count| *count > 0).unwrap_or(shown).max(1);
    Size { nodes: least(job.requested_nodes, job.nodes), cpus: least(job.requested_cpus, job.cpus) }
}

/// The forecast of the job's wait that the submit filter gave.
fn recorded_forecast(job: &QueuedJob, eligible: UnixTime) -> Option<RecordedForecast> {
    RecordedForecast::read(job.admin_comment.as_deref()?, eligible)
}

/// A job that has ended, or was cancelled while it waited, which slurmctld shows for some minutes
/// more (`MinJobAge` of slurm.conf). One that was never eligible was never in the queue.
fn ended(job: &QueuedJob, names: &mut HashSet<Arc<str>>) -> Option<Ended> {
    // A job that completes still holds its nodes; one that was put back into the queue is among
    // those that wait.
    if matches!(job.state, JobState::Completing | JobState::Resized | JobState::Revoked | JobState::Unknown(_)) {
        return None;
    }
    let end = job.ended?;
    let eligible = UnixTime(job.eligible.or(job.started)?);
    let submitted = submitted(job, eligible, names)?;
    let held = wait_on_nodes(job.admin_comment.as_deref(), job.started, submitted.limit, end);
    Some(Run {
        id: id(job),
        array: job.array_job_id,
        tasks: 1,
        is_held: false,
        job: EndedJob {
            submitted,
            allocated: job.started.and_then(|_start| allocated(job)),
            start: job.started.map(UnixTime),
            end: UnixTime(end),
            suspended: Seconds(job.suspended_seconds) + held.time,
        },
        promise: job.admin_comment.as_deref().and_then(|comment| PromiseOutcome::read(comment, job.started.map(UnixTime), UnixTime(end))),
        admission: job.admin_comment.as_deref().and_then(|comment| AdmissionOutcome::read(comment, UnixTime(end), job.state.ending())),
        recorded_forecast: recorded_forecast(job, eligible),
        is_interrupted: job.state.is_interruption() || held.ends_with_the_job,
    })
}

/// What the demand and the forecasts need of a job; `None` for one that has ended.
fn live(job: &QueuedJob, names: &mut HashSet<Arc<str>>, read_at: UnixTime) -> Option<QueuedRun> {
    let has_nodes = match job.state {
        JobState::Pending => false,
        JobState::Running | JobState::Suspended => true,
        _ => return None,
    };
    let tasks = if has_nodes { 1 } else { job.task_count };
    let start = job.started.filter(|_start| has_nodes);
    let eligible = job.eligible.or(start).map(UnixTime);
    let submitted = submitted(job, eligible.unwrap_or(read_at), names)?;
    let Size { nodes, cpus } = occupied(job);
    let run = Run {
        id: id(job),
        array: job.array_job_id,
        tasks,
        is_held: eligible.is_none(),
        job: match start.map(UnixTime) {
            None => Job::Waiting(submitted),
            Some(start) => Job::Running(RunningJob { submitted, allocated: allocated(job), start }),
        },
        promise: job.admin_comment.as_deref().and_then(|comment| PromiseOutcome::read_live(comment, start.map(UnixTime), read_at)),
        admission: job.admin_comment.as_deref().and_then(|comment| AdmissionOutcome::read_live(comment, read_at)),
        recorded_forecast: eligible.and_then(|eligible| recorded_forecast(job, eligible)),
        is_interrupted: false,
    };
    let size = Size { nodes: nodes.saturating_mul(tasks), cpus: cpus.saturating_mul(tasks) };
    let waits_on_nodes = start.map_or(Seconds::ZERO, |start| {
        record::wait_on_nodes(job.admin_comment.as_deref(), UnixTime(start), job.time_limit_seconds.map(Seconds))
    });
    Some(QueuedRun { run, size, runs: job.state == JobState::Running, waits_on_nodes })
}
