//! What molding does by scheduler and by how many use it: to all jobs, and to those of the others.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use crate::evaluated::EvaluatedLogs;
use crate::log::EVALUATED;
use crate::page::{NamedTable, Page, Stored, markdown, title};
use crate::statistics;

pub(super) const PAGE: Page = Page { text: "docs/molding.md", figures: "docs/figures/molding.json" };

/// The schedulers, by the names that `queuecast evaluate molding` has for them.
pub(super) const SCHEDULERS: [&str; 2] = ["easy", "slurm"];

/// The parts of the jobs that use it.
const ADOPTIONS: [f64; 3] = [0.1, 0.5, 1.0];

/// The logs in the order of the table, by the beginnings of their files' names.
const LOGS: [&str; 10] = ["SDSC-SP2", "SDSC-BLUE", "HPC2N", "CEA-Curie", "SDSC-Par", "DAS2", "KTH-SP2", "SDSC-DS", "CTC-SP2", "RICC"];

/// By how much each job is submitted later at the most, with molding and without, so that draws
/// differ by as much as chance moves.
pub(super) const JITTER: &str = "60s";

/// What was found on one log under one scheduler, with one draw of users and curves of speed-up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Draw {
    pub(super) log: String,
    pub(super) scheduler: String,
    adoption: f64,
    /// Put in by the benchmark: the report does not tell it.
    #[serde(default)]
    seed: u64,
    baseline: Responses,
    ours: Responses,
    others: Others,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Responses {
    mean_response_s: f64,
    p95_response_s: f64,
}

/// The jobs of those who don't use it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Others {
    jobs: u64,
    baseline_response_s: f64,
    response_s: f64,
}

impl Draw {
    /// The figures of a draw as they are stored.
    pub(super) fn of_seed(self, seed: u64) -> Self {
        Self { seed, ..self }.rounded()
    }

    /// The change of the mean response of all jobs, in per cent.
    pub(super) fn of_all(&self) -> Option<f64> {
        change(self.baseline.mean_response_s, self.ours.mean_response_s)
    }

    /// The change of the mean response of those who don't use it, in per cent.
    pub(super) fn of_the_others(&self) -> Option<f64> {
        let Others { jobs, baseline_response_s, response_s } = self.others;
        (jobs > 0).then(|| change(baseline_response_s, response_s)).flatten()
    }

    fn rounded(mut self) -> Self {
        let round = |figure: &mut f64| *figure = figure.round();
        for responses in [&mut self.baseline, &mut self.ours] {
            round(&mut responses.mean_response_s);
            round(&mut responses.p95_response_s);
        }
        round(&mut self.others.baseline_response_s);
        round(&mut self.others.response_s);
        self
    }
}

/// Replays all logs under each scheduler, with each adoption and so many draws.
///
/// # Errors
///
/// Where `queuecast evaluate` fails.
pub(super) fn replay(logs: &EvaluatedLogs, draws: u64) -> anyhow::Result<Vec<Draw>> {
    let mut found = Vec::new();
    for (scheduler, adoption) in SCHEDULERS.into_iter().flat_map(|scheduler| ADOPTIONS.map(|adoption| (scheduler, adoption))) {
        for seed in 1..=draws {
            let [part, seed_text] = [adoption.to_string(), seed.to_string()];
            let how = ["molding", "--protocol", "work-conserving", "--scheduler", scheduler, "--jitter", JITTER];
            let how = [&how[..], &["--adoption", &part, "--seed", &seed_text]].concat();
            let of_logs = logs.figures::<Draw>(&logs.paths, &how)?;
            found.extend(of_logs.into_iter().map(|draw| draw.of_seed(seed)));
        }
    }
    Ok(found)
}

