//! `queuecast queue`: the jobs that wait, and when the plan of the daemon expects them to start.

mod text;

use job_types::number::{JobId, UserId};
use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::Timeliness;
use predictor_core::queue_plan::PlannedJob;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::place::{ReportArguments, ahead};
use crate::user;

/// List the jobs that wait, with the starts that are expected of them.
///
/// queuecastd plans the queue at each snapshot: it places the pending jobs in the order of their
/// priority, each at the first time at which there is room for as long as it is forecast to run.
/// The earliest start is that if all jobs end early, the latest that if all run to their time
/// limits. Jobs that are submitted later with a higher priority are not foreseen.
///
/// Exit status: 0 if there is a plan, also of an empty queue; 1 without a plan; 2 for wrong usage,
/// or without a snapshot.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only jobs of this user, by name or number.
    #[arg(short, long, value_name = "USER")]
    user: Option<String>,

    /// Only jobs of these partitions, separated by commas. A job that may run in several is listed
    /// under the first that it names.
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    partition: Vec<String>,

    #[command(flatten)]
    report: ReportArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast queue
      all jobs that wait, the next to be served first
  queuecast queue --user $USER
      mine
  queuecast queue --partition batch --format json | jq '.jobs[] | [.job_id, .expected_start]'

Keys of --format json (times in Unix seconds, *_s in seconds, null where not known):
  generation, snapshot_age_s, cluster
  plan_at      as of when the queue was planned; null without a plan
  is_complete  whether all jobs were placed; if not, starts may be later than they say
  pending_jobs how many jobs wait, whoever's; tasks of an array that wait together count once
  jobs         list of job_id, user, user_name, partition, nodes, cpus, tasks, limit_s (null:
               unlimited), priority, expected_start, earliest_start, latest_start (null where no
               start is expected), obstacle (why: held, dependency, licences, limit,
               partition_down, partition_limit, too_large, reservation, too_far_behind);
               of an array the start of its first task
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
}

/// A job that waits.
#[derive(Debug, Serialize)]
struct JobReport {
    job_id: JobId,
    user: UserId,
    user_name: Option<String>,
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
    let now = output::now();
    let of_user = arguments.user.as_deref().map(|given| user::find(Some(given))).transpose().map_err(Failure::Input)?;
    let place = arguments.report.place();
    let snapshot = place.needed_snapshot()?;
    let names: Vec<&str> = snapshot.partitions().map(|partition| partition.name).collect();
    if let Some(unknown) = arguments.partition.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::Input(anyhow!("no partition {unknown:?} in the snapshot; there are: {}", names.join(", "))));
    }
    let plan = snapshot.plan();
    let is_wanted = |job: &JobReport| {
        of_user.as_ref().is_none_or(|(number, _)| *number == job.user)
            && (arguments.partition.is_empty() || arguments.partition.contains(&job.partition))
    };
    let mut user_names = BTreeMap::new();
    let jobs = plan.iter().flat_map(|plan| plan.jobs()).map(|job| JobReport::of(&job, &names, &mut user_names)).filter(is_wanted);
    let report = Report {
        generation: snapshot.generation(),
        snapshot_age_s: snapshot.age(now).0,
        cluster: snapshot.provenance().cluster.to_owned(),
        plan_at: plan.map(|plan| plan.at.0),
        is_complete: plan.map(|plan| plan.is_complete),
        pending_jobs: plan.map(|plan| plan.pending_jobs),
        jobs: jobs.collect(),
        notes: place.privacy_note().into_iter().chain(notes(&snapshot, now)).collect(),
        now,
        is_filtered: of_user.is_some() || !arguments.partition.is_empty(),
    };
    output::print(arguments.report.format, &report, text::text)?;
    Ok(ExitCode::from(u8::from(report.plan_at.is_none())))
}

impl JobReport {
    fn of(job: &PlannedJob, partitions: &[&str], user_names: &mut BTreeMap<UserId, Option<String>>) -> Self {
        let start = job.start.ok();
        let user_name = user_names.entry(job.user).or_insert_with(|| user::name(job.user)).clone();
        Self {
            job_id: job.job,
            user: job.user,
            user_name,
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

/// What else is to be known.
fn notes(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> Vec<String> {
    let mut notes = Vec::new();
    match snapshot.timeliness(now) {
        Timeliness::Current => {}
        Timeliness::TooOld => notes.push(format!("the snapshot is {} old: is queuecastd running?", snapshot.age(now))),
        Timeliness::Ahead => notes.push(ahead(snapshot, now)),
    }
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
