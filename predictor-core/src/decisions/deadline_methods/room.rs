//! The times at which a plan of the queue has room for a job with a deadline.

use crate::forecasts::promised_job::PromisedJob;
use job_types::time::{Seconds, UnixTime};

/// The times during which enough CPUs are free for a job, ascending; the last may have no end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    gaps: Vec<(UnixTime, Option<UnixTime>)>,
}

impl Room {
    /// Returns the times from `now` on at which at least `cpus` are free. Each step says how many
    /// are free from a time on.
    #[must_use]
    pub fn of(steps: &[(UnixTime, u32)], now: UnixTime, cpus: u64) -> Room {
        Room::where_free(steps.iter().map(|(at, free)| (*at, u64::from(*free))), now, cpus)
    }

    /// Returns the room for a job that goes before other jobs, which give way to it: while they
    /// wait, their CPUs are free for it.
    ///
    /// What they give is rounded to the steps, so that none is given for longer than it is planned
    /// to be used. Takes the number of jobs times the logarithm of that of the steps.
    #[must_use]
    pub fn before<'a>(steps: &[(UnixTime, u32)], giving_way: impl Iterator<Item = &'a PromisedJob>, now: UnixTime, cpus: u64) -> Room {
        let mut changes = vec![0i64; steps.len() + 1];
        for job in giving_way {
            let from = steps.partition_point(|(at, _)| *at < job.start);
            let until = steps.partition_point(|(at, _)| *at <= job.end).saturating_sub(1);
            if from < until
                && let Some([first, .., last]) = changes.get_mut(from..=until)
            {
                *first += i64::from(job.cpus);
                *last -= i64::from(job.cpus);
            }
        }
        let mut given = 0i64;
        let with_given = steps.iter().zip(changes).map(|((at, free), change)| {
            given += change;
            (*at, u64::from(*free) + given.max(0).unsigned_abs())
        });
        Room::where_free(with_given, now, cpus)
    }

    fn where_free(steps: impl Iterator<Item = (UnixTime, u64)>, now: UnixTime, cpus: u64) -> Room {
        let mut gaps: Vec<(UnixTime, Option<UnixTime>)> = Vec::new();
        let mut open: Option<UnixTime> = None;
        for (at, free) in steps {
            match open {
                None if free >= cpus => open = Some(at),
                Some(from) if free < cpus => {
                    if at > now {
                        gaps.push((from.max(now), Some(at)));
                    }
                    open = None;
                }
                _ => {}
            }
        }
        gaps.extend(open.map(|from| (from.max(now), None)));
        Room { gaps }
    }

    /// The earliest start of a job that runs so long; `None` where there is never room.
    #[must_use]
    pub fn earliest(&self, run_time: Seconds) -> Option<UnixTime> {
        self.starts().start(run_time)
    }

    /// The earliest starts for run times that are asked for in ascending order, in one walk.
    #[must_use]
    pub fn starts(&self) -> Starts<'_> {
        Starts { gaps: &self.gaps }
    }
}

/// The steps of a plan in which jobs have a place that it does not know: so many CPUs together, at
/// the earliest moment from `now` on at which there is room for all of them for that time; `None`
/// where there never is.
#[must_use]
pub fn steps_behind(steps: &[(UnixTime, u32)], now: UnixTime, cpus: u64, length: Seconds) -> Option<Vec<(UnixTime, u32)>> {
    let from = Room::of(steps, now, cpus).earliest(length)?;
    Some(with_taken(steps, from, from + length, cpus))
}

/// Steps with so many CPUs taken from one moment to another.
fn with_taken(steps: &[(UnixTime, u32)], from: UnixTime, until: UnixTime, cpus: u64) -> Vec<(UnixTime, u32)> {
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let mut found: Vec<(UnixTime, u32)> = Vec::with_capacity(steps.len() + 2);
    for (place, (at, free)) in steps.iter().enumerate() {
        let next = steps.get(place + 1).map(|(next, _)| *next);
        for cut in [*at, from, until] {
            let is_within = cut >= *at && next.is_none_or(|next| cut < next);
            if is_within && found.last().is_none_or(|(last, _)| *last < cut) {
                let taken = if from <= cut && cut < until { cpus } else { 0 };
                found.push((cut, free.saturating_sub(taken)));
            }
        }
    }
    found
}

