//! Changes of a figure over weeks, with their range, and the times at which something held.

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use job_types::time::UnixTime;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::{BLACK, Color};

use super::axis::Axis;
use super::changes::{MOST, around_zero};
use super::frame::{Lines, framed, legend, named_line};
use super::{Area, GRID, Series};

/// A change as it was found at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeAt {
    /// When it was found.
    pub at: UnixTime,
    /// The change, in percent.
    pub change: f64,
    /// The least and the greatest change of those that it is the mean of, in percent.
    pub range: [f64; 2],
}

/// Changes of one figure over time.
#[derive(Debug)]
pub struct ChangesOverTime {
    /// What stands above the diagram.
    pub title: String,
    /// What changes, with its unit.
    pub what: &'static str,
    /// The lines, each in order of time.
    pub series: Vec<Series<ChangeAt>>,
    /// What the legend calls the marked times.
    pub marked_as: &'static str,
    /// The marked times, which are shaded.
    pub marked: Vec<Range<UnixTime>>,
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The most marks that an axis of dates has room for.
const MOST_DATES: i64 = 7;

/// The marks of an axis of time: midnights in this machine's time zone, with their dates, or
/// moments with the time of day where the axis is shorter than two days.
fn dates(first: UnixTime, last: UnixTime, zone: &TimeZone) -> Vec<(f64, String)> {
    let span = (last - first).0;
    let zoned = |seconds: i64| Timestamp::from_second(seconds).ok().map(|at| at.to_zoned(zone.clone()));
    if span < 2 * DAY {
        let step = (span / (MOST_DATES - 1)).max(1);
        let moments = (0..MOST_DATES).map(|number| first.0 + number * step).take_while(|at| *at <= last.0);
        return moments.filter_map(|at| Some((at as f64, zoned(at)?.strftime("%H:%M").to_string()))).collect();
    }
    let days = span / DAY + 1;
    let step = [1, 2, 7, 14, 28, 56].into_iter().find(|step| days / step <= MOST_DATES).unwrap_or(days / MOST_DATES);
    let begin = zoned(first.0).and_then(|at| at.start_of_day().ok());
    let midnights = (0..).map_while(|number: i64| begin.as_ref()?.checked_add((number * step).days()).ok());
    midnights
        .map(|midnight| (midnight.timestamp().as_second(), midnight.strftime("%b %-d").to_string()))
        .take_while(|(at, _)| *at <= last.0)
        .filter(|(at, _)| *at >= first.0)
        .map(|(at, name)| (at as f64, name))
        .collect()
}

/// Draws the diagram. A vertical line at each point reaches over its range.
///
/// # Errors
///
/// The diagram can't be drawn.
pub fn changes_over_time(area: &Area<'_>, diagram: &ChangesOverTime) -> anyhow::Result<()> {
    let points = || diagram.series.iter().flat_map(|series| series.points.iter());
    let within = |value: f64| value.clamp(-MOST, MOST);
    let (least, most) = points()
        .flat_map(|point| [point.change, point.range[0], point.range[1]])
        .filter(|value| value.is_finite())
        .map(within)
        .fold((0.0, 0.0), |(least, most): (f64, f64), value| (least.min(value), most.max(value)));
    let (values, y) = around_zero(least, most);
    let times = || points().map(|point| point.at).chain(diagram.marked.iter().flat_map(|marked| [marked.start, marked.end]));
    let first = times().min().unwrap_or(UnixTime(0));
    // An axis has a length, even where there is one point.
    let last = times().max().unwrap_or(first).max(UnixTime(first.0 + 60));
    let along = |at: UnixTime| at.0 as f64;
    let x = Axis::linear(along(first)..along(last), dates(first, last, &TimeZone::system()));
    let mut chart = framed(area, &diagram.title, (x, "time of the replay"), (y, diagram.what), Lines::FromY)?;
    if !diagram.marked.is_empty() {
        let shade = GRID.filled();
        let shades = diagram.marked.iter().map(|marked| [(along(marked.start), values.start), (along(marked.end), values.end)]);
        chart
            .draw_series(shades.map(|corners| Rectangle::new(corners, shade)))?
            .label(diagram.marked_as)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 22, y + 5)], shade));
    }
    chart.draw_series([PathElement::new([(along(first), 0.0), (along(last), 0.0)], BLACK.stroke_width(1))])?;
    for (place, series) in diagram.series.iter().enumerate() {
        let (style, marker) = (series.style(place), series.marker());
        let whole = || series.points.iter().filter(|point| point.change.is_finite());
        named_line(&mut chart, &series.name, style, whole().map(|point| (along(point.at), within(point.change))))?;
        let range = |point: &ChangeAt| point.range.map(|end| (along(point.at), within(end)));
        chart.draw_series(whole().map(|point| PathElement::new(range(point), style.stroke_width(1))))?;
        chart.draw_series(whole().map(|point| Circle::new((along(point.at), within(point.change)), marker, style.filled())))?;
    }
    legend(&mut chart)
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    /// 2026-11-01, 00:00:00 UTC.
    const FIRST: i64 = 1_793_491_200;

    fn point(day: i64, change: f64) -> ChangeAt {
        ChangeAt { at: UnixTime(FIRST + day * DAY), change, range: [change - 1.0, change + 1.0] }
    }

    fn diagram(points: Vec<ChangeAt>, marked: Vec<Range<UnixTime>>) -> String {
        let series = vec![Series { name: "who use it".to_owned(), points, is_ours: true }];
        let diagram = ChangesOverTime { title: "batch: molding".to_owned(), what: "change (%)", series, marked_as: "held back", marked };
        drawn(|area| changes_over_time(area, &diagram))
    }

    #[test]
    fn lines_and_marked_times_are_named() {
        let marked = vec![UnixTime(FIRST + 7 * DAY)..UnixTime(FIRST + 14 * DAY)];
        let svg = diagram(vec![point(0, -8.0), point(7, 12.0), point(21, -3.0)], marked);
        for text in ["batch: molding", "change (%)", "who use it", "held back", "time of the replay", "Nov 8"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn the_legend_names_no_marked_times_where_there_are_none() {
        assert!(!diagram(vec![point(0, -8.0)], Vec::new()).contains("held back"));
    }

    #[test]
    fn days_are_marked_by_date_and_hours_by_the_time_of_day() {
        let named = |seconds: i64| {
            let marks = dates(UnixTime(FIRST), UnixTime(FIRST + seconds), &TimeZone::UTC);
            marks.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(named(3 * DAY), ["Nov 1", "Nov 2", "Nov 3", "Nov 4"]);
        assert_eq!(named(28 * DAY), ["Nov 1", "Nov 8", "Nov 15", "Nov 22", "Nov 29"]);
        assert_eq!(named(3_600), ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"]);
    }

    #[test]
    fn one_point_and_one_beyond_the_axis_are_drawn() {
        assert!(diagram(vec![point(0, 0.0)], Vec::new()).contains("<circle"));
        assert!(diagram(vec![point(0, 900.0), point(1, f64::NAN)], Vec::new()).contains("<circle"));
    }
}
