//! The pictures: figures 2 to 5 of Röblitz and Rzadca 2006.

use std::path::Path;

use anyhow::anyhow;
use command_parts::plot::{self, Area, DIAGRAM, Gantt, GanttJob, LineChart, OverTime, Series};
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use simulator::engine::Record;
use simulator::experiment::{Added, LongestDelay, Pictured, PlacementExperiment, PlacementMethod};
use simulator::output::allocate;

use super::PlacementReport;
use super::cells::{Cells, HOUR_S};

const DAY_S: f64 = 86_400.0;

/// The axis of time: logs have clocks of their own, which begin before their first job.
const LOG_CLOCK: &str = "days on the log's clock";

/// Around the wait of the job that is delayed the longest so much is shown, as a part of that wait.
const AROUND: f64 = 0.2;

/// Draws, for each log: utilisation and backlog without reservations, success rates and waits that
/// are added for each method, and the machine around the job that is delayed the longest.
///
/// # Errors
///
/// The file can't be written.
pub(super) fn draw(path: &Path, reports: &[PlacementReport]) -> anyhow::Result<()> {
    let (width, height) = DIAGRAM;
    let rows = |report: &PlacementReport| 1 + report.found.summary.len() as u32;
    let heights: Vec<u32> = reports.iter().map(|report| (rows(report) + 2) * height).collect();
    plot::write(path, (2 * width, heights.iter().sum::<u32>().max(1)), |area| {
        let mut rest = area.clone();
        for (report, own) in reports.iter().zip(&heights) {
            let (area, below) = rest.split_vertically(*own);
            rest = below;
            let (figures, gantt) = area.split_vertically(rows(report) * height);
            of_log(&figures, rows(report), report)?;
            if let Some(longest) = &report.found.pictured.longest_delay {
                plot::gantt(&gantt, &around_longest_delay(report, longest))?;
            }
        }
        Ok(())
    })
}

fn of_log(area: &Area<'_>, rows: u32, report: &PlacementReport) -> anyhow::Result<()> {
    let cells = Cells::of(&report.found.experiments);
    let areas = area.split_evenly((rows as usize, 2));
    let mut areas = areas.iter();
    let mut next = || areas.next().ok_or_else(|| anyhow!("cannot divide the picture"));
    let pictured = &report.found.pictured;
    plot::over_time(next()?, &utilisation(report, pictured))?;
    plot::over_time(next()?, &backlog(report, pictured))?;
    for method in cells.methods() {
        plot::line_chart(next()?, &success(&cells, method))?;
        plot::line_chart(next()?, &added(report, method))?;
    }
    Ok(())
}

fn days(at: UnixTime) -> f64 {
    at.0 as f64 / DAY_S
}

/// Figure 2 (a).
fn utilisation(report: &PlacementReport, pictured: &Pictured) -> OverTime {
    let percent = 100.0 / f64::from(report.processors.max(1));
    OverTime {
        title: format!("{}: utilisation without reservations", report.log),
        what: "processors in use (%)",
        points: pictured.alone.over_time.iter().map(|(at, _, used)| (days(*at), *used as f64 * percent)).collect(),
        time: LOG_CLOCK,
        top: Some(100.0),
        colour: 5,
    }
}

/// Figure 2 (b).
fn backlog(report: &PlacementReport, pictured: &Pictured) -> OverTime {
    OverTime {
        title: format!("{}: backlog without reservations", report.log),
        what: "backlog of all processors (h)",
        points: pictured.alone.over_time.iter().map(|(at, backlog, _)| (days(*at), backlog / HOUR_S as f64)).collect(),
        time: LOG_CLOCK,
        top: None,
        colour: 4,
    }
}

