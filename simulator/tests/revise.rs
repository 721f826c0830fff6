//! Jobs that a policy changes after their submission, as the daemon does on a cluster.
#![allow(clippy::unwrap_used)] // helpers of tests

use job_types::time::{Seconds, UnixTime};
use simulator::engine::backfill::{Conservative, Easy, InOrder, Slurm, SlurmParameters};
use simulator::engine::estimates::Requested;
use simulator::engine::order::FirstCome;
use simulator::engine::{Backfill, Cluster, Job, JobIndex, Machine, Policy, Record, Revised, Scheduler, Submitted, simulate};

/// Holds the first job back until a time, and changes one job at another.
struct Revise {
    held_until: UnixTime,
    at: UnixTime,
    revised: Option<Revised>,
}

impl Policy for Revise {
    fn submit(&mut self, index: JobIndex, job: &Job, _cluster: &Cluster) -> Submitted {
        let eligible = if index == 0 { self.held_until } else { job.submit };
        Submitted { job: *job, eligible, hold_until: None }
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.revised.map(|_| self.at)
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        assert_eq!(cluster.now(), self.at);
        self.revised.take().into_iter().collect()
    }
}

fn scheduler(backfill: impl Backfill + 'static) -> Scheduler {
    Scheduler { order: Box::new(FirstCome), backfill: Box::new(backfill), estimates: Box::new(Requested) }
}

fn backfilling() -> Vec<(&'static str, Scheduler)> {
    let slurm = || Slurm::new(SlurmParameters::default());
    vec![
        ("easy", scheduler(Easy::default())),
        ("conservative", scheduler(Conservative::new())),
        ("slurm", scheduler(slurm())),
        ("slurm, named nodes", scheduler(slurm().with_nodes(1))),
    ]
}

fn job(submit: i64, processors: u32, run_time: i64, estimate: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(estimate), ..Job::default() }
}

fn run(jobs: &[Job], mut scheduler: Scheduler, mut policy: Revise) -> Vec<Record> {
    simulate(jobs, &Machine::new(4), &mut scheduler, &mut policy).unwrap()
}

/// Slurm's loops look from time to time.
const A_WHILE: i64 = 120;

#[test]
fn a_job_that_is_held_back_comes_when_it_is_told_anew() {
    for eligible in [100, 200, 1_500] {
        for (name, scheduler) in backfilling().into_iter().chain([("in order", scheduler(InOrder))]) {
            let revised = Some(Revised { job: 0, eligible: Some(UnixTime(eligible)), estimate: None });
            let policy = Revise { held_until: UnixTime(1_000), at: UnixTime(100), revised };
            let records = run(&[job(0, 3, 100, 200), job(10, 1, 5_000, 5_000)], scheduler, policy);
            let [moved, _] = records.as_slice() else { panic!() };
            assert_eq!(moved.eligible, UnixTime(eligible), "{name}");
            assert!((eligible..eligible + A_WHILE).contains(&moved.start.0), "{name}: {moved:?}");
        }
    }
}

#[test]
fn a_job_that_waits_is_backfilled_once_its_limit_is_short_enough() {
    // The second waits for all of the machine, until the first is expected to be done; the third
    // would fit beside the first, and delay the second.
    let jobs = [job(0, 3, 2_000, 2_000), job(10, 4, 100, 100), job(20, 1, 50, 3_000)];
    for (limit, starts) in [(3_000, 2_000), (1_000, 200)] {
        for (name, scheduler) in backfilling() {
            let revised = Some(Revised { job: 2, eligible: None, estimate: Some(Seconds(limit)) });
            let policy = Revise { held_until: UnixTime(0), at: UnixTime(200), revised };
            let records = run(&jobs, scheduler, policy);
            let third = records.last().unwrap();
            assert_eq!(third.estimate, Seconds(limit), "{name}");
            assert!((starts..starts + 3 * A_WHILE).contains(&third.start.0), "{name}: {third:?}");
        }
    }
}

#[test]
fn a_shorter_limit_of_a_running_job_is_what_others_are_planned_by() {
    // The third would end before the first one's limit, and not before the shorter one.
    let jobs = [job(0, 3, 1_000, 4_000), job(10, 4, 100, 100), job(400, 1, 50, 2_000)];
    for (limit, starts) in [(4_000, 400), (1_000, 1_000)] {
        for (name, scheduler) in backfilling() {
            let revised = Some(Revised { job: 0, eligible: None, estimate: Some(Seconds(limit)) });
            let policy = Revise { held_until: UnixTime(0), at: UnixTime(100), revised };
            let records = run(&jobs, scheduler, policy);
            let third = records.last().unwrap();
            assert!((starts..starts + 3 * A_WHILE).contains(&third.start.0), "{name}: {third:?}");
        }
    }
}
