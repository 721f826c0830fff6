//! The pictures of a simulation.

use std::path::Path;

use command_parts::duration;
use command_parts::plot::{self, DIAGRAM, ErrorsByClass, Gantt, GanttJob, OverTime, Values};
use job_types::time::{Seconds, UnixTime};
use simulator::engine::{Job, Record};
use simulator::metrics::{self, Class, Series};
use simulator::output::allocate;

use super::block::LONGEST_LOG;
use super::report::Report;

const HOUR_S: f64 = 3_600.0;
const DAY_S: f64 = 86_400.0;

/// Points of a line over time.
const BINS: usize = 400;

/// Length of the Gantt chart's window where none is asked for.
const WINDOW: Seconds = Seconds(86_400);

/// A window of time, since the first submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    from: Seconds,
    to: Seconds,
}

/// Reads a window: two numbers of hours since the first submission, as in `24-48`.
pub(super) fn window(text: &str) -> Result<Window, String> {
    let parsed = duration::range(text).filter(|(_, to)| *to < LONGEST_LOG);
    let refused = || "a window is two durations since the first submission, as in 24h-2d".to_owned();
    parsed.map(|(from, to)| Window { from, to }).ok_or_else(refused)
}

/// Draws utilisation and queue over time, waits by size, the distribution of the slowdown, and who
/// had which processors in a window.
///
/// # Errors
///
/// The file can't be written.
pub(super) fn draw(path: &Path, report: &Report, jobs: &[Job], records: &[Record], asked: Option<Window>) -> anyhow::Result<()> {
    let series = metrics::series(records);
    let begin = series.at.first().copied().unwrap_or_default();
    let end = series.at.last().copied().unwrap_or(begin);
    let window = asked.unwrap_or_else(|| busiest(&series));
    let (width, height) = DIAGRAM;
    let gantt = gantt(report, jobs, records, begin, window);
    plot::write(path, (width * 2, height * 3), |area| {
        let (figures, below) = area.split_vertically(height * 2);
        let [used, queue, by_size, slowdown] =
            figures.split_evenly((2, 2)).try_into().map_err(|_| anyhow::anyhow!("cannot divide the picture"))?;
        let binned = |values: &[u64], scale: f64| bins(&series.at, values, begin, end, scale);
        let percent = 100.0 / f64::from(report.processors.max(1));
        let over_time = |title: &str, what, points, top, colour| {
            let time = "days since the first submission";
            OverTime { title: title.to_owned(), what, points, time, top, colour }
        };
        let used_points = binned(&series.used_processors, percent);
        plot::over_time(
            &used,
            &over_time(&format!("Utilisation, {}", report.scheduler), "processors in use (%)", used_points, Some(100.0), 5),
        )?;
        let waiting = binned(&series.waiting_jobs, 1.0);
        plot::over_time(&queue, &over_time("Queue", "jobs waiting", waiting, None, 4))?;
        plot::errors_by_class(&by_size, &waits(&report.by_size))?;
        let values = records.iter().map(metrics::bounded_slowdown).collect();
        let what = "bounded slowdown (run times under 10 s count as 10 s)";
        plot::distribution(&slowdown, &Values { title: "Slowdown".to_owned(), what, values })?;
        plot::gantt(&below, &gantt)
    })
}

/// Means over even bins of time; each value holds from its moment to the next.
fn bins(at: &[UnixTime], values: &[u64], begin: UnixTime, end: UnixTime, scale: f64) -> Vec<(f64, f64)> {
    let width = ((end - begin).0 as f64 / BINS as f64).max(1.0);
    let mut sums = vec![0.0; BINS];
    for (place, (&from, &value)) in at.iter().zip(values).enumerate() {
        let to = at.get(place + 1).copied().unwrap_or(from);
        let (mut from, to) = ((from - begin).0 as f64, (to - begin).0 as f64);
        while from < to {
            let bin = ((from / width) as usize).min(BINS - 1);
            let until = if bin + 1 == BINS { to } else { to.min((bin + 1) as f64 * width) };
            sums[bin] += (until - from) * value as f64;
            // Rounding must not keep the walk where it is.
            from = if until > from { until } else { to };
        }
    }
    sums.into_iter().enumerate().map(|(bin, sum)| (bin as f64 * width / DAY_S, sum / width * scale)).collect()
}

fn waits(classes: &[Class]) -> ErrorsByClass {
    // What is below a minute is drawn at a minute: the axis is logarithmic.
    let line = |name: &str, is_ours, figure: fn(&Class) -> f64| plot::Series {
        name: name.to_owned(),
        points: classes.iter().enumerate().map(|(place, class)| (place, (figure(class) / 60.0).max(1.0))).collect(),
        is_ours,
    };
    ErrorsByClass {
        title: "Wait by job size".to_owned(),
        what: "processors",
        classes: classes.iter().map(|class| class.name.clone()).collect(),
        errors: "wait (min; below 1 drawn at 1)",
        series: vec![
            line("95 % wait at most", false, |class| class.wait_s.p95),
            line("mean", true, |class| class.wait_s.mean),
            line("half wait at most", false, |class| class.wait_s.median),
        ],
    }
}

/// The window around the moment at which most processors are waited for.
fn busiest(series: &Series) -> Window {
    let most = series.waiting_processors.iter().zip(&series.at).max_by_key(|(waiting, _)| **waiting);
    let begin = series.at.first().copied().unwrap_or_default();
    let at = most.map_or(Seconds::ZERO, |(_, &at)| at - begin);
    let from = (at - Seconds(WINDOW.0 / 2)).max(Seconds::ZERO);
    Window { from, to: from + WINDOW }
}

fn gantt(report: &Report, jobs: &[Job], records: &[Record], begin: UnixTime, window: Window) -> Gantt {
    let hours = |since: Seconds| since.0 as f64 / HOUR_S;
    let allocations = allocate(records, report.processors);
    let shown = jobs.iter().zip(records).zip(allocations);
    let shown = shown.filter(|((_, record), _)| record.start - begin < window.to && window.from < record.end - begin);
    let jobs = shown.map(|((job, record), allocation)| GanttJob {
        hours: (hours(record.start - begin), hours(record.end - begin)),
        processors: allocation.0,
        user: job.user,
    });
    Gantt {
        title: format!("Jobs on the machine from hour {:.0} to {:.0}, coloured by user", hours(window.from), hours(window.to)),
        time: "hours since the first submission",
        hours: (hours(window.from), hours(window.to)),
        processors: report.processors,
        jobs: jobs.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_holds_the_mean_of_its_time() {
        let found = bins(&[0, 200, 400].map(UnixTime), &[4, 2, 0], UnixTime(0), UnixTime(400), 1.0);
        assert_eq!(found.len(), BINS);
        assert_eq!((found[0].1, found[199].1, found[200].1, found[399].1), (4.0, 4.0, 2.0, 2.0));
    }

    #[test]
    fn a_window_is_two_durations_in_order() {
        assert_eq!(window("1h-2h30m"), Ok(Window { from: Seconds(3_600), to: Seconds(9_000) }));
        for wrong in ["", "5", "5-2", "a-b", "0-inf"] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
    }
}
