//! What the publication says of its experiments, held against ours (Röblitz and Rzadca 2006,
//! sections 5.2 to 5.4 and 6).

use simulator::experiment::{PlacementExperiment, PlacementMethod};

use super::PlacementReport;
use super::cells::{Cells, HOUR_S};
use super::published::TABLE_WINDOW_S;

/// A statement, and whether it is found here.
#[derive(Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) section: &'static str,
    pub(super) said: &'static str,
    pub(super) holds: bool,
    /// What is found.
    pub(super) found: String,
}

const LOAD: PlacementMethod = PlacementMethod::Load;
const WHAT_IF: PlacementMethod = PlacementMethod::WhatIf;

/// How far a rate may lie from the published one, as a part of the requests.
const POINTS: f64 = 0.03;

/// Holds each statement against the experiments, in the mean over the draws. Those of which there
/// are no experiments are left out: all are of both methods, and many of a window of 30 hours.
pub(super) fn statements(report: &PlacementReport, cells: &Cells<'_>) -> Vec<Statement> {
    let summary = |method| report.found.summary.iter().find(|summary| summary.method == method);
    let (Some(load), Some(what_if)) = (summary(LOAD), summary(WHAT_IF)) else { return Vec::new() };
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let mut found = vec![Statement {
        section: "5.2",
        said: "what-if grants 97 % of all requests, load 80 %",
        holds: is_near(what_if.success_rate, 0.97) && is_near(load.success_rate, 0.80),
        found: format!("{} and {}", percent(what_if.success_rate), percent(load.success_rate)),
    }];
    if let Some((small_what_if, small_load)) = what_if.small_success_rate.zip(load.small_success_rate) {
        found.push(Statement {
            section: "5.2",
            said: "92 and 38 % where book-ahead and window are at most 2 h",
            holds: is_near(small_what_if, 0.92) && is_near(small_load, 0.38),
            found: format!("{} and {}", percent(small_what_if), percent(small_load)),
        });
    }
    let rates = [&what_if, &load].map(|summary| summary.high_load_success_rate.zip(summary.high_load_of_all_success_rate));
    if let [Some(high_what_if), Some(high_load)] = rates {
        let is_reached = |(of_each, of_all): (f64, f64), published: f64| {
            let (least, most) = (of_each.min(of_all), of_each.max(of_all));
            (least..=most).contains(&published) || is_near(of_each, published) || is_near(of_all, published)
        };
        found.push(Statement {
            section: "5.2",
            said: "92 and 58 % of the fifth of the requests at the highest load",
            holds: is_reached(high_what_if, 0.92) && is_reached(high_load, 0.58),
            found: format!(
                "{} and {} of each experiment's, {} and {} of all",
                percent(high_what_if.0),
                percent(high_load.0),
                percent(high_what_if.1),
                percent(high_load.1)
            ),
        });
    }
    found.push(makespan(&[load.makespan_growth, what_if.makespan_growth]));
    found.push(better_in_most(cells));
    found.extend(all_granted(cells));
    found.extend(table_1(cells));
    found.extend(smaller_jobs(report, cells));
    found.push(Statement {
        section: "6",
        said: "what-if grants more, and at the same time jobs wait less",
        holds: what_if.success_rate > load.success_rate && added(cells, WHAT_IF) < added(cells, LOAD),
        found: format!(
            "{} granted against {}, {:.0} against {:.0} h of added waiting in the mean of all experiments",
            percent(what_if.success_rate),
            percent(load.success_rate),
            added(cells, WHAT_IF),
            added(cells, LOAD)
        ),
    });
    found
}

fn is_near(part: f64, published: f64) -> bool {
    (part - published).abs() <= POINTS
}

fn makespan(growths: &[[f64; 2]]) -> Statement {
    let least = growths.iter().map(|growth| growth[0]).fold(f64::INFINITY, f64::min);
    let most = growths.iter().map(|growth| growth[1]).fold(f64::NEG_INFINITY, f64::max);
    Statement {
        section: "5.3",
        said: "the makespan grows by 1 to 8 % with either method",
        holds: least >= 0.005 && most <= 0.085,
        found: format!("{:+.1} to {:+.1} %", least * 100.0, most * 100.0),
    }
}

/// Each pair of book-ahead and window.
fn windows(cells: &Cells<'_>) -> Vec<(i64, i64)> {
    let windows = cells.windows();
    cells
        .book_aheads()
        .into_iter()
        .flat_map(|book_ahead| windows.iter().map(move |window| (book_ahead, *window)).collect::<Vec<_>>())
        .collect()
}

/// Hours that delayed jobs wait longer, in the mean of the experiments.
fn added(cells: &Cells<'_>, method: PlacementMethod) -> f64 {
    let all = windows(cells);
    let hours = |(book_ahead, window): &(i64, i64)| cells.mean(method, *book_ahead, *window, |one| one.added_wait_s as f64 / HOUR_S as f64);
    all.iter().filter_map(hours).sum::<f64>() / all.len().max(1) as f64
}

