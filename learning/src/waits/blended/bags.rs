//! Bags of tasks: like jobs of one user, submitted together, whose waits are hardly independent.
//!
//! A user submits hundreds of jobs at once that differ in their input alone. They wait for the same
//! room and start together or one after the other: what they tell of the forecasts is far less than
//! as many jobs of many users do. So n outcomes of a bag count as the root of n.

use job_types::job::WaitingJob;
use job_types::number::{PartitionIndex, UserId};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::levels::KNOTS;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How long after the first of its jobs the others of a bag are submitted, at most.
const LONGEST_SUBMISSION: Seconds = Seconds(3_600);

/// Fewer bags than this are not worth looking through.
const FEWEST_KEPT: usize = 1_024;

/// The number of a bag, new for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct BagNumber(pub(super) u32);

/// What the jobs of a bag have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Request {
    user: UserId,
    partition: PartitionIndex,
    cpus: u32,
    limit_s: u32,
}

impl Request {
    fn of(job: &WaitingJob) -> Request {
        let limit_s = job.limit.map_or(u32::MAX, Seconds::clamped_u32);
        Request { user: job.user, partition: job.partition, cpus: job.size.cpus, limit_s }
    }
}

/// What is kept of a bag.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Bag {
    /// When the first of its jobs could have started.
    first: UnixTime,
    /// How many of its jobs were forecast and have not started.
    waiting: u32,
    /// How many of its outcomes were held against the bound at each of [`KNOTS`].
    observed: [u32; KNOTS.len()],
}

/// The bags of which jobs wait, or may still come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bags {
    latest: HashMap<Request, BagNumber>,
    bags: HashMap<BagNumber, Bag>,
    numbers: u32,
    /// With so many bags those are forgotten that can be.
    most: usize,
}

impl Bags {
    /// The bag of a job that arrives: that of the latest like jobs, if the job was submitted within
    /// an hour of the first of these, or else a new one.
    pub(super) fn arrive(&mut self, job: &WaitingJob) -> BagNumber {
        let request = Request::of(job);
        let is_near = |bag: &Bag| (job.eligible - bag.first).0.abs() <= LONGEST_SUBMISSION.0;
        let latest = self.latest.get(&request).copied();
        if let Some(number) = latest.filter(|number| self.bags.get(number).is_some_and(is_near)) {
            return number;
        }
        if self.bags.len() >= self.most {
            self.forget(job.eligible);
            self.most = (2 * self.bags.len()).max(FEWEST_KEPT);
        }
        self.numbers = self.numbers.wrapping_add(1);
        let number = BagNumber(self.numbers);
        self.latest.insert(request, number);
        self.bags.insert(number, Bag { first: job.eligible, waiting: 0, observed: [0; KNOTS.len()] });
        number
    }

    /// The wait of one of its jobs is to be held against a forecast.
    pub(super) fn await_one(&mut self, number: BagNumber) {
        if let Some(bag) = self.bags.get_mut(&number) {
            bag.waiting += 1;
        }
    }

    /// One of those jobs waits no more.
    pub(super) fn settle_one(&mut self, number: BagNumber) {
        if let Some(bag) = self.bags.get_mut(&number) {
            bag.waiting = bag.waiting.saturating_sub(1);
        }
    }

    /// An outcome is held against the bound at a knot of [`KNOTS`]. Returns the part for which it
    /// counts: 1 for the first of its bag, and less for each further one, so that n of them come to
    /// about twice the root of n.
    pub(super) fn observe(&mut self, number: BagNumber, knot: usize) -> f64 {
        let observed = self.bags.get_mut(&number).and_then(|bag| bag.observed.get_mut(knot));
        observed.map_or(1.0, |observed| {
            *observed = observed.saturating_add(1);
            f64::from(*observed).sqrt().recip()
        })
    }

    /// Lets go of the bags of which no job waits and, at a moment, none can come any more.
    fn forget(&mut self, now: UnixTime) {
        let Bags { latest, bags, .. } = self;
        bags.retain(|_, bag| bag.waiting > 0 || now - bag.first <= LONGEST_SUBMISSION);
        latest.retain(|_, number| bags.contains_key(number));
    }
}

/// The part for which each of some outcomes counts, by their bags: n outcomes of a bag count for
/// the root of n, all alike.
pub(super) fn parts(bags: impl Iterator<Item = BagNumber> + Clone) -> Vec<f64> {
    let mut outcomes: HashMap<BagNumber, u32> = HashMap::new();
    bags.clone().for_each(|bag| *outcomes.entry(bag).or_default() += 1);
    bags.map(|bag| outcomes.get(&bag).map_or(1.0, |count| f64::from(*count).sqrt().recip())).collect()
}