/// Earliest starts of ever longer jobs.
#[derive(Clone, Debug)]
pub struct Starts<'a> {
    gaps: &'a [(UnixTime, Option<UnixTime>)],
}

impl Starts<'_> {
    /// The earliest start of a job that runs no shorter than the one that was asked about before.
    pub fn start(&mut self, run_time: Seconds) -> Option<UnixTime> {
        loop {
            let ((from, until), rest) = self.gaps.split_first()?;
            if until.is_none_or(|until| until - *from >= run_time) {
                return Some(*from);
            }
            self.gaps = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::earliest;
    use proptest::prelude::*;

    fn steps(steps: &[(i64, u32)]) -> Vec<(UnixTime, u32)> {
        steps.iter().map(|(at, free)| (UnixTime(*at), *free)).collect()
    }

    fn job(start: i64, end: i64, cpus: u32) -> PromisedJob {
        PromisedJob { deadline: UnixTime(10_000), start: UnixTime(start), end: UnixTime(end), cpus, slack: Seconds(1_000) }
    }

    #[test]
    fn a_longer_job_goes_to_a_later_gap() {
        let room = Room::of(&steps(&[(0, 4), (100, 0), (200, 8), (260, 2), (300, 16)]), UnixTime(50), 4);
        let mut starts = room.starts();
        assert_eq!([50, 60, 61].map(|run| starts.start(Seconds(run))), [50, 200, 300].map(|at| Some(UnixTime(at))));
        assert_eq!(Room::of(&steps(&[(0, 4), (100, 0)]), UnixTime(0), 4).earliest(Seconds(101)), None);
    }

    #[test]
    fn a_job_goes_into_the_places_of_those_that_give_way() {
        let steps = steps(&[(0, 1), (100, 1), (200, 3), (300, 8)]);
        let giving_way = [job(100, 200, 3), job(90, 210, 4)];
        let before = |jobs: &[PromisedJob]| Room::before(&steps, jobs.iter(), UnixTime(0), 4).earliest(Seconds(50));
        assert_eq!(before(&[]), Some(UnixTime(300)));
        assert_eq!(before(&giving_way[..1]), Some(UnixTime(100)));
        assert_eq!(before(&giving_way[1..]), Some(UnixTime(100)), "from the step after its start to the one before its end");
        assert_eq!(before(&[job(110, 190, 7)]), Some(UnixTime(300)), "between two steps nothing is known to be free");
    }

    #[test]
    fn jobs_that_the_plan_does_not_know_have_their_place_where_there_is_room_for_all_of_them() {
        let plan = steps(&[(0, 4), (100, 1), (200, 8)]);
        let behind = |now, cpus, length| steps_behind(&plan, UnixTime(now), cpus, Seconds(length));
        assert_eq!(behind(10, 3, 60), Some(steps(&[(0, 4), (10, 1), (70, 4), (100, 1), (200, 8)])));
        assert_eq!(behind(0, 3, 110), Some(steps(&[(0, 4), (100, 1), (200, 5), (310, 8)])));
        assert_eq!(behind(10, 6, 60), Some(steps(&[(0, 4), (100, 1), (200, 2), (260, 8)])));
        assert_eq!(behind(0, 9, 1), None);
    }

    proptest! {
        #[test]
        fn one_walk_finds_what_a_search_for_each_finds(
            given in prop::collection::vec((1i64..50, 0u32..10), 1..30), now in 0i64..300, cpus in 1u32..10,
            mut runs in prop::collection::vec(1i64..400, 1..10),
        ) {
            let mut at = 0;
            let steps: Vec<_> = given.iter().map(|(later, free)| { at += later; (UnixTime(at), *free) }).collect();
            runs.sort_unstable();
            let (room, now) = (Room::of(&steps, UnixTime(now.max(at.min(1))), u64::from(cpus)), UnixTime(now.max(at.min(1))));
            let mut starts = room.starts();
            // Before the first step the plan says nothing, and the search takes it to be as there.
            prop_assume!(steps[0].0 <= now);
            for run in runs {
                prop_assert_eq!(starts.start(Seconds(run)), earliest(&steps, now, u64::from(cpus), Seconds(run)));
            }
        }
    }
}
