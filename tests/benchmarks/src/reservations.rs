//! `ci/bench-reservations`: virtual reservations, replayed.

mod tables;

use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::evaluated::{EvaluatedLogs, LogArguments};
use crate::failure::Outcome;
use crate::log::FROM;
use crate::page::Page;

/// Replay workload logs in which half of the jobs ask for their nodes at a time, and print the
/// table of docs/reservations.md on what was kept, what it cost and what it did to others.
///
/// Each log is replayed in the windows of the table; a log that is none of the table's is replayed
/// from its 10,001st job on, or from behind its first third. One window with one probability and
/// one seed takes a minute or two.
///
/// With --check each probability must have reservations that were given, none of them with less
/// than was asked for, and cost at least what their jobs ran.
///
/// Exit status: 0 if all logs could be replayed, and --check found what it should; 1 if not; 2 for
/// wrong usage.
#[derive(Debug, Args)]
#[command(
    override_usage = "ci/bench-reservations [--probability P,...] [--seeds N] [--publish] [LOG]...\n       ci/bench-reservations --check"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    logs: LogArguments,

    /// The probabilities with which reservations are asked for, separated by commas.
    #[arg(long, value_name = "P", value_delimiter = ',', default_value = "0.5,0.75,0.95")]
    probability: Vec<f64>,

    /// How many seeds each window is replayed with, from 1 on. They draw which jobs ask.
    #[arg(long, value_name = "N", default_value = "2")]
    seeds: NonZeroU64,

    /// Store the figures with the commit that is checked out, in docs/figures, and draw the table
    /// of the page from them.
    #[arg(long, conflicts_with = "check")]
    publish: bool,
}

pub(crate) const SCRIPT: &str = "ci/bench-reservations";
const PAGE: Page = Page { text: "docs/reservations.md", figures: "docs/figures/reservations.json" };

/// The part of the jobs that asks.
const SHARE: &str = "0.5";

/// The windows of the table: the beginning of the log's name, and the first and last job that may
/// ask. The constants of the decision were chosen on the first five.
const WINDOWS: [(&str, u64, u64); 10] = [
    ("SDSC-DS", 10_001, 30_000),
    ("SDSC-SP2", 10_001, 30_000),
    ("HPC2N", 10_001, 30_000),
    ("SDSC-BLUE", 10_001, 30_000),
    ("CEA-Curie", 10_001, 30_000),
    ("SDSC-SP2", 30_001, 50_000),
    ("CTC-SP2", 10_001, 30_000),
    ("KTH-SP2", 8_001, 28_000),
    ("HPC2N", 30_001, 50_000),
    ("RICC", 10_001, 30_000),
];

/// What became of the reservations of one window with one probability and one seed, as `queuecast
/// evaluate reservations` tells it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Window {
    log: String,
    from: u64,
    to: u64,
    probability: f64,
    /// Put in by the benchmark: the report does not tell it.
    #[serde(default)]
    seed: u64,
    requested: u64,
    accepted: u64,
    reserved_times: u64,
    mean_predicted: Option<f64>,
    kept_part: Option<f64>,
    kept_standard_error: Option<f64>,
    cost_ratio: Option<f64>,
    others_mean_wait_s: f64,
    others_mean_wait_without_s: f64,
    others_p95_wait_s: f64,
    others_p95_wait_without_s: f64,
}

impl Window {
    /// Rounds what is stored to four digits behind the point.
    fn rounded(mut self) -> Self {
        let round = |figure: &mut f64| *figure = (*figure * 1e4).round() / 1e4;
        let parts = [&mut self.mean_predicted, &mut self.kept_part, &mut self.kept_standard_error, &mut self.cost_ratio];
        parts.into_iter().flatten().for_each(round);
        let waits = [&mut self.others_mean_wait_s, &mut self.others_mean_wait_without_s];
        waits.into_iter().chain([&mut self.others_p95_wait_s, &mut self.others_p95_wait_without_s]).for_each(round);
        self
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.publish {
        Page::expect_committed()?;
    }
    let beginnings: Vec<&str> = WINDOWS.iter().map(|(beginning, ..)| *beginning).collect();
    let evaluated = EvaluatedLogs::new(&arguments.logs, &beginnings, &["--from", &FROM.to_string()])?;
    let probabilities = arguments.probability.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let mut replays = Vec::new();
    for path in &evaluated.paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let of_log: Vec<_> = WINDOWS.iter().filter(|(beginning, ..)| name.starts_with(beginning)).collect();
        let bounds = of_log.iter().map(|(_, from, to)| vec!["--from".to_owned(), from.to_string(), "--to".to_owned(), to.to_string()]);
        let bounds: Vec<Vec<String>> = if of_log.is_empty() { vec![Vec::new()] } else { bounds.collect() };
        replays.extend(bounds.into_iter().flat_map(|bounds| (1..=arguments.seeds.get()).map(move |seed| (path, bounds.clone(), seed))));
    }
    let replay = |(path, bounds, seed): (&PathBuf, Vec<String>, u64)| -> anyhow::Result<Vec<Window>> {
        let seed_text = seed.to_string();
        let mut options = vec!["reservations", "--share", SHARE, "--probability", &probabilities, "--seed", &seed_text];
        options.extend(bounds.iter().map(String::as_str));
        let found = evaluated.figures::<Window>(std::slice::from_ref(path), &options)?;
        Ok(found.into_iter().map(|window| Window { seed, ..window }.rounded()).collect())
    };
    let mut windows: Vec<Window> = replays.into_par_iter().map(replay).collect::<anyhow::Result<Vec<_>>>()?.concat();
    tables::sort(&mut windows);
    println!("{}", tables::kept(&windows));
    if evaluated.model.is_some() {
        windows.iter().try_for_each(check)?;
        eprintln!("{SCRIPT}: still measures what it says");
    }
    if arguments.publish {
        PAGE.publish(windows, tables::of_page)?;
        eprintln!("{SCRIPT}: {} and {} are new", PAGE.figures, PAGE.text);
    }
    Ok(Vec::new())
}

fn check(window: &Window) -> anyhow::Result<()> {
    let Window { probability, requested, accepted, .. } = window;
    ensure!(*accepted > 0 && accepted <= requested, "{probability}: {accepted} of {requested} reservations were given");
    let told = window.mean_predicted;
    ensure!(told.is_some_and(|told| told >= *probability), "{probability}: reservations were given that were told {told:?}");
    ensure!(window.kept_part.is_some_and(|part| (0.0..=1.0).contains(&part)), "{probability}: nothing was kept or missed");
    ensure!(window.cost_ratio.is_some_and(|cost| cost >= 1.0), "{probability}: they cost {:?} of what they ran", window.cost_ratio);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page_is_that_of_the_stored_figures() {
        PAGE.compare::<Window>(tables::of_page).unwrap();
    }
}
