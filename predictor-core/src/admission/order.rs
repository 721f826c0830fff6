//! The order by deadline among the jobs of a queue that have one (earliest deadline first, EDF: Liu
//! and Layland 1973, and the policy of that name in Yeo and Buyya 2006).
//!
//! Among the jobs with deadlines of one partition the places in the queue that they have anyway are
//! dealt out anew: the first place goes to the earliest deadline, the second to the next, and so
//! on. As a set they stand where they would stand without it, so that no job without a deadline is
//! overtaken by more of them than before. What a place is follows from priorities, accounts and
//! qualities of service, all of which go on to count.
//!
//! A deadline is a moment and does not change as time passes, so that neither does the order: of
//! two jobs the one with less time left is always the same.
//!
//! [`by_deadline`] is the rule itself, on any queue. [`dealt`] says which priorities make Slurm
//! follow it, which sorts the jobs of a partition by priority and those of one priority by number
//! (`sort_job_queue2` in src/slurmctld/job_scheduler.c).

use job_types::number::JobId;
use job_types::time::UnixTime;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Deals the places of the jobs with deadlines in a queue out anew, the first to the earliest
/// deadline. Jobs with the same deadline stay in the order in which they are, and jobs without one
/// where they are. A job that is held has no place in the queue and must not be in it.
pub fn by_deadline<T: Clone>(queue: &mut [T], deadline: impl Fn(&T) -> Option<UnixTime>) {
    let places: Vec<usize> = (0..queue.len()).filter(|&place| deadline(&queue[place]).is_some()).collect();
    let mut jobs: Vec<T> = places.iter().map(|&place| queue[place].clone()).collect();
    jobs.sort_by_key(|job| deadline(job));
    for (place, job) in places.into_iter().zip(jobs) {
        queue[place] = job;
    }
}

/// The lowest priority of a job that is not held. A multifactor priority without any weight is this
/// one for all jobs.
const LOWEST: u32 = 1;

/// A pending job of a partition, as the order is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its number, which decides among jobs of one priority: the lower one is first.
    pub job: JobId,
    /// The priority that it has anyway: without what was added for the sake of this order. A job
    /// of priority 0 is held.
    pub priority: u32,
    /// What was added to its priority for the sake of this order, and is in force now.
    pub added: i64,
    /// Its deadline, where it takes part in the order.
    pub deadline: Option<UnixTime>,
}

impl Pending {
    /// The priority that is in force, as slurmctld shows it.
    fn in_force(&self) -> i64 {
        i64::from(self.priority) + self.added
    }

    fn is_held(&self) -> bool {
        self.priority == 0
    }

    /// Its deadline, where its place can be dealt to another: behind [`LOWEST`] there is no room.
    fn dealt_deadline(&self) -> Option<UnixTime> {
        self.deadline.filter(|_| self.priority > LOWEST)
    }
}

/// The priority that a job is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The job.
    pub job: JobId,
    /// The priority.
    pub priority: u32,
}

/// The priorities that the jobs with deadlines of one partition are to have, in the order in which
/// they are to be served. Jobs that are held are left out. Those that have the lowest priority that
/// there is keep it and their place.
///
/// Each is the priority of the place that the job is dealt, but for one thing. Where jobs of the
/// same priority would be in another order by their numbers, the later one gets the next lower
/// priority, which may put it behind jobs without a deadline that it could have been in front of.
/// The other way round one of these would be overtaken. No priority becomes lower than the lowest,
/// as 0 would hold the job.
#[must_use]
pub fn dealt(pending: &[Pending]) -> Vec<Dealt> {
    let mut places: Vec<&Pending> = pending.iter().filter(|job| !job.is_held()).collect();
    places.sort_by_key(|job| (Reverse(job.priority), job.job));
    let mut order = places.clone();
    by_deadline(&mut order, |job| job.dealt_deadline());
    // What the next job with a deadline has to stand behind: the last one with a deadline, and the
    // last one without.
    let mut behind: [Option<Dealt>; 2] = [None, None];
    let mut found = Vec::new();
    for (place, job) in places.iter().zip(&order) {
        let mut dealt = Dealt { job: job.job, priority: place.priority };
        let has_deadline = job.dealt_deadline().is_some();
        if has_deadline {
            for before in behind.into_iter().flatten() {
                let highest = if dealt.job > before.job { before.priority } else { before.priority.saturating_sub(1) };
                dealt.priority = dealt.priority.min(highest).max(LOWEST);
            }
        }
        if job.deadline.is_some() {
            found.push(dealt);
        }
        behind[usize::from(has_deadline)] = Some(dealt);
    }
    found
}

