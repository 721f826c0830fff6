//! The tables of docs/deadlines.md on admission by probability.

use std::collections::BTreeMap;

use super::{LOGS, Log, Row, WANTED};
use crate::page::{NamedTable, Stored, markdown, title};
use crate::statistics;

/// How many points fewer than admitting everybody admission may fulfil.
const ALLOWED_LOSS: f64 = 0.5;

/// The tables with the line that says what they were measured on.
///
/// # Errors
///
/// A row that is missing is named.
pub(super) fn of_page(stored: &Stored<Log>) -> anyhow::Result<Vec<NamedTable>> {
    let mut tables = all(&stored.logs)?;
    for (_, table) in &mut tables {
        *table += &format!("\nMeasured on commit {} by `ci/bench-deadlines --publish`.\n", stored.commit);
    }
    Ok(tables)
}

/// All tables.
///
/// # Errors
///
/// A row that is missing is named.
pub(super) fn all(logs: &[Log]) -> anyhow::Result<Vec<NamedTable>> {
    let mut by_log: BTreeMap<(usize, &str), Vec<&Log>> = BTreeMap::new();
    for log in logs {
        let place = LOGS.iter().position(|beginning| log.log.starts_with(beginning)).unwrap_or(LOGS.len());
        by_log.entry((place, &log.log)).or_default().push(log);
    }
    let draws: Vec<Draws<'_>> = by_log.into_iter().map(|((_, log), draws)| Draws { log, draws }).collect();
    Ok(vec![
        ("admission easy", fulfilled(&draws, "easy")?),
        ("admission slurm", fulfilled(&draws, "slurm")?),
        ("admission kept", kept(&draws)?),
        ("admission molding", molding(&draws)?),
        ("admission shared nodes", shared_nodes(&draws)?),
    ])
}

/// All draws of one log.
struct Draws<'a> {
    log: &'a str,
    draws: Vec<&'a Log>,
}

/// Which row of a draw is meant: policy, scheduler, the wanted probability, and whether users take
/// another size.
type RowName<'a> = (&'a str, &'a str, Option<f64>, bool);

impl<'a> Draws<'a> {
    /// A row of each draw.
    fn rows(&self, (policy, scheduler, wanted, molding): RowName<'_>) -> anyhow::Result<Vec<&'a Row>> {
        self.draws.iter().map(|log| log.row(policy, scheduler, wanted, molding)).collect()
    }

    /// The mean over the draws of a figure of a row.
    fn mean(&self, row: RowName<'_>, figure: impl Fn(&Row) -> Option<f64>) -> anyhow::Result<f64> {
        Ok(statistics::mean(&self.rows(row)?.into_iter().filter_map(figure).collect::<Vec<f64>>()))
    }

    /// How many per cent a row fulfils.
    fn fulfilled(&self, row: RowName<'_>) -> anyhow::Result<f64> {
        self.mean(row, |row| Some(row.fulfilled_percent))
    }

    /// By how many points a row fulfils more than another one, draw by draw.
    fn gains(&self, row: RowName<'_>, than: RowName<'_>) -> anyhow::Result<Vec<f64>> {
        let pairs = self.rows(row)?.into_iter().zip(self.rows(than)?);
        Ok(pairs.map(|(row, than)| row.fulfilled_percent - than.fulfilled_percent).collect())
    }
}

/// What each method fulfils in the mean over the draws, and admission under a scheduler with how
/// much more that is than what admitting everybody fulfils. What is less by more than is allowed is
/// bold.
fn fulfilled(logs: &[Draws<'_>], scheduler: &str) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(log.log).to_owned()];
        let all = ("all", scheduler, None, false);
        for row in
            [("edf", "in order", None, false), ("libra", "shared nodes", None, false), ("libra-risk", "shared nodes", None, false), all]
        {
            cells.push(format!("{:.1}", log.fulfilled(row)?));
        }
        for wanted in WANTED {
            let row = ("probability", scheduler, Some(wanted), false);
            let gains = log.gains(row, all)?;
            let text = format!("{:.1}: {}", log.fulfilled(row)?, points(&gains));
            cells.push(if statistics::mean(&gains) < -ALLOWED_LOSS { format!("**{text}**") } else { text });
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "EDF", "Libra", "LibraRisk", "all", "0.8", "0.9", "0.95"], 1, &rows))
}

