//! Tells how often virtual reservations and the deadlines of admitted jobs were kept, how probable
//! one has to be forecast because of that, and what is told of the probability that is.
//!
//! What is forecast for a moment hours ahead, at the best of many points, for a job that others
//! like it compete with, need not hold as often as forecasts of the present do. So each promise
//! that was given is held against what became of it (Gibbs and Candès 2021, as in
//! [`levels`](crate::forecasts::levels)), for all of a partition, by the size of the job and by how
//! far ahead its time was. Reservations and deadlines are held apart: one is a start, the other an
//! end.

use crate::forecasts::levels::{KNOTS, Levels};
use job_types::number::PartitionIndex;
use job_types::time::Seconds;
use serde::{Deserialize, Serialize};

/// Up to how many CPUs each class of sizes reaches; the last holds what is larger.
const SIZES: [u32; 4] = [1, 8, 32, 128];

/// Up to how far ahead each class of times reaches; the last holds what is farther.
const TIMES_AHEAD: [Seconds; 4] = [Seconds(1_800), Seconds(2 * 3_600), Seconds(4 * 3_600), Seconds(6 * 3_600)];

/// Number of the class of all promises of one kind in a partition.
const ALL: u8 = 0;

/// How many classes each promise belongs to.
const CLASSES_OF_A_PROMISE: usize = 3;

/// How many classes each kind of promises has in a partition.
const OF_A_KIND: u8 = 1 + SIZES.len() as u8 + 1 + TIMES_AHEAD.len() as u8 + 1;

/// How many classes a partition has.
pub const CLASSES: u8 = 2 * OF_A_KIND;

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseKind {
    /// The job has its nodes at a time.
    Reservation,
    /// The job is done by a time.
    Deadline,
}

/// What forecasts of a promise need to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromiseShape {
    /// What is promised.
    pub kind: PromiseKind,
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// CPUs of the job.
    pub cpus: u32,
    /// How far ahead its time is.
    pub ahead: Seconds,
}

/// The numbers of the classes that a promise belongs to: that of all of its kind, one by its size
/// and one by how far ahead its time is.
#[must_use]
pub fn classes(kind: PromiseKind, cpus: u32, ahead: Seconds) -> [u8; CLASSES_OF_A_PROMISE] {
    let size = SIZES.iter().take_while(|most| cpus > **most).count() as u8;
    let time = TIMES_AHEAD.iter().take_while(|most| ahead > **most).count() as u8;
    let first = match kind {
        PromiseKind::Reservation => 0,
        PromiseKind::Deadline => OF_A_KIND,
    };
    [ALL, 1 + size, 2 + SIZES.len() as u8 + time].map(|class| first + class)
}

/// How far one outcome moves what is told of the forecasts like it.
const STEP_OF_WHAT_IS_TOLD: f64 = 0.01;

/// By how much less often than forecast promises were kept lately, by the probability that was
/// forecast: at each of [`KNOTS`], and between them in proportion.
///
/// What is asked for is raised with each promise that is missed, but jobs with one reserved time
/// miss it together, and what is forecast ends at 0.99, so that what is given can go on to be kept
/// less often than it was forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shortfalls {
    by_knot: [f64; KNOTS.len()],
}

/// The shortfalls at the knots, as a snapshot has them. One that is not finite, or below 0, is 0.
impl From<[f64; KNOTS.len()]> for Shortfalls {
    fn from(by_knot: [f64; KNOTS.len()]) -> Self {
        Shortfalls { by_knot: by_knot.map(|shortfall| if shortfall.is_finite() { shortfall.max(0.0) } else { 0.0 }) }
    }
}

impl Shortfalls {
    /// The shortfalls, to be published.
    #[must_use]
    pub fn published(&self) -> [f64; KNOTS.len()] {
        self.by_knot
    }

    /// How much each knot counts for a probability: the two beside it, or the one at the end.
    fn weights(probability: f64) -> impl Iterator<Item = (usize, f64)> {
        let above = KNOTS.partition_point(|knot| *knot < probability).min(KNOTS.len() - 1);
        let below = above.saturating_sub(1);
        let knot = |place: usize| KNOTS.get(place).copied().unwrap_or(1.0);
        let span = knot(above) - knot(below);
        let part = if span > 0.0 { ((probability - knot(below)) / span).clamp(0.0, 1.0) } else { 1.0 };
        [(below, 1.0 - part), (above, part)].into_iter()
    }

