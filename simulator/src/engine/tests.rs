//! The engine on workloads that can be followed by hand.

use job_types::time::{Seconds, UnixTime};

use super::backfill::{Easy, InOrder};
use super::estimates::{LastTwo, Requested};
use super::order::{FirstCome, ShortestFirst};
use super::policy::AsSubmitted;
use super::{Backfill, DoesNotFit, Job, Machine, Order, Record, Scheduler, simulate};

fn job(submit: i64, processors: u32, run_time: i64, estimate: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(estimate), ..Job::default() }
}

fn run(order: impl Order + 'static, backfill: impl Backfill + 'static, jobs: &[Job], processors: u32) -> Vec<i64> {
    let mut scheduler = Scheduler { order: Box::new(order), backfill: Box::new(backfill), estimates: Box::new(Requested) };
    let records = simulate(jobs, &Machine::new(processors), &mut scheduler, &mut AsSubmitted).unwrap();
    records.iter().map(|record| record.start.0).collect()
}

#[test]
fn without_backfilling_nobody_overtakes() {
    let jobs = [job(0, 3, 100, 100), job(1, 4, 50, 50), job(2, 1, 10, 10)];
    assert_eq!(run(FirstCome, InOrder, &jobs, 4), [0, 100, 150]);
}

#[test]
fn a_short_job_is_backfilled_before_the_reserved_head() {
    let jobs = [job(0, 3, 100, 100), job(1, 4, 50, 50), job(2, 1, 10, 10)];
    assert_eq!(run(FirstCome, Easy::default(), &jobs, 4), [0, 100, 2]);
}

#[test]
fn a_long_job_is_backfilled_only_beside_the_head() {
    let jobs = [job(0, 3, 100, 100), job(1, 3, 50, 50), job(2, 1, 500, 500), job(3, 1, 500, 500)];
    assert_eq!(run(FirstCome, Easy::default(), &jobs, 4), [0, 100, 2, 150]);
}

#[test]
fn an_early_end_starts_the_head_and_tries_the_queue_again() {
    let jobs = [job(0, 3, 40, 100), job(1, 4, 50, 50), job(2, 1, 90, 99), job(3, 1, 10, 99)];
    // The third does not fit before 100, where the head needs everything; at 40 the head starts.
    assert_eq!(run(FirstCome, Easy::default(), &jobs, 4), [0, 40, 90, 90]);
}

#[test]
fn the_shortest_comes_first() {
    let jobs = [job(0, 4, 100, 100), job(1, 4, 50, 50), job(2, 4, 10, 10)];
    assert_eq!(run(ShortestFirst, InOrder, &jobs, 4), [0, 110, 100]);
}

#[test]
fn a_submission_at_the_instant_of_an_expected_end_may_start_at_once() {
    let jobs = [job(0, 4, 100, 100), job(100, 4, 10, 10)];
    assert_eq!(run(FirstCome, Easy::default(), &jobs, 4), [0, 100]);
}

#[test]
fn a_job_that_outlives_its_prediction_is_expected_to_end_later() {
    // The same user's two jobs of 10 seconds make the third expected to run 10; it runs 1,000, and
    // the head waits for it.
    let jobs = [job(0, 1, 10, 1_000), job(0, 1, 10, 1_000), job(20, 3, 1_000, 1_000), job(21, 4, 5, 5)];
    let mut scheduler =
        Scheduler { order: Box::new(FirstCome), backfill: Box::new(Easy::default()), estimates: Box::new(LastTwo::default()) };
    let records = simulate(&jobs, &Machine::new(4), &mut scheduler, &mut AsSubmitted).unwrap();
    assert_eq!(records.iter().map(|record| record.start.0).collect::<Vec<_>>(), [0, 0, 20, 1_020]);
}

#[test]
fn a_job_larger_than_the_machine_is_named() {
    let jobs = [Job { number: 17, ..job(0, 5, 1, 1) }];
    let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill: Box::new(InOrder), estimates: Box::new(Requested) };
    let outcome: Result<Vec<Record>, DoesNotFit> = simulate(&jobs, &Machine::new(4), &mut scheduler, &mut AsSubmitted);
    assert_eq!(outcome, Err(DoesNotFit { number: 17, wanted: 5, available: 4 }));
}
