//! The order by deadline among the jobs of a queue that have one (earliest deadline first, EDF: Liu
//! and Layland 1973, and the policy of that name in Yeo and Buyya 2006).
//!
//! Among the jobs with deadlines of one partition the places in the queue that they have are dealt
//! out anew: the first place goes to the earliest deadline, the second to the next, and so on. As
//! a set they stand where they stood before, so that no job without a deadline is overtaken by
//! more of them. What a place is follows from priorities, accounts and qualities of service, all
//! of which go on to count.
//!
//! A job keeps the place that it was dealt, and a place is gone with the job that starts from it.
//! Whoever dealt by the places that jobs had once would lend the first of them again and again, and
//! all jobs with deadlines would pass those without one, each by the same place.
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
    /// The job's number, which decides among jobs of one priority: the lower one is first.
    pub job: JobId,
    /// The job's place: the priority that it has, or was dealt and is about to have. A job of
    /// priority 0 is held.
    pub priority: u32,
    /// The job's deadline, where the job takes part in the order.
    pub deadline: Option<UnixTime>,
}

impl Pending {
    fn is_held(&self) -> bool {
        self.priority == 0
    }

    /// The job's deadline, where its place can be dealt to another job: behind [`LOWEST`] there is
    /// no room.
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

/// A place that a job holds, and the one that it had by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The priority of the place.
    pub place: i64,
    /// The job's priority without what was added for the sake of the order.
    pub own: i64,
}

