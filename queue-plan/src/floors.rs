//! What earlier searches have found out about where later ones need not look.
//!
//! As long as room is only taken, a job with as many CPUs and as long a run time as one before it
//! starts no sooner than that one could. So each search tells the floor for all larger and longer
//! jobs, in steps of about 1.5 in both.
//!
//! That holds as long as CPUs are all that a profile counts: a job with more CPUs and less of
//! something else may start sooner.

use job_types::time::{Seconds, UnixTime};

use crate::resources::Resources;

/// Steps of CPUs: up to 2^24.
const SIZES: usize = 2 * 24;
/// Steps of durations in seconds: up to 2^25, more than a year.
const DURATIONS: usize = 2 * 25 + 1;

/// The floor where no search has found one yet.
const NO_FLOOR: UnixTime = UnixTime(i64::MIN);

/// The floors of one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floors {
    /// The times before which no job starts, by size and duration, ascending in both. Empty until
    /// the first floor is raised.
    floors: Vec<UnixTime>,
}

impl Floors {
    /// Returns a time before which no job of this size and duration starts.
    pub(crate) fn of(&self, wanted: Resources, duration: Seconds) -> UnixTime {
        let (size, duration) = (step_at_most(wanted.cpus).min(SIZES - 1), step_at_most(duration.0).min(DURATIONS - 1));
        self.floors.get(size * DURATIONS + duration).copied().unwrap_or(NO_FLOOR)
    }

    /// No job of that size and duration, and none that is larger or longer, starts before `start`.
    pub(crate) fn raise(&mut self, wanted: Resources, duration: Seconds, start: UnixTime) {
        if self.floors.is_empty() {
            self.floors = vec![NO_FLOOR; SIZES * DURATIONS];
        }
        let (first_size, first_duration) = (step_at_least(wanted.cpus), step_at_least(duration.0));
        if first_duration >= DURATIONS {
            return;
        }
        for row in self.floors.chunks_mut(DURATIONS).skip(first_size) {
            let raised = row.iter_mut().skip(first_duration).take_while(|floor| **floor < start);
            if raised.map(|floor| *floor = start).count() == 0 {
                break;
            }
        }
    }
}

/// The highest step that is not more: steps are 1, 2, 3, 4, 6, 8, 12, ...
fn step_at_most(number: i64) -> usize {
    let number = number.max(1) as u64;
    let exponent = number.ilog2() as usize;
    let half = exponent > 0 && number >> (exponent - 1) & 1 == 1;
    2 * exponent + usize::from(half)
}

/// The lowest step that is not less than the value.
fn step_at_least(number: i64) -> usize {
    let below = step_at_most(number);
    let exponent = below / 2;
    let step = if below.is_multiple_of(2) { 1 << exponent } else { 3 << (exponent - 1) };
    if step >= number.max(1) {
        below
    } else if exponent == 0 {
        2
    } else {
        below + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_holds_for_larger_and_longer_jobs_only() {
        let cpus = Resources::of_cpus;
        let mut floors = Floors::default();
        floors.raise(cpus(5), Seconds(100), UnixTime(1_000));
        // The next steps are 6 and 128.
        assert_eq!((floors.of(cpus(6), Seconds(128)).0, floors.of(cpus(7), Seconds(10_000)).0), (1_000, 1_000));
        assert_eq!((floors.of(cpus(5), Seconds(10_000)).0, floors.of(cpus(100), Seconds(127)).0), (i64::MIN, i64::MIN));
        floors.raise(cpus(12), Seconds(64), UnixTime(2_000));
        floors.raise(cpus(6), Seconds(64), UnixTime(500));
        assert_eq!(
            (floors.of(cpus(12), Seconds(1_000)).0, floors.of(cpus(6), Seconds(64)).0, floors.of(cpus(8), Seconds(128)).0),
            (2_000, 500, 1_000)
        );
    }

    #[test]
    fn steps_enclose_every_number() {
        let step = |place: usize| if place.is_multiple_of(2) { 1_i64 << (place / 2) } else { 3 << (place / 2 - 1) };
        for number in 1..10_000 {
            let (below, above) = (step_at_most(number), step_at_least(number));
            assert!(step(below) <= number && number <= step(above), "{number}");
            assert!(above <= below + 2);
        }
    }
}
