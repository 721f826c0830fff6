//! The picture: the probability that was promised against the part that was kept, a diagram for
//! each log with a line for each share.

use std::path::Path;

use super::ReservationReport;
use crate::plot::{self, Reliability, Series};

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, reports: &[ReservationReport]) -> anyhow::Result<()> {
    let mut logs: Vec<Vec<&ReservationReport>> = Vec::new();
    for report in reports {
        match logs.last_mut() {
            Some(log) if log.last().is_some_and(|last| last.replayed.file == report.replayed.file) => log.push(report),
            _ => logs.push(vec![report]),
        }
    }
    plot::write_rows(path, 1, &logs, |areas, log| match areas {
        [area, ..] => plot::reliability(area, &diagram(log)),
        [] => Ok(()),
    })
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
