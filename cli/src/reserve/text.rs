//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, duration, moment, moment_and_distance, node_hours, table};
use job_types::options::SuccessProbability;
use job_types::time::{Seconds, UnixTime};

use super::Report;
use super::offer::{Given, Offer};
use crate::described::given::OptionReport;
use crate::described::{line_of, trajectory};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    lines.line("job", line_of(&report.job));
    if let Some(read) = OptionReport::text(&report.sbatch_options) {
        lines.line("read", read);
    }
    lines.line("nodes wanted", format!("{}, {}", moment_and_distance(report.at, report.now), probability(report.asked)));
    let age = Seconds(report.snapshot_age_s);
    lines.line("forecast from", format!("snapshot {} of cluster {}, {age} old", report.generation, report.cluster));
    for note in &report.notes {
        lines.line("note", note);
    }
    lines.heading("Reservation");
    match (&report.reservation, &report.refused) {
        (Some(given), _) => reservation(&mut lines, given, report),
        (None, why) => {
            lines.plain(format!("{BAD}not to be had{BAD:#}: {}", why.as_deref().unwrap_or_default()));
            let later = report.offers.iter().find(|offer| offer.wanted == report.asked).and_then(|offer| offer.later_at);
            if let Some(later_at) = later {
                lines.plain(format!("with that probability nodes can be had at {}", moment_and_distance(UnixTime(later_at), report.now)));
            }
        }
    }
    lines.heading("What a probability costs: node-hours beyond the job itself");
    lines.table(&offers(report));
    if let Some(probabilities) = &report.trajectory {
        let chosen = report.reservation.map(|given| (UnixTime(given.begin), Some(Seconds(given.padded_limit_s))));
        trajectory::text(probabilities, &mut lines, report.at, chosen, report.now);
    }
    lines.text()
}

/// The probability that is wanted, in words.
pub(super) fn probability(wanted: SuccessProbability) -> String {
    match wanted {
        SuccessProbability::AtLeast(probability) => format!("with probability {probability}"),
        SuccessProbability::Best => "with the highest probability there is".to_owned(),
    }
}

fn reservation(lines: &mut Lines, given: &Given, report: &Report) {
    lines.line("probability", format!("{GOOD}{:.2}{GOOD:#}", given.probability));
    lines.line("eligible", moment_and_distance(UnixTime(given.begin), report.now));
    lines.line("time limit", format!("padded to {}", Seconds(given.padded_limit_s)));
    let (most, expected) = (node_hours(given.cost.most_node_hours), node_hours(given.cost.expected_node_hours));
    lines.line("cost", format!("at most {most} node-hours beyond the job itself, {expected} expected"));
    if let Some(options) = &report.options {
        lines.line("ask sbatch", options);
    }
}

fn offers(report: &Report) -> comfy_table::Table {
    let header = ["asked for", "kept with", "eligible", "in", "time limit", "at most", "expected", ""];
    let mut rows = table(&header, &["asked for", "kept with", "at most", "expected"]);
    for offer in &report.offers {
        rows.add_row(row(offer, report.now));
    }
    rows
}

fn row(offer: &Offer, now: UnixTime) -> [String; 8] {
    let wanted = offer.wanted.to_string();
    let Some(given) = &offer.reservation else {
        // Without a reservation, the reason stands in the place of the begin.
        let later = offer.later_at.map(|later_at| format!("; at {}", moment(UnixTime(later_at)))).unwrap_or_default();
        let why = format!("{}{later}", offer.refused.as_deref().unwrap_or_default());
        return [wanted, String::new(), String::new(), String::new(), String::new(), String::new(), String::new(), why];
    };
    let begin = UnixTime(given.begin);
    [
        wanted,
        format!("{:.2}", given.probability),
        moment(begin),
        duration((begin - now).max(Seconds::ZERO)),
        duration(Seconds(given.padded_limit_s)),
        node_hours(given.cost.most_node_hours),
        node_hours(given.cost.expected_node_hours),
        String::new(),
    ]
}
