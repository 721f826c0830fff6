//! `ci/bench-molding`: molding and deferral in front of the scheduler, replayed.

mod adoptions;
mod least_gain;
mod others;

use std::fs;
use std::num::NonZeroU64;

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::failure::Outcome;
use crate::log::{EVALUATED, ModelLog, expect_figure};
use crate::page::{NamedTable, Page, Stored};
use crate::replays::{ReplayArguments, Replays};
use crate::swf;

/// Replay workload logs with molding and deferral in front of the scheduler, and print the tables
/// of docs/molding.md with a picture of each.
///
/// A log takes half a minute on two cores, most of it for the policies of the paper.
///
/// With --check the tables must have every job, protocol and policy, and each policy must change
/// jobs.
///
/// Exit status: 0 if all logs could be replayed, and --check found what it should; 1 if not; 2 for
/// wrong usage.
#[derive(Debug, Args)]
#[command(
    override_usage = "ci/bench-molding [--output DIRECTORY] [--quick] [LOG]...\n       ci/bench-molding --adoptions|--others|--leave-one-out [--draws N] [--publish] [LOG]...\n       ci/bench-molding --check"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    replays: ReplayArguments,

    /// Replay the default policy alone, which takes some seconds for each log.
    #[arg(long, conflicts_with_all = ["check", "tables"])]
    quick: bool,

    /// Replay the default alone, under EASY and under Slurm's schedulers and with 10, 50 and 100 %
    /// of the jobs using it, and print what becomes of all jobs and of those of the others. A log
    /// takes three minutes of processor time.
    #[arg(long, conflicts_with = "check", group = "tables")]
    adoptions: bool,

    /// Replay the default alone, under EASY and under Slurm's schedulers and with half of the jobs
    /// using it, by each rule of `[policy] others`, and print what becomes of all jobs and of those
    /// of the others, and how often the price of the machine's time and a whole plan of the queue
    /// allow the same. A log takes five minutes of processor time.
    #[arg(long, conflicts_with = "check", group = "tables")]
    others: bool,

    /// Replay the default alone, under EASY and under Slurm's schedulers and with half of the jobs
    /// using it, with several least gains, and print for each log what the one that was chosen on
    /// the other logs comes to. A log takes as long as with --others, for as many draws.
    #[arg(long, conflicts_with = "check", group = "tables")]
    leave_one_out: bool,

    /// With one of the three: how many draws of users, of curves of speed-up and of moments
    /// of submission each has.
    #[arg(long, value_name = "N", default_value = "10", requires = "tables")]
    draws: NonZeroU64,

    /// With one of the three: store the figures with the commit that is checked out, in
    /// docs/figures, and draw the tables of the page from them.
    #[arg(long, requires = "tables")]
    publish: bool,
}

pub(crate) const SCRIPT: &str = "ci/bench-molding";

/// The protocols of the replays.
const PROTOCOLS: [&str; 2] = ["paper", "work-conserving"];

/// What each part of the default is worth, who gains at which adoption, and what old states do.
const PARTS: [(&str, &[&str]); 9] = [
    ("Amdahl's law in the place of Downey's model", &["--speedup", "amdahl"]),
    ("without growth", &["--without", "growth"]),
    ("without other-sizes", &["--without", "other-sizes"]),
    ("with jobs at sizes that their user never ran", &["--first-runs"]),
    ("adoption 0.1", &["--adoption", "0.1"]),
    ("adoption 0.5", &["--adoption", "0.5"]),
    ("the present state", &["--refresh", "0"]),
    ("a state of up to 600 s", &["--refresh", "600"]),
    ("a state of up to 600 s, without claims", &["--refresh", "600", "--without", "claims"]),
];

/// The replay of a log by one protocol with one policy, as `queuecast evaluate` tells it.
#[derive(Debug, Deserialize)]
struct Replay {
    protocol: String,
    policy: String,
    /// The means without a policy.
    baseline: Means,
    ours: Means,
    changed: Changed,
    /// How many jobs were left alone.
    unmolded_jobs: u64,
}

#[derive(Debug, Deserialize)]
struct Means {
    mean_run_s: f64,
    mean_response_s: f64,
}

/// How many jobs a policy changed.
#[derive(Debug, Deserialize)]
struct Changed {
    smaller: u64,
    larger: u64,
    deferred: u64,
}

