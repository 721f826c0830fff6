//! Submitting, waiting, reading back.

use super::site::text;
use super::{Printed, Site, Submission};
use crate::{Cluster, PATIENCE, wait_for};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What became of a submission. Times are seconds since the site's epoch.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Happened {
    /// The job's number.
    pub id: u32,
    /// Number of the job's user.
    pub user: u32,
    /// Number of the job's account.
    pub account: u32,
    /// Number of the job's partition.
    pub partition: u32,
    /// Number of the job's quality of service.
    pub qos: u32,
    /// How many nodes the job asked for.
    pub nodes: u32,
    /// The job's time limit in seconds.
    pub limit_seconds: i64,
    /// When the job was submitted.
    pub submit_seconds: i64,
    /// When the job started.
    pub start_seconds: i64,
    /// When the job ended.
    pub end_seconds: i64,
    /// When the last of the job's nodes was free again.
    pub released_seconds: i64,
    /// Whether the backfill scheduler started the job.
    pub was_backfilled: bool,
    /// The job's priority when it was submitted.
    pub submission_priority: u32,
}

/// A run on a cluster, to be simulated again.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Recording {
    /// What the cluster said of itself.
    pub site: Printed,
    /// What became of its jobs.
    pub jobs: Vec<Happened>,
}

/// Submits, waits until all have ended, and reads from slurmdbd what became of them, in the order
/// of submission. `said` is called now and then with the number of jobs submitted and ended.
///
/// # Panics
/// Where a submission is refused, a job does not complete, or the jobs do not end in an hour.
#[must_use]
pub fn run(cluster: &Cluster, site: &mut Site, submissions: &[Submission], mut said: impl FnMut(usize, usize)) -> Vec<Happened> {
    let ended = |submitted: usize| submitted.saturating_sub(text(cluster, "squeue", &["-h", "-o", "%i"]).lines().count());
    let begin = Instant::now();
    let mut last_said = begin;
    for (place, submission) in submissions.iter().enumerate() {
        std::thread::sleep((begin + submission.after).saturating_duration_since(Instant::now()));
        submit(cluster, submission);
        if last_said.elapsed() > Duration::from_secs(20) {
            last_said = Instant::now();
            said(place + 1, ended(place + 1));
        }
    }
    wait_for("the jobs to end", Duration::from_secs(3_600), || {
        let ended = ended(submissions.len());
        if last_said.elapsed() > Duration::from_secs(20) {
            last_said = Instant::now();
            said(submissions.len(), ended);
        }
        std::thread::sleep(Duration::from_millis(500));
        (ended == submissions.len()).then_some(())
    });
    let log = Log::read(&cluster.log("slurmctld"));
    wait_for("the jobs in slurmdbd", PATIENCE, || {
        let happened = read(cluster, site, &log);
        (happened.len() == submissions.len()).then_some(happened)
    })
}

fn submit(cluster: &Cluster, submission: &Submission) {
    let user = format!("--reuid={}", submission.user);
    let options = [
        format!("--nodes={}", submission.nodes),
        format!("--time={}", submission.limit_minutes),
        format!("--account={}", submission.account),
        format!("--partition={}", submission.partition),
        format!("--qos={}", submission.qos),
        format!("--wrap=exec sleep {}", submission.run_seconds),
    ];
    let mut sbatch = cluster.prepare("setpriv");
    sbatch.args(["--regid=60", "--clear-groups", &user, "sbatch", "--output=/dev/null"]).args(options).current_dir(cluster.path("jobs"));
    let output = sbatch.output().expect("setpriv and sbatch are there");
    assert!(output.status.success(), "{submission:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The jobs that slurmdbd knows to have ended.
fn read(cluster: &Cluster, site: &mut Site, log: &Log) -> Vec<Happened> {
    const COLUMNS: &str = "JobID,User,Account,Partition,QOS,ReqNodes,TimelimitRaw,Submit,Start,End,State,Flags";
    let printed = text(cluster, "sacct", &["-a", "-X", "-n", "-P", "-S", "now-1day", "-o", COLUMNS]);
    let mut happened: Vec<Happened> = printed.lines().filter_map(|line| parse(line, site, log)).collect();
    happened.sort_by_key(|job| (job.submit_seconds, job.id));
    happened
}

fn parse(line: &str, site: &mut Site, log: &Log) -> Option<Happened> {
    let columns: Vec<&str> = line.split('|').collect();
    let [id, user, account, partition, qos, nodes, limit, submit, start, end, state, flags] = columns[..] else {
        panic!("sacct printed {line:?}");
    };
    let seconds = |text: &str| Some(text.parse::<i64>().ok()? - site.epoch);
    let (submit_seconds, start_seconds, end_seconds) = (seconds(submit)?, seconds(start)?, seconds(end)?);
    // For a short job, slurmdbd has the end before what was known at the start.
    if partition.is_empty() || limit.is_empty() {
        return None;
    }
    assert_eq!(state, "COMPLETED", "{line}");
    let id = id.parse().expect("a job's number");
    Some(Happened {
        id,
        user: site.users.number(user),
        account: site.accounts.number(account),
        partition: site.partitions.number(partition),
        qos: site.qos.number(qos),
        nodes: nodes.parse().expect("a number of nodes"),
        limit_seconds: 60 * limit.parse::<i64>().expect("minutes"),
        submit_seconds,
        start_seconds,
        end_seconds,
        released_seconds: log.released.get(&id).map_or(end_seconds, |released| (released - site.epoch).max(end_seconds)),
        was_backfilled: flags.split(',').any(|flag| flag == "SchedBackfill"),
        submission_priority: log.priorities.get(&id).copied().unwrap_or(0),
    })
}

/// What only slurmctld's log tells of jobs, by number.
struct Log {
    /// Priority at submission, from lines as `[2026-01-02T03:04:05.678]
    /// _slurm_rpc_submit_batch_job: JobId=1 InitPrio=3575 usec=716`.
    priorities: BTreeMap<u32, u32>,
    /// When the last node was free again, in Unix seconds, from lines as
    /// `[...] cleanup_completing: JobId=1`.
    released: BTreeMap<u32, i64>,
}

impl Log {
    fn read(log: &str) -> Log {
        let mut read = Log { priorities: BTreeMap::new(), released: BTreeMap::new() };
        for line in log.lines() {
            let _ = read.note_priority(line).or_else(|| read.note_release(line));
        }
        read
    }

    fn note_priority(&mut self, line: &str) -> Option<()> {
        let (_, rest) = line.split_once("_slurm_rpc_submit_batch_job: JobId=")?;
        let (job, rest) = rest.split_once(" InitPrio=")?;
        // Behind the number 26.05 writes `SLUID=...` as well.
        let id = job.split(' ').next()?;
        self.priorities.insert(id.parse().ok()?, rest.split(' ').next()?.parse().ok()?);
        Some(())
    }

    fn note_release(&mut self, line: &str) -> Option<()> {
        let (before, rest) = line.split_once("cleanup_completing: JobId=")?;
        let id = rest.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()?;
        let written = before.trim_start_matches('[').split(['.', ']']).next()?;
        let local: jiff::civil::DateTime = written.parse().ok()?;
        self.released.insert(id, local.to_zoned(jiff::tz::TimeZone::system()).ok()?.timestamp().as_second());
        Some(())
    }
}
