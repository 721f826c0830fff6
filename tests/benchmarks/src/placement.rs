//! `ci/bench-placement`: reservations inside windows, replayed.

mod tables;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use serde::{Deserialize, Serialize};
use simulator::experiment::OverDraws;

use crate::evaluated::{EvaluatedLogs, LogArguments};
use crate::failure::Outcome;
use crate::page::Page;

/// Replay workload logs in which one job of ten asks for a reservation inside a window, and print
/// the tables of docs/placement.md on what was granted and what that did to the other jobs.
///
/// Each method is replayed with the 36 pairs of book-ahead and window of Röblitz and Rzadca 2006,
/// with each draw of which jobs ask. A draw of a log takes up to a minute of a processor.
///
/// With --check each experiment must have as many requests as one job of ten, wider windows must
/// not have fewer that are granted, and jobs must have been delayed.
///
/// Exit status: 0 if all logs could be replayed, and --check found what it should; 1 if not; 2 for
/// wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "ci/bench-placement [--seeds N] [--publish] [LOG]...\n       ci/bench-placement --check")]
pub(crate) struct Arguments {
    #[command(flatten)]
    logs: LogArguments,

    /// How many draws each log is replayed with, from seed 1 on.
    #[arg(long, value_name = "N", default_value = "10")]
    seeds: NonZeroU32,

    /// Store the figures with the commit that is checked out, in docs/figures, and draw the tables
    /// of the page from them.
    #[arg(long, conflicts_with = "check")]
    publish: bool,
}

pub(crate) const SCRIPT: &str = "ci/bench-placement";
const PAGE: Page = Page { text: "docs/placement.md", figures: "docs/figures/placement.json" };

/// The logs of the tables, by the beginnings of their names, with how they are replayed. A node of
/// SDSC Blue has eight processors.
const LOGS: [(&str, &[&str]); 4] = [(PUBLISHED, &["--node-processors", "8"]), ("SDSC-SP2", &[]), ("HPC2N", &[]), ("KTH-SP2", &[])];

/// The log of which there are published figures.
const PUBLISHED: &str = "SDSC-BLUE";

const METHODS: &str = "load,what-if,movable,earliest,earliest-delaying-nobody";

/// What `queuecast evaluate placement` tells of an experiment.
#[derive(Debug, Clone, Deserialize)]
struct Experiment {
    method: String,
    seed: u64,
    book_ahead_s: i64,
    window_s: i64,
    requested: u64,
    granted: u64,
    delayed_jobs: u64,
    gained_jobs: u64,
    original_wait_s: f64,
    affected_wait_s: f64,
    added_wait_s: f64,
    net_wait_s: f64,
    idle_processor_s: f64,
}

/// What it tells of a method.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Summary {
    method: String,
    success_rate: f64,
    small_success_rate: Option<f64>,
    high_load_success_rate: Option<f64>,
    high_load_of_all_success_rate: Option<f64>,
    makespan_growth: [f64; 2],
    /// By window in seconds.
    added_wait_s: BTreeMap<i64, OverDraws>,
}

/// What was published of a method (Röblitz and Rzadca 2006, sections 5.2 and 5.3).
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Rates {
    method: String,
    success_rate: f64,
    small_success_rate: f64,
    high_load_success_rate: f64,
}

/// Rows of table 1: book-ahead in hours; delayed jobs, original and affected wait in seconds. Of
/// the scheduler that is not replayed there is no method.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Delayed {
    method: Option<String>,
    delayed: Vec<[i64; 4]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Published {
    summary: Vec<Rates>,
    table_1: Vec<Delayed>,
}

/// What it tells of a log.
#[derive(Debug, Clone, Deserialize)]
struct Report {
    log: String,
    jobs: u64,
    processors: u64,
    experiments: Vec<Experiment>,
    summary: Vec<Summary>,
    published: Option<Published>,
}

/// The draws of a method with one book-ahead and window together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    method: String,
    book_ahead_s: i64,
    window_s: i64,
    success_rate: OverDraws,
    delayed_jobs: OverDraws,
    gained_jobs: OverDraws,
    original_wait_s: OverDraws,
    affected_wait_s: OverDraws,
    added_wait_s: OverDraws,
    net_wait_s: OverDraws,
    idle_processor_s: OverDraws,
}

/// What is stored of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Found {
    log: String,
    jobs: u64,
    processors: u64,
    draws: u64,
    summary: Vec<Summary>,
    published: Option<Published>,
    /// Of the log with published figures alone: no table is about those of another.
    cells: Vec<Cell>,
}