/// How many of the first outcomes come to an effective number of `most`, or all.
pub(super) fn first_that_count_as(most: f64, bags: impl Iterator<Item = BagNumber>) -> usize {
    let mut outcomes: HashMap<BagNumber, u32> = HashMap::new();
    let (mut effective, mut taken) = (0.0, 0);
    for bag in bags {
        if effective >= most {
            break;
        }
        let count = outcomes.entry(bag).or_default();
        effective += f64::from(*count + 1).sqrt() - f64::from(*count).sqrt();
        *count += 1;
        taken += 1;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{AccountIndex, QosIndex};
    use job_types::size::Size;

    fn job(user: u32, cpus: u32, eligible: i64) -> WaitingJob {
        WaitingJob {
            user: UserId(user),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus },
            limit: Some(Seconds(600)),
            eligible: UnixTime(eligible),
        }
    }

    #[test]
    fn like_jobs_of_a_user_within_an_hour_of_the_first_are_one_bag() {
        let mut bags = Bags::default();
        let first = bags.arrive(&job(1, 4, 1_000));
        assert_eq!(bags.arrive(&job(1, 4, 3_000)), first);
        assert_eq!(bags.arrive(&job(1, 4, 4_600)), first);
        assert_ne!(bags.arrive(&job(2, 4, 1_000)), first, "another user");
        assert_ne!(bags.arrive(&job(1, 8, 1_000)), first, "another size");
        assert_ne!(bags.arrive(&WaitingJob { limit: None, ..job(1, 4, 1_000) }), first, "another limit");
        assert_ne!(bags.arrive(&WaitingJob { partition: PartitionIndex(1), ..job(1, 4, 1_000) }), first, "another partition");
        // Who submits without a pause has a bag for each hour, and goes on being counted.
        let next = bags.arrive(&job(1, 4, 4_601));
        assert_ne!(next, first);
        assert_eq!(bags.arrive(&job(1, 4, 8_201)), next);
    }

    #[test]
    fn each_further_outcome_of_a_bag_counts_for_less_at_each_bound_by_itself() {
        let mut bags = Bags::default();
        let [one, other] = [1, 2].map(|user| bags.arrive(&job(user, 4, 1_000)));
        let counted: f64 = (0..10_000).map(|_| bags.observe(one, 3)).sum();
        assert!((counted - 200.0).abs() < 2.0, "{counted}");
        assert_eq!([bags.observe(one, 4), bags.observe(other, 3)], [1.0; 2]);
    }

    #[test]
    fn a_bag_is_remembered_while_its_jobs_wait_or_may_come() {
        let mut bags = Bags::default();
        let [waits, ended] = [1, 2].map(|user| bags.arrive(&job(user, 4, 1_000)));
        bags.await_one(waits);
        bags.await_one(ended);
        bags.settle_one(ended);
        for bag in [waits, ended] {
            bags.observe(bag, 0);
        }
        bags.forget(UnixTime(4_600));
        assert_eq!((bags.bags.len(), bags.latest.len()), (2, 2));
        bags.forget(UnixTime(4_601));
        assert_eq!((bags.bags.len(), bags.latest.len()), (1, 1));
        assert!(bags.observe(waits, 0) < 1.0);
        assert_ne!(bags.arrive(&job(2, 4, 1_000)), ended);
    }

    #[test]
    fn bags_that_nobody_waits_for_are_few_however_many_came() {
        let mut bags = Bags::default();
        for second in 0..100_000 {
            bags.arrive(&job(second, 4, i64::from(second)));
        }
        assert!(bags.bags.len() <= 2 * 3_601 && bags.latest.len() == bags.bags.len(), "{}", bags.bags.len());
    }

    #[test]
    fn the_outcomes_of_a_bag_count_for_their_root_all_alike() {
        let of = |bag: u32, outcomes: usize| std::iter::repeat_n(BagNumber(bag), outcomes);
        let parts = parts(of(1, 100).chain(of(2, 1)));
        assert!(parts[..100].iter().all(|part| (part - 0.1).abs() < 1e-12));
        assert_eq!(parts[100], 1.0);
        assert_eq!(first_that_count_as(10.0, of(1, 1_000)), 100);
        assert_eq!(first_that_count_as(10.0, of(1, 81).chain(of(2, 1)).chain(of(3, 1))), 82);
        assert_eq!(first_that_count_as(10.0, of(1, 5)), 5);
    }
}
