//! Users who each follow a module of their own.

use std::collections::BTreeMap;

use rand::Rng;

use super::{Reading, TOTAL_CREDITS, UserModule, bids as of_module};
use crate::engine::preemptive::Job;

/// The modules that are mixed.
const MIXED: [UserModule; 7] = [
    UserModule::Zero,
    UserModule::Random,
    UserModule::ConstantTotal,
    UserModule::Proportional,
    UserModule::Categorized,
    UserModule::BinaryRandom,
    UserModule::BinaryCategorized,
];

/// One user: the module, by its place, and what the user's bids come to.
#[derive(Debug, Clone, Copy, Default)]
struct Follower {
    module: usize,
    jobs: f64,
    /// Σ n·t·bid as the module bids.
    total_credits: f64,
}

impl Follower {
    /// By what the module's bids are multiplied, so that the user's total is 1000 times the number
    /// of jobs. Who bids nothing goes on bidding nothing.
    fn scale(&self) -> f64 {
        if self.total_credits > 0.0 { TOTAL_CREDITS * self.jobs / self.total_credits } else { 0.0 }
    }
}

/// What each module bids for a job is what it bids alone, but for the scale.
pub(super) fn bids(reading: Reading, jobs: &[Job], seed: u64, random: &mut impl Rng) -> Vec<f64> {
    let mut followers: BTreeMap<u32, Follower> = jobs.iter().map(|job| (job.user, Follower::default())).collect();
    for follower in followers.values_mut() {
        follower.module = random.random_range(0..MIXED.len());
    }
    let modules: Vec<usize> = jobs.iter().map(|job| followers.get(&job.user).map_or(0, |follower| follower.module)).collect();
    let mut bids = vec![0.0; jobs.len()];
    for (place, module) in MIXED.into_iter().enumerate() {
        for ((bid, of_job), alone) in bids.iter_mut().zip(&modules).zip(of_module(module, reading, jobs, seed)) {
            if *of_job == place {
                *bid = alone;
            }
        }
    }
    for (job, bid) in jobs.iter().zip(&bids) {
        if let Some(follower) = followers.get_mut(&job.user) {
            follower.jobs += 1.0;
            follower.total_credits += reading.node_time(job) * bid;
        }
    }
    for (job, bid) in jobs.iter().zip(&mut bids) {
        *bid *= followers.get(&job.user).map_or(0.0, Follower::scale);
    }
    bids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::job;

    fn mixed(jobs: &[Job]) -> Vec<f64> {
        of_module(UserModule::Mixed, Reading::AsTabled, jobs, 1)
    }

    #[test]
    fn a_users_total_is_1000_for_each_job_or_nothing() {
        let jobs: Vec<Job> = (0..4000).map(|place| job(place % 100, u64::from(place), 1 + place % 5)).collect();
        let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
        for (job, bid) in jobs.iter().zip(mixed(&jobs)) {
            *totals.entry(job.user).or_default() += Reading::AsTabled.node_time(job) * bid;
        }
        let (nothing, something): (Vec<f64>, Vec<f64>) = totals.values().partition(|total| **total == 0.0);
        assert!(something.iter().all(|total| (total / 40_000.0 - 1.0).abs() < 1e-9));
        // A seventh of the users follows the module that bids nothing.
        assert!((5..30).contains(&nothing.len()));
    }

    #[test]
    fn a_user_follows_one_module_for_good() {
        let jobs: Vec<Job> = (0..900).map(|place| job(place % 30, 60 * (1 + u64::from(place)), 1)).collect();
        let bids = mixed(&jobs);
        let is_constant_total = |user: u32| {
            let mut totals =
                jobs.iter().zip(&bids).filter(|(job, _)| job.user == user).map(|(job, bid)| Reading::AsTabled.node_time(job) * bid);
            totals.all(|total| (total - 1000.0).abs() < 1e-6)
        };
        let users = (0..30).filter(|user| is_constant_total(*user)).count();
        assert!((1..15).contains(&users));
    }
}