impl Changed {
    fn all(&self) -> u64 {
        self.smaller + self.larger + self.deferred
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.publish {
        Page::expect_committed()?;
    }
    let replays = Replays::new(&arguments.replays, "molding")?;
    let draws = arguments.draws.get();
    if arguments.adoptions {
        let found = adoptions::replay(&replays.logs, draws)?;
        println!("{}", adoptions::printed(&found));
        return publish(arguments, adoptions::PAGE, found, adoptions::of_page);
    }
    if arguments.others {
        let found = others::replay(&replays.logs, draws)?;
        println!("{}", others::printed(&found));
        return publish(arguments, others::PAGE, found, others::of_page);
    }
    if arguments.leave_one_out {
        let found = least_gain::replay(&replays.logs, draws)?;
        println!("{}", least_gain::printed(&found));
        return publish(arguments, least_gain::PAGE, found, least_gain::of_page);
    }
    let (molding, deferral) = if arguments.quick { ("best", "best") } else { ("paper,best", "paper,begin-time,best") };
    for log in &replays.logs.paths {
        replays.show(log, "molding", &["molding", "--policy", molding])?;
        replays.show(log, "deferral", &["deferral", "--policy", deferral])?;
    }
    let mut parts = String::new();
    for (title, options) in PARTS {
        parts += &format!("== {title}\n{}", replays.logs.evaluate(&replays.logs.paths, &part(options))?);
    }
    print!("{parts}");
    fs::write(replays.common_file("parts.txt"), parts)?;
    if let Some(model) = &replays.logs.model {
        check(&replays, model, molding, deferral)?;
        eprintln!("{SCRIPT}: still measures what it says");
    }
    Ok(Vec::new())
}

fn publish<T: Serialize>(arguments: &Arguments, page: Page, found: Vec<T>, draw: impl Fn(&Stored<T>) -> Vec<NamedTable>) -> Outcome {
    if arguments.publish {
        page.publish(found, draw)?;
        eprintln!("{SCRIPT}: {} and {} are new", page.figures, page.text);
    }
    Ok(Vec::new())
}

/// The arguments of a replay of the default with a part of it left out or changed.
fn part<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["molding", "--protocol", "work-conserving"], options].concat()
}

fn check(replays: &Replays, model: &ModelLog, molding: &str, deferral: &str) -> anyhow::Result<()> {
    let molded = replays.logs.figures(&replays.logs.paths, &["molding", "--policy", molding])?;
    check_policies(model, "molding", &molded, molding)?;
    let smaller = find(&molded, "work-conserving", "best").map(|replay| replay.changed.smaller);
    ensure!(smaller > Some(0), "molding: no job was made smaller");

    let deferred = replays.logs.figures(&replays.logs.paths, &["deferral", "--policy", deferral])?;
    check_policies(model, "deferral", &deferred, deferral)?;
    for policy in ["paper", "begin-time"] {
        let jobs = find(&deferred, "work-conserving", policy).map(|replay| replay.changed.deferred);
        ensure!(jobs > Some(0), "deferral: '{policy}' deferred no job");
    }
    adoptions::check(&adoptions::replay(&replays.logs, 1)?)?;
    others::check(&others::replay(&replays.logs, 1)?)?;
    least_gain::check(&least_gain::replay(&replays.logs, 1)?)?;
    for (title, options) in PARTS {
        let replayed: Vec<Replay> = replays.logs.figures(&replays.logs.paths, &part(options))?;
        let changed = find(&replayed, "work-conserving", "best").map(|replay| replay.changed.all());
        ensure!(changed > Some(0), "parts: nothing was changed in '{title}'");
    }
    Ok(())
}

/// Checks that without a policy the jobs run as they are in the log, and that each policy changes
/// some of the jobs, by both protocols.
fn check_policies(model: &ModelLog, what: &str, replayed: &[Replay], policies: &str) -> anyhow::Result<()> {
    let run_s = swf::mean(&model.evaluated, |job| job.run_s);
    for (protocol, policy) in PROTOCOLS.into_iter().flat_map(|protocol| policies.split(',').map(move |policy| (protocol, policy))) {
        let named = format!("{what}, protocol {protocol}, policy {policy}");
        let replay = find(replayed, protocol, policy).with_context(|| format!("{named}: it was not replayed"))?;
        expect_figure(&format!("{named}: seconds that jobs run without it"), replay.baseline.mean_run_s, run_s)?;
        ensure!(replay.ours.mean_response_s > 0.0, "{named}: there is no response");
        let (changed, rest) = (replay.changed.all(), replay.unmolded_jobs);
        // A job may be both resized and deferred.
        ensure!(changed > 0 && changed + rest >= EVALUATED, "{named}: it changed {changed} jobs and left {rest} of {EVALUATED} alone");
    }
    Ok(())
}

fn find<'a>(replayed: &'a [Replay], protocol: &str, policy: &str) -> Option<&'a Replay> {
    replayed.iter().find(|replay| replay.protocol == protocol && replay.policy == policy)
}