fn better_in_most(cells: &Cells<'_>) -> Statement {
    let all = windows(cells);
    let better = |figure: fn(&PlacementExperiment) -> f64| {
        let both = |(book_ahead, window): &&(i64, i64)| {
            let mean = |method| cells.mean(method, *book_ahead, *window, figure);
            mean(WHAT_IF).zip(mean(LOAD)).is_some_and(|(what_if, load)| what_if <= load)
        };
        all.iter().filter(both).count()
    };
    let (makespan, wait) = (better(|one| one.makespan_s as f64), better(|one| one.net_wait_s));
    Statement {
        section: "5.3",
        said: "what-if does better than load with most book-aheads and windows",
        holds: makespan * 2 > all.len() && wait * 2 > all.len(),
        found: format!("makespan not longer in {makespan} of {}, jobs in the mean wait no longer in {wait}", all.len()),
    }
}

fn all_granted(cells: &Cells<'_>) -> Option<Statement> {
    if cells.widest_window() != TABLE_WINDOW_S {
        return None;
    }
    let rate = |book_ahead, method| cells.mean(method, book_ahead, TABLE_WINDOW_S, PlacementExperiment::success_rate);
    let rates = cells.book_aheads().into_iter().flat_map(|book_ahead| [rate(book_ahead, LOAD), rate(book_ahead, WHAT_IF)]).flatten();
    let least = rates.fold(1.0, f64::min);
    Some(Statement {
        section: "5.3",
        said: "with a window of 30 h all are granted",
        holds: least >= 0.9995,
        found: format!("at least {:.1} % of each", least * 100.0),
    })
}

/// What is said of table 1, by book-ahead in hours.
fn table_1(cells: &Cells<'_>) -> Vec<Statement> {
    let both = |book_ahead: i64, figure: fn(&PlacementExperiment) -> f64| {
        let mean = |method| cells.mean(method, book_ahead * HOUR_S, TABLE_WINDOW_S, figure);
        mean(LOAD).zip(mean(WHAT_IF))
    };
    let jobs = |book_ahead| both(book_ahead, |one| one.delayed_jobs as f64);
    let each = |book_ahead| both(book_ahead, |one| one.affected_wait_s - one.original_wait_s);
    let mut found = Vec::new();
    if let (Some(first), Some(last)) = (jobs(0), jobs(24)) {
        found.push(Statement {
            section: "5.3",
            said: "the longer the book-ahead, the more jobs are delayed",
            holds: last.0 > first.0 && last.1 > first.1,
            found: format!("from 0 to 24 h: load {:.0} to {:.0}, what-if {:.0} to {:.0}", first.0, last.0, first.1, last.1),
        });
    }
    let short: Vec<_> = [0, 2, 4].into_iter().filter_map(|book_ahead| jobs(book_ahead).zip(each(book_ahead))).collect();
    if short.len() == 3 {
        let holds = short.iter().all(|((jobs_load, jobs_what_if), (load, what_if))| jobs_what_if < jobs_load && what_if < load);
        let shown = |((jobs_load, jobs_what_if), (load, what_if)): &((f64, f64), (f64, f64))| {
            format!("{jobs_what_if:.0} against {jobs_load:.0} jobs by {what_if:.0} against {load:.0} s each")
        };
        found.push(Statement {
            section: "5.3",
            said: "at 0, 2 and 4 h what-if delays fewer jobs, and each by less",
            holds,
            found: short.iter().map(shown).collect::<Vec<_>>().join("; "),
        });
    }
    let is_alike = |(one, other): (f64, f64)| (one - other).abs() <= 0.1 * one.max(other);
    if let Some(both) = jobs(6).zip(each(6)) {
        let ((jobs_load, jobs_what_if), (load, what_if)) = both;
        found.push(Statement {
            section: "5.3",
            said: "at 6 h what-if delays more jobs, each by about as much",
            holds: jobs_what_if > jobs_load && is_alike((load, what_if)),
            found: format!("{jobs_what_if:.0} against {jobs_load:.0} jobs, by {what_if:.0} against {load:.0} s"),
        });
    }
    if let Some((load, what_if)) = each(12) {
        found.push(Statement {
            section: "5.3",
            said: "at 12 h load is slightly better",
            holds: load < what_if,
            found: format!("{load:.0} against {what_if:.0} s each"),
        });
    }
    if let Some(both) = each(24) {
        found.push(Statement {
            section: "5.3",
            said: "at 24 h both are nearly alike",
            holds: is_alike(both),
            found: format!("{:.0} and {:.0} s each", both.0, both.1),
        });
    }
    found
}

/// What it does that no job asks for more than 88 nodes, which is replayed as well.
fn smaller_jobs(report: &PlacementReport, cells: &Cells<'_>) -> Option<Statement> {
    let (smaller, jobs) = report.smaller.as_ref()?;
    let smaller_cells = Cells::of(&smaller.experiments);
    let hours = |cells: &Cells<'_>| {
        let hours = |book_ahead| cells.mean(WHAT_IF, book_ahead, TABLE_WINDOW_S, |one| one.added_wait_s as f64 / HOUR_S as f64);
        cells.book_aheads().into_iter().filter_map(hours).sum::<f64>()
    };
    let (all, fewer) = (hours(cells), hours(&smaller_cells));
    Some(Statement {
        section: "5.4",
        said: "delays get much smaller where fewer than ten jobs ask for fewer than 89 processors instead of more",
        holds: *jobs < 10 && fewer < 0.8 * all,
        found: format!("{jobs} jobs; what-if at 30 h adds {fewer:.0} in the place of {all:.0} h of waiting"),
    })
}
