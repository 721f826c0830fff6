//! What became of reservations in a replay, single and joint ones alike.

use job_types::promise::{PromiseState, state_of_reservation};
use job_types::time::{Seconds, UnixTime};

use crate::engine::Record;

/// A reservation that was given, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GivenReservation {
    /// The probability that was forecast for it.
    probability: f64,
    is_kept: bool,
    required_processor_hours: f64,
    used_processor_hours: f64,
}

impl GivenReservation {
    /// Builds the outcome of a reservation for a time, with the probability that was forecast.
    /// `starts` are the starts of its jobs that started; a joint reservation has several. `ran` are
    /// the records of these jobs, the first of which is that of the requested program. Any job that
    /// starts in time keeps the reservation.
    pub(super) fn of<'a>(
        at: UnixTime,
        probability: f64,
        starts: impl IntoIterator<Item = UnixTime>,
        ran: impl IntoIterator<Item = &'a Record>,
    ) -> Self {
        let is_in_time = |start: UnixTime| state_of_reservation(at, Some(start), None, start) == PromiseState::Kept;
        let mut given =
            Self { probability, is_kept: starts.into_iter().any(is_in_time), required_processor_hours: 0.0, used_processor_hours: 0.0 };
        for (place, record) in ran.into_iter().enumerate() {
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
    /// Standard error of that part.
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
        Self {
            requested,
            accepted,
            kept,
            mean_predicted: mean(sum(|given| given.probability)),
            kept_part,
            kept_standard_error: kept_part.map(|kept| (kept * (1.0 - kept) / accepted as f64).sqrt()),
            required_processor_hours,
            used_processor_hours,
            cost_ratio: (required_processor_hours > 0.0).then(|| used_processor_hours / required_processor_hours),
        }
    }
}
