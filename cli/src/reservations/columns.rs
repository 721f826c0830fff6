//! The columns of the reservations: squeue's, where squeue has them.

use command_parts::output::{BAD, GOOD, count, duration, moment};
use job_types::time::{Seconds, UnixTime};

use super::ReservationReport;
use super::state::State;
use crate::columns::{Column, Key};

/// The columns without a wish.
pub(super) const DEFAULT: &str =
    "jobid,username,partition,numnodes,reservedat,reservedin,state,eligibletime,timelimit,ownlimit,promised,forecast";

/// All columns.
pub(super) static COLUMNS: [Column<ReservationReport>; 13] = [
    column("jobid", Some('i'), "JOBID", true, |job, _| job.job_id.to_string(), |job| Key::Number(job.job_id.0.into())),
    column("username", Some('u'), "USER", false, |job, _| user(job), |job| Key::named(Some(&user(job)))),
    column(
        "account",
        Some('a'),
        "ACCOUNT",
        false,
        |job, _| job.account.clone().unwrap_or_default(),
        |job| Key::named(job.account.as_deref()),
    ),
    column("partition", Some('P'), "PARTITION", false, |job, _| job.partition.clone(), |job| Key::named(Some(&job.partition))),
    column("numnodes", Some('D'), "NODES", true, |job, _| count(job.nodes.into()), |job| Key::Number(job.nodes.into())),
    column("reservedat", Some('S'), "RESERVED_AT", false, |job, _| moment(UnixTime(job.reserved_at)), |job| Key::Number(job.reserved_at)),
    column("reservedin", None, "RESERVED_IN", true, reserved_in, |job| Key::Number(job.reserved_at)),
    column("state", Some('t'), "STATE", false, state, |job| Key::named(Some(job.state.word()))),
    column("eligibletime", None, "ELIGIBLE_TIME", false, |job, _| at(job.begin), |job| Key::of(job.begin)),
    column("timelimit", Some('l'), "TIME_LIMIT", true, |job, _| limit(job.limit_s), |job| Key::of(job.limit_s)),
    column("ownlimit", None, "OWN_LIMIT", true, |job, _| limit(job.own_limit_s), |job| Key::of(job.own_limit_s)),
    column("promised", None, "PROMISED", true, |job, _| probability(job.promised), |job| part(job.promised)),
    column("forecast", None, "NOW", true, present, |job| part(job.forecast)),
];

const fn column(
    name: &'static str,
    letter: Option<char>,
    header: &'static str,
    right: bool,
    cell: fn(&ReservationReport, UnixTime) -> String,
    key: fn(&ReservationReport) -> Key,
) -> Column<ReservationReport> {
    Column { name, letter, header, right, cell, key }
}

fn user(job: &ReservationReport) -> String {
    job.user_name.clone().unwrap_or_else(|| job.user.to_string())
}

fn at(seconds: Option<i64>) -> String {
    seconds.map_or_else(|| "N/A".to_owned(), |seconds| moment(UnixTime(seconds)))
}

fn limit(seconds: Option<i64>) -> String {
    seconds.map_or_else(String::new, |seconds| duration(Seconds(seconds)))
}

fn probability(probability: Option<f64>) -> String {
    probability.map_or_else(String::new, |probability| format!("{probability:.2}"))
}

fn part(probability: Option<f64>) -> Key {
    probability.map_or(Key::Unknown, Key::Part)
}

fn reserved_in(job: &ReservationReport, now: UnixTime) -> String {
    let ahead = UnixTime(job.reserved_at) - now;
    if ahead > Seconds::ZERO { duration(ahead) } else { format!("{} ago", duration(now - UnixTime(job.reserved_at))) }
}

fn state(job: &ReservationReport, now: UnixTime) -> String {
    match (job.state, job.expected_start) {
        (State::Waiting | State::Missed, Some(expected)) if expected > now.0 => {
            format!("{}, start expected in {}", job.state.word(), duration(UnixTime(expected) - now))
        }
        (state, _) => state.word().to_owned(),
    }
}

/// How likely it is to be kept by now. Once it is certain how it went, that stands there.
fn present(job: &ReservationReport, _now: UnixTime) -> String {
    match job.kept {
        Some(true) => format!("{GOOD}kept{GOOD:#}"),
        Some(false) => format!("{BAD}missed{BAD:#}"),
        None => probability(job.forecast),
    }
}
