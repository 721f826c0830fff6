//! What was forecast of deadlines held against what happened, to admitted jobs and to refused ones,
//! which run in shadow as others do.

use anyhow::{Context, ensure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{LOGS, SMALL};
use crate::evaluated::EvaluatedLogs;
use crate::page::{NamedTable, Page, Stored, markdown, title};

pub(super) const PAGE: Page = Page { text: "docs/deadlines.md", figures: "docs/figures/deadlines-shadow.json" };

/// The probability with which deadlines are to be kept.
const WANTED: &str = "0.8";

/// The classes of forecasts of the table, as `queuecast evaluate deadlines` names them. What is
/// less likely is refused.
const FORECASTS: [&str; 6] = ["0.3 to 0.5", "0.5 to 0.7", "0.7 to 0.8", "0.8 to 0.9", "0.9 to 0.95", "0.95 to 1"];

/// What was found on one log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Log {
    log: String,
    calibration: Vec<InShadow>,
}

/// What was found under one scheduler.
#[derive(Debug, Serialize, Deserialize)]
struct InShadow {
    scheduler: String,
    all: Group,
    by_forecast: Vec<Group>,
    by_queue: Vec<Group>,
    by_size: Vec<Group>,
}

/// Jobs that have something in common.
#[derive(Debug, Serialize, Deserialize)]
struct Group {
    name: String,
    admitted: Held,
    refused: Held,
}

/// Jobs with what was forecast for them in the mean, and the part of them that was in time.
#[derive(Debug, Serialize, Deserialize)]
struct Held {
    jobs: usize,
    forecast: Option<f64>,
    kept: Option<f64>,
}

impl Log {
    /// Rounds what is stored to four digits behind the point.
    fn rounded(mut self) -> Self {
        let round = |figure: &mut f64| *figure = (*figure * 1e4).round() / 1e4;
        for found in &mut self.calibration {
            let lists = [&mut found.by_forecast, &mut found.by_queue, &mut found.by_size];
            for group in lists.into_iter().flatten().chain([&mut found.all]) {
                for held in [&mut group.admitted, &mut group.refused] {
                    [&mut held.forecast, &mut held.kept].into_iter().flatten().for_each(round);
                }
            }
        }
        self
    }
}

/// Replays all logs, in the order of the tables.
///
/// # Errors
///
/// Where `queuecast evaluate` fails.
pub(super) fn replay(logs: &EvaluatedLogs, jobs: &str) -> anyhow::Result<Vec<Log>> {
    let arguments = ["deadlines", "--admission", "--shadow", "--last", jobs, "--history", jobs, "--probability", WANTED];
    let of_log = |path| -> anyhow::Result<Log> {
        let found = logs.figures::<Log>(std::slice::from_ref(path), &arguments)?.pop();
        Ok(found.context("there is no log in the report")?.rounded())
    };
    let mut found: Vec<Log> = logs.paths.par_iter().map(of_log).collect::<anyhow::Result<_>>()?;
    found.sort_by_key(|log| LOGS.iter().position(|beginning| log.log.starts_with(beginning)));
    Ok(found)
}

/// The table with the line that says what it was measured on.
pub(super) fn of_page(stored: &Stored<Log>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-deadlines --shadow --publish`.\n", stored.commit);
    vec![("admission shadow", printed(&stored.logs) + &measured)]
}

/// One row for each log and scheduler.
pub(super) fn printed(found: &[Log]) -> String {
    let part = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), |part| format!("{part:.3}"));
    let mut rows = Vec::new();
    for log in found {
        for shadow in &log.calibration {
            let Group { admitted, refused, .. } = &shadow.all;
            let mut cells = vec![title(&log.log).to_owned(), shadow.scheduler.clone()];
            cells.extend([part(admitted.forecast), part(admitted.kept)]);
            for class in FORECASTS {
                let group = shadow.by_forecast.iter().find(|group| group.name == class);
                cells.push(part(group.and_then(|group| group.admitted.kept)));
            }
            cells.extend([refused.jobs.to_string(), part(refused.forecast), part(refused.kept)]);
            rows.push(cells);
        }
    }
    let classes = FORECASTS.map(|class| format!("of {class}"));
    let classes = classes.iter().map(String::as_str);
    let headings = ["log", "scheduler", "admitted: forecast", "kept"].into_iter().chain(classes);
    let headings: Vec<&str> = headings.chain(["refused", "forecast", "in time"]).collect();
    markdown(&headings, 2, &rows)
}

/// Checks that jobs were held against their forecasts under both schedulers, refused ones too.
///
/// # Errors
///
/// The first of them that is not as it should be.
pub(super) fn check(found: &[Log]) -> anyhow::Result<()> {
    for log in found {
        let schedulers: Vec<&str> = log.calibration.iter().map(|found| found.scheduler.as_str()).collect();
        ensure!(schedulers == ["easy", "slurm"], "{}: the schedulers are {schedulers:?}", log.log);
        for shadow in &log.calibration {
            let Group { admitted, refused, .. } = &shadow.all;
            let held = admitted.jobs + refused.jobs;
            ensure!((1..=SMALL).contains(&held), "{}: {held} of {SMALL} jobs were held against their forecasts", shadow.scheduler);
            ensure!(refused.jobs > 0, "{}: no refused job was", shadow.scheduler);
            let in_classes: usize = shadow.by_forecast.iter().map(|group| group.admitted.jobs + group.refused.jobs).sum();
            ensure!(in_classes == held, "{}: {in_classes} of {held} jobs are in a class", shadow.scheduler);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page_is_that_of_the_stored_figures() {
        PAGE.compare::<Log>(of_page).unwrap();
    }
}
