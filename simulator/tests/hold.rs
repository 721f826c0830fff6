//! Jobs that were promised nodes at a time: on their nodes early they wait there, under every
//! scheduler.
#![allow(clippy::unwrap_used)] // helpers of tests

use job_types::time::{Seconds, UnixTime};
use simulator::engine::backfill::{Candidates, Conservative, Easy, InOrder, Slurm, SlurmParameters};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::FirstCome;
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Backfill, Cluster, Estimates, Job, JobIndex, Machine, Policy, Record, Scheduler, Submitted, simulate};

/// Promises the job of that index its nodes at a time.
struct Promise {
    job: JobIndex,
    at: UnixTime,
}

impl Policy for Promise {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
        let hold_until = (index == self.job).then_some(self.at);
        Submitted { hold_until, ..AsSubmitted.submit(index, job, cluster) }
    }
}

fn scheduler(backfill: impl Backfill + 'static, estimates: impl Estimates + 'static) -> Scheduler {
    Scheduler { order: Box::new(FirstCome), backfill: Box::new(backfill), estimates: Box::new(estimates) }
}

/// Returns one scheduler of each kind, with its name.
fn schedulers() -> Vec<(&'static str, Scheduler)> {
    let slurm = || Slurm::new(SlurmParameters::default());
    vec![
        ("first come, first served", scheduler(InOrder, Requested)),
        ("easy", scheduler(Easy::default(), Requested)),
        ("easy++", scheduler(Easy::new(Candidates::ShortestFirst), LastTwo::default())),
        ("conservative", scheduler(Conservative::new(), Requested)),
        ("slurm", scheduler(slurm(), Requested)),
        ("slurm, named nodes", scheduler(slurm().with_nodes(1), Requested)),
    ]
}

fn job(submit: i64, processors: u32, run_time: i64, estimate: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(estimate), ..Job::default() }
}

fn run(jobs: &[Job], mut scheduler: Scheduler, mut promise: Promise) -> Vec<Record> {
    simulate(jobs, &Machine::new(4), &mut scheduler, &mut promise).unwrap()
}

#[test]
fn a_job_on_its_nodes_early_waits_until_its_time_and_then_runs() {
    // Promised 3 of 4 processors at 1,000 for 100 seconds, with the limit padded to 1,100. The
    // other job wants 2, and gets them only when the first one is done.
    let jobs = [job(0, 3, 100, 1_100), job(10, 2, 50, 60)];
    for (name, scheduler) in schedulers() {
        let records = run(&jobs, scheduler, Promise { job: 0, at: UnixTime(1_000) });
        let [promised, other] = records.as_slice() else { panic!() };
        let held = UnixTime(1_000) - promised.start;
        assert!(promised.start < UnixTime(100), "{name}: {promised:?}");
        assert_eq!((promised.end, promised.held, promised.run_time()), (UnixTime(1_100), held, Seconds(100)), "{name}");
        assert_eq!(promised.occupied(), Seconds(100) + held, "{name}");
        assert!(other.start >= UnixTime(1_100) && other.held == Seconds::ZERO, "{name}: {other:?}");
    }
}

#[test]
fn what_is_left_of_a_machine_beside_a_job_that_waits_on_its_nodes_is_used() {
    let jobs = [job(0, 3, 100, 1_100), job(10, 1, 50, 60)];
    for (name, scheduler) in schedulers() {
        let records = run(&jobs, scheduler, Promise { job: 0, at: UnixTime(1_000) });
        assert!(records[1].end < UnixTime(1_000), "{name}: {records:?}");
    }
}

#[test]
fn a_job_that_starts_after_its_time_runs_at_once() {
    let jobs = [job(0, 4, 500, 500), job(10, 3, 100, 400)];
    for (name, scheduler) in schedulers() {
        let records = run(&jobs, scheduler, Promise { job: 1, at: UnixTime(300) });
        let late = &records[1];
        assert!(late.start >= UnixTime(500), "{name}: {late:?}");
        assert_eq!((late.held, late.occupied()), (Seconds::ZERO, Seconds(100)), "{name}");
    }
}

#[test]
fn a_time_that_the_limit_does_not_reach_is_not_waited_for() {
    // As on the node: the job would end before it did anything.
    let jobs = [job(0, 3, 100, 1_000)];
    for (name, scheduler) in schedulers() {
        let records = run(&jobs, scheduler, Promise { job: 0, at: UnixTime(5_000) });
        assert_eq!((records[0].held, records[0].run_time()), (Seconds::ZERO, Seconds(100)), "{name}");
    }
}
