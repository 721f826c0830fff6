//! The picture: figures 1 to 4 of Yeo and Buyya 2006, a row for each, with what was fulfilled and
//! with the slowdowns of its two parts.

use std::path::Path;

use command_parts::plot::{self, LineChart, Series};

use super::report::{DeadlineReport, PointReport};

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, reports: &[DeadlineReport]) -> anyhow::Result<()> {
    let parts: Vec<(&DeadlineReport, Vec<&PointReport>)> =
        reports.iter().flat_map(|report| report.parts().into_iter().map(move |part| (report, part))).collect();
    let rows: Vec<_> = parts.chunks(2).collect();
    plot::write_rows(path, 4, &rows, |areas, row| {
        let (fulfilled, slowdowns) = areas.split_at(areas.len() / 2);
        for ((report, part), (above, below)) in row.iter().zip(fulfilled.iter().zip(slowdowns)) {
            plot::line_chart(
                above,
                &chart(report, part, "jobs done by their deadlines, %", Some(100.0), |point| Some(point.fulfilled_percent)),
            )?;
            plot::line_chart(below, &chart(report, part, "mean slowdown of these", None, |point| point.mean_slowdown))?;
        }
        Ok(())
    })
}

fn chart(
    report: &DeadlineReport,
    part: &[&PointReport],
    what: &'static str,
    top: Option<f64>,
    of: impl Fn(&PointReport) -> Option<f64>,
) -> LineChart {
    let mut series: Vec<Series<[f64; 2]>> = Vec::new();
    for point in part {
        let place = series.iter().position(|series| series.name == point.policy).unwrap_or_else(|| {
            series.push(Series { name: point.policy.to_owned(), points: Vec::new(), is_ours: false });
            series.len() - 1
        });
        series[place].points.extend(of(point).map(|value| [point.x, value]));
    }
    let first = part.first();
    let title = first.map_or_else(String::new, |first| format!("{}: figure {}, {}", report.log, first.figure, first.part_name()));
    LineChart { title, varied: first.map_or("", |first| first.varies), what, top, series }
}
