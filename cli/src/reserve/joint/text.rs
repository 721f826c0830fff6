//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, moment, moment_and_distance, node_hours, table};
use job_types::time::{Seconds, UnixTime};

use super::{ClusterReport, Report};
use crate::described::line_of;
use crate::reserve::text::probability;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    if let Some(job) = report.clusters.iter().find_map(|cluster| cluster.job.as_ref()) {
        lines.line("job", line_of(job));
    }
    lines.line(
        "nodes wanted",
        format!("{}, on one of several clusters {}", moment_and_distance(report.at, report.now), probability(report.asked)),
    );
    for cluster in &report.clusters {
        let age = Seconds(cluster.snapshot_age_s);
        lines.line("forecast from", format!("snapshot {} of cluster {}, {age} old", cluster.generation, cluster.cluster));
        for note in &cluster.notes {
            lines.line("note", format!("{}: {note}", cluster.cluster));
        }
    }
    for note in &report.notes {
        lines.line("note", note);
    }
    lines.heading("Joint reservation");
    match &report.refused {
        None => {
            lines.line("probability", format!("{GOOD}{:.3}{GOOD:#} that one of them is kept", report.probability));
            let (most, expected) = (node_hours(report.cost.most_node_hours), node_hours(report.cost.expected_node_hours));
            lines.line("cost", format!("at most {most} node-hours beyond the job itself, {expected} expected, if none is withdrawn"));
        }
        Some(why) => lines.plain(format!("{BAD}not to be had{BAD:#}: {why}")),
    }
    lines.table(&members(report));
    if !report.given {
        return lines.text();
    }
    let submissions = report.clusters.iter().filter_map(|cluster| Some((cluster, cluster.submission.as_ref()?)));
    let mut has_tried = false;
    for (cluster, submission) in submissions {
        has_tried = true;
        lines.line(&cluster.cluster, submission.text());
        submission.said.lines().for_each(|said| lines.line("", said));
    }
    if !has_tried {
        for chosen in report.clusters.iter().filter_map(|cluster| cluster.chosen.as_ref()) {
            lines.line("ask sbatch", &chosen.options);
        }
        lines.line("", "nothing was submitted: sbatch's further arguments and the script behind -- submit the set");
    } else if report.submitted {
        lines.plain("once one of them has its nodes, the others are withdrawn");
    } else {
        lines.plain(format!("{BAD}nothing stays submitted{BAD:#}"));
    }
    lines.text()
}

fn members(report: &Report) -> comfy_table::Table {
    let header = ["cluster", "partition", "best", "asked for", "kept with", "eligible", "time limit", "at most", "expected", ""];
    let mut rows = table(&header, &["best", "asked for", "kept with", "at most", "expected"]);
    for cluster in &report.clusters {
        rows.add_row(row(cluster));
    }
    rows
}

fn row(cluster: &ClusterReport) -> [String; 10] {
    let name = cluster.cluster.clone();
    let partition = cluster.job.as_ref().map(|job| job.partition.clone()).unwrap_or_default();
    let best = cluster.best.map(|best| best.to_string()).unwrap_or_default();
    let Some(chosen) = &cluster.chosen else {
        let why = cluster.refused.clone().unwrap_or_else(|| "not needed".to_owned());
        let nothing = String::new;
        return [name, partition, best, nothing(), nothing(), nothing(), nothing(), nothing(), nothing(), why];
    };
    let given = &chosen.reservation;
    [
        name,
        partition,
        best,
        chosen.ask.to_string(),
        format!("{:.2}", given.probability),
        moment(UnixTime(given.begin)),
        Seconds(given.padded_limit_s).to_string(),
        node_hours(given.cost.most_node_hours),
        node_hours(given.cost.expected_node_hours),
        String::new(),
    ]
}
