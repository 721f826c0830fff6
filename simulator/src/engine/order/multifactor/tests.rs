//! Priorities worked out by hand, on a machine of 16 processors.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};

use super::{Associations, Multifactor, Order, PrioritySettings, Record};
use crate::engine::{Job, Waiting};

fn job(submit: i64, processors: u32, user: u32) -> Job {
    Job { submit: UnixTime(submit), run_time: Seconds(100), estimate: Seconds(600), processors, user: UserId(user), ..Job::default() }
}

fn weights() -> PrioritySettings {
    PrioritySettings {
        weight_age: 1_000,
        weight_fair_share: 2_000,
        weight_job_size: 500,
        weight_partition: 400,
        weight_qos: 800,
        max_age: Seconds(600),
        decay_half_life: Seconds(1_200),
        calculation_period: Seconds(60),
        partition_factors: [(1, 1), (2, 10)].into(),
        qos_priorities: [(1, 0), (2, 10)].into(),
        ..PrioritySettings::default()
    }
}

fn order(settings: PrioritySettings, jobs: &[Job]) -> Multifactor {
    Multifactor::new(settings, Associations::of_users(jobs), 16, UnixTime(0))
}

#[test]
fn a_new_job_has_all_but_its_age() {
    // What sprio of Slurm 22.05.8 showed for such a job: fair share 2000, size 500 * 12 / 16 = 375,
    // partition 400 and QOS 800, together 3575; and for one of 8 nodes in the other partition
    // without QOS: 2000 + 250 + 40.
    let first = Job { partition: 2, queue: 2, ..job(0, 12, 1) };
    let second = Job { partition: 1, queue: 1, ..job(0, 8, 2) };
    let mut order = order(weights(), &[first, second]);
    assert_eq!(order.key(&first, Seconds(600), UnixTime(0)), -3_575);
    assert_eq!(order.key(&second, Seconds(600), UnixTime(0)), -2_290);
}

#[test]
fn small_jobs_and_short_ones_can_be_favoured() {
    let job = job(0, 4, 1);
    let favouring = PrioritySettings { weight_job_size: 1_000, favors_small: true, ..PrioritySettings::default() };
    assert_eq!(order(favouring.clone(), &[job]).key(&job, Seconds(600), UnixTime(0)), -750);
    // 4 of 16 processors for 10 minutes.
    let relative = PrioritySettings { size_relative_to_time: true, favors_small: false, ..favouring };
    assert_eq!(order(relative, &[job]).key(&job, Seconds(600), UnixTime(0)), -25);
}

#[test]
fn priorities_change_when_they_are_calculated_and_not_between() {
    let jobs = [job(10, 4, 1), job(20, 8, 2)];
    let settings = PrioritySettings { weight_age: 60_000, weight_job_size: 16, max_age: Seconds(600), ..PrioritySettings::default() };
    let mut order = order(PrioritySettings { calculation_period: Seconds(60), ..settings }, &jobs);
    let mut waiting: Vec<Waiting> = Vec::new();
    for (job, described) in (0..).zip(&jobs) {
        let key = order.key(described, Seconds(600), described.submit);
        let place = waiting.partition_point(|entry| entry.key <= key);
        waiting.insert(place, Waiting { key, expected: Seconds(600), processors: described.processors, job });
        assert!(!order.reorder(described.submit, &jobs, &mut waiting));
    }
    let seen = |waiting: &[Waiting]| waiting.iter().map(|entry| (entry.job, entry.key)).collect::<Vec<_>>();
    assert_eq!(seen(&waiting), [(1, -8), (0, -4)]);
    assert!(!order.reorder(UnixTime(59), &jobs, &mut waiting));
    // At 60 they are 50 and 40 s old; a second is worth 100.
    assert!(order.reorder(UnixTime(75), &jobs, &mut waiting));
    assert_eq!(seen(&waiting), [(0, -5_004), (1, -4_008)]);
}

#[test]
fn who_has_used_much_comes_later() {
    let jobs = [job(0, 16, 1), job(100, 1, 1), job(100, 1, 2)];
    let settings = PrioritySettings { weight_fair_share: 1_000, calculation_period: Seconds(60), ..PrioritySettings::default() };
    let mut order = order(settings, &jobs);
    let mut record = Record { estimate: Seconds(600), processors: 16, ..Record::default() };
    assert_eq!(order.key(&jobs[0], Seconds(600), UnixTime(0)), -1_000, "nobody has used anything");
    order.started(&jobs[0], &record);
    record.end = UnixTime(50);
    order.ended(&jobs[0], &record);
    assert_eq!(order.key(&jobs[1], Seconds(600), UnixTime(55)), -1_000, "the last calculation was at 0");
    assert_eq!(order.key(&jobs[1], Seconds(600), UnixTime(100)), -500, "second of two");
    assert_eq!(order.key(&jobs[2], Seconds(600), UnixTime(100)), -1_000, "first of two");
}
