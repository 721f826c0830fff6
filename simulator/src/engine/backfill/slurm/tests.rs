//! Start times worked out by hand, on a machine of 8 processors.

use job_types::time::{Seconds, UnixTime};

use super::{Slurm, SlurmParameters};
use crate::engine::estimates::Requested;
use crate::engine::order::FirstCome;
use crate::engine::policy::AsSubmitted;
use crate::engine::{Job, Machine, Scheduler, simulate};

fn job(submit: i64, processors: u32, run_time: i64, estimate: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(estimate), ..Job::default() }
}

fn starts_under(slurm: Slurm, jobs: &[Job]) -> Vec<i64> {
    let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill: Box::new(slurm), estimates: Box::new(Requested) };
    let records = simulate(jobs, &Machine::new(8), &mut scheduler, &mut AsSubmitted).unwrap();
    records.iter().map(|record| record.start.0).collect()
}

fn starts(parameters: &SlurmParameters, jobs: &[Job], named: bool) -> Vec<i64> {
    let slurm = Slurm::new(parameters.clone());
    starts_under(if named { slurm.with_nodes(1) } else { slurm }, jobs)
}

fn both(parameters: &SlurmParameters, jobs: &[Job]) -> [Vec<i64>; 2] {
    [false, true].map(|named| starts(parameters, jobs, named))
}

/// The backfill scheduler is off.
fn main_only() -> SlurmParameters {
    SlurmParameters { bf_interval: Seconds(-1), ..SlurmParameters::default() }
}

#[test]
fn a_submission_is_seen_by_the_next_look_and_another_after_the_delay() {
    let jobs = [job(100, 1, 10, 60), job(102, 1, 10, 60)];
    for found in both(&main_only(), &jobs) {
        assert_eq!(found, [101, 104]);
    }
}

#[test]
fn an_epilog_tells_of_an_end_at_once() {
    // The submission at 150 causes a pass at 151; the end at 152 has to wait for the next, at 154,
    // unless an epilog tells of it.
    let jobs = [job(100, 8, 51, 60), job(101, 8, 10, 60), job(150, 8, 10, 60)];
    for found in both(&main_only(), &jobs) {
        assert_eq!(found, [101, 154, 165]);
    }
    assert_eq!(starts_under(Slurm::new(main_only()).with_epilog(), &jobs), [101, 152, 162]);
}

#[test]
fn who_does_not_fit_holds_up_those_behind() {
    let jobs = [job(100, 6, 50, 60), job(100, 4, 10, 60), job(100, 1, 10, 60)];
    for found in both(&main_only(), &jobs) {
        assert_eq!(found, [101, 152, 152]);
    }
}

#[test]
fn without_the_main_scheduler_only_the_other_one_starts_jobs() {
    let parameters = SlurmParameters { sched_interval: Seconds(-1), ..SlurmParameters::default() };
    let jobs = [job(100, 1, 10, 60), job(105, 1, 10, 60)];
    for found in both(&parameters, &jobs) {
        // bf_interval is 30.
        assert_eq!(found, [100, 130]);
    }
}

#[test]
fn a_job_that_ends_before_the_planned_start_is_backfilled() {
    // The second is planned for 160. The third could run until 130 + 60, after that; the fourth
    // until 150.
    let parameters = SlurmParameters { bf_resolution: Seconds(1), ..SlurmParameters::default() };
    let jobs = [job(100, 6, 60, 60), job(101, 8, 10, 60), job(102, 2, 10, 60), job(103, 2, 10, 20)];
    for found in both(&parameters, &jobs) {
        assert_eq!(found, [100, 160, 171, 130]);
    }
}

#[test]
fn rounding_moves_a_plan_ahead() {
    // With steps of a minute the plan for the second begins at 120 already, before the fourth could
    // end.
    let jobs = [job(100, 6, 60, 60), job(101, 8, 10, 60), job(102, 2, 10, 60), job(103, 2, 10, 20)];
    for found in both(&SlurmParameters::default(), &jobs) {
        assert_eq!(found, [100, 160, 171, 171]);
    }
}

#[test]
fn a_rounded_plan_takes_no_processor_twice() {
    // The second is planned for 160 on processors that the first has until then, three quarters of
    // the machine. The third has room beside both for as long as it likes, although the plan begins
    // at 120 in steps of a minute.
    let jobs = [job(100, 6, 60, 60), job(101, 6, 10, 60), job(102, 2, 500, 500)];
    for found in both(&SlurmParameters::default(), &jobs) {
        assert_eq!(found, [100, 160, 130]);
    }
}

#[test]
fn what_starts_beyond_the_window_is_not_planned() {
    // The first may run for two hours, and the second is not planned within one: nothing holds the
    // third up.
    let parameters = SlurmParameters { bf_window: Seconds(3_600), ..SlurmParameters::default() };
    let jobs = [job(100, 6, 7_200, 7_200), job(101, 8, 10, 60), job(102, 2, 8_000, 8_000)];
    for found in both(&parameters, &jobs) {
        assert_eq!(found, [100, 8_131, 130]);
    }
    for found in both(&SlurmParameters::default(), &jobs) {
        assert_eq!(found, [100, 7_300, 7_311]);
    }
}

#[test]
fn no_more_than_the_first_jobs_are_tried() {
    let parameters = SlurmParameters { bf_max_job_test: 2, bf_resolution: Seconds(1), ..SlurmParameters::default() };
    // The fourth could be backfilled, but is the third to be tried.
    let jobs = [job(100, 6, 100, 100), job(101, 8, 10, 60), job(101, 7, 10, 60), job(101, 1, 10, 20)];
    for found in both(&parameters, &jobs) {
        assert_eq!(found, [100, 201, 212, 212]);
    }
}

#[test]
fn named_nodes_can_hold_up_what_counting_lets_start() {
    // From 105 on nodes 0 to 2 are idle, the others are the second job's until 700 at the latest.
    // The third is planned for then on five nodes in a row, 0 to 4, and so on all that are idle. By
    // counting, three of eight are left beside it, and the fourth may run on two of them for long.
    let parameters = SlurmParameters { bf_resolution: Seconds(1), ..SlurmParameters::default() };
    let jobs = [job(100, 3, 5, 60), job(100, 5, 600, 600), job(110, 5, 10, 600), job(110, 2, 2_000, 2_000)];
    assert_eq!(starts(&parameters, &jobs, false), [100, 100, 700, 130]);
    assert_eq!(starts(&parameters, &jobs, true), [100, 100, 700, 700]);
}
