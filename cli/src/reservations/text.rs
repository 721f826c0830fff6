//! The report for people.

use job_types::time::{Seconds, UnixTime};

use super::state::State;
use super::{Report, ReservationReport};
use crate::output::{BAD, GOOD, Lines, count, moment, table};

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    for note in &report.notes {
        lines.line("note", note);
    }
    let shown = report.reservations.len();
    let asked = if report.is_filtered { " of those asked for" } else { "" };
    lines.plain(match shown {
        0 => format!("no reservations{asked}"),
        1 => format!("1 reservation{asked}"),
        shown => format!("{} reservations{asked}", count(shown as u64)),
    });
    if shown == 0 {
        return lines.text();
    }
    let header = ["job", "user", "partition", "nodes", "reserved for", "in", "state", "eligible", "limit", "own limit", "promised", "now"];
    let mut rows = table(&header, &["job", "nodes", "promised", "now"]);
    for reservation in &report.reservations {
        rows.add_row(row(reservation, report.now));
    }
    lines.plain("");
    lines.table(&rows);
    lines.text()
}

fn row(reservation: &ReservationReport, now: UnixTime) -> [String; 12] {
    let reserved = UnixTime(reservation.reserved_at);
    let limit = |seconds: Option<i64>| seconds.map_or_else(String::new, |seconds| Seconds(seconds).to_string());
    let probability = |probability: Option<f64>| probability.map_or_else(String::new, |probability| format!("{probability:.2}"));
    let ahead = reserved - now;
    // Once it is certain how it went, that stands in the place of the forecast.
    let present = match reservation.kept {
        Some(true) => format!("{GOOD}kept{GOOD:#}"),
        Some(false) => format!("{BAD}missed{BAD:#}"),
        None => probability(reservation.forecast),
    };
    let state = match (reservation.state, reservation.expected_start) {
        (State::Waiting | State::Missed, Some(expected)) if expected > now.0 => {
            format!("{}, start expected in {}", reservation.state.word(), UnixTime(expected) - now)
        }
        (state, _) => state.word().to_owned(),
    };
    [
        reservation.job_id.to_string(),
        reservation.user_name.clone().unwrap_or_else(|| reservation.user.to_string()),
        reservation.partition.clone(),
        count(reservation.nodes.into()),
        moment(reserved),
        if ahead > Seconds::ZERO { ahead.to_string() } else { format!("{} ago", now - reserved) },
        state,
        reservation.begin.map_or_else(String::new, |begin| moment(UnixTime(begin))),
        limit(reservation.limit_s),
        limit(reservation.own_limit_s),
        probability(reservation.promised),
        present,
    ]
}
