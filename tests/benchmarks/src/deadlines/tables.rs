//! The tables of docs/deadlines.md on admission by probability.

use super::{LOGS, Log, Row, WANTED};
use crate::page::{NamedTable, Stored, markdown, title};

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
    let mut logs: Vec<&Log> = logs.iter().collect();
    logs.sort_by_key(|log| LOGS.iter().position(|beginning| log.log.starts_with(beginning)).unwrap_or(LOGS.len()));
    Ok(vec![
        ("admission easy", fulfilled(&logs, "easy")?),
        ("admission slurm", fulfilled(&logs, "slurm")?),
        ("admission kept", kept(&logs)?),
        ("admission molding", molding(&logs)?),
        ("admission shared nodes", shared_nodes(&logs)?),
    ])
}

/// What each method fulfils, and admission under a scheduler. What is below admitting everybody by
/// more than is allowed is bold.
fn fulfilled(logs: &[&Log], scheduler: &str) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(&log.log).to_owned()];
        for (policy, scheduler) in [("edf", "in order"), ("libra", "shared nodes"), ("libra-risk", "shared nodes")] {
            cells.push(format!("{:.1}", log.row(policy, scheduler, None, false)?.fulfilled_percent));
        }
        let all = log.row("all", scheduler, None, false)?;
        cells.push(with_error(all));
        for wanted in WANTED {
            let row = log.row("probability", scheduler, Some(wanted), false)?;
            let is_missed = row.fulfilled_percent < all.fulfilled_percent - ALLOWED_LOSS;
            cells.push(if is_missed { format!("**{}**", with_error(row)) } else { with_error(row) });
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "EDF", "Libra", "LibraRisk", "all", "0.8", "0.9", "0.95"], 1, &rows))
}

/// What became of those who were admitted and refused under EASY.
fn kept(logs: &[&Log]) -> anyhow::Result<String> {
    let headings = ["log", "P", "kept", "kept, Slurm", "refused", "refused in time", "late", "slowdown", "work"];
    let mut rows = Vec::new();
    for log in logs {
        for wanted in WANTED {
            let row = log.row("probability", "easy", Some(wanted), false)?;
            let under_slurm = log.row("probability", "slurm", Some(wanted), false)?;
            rows.push(vec![
                title(&log.log).to_owned(),
                wanted.to_string(),
                kept_with_error(row),
                kept_with_error(under_slurm),
                (log.jobs - row.accepted.min(log.jobs)).to_string(),
                row.refused_in_time.map_or_else(String::new, |jobs| jobs.to_string()),
                row.late.to_string(),
                row.mean_slowdown.map_or_else(String::new, |slowdown| format!("{slowdown:.2}")),
                row.admitted_work.map_or_else(String::new, |part| format!("{part:.2}")),
            ]);
        }
    }
    Ok(markdown(&headings, 1, &rows))
}

/// How many points more are fulfilled where users take a size that is offered, and how many did.
fn molding(logs: &[&Log]) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(&log.log).to_owned()];
        for wanted in WANTED {
            let without = log.row("probability", "easy", Some(wanted), false)?;
            let with = log.row("probability", "easy", Some(wanted), true)?;
            let gain = with.fulfilled_percent - without.fulfilled_percent;
            cells.push(format!("{gain:+.1} ({})", with.molded.unwrap_or_default()));
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "0.8", "0.9", "0.95"], 1, &rows))
}

/// What is fulfilled on nodes that jobs share in time, and in brackets how many were late.
fn shared_nodes(logs: &[&Log]) -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for log in logs {
        let mut cells = vec![title(&log.log).to_owned()];
        for policy in ["libra", "libra-risk"] {
            cells.push(format!("{:.1}", log.row(policy, "shared nodes", None, false)?.fulfilled_percent));
        }
        for wanted in WANTED {
            let row = log.row("probability", "shared nodes", Some(wanted), false)?;
            cells.push(format!("{} ({})", with_error(row), row.late));
        }
        rows.push(cells);
    }
    Ok(markdown(&["log", "Libra", "LibraRisk", "0.8", "0.9", "0.95"], 1, &rows))
}

fn with_error(row: &Row) -> String {
    let fulfilled = row.fulfilled_percent;
    row.fulfilled_standard_error.map_or_else(|| format!("{fulfilled:.1}"), |error| format!("{fulfilled:.1} ± {error:.1}"))
}

fn kept_with_error(row: &Row) -> String {
    let error = row.kept_standard_error.unwrap_or_default();
    row.kept.map_or_else(|| "-".to_owned(), |kept| format!("{kept:.3} ± {error:.3}"))
}