/// What became of those who were admitted and refused under EASY, in the mean over the draws. Where
/// less is kept than is wanted it is bold.
fn kept(logs: &[Draws<'_>]) -> anyhow::Result<String> {
    let headings = ["log", "P", "kept", "kept, Slurm", "refused", "refused in time", "late", "slowdown", "work"];
    let mut rows = Vec::new();
    for log in logs {
        for wanted in WANTED {
            let easy = ("probability", "easy", Some(wanted), false);
            let kept = |row| -> anyhow::Result<String> {
                let draws: Vec<f64> = log.rows(row)?.into_iter().filter_map(|row| row.kept).collect();
                let text = with_range(&draws, |figure| format!("{figure:.3}"));
                Ok(if statistics::mean(&draws) < wanted { format!("**{text}**") } else { text })
            };
            let jobs = log.draws.first().map_or(0, |log| log.jobs);
            rows.push(vec![
                title(log.log).to_owned(),
                wanted.to_string(),
                kept(easy)?,
                kept(("probability", "slurm", Some(wanted), false))?,
                format!("{:.0}", log.mean(easy, |row| Some((jobs - row.accepted.min(jobs)) as f64))?),
                format!("{:.0}", log.mean(easy, |row| row.refused_in_time.map(|jobs| jobs as f64))?),
                format!("{:.0}", log.mean(easy, |row| Some(row.late as f64))?),
                format!("{:.2}", log.mean(easy, |row| row.mean_slowdown)?),
                format!("{:.2}", log.mean(easy, |row| row.admitted_work)?),
            ]);
        }
    }
    Ok(markdown(&headings, 1, &rows))
}

/// How many points more are fulfilled where users take a size that is offered, and how many did.
fn molding(logs: &[Draws<'_>]) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(log.log).to_owned()];
        for wanted in WANTED {
            let [without, with] = [false, true].map(|molding| ("probability", "easy", Some(wanted), molding));
            let molded = log.mean(with, |row| row.molded.map(|jobs| jobs as f64))?;
            cells.push(format!("{}, {molded:.0}", points(&log.gains(with, without)?)));
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "0.8", "0.9", "0.95"], 1, &rows))
}

/// What is fulfilled on nodes that jobs share in time, and in brackets how many were late, in the
/// mean over the draws.
fn shared_nodes(logs: &[Draws<'_>]) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(log.log).to_owned()];
        for policy in ["libra", "libra-risk"] {
            cells.push(format!("{:.1}", log.fulfilled((policy, "shared nodes", None, false))?));
        }
        for wanted in WANTED {
            let row = ("probability", "shared nodes", Some(wanted), false);
            cells.push(format!("{:.1} ({:.0})", log.fulfilled(row)?, log.mean(row, |row| Some(row.late as f64))?));
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "Libra", "LibraRisk", "0.8", "0.9", "0.95"], 1, &rows))
}

/// The mean of points over the draws, with the least and the most.
fn points(draws: &[f64]) -> String {
    with_range(draws, |figure| format!("{figure:+.1}"))
}

/// The mean of figures over the draws, with the least and the most where there are several.
fn with_range(draws: &[f64], written: impl Fn(f64) -> String) -> String {
    let mean = written(statistics::mean(draws));
    let (least, most) = statistics::range(draws);
    if draws.len() < 2 { mean } else { format!("{mean} ({} to {})", written(least), written(most)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_several_draws_are_told_with_their_range() {
        assert_eq!(points(&[-1.0, 2.0]), "+0.5 (-1.0 to +2.0)");
        assert_eq!(points(&[-1.0]), "-1.0");
    }
}