/// Gives places back that have been lent to jobs which have left the order without a start: a place
/// above a job's own goes to the one that has lent it, and a place below its own is taken by the
/// one that has borrowed from it. Which those are is not known any more: they are the jobs nearest
/// to the own place of the one that has left, among those that hold less, or more, than their own.
/// Nobody gets more than its own by this, so that no place is made.
pub fn give_back(held: &mut [Held], left: &[Held]) {
    for gone in left {
        let lent = (gone.place - gone.own).signum();
        let has_lent = |job: &&mut Held| lent != 0 && (job.own - job.place).signum() == lent;
        if let Some(lender) = held.iter_mut().filter(has_lent).min_by_key(|job| (job.place - gone.own).abs()) {
            let (low, high) = (lender.place.min(lender.own), lender.place.max(lender.own));
            lender.place = gone.place.clamp(low, high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(number: u32, priority: u32, deadline: Option<i64>) -> Pending {
        Pending { job: JobId(number), priority, deadline: deadline.map(UnixTime) }
    }

    /// The numbers of the jobs that are not held, in the order in which Slurm serves them.
    fn served(pending: &[Pending]) -> Vec<u32> {
        let mut jobs: Vec<_> = pending.iter().filter(|job| !job.is_held()).map(|job| (Reverse(job.priority), job.job.0)).collect();
        jobs.sort_unstable();
        jobs.into_iter().map(|(_, number)| number).collect()
    }

    /// The jobs with the priorities that are dealt out.
    fn ordered(pending: &[Pending]) -> Vec<Pending> {
        let dealt = dealt(pending);
        let priority = |job: &Pending| dealt.iter().find(|dealt| dealt.job == job.job).map_or(job.priority, |dealt| dealt.priority);
        pending.iter().map(|job| Pending { priority: priority(job), ..*job }).collect()
    }

    fn priorities(pending: &[Pending]) -> Vec<(u32, u32)> {
        dealt(pending).iter().map(|dealt| (dealt.job.0, dealt.priority)).collect()
    }

    #[test]
    fn the_highest_priority_goes_to_the_earliest_deadline_and_a_job_without_one_keeps_its_place() {
        let pending = [job(1, 900, Some(7_000)), job(2, 800, None), job(3, 700, Some(5_000)), job(4, 600, Some(6_000))];
        assert_eq!(priorities(&pending), [(3, 900), (4, 700), (1, 600)]);
        assert_eq!(served(&ordered(&pending)), [3, 2, 4, 1]);
    }

    #[test]
    fn jobs_of_the_same_priority_are_told_apart_without_overtaking_one_that_has_no_deadline() {
        let pending = [job(1, 100, Some(7_000)), job(2, 100, None), job(3, 100, Some(5_000))];
        assert_eq!(served(&ordered(&pending)), [2, 3, 1]);
        let pending = [job(1, 100, Some(7_000)), job(2, 100, Some(6_000)), job(3, 50, None)];
        assert_eq!(served(&ordered(&pending)), [2, 1, 3]);
    }

    #[test]
    fn a_held_job_keeps_its_priority_and_gives_its_place_to_nobody() {
        let pending = [job(1, 900, Some(7_000)), job(2, 0, Some(1_000)), job(3, 700, Some(5_000))];
        assert_eq!(priorities(&pending), [(3, 900), (1, 700)]);
    }

    #[test]
    fn where_there_is_no_lower_priority_nobody_is_held_for_it() {
        assert_eq!(priorities(&[job(1, 1, Some(7_000)), job(2, 1, Some(6_000))]), [(1, 1), (2, 1)]);
        let pending = [job(1, 2, Some(7_000)), job(2, 2, Some(6_000)), job(3, 2, Some(5_000))];
        assert_eq!(priorities(&pending), [(3, 2), (2, 1), (1, 1)]);
    }

    #[test]
    fn priorities_that_have_all_grown_with_age_stay_as_they_are() {
        let ordered = ordered(&[job(1, 900, Some(7_000)), job(2, 800, None), job(3, 700, Some(5_000))]);
        assert_eq!(served(&ordered), [3, 2, 1]);
        let older: Vec<Pending> = ordered.iter().map(|job| Pending { priority: job.priority + 5, ..*job }).collect();
        assert_eq!(priorities(&older), [(3, 905), (1, 705)]);
    }

    #[test]
    fn a_place_is_gone_with_the_job_that_starts_from_it() {
        // Only the job with the latest deadline was in front of the one that has none.
        let mut queue = vec![job(1, 1_000, Some(9_000)), job(2, 900, None), job(3, 800, Some(8_000)), job(4, 700, Some(7_000))];
        let mut started = Vec::new();
        while !queue.is_empty() {
            queue = ordered(&queue);
            let first = served(&queue)[0];
            started.push(first);
            queue.retain(|job| job.job.0 != first);
        }
        assert_eq!(started, [4, 2, 3, 1]);
    }

    #[test]
    fn a_place_that_was_lent_to_a_job_that_never_started_is_given_back() {
        let held = |place, own| Held { place, own };
        // The first has lent its place to one that is gone, and the second nothing.
        let mut places = [held(700, 1_000), held(800, 800)];
        give_back(&mut places, &[held(1_000, 700)]);
        assert_eq!(places, [held(1_000, 1_000), held(800, 800)]);
        // One that had lent is gone, and its place with it.
        let mut places = [held(1_000, 700), held(800, 800)];
        give_back(&mut places, &[held(700, 1_000)]);
        assert_eq!(places, [held(700, 700), held(800, 800)]);
        // Nobody has lent, and nobody gets anything.
        let mut places = [held(800, 800)];
        give_back(&mut places, &[held(1_000, 700), held(500, 500)]);
        assert_eq!(places, [held(800, 800)]);
    }

    fn queue() -> impl Strategy<Value = Vec<Pending>> {
        let deadline = prop::option::weighted(0.6, 1_000i64..1_012);
        let one = (prop_oneof![Just(0u32), 1u32..8, 100u32..1_000], deadline);
        let pending = |(number, (priority, deadline))| job(number, priority, deadline);
        prop::collection::vec(one, 0..40).prop_map(move |jobs| (0..).zip(jobs).map(pending).collect())
    }

    fn deadline_of(pending: &[Pending], job: u32) -> Option<UnixTime> {
        pending.iter().find(|pending| pending.job.0 == job)?.deadline
    }

    /// How many jobs with a deadline are in front of each that has none and is not held.
    fn in_front(pending: &[Pending]) -> Vec<(u32, usize)> {
        let order = served(pending);
        let with_deadline = |jobs: &[u32]| jobs.iter().filter(|job| deadline_of(pending, **job).is_some()).count();
        let mut found: Vec<_> = order.iter().enumerate().map(|(place, job)| (*job, with_deadline(&order[..place]))).collect();
        found.retain(|(job, _)| deadline_of(pending, *job).is_none());
        found
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
            let order = served(&ordered(&pending));
            let deadlines: Vec<UnixTime> = order.iter().filter_map(|job| deadline_of(&pending, *job)).collect();
            prop_assert!(deadlines.is_sorted(), "{:?}", deadlines);
        }

        #[test]
        fn nobody_without_a_deadline_is_behind_more_jobs_than_before(pending in queue()) {
            let (before, after) = (in_front(&pending), in_front(&ordered(&pending)));
            prop_assert_eq!(before.len(), after.len());
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(before.0 == after.0 && before.1 >= after.1, "{:?} and {:?}", before, after);
            }
        }

        #[test]
        fn nor_is_one_overtaken_by_more_of_them_as_they_start_one_by_one(pending in queue()) {
            let before = in_front(&pending);
            let mut queue = pending.clone();
            queue.retain(|job| !job.is_held());
            let mut started = Vec::new();
            while !queue.is_empty() {
                queue = ordered(&queue);
                let first = served(&queue)[0];
                started.push(first);
                queue.retain(|job| job.job.0 != first);
            }
            for (job, most) in before {
                let place = started.iter().position(|started| *started == job).unwrap();
                let passed = started[..place].iter().filter(|job| deadline_of(&pending, **job).is_some()).count();
                prop_assert!(passed <= most, "{} were in front of {} instead of {}", passed, job, most);
            }
        }

        #[test]
        fn dealing_twice_changes_nothing(pending in queue()) {
            let once = ordered(&pending);
            prop_assert_eq!(ordered(&once), once);
        }

        #[test]
        fn nobody_is_held_or_released_and_no_priority_is_beyond_the_highest(pending in queue()) {
            let dealt = dealt(&pending);
            let highest = pending.iter().filter(|job| job.deadline.is_some()).map(|job| job.priority).max().unwrap_or(0);
            prop_assert_eq!(dealt.len(), pending.iter().filter(|job| job.deadline.is_some() && job.priority > 0).count());
            prop_assert!(dealt.iter().all(|dealt| dealt.priority >= 1 && dealt.priority <= highest));
        }

        #[test]
        fn as_time_passes_the_order_stays(pending in queue(), growth in 0u32..500) {
            // Priorities grow with age alike, and deadlines come nearer by as much for all.
            let older_by = |by: u32| -> Vec<Pending> {
                let priority = |job: &Pending| if job.is_held() { 0 } else { job.priority + 60 + by };
                pending.iter().map(|job| Pending { priority: priority(job), ..*job }).collect()
            };
            prop_assert_eq!(served(&ordered(&older_by(growth))), served(&ordered(&older_by(0))));
        }

        #[test]
        fn what_is_given_back_makes_no_place(
            held in prop::collection::vec((1i64..50, 1i64..50), 0..8), left in prop::collection::vec((1i64..50, 1i64..50), 0..4),
        ) {
            let as_held = |places: Vec<(i64, i64)>| -> Vec<Held> { places.into_iter().map(|(place, own)| Held { place, own }).collect() };
            let (before, left) = (as_held(held), as_held(left));
            let mut after = before.clone();
            give_back(&mut after, &left);
            for (before, after) in before.iter().zip(&after) {
                let (low, high) = (before.place.min(before.own), before.place.max(before.own));
                prop_assert!(after.own == before.own && (low..=high).contains(&after.place), "{:?} became {:?}", before, after);
            }
        }
    }
}