    /// By how much less often than with this probability such promises were kept.
    #[must_use]
    pub fn at(&self, probability: f64) -> f64 {
        Shortfalls::weights(probability).map(|(place, weight)| weight * self.by_knot.get(place).copied().unwrap_or(0.0)).sum()
    }

    /// A promise that was forecast with a probability, and told with another one, was kept or was
    /// not. Its other classes are told of it as well, so that each takes its part.
    pub fn observe(&mut self, forecast: f64, told: f64, is_kept: bool) {
        let error = told - if is_kept { 1.0 } else { 0.0 };
        for (place, weight) in Shortfalls::weights(forecast) {
            if let Some(shortfall) = self.by_knot.get_mut(place) {
                // What is kept more often than it was told is not told more boldly than forecast.
                *shortfall = (*shortfall + STEP_OF_WHAT_IS_TOLD * weight * error / CLASSES_OF_A_PROMISE as f64).clamp(0.0, 1.0);
            }
        }
    }
}

/// How promises of one class were kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromiseLevels {
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// Number of the class, below [`CLASSES`].
    pub class: u8,
    /// The probability to be forecast in the place of each that is wanted.
    pub levels: Levels,
    /// By how much less often than forecast they were kept.
    pub shortfalls: Shortfalls,
}

/// The probability that a promise is to be forecast with so that it is kept with `wanted`: the
/// highest that a class it belongs to says. `levels_of` answers for a class.
pub fn level_to_ask(promise: &PromiseShape, wanted: f64, levels_of: impl Fn(u8) -> Option<Levels>) -> f64 {
    let levels = classes(promise.kind, promise.cpus, promise.ahead).into_iter().filter_map(levels_of);
    let highest = levels.map(|levels| levels.corrected(wanted)).fold(wanted, f64::max);
    // Bounds are told in whole percent: a rounding error of the record must not ask for the next.
    if highest - wanted < 1e-4 { wanted } else { highest }
}

/// What is told of a promise that is forecast with a probability where `wanted` is wanted: by as
/// much less as more than that is asked for ([`level_to_ask`]), and by what such forecasts were
/// kept less often lately. Never more than is forecast, and never below 0. `class_of` answers for a
/// class.
pub fn probability_to_tell(
    promise: &PromiseShape,
    wanted: f64,
    forecast: f64,
    class_of: impl Fn(u8) -> Option<(Levels, Shortfalls)>,
) -> f64 {
    let asked = level_to_ask(promise, wanted, |class| class_of(class).map(|(levels, _)| levels));
    let forecast = (forecast - (asked - wanted)).max(0.0);
    let classes = classes(promise.kind, promise.cpus, promise.ahead);
    let shortfalls = classes.into_iter().filter_map(class_of).map(|(_, shortfalls)| shortfalls);
    (forecast - shortfalls.map(|shortfalls| shortfalls.at(forecast)).sum::<f64>()).max(0.0)
}

/// What was forecast, beside what more was asked for, where a probability was told and at least
/// `least` was forecast: the inverse of [`probability_to_tell`], to a hundredth. `shortfalls` are
/// those of all classes of the promise.
#[must_use]
pub fn forecast_of_what_was_told(told: f64, least: f64, shortfalls: &[Shortfalls]) -> f64 {
    let least = told.max(least);
    let comes_to = |forecast: f64| forecast - shortfalls.iter().map(|shortfalls| shortfalls.at(forecast)).sum::<f64>();
    let found = (0..100).map(|hundredths| least + f64::from(hundredths) / 100.0).find(|forecast| comes_to(*forecast) >= told - 0.005);
    found.unwrap_or(least).min(1.0)
}

