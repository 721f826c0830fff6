//! How long a job that is on its nodes early waits there.

use jiff::tz::TimeZone;
use slurm_conf::time_format::TimeFormat;

/// Longest wait in seconds, 366 days: whoever asks for more made a mistake.
const LONGEST_WAIT_SECONDS: i64 = 366 * 86_400;

/// What to do before the job's own work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The script begins at once.
    Nothing,
    /// Begin at once, and say why although something was asked for.
    Ignored(&'static str),
    /// Wait until then, in Unix seconds.
    Until(i64),
}

/// Decides from the value of the hold variable, the time, and the end of the job's allocation;
/// times in Unix seconds.
///
/// A wait that would use up the whole allocation is none: the job would end before it did anything.
pub(crate) fn decide(value: &str, now: i64, job_end: Option<i64>) -> Hold {
    if value.is_empty() {
        return Hold::Nothing;
    }
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Hold::Ignored("the time to wait for is not in Unix seconds");
    }
    match value.parse::<i64>() {
        Ok(until) if until <= now => Hold::Nothing,
        Ok(until) if until.saturating_sub(now) <= LONGEST_WAIT_SECONDS => match job_end {
            Some(end) if until >= end => Hold::Ignored("the time to wait for is not before the job's time limit"),
            _ => Hold::Until(until),
        },
        _ => Hold::Ignored("the time to wait for is more than 366 days ahead"),
    }
}

/// What the job's standard error says while the job waits.
pub(crate) fn announcement(until: i64, zone: &TimeZone) -> String {
    let local = TimeFormat::Standard.show(until, until, zone);
    format!("queuecast: nodes are here; waiting until {local} for the reserved time")
}
