//! The jobs of the demonstration, of each kind, and what becomes of them.

use crate::filler::Filler;
use crate::workload::Workload;
use end_to_end::{Cluster, Submitted, now, wait_at_most};
use job_types::number::UserId;
use job_types::record::Record;
use job_types::size::Size;
use job_types::time::Seconds;
use predictor_core::decisions::STEP;
use predictor_core::decisions::site::Site;
use predictor_core::forecasts::forecast::{Association, JobShape, WaitForecaster};
use std::time::Duration;

/// Time limit of the jobs in minutes.
const LIMIT_MINUTES: i64 = 5;

/// Longest time ahead of a reservation that the demonstration waits for, in minutes.
const LONGEST_AHEAD_MINUTES: i64 = 5;

/// How far ahead deadlines are, in minutes.
const DEADLINE_MINUTES: i64 = 20;

/// How long before the filler reaches its time limit a job asks to be deferred at the latest, in
/// seconds.
const LAST_DEFERRAL_S: i64 = 10;

/// How long a job is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(900);

/// What a job that is to be deferred asks for.
const DEFER: [&str; 2] = ["--auto-defer", "--max-defer=5m"];

/// What a submission asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Mold,
    Defer,
    Reserve,
    ReserveAndRun,
    ReserveInVain,
    Deadline,
    MoldForDeadline,
    Off,
}

/// A submission as it was made.
#[derive(Debug)]
pub(crate) struct Submission {
    kind: Kind,
    tasks: u32,
    options: Vec<String>,
    submitted: i64,
    id: Option<String>,
    said: String,
}

/// A submission whose job has ended, or which was refused.
#[derive(Debug)]
pub(crate) struct FinishedSubmission {
    pub(crate) kind: Kind,
    pub(crate) tasks: u32,
    pub(crate) options: String,
    /// The reserved time or the deadline.
    pub(crate) time: Option<i64>,
    /// Number of the job, empty where it was refused.
    pub(crate) id: String,
    pub(crate) said: String,
    pub(crate) record: Option<Record>,
    /// State, empty where it was refused.
    pub(crate) state: String,
    pub(crate) submitted: i64,
    pub(crate) started: i64,
    pub(crate) ended: i64,
    /// When the script itself began.
    pub(crate) began: Option<i64>,
    /// Tasks that Slurm gave it, and tasks that its srun ran.
    pub(crate) tasks_given: u32,
    pub(crate) tasks_run: Option<u32>,
    pub(crate) limit_s: i64,
}

impl FinishedSubmission {
    pub(crate) fn name(&self) -> String {
        if self.id.is_empty() { "refused".to_owned() } else { format!("job {}", self.id) }
    }

    pub(crate) fn is_molded(&self) -> bool {
        self.record.as_ref().and_then(|record| record.written.as_ref()).is_some_and(|written| written.cpus.is_some())
    }
}

/// Submits one job of each kind, and one to be molded of each size: the largest first, of which
/// half would fit beside the filler. The deferral is asked for last, behind a burst of somebody
/// else's jobs, as soon as one is forecast to pay, or else when the filler is about to end.
pub(crate) fn submit_all(cluster: &Cluster, workload: &Workload, filler: &Filler) -> Vec<Submission> {
    let usual = workload.sizes.first().map_or(1, |(size, _)| *size);
    let submit = |kind, tasks, options: &[&str]| submit(cluster, workload, kind, tasks, options);
    let mut sizes: Vec<u32> = workload.sizes.iter().map(|(size, _)| *size).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(*size));
    let mut submissions: Vec<_> = sizes.iter().map(|size| submit(Kind::Mold, *size, &["--auto-mold"])).collect();
    submissions.push(submit(Kind::Plain, usual, &[]));
    submissions.push(submit(Kind::Off, usual, &["--auto-mold", "--queuecast=off"]));
    let deadline = format!("--deadline=now+{DEADLINE_MINUTES}minutes");
    submissions.push(submit(Kind::Deadline, usual, &[&deadline]));
    submissions.push(submit(Kind::MoldForDeadline, usual, &[&deadline, "--auto-mold"]));
    if let Some((size, minutes, probability)) = reservable(cluster, workload) {
        let (reserve, likely) = (format!("--reserve-at=now+{minutes}minutes"), format!("--success-probability={probability}"));
        submissions.push(submit(Kind::Reserve, size, &[&reserve, &likely]));
        submissions.push(submit(Kind::ReserveAndRun, size, &[&reserve, &likely, "--early-start=run"]));
    }
    submissions.push(submit(Kind::ReserveInVain, usual, &["--reserve-at=now+1minute", "--success-probability=0.999"]));
    Filler::burst(cluster, workload);
    println!("  (the next once a deferral is forecast to pay)");
    let size = deferrable(cluster, workload, filler).unwrap_or_else(|| workload.largest());
    submissions.push(submit(Kind::Defer, size, &DEFER));
    submissions
}

