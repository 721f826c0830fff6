//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, moment, moment_and_distance, table};
use job_types::time::UnixTime;

use super::Report;
use crate::probe::text::{cells, harm};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    let (earliest, latest) = (UnixTime(report.window.earliest), UnixTime(report.window.latest));
    lines.line("window", format!("{} to {}", moment(earliest), moment(latest)));
    for cluster in &report.clusters {
        let Some(request) = &cluster.request else { continue };
        let place = format!("{}, in {}", cluster.cluster, request.partition.as_deref().unwrap_or_default());
        let ordinary = cluster.ordinary_start.map_or_else(
            || "when it would start without a slot is not known".to_owned(),
            |start| format!("without a slot it starts about {}", moment_and_distance(UnixTime(start.expected), report.now)),
        );
        lines.line("cluster", format!("{place}: {ordinary}"));
    }
    for note in &report.notes {
        lines.line("note", note);
    }
    lines.heading("Slots");
    match report.best.and_then(|best| report.slots.get(best)) {
        Some(best) => {
            let start = moment(UnixTime(best.slot.start));
            lines.line("best", format!("{GOOD}{start}{GOOD:#} on {}: {}", best.cluster, harm(&best.slot)));
        }
        None => lines.line("best", format!("{BAD}none is to be had in this window{BAD:#}")),
    }
    lines.plain("");
    lines.table(&slots(report));
    lines.text()
}

fn slots(report: &Report) -> comfy_table::Table {
    let header = ["", "cluster", "start", "in", "availability", "delayed", "together", "most", "idle", "charged", ""];
    let mut rows = table(&header, &["availability", "delayed", "together", "most", "idle", "charged"]);
    for (place, of_cluster) in report.slots.iter().enumerate() {
        let best = if report.best == Some(place) { "best" } else { "" };
        let why_not = of_cluster.slot.why_not.clone().unwrap_or_default();
        let before = [best.to_owned(), of_cluster.cluster.clone()];
        rows.add_row(before.into_iter().chain(cells(&of_cluster.slot, report.now)).chain([why_not]));
    }
    rows
}
