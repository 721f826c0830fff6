//! What it is worth to weigh what molding does to others, by each rule of the site's, and how often
//! the price by which it is weighed allows what a whole plan of the queue allows.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::adoptions::{Draw, JITTER, SCHEDULERS, cell, place};
use crate::evaluated::EvaluatedLogs;
use crate::page::{NamedTable, Page, Stored, markdown, title};

pub(super) const PAGE: Page = Page { text: "docs/molding.md", figures: "docs/figures/molding-others.json" };

/// The rules, as the setting has them.
const RULES: [&str; 3] = ["ignore", "sum", "not worse"];

/// A draw under a rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Weighed {
    #[serde(flatten)]
    draw: Draw,
    policy_others: String,
    /// `None` where nothing is weighed.
    agreement: Option<Agreement>,
}

/// How often the price and a whole plan allow the same, by `sum` and by `not worse`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Agreement {
    changes: u64,
    agreed: [u64; 2],
    allowed: [u64; 2],
    allowed_by_price: [u64; 2],
}

/// Replays all logs under each scheduler by each rule, where half of the jobs use molding.
///
/// # Errors
///
/// Where `queuecast evaluate` fails.
pub(super) fn replay(logs: &EvaluatedLogs, draws: u64) -> anyhow::Result<Vec<Weighed>> {
    let mut found = Vec::new();
    for (scheduler, rule) in SCHEDULERS.into_iter().flat_map(|scheduler| RULES.map(|rule| (scheduler, rule))) {
        for seed in 1..=draws {
            let text = seed.to_string();
            let how = ["molding", "--protocol", "work-conserving", "--scheduler", scheduler, "--jitter", JITTER];
            let how = [&how[..], &["--adoption", "0.5", "--others", rule, "--seed", &text]].concat();
            let of_logs = logs.figures::<Weighed>(&logs.paths, &how)?;
            found.extend(of_logs.into_iter().map(|weighed| Weighed { draw: weighed.draw.of_seed(seed), ..weighed }));
        }
    }
    Ok(found)
}

/// The tables with the line that says what they were measured on.
pub(super) fn of_page(stored: &Stored<Weighed>) -> Vec<NamedTable> {
    let measured = format!("\nMeasured on commit {} by `ci/bench-molding --others --publish`.\n", stored.commit);
    vec![("molding others", table(&stored.logs) + &measured), ("molding prices", agreements(&stored.logs) + &measured)]
}

/// Both tables as they are printed.
pub(super) fn printed(found: &[Weighed]) -> String {
    format!("{}\nHow often price and whole plan agree:\n\n{}", table(found), agreements(found))
}

/// One row for each log and scheduler: the mean of all and that of the others by each rule, in per
/// cent against the replay without molding, as the mean over the draws with their range.
fn table(found: &[Weighed]) -> String {
    let mut rows: BTreeMap<(usize, &str, &str), Vec<&Weighed>> = BTreeMap::new();
    for weighed in found {
        let Draw { log, scheduler, .. } = &weighed.draw;
        rows.entry((place(log), log, scheduler)).or_default().push(weighed);
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|((_, log, scheduler), found)| {
            let mut cells = vec![title(log).to_owned(), scheduler.to_owned()];
            for rule in RULES {
                let of_rule = || found.iter().filter(|weighed| weighed.policy_others == rule).map(|weighed| &weighed.draw);
                cells.push(cell(&of_rule().filter_map(Draw::of_all).collect::<Vec<f64>>()));
                cells.push(cell(&of_rule().filter_map(Draw::of_the_others).collect::<Vec<f64>>()));
            }
            cells
        })
        .collect();
    let headings = ["log", "scheduler", "`ignore`: all", "others", "`sum`: all", "others", "`not worse`: all", "others"];
    markdown(&headings, 2, &rows)
}

/// One row for each log: on how many changes price and whole plan agree, under both schedulers, and
/// how many each allows.
fn agreements(found: &[Weighed]) -> String {
    let mut rows: BTreeMap<(usize, &str), [Option<Agreement>; 2]> = BTreeMap::new();
    for Weighed { draw, policy_others, agreement } in found {
        let of_rule = RULES.iter().skip(1).position(|rule| rule == policy_others);
        let Some((agreement, of_rule)) = agreement.zip(of_rule) else { continue };
        let rules = rows.entry((place(&draw.log), &draw.log)).or_default();
        if let Some(sum) = rules.get_mut(of_rule) {
            *sum = Some(sum.map_or(agreement, |sum| sum.and(agreement)));
        }
    }
    let per_cent = |part: u64, all: u64| format!("{:.0} %", 100.0 * part as f64 / all.max(1) as f64);
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|((_, log), rules)| {
            let mut cells = vec![title(log).to_owned()];
            for (place, agreement) in rules.into_iter().enumerate() {
                let counts =
                    agreement.map(|agreement| (agreement.changes, [agreement.agreed, agreement.allowed, agreement.allowed_by_price]));
                let parts = counts.map(|(changes, counts)| counts.map(|count| per_cent(count[place], changes)));
                cells.extend(parts.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned())));
            }
            cells
        })
        .collect();
    let headings = ["log", "`sum`: agree", "plan allows", "price allows", "`not worse`: agree", "plan allows", "price allows"];
    markdown(&headings, 1, &rows)
}

impl Agreement {
    fn and(self, other: Self) -> Self {
        let sum = |one: [u64; 2], other: [u64; 2]| std::array::from_fn(|place| one[place] + other[place]);
        Self {
            changes: self.changes + other.changes,
            agreed: sum(self.agreed, other.agreed),
            allowed: sum(self.allowed, other.allowed),
            allowed_by_price: sum(self.allowed_by_price, other.allowed_by_price),
        }
    }
}

/// Checks that each rule was replayed, that prices were asked for where a rule weighs, and that
/// they forbid something.
///
/// # Errors
///
/// The first of them that is not as it should be.
pub(super) fn check(found: &[Weighed]) -> anyhow::Result<()> {
    ensure!(found.len() == SCHEDULERS.len() * RULES.len(), "others: {} draws", found.len());
    for Weighed { draw, policy_others, agreement } in found {
        ensure!(agreement.is_some() == (policy_others != "ignore"), "others: {policy_others}: prices are asked for, or not");
        let Some(agreement) = agreement else { continue };
        let named = format!("others: {}, {policy_others}", draw.scheduler);
        ensure!(agreement.changes > 0, "{named}: nothing was weighed");
        let forbidden = agreement.changes.checked_sub(agreement.allowed_by_price[1]).context("more is allowed than was weighed")?;
        ensure!(forbidden > 0, "{named}: prices forbid nothing");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_page_are_those_of_the_stored_figures() {
        PAGE.compare::<Weighed>(of_page).unwrap();
    }
}