/// Those of the priorities that [`dealt`] deals out which have to be changed, so that the queue has
/// the order that all of them together would give it. Where it has that order already nothing is
/// changed, although the priorities in force are others: as jobs grow older their own priorities
/// grow, and nobody gains by it that all are written anew.
///
/// Whoever makes these changes, in any number and order, and asks again, comes to the order.
#[must_use]
pub fn changes(pending: &[Pending]) -> Vec<Dealt> {
    let dealt = dealt(pending);
    let wanted: HashMap<JobId, i64> = dealt.iter().map(|dealt| (dealt.job, i64::from(dealt.priority))).collect();
    let queue: Vec<&Pending> = pending.iter().filter(|job| !job.is_held()).collect();
    let in_order = |priority: &dyn Fn(&Pending) -> i64| {
        let mut jobs: Vec<(Reverse<i64>, JobId)> = queue.iter().map(|job| (Reverse(priority(job)), job.job)).collect();
        jobs.sort_unstable();
        jobs
    };
    let present = in_order(&Pending::in_force);
    let to_be = in_order(&|job| wanted.get(&job.job).copied().unwrap_or_else(|| job.in_force()));
    let misplaced: HashMap<JobId, i64> =
        present.iter().zip(&to_be).filter(|(present, to_be)| present.1 != to_be.1).map(|(present, _)| (present.1, present.0.0)).collect();
    dealt.into_iter().filter(|dealt| misplaced.get(&dealt.job).is_some_and(|present| *present != i64::from(dealt.priority))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    fn job(number: u32, priority: u32, deadline: Option<i64>) -> Pending {
        Pending { job: JobId(number), priority, added: 0, deadline: deadline.map(UnixTime) }
    }

    /// The numbers of the jobs that are not held, in the order in which Slurm serves them, where
    /// those that are named have other priorities.
    fn served(pending: &[Pending], dealt: &[Dealt]) -> Vec<u32> {
        let priority =
            |job: &Pending| dealt.iter().find(|dealt| dealt.job == job.job).map_or(job.in_force(), |dealt| dealt.priority.into());
        let mut jobs: Vec<_> = pending.iter().filter(|job| !job.is_held()).map(|job| (Reverse(priority(job)), job.job.0)).collect();
        jobs.sort_unstable();
        jobs.into_iter().map(|(_, number)| number).collect()
    }

    /// The jobs with the priorities that are dealt out added to their own.
    fn with(pending: &[Pending], dealt: &[Dealt]) -> Vec<Pending> {
        let added = |job: &Pending| {
            dealt.iter().find(|dealt| dealt.job == job.job).map(|dealt| i64::from(dealt.priority) - i64::from(job.priority))
        };
        pending.iter().map(|job| Pending { added: added(job).unwrap_or(job.added), ..*job }).collect()
    }

    #[test]
    fn the_highest_priority_goes_to_the_earliest_deadline_and_a_job_without_one_keeps_its_place() {
        let pending = [job(1, 900, Some(7_000)), job(2, 800, None), job(3, 700, Some(5_000)), job(4, 600, Some(6_000))];
        let dealt = dealt(&pending);
        let priorities: Vec<_> = dealt.iter().map(|dealt| (dealt.job.0, dealt.priority)).collect();
        assert_eq!(priorities, [(3, 900), (4, 700), (1, 600)]);
        assert_eq!(served(&pending, &dealt), [3, 2, 4, 1]);
    }

    #[test]
    fn jobs_of_the_same_priority_are_told_apart_without_overtaking_one_that_has_no_deadline() {
        let pending = [job(1, 100, Some(7_000)), job(2, 100, None), job(3, 100, Some(5_000))];
        assert_eq!(served(&pending, &dealt(&pending)), [2, 3, 1]);
        let pending = [job(1, 100, Some(7_000)), job(2, 100, Some(6_000)), job(3, 50, None)];
        assert_eq!(served(&pending, &dealt(&pending)), [2, 1, 3]);
    }

    #[test]
    fn a_held_job_keeps_its_priority_and_gives_its_place_to_nobody() {
        let pending = [job(1, 900, Some(7_000)), job(2, 0, Some(1_000)), job(3, 700, Some(5_000))];
        let dealt = dealt(&pending);
        assert_eq!(dealt.iter().map(|dealt| (dealt.job.0, dealt.priority)).collect::<Vec<_>>(), [(3, 900), (1, 700)]);
    }

    #[test]
    fn where_there_is_no_lower_priority_nobody_is_held_for_it() {
        assert!(dealt(&[job(1, 1, Some(7_000)), job(2, 1, Some(6_000))]).iter().all(|dealt| dealt.priority == 1));
        let pending = [job(1, 2, Some(7_000)), job(2, 2, Some(6_000)), job(3, 2, Some(5_000))];
        assert_eq!(dealt(&pending).iter().map(|dealt| (dealt.job.0, dealt.priority)).collect::<Vec<_>>(), [(3, 2), (2, 1), (1, 1)]);
    }

    #[test]
    fn priorities_that_have_all_grown_with_age_are_not_written_anew() {
        let pending = [job(1, 900, Some(7_000)), job(2, 800, None), job(3, 700, Some(5_000))];
        let older: Vec<Pending> =
            with(&pending, &changes(&pending)).iter().map(|job| Pending { priority: job.priority + 5 * job.job.0, ..*job }).collect();
        assert_ne!(dealt(&older).iter().map(|dealt| i64::from(dealt.priority)).max(), older.iter().map(Pending::in_force).max());
        assert_eq!(changes(&older), []);
    }

    #[test]
    fn a_job_that_has_started_leaves_the_others_in_order() {
        let ordered = [job(1, 900, Some(7_000)), job(2, 800, Some(6_000)), job(3, 700, Some(5_000))];
        let mut ordered = with(&ordered, &changes(&ordered));
        assert_eq!(served(&ordered, &[]), [3, 2, 1]);
        ordered.retain(|job| job.job != JobId(3));
        let changes = changes(&ordered);
        assert_eq!(served(&ordered, &changes), [2, 1]);
    }

    fn queue() -> impl Strategy<Value = Vec<Pending>> {
        let deadline = prop::option::weighted(0.6, 1_000i64..1_012);
        let one = (prop_oneof![Just(0u32), 1u32..8, 100u32..1_000], -30i64..30, deadline);
        prop::collection::vec(one, 0..40).prop_map(|jobs| {
            let pending = |(number, (priority, added, deadline)): (u32, (u32, i64, Option<i64>))| Pending {
                added: if deadline.is_some() && priority > 0 { added.max(1 - i64::from(priority)) } else { 0 },
                ..job(number, priority, deadline)
            };
            (0..).zip(jobs).map(pending).collect()
        })
    }

    /// The jobs without what was added to their priorities.
    fn own(pending: &[Pending]) -> Vec<Pending> {
        pending.iter().map(|job| Pending { added: 0, ..*job }).collect()
    }

    fn with_deadline(pending: &[Pending], job: u32) -> Option<UnixTime> {
        pending.iter().find(|pending| pending.job.0 == job)?.deadline
    }

    proptest! {
        #[test]
        fn places_are_dealt_by_deadline_and_nobody_else_moves(deadlines in prop::collection::vec(prop::option::of(0i64..9), 0..30)) {
            let before: Vec<(usize, Option<UnixTime>)> = deadlines.iter().map(|at| at.map(UnixTime)).enumerate().collect();
            let mut after = before.clone();
            by_deadline(&mut after, |(_, deadline)| *deadline);
            for (before, after) in before.iter().zip(&after) {
                prop_assert_eq!(before.1.is_some(), after.1.is_some());
                prop_assert!(before.1.is_some() || before == after);
            }
            let ordered: Vec<_> = after.iter().filter(|job| job.1.is_some()).map(|&(number, deadline)| (deadline, number)).collect();
            prop_assert!(ordered.is_sorted(), "ties stay as they were: {:?}", ordered);
            let mut again = after.clone();
            by_deadline(&mut again, |(_, deadline)| *deadline);
            prop_assert_eq!(again, after);
        }

        #[test]
        fn slurm_serves_jobs_with_deadlines_by_deadline(pending in queue()) {
            let has_room_below = |job: &Pending| job.priority == 0 || job.priority > 60;
            let pending: Vec<Pending> = pending.into_iter().filter(has_room_below).collect();
            let order = served(&own(&pending), &dealt(&pending));
            let deadlines: Vec<UnixTime> = order.iter().filter_map(|job| with_deadline(&pending, *job)).collect();
            prop_assert!(deadlines.is_sorted(), "{:?}", deadlines);
        }

        #[test]
        fn nobody_without_a_deadline_is_behind_more_jobs_than_before(pending in queue()) {
            let own = own(&pending);
            let (before, after) = (served(&own, &[]), served(&own, &dealt(&pending)));
            for job in own.iter().filter(|job| job.deadline.is_none() && !job.is_held()) {
                let place = |order: &[u32]| order.iter().position(|number| *number == job.job.0);
                prop_assert!(place(&after) <= place(&before), "job {} in {:?} and {:?}", job.job, before, after);
            }
            let free = |order: &[u32]| order.iter().copied().filter(|job| with_deadline(&pending, *job).is_none()).collect::<Vec<_>>();
            prop_assert_eq!(free(&before), free(&after));
        }

        #[test]
        fn dealing_twice_changes_nothing(pending in queue()) {
            let once = dealt(&pending);
            let own: Vec<Pending> = with(&own(&pending), &once).iter()
                .map(|job| Pending { priority: u32::try_from(job.in_force()).unwrap(), added: 0, ..*job }).collect();
            let by_number = |mut dealt: Vec<Dealt>| {
                dealt.sort_by_key(|dealt| dealt.job);
                dealt
            };
            prop_assert_eq!(by_number(dealt(&own)), by_number(once));
            prop_assert_eq!(changes(&own), []);
        }

        #[test]
        fn nobody_is_held_or_released_and_no_priority_is_beyond_the_highest(pending in queue()) {
            let dealt = dealt(&pending);
            let highest = pending.iter().filter(|job| job.deadline.is_some()).map(|job| job.priority).max().unwrap_or(0);
            prop_assert_eq!(dealt.len(), pending.iter().filter(|job| job.deadline.is_some() && job.priority > 0).count());
            prop_assert!(dealt.iter().all(|dealt| dealt.priority >= 1 && dealt.priority <= highest));
        }

        #[test]
        fn any_part_of_the_changes_again_and_again_comes_to_the_order(
            (pending, parts) in queue().prop_flat_map(|pending| {
                let places = (0..pending.len()).collect::<Vec<_>>();
                let part = subsequence(places.clone(), 0..=places.len());
                (Just(pending), prop::collection::vec(part, 0..4))
            }),
        ) {
            let wanted = served(&own(&pending), &dealt(&pending));
            let mut now = pending.clone();
            for part in parts {
                let changes = changes(&now);
                let made: Vec<Dealt> = part.iter().filter_map(|place| changes.get(*place).copied()).collect();
                now = with(&now, &made);
            }
            for _round in 0..=pending.len() {
                now = with(&now, &changes(&now));
            }
            prop_assert_eq!(changes(&now), []);
            prop_assert_eq!(served(&now, &[]), wanted);
        }

        #[test]
        fn as_time_passes_the_order_stays(pending in queue(), growth in 0u32..500) {
            // Own priorities grow with age alike, and deadlines come nearer by as much for all.
            let older: Vec<Pending> = own(&pending).iter()
                .map(|job| Pending { priority: if job.is_held() { 0 } else { job.priority + 60 + growth }, ..*job }).collect();
            let younger: Vec<Pending> = own(&pending).iter()
                .map(|job| Pending { priority: if job.is_held() { 0 } else { job.priority + 60 }, ..*job }).collect();
            prop_assert_eq!(served(&older, &dealt(&older)), served(&younger, &dealt(&younger)));
        }
    }
}
