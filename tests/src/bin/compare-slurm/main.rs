//! Holds the engine's model of Slurm's schedulers against Slurm. `ci/compare-slurm` builds and runs
//! this.

// A comparison ends where it can't go on.
#![allow(clippy::expect_used, clippy::panic)]

mod picture;
mod report;

use clap::{Parser, ValueEnum};
use end_to_end::comparison::{Happened, NODES, Recording, Site, run, submissions};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Submits short jobs to a private cluster, simulates the same submissions with Slurm's order and
/// schedulers and its own parameters, and prints how far apart the start times are; beside it EASY
/// and first come first served, as a contrast.
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

    /// What is submitted over what the cluster can do meanwhile; above 1 the queue grows as long as
    /// jobs come.
    #[arg(long, value_name = "F", default_value_t = 1.25)]
    load: f64,

    /// What to print: a table, or one JSON object.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Writes what happened to each job, and each simulated start, to this CSV file.
    #[arg(long, value_name = "FILE")]
    jobs_csv: Option<PathBuf>,

    /// Draws real against simulated start times into this SVG file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Writes the run to this file, to be simulated again with --recording.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Simulates a run that --record wrote, without a cluster.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["jobs", "seed", "time_scale", "load", "record"])]
    recording: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    for (name, value) in [("time-scale", arguments.time_scale), ("load", arguments.load)] {
        if !(value > 0.0 && value <= 100.0) {
            eprintln!("ci/compare-slurm: --{name}: {value} is not a number above 0 and up to 100");
            return ExitCode::from(2);
        }
    }
    let (site, happened) = match &arguments.recording {
        Some(path) => match read(path) {
            Ok(recording) => (Site::read(recording.site), recording.jobs),
            Err(error) => {
                eprintln!("ci/compare-slurm: {}: {error}", path.display());
                return ExitCode::from(2);
            }
        },
        None => submit(&arguments),
    };
    say("simulating the same submissions");
    let report = report::Report::of(&site, &happened);
    let recording = || serde_json::to_string(&Recording { site: site.printed.clone(), jobs: happened.clone() }).expect("numbers and texts");
    let picture = report.picture(&happened).expect("plotters draws into memory");
    let files = [(&arguments.jobs_csv, report.csv(&happened)), (&arguments.plot, picture), (&arguments.record, recording())];
    for (path, text) in files.iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("ci/compare-slurm: cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    match arguments.format {
        Format::Text => print!("{}", report.text()),
        Format::Json => println!("{}", report.json()),
    }
    ExitCode::SUCCESS
}

/// Submits to a private cluster of its own.
fn submit(arguments: &Arguments) -> (Site, Vec<Happened>) {
    say("bringing up a private cluster");
    let cluster = Site::up();
    let mut site = Site::of(&cluster);
    say(&format!("{}, {NODES} nodes; {:?}", site.printed.version, site.parameters));
    let planned = submissions(arguments.jobs as usize, arguments.seed, arguments.time_scale, arguments.load);
    let last = planned.last().map_or(0, |submission| submission.after.as_secs());
    say(&format!("submitting {} jobs in {last} s", planned.len()));
    let happened = run(&cluster, &mut site, &planned, |submitted, ended| say(&format!("{submitted} submitted, {ended} ended")));
    (site, happened)
}

fn read(path: &Path) -> Result<Recording, Box<dyn std::error::Error>> {
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

fn say(what: &str) {
    eprintln!("ci/compare-slurm: {what}");
}
