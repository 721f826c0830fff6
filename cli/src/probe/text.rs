//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, duration, moment, moment_and_distance, node_hours, table};
use daemon_api::Slot;
use job_types::time::{Seconds, UnixTime};

use super::Report;
use crate::described::line_of;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let answer = &report.answer;
    let mut lines = Lines::default();
    lines.line("job", line_of(&report.job));
    let (earliest, latest) = (UnixTime(answer.request.earliest), UnixTime(answer.request.latest));
    lines.line("window", format!("{} to {}", moment(earliest), moment(latest)));
    match answer.ordinary_start {
        Some(start) => {
            let (lower, upper) = (moment(UnixTime(start.lower)), moment(UnixTime(start.upper)));
            let expected = moment_and_distance(UnixTime(start.expected), report.now);
            lines.line("without a slot", format!("starts about {expected} ({lower} to {upper})"));
        }
        None => lines.line("without a slot", "when it would start is not known"),
    }
    let age = (report.now - UnixTime(answer.planned_at)).max(Seconds::ZERO);
    lines.line("planned from", format!("snapshot {} of cluster {}, the queue {age} ago", answer.generation, report.cluster));
    for note in &answer.notes {
        lines.line("note", note);
    }
    lines.heading("Slots");
    match answer.chosen() {
        Some(best) => {
            lines.line("best", format!("{GOOD}{}{GOOD:#}: {}", moment(UnixTime(best.start)), harm(best)));
            // If none is allowed, the reason is mostly the same for all.
            if let Some(why) = &best.why_not {
                lines.line("not allowed", why);
            }
        }
        None => lines.line("best", format!("{BAD}none is to be had in this window{BAD:#}")),
    }
    lines.plain("");
    lines.table(&slots(report));
    lines.text()
}

/// What a slot does to others, in words.
pub(super) fn harm(slot: &Slot) -> String {
    let most = || Seconds(slot.most_delay_s.unwrap_or_default());
    match slot.delayed_jobs {
        None | Some(0) => "nobody is delayed".to_owned(),
        Some(1) => format!("one job is delayed, by {}", most()),
        Some(jobs) => format!("{jobs} jobs are delayed, the most by {}", most()),
    }
}

fn slots(report: &Report) -> comfy_table::Table {
    let header = ["", "start", "in", "availability", "delayed", "together", "most", "idle", "charged", ""];
    let mut rows = table(&header, &["availability", "delayed", "together", "most", "idle", "charged"]);
    let said_above = report.answer.chosen().and_then(|best| best.why_not.as_ref());
    for (place, slot) in report.answer.slots.iter().enumerate() {
        rows.add_row(row(slot, report.answer.best == Some(place), said_above, report.now));
    }
    rows
}

fn row(slot: &Slot, is_best: bool, said_above: Option<&String>, now: UnixTime) -> Vec<String> {
    let best = if is_best { "best" } else { "" };
    let why_not = slot.why_not.as_ref().filter(|why| Some(*why) != said_above).cloned().unwrap_or_default();
    [best.to_owned()].into_iter().chain(cells(slot, now)).chain([why_not]).collect()
}

/// What a row says of a slot, but for the reason why it is not to be had.
pub(super) fn cells(slot: &Slot, now: UnixTime) -> [String; 8] {
    let length = |seconds: Option<i64>| seconds.map(|seconds| duration(Seconds(seconds))).unwrap_or_default();
    let hours = |node_seconds: i64| node_hours(node_seconds as f64 / 3_600.0);
    let start = UnixTime(slot.start);
    [
        moment(start),
        duration((start - now).max(Seconds::ZERO)),
        format!("{:.3}", slot.availability),
        slot.delayed_jobs.map(|jobs| jobs.to_string()).unwrap_or_default(),
        length(slot.total_delay_s),
        length(slot.most_delay_s),
        slot.idle_node_s.map(hours).unwrap_or_default(),
        hours(slot.charged_node_s),
    ]
}