/// The tables with the line that says what they were measured on.
pub(super) fn of_page(stored: &Stored<Draw>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-molding --adoptions --publish`.\n", stored.commit);
    let of = |scheduler| table(&stored.logs, scheduler) + &measured;
    let [easy, slurm] = SCHEDULERS.map(of);
    vec![("molding easy", easy), ("molding slurm", slurm), ("molding chance", chance(&stored.logs) + &measured)]
}

/// One row for each log: by how much the mean and the 95th percentile of the responses differ
/// without molding from draw to draw, as the standard deviation in per cent of their mean, with the
/// distance of the least from the greatest.
fn chance(draws: &[Draw]) -> String {
    let headings = ["log", "EASY: mean", "95th percentile", "Slurm: mean", "95th percentile"];
    let mut rows: BTreeMap<(usize, &str), Vec<&Draw>> = BTreeMap::new();
    // Each draw without molding is there once for each adoption.
    for draw in draws.iter().filter(|draw| draw.adoption >= 1.0) {
        rows.entry((place(&draw.log), &draw.log)).or_default().push(draw);
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|((_, log), draws)| {
            let mut cells = vec![title(log).to_owned()];
            for scheduler in SCHEDULERS {
                let under = || draws.iter().filter(|draw| draw.scheduler == scheduler).map(|draw| draw.baseline);
                cells.push(spread(&under().map(|baseline| baseline.mean_response_s).collect::<Vec<f64>>()));
                cells.push(spread(&under().map(|baseline| baseline.p95_response_s).collect::<Vec<f64>>()));
            }
            cells
        })
        .collect();
    markdown(&headings, 1, &rows)
}

/// The standard deviation of figures and the distance of the least from the greatest, in per cent
/// of their mean.
fn spread(figures: &[f64]) -> String {
    let mean = statistics::mean(figures);
    if figures.is_empty() || mean <= 0.0 {
        return "-".to_owned();
    }
    let (least, most) = statistics::range(figures);
    format!("{:.1} ({:.1})", 100.0 * statistics::deviation(figures) / mean, 100.0 * (most - least) / mean)
}

/// The place of a log in the tables.
pub(super) fn place(log: &str) -> usize {
    LOGS.iter().position(|beginning| log.starts_with(beginning)).unwrap_or(LOGS.len())
}

/// All tables as they are printed.
pub(super) fn printed(draws: &[Draw]) -> String {
    let of = |scheduler| format!("Under {scheduler}:\n\n{}\n", table(draws, scheduler));
    SCHEDULERS.map(of).concat() + "What chance moves:\n\n" + &chance(draws)
}

/// One row for each log and adoption: what becomes under a scheduler of the mean and the 95th
/// percentile of the responses of all jobs and of the mean of those who don't use it, in per cent,
/// as the mean over the draws with their range. What rises by more than two standard errors of the
/// draws is bold.
fn table(draws: &[Draw], scheduler: &str) -> String {
    let mut rows: BTreeMap<(usize, &str, u64), Vec<&Draw>> = BTreeMap::new();
    for draw in draws.iter().filter(|draw| draw.scheduler == scheduler) {
        let percent = (draw.adoption * 100.0).round() as u64;
        rows.entry((place(&draw.log), &draw.log, percent)).or_default().push(draw);
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|((_, log, percent), draws)| {
            let mut cells = vec![title(log).to_owned(), format!("{percent} %")];
            let changes = |of: fn(&Draw) -> Option<f64>| draws.iter().filter_map(|draw| of(draw)).collect::<Vec<f64>>();
            cells.push(cell(&changes(Draw::of_all)));
            cells.push(cell(&changes(|draw| change(draw.baseline.p95_response_s, draw.ours.p95_response_s))));
            cells.push(cell(&changes(Draw::of_the_others)));
            cells
        })
        .collect();
    markdown(&["log", "use it", "mean", "95th percentile", "mean of the others"], 2, &rows)
}

/// The per cent by which a figure changes; `None` where there was none.
fn change(from: f64, to: f64) -> Option<f64> {
    (from > 0.0).then(|| 100.0 * (to / from - 1.0))
}

/// The mean over the draws, with the least and the greatest.
pub(super) fn cell(changes: &[f64]) -> String {
    if changes.is_empty() {
        return "-".to_owned();
    }
    let (mean, (least, most)) = (statistics::mean(changes), statistics::range(changes));
    let text = format!("{mean:+.1} ({least:+.1} to {most:+.1})");
    if mean - 2.0 * statistics::deviation(changes) / (changes.len() as f64).sqrt() > 0.0 { format!("**{text}**") } else { text }
}

/// Checks that every draw is there, and that as many don't use it as were left out.
///
/// # Errors
///
/// The first of them that is not as it should be.
pub(super) fn check(draws: &[Draw]) -> anyhow::Result<()> {
    ensure!(draws.len() == SCHEDULERS.len() * ADOPTIONS.len(), "adoptions: {} draws", draws.len());
    for draw in draws {
        let Draw { scheduler, adoption, others, .. } = draw;
        let expected = (1.0 - adoption) * EVALUATED as f64;
        let off = (others.jobs as f64 - expected).abs();
        ensure!(off <= 0.1 * EVALUATED as f64, "adoptions: {scheduler}, {adoption}: {} jobs of others", others.jobs);
        let is_changed = draw.baseline.mean_response_s != draw.ours.mean_response_s;
        ensure!(is_changed, "adoptions: {scheduler}, {adoption}: nothing was changed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page_is_that_of_the_stored_figures() {
        PAGE.compare::<Draw>(of_page).unwrap();
    }

    #[test]
    fn what_chance_moves_is_told_in_per_cent_of_the_mean() {
        assert_eq!(spread(&[99.0, 100.0, 101.0]), "1.0 (2.0)");
        assert_eq!((spread(&[100.0]), spread(&[])), ("0.0 (0.0)".to_owned(), "-".to_owned()));
    }

    #[test]
    fn what_rises_beyond_chance_is_bold() {
        assert_eq!(cell(&[1.0, 2.0, 3.0]), "**+2.0 (+1.0 to +3.0)**");
        assert_eq!(cell(&[-1.0, 2.0, 3.0]), "+1.3 (-1.0 to +3.0)");
        assert_eq!(cell(&[-1.0, -2.0]), "-1.5 (-2.0 to -1.0)");
        assert_eq!(cell(&[]), "-");
    }
}