impl From<Report> for Found {
    fn from(report: Report) -> Self {
        let mut cells: BTreeMap<(String, i64, i64), Vec<Experiment>> = BTreeMap::new();
        let draws = report.experiments.iter().map(|experiment| experiment.seed).max().unwrap_or_default();
        for experiment in report.experiments {
            cells.entry((experiment.method.clone(), experiment.book_ahead_s, experiment.window_s)).or_default().push(experiment);
        }
        let cell = |((method, book_ahead_s, window_s), experiments): ((String, i64, i64), Vec<Experiment>)| {
            let mean = |figure: fn(&Experiment) -> f64| OverDraws::of(&experiments.iter().map(figure).collect::<Vec<_>>());
            Cell {
                method,
                book_ahead_s,
                window_s,
                success_rate: mean(|one| one.granted as f64 / one.requested as f64),
                delayed_jobs: mean(|one| one.delayed_jobs as f64),
                gained_jobs: mean(|one| one.gained_jobs as f64),
                original_wait_s: mean(|one| one.original_wait_s),
                affected_wait_s: mean(|one| one.affected_wait_s),
                added_wait_s: mean(|one| one.added_wait_s),
                net_wait_s: mean(|one| one.net_wait_s),
                idle_processor_s: mean(|one| one.idle_processor_s),
            }
        };
        let Report { log, jobs, processors, summary, published, .. } = report;
        let cells = if published.is_some() { cells.into_iter().map(cell).collect() } else { Vec::new() };
        Self { log, jobs, processors, draws, summary, published, cells }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.publish {
        Page::expect_committed()?;
    }
    let evaluated = EvaluatedLogs::new(&arguments.logs, &LOGS.map(|(beginning, _)| beginning), &["--jobs", "300"])?;
    let seeds = if evaluated.model.is_some() { "2".to_owned() } else { arguments.seeds.to_string() };
    let place = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        LOGS.iter().position(|(beginning, _)| name.starts_with(beginning)).unwrap_or(LOGS.len())
    };
    let mut paths = evaluated.paths.clone();
    paths.sort_by_key(place);
    let mut found = Vec::new();
    for path in &paths {
        let of_log = LOGS.get(place(path)).map_or(&[][..], |(_, options)| options);
        let options = [&["placement", "--method", METHODS, "--seeds", &seeds], of_log].concat();
        for report in evaluated.figures::<Report>(std::slice::from_ref(path), &options)? {
            if evaluated.model.is_some() {
                check(&report)?;
            }
            found.push(Found::from(report));
        }
    }
    for (name, table) in tables::of_page(&found) {
        println!("{name}\n\n{table}");
    }
    if evaluated.model.is_some() {
        eprintln!("{SCRIPT}: still measures what it says");
    }
    if arguments.publish {
        PAGE.publish(found, tables::of_stored)?;
        eprintln!("{SCRIPT}: {} and {} are new", PAGE.figures, PAGE.text);
    }
    Ok(Vec::new())
}

fn check(report: &Report) -> anyhow::Result<()> {
    let granted = |method: &str, window_s: Option<i64>| {
        let ours = report.experiments.iter().filter(|one| one.method == method && window_s.is_none_or(|window| one.window_s == window));
        ours.map(|one| one.granted).sum::<u64>()
    };
    let widest = report.experiments.iter().map(|one| one.window_s).max();
    for method in METHODS.split(',') {
        ensure!(granted(method, widest) > 0, "{method}: nothing was granted at the widest window");
        ensure!(granted(method, Some(0)) <= granted(method, widest), "{method}: fewer were granted at a wider window");
    }
    ensure!(granted("load", None) < granted("what-if", None), "load grants as many as what-if");
    for one in &report.experiments {
        ensure!(one.requested == report.jobs / 10, "{}: {} of {} jobs are requests", one.method, one.requested, report.jobs);
        ensure!(one.granted <= one.requested, "{}: {} of {} were granted", one.method, one.granted, one.requested);
        ensure!(one.affected_wait_s >= one.original_wait_s, "{}: delayed jobs wait less long", one.method);
    }
    ensure!(report.experiments.iter().any(|one| one.delayed_jobs > 0), "no job is delayed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_page_are_those_of_the_stored_figures() {
        PAGE.compare::<Found>(tables::of_stored).unwrap();
    }
}