/// Figure 3.
fn success(cells: &Cells<'_>, method: PlacementMethod) -> LineChart {
    let line = |book_ahead: i64| Series {
        name: format!("{} h ahead", book_ahead as f64 / HOUR_S as f64),
        points: (cells.windows().iter())
            .filter_map(|window| {
                let rate = cells.mean(method, book_ahead, *window, PlacementExperiment::success_rate)?;
                Some([*window as f64 / HOUR_S as f64, rate * 100.0])
            })
            .collect(),
        is_ours: false,
    };
    LineChart {
        title: format!("Requests that were granted, {}", method.name()),
        varied: "window of starts (h)",
        what: "granted (%)",
        top: Some(100.0),
        series: cells.book_aheads().into_iter().map(line).collect(),
    }
}

/// Figure 4: each wait counts when its job starts.
fn added(report: &PlacementReport, method: PlacementMethod) -> LineChart {
    let ours = report.found.pictured.added.iter().filter(|added| added.method == method);
    let line = |added: &Added| {
        let mut delays = added.delays.clone();
        delays.sort_unstable();
        let mut sum = 0.0;
        let points = delays.into_iter().map(|(at, delay)| {
            sum += delay.0 as f64 / HOUR_S as f64;
            [days(at), sum]
        });
        Series { name: format!("{} h ahead", added.book_ahead.0 as f64 / HOUR_S as f64), points: points.collect(), is_ours: false }
    };
    LineChart {
        title: format!("Waits that are added at the widest window, {}", method.name()),
        varied: LOG_CLOCK,
        what: "added to waits so far (h)",
        top: None,
        series: ours.map(line).collect(),
    }
}

/// Figure 5: jobs in one colour, reservations in another, and the job in a third.
fn around_longest_delay(report: &PlacementReport, longest: &LongestDelay) -> Gantt {
    let pictured = &report.found.pictured;
    let (jobs, starts) = (&pictured.jobs, &longest.outcome.starts);
    let record = |start: UnixTime, end: UnixTime, processors: u32| Record {
        submit: start,
        eligible: start,
        start,
        end,
        processors,
        ..Record::default()
    };
    let of_jobs = jobs.iter().zip(starts).enumerate();
    let of_jobs = of_jobs.map(|(place, (job, start))| {
        (record(*start, *start + job.run_time, job.processors), if place == longest.job { DELAYED } else { OTHERS })
    });
    let reserved = longest.reservations.iter().map(|(slot, processors)| (record(slot.start, slot.end, *processors), RESERVED));
    let mut all: Vec<(Record, UserId)> = of_jobs.chain(reserved).collect();
    all.sort_by_key(|(record, _)| record.start);
    let records: Vec<Record> = all.iter().map(|(record, _)| *record).collect();
    let hours = |at: UnixTime| at.0 as f64 / HOUR_S as f64;
    let place = longest.job;
    let (before, after) = (pictured.alone.starts.get(place).copied().unwrap_or_default(), starts.get(place).copied().unwrap_or_default());
    let end = after + jobs.get(place).map_or(Seconds::ZERO, |job| job.run_time);
    let around = AROUND * (hours(after) - hours(before));
    let window = (hours(before) - around, hours(end).min(hours(after) + around));
    let shown = all.iter().zip(allocate(&records, report.processors));
    let shown = shown.filter(|((record, _), _)| hours(record.start) < window.1 && window.0 < hours(record.end));
    Gantt {
        title: format!(
            "The job that is delayed the longest, by {:.1} h ({}; yellow: this job, blue: reservations, green: other jobs)",
            hours(after) - hours(before),
            longest.method.name()
        ),
        time: "hours on the log's clock",
        hours: window,
        processors: report.processors,
        jobs: shown
            .map(|((record, user), allocation)| GanttJob {
                hours: (hours(record.start), hours(record.end)),
                processors: allocation.0,
                user: *user,
            })
            .collect(),
    }
}

/// Users by whose numbers colours are told apart.
const DELAYED: UserId = UserId(0);
const RESERVED: UserId = UserId(1);
const OTHERS: UserId = UserId(2);
