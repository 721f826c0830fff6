//! `queuecast queue`: the jobs that wait, and when the plan of the daemon expects them to start.

mod columns;
mod text;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, Written};
use forecast_report::{QueueReport, WaitingJob};
use job_types::number::JobId;
use job_types::time::UnixTime;
use serde::Serialize;
use slurm_sys::client::controller::{self, QueuedJob};

use crate::columns::Layout;
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
    #[serde(flatten)]
    queue: QueueReport<ListedJob>,
    #[serde(skip)]
    now: UnixTime,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    layout: Layout<ListedJob>,
}

/// A job that waits, with what slurmctld tells of it where it was asked.
#[derive(Debug, Serialize)]
struct ListedJob {
    #[serde(flatten)]
    waiting: WaitingJob,
    name: Option<String>,
    account: Option<String>,
    qos: Option<String>,
    submitted: Option<i64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.list.view.show(|| told(arguments))
}

/// The queue as it is now, and the exit status.
fn told(arguments: &Arguments) -> Result<(Written, ExitCode), Failure> {
    let report = report(arguments)?;
    let status = ExitCode::from(u8::from(report.queue.plan_at.is_none()));
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
    let listed = |waiting: WaitingJob| {
        let queued = queued.get(&waiting.job_id);
        Some(ListedJob::of(waiting, queued)).filter(|job| job.is_meant(&wanted, queued))
    };
    let mut queue = QueueReport::of(&snapshot, now, installation.privacy_note(), user::name, listed);
    layout.sort(&mut queue.jobs);
    Ok(Report { queue, now, is_filtered: !wanted.is_all(), layout })
}

/// What slurmctld tells of the jobs, by their numbers.
fn queued(arguments: &Arguments) -> Result<BTreeMap<JobId, QueuedJob>, Failure> {
    arguments.list.view.cluster.is_of_slurm_here()?;
    let jobs = controller::jobs().map_err(|error| Failure::Input(error.into()))?;
    Ok(jobs.into_iter().map(|job| (job.job_id, job)).collect())
}

impl ListedJob {
    fn of(waiting: WaitingJob, queued: Option<&QueuedJob>) -> Self {
        Self {
            waiting,
            name: queued.and_then(|queued| queued.name.clone()),
            account: queued.and_then(|queued| queued.account.clone()),
            qos: queued.and_then(|queued| queued.qos.clone()),
            submitted: queued.and_then(|queued| queued.submitted),
        }
    }

    /// Whether the job is one of those asked for.
    fn is_meant(&self, wanted: &Selection, queued: Option<&QueuedJob>) -> bool {
        let job = &self.waiting;
        wanted.means_user(job.user)
            && wanted.means_partition(&job.partition)
            && wanted.means_account(self.account.as_deref())
            && wanted.means_job(job.job_id, queued.and_then(|queued| queued.array_job_id))
    }
}
