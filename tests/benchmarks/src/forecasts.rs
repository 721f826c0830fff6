//! `ci/bench-forecasts`: the forecasts held against workload logs.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Deserialize;

use crate::failure::Outcome;
use crate::log::{EVALUATED, ModelLog, expect_figure};
use crate::replays::{ReplayArguments, Replays};
use crate::swf;

/// Hold the forecasts against workload logs, and print the tables of docs/forecasts.md with a
/// picture of each.
///
/// A log takes some minutes on two cores.
///
/// With --check the tables must have every job and method, and the errors that follow from the log
/// alone.
///
/// Exit status: 0 if all logs could be evaluated, and --check found what it should; 1 if not; 2 for
/// wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "ci/bench-forecasts [--output DIRECTORY] [LOG]...\n       ci/bench-forecasts --check")]
pub(crate) struct Arguments {
    #[command(flatten)]
    replays: ReplayArguments,
}

/// What is forecast, as `queuecast evaluate` and its keys name it.
const WAITS: &str = "waits";
const RUN_TIMES: &str = "runtimes";

/// The methods of each, the default last.
const METHODS_OF_WAITS: [&str; 6] = ["zero", "knn", "qbets", "ibl", "apq", "best"];
const METHODS_OF_RUN_TIMES: [&str; 7] = ["requested", "last_two", "baseline", "smith", "li", "range_sets", "best"];

/// The probabilities whose coverage is told.
const LEVELS: [&str; 4] = ["0.5", "0.75", "0.9", "0.95"];

/// The figures of one log, by method and by probability.
#[derive(Debug, Deserialize)]
struct Figures {
    from: u64,
    to: u64,
    test_jobs: u64,
    #[serde(alias = "aae_hours", alias = "aae_minutes")]
    mean_error: BTreeMap<String, f64>,
    #[serde(alias = "pit_coverage")]
    coverage: BTreeMap<String, f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let replays = Replays::new(&arguments.replays, "forecasts")?;
    for log in &replays.logs.paths {
        for what in [WAITS, RUN_TIMES] {
            replays.show(log, what, &[what])?;
        }
    }
    if let Some(model) = &replays.logs.model {
        check(&replays, model)?;
        eprintln!("ci/bench-forecasts: still measures what it says");
    }
    Ok(Vec::new())
}

fn check(replays: &Replays, model: &ModelLog) -> anyhow::Result<()> {
    let waits = checked_figures(replays, WAITS, &METHODS_OF_WAITS)?;
    let run_times = checked_figures(replays, RUN_TIMES, &METHODS_OF_RUN_TIMES)?;
    let wait_hours = swf::mean(&model.evaluated, |job| job.wait_s / 3_600.0);
    expect_figure("the error in hours of predicting no wait", waits.mean_error["zero"], wait_hours)?;
    let too_much_minutes = swf::mean(&model.evaluated, |job| (job.requested_s - job.run_s).abs() / 60.0);
    expect_figure("the error in minutes of requested times", run_times.mean_error["requested"], too_much_minutes)
}

/// The figures of the model's workload, of all its jobs and with every method and probability.
fn checked_figures(replays: &Replays, what: &str, methods: &[&str]) -> anyhow::Result<Figures> {
    let figures = replays.logs.figures::<Figures>(&replays.logs.paths, &[what])?.pop().context("there are no figures")?;
    let Figures { from, to, test_jobs, .. } = figures;
    ensure!(test_jobs == EVALUATED, "{what}: {test_jobs} of the jobs {from} to {to} were forecast, not {EVALUATED}");
    for method in methods {
        ensure!(figures.mean_error.get(*method).is_some_and(|error| *error >= 0.0), "{what}: there is no error of '{method}'");
    }
    for level in LEVELS {
        let covered = figures.coverage.get(level);
        ensure!(covered.is_some_and(|part| (0.0..=1.0).contains(part)), "{what}: there is no coverage at {level}");
    }
    Ok(figures)
}
