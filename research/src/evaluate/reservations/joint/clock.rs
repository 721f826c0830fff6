//! Two logs on one clock, so that weekdays and hours agree.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use job_types::time::{Seconds, UnixTime};
use simulator::engine::Job;
use simulator::swf::Header;
use simulator::workload::Workload;

const WEEK: i64 = 7 * 86_400;

/// The jobs of two logs on one clock, on which no job was submitted before 0.
pub(super) struct Aligned {
    pub(super) first: Vec<Job>,
    pub(super) second: Vec<Job>,
}

impl Aligned {
    /// Lays the jobs `from` of both logs, counted from 1, as near to each other as they come where
    /// weekdays and hours agree, and the second log then so many weeks later. What the header says
    /// of the time zone counts as it was when the log began; without a word of it a log is one in
    /// UTC that began at the epoch.
    pub(super) fn new(first: &Workload, second: &Workload, from: usize, weeks_later: i32) -> Self {
        let at = |workload: &Workload| workload.jobs.get(from.saturating_sub(1)).map_or(0, |job| job.submit.0);
        // The second log's clock is behind the first by what its week is ahead.
        let ahead = into_week(&second.header) - into_week(&first.header);
        let apart = at(first) - at(second) - ahead;
        let weeks = (apart + WEEK / 2).div_euclid(WEEK) + i64::from(weeks_later);
        let shift = weeks * WEEK + ahead;
        let earliest = |workload: &Workload| workload.jobs.first().map_or(0, |job| job.submit.0);
        let soonest = earliest(first).min(earliest(second) + shift).min(0);
        let base = (-soonest).div_euclid(WEEK) * WEEK + if soonest.rem_euclid(WEEK) == 0 { 0 } else { WEEK };
        Self { first: later(&first.jobs, base), second: later(&second.jobs, base + shift) }
    }
}

fn later(jobs: &[Job], by: i64) -> Vec<Job> {
    jobs.iter().map(|job| Job { submit: job.submit + Seconds(by), ..*job }).collect()
}

/// How far into the week the submit time 0 of a log is where its machine is, in seconds.
fn into_week(header: &Header) -> i64 {
    let start = UnixTime(header.unix_start_time().unwrap_or(0));
    let word = |key: &str| header.values(key).find_map(|value| value.split_whitespace().next().map(str::to_owned));
    let named = || {
        let zone = TimeZone::get(&word("TimeZoneString")?).ok()?;
        Some(i64::from(zone.to_offset(Timestamp::from_second(start.0).ok()?).seconds()))
    };
    let offset = named().or_else(|| word("TimeZone")?.parse().ok()).unwrap_or(0);
    (start.0 + offset).rem_euclid(WEEK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(start: &str, zone: &str, submits: &[i64]) -> Workload {
        let mut header = Header::new();
        header.push("UnixStartTime", start);
        header.push("TimeZone", zone);
        let jobs = submits.iter().map(|submit| Job { submit: UnixTime(*submit), ..Job::default() }).collect();
        Workload { header, jobs, processors: 64, left_out: 0, larger_than_machine: 0 }
    }

    #[test]
    fn weekdays_and_hours_of_two_machines_agree() {
        // The first begins on a Thursday at 0:00 in UTC, the second on a Friday at 3:00 local time.
        let first = workload("0", "0", &[0, 10 * WEEK]);
        let second = workload(&(86_400 + 2 * 3_600).to_string(), "3600", &[0, 3 * WEEK]);
        let aligned = Aligned::new(&first, &second, 2, 0);
        let (one, other) = (aligned.first[1].submit.0, aligned.second[1].submit.0);
        assert_eq!((other - one).rem_euclid(WEEK), 86_400 + 3 * 3_600);
        assert!((other - one).abs() <= WEEK / 2, "{one} {other}");
        assert!(aligned.first[0].submit.0 >= 0 && aligned.second[0].submit.0 >= 0);
        assert_eq!(aligned.first[1].submit.0 % WEEK, 0, "times that are asked for stay where they are");
        let later = Aligned::new(&first, &second, 2, 3);
        assert_eq!((later.second[1].submit - later.first[1].submit).0 - (other - one), 3 * WEEK);
    }

    #[test]
    fn a_log_beside_itself_is_where_it_is() {
        let log = workload("893466664", "-28800", &[5, 600]);
        let aligned = Aligned::new(&log, &log, 2, 0);
        assert_eq!((&aligned.first, &aligned.second), (&log.jobs, &log.jobs));
        assert!(Aligned::new(&log, &log, 2, -1).second[0].submit.0 >= 0);
    }
}
