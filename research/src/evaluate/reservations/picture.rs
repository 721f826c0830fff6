//! The picture, for each log: the probability that was promised against the part that was kept,
//! with a line for each share; waits beside the bounds of QBETS, and a probability trajectory
//! (Nurmi, Wolski and Brevik 2008, figures 2 and 4).

use std::path::Path;

use command_parts::plot::{self, Reliability, Series, Trajectory, WaitsAndBounds};
use job_types::time::{Seconds, UnixTime};
use simulator::experiment::ReservationFigures;

use super::ReservationReport;

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, reports: &[ReservationReport]) -> anyhow::Result<()> {
    let mut logs: Vec<Vec<&ReservationReport>> = Vec::new();
    for report in reports {
        match logs.last_mut() {
            Some(log) if log.last().is_some_and(|last| last.replayed.file == report.replayed.file) => log.push(report),
            _ => logs.push(vec![report]),
        }
    }
    plot::write_rows(path, 3, &logs, |areas, log| {
        let [kept, waits, trajectory] = areas else { return Ok(()) };
        plot::reliability(kept, &diagram(log))?;
        let Some((report, figures)) = log.first().and_then(|report| Some((report, report.figures.as_deref()?))) else { return Ok(()) };
        plot::waits_and_bounds(waits, &waits_and_bounds(&report.replayed.log, figures))?;
        plot::trajectory(trajectory, &of_one_job(&report.replayed.log, figures))
    })
}

/// The waits of the largest class.
fn waits_and_bounds(log: &str, figures: &ReservationFigures) -> WaitsAndBounds {
    let first = figures.waits.first().map(|wait| wait.submit).unwrap_or_default();
    let days = |at: UnixTime| (at - first).0 as f64 / 86_400.0;
    let seconds = |wait: Seconds| wait.0 as f64;
    WaitsAndBounds {
        title: format!("{log}: the largest class of jobs"),
        waits: figures.waits.iter().map(|wait| (days(wait.submit), seconds(wait.wait), wait.bound.map(seconds))).collect(),
    }
}

/// The trajectory of one job.
fn of_one_job(log: &str, figures: &ReservationFigures) -> Trajectory {
    let hours = |begin: UnixTime| (begin - figures.now).0 as f64 / 3_600.0;
    Trajectory {
        title: format!("{log}: 4 processors for 1 h, 12 h ahead"),
        points: figures.trajectory.iter().map(|point| (hours(point.begin), point.probability())).collect(),
    }
}

fn diagram(log: &[&ReservationReport]) -> Reliability {
    let mut series: Vec<Series<[f64; 2]>> = Vec::new();
    for report in log {
        let asks = report.share.map_or_else(|| "own jobs".to_owned(), |share| format!("{share} of the jobs"));
        let name = format!("{asks}, {}", report.method.name());
        let point = report.found.all.mean_predicted.zip(report.found.all.kept_part).map(|(predicted, kept)| [predicted, kept]);
        match series.last_mut() {
            Some(last) if last.name == name => last.points.extend(point),
            _ => series.push(Series { name, points: point.into_iter().collect(), is_ours: false }),
        }
    }
    Reliability {
        title: log.first().map_or_else(String::new, |report| format!("{}: virtual reservations", report.replayed.log)),
        observed: "part of the reservations that were kept",
        series,
    }
}
