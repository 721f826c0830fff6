use std::collections::BTreeMap;

use proptest::prelude::*;

use job_types::time::{Seconds, UnixTime};

use super::Profile;
use crate::resources::Resources;

fn at(seconds: i64) -> UnixTime {
    UnixTime(seconds)
}

fn cpus(count: i64) -> Resources {
    Resources::of_cpus(count)
}

/// The points, with their times in seconds and the free CPUs.
fn steps<C: FromIterator<(i64, i64)>>(profile: &Profile) -> C {
    profile.steps().map(|(time, free)| (time.0, free.cpus)).collect()
}

fn earliest(profile: &Profile, from: i64, processors: i64, duration: i64) -> Option<i64> {
    profile.earliest(at(from), cpus(processors), Seconds(duration)).map(|start| start.0)
}

#[test]
fn a_job_fits_where_enough_is_free_for_all_of_its_time() {
    // 10 processors; 8 taken during [0, 100), 4 during [150, 200).
    let mut profile = Profile::new(at(0), cpus(10));
    profile.take(at(0), at(100), cpus(8));
    profile.take(at(150), at(200), cpus(4));
    assert_eq!(steps::<Vec<_>>(&profile), [(0, 2), (100, 10), (150, 6), (200, 10)]);
    assert_eq!(earliest(&profile, 0, 2, 1_000), Some(0));
    assert_eq!(earliest(&profile, 0, 7, 50), Some(100), "the hole of 50 s before the second job is just long enough");
    assert_eq!(earliest(&profile, 0, 7, 51), Some(200));
    assert_eq!(earliest(&profile, 101, 7, 50), Some(200));
    assert_eq!(earliest(&profile, 0, 11, 1), None);
    assert_eq!(profile.free_at(at(-5)), cpus(2));
    assert_eq!(profile.free_at(at(199)), cpus(6));
}

#[test]
fn what_is_given_back_leaves_no_trace() {
    let mut profile = Profile::new(at(5), cpus(10));
    profile.take(at(7), at(i64::MAX), cpus(3));
    profile.take(at(0), at(9), cpus(1));
    profile.give_back(at(0), at(9), cpus(1));
    profile.give_back(at(7), at(i64::MAX), cpus(3));
    assert_eq!(steps::<Vec<_>>(&profile), [(5, 10)]);
}

#[test]
fn blocks_may_take_more_than_there_is() {
    let mut profile = Profile::new(at(0), cpus(4));
    profile.take(at(0), at(50), cpus(4));
    profile.take(at(10), at(20), cpus(2));
    assert_eq!(profile.free_at(at(10)), cpus(-2));
    assert_eq!(earliest(&profile, 0, 1, 1), Some(50));
    assert_eq!(earliest(&profile, 0, 0, 1), Some(0));
}

#[test]
fn a_profile_begins_where_it_was_told_to_forget() {
    let mut profile = Profile::new(at(0), cpus(10));
    for start in 0..500 {
        profile.take(at(start), at(start + 7), cpus(1 + start % 2));
    }
    let expected = profile.free_at(at(321));
    profile.forget_before(at(321));
    assert_eq!(profile.begins(), at(321));
    assert_eq!(profile.steps().next(), Some((at(321), expected)));
    profile.forget_before(at(10));
    assert_eq!(profile.begins(), at(321));
}

/// The free processors second by second, from 0 on; the last value lasts for ever.
struct Naive {
    begins: usize,
    free: Vec<i64>,
}

impl Naive {
    fn change(&mut self, start: i64, end: i64, difference: i64) {
        let begins = self.begins;
        for (second, free) in self.free.iter_mut().enumerate().skip(begins) {
            if (start..end).contains(&i64::try_from(second).unwrap()) {
                *free += difference;
            }
        }
    }

    fn at(&self, second: usize) -> i64 {
        self.free[second.clamp(self.begins, self.free.len() - 1)]
    }

    fn earliest(&self, from: usize, processors: i64, duration: usize) -> Option<i64> {
        (from.max(self.begins)..self.free.len())
            .find(|&start| (start..(start + duration).min(self.free.len())).all(|second| self.at(second) >= processors))
            .map(|start| i64::try_from(start).unwrap())
    }

    fn steps(&self) -> BTreeMap<i64, i64> {
        (self.begins..self.free.len())
            .filter(|&second| second == self.begins || self.free[second] != self.free[second - 1])
            .map(|second| (i64::try_from(second).unwrap(), self.free[second]))
            .collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Change { start: i64, length: Option<i64>, difference: i64 },
    Ask { from: usize, processors: i64, duration: usize },
    Forget { now: usize },
}

const SECONDS: i64 = 1_500;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (-10..SECONDS - 1, prop_oneof![Just(None), (0..300_i64).prop_map(Some), (0..9_i64).prop_map(Some)], -5..6_i64)
            .prop_map(|(start, length, difference)| Step::Change { start, length, difference }),
        2 => (0..1_600_usize, -20..25_i64, 1..400_usize)
            .prop_map(|(from, processors, duration)| Step::Ask { from, processors, duration }),
        1 => (0..40_usize).prop_map(|now| Step::Forget { now }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_profile_is_what_counting_every_second_gives(steps in prop::collection::vec(step(), 1..700)) {
        let mut profile = Profile::new(at(0), cpus(10));
        let mut naive = Naive { begins: 0, free: vec![10; usize::try_from(SECONDS).unwrap()] };
        for step in steps {
            match step {
                Step::Change { start, length, difference } => {
                    // Behind the last second that is counted there is "for ever" only.
                    let end = length.map_or(i64::MAX, |length| start + length);
                    let end = if end >= SECONDS { i64::MAX } else { end };
                    if difference < 0 { profile.take(at(start), at(end), cpus(-difference)) } else { profile.give_back(at(start), at(end), cpus(difference)) }
                    naive.change(start, end, difference);
                }
                Step::Ask { from, processors, duration } => {
                    let from = from.min(naive.free.len() - 1);
                    let found = earliest(&profile, i64::try_from(from).unwrap(), processors, i64::try_from(duration).unwrap());
                    prop_assert_eq!(found, naive.earliest(from, processors, duration));
                    prop_assert_eq!(profile.free_at(at(i64::try_from(from).unwrap())), cpus(naive.at(from)));
                }
                Step::Forget { now } => {
                    profile.forget_before(at(i64::try_from(now).unwrap()));
                    naive.begins = naive.begins.max(now);
                }
            }
        }
        prop_assert_eq!(self::steps::<BTreeMap<_, _>>(&profile), naive.steps());
    }
}

#[test]
fn steps_between_two_times_begin_with_the_first() {
    let mut profile = Profile::new(UnixTime(10), cpus(8));
    profile.take(UnixTime(20), UnixTime(40), cpus(3));
    let between =
        |from, until| profile.steps_between(UnixTime(from), UnixTime(until)).map(|(at, free)| (at.0, free.cpus)).collect::<Vec<_>>();
    assert_eq!(between(15, 40), [(15, 8), (20, 5)]);
    assert_eq!(between(20, 41), [(20, 5), (40, 8)]);
    assert_eq!(between(50, 60), [(50, 8)]);
    assert_eq!(between(30, 30), []);
}
