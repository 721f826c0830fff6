//! `ci/bench-deadlines`: admission by deadline, replayed.

mod shadow;
mod tables;

use std::num::NonZeroU64;
use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::evaluated::{EvaluatedLogs, LogArguments};
use crate::failure::Outcome;
use crate::page::Page;

/// Replay workload logs with a deadline for each job, admitted by each method, and print the tables
/// of docs/deadlines.md on admission by probability.
///
/// A draw of a log takes a minute or two. The last 10,000 jobs count, after 10,000 that are the
/// history.
///
/// With --check the tables must have every policy, scheduler and probability, whoever admits
/// everybody must do so, and somebody must have been refused.
///
/// Exit status: 0 if all logs could be replayed, and --check found what it should; 1 if not; 2 for
/// wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "ci/bench-deadlines [--draws N | --shadow] [--publish] [LOG]...\n       ci/bench-deadlines --check")]
pub(crate) struct Arguments {
    #[command(flatten)]
    logs: LogArguments,

    /// How many draws of urgencies and deadlines each log is replayed with.
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "check")]
    draws: NonZeroU64,

    /// Hold what was forecast against what happened, with refused jobs running as others do, of one
    /// draw with a probability of 0.8.
    #[arg(long, conflicts_with_all = ["draws", "check"])]
    shadow: bool,

    /// Store the figures with the commit that is checked out, in docs/figures, and draw the tables
    /// of the page from them.
    #[arg(long, conflicts_with = "check")]
    publish: bool,
}

pub(crate) const SCRIPT: &str = "ci/bench-deadlines";
const PAGE: Page = Page { text: "docs/deadlines.md", figures: "docs/figures/deadlines.json" };

/// The logs of the page, by the beginnings of their files' names. The first five are those that
/// the rule was made on.
const LOGS: [&str; 8] = ["SDSC-SP2", "SDSC-BLUE", "HPC2N", "CEA-Curie", "KTH-SP2", "SDSC-DS", "CTC-SP2", "RICC"];

/// The probabilities with which deadlines are to be kept.
const WANTED: [f64; 3] = [0.8, 0.9, 0.95];

/// The jobs of the small form that count, and those before them.
const SMALL: usize = 500;

/// What was found on one log with one draw, as `queuecast evaluate deadlines --admission` tells it.
#[derive(Debug, Serialize, Deserialize)]
struct Log {
    log: String,
    jobs: usize,
    history: usize,
    nodes: u32,
    seed: u64,
    rows: Vec<Row>,
}

/// What became of the jobs under one policy.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    policy: String,
    scheduler: String,
    wanted: Option<f64>,
    /// Whether users take another size that is offered.
    molding: bool,
    fulfilled_percent: f64,
    fulfilled_standard_error: Option<f64>,
    kept: Option<f64>,
    kept_standard_error: Option<f64>,
    accepted: usize,
    late: usize,
    refused_in_time: Option<usize>,
    mean_slowdown: Option<f64>,
    admitted_work: Option<f64>,
    molded: Option<usize>,
}

impl Log {
    fn row(&self, policy: &str, scheduler: &str, wanted: Option<f64>, molding: bool) -> anyhow::Result<&Row> {
        let is_it = |row: &&Row| row.policy == policy && row.scheduler == scheduler && row.wanted == wanted && row.molding == molding;
        let named = || format!("{}: there is no row of '{policy}', {scheduler}, {wanted:?}, molding {molding}", self.log);
        self.rows.iter().find(is_it).with_context(named)
    }

    /// Rounds what is stored to four digits behind the point.
    fn rounded(mut self) -> Self {
        let round = |figure: &mut f64| *figure = (*figure * 1e4).round() / 1e4;
        for row in &mut self.rows {
            round(&mut row.fulfilled_percent);
            let others = [&mut row.fulfilled_standard_error, &mut row.kept, &mut row.kept_standard_error, &mut row.mean_slowdown];
            others.into_iter().chain([&mut row.admitted_work]).flatten().for_each(round);
        }
        self
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.publish {
        Page::expect_committed()?;
    }
    let evaluated = EvaluatedLogs::new(&arguments.logs, &LOGS, &[])?;
    let jobs = if evaluated.model.is_some() { SMALL } else { 10_000 }.to_string();
    if arguments.shadow {
        let found = shadow::replay(&evaluated, &jobs)?;
        println!("{}", shadow::printed(&found));
        if arguments.publish {
            shadow::PAGE.publish(found, shadow::of_page)?;
            eprintln!("{SCRIPT}: {} and {} are new", shadow::PAGE.figures, shadow::PAGE.text);
        }
        return Ok(Vec::new());
    }
    let draws = if evaluated.model.is_some() { 1 } else { arguments.draws.get() };
    let draws: Vec<(&Path, u64)> = evaluated.paths.iter().flat_map(|path| (1..=draws).map(move |seed| (path.as_path(), seed))).collect();
    let logs: Vec<Log> = draws.into_par_iter().map(|(path, seed)| replay(&evaluated, path, seed, &jobs)).collect::<anyhow::Result<_>>()?;
    for (_, table) in tables::all(&logs)? {
        println!("{table}");
    }
    if evaluated.model.is_some() {
        logs.iter().try_for_each(check)?;
        shadow::check(&shadow::replay(&evaluated, &jobs)?)?;
        eprintln!("{SCRIPT}: still measures what it says");
    }
    if arguments.publish {
        PAGE.publish(logs, |stored| tables::of_page(stored).unwrap_or_default())?;
        eprintln!("{SCRIPT}: {} and {} are new", PAGE.figures, PAGE.text);
    }
    Ok(Vec::new())
}

fn replay(evaluated: &EvaluatedLogs, log: &Path, seed: u64, jobs: &str) -> anyhow::Result<Log> {
    let wanted = WANTED.map(|wanted| wanted.to_string()).join(",");
    let seed = seed.to_string();
    let arguments = ["deadlines", "--admission", "--last", jobs, "--history", jobs, "--probability", &wanted, "--seed", &seed];
    let found = evaluated.figures::<Log>(&[log.to_owned()], &arguments)?.pop();
    Ok(found.with_context(|| log.display().to_string())?.rounded())
}

fn check(log: &Log) -> anyhow::Result<()> {
    ensure!(log.jobs == SMALL, "{} jobs were replayed, not {SMALL}", log.jobs);
    for scheduler in ["easy", "slurm"] {
        let all = log.row("all", scheduler, None, false)?;
        ensure!(all.accepted == SMALL, "{scheduler}: {} of {SMALL} jobs were admitted where everybody is", all.accepted);
        for wanted in WANTED {
            let row = log.row("probability", scheduler, Some(wanted), false)?;
            ensure!(row.kept.is_some_and(|kept| (0.0..=1.0).contains(&kept)), "{scheduler}, {wanted}: nothing was kept or missed");
        }
        let refused = SMALL.saturating_sub(log.row("probability", scheduler, Some(0.95), false)?.accepted);
        ensure!(refused > 0, "{scheduler}: nobody was refused at 0.95");
    }
    for wanted in WANTED {
        log.row("probability", "easy", Some(wanted), true)?;
        log.row("probability", "shared nodes", Some(wanted), false)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_page_are_those_of_the_stored_figures() {
        PAGE.compare::<Log>(|stored| tables::of_page(stored).unwrap()).unwrap();
    }
}
