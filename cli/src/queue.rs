//! `queuecast queue`: the jobs that wait, and when the plan of the daemon expects them to start.

mod columns;
mod text;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, Written};
use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::PlannedJob;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;
use slurm_sys::client::controller::{self, QueuedJob};

use crate::columns::Layout;
use crate::installation::note_on_age;
use crate::selection::Selection;
use crate::user;
use crate::view::ListArguments;

/// List the jobs that wait, with the starts that are expected of them.
///
/// queuecastd plans the queue at each snapshot: it places the pending jobs in the order of their
/// priority, each at the first time at which there is room for as long as it is forecast to run.
/// The earliest start is that if all jobs end early, the latest that if all run to their time
/// limits. Jobs that are submitted later with a higher priority are not foreseen. A job that may
/// run in several partitions is listed under the first that it names.
///
/// Options, columns and letters are squeue's, where squeue has them; but -h is help here, as in
/// sacct, and -n leaves the header out. The queue comes from the snapshot; slurmctld is asked only
/// for what the snapshot lacks: names, accounts, qualities of service and times of submission.
///
/// Exit status: 0 if there is a plan, also of an empty queue; 1 without a plan; 2 for wrong usage;
/// 3 without a snapshot; 4 where slurmctld is asked and does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    list: ListArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast queue
      all jobs that wait, the next to be served first
  queuecast queue --me --iterate 10
      mine, anew every ten seconds until Ctrl-C
  queuecast queue -p batch -S -D,starttime
      those of a partition, the largest first
  queuecast queue -n -O jobid,starttime,reason:20
      three columns without a header, for a program
  queuecast queue -o '%.18i %.9P %.8j %.8u %.2t %.6D %S'
      columns by squeue's letters
  queuecast queue --partition batch --json | jq '.jobs[] | [.job_id, .expected_start]'

Columns of --columns, with squeue's letter for -o and --sort:
  jobid (i), partition (P), name (j), username (u), userid (U), account (a), qos (q),
  numnodes (D), numcpus (C), arraytasks, timelimit (l), priority (p), statecompact (t), state (T),
  timeused (M), submittime (V), starttime (S), startin, earlieststart, earliestin, lateststart,
  latestin, reason (r), reasonlist (R). Without a wish there are jobid, partition, username,
  numnodes, numcpus, arraytasks, timelimit, starttime, startin, earliestin, latestin and reason;
  without --sort the order in which jobs are served. What is not known comes last.

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  generation, snapshot_age_s, cluster
  plan_at      as of when the queue was planned; null without a plan
  is_complete  whether all jobs were placed; if not, starts may be later than they say
  pending_jobs how many jobs wait, whoever's; tasks of an array that wait together count once
  jobs         list of job_id, user, user_name, name, account, qos, submitted (these four null unless
               slurmctld was asked, for --account or for one of them in --columns, -o or --sort),
               partition, nodes, cpus, tasks, limit_s (null: unlimited), priority, expected_start,
               earliest_start, latest_start (null where no start is expected), obstacle (why:
               held, dependency, dependency_never_satisfied, licences, burst_buffer, power,
               channels, federation, limit, array_limit, not_allowed, constraints, nodes_away,
               partition_down, partition_limit, too_large, reservation, too_far_behind,
               not_known); of an array the start of its first task
  notes        what else is to be known";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    generation: u64,
    snapshot_age_s: i64,
    cluster: String,
    plan_at: Option<i64>,
    is_complete: Option<bool>,
    pending_jobs: Option<u32>,
    jobs: Vec<JobReport>,
    notes: Vec<String>,
    #[serde(skip)]
    now: UnixTime,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    layout: Layout<JobReport>,
}

/// A job that waits.
#[derive(Debug, Serialize)]
struct JobReport {
    job_id: JobId,
    user: UserId,
    user_name: Option<String>,
    name: Option<String>,
    account: Option<String>,
    qos: Option<String>,
    submitted: Option<i64>,
    partition: String,
    nodes: u32,
    cpus: u32,
    tasks: u32,
    limit_s: Option<i64>,
    priority: u32,
    expected_start: Option<i64>,
    earliest_start: Option<i64>,
    latest_start: Option<i64>,
    obstacle: Option<&'static str>,
    /// Why the job waits, in words.
    #[serde(skip)]
    why: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.list.view.show(|| told(arguments))
}

/// The queue as it is now, and the exit status.
fn told(arguments: &Arguments) -> Result<(Written, ExitCode), Failure> {
    let report = report(arguments)?;
    let status = ExitCode::from(u8::from(report.plan_at.is_none()));
    Ok((arguments.list.written(output::tell(arguments.list.view.format(), &report, text::text)?), status))
}