/// Asks again and again what would become of a job of each of the user's sizes, the largest first,
/// until one would be deferred; `None` if none is until the filler is about to end.
fn deferrable(cluster: &Cluster, workload: &Workload, filler: &Filler) -> Option<u32> {
    let mut sizes: Vec<u32> = workload.sizes.iter().map(|(size, _)| *size).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(*size));
    let limit = format!("-t{LIMIT_MINUTES}");
    let is_deferred = |size: &&u32| {
        let tasks = format!("-n{size}");
        let described = [&["predict", "--json", &tasks, &limit], &DEFER[..]].concat();
        let predicted: serde_json::Value = serde_json::from_str(&cluster.output("queuecast", &described)).unwrap_or_default();
        predicted["filter"]["proposed"]["begin"].is_i64()
    };
    while now() < filler.ends_by - LAST_DEFERRAL_S {
        if let Some(size) = sizes.iter().find(is_deferred) {
            return Some(*size);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    None
}

/// Returns which of the user's sizes can be reserved soonest, how many minutes ahead, and with
/// which probability: the highest that does not take too long to wait for.
fn reservable(cluster: &Cluster, workload: &Workload) -> Option<(u32, i64, f64)> {
    let snapshot = crate::snapshot(cluster)?;
    let partition = snapshot.default_partition()?;
    let per_node = (partition.cpus / partition.nodes.max(1)).max(1);
    let bound = |cpus: u32, probability: f64| {
        let shape = JobShape {
            user: UserId(0),
            association: Association::default(),
            partition: partition.index,
            size: Size { nodes: cpus.div_ceil(per_node), cpus },
            limit: Some(Seconds((LIMIT_MINUTES + LONGEST_AHEAD_MINUTES) * 60)),
        };
        Some(snapshot.wait(&shape, None)?.bound(probability)?.0)
    };
    [0.95, 0.75, 0.5, 0.25].into_iter().find_map(|probability| {
        let bounds = workload.sizes.iter().filter_map(|(cpus, _)| Some((bound(*cpus, probability)?, *cpus)));
        let (soonest, cpus) = bounds.min()?;
        let minutes = Seconds(soonest.max(45) + 2 * STEP.0).minutes_rounded_up();
        (minutes <= LONGEST_AHEAD_MINUTES).then_some((cpus, minutes, probability))
    })
}

fn submit(cluster: &Cluster, workload: &Workload, kind: Kind, tasks: u32, options: &[&str]) -> Submission {
    let (tasks_option, limit) = (format!("-n{tasks}"), format!("-t{LIMIT_MINUTES}"));
    let arguments = [&[tasks_option.as_str(), &limit], options].concat();
    let submitted = now();
    let (id, said) = match cluster.submit(&arguments, &script(workload, tasks)) {
        Submitted::Job(job) => (Some(job.id), job.said),
        Submitted::Refused(said) => (None, said),
    };
    println!("  sbatch {}", arguments.join(" "));
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    Submission { kind, tasks, options, submitted, id, said }
}

/// A script that starts all its tasks, and then runs as long as the user's jobs of its size mostly
/// did; at another size as much longer or shorter as it has fewer or more tasks.
fn script(workload: &Workload, tasks: u32) -> String {
    let seconds = workload.sizes.iter().find(|(size, _)| *size == tasks).map_or(1, |(_, seconds)| *seconds);
    let work = i64::from(tasks) * seconds;
    format!(
        "echo began $(date +%s)\necho tasks $(srun --quiet echo task | grep -c task)\nsleep $((({work} + SLURM_NTASKS - 1) / SLURM_NTASKS))"
    )
}

impl Submission {
    /// Waits for the job to end.
    pub(crate) fn finish(self, cluster: &Cluster) -> FinishedSubmission {
        let mut submission = FinishedSubmission {
            kind: self.kind,
            tasks: self.tasks,
            options: self.options.join(" "),
            time: None,
            id: String::new(),
            said: self.said,
            record: None,
            state: String::new(),
            submitted: self.submitted,
            started: 0,
            ended: 0,
            began: None,
            tasks_given: 0,
            tasks_run: None,
            limit_s: 0,
        };
        let Some(id) = self.id else { return submission };
        let show = |format: &str| cluster.output("squeue", &["--noheader", "--states=all", "--jobs", &id, "--format", format]);
        let ended = wait_at_most(LONGEST_WAIT, || {
            let state = show("%T");
            (!["PENDING", "RUNNING", "COMPLETING", "CONFIGURING"].contains(&state.as_str())).then_some(state)
        });
        let shown = cluster.output("scontrol", &["show", "job", "--oneliner", &id]);
        submission.state = ended.unwrap_or_else(|| {
            println!("  job {id} has not ended after {} s:\n{shown}", LONGEST_WAIT.as_secs());
            println!("{}", cluster.output("sinfo", &["--Node", "--format", "%N %T %E"]));
            show("still %T (%r)")
        });
        let field = |name: &str| shown.split_whitespace().find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
        let comment = shown.split_once("AdminComment=").map(|(_, comment)| comment);
        submission.record = comment.and_then(Record::parse);
        let times = submission
            .record
            .as_ref()
            .map(|record| (record.written.as_ref().and_then(|written| written.reserved_at), record.asked.deadline));
        submission.time = times.and_then(|(reserved, deadline)| reserved.or(deadline));
        submission.started = unix(field("StartTime"));
        submission.ended = unix(field("EndTime"));
        submission.tasks_given = field("NumTasks").parse().unwrap_or(0);
        submission.limit_s = slurm_conf::duration::parse(field("TimeLimit")).unwrap_or(0);
        let printed = std::fs::read_to_string(cluster.path("log").join(format!("job-{id}.out"))).unwrap_or_default();
        let number = |name: &str| printed.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<i64>().ok());
        submission.began = number("began");
        submission.tasks_run = number("tasks").and_then(|tasks| u32::try_from(tasks).ok());
        submission.id = id;
        submission
    }
}

/// A time that scontrol shows, in Unix seconds; 0 where there is none.
fn unix(shown: &str) -> i64 {
    slurm_conf::moment::parse(shown, now(), &jiff::tz::TimeZone::system()).unwrap_or(0)
}
