//! The least that a change has to gain, chosen for each log on the other logs.

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::adoptions::{Draw, JITTER, SCHEDULERS, cell, place};
use crate::evaluated::EvaluatedLogs;
use crate::page::{NamedTable, Page, Stored, markdown, title};
use crate::statistics;

pub(super) const PAGE: Page = Page { text: "docs/molding.md", figures: "docs/figures/molding-least-gain.json" };

/// The parts of a response that are tried, in per cent.
const TRIED_PERCENT: [u32; 6] = [0, 2, 5, 10, 20, 40];

/// The default of `[policy] min_gain`, in per cent.
const DEFAULT_PERCENT: u32 = 5;

/// A draw with a least gain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tried {
    #[serde(flatten)]
    draw: Draw,
    /// Put in by the benchmark: the report does not tell it.
    #[serde(default)]
    least_gain_percent: u32,
}

/// Replays all logs under each scheduler with each least gain, where half of the jobs use molding.
///
/// # Errors
///
/// Where `queuecast evaluate` fails.
pub(super) fn replay(logs: &EvaluatedLogs, draws: u64) -> anyhow::Result<Vec<Tried>> {
    let mut found = Vec::new();
    for (scheduler, percent) in SCHEDULERS.into_iter().flat_map(|scheduler| TRIED_PERCENT.map(|percent| (scheduler, percent))) {
        for seed in 1..=draws {
            let [least, seed_text] = [(f64::from(percent) / 100.0).to_string(), seed.to_string()];
            let how = ["molding", "--protocol", "work-conserving", "--scheduler", scheduler, "--jitter", JITTER];
            let how = [&how[..], &["--adoption", "0.5", "--min-gain", &least, "--seed", &seed_text]].concat();
            let of_logs = logs.figures::<Draw>(&logs.paths, &how)?;
            found.extend(of_logs.into_iter().map(|draw| Tried { draw: draw.of_seed(seed), least_gain_percent: percent }));
        }
    }
    Ok(found)
}

/// The table with the line that says what it was measured on.
pub(super) fn of_page(stored: &Stored<Tried>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-molding --leave-one-out --publish`.\n", stored.commit);
    vec![("molding least gain", printed(&stored.logs) + &measured)]
}

/// One row for each log and scheduler: what was chosen on the other logs, under both schedulers
/// together, and what becomes with it, with the default and with what is best there of the mean
/// response of all and of the others', in per cent, as the mean over the draws with their range.
pub(super) fn printed(found: &[Tried]) -> String {
    let mut logs: Vec<&str> = found.iter().map(|tried| tried.draw.log.as_str()).collect();
    logs.sort_unstable_by_key(|log| (place(log), *log));
    logs.dedup();
    let means: Vec<Vec<f64>> = logs.iter().map(|log| TRIED_PERCENT.map(|percent| mean_of_all(found, log, percent)).to_vec()).collect();
    let chosen = chosen_on_the_others(&means);
    let mut rows = Vec::new();
    for ((log, chosen), means) in logs.iter().zip(chosen).zip(&means) {
        for scheduler in SCHEDULERS {
            let with = |percent: u32| {
                let draws = || {
                    let is_it = |tried: &&Tried| tried.draw.log == *log && tried.draw.scheduler == scheduler;
                    found.iter().filter(is_it).filter(move |tried| tried.least_gain_percent == percent).map(|tried| &tried.draw)
                };
                [
                    cell(&draws().filter_map(Draw::of_all).collect::<Vec<f64>>()),
                    cell(&draws().filter_map(Draw::of_the_others).collect::<Vec<f64>>()),
                ]
            };
            let mut cells = vec![title(log).to_owned(), scheduler.to_owned()];
            match chosen.and_then(|chosen| TRIED_PERCENT.get(chosen)) {
                Some(percent) => cells.extend([format!("{percent} %")].into_iter().chain(with(*percent))),
                None => cells.extend(std::iter::repeat_n("-".to_owned(), 3)),
            }
            cells.extend(with(DEFAULT_PERCENT));
            let best = least(means.iter().copied()).and_then(|best| TRIED_PERCENT.get(best));
            cells.push(best.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %")));
            rows.push(cells);
        }
    }
    markdown(&["log", "scheduler", "chosen on the others", "all", "others", "5 %: all", "others", "best here"], 2, &rows)
}

/// The change of the mean response of all jobs of a log with a least gain, in per cent, as the mean
/// over schedulers and draws.
fn mean_of_all(found: &[Tried], log: &str, percent: u32) -> f64 {
    let of = found.iter().filter(|tried| tried.draw.log == log && tried.least_gain_percent == percent);
    statistics::mean(&of.filter_map(|tried| tried.draw.of_all()).collect::<Vec<f64>>())
}

/// For each log the place of the value that is least in the mean over all other logs; `None` where
/// there is no other. `figures` has the logs' figures, each by value.
fn chosen_on_the_others(figures: &[Vec<f64>]) -> Vec<Option<usize>> {
    let values = figures.first().map_or(0, Vec::len);
    let of_others = |left_out: usize, value: usize| {
        let others = figures.iter().enumerate().filter(move |(log, _)| *log != left_out);
        others.filter_map(move |(_, by_value)| by_value.get(value)).sum::<f64>()
    };
    let choose = |left_out| least((0..values).map(|value| of_others(left_out, value))).filter(|_| figures.len() > 1);
    (0..figures.len()).map(choose).collect()
}

/// The place of the least of some figures; of equals the first.
fn least(figures: impl Iterator<Item = f64>) -> Option<usize> {
    figures.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(place, _)| place)
}

/// Checks that each least gain was replayed, and that the greatest forbids changes that the least
/// allows.
///
/// # Errors
///
/// The first of them that is not as it should be.
pub(super) fn check(found: &[Tried]) -> anyhow::Result<()> {
    ensure!(found.len() == SCHEDULERS.len() * TRIED_PERCENT.len(), "least gain: {} draws", found.len());
    for scheduler in SCHEDULERS {
        let of = |percent: u32| {
            let is_it = |tried: &&Tried| tried.draw.scheduler == scheduler && tried.least_gain_percent == percent;
            found.iter().find(is_it).and_then(|tried| tried.draw.of_all())
        };
        ensure!(of(0).is_some() && of(0) != of(40), "least gain: {scheduler}: 0 and 40 % come to the same");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use job_types::policy::Policy;

    use super::*;

    #[test]
    fn the_table_of_the_page_is_that_of_the_stored_figures() {
        PAGE.compare::<Tried>(of_page).unwrap();
    }

    #[test]
    fn the_default_of_the_table_is_that_of_the_setting() {
        assert_eq!(Policy::default().min_gain, f64::from(DEFAULT_PERCENT) / 100.0);
        assert!(TRIED_PERCENT.contains(&DEFAULT_PERCENT));
    }

    #[test]
    fn what_is_best_on_a_log_does_not_count_for_it() {
        // The first value is best on the second and third log, and would be best in the mean of all
        // without the first.
        let figures = [vec![9.0, 1.0], vec![-2.0, 0.0], vec![-2.0, 0.0]];
        assert_eq!(chosen_on_the_others(&figures), [Some(0), Some(1), Some(1)]);
        assert_eq!(chosen_on_the_others(&[vec![1.0, 2.0]]), [None]);
        assert_eq!(chosen_on_the_others(&[]), []);
    }
}