fn report(arguments: &Arguments) -> Result<Report, Failure> {
    let now = output::now();
    let wanted = arguments.list.selection()?;
    let layout = arguments.list.layout(&columns::COLUMNS, columns::DEFAULT)?;
    let installation = arguments.list.view.installation()?;
    let snapshot = installation.needed_snapshot()?;
    let partitions: Vec<&str> = snapshot.partitions().map(|partition| partition.name).collect();
    if let Some(unknown) = wanted.partitions().iter().find(|name| !partitions.contains(&name.as_str())) {
        return Err(Failure::Input(anyhow!("no partition {unknown:?} in the snapshot; there are: {}", partitions.join(", "))));
    }
    let queued = if wanted.has_accounts() || layout.asks_for(&columns::OF_SLURMCTLD) { queued(arguments)? } else { BTreeMap::new() };
    let plan = snapshot.plan();
    let mut user_names = BTreeMap::new();
    let planned = plan.iter().flat_map(|plan| plan.jobs());
    let jobs = planned.map(|job| JobReport::of(&job, &partitions, queued.get(&job.job), &mut user_names));
    let mut jobs: Vec<JobReport> = jobs.filter(|job| job.is_meant(&wanted, queued.get(&job.job_id))).collect();
    layout.sort(&mut jobs);
    Ok(Report {
        generation: snapshot.generation(),
        snapshot_age_s: snapshot.age(now).0,
        cluster: snapshot.provenance().cluster.to_owned(),
        plan_at: plan.map(|plan| plan.at.0),
        is_complete: plan.map(|plan| plan.is_complete),
        pending_jobs: plan.map(|plan| plan.pending_jobs),
        jobs,
        notes: installation.privacy_note().into_iter().chain(notes(&snapshot, now)).collect(),
        now,
        is_filtered: !wanted.is_all(),
        layout,
    })
}

/// What slurmctld tells of the jobs, by their numbers.
fn queued(arguments: &Arguments) -> Result<BTreeMap<JobId, QueuedJob>, Failure> {
    arguments.list.view.cluster.is_of_slurm_here()?;
    let jobs = controller::jobs().map_err(|error| Failure::Input(error.into()))?;
    Ok(jobs.into_iter().map(|job| (job.job_id, job)).collect())
}

impl JobReport {
    fn of(job: &PlannedJob, partitions: &[&str], queued: Option<&QueuedJob>, user_names: &mut BTreeMap<UserId, Option<String>>) -> Self {
        let start = job.start.ok();
        let user_name = user_names.entry(job.user).or_insert_with(|| user::name(job.user)).clone();
        Self {
            job_id: job.job,
            user: job.user,
            user_name,
            name: queued.and_then(|queued| queued.name.clone()),
            account: queued.and_then(|queued| queued.account.clone()),
            qos: queued.and_then(|queued| queued.qos.clone()),
            submitted: queued.and_then(|queued| queued.submitted),
            partition: partitions.get(usize::from(job.partition.0)).map_or_else(String::new, |name| (*name).to_owned()),
            nodes: job.size.nodes,
            cpus: job.size.cpus,
            tasks: job.tasks,
            limit_s: job.limit.map(|limit| limit.0),
            priority: job.priority,
            expected_start: start.map(|start| start.expected.0),
            earliest_start: start.map(|start| start.lower.0),
            latest_start: start.map(|start| start.upper.0),
            obstacle: job.start.err().map(|obstacle| obstacle.name()),
            why: job.start.err().map(|obstacle| obstacle.to_string()),
        }
    }
}

impl JobReport {
    /// Whether the job is one of those asked for.
    fn is_meant(&self, wanted: &Selection, queued: Option<&QueuedJob>) -> bool {
        wanted.means_user(self.user)
            && wanted.means_partition(&self.partition)
            && wanted.means_account(self.account.as_deref())
            && wanted.means_job(self.job_id, queued.and_then(|queued| queued.array_job_id))
    }

    /// Returns the job's user as people know them.
    fn user(&self) -> String {
        self.user_name.clone().unwrap_or_else(|| self.user.to_string())
    }
}

/// What else is to be known.
fn notes(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> Vec<String> {
    let mut notes: Vec<String> = note_on_age(snapshot, now).into_iter().collect();
    let Some(plan) = snapshot.plan() else {
        notes.push(
            "the snapshot has no plan of the queue: slurmctld was not read, or planning took too long (see the log of queuecastd)"
                .to_owned(),
        );
        return notes;
    };
    let age = (now - plan.at).max(Seconds::ZERO);
    if age > snapshot.age(now) + Seconds::MINUTE {
        notes.push(format!("the queue was read {age} ago: does slurmctld answer?"));
    }
    if !plan.is_complete {
        notes.push("more jobs wait than are planned, so that starts may be later than they say".to_owned());
    }
    let told = plan.jobs().count();
    if told < plan.pending_jobs as usize {
        notes.push(format!("of {} jobs that wait, the snapshot has the first {told}", plan.pending_jobs));
    }
    notes
}
