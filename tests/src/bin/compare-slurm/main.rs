//! Holds the engine's model of Slurm's schedulers against Slurm. `ci/compare-slurm` builds and runs this.

// A comparison ends where it can't go on.
#![allow(clippy::expect_used, clippy::panic)]

mod report;

use clap::{Parser, ValueEnum};
use end_to_end::comparison::{Site, run, submissions};
use std::path::PathBuf;
use std::process::ExitCode;

/// Submits short jobs to a private cluster, simulates the same submissions with Slurm's order and schedulers and its own parameters, and prints how far apart the start
/// times are; beside it EASY and first come first served, as a contrast.
///
/// Exit status: 0 done, 1 it failed, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "ci/compare-slurm")]
struct Arguments {
    /// Jobs to submit. A hundred take about five minutes at a scale of 1.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    jobs: u32,

    /// Seed of sizes, run times, limits and moments.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Multiplies run times and the times between submissions.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    time_scale: f64,

    /// What to print: a table, or one JSON object.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Writes what happened to each job, and each simulated start, to this CSV file.
    #[arg(long, value_name = "FILE")]
    jobs_csv: Option<PathBuf>,

    /// Copies slurmctld's log to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !(arguments.time_scale > 0.0 && arguments.time_scale <= 100.0) {
        eprintln!("ci/compare-slurm: --time-scale: {} is not a number above 0 and up to 100", arguments.time_scale);
        return ExitCode::from(2);
    }
    say("bringing up a private cluster");
    let cluster = Site::up();
    let mut site = Site::of(&cluster);
    say(&format!("{}, {} nodes; {:?}", site.version, end_to_end::comparison::NODES, site.parameters));
    let planned = submissions(arguments.jobs as usize, arguments.seed, arguments.time_scale);
    let last = planned.last().map_or(0, |submission| submission.after.as_secs());
    say(&format!("submitting {} jobs in {last} s", planned.len()));
    let happened = run(&cluster, &mut site, &planned, |submitted, ended| say(&format!("{submitted} submitted, {ended} ended")));
    say("simulating the same submissions");
    let report = report::Report::of(&site, &happened);
    let files = [(&arguments.jobs_csv, report.csv(&happened)), (&arguments.log, cluster.log("slurmctld"))];
    for (path, text) in files.iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("ci/compare-slurm: cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    match arguments.format {
        Format::Text => print!("{}", report.text()),
        Format::Json => println!("{}", report.json(&arguments.seed, &arguments.time_scale)),
    }
    ExitCode::SUCCESS
}

fn say(what: &str) {
    eprintln!("ci/compare-slurm: {what}");
}