/// The part of the CPUs that reservations may take at one moment, where one more is given with the
/// probability `wanted`: all of them where it is 0.5 or less, and half of them where it is 1.
///
/// Jobs with reservations for one time keep their nodes until then, so that those which do not fit
/// beside them all miss it together, and forecasts of single waits do not see that. How many of the
/// CPUs other jobs have by then varies, and the surer a promise is to be the more room they need.
/// The first reservation for a time is not held against this: its forecast knows of nothing else.
#[must_use]
pub fn reservable_part(wanted: f64) -> f64 {
    (1.5 - wanted).clamp(0.5, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecasts::levels::nearest_knot;

    #[test]
    fn a_promise_belongs_to_three_classes_of_its_kind_of_different_numbers() {
        let hours = |hours: i64| Seconds(hours * 3_600);
        let reservation = |cpus, ahead| classes(PromiseKind::Reservation, cpus, ahead);
        assert_eq!(reservation(1, hours(0)), [0, 1, 6]);
        assert_eq!(reservation(8, hours(2)), [0, 2, 7]);
        assert_eq!(reservation(129, hours(100)), [0, 5, 10]);
        assert_eq!(classes(PromiseKind::Deadline, 1, hours(0)), [11, 12, 17]);
        assert_eq!(classes(PromiseKind::Deadline, u32::MAX, Seconds(i64::MAX)), [11, 16, CLASSES - 1]);
    }

    const RESERVATION: PromiseShape =
        PromiseShape { kind: PromiseKind::Reservation, partition: PartitionIndex(0), cpus: 4, ahead: Seconds(60) };

    #[test]
    fn the_class_that_was_kept_least_says_what_is_asked() {
        let mut missed = Levels::default();
        (0..10).for_each(|_| missed.observe(nearest_knot(0.9), 0.0, 0.02));
        let levels_of = |class| (class == 2).then_some(missed);
        let of_kind = |kind, cpus, wanted| level_to_ask(&PromiseShape { kind, cpus, ..RESERVATION }, wanted, levels_of);
        let reservation = |cpus, wanted| of_kind(PromiseKind::Reservation, cpus, wanted);
        assert_eq!(reservation(1, 0.9), 0.9, "another size");
        assert!(reservation(4, 0.9) > 0.95);
        assert_eq!(reservation(4, 0.5), 0.5);
        assert_eq!(of_kind(PromiseKind::Deadline, 4, 0.9), 0.9, "another kind");
    }

    /// What is told of forecasts of 0.96 where so much is wanted of jobs of 4 CPUs, after 2,000
    /// that were kept with 0.9, in groups of ten.
    fn told_after_misses() -> (f64, f64) {
        let mut known = [(Levels::default(), Shortfalls::default()); CLASSES as usize];
        let mut sum_told = 0.0;
        for turn in 0..2_000 {
            let of = |class: u8| Some(known[class as usize]);
            let told = probability_to_tell(&RESERVATION, 0.95, 0.96, of);
            sum_told += told;
            let classes = classes(PromiseKind::Reservation, 4, Seconds(60));
            let shortfalls = classes.map(|class| known[class as usize].1);
            let forecast = forecast_of_what_was_told((told * 100.0).round() / 100.0, 0.95, &shortfalls);
            for class in classes {
                known[class as usize].1.observe(forecast, told, (turn / 10) % 10 != 7);
            }
        }
        let of = |class: u8| Some(known[class as usize]);
        let tell = |wanted, forecast| probability_to_tell(&RESERVATION, wanted, forecast, of);
        assert_eq!(tell(0.5, 0.5), 0.5, "forecasts that are far from these are as they were");
        assert_eq!(probability_to_tell(&PromiseShape { kind: PromiseKind::Deadline, ..RESERVATION }, 0.95, 0.96, of), 0.96, "another kind");
        (tell(0.95, 0.96), sum_told / 2_000.0)
    }

    #[test]
    fn what_is_told_is_what_such_forecasts_were_kept_with() {
        let (told, mean_told) = told_after_misses();
        assert!((told - 0.9).abs() < 0.06, "{told}");
        assert!((mean_told - 0.9).abs() < 0.02, "{mean_told}");
    }

    #[test]
    fn promises_that_are_kept_more_often_than_forecast_are_told_as_forecast() {
        let mut shortfalls = Shortfalls::default();
        (0..1_000).for_each(|_| shortfalls.observe(0.6, 0.6, true));
        let of = |_| Some((Levels::default(), shortfalls));
        assert_eq!(probability_to_tell(&RESERVATION, 0.5, 0.6, of), 0.6);
    }

    #[test]
    fn what_more_is_asked_for_is_not_told() {
        let mut missed = Levels::default();
        (0..10).for_each(|_| missed.observe(nearest_knot(0.9), 0.0, 0.02));
        let asked = missed.corrected(0.9);
        let told = probability_to_tell(&RESERVATION, 0.9, asked, |_| Some((missed, Shortfalls::default())));
        assert!(asked > 0.95 && (told - 0.9).abs() < 1e-9, "{asked} {told}");
    }

    #[test]
    fn a_shortfall_that_is_none_is_none() {
        let mut by_knot = [0.0; KNOTS.len()];
        (by_knot[7], by_knot[8]) = (f64::NAN, -1.0);
        assert_eq!(Shortfalls::from(by_knot).at(0.97), 0.0);
    }
}
