//! What earlier submissions claim of the free CPUs, through the C entry points of the built plugin.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, now, past_job, publish, read, site};
use job_types::job::{EndedJob, WaitingJob};
use job_types::number::UserId;
use job_types::options::Mode;
use job_types::policy::Policy;
use job_types::time::UnixTime;
use made_up_site::{USER, enforcing, free_cpus};
use parking_lot::MutexGuard;
use std::sync::atomic::{AtomicU64, Ordering};

/// Somebody else than [`USER`], with the same past.
const OTHER: u32 = USER + 1;

/// Most nodes of the partition.
const NODES: u32 = 64;

/// The plugin over a fresh snapshot, and the turn with it.
fn running(policy: Policy) -> (MutexGuard<'static, ()>, &'static Running) {
    let (turn, running) = Running::turn();
    running.publish(policy);
    (turn, running)
}

impl Running {
    /// Publishes a plan by which 40 of 256 CPUs are free for the next 10,000 seconds, and then all;
    /// both users have run jobs on 16 nodes.
    fn publish(&self, policy: Policy) {
        let at = now();
        let past = [USER, OTHER].into_iter().flat_map(|user| {
            let of_user = move |job: EndedJob<_, _, _>| EndedJob { submitted: WaitingJob { user: UserId(user), ..job.submitted }, ..job };
            (0..200).map(move |n| of_user(past_job(at, n, 16, 3_600, 5_000 + n % 500, 500)))
        });
        let free = vec![(at, 40), (UnixTime(at.0 + 10_000), 4 * NODES)];
        let plan = free_cpus(at, free, 3);
        // One of the same number and content would be taken for the one before.
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        let generation = GENERATION.fetch_add(1, Ordering::Relaxed);
        publish(self.site.path(), &site(policy, at, generation).ended_jobs(past).queue(&plan).bytes());
        // The first submission takes the new snapshot up.
        self.plugin.submit(&mut Description::batch(1, 1));
    }

    /// Submits a job that asks to be molded, and returns the nodes that it gets.
    fn molded(&self, job: Description) -> u32 {
        let mut job = job.with_control(&["QUEUECAST_AUTO_MOLD=1"]);
        let (answer, said) = self.plugin.submit(&mut job);
        assert_eq!(answer, 0, "{said:?}");
        job.0.min_nodes
    }
}

/// A job of 16 nodes that is only asked about, as `--test-only` does.
fn tested(user: u32) -> Description {
    job(user).only_tested()
}

fn job(user: u32) -> Description {
    Description::batch(16, 64).of_user(user)
}

/// What `sbatch --test-only -n 2000000000` sends.
fn enormous(user: u32) -> Description {
    let mut job = Description::batch(1, 1).of_user(user);
    (job.0.min_nodes, job.0.max_nodes) = (0xffff_fffe, 0xffff_fffe);
    (job.0.num_tasks, job.0.min_cpus) = (2_000_000_000, 2_000_000_000);
    job
}

#[test]
fn a_user_s_own_burst_does_not_shrink_twice_for_the_same_cpus() {
    let (_turn, running) = running(enforcing());
    // 40 free CPUs are 10 nodes; for the second job nothing is left that would let it start sooner.
    assert_eq!((running.molded(job(USER)), running.molded(job(USER))), (10, 16));
}

#[test]
fn a_thousand_requests_that_only_test_change_nobody_s_answer() {
    let (_turn, running) = running(enforcing());
    let (mut before, mut after) = (tested(OTHER), tested(OTHER));
    for job in [&mut before, &mut after] {
        job.control(&["QUEUECAST_AUTO_MOLD=1"]);
    }
    let told_before = running.plugin.submit(&mut before);
    running.publish(enforcing());
    for n in 0..1_000 {
        let asked = if n % 2 == 0 { enormous(USER).only_tested() } else { tested(USER) };
        running.molded(asked);
    }
    let told_after = running.plugin.submit(&mut after);
    // The time until the job as written would be done shrinks by itself, as the plan's times come
    // nearer.
    let told = |said: Option<String>| said.unwrap().rsplit_once(" instead of ").unwrap().0.to_owned();
    assert_eq!(told(told_before.1), told(told_after.1));
    assert_eq!((before.0.min_nodes, after.0.min_nodes), (10, 10));
    // Whether they test shows once the queue is read again: until then they count for who asked.
    assert_eq!(running.molded(job(USER)), 16);
    running.publish(enforcing());
    assert_eq!(running.molded(job(USER)), 10);
}

#[test]
fn jobs_that_could_never_run_claim_nothing() {
    let (_turn, running) = running(enforcing());
    let too_long = |user| {
        let mut job = job(user);
        job.0.time_limit = 3 * 24 * 60;
        job
    };
    let too_large = |user| Description::batch(NODES + 1, 4 * (NODES + 1)).of_user(user);
    for _ in 0..100 {
        for asked in [enormous(USER), too_long(USER), too_large(USER)] {
            running.molded(asked);
        }
    }
    assert_eq!(running.molded(job(USER)), 10);
}

#[test]
fn a_flood_of_one_user_changes_nobody_else_s_answer() {
    let (_turn, running) = running(enforcing());
    for _ in 0..1_000 {
        running.molded(job(USER));
    }
    assert_eq!((running.molded(job(USER)), running.molded(job(OTHER))), (16, 10));
}

#[test]
fn users_without_number_neither_grow_memory_nor_stop_the_claims_of_those_before_them() {
    let (_turn, running) = running(enforcing());
    assert_eq!(running.molded(job(USER)), 10);
    for user in 10_000..30_000 {
        running.plugin.submit(&mut Description::batch(1, 4).of_user(user).with_control(&["QUEUECAST_AUTO_MOLD=1"]));
    }
    assert_eq!((running.molded(job(USER)), running.molded(job(OTHER))), (16, 10));
}

#[test]
fn what_is_only_observed_claims_nothing() {
    for mode in [Mode::Observe, Mode::Advise] {
        let (_turn, running) = running(Policy { mode, ..enforcing() });
        for _ in 0..10 {
            running.molded(job(USER));
        }
        let mut job = job(USER).with_control(&["QUEUECAST_AUTO_MOLD=1"]);
        running.plugin.submit(&mut job);
        let record = job_types::record::Record::parse(&read(job.0.admin_comment).unwrap()).unwrap();
        assert_eq!(record.written.and_then(|written| written.nodes), Some(10), "{mode:?}");
    }
}

#[test]
fn claims_end_with_the_snapshot() {
    let (_turn, running) = running(enforcing());
    assert_eq!((running.molded(job(USER)), running.molded(job(USER))), (10, 16));
    running.publish(enforcing());
    assert_eq!(running.molded(job(USER)), 10);
}
