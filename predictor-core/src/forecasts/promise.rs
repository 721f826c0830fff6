//! Tells how often virtual reservations and the deadlines of admitted jobs were kept, and how
//! probable one has to be forecast because of that.
//!
//! What is forecast for a moment hours ahead, at the best of many points, for a job that others
//! like it compete with, need not hold as often as forecasts of the present do. So each promise
//! that was given is held against what became of it (Gibbs and Candès 2021, as in
//! [`levels`](crate::forecasts::levels)), for all of a partition, by the size of the job and by how
//! far ahead its time was. Reservations and deadlines are held apart: one is a start, the other an
//! end.

use crate::forecasts::levels::Levels;
use job_types::number::PartitionIndex;
use job_types::time::Seconds;

/// Up to how many CPUs each class of sizes reaches; the last holds what is larger.
const SIZES: [u32; 4] = [1, 8, 32, 128];

/// Up to how far ahead each class of times reaches; the last holds what is farther.
const TIMES_AHEAD: [Seconds; 4] = [Seconds(1_800), Seconds(2 * 3_600), Seconds(4 * 3_600), Seconds(6 * 3_600)];

/// Number of the class of all promises of one kind in a partition.
const ALL: u8 = 0;

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

/// The numbers of the classes that a promise belongs to: that of all of its kind, one by its size
/// and one by how far ahead its time is.
#[must_use]
pub fn classes(kind: PromiseKind, cpus: u32, ahead: Seconds) -> [u8; 3] {
    let size = SIZES.iter().take_while(|most| cpus > **most).count() as u8;
    let time = TIMES_AHEAD.iter().take_while(|most| ahead > **most).count() as u8;
    let first = match kind {
        PromiseKind::Reservation => 0,
        PromiseKind::Deadline => OF_A_KIND,
    };
    [ALL, 1 + size, 2 + SIZES.len() as u8 + time].map(|class| first + class)
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
}

/// The probability that a promise is to be forecast with so that it is kept with `wanted`: the
/// highest that a class it belongs to says. `levels_of` answers for a class.
pub fn level_to_ask(kind: PromiseKind, cpus: u32, ahead: Seconds, wanted: f64, levels_of: impl Fn(u8) -> Option<Levels>) -> f64 {
    let levels = classes(kind, cpus, ahead).into_iter().filter_map(levels_of);
    let highest = levels.map(|levels| levels.corrected(wanted)).fold(wanted, f64::max);
    // Bounds are told in whole percent: a rounding error of the record must not ask for the next.
    if highest - wanted < 1e-4 { wanted } else { highest }
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

    #[test]
    fn the_class_that_was_kept_least_says_what_is_asked() {
        let mut missed = Levels::default();
        (0..10).for_each(|_| missed.observe(nearest_knot(0.9), 0.0, 0.02));
        let levels_of = |class| (class == 2).then_some(missed);
        let of_kind = |kind, cpus, wanted| level_to_ask(kind, cpus, Seconds(60), wanted, levels_of);
        let reservation = |cpus, wanted| of_kind(PromiseKind::Reservation, cpus, wanted);
        assert_eq!(reservation(1, 0.9), 0.9, "another size");
        assert!(reservation(4, 0.9) > 0.95);
        assert_eq!(reservation(4, 0.5), 0.5);
        assert_eq!(of_kind(PromiseKind::Deadline, 4, 0.9), 0.9, "another kind");
    }
}
