//! How near the made-up year comes to what the thesis tells of its own.

use std::collections::BTreeMap;

use serde::Serialize;

use super::published::{
    JOB_NODE_SECONDS, JOBS, LONGEST_SECONDS, MEAN_NODES, NODE_SECONDS, POWERS_OF_TWO, RUN_TIMES_SECONDS, SHORTER_THAN, TOP_USERS_BY_JOBS,
    TOP_USERS_BY_NODE_SECONDS, USER_JOBS, USER_NODE_SECONDS, USERS, WIDEST,
};
use crate::engine::preemptive::Job;

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// What it is, with its unit.
    pub what: String,
    /// As the thesis has it.
    pub published: f64,
    /// Of these jobs.
    pub ours: f64,
}

impl Fitted {
    /// How far ours is off, as a part of what is published.
    #[must_use]
    pub fn off(&self) -> f64 {
        if self.published == 0.0 { self.ours } else { self.ours / self.published - 1.0 }
    }
}

/// What one user's jobs come to.
#[derive(Debug, Clone, Copy, Default)]
struct User {
    jobs: f64,
    node_seconds: f64,
    seconds: f64,
    nodes: f64,
}

fn seconds(job: &Job) -> f64 {
    job.run_time.0 as f64 / 1000.0
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Every figure of the jobs that the thesis gives, beside ours: of all jobs, then of users.
#[must_use]
pub fn fit(jobs: &[Job]) -> Vec<Fitted> {
    let mut fit = Vec::new();
    let mut push = |what: String, published: f64, ours: f64| fit.push(Fitted { what, published, ours });
    let total: f64 = jobs.iter().map(Job::node_seconds).sum();
    push("jobs".to_owned(), JOBS as f64, jobs.len() as f64);
    push("node-seconds of all jobs".to_owned(), NODE_SECONDS, total);
    let nodes: f64 = jobs.iter().map(|job| f64::from(job.nodes)).sum();
    push("mean nodes of a job".to_owned(), MEAN_NODES, nodes / jobs.len().max(1) as f64);
    for (size, published) in POWERS_OF_TWO {
        let ours = jobs.iter().filter(|job| job.nodes == size).count();
        push(format!("jobs of {size} nodes"), published as f64, ours as f64);
    }
    push("jobs of more than 65 nodes".to_owned(), WIDEST as f64, jobs.iter().filter(|job| job.nodes > 65).count() as f64);
    let by_percentile = [
        ("run time in s", sorted(jobs.iter().map(seconds)), RUN_TIMES_SECONDS),
        ("node-seconds of a job", sorted(jobs.iter().map(Job::node_seconds)), JOB_NODE_SECONDS),
    ];
    for (what, values, published) in &by_percentile {
        for (rank, published) in published {
            let place = (rank * values.len() as f64) as usize;
            push(format!("{what}, {} %", rank * 100.0), *published, values.get(place).copied().unwrap_or(0.0));
        }
    }
    let [(_, run_times, _), _] = &by_percentile;
    push("longest run time in s".to_owned(), LONGEST_SECONDS, run_times.last().copied().unwrap_or(0.0));
    for (below, count, published) in SHORTER_THAN {
        let shorter = || jobs.iter().filter(|job| seconds(job) < below);
        push(format!("jobs below {below} s"), count as f64, shorter().count() as f64);
        let part = 100.0 * shorter().map(Job::node_seconds).sum::<f64>() / total;
        push(format!("node-seconds of jobs below {below} s, in % of all"), 100.0 * published / NODE_SECONDS, part);
    }
    fit.extend(of_users(jobs));
    fit
}

fn of_users(jobs: &[Job]) -> Vec<Fitted> {
    let mut users: BTreeMap<u32, User> = BTreeMap::new();
    for job in jobs {
        let user = users.entry(job.user).or_default();
        user.jobs += 1.0;
        user.node_seconds += job.node_seconds();
        user.seconds += seconds(job);
        user.nodes += f64::from(job.nodes);
    }
    let mut fit = Vec::new();
    let mut push = |what: String, published: f64, ours: f64| fit.push(Fitted { what, published, ours });
    push("users".to_owned(), USERS as f64, users.len() as f64);
    let by_rank = [
        ("jobs", sorted(users.values().map(|user| user.jobs)), USER_JOBS, TOP_USERS_BY_JOBS),
        ("node-seconds", sorted(users.values().map(|user| user.node_seconds)), USER_NODE_SECONDS, TOP_USERS_BY_NODE_SECONDS),
    ];
    for (what, values, published, (top, published_top)) in by_rank {
        for (above, published) in published {
            push(format!("{what} of the user with {above} users above"), published, values.iter().rev().nth(above).copied().unwrap_or(0.0));
        }
        push(format!("{what} of the first {top} users"), published_top, values.iter().rev().take(top).sum());
    }
    let count = |is: &dyn Fn(&User) -> bool| users.values().filter(|user| is(user)).count() as f64;
    push("users with a mean run time of at least 15 h".to_owned(), 5.0, count(&|user| user.seconds >= 15.0 * 3600.0 * user.jobs));
    push("users with a mean run time of at least 1 h".to_owned(), 10.0, count(&|user| user.seconds >= 3600.0 * user.jobs));
    push("users with a mean of at most 4 nodes".to_owned(), USERS as f64 / 2.0, count(&|user| user.nodes <= 4.0 * user.jobs));
    push("users with a mean of at least 16 nodes".to_owned(), 10.0, count(&|user| user.nodes >= 16.0 * user.jobs));
    fit
}
