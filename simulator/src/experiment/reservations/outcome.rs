//! What became of reservations in a replay, single and joint ones alike.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};

use crate::engine::Record;

/// A reservation that was given, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GivenReservation {
    /// The reserved time.
    at: UnixTime,
    /// The probability that was forecast for it.
    probability: f64,
    is_kept: bool,
    required_processor_hours: f64,
    used_processor_hours: f64,
}

impl GivenReservation {
    /// Builds the outcome of a reservation for a time, with the probability that was told. `ran`
    /// are the records of its jobs that started, the first of which is that of the requested
    /// program; a joint reservation has several, and any of them that keeps it does.
    pub(super) fn of<'a>(at: UnixTime, probability: f64, ran: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut given = Self { at, probability, is_kept: false, required_processor_hours: 0.0, used_processor_hours: 0.0 };
        for (place, record) in ran.into_iter().enumerate() {
            given.is_kept |= record.has_kept(at);
            let hours = |time: Seconds| f64::from(record.processors) * time.0 as f64 / 3_600.0;
            if place == 0 {
                given.required_processor_hours = hours(record.run_time());
            }
            given.used_processor_hours += hours(record.occupied());
        }
        given
    }
}

/// What became of reservations that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Reservations {
    /// The number of reservations that were asked for.
    pub requested: usize,
    /// The number of reservations that were given.
    pub accepted: usize,
    /// The number of given reservations that were kept: a job had its nodes by the reserved time.
    pub kept: usize,
    /// Mean probability that was forecast for those given.
    pub mean_predicted: Option<f64>,
    /// The part of those given that was kept.
    pub kept_part: Option<f64>,
    /// The number of times that the given reservations are for.
    pub reserved_times: usize,
    /// Standard error of the kept part. The reservations for one time are kept or missed together,
    /// so that the error clusters by reserved time; `None` where all are for one.
    pub kept_standard_error: Option<f64>,
    /// Processor hours that the jobs with reservations ran.
    pub required_processor_hours: f64,
    /// Processor hours that they had their processors, with the waits on them, on all machines.
    pub used_processor_hours: f64,
    /// The one over the other (Nurmi, Wolski and Brevik 2008, table 3).
    pub cost_ratio: Option<f64>,
}

impl Reservations {
    /// Summarises the reservations that were given, out of `requested` that were asked for.
    pub(super) fn of(requested: usize, given: &[GivenReservation]) -> Self {
        let (accepted, kept) = (given.len(), given.iter().filter(|given| given.is_kept).count());
        let sum = |of: fn(&GivenReservation) -> f64| given.iter().fold(0.0, |sum, given| sum + of(given));
        let mean = |sum: f64| (accepted > 0).then(|| sum / accepted as f64);
        let kept_part = mean(kept as f64);
        let required_processor_hours = sum(|given| given.required_processor_hours);
        let used_processor_hours = sum(|given| given.used_processor_hours);
        let (reserved_times, kept_standard_error) = clustered_error(given, kept_part.unwrap_or_default());
        Self {
            requested,
            accepted,
            kept,
            reserved_times,
            mean_predicted: mean(sum(|given| given.probability)),
            kept_part,
            kept_standard_error,
            required_processor_hours,
            used_processor_hours,
            cost_ratio: (required_processor_hours > 0.0).then(|| used_processor_hours / required_processor_hours),
        }
    }
}

/// The number of reserved times, and the standard error of the part that was kept where the
/// reservations for one time depend on each other: the root of the sum over the times of the
/// squared sums of what each reservation differs from the part by, over their number, with the
/// usual correction for few times (the cluster-robust variance of a mean).
fn clustered_error(given: &[GivenReservation], kept_part: f64) -> (usize, Option<f64>) {
    let mut by_time: BTreeMap<UnixTime, f64> = BTreeMap::new();
    for given in given {
        *by_time.entry(given.at).or_default() += f64::from(u8::from(given.is_kept)) - kept_part;
    }
    let times = by_time.len();
    let squares: f64 = by_time.values().map(|sum| sum * sum).sum();
    let error = |times: f64| (squares * times / (times - 1.0)).sqrt() / given.len() as f64;
    (times, (times > 1).then(|| error(times as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(at: i64, is_kept: bool) -> GivenReservation {
        GivenReservation { at: UnixTime(at), probability: 0.9, is_kept, required_processor_hours: 1.0, used_processor_hours: 1.0 }
    }

    fn error(given: &[GivenReservation]) -> Option<f64> {
        Reservations::of(given.len(), given).kept_standard_error
    }

    #[test]
    fn reservations_for_one_time_count_as_one_where_they_are_kept_or_missed_together() {
        // Four times, of which one is missed: the sample standard deviation of 1, 1, 1, 0 is 0.5,
        // and its standard error 0.25, however many reservations each time has.
        let times = |each: usize| (0..4).flat_map(|at| vec![given(at, at > 0); each]).collect::<Vec<_>>();
        assert!((error(&times(1)).unwrap() - 0.25).abs() < 1e-12);
        assert!((error(&times(25)).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(Reservations::of(100, &times(25)).reserved_times, 4);
    }

    #[test]
    fn one_time_alone_has_no_error() {
        assert_eq!(error(&[given(1, true), given(1, false)]), None);
        assert_eq!(error(&[]), None);
    }
}
