//! What queuecast does, shown on a private cluster: history in, a daemon, submissions of each kind,
//! and what became of them.
//!
//! `ci/demo` builds and runs this.

// A demonstration ends where it can't go on.
#![allow(clippy::expect_used, clippy::panic)]

mod assessment;
mod filler;
mod gain;
mod promises;
mod submissions;
mod table;
mod workload;

use clap::Parser;
use end_to_end::{Cluster, Options, now, wait_for};
use filler::Filler;
use gain::Gain;
use job_types::time::Seconds;
use predictor_core::decisions::site::Site;
use predictor_core::snapshot::Snapshot;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use workload::Workload;

/// Nodes of the cluster.
pub(crate) const NODES: u32 = 8;

/// What queuecast is set to. An hour of the log passes in seconds here, so that a gain is worth
/// having from 10 s on, and a job is deferred for a tenth of its response. The port for metrics may
/// be that of a daemon that the machine has already.
const CONFIGURATION: &str = r#"
[snapshot]
interval = "2s"
[history]
window = "3650d"
[policy]
mode = "enforce"
min_gain_time = "10s"
defer_threshold = 0.1
[metrics]
listen = "off"
"#;

/// Brings up a private Slurm cluster, fills its accounting with a workload log, starts queuecastd,
/// submits jobs of each kind, waits for them, and prints what was asked, written, forecast and what
/// happened.
///
/// Exit status: 0 if every promise held, 1 if one did not, 2 for wrong usage.
#[derive(Debug, Parser)]
#[command(name = "ci/demo")]
struct Arguments {
    /// A workload log in the Standard Workload Format, plain or packed; without it a workload of
    /// the Lublin-Feitelson model.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Multiplies all times of the log, so that its hours pass in seconds here.
    #[arg(long, value_name = "F", default_value_t = 0.004)]
    time_scale: f64,

    /// Waits for Enter before the cluster is stopped, to look around in it.
    #[arg(long)]
    keep: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    step("reading the workload log");
    let path = match &arguments.trace {
        Some(path) => path.clone(),
        None => workload::embedded(scratch.path()),
    };
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let read = workload::read(&path).and_then(|log| Ok((Workload::of(name, &log, arguments.time_scale)?, log)));
    let (workload, log) = match read {
        Ok(read) => read,
        Err(error) => {
            eprintln!("ci/demo: {}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    let path = scratch.path().join("past.swf");
    let filler = filler::write_with_past(log, arguments.time_scale, &path).expect("the directory is ours");
    println!("  {workload}");

    step("bringing up a private cluster");
    let cpus = workload.cpus_per_node();
    let cluster = Cluster::up(&Options::with_plugins(CONFIGURATION).option("cpus", &cpus.to_string()));
    println!("  {NODES} nodes of {cpus} CPUs, {}", cluster.output("sinfo", &["--version"]));
    let hour = Seconds((3_600.0 * arguments.time_scale).round() as i64);
    println!("  an hour of the log passes in {hour}: a change has to gain 10 s here, in the place of a minute");

    step("importing the log's jobs into slurmdbd");
    let maps = [format!("{}:root", workload.user), format!("{filler}:{}", filler::USER)];
    let scale = arguments.time_scale.to_string();
    let (log, cpus) = (path.display().to_string(), cpus.to_string());
    let [root, games] = maps.each_ref().map(|map| ["--map-user", map]);
    indented(&cluster.import(&[&[log.as_str(), "--cpus-per-node", &cpus, "--time-scale", &scale], &root[..], &games].concat()));

    step("asking whether queuecast would pay here, from slurmdbd alone");
    let assessed = assessment::write(&cluster, NODES * workload.cpus_per_node());
    match &assessed {
        Ok((page, verdict)) => {
            indented(verdict);
            println!("  the whole report is {}", page.display());
        }
        Err(why) => println!("  it can't be said: {why}"),
    }

    step("starting queuecastd");
    let daemon = cluster.start_queuecastd();
    let jobs = wait_for("the whole history in a snapshot", Duration::from_secs(300), || history_of(&cluster, workload.jobs));
    println!("  the snapshot rests on {jobs} ended jobs");
    wait_for("forecasts of waits that were held against the past", Duration::from_secs(300), || tried(&cluster));
    indented(&cluster.output("queuecast", &["status"]));

    step("filling the cluster, so that there is a queue");
    let filler = Filler::start(&cluster, &workload);
    step("submitting");
    let jobs = submissions::submit_all(&cluster, &workload, &filler);
    step("waiting for the jobs to end");
    let submissions: Vec<_> = jobs.into_iter().map(|job| job.finish(&cluster)).collect();

    println!("\n{}\n", table::of(&submissions));
    for submission in &submissions {
        for line in submission.said.lines() {
            println!("  {:<12} {line}", submission.name());
        }
    }
    step("one of them in full");
    if let Some(molded) = submissions.iter().find(|submission| submission.is_molded()) {
        indented(&cluster.output("queuecast", &["explain", &molded.id]));
    }
    let gains: Vec<_> = submissions.iter().filter_map(Gain::of).collect();
    step("what changed jobs gained");
    for gain in &gains {
        println!("  {gain}");
    }
    let mut promises = promises::check(&cluster, &submissions, &gains);
    promises.push(("its past could be assessed".to_owned(), assessed.map(|_| ())));
    println!("\npromises");
    for (promise, kept) in &promises {
        match kept {
            Ok(()) => println!("  kept    {promise}"),
            Err(why) => println!("  BROKEN  {promise}: {why}"),
        }
    }
    if arguments.keep {
        println!("\nthe cluster runs in {0}; eval \"$(ci/cluster env {0})\"; Enter stops it", cluster.directory().display());
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    drop(daemon);
    if promises.iter().all(|(_, kept)| kept.is_ok()) {
        println!("\nall {} promises were kept", promises.len());
        ExitCode::SUCCESS
    } else {
        println!("\nnot all promises were kept");
        ExitCode::FAILURE
    }
}

fn step(what: &str) {
    println!("\n* {what}");
}

fn indented(text: &str) {
    for line in text.lines() {
        println!("  {line}");
    }
}

/// The snapshot that is published now.
pub(crate) fn snapshot(cluster: &Cluster) -> Option<Snapshot<Vec<u8>>> {
    Snapshot::open(std::fs::read(cluster.state_directory().join("snapshot")).ok()?).ok()
}

/// Waits for a snapshot of what is in the cluster now.
pub(crate) fn wait_for_snapshot(cluster: &Cluster) {
    let since = now();
    let is_later = || (snapshot(cluster)?.published_at().0 > since + 1).then_some(());
    wait_for("a snapshot of the present", Duration::from_secs(30), is_later);
}

/// Whether the daemon has looked how well its forecasts of the past waits held.
fn tried(cluster: &Cluster) -> Option<()> {
    let snapshot = snapshot(cluster)?;
    let partition = snapshot.default_partition()?;
    (snapshot.score(partition.index)?.jobs > 0).then_some(())
}

fn history_of(cluster: &Cluster, at_least: u64) -> Option<u64> {
    Some(snapshot(cluster)?.provenance().ended_jobs).filter(|jobs| *jobs >= at_least)
}
