//! The pictures of the report.

use command_parts::plot::{self, AT_OR_BELOW, Change, Changes, DIAGRAM, ErrorsByClass, Reliability, Series};
use simulator::assessment::{Forecasts, Molding, Past, Schedulers};
use simulator::evaluation::WaitReport;

use super::document::{Picture, size_name, who_uses_it};
use research::evaluate::{class_name, methods};

const HOUR_S: f64 = 3_600.0;

/// Mean, median and long waits by size.
pub(super) fn waits_by_size(past: &Past) -> anyhow::Result<Picture> {
    let classes = &past.by_size;
    let series = |name: &str, is_ours: bool, of: fn(&simulator::metrics::Distribution) -> f64| Series {
        name: name.to_owned(),
        points: classes.iter().enumerate().filter_map(|(place, class)| Some((place, of(class.wait_s.as_ref()?) / HOUR_S))).collect(),
        is_ours,
    };
    let diagram = ErrorsByClass {
        title: "Waits by size".to_owned(),
        what: "processors asked for",
        classes: classes.iter().map(|class| size_name(class.at_least_processors.unwrap_or(1), class.at_most_processors)).collect(),
        errors: "wait (hours)",
        series: vec![
            series("95 % wait at most", false, |wait| wait.p95),
            series("half wait at most", false, |wait| wait.median),
            series("mean", true, |wait| wait.mean),
        ],
    };
    let caption = "How long jobs waited, by the processors that they asked for.";
    // If nobody waited, there is nothing to draw on a logarithmic axis.
    if past.all.wait_s.as_ref().is_none_or(|wait| wait.maximum <= 0.0) {
        return Ok(Picture { svg: plot::inline((DIAGRAM.0, 40), |_| Ok(()))?, caption: "Nobody waited.".to_owned() });
    }
    Ok(Picture { svg: plot::inline(DIAGRAM, |area| plot::errors_by_class(area, &diagram))?, caption: caption.to_owned() })
}

/// How often bounds on waits and run times held.
pub(super) fn reliability(found: &Forecasts) -> anyhow::Result<Picture> {
    let series = |name: &str, points: &[[f64; 2]], is_ours: bool| Series { name: name.to_owned(), points: points.to_vec(), is_ours };
    let diagram = Reliability {
        title: "How often bounds held".to_owned(),
        observed: AT_OR_BELOW,
        series: vec![series("run times", &found.run_times.reliability, false), series("waits", &found.waits.reliability, true)],
    };
    let caption =
        "Bounds of each probability, and the part of the jobs that they held for: on the dashed line they hold as often as they should.";
    Ok(Picture { svg: plot::inline(DIAGRAM, |area| plot::reliability(area, &diagram))?, caption: caption.to_owned() })
}

/// How far forecasts of short and of long waits were off.
pub(super) fn errors_by_wait(waits: &WaitReport) -> anyhow::Result<Picture> {
    let classes = &waits.by_wait;
    let mut series = methods::series(classes.iter().map(|class| (class.jobs, &class.aae_hours)));
    series.retain(|series| ["k nearest", "QBETS", "predict 0", "queuecast", "in force"].contains(&series.name.as_str()));
    let diagram = ErrorsByClass {
        title: "Error by class of wait".to_owned(),
        what: "wait",
        classes: classes.iter().map(|class| class_name(class.at_least_s, class.below_s)).collect(),
        errors: "mean absolute error (hours)",
        series,
    };
    let has_errors = diagram.series.iter().flat_map(|series| &series.points).any(|(_, error)| *error > 0.0);
    if !has_errors {
        return Ok(Picture { svg: plot::inline((DIAGRAM.0, 40), |_| Ok(()))?, caption: "No forecast was off.".to_owned() });
    }
    let caption = "How far forecasts were off, by how long jobs waited in fact. Few jobs wait for the longest times, and they carry much of the mean error.";
    Ok(Picture { svg: plot::inline(DIAGRAM, |area| plot::errors_by_class(area, &diagram))?, caption: caption.to_owned() })
}

/// How responses change by who uses molding.
pub(super) fn molding(found: &Molding) -> anyhow::Result<Picture> {
    let mut rows = Vec::new();
    let adoptions =
        found.by_scheduler.iter().flat_map(|molded| molded.adoptions.iter().rev().map(move |adoption| (molded.under, adoption)));
    for (under, adoption) in adoptions {
        let who = format!("{}, {}", under.how(), who_uses_it(adoption));
        let of = |from_to: fn(&simulator::experiment::Comparison) -> (f64, f64)| -> Vec<f64> {
            let change = |(from, to): (f64, f64)| if from > 0.0 { 100.0 * (to / from - 1.0) } else { 0.0 };
            adoption.draws.iter().map(from_to).map(change).collect()
        };
        let all = of(|draw| (draw.baseline.mean_response_s, draw.ours.mean_response_s));
        rows.push(Change { name: format!("{who}: all jobs"), values: all, is_ours: true });
        if adoption.others_change().is_some() {
            let users = of(|draw| (draw.adopters.baseline_response_s, draw.adopters.response_s));
            let others = of(|draw| (draw.others.baseline_response_s, draw.others.response_s));
            rows.push(Change { name: format!("{who}: their jobs"), values: users, is_ours: false });
            rows.push(Change { name: format!("{who}: the jobs of the others"), values: others, is_ours: false });
        }
    }
    let diagram =
        Changes { title: "Mean response with molding".to_owned(), what: "change of the mean response (%)", within_chance: 0.0, rows };
    let caption =
        "Change of the mean time from submission to end, a dot for each draw of speed-ups: to the left sooner, to the right later.";
    changes(&diagram, caption)
}

/// How responses change by scheduler and setting.
pub(super) fn schedulers(found: &Schedulers) -> anyhow::Result<Picture> {
    let own_s = found.schedules.first().map_or(1.0, |first| first.response_s.mean).max(1.0);
    let rows = found.schedules.iter().skip(1).map(|schedule| Change {
        name: schedule.name.clone(),
        values: vec![100.0 * (schedule.response_s.mean / own_s - 1.0)],
        is_ours: false,
    });
    let base = if found.is_site_known { "the site's own settings" } else { "Slurm's defaults" };
    let diagram = Changes {
        title: format!("Mean response, against {base}"),
        what: "change of the mean response (%)",
        within_chance: 100.0 * found.chance,
        rows: rows.collect(),
    };
    changes(
        &diagram,
        "Change of the mean time from submission to end: to the left sooner, to the right later. What lies in the grey band may be chance.",
    )
}

fn changes(diagram: &Changes, caption: &str) -> anyhow::Result<Picture> {
    let height = 130 + 40 * diagram.rows.len().max(1) as u32;
    Ok(Picture { svg: plot::inline((DIAGRAM.0, height), |area| plot::changes(area, diagram))?, caption: caption.to_owned() })
}
