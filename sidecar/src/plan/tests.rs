use job_types::number::{PartitionIndex, UserId};
use std::sync::Arc;

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeRange};
use predictor_core::forecasts::queue_plan::PlanObstacle;
use queue_plan::plan;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{PendingReason, QueuedJob, Reservation};

use super::Question;
use super::answer::published;
use super::prices::Pricer;
use crate::known::cluster::Cluster;
use crate::known::made_up::{NOW, cluster, job, running};
use crate::known::names::PartitionIndices;

/// Ranges as the forecast for the jobs of one user on two nodes.
fn of_two_nodes<'a>(ranges: &'a [RunTimeRange]) -> impl Fn(UserId, PartitionIndex, Size, Option<Seconds>) -> Option<RunTimeForecast<'a>> {
    move |user, partition, size, _| {
        let is_theirs = (user, partition, size.nodes) == (UserId(7), PartitionIndex(3), 2);
        is_theirs.then_some(RunTimeForecast { jobs: 1, longest_limit: None, ranges })
    }
}

fn planned(cluster: &Cluster, ranges: &[RunTimeRange]) -> Vec<(u32, Result<i64, PlanObstacle>)> {
    let indices: PartitionIndices = [(Arc::from("main"), PartitionIndex(3))].into();
    let question = Question::new(cluster, &indices, false, of_two_nodes(ranges), &[]);
    let plan = published(&question, &plan(&question.state), &Pricer::default());
    assert_eq!((plan.at, plan.partitions[0].index, plan.partitions[0].cpus_per_node), (UnixTime(NOW), PartitionIndex(3), 4));
    plan.jobs.iter().map(|job| (job.job.0, job.start.map(|start| (start.expected - UnixTime(NOW)).0))).collect()
}

#[test]
fn what_slurmctld_says_becomes_a_plan_with_forecast_run_times() {
    let ranges = [RunTimeRange::new(1_000, 1_200, 1.0)];
    // Two nodes run since 600 s what takes 1,100 s on two nodes; one runs up to its limit of 3,600
    // s; one completes.
    let completing = QueuedJob { state: JobState::Completing, ..running(3, 5, 5, 10) };
    let jobs = [
        QueuedJob { node_ranges: vec![(0, 0), (2, 2)], cpus: 8, nodes: 2, ..running(1, 0, 2, 600) },
        running(2, 4, 4, 1_000),
        completing,
        job(5, JobState::Pending, 1),
        job(4, JobState::Pending, 4),
        QueuedJob { priority: 20, ..job(6, JobState::Pending, 3) },
        QueuedJob { reason: PendingReason::Dependency, ..job(7, JobState::Pending, 1) },
        QueuedJob { priority: 0, ..job(8, JobState::Pending, 1) },
        QueuedJob { reservation: Some("gone".to_owned()), ..job(9, JobState::Pending, 1) },
    ];
    let cluster = cluster(&jobs, Vec::new());
    assert_eq!(
        planned(&cluster, &ranges),
        [
            // Three nodes once the two end, 500 s from now, beside that which completes.
            (6, Ok(500)),
            // All four once that has run to its limit.
            (4, Ok(4_100)),
            // One node, an hour by its limit: from the next second on, as the larger ones leave
            // none for longer.
            (5, Ok(7_700)),
            (7, Err(PlanObstacle::Dependency)),
            (9, Err(PlanObstacle::Reservation)),
            (8, Err(PlanObstacle::Held)),
        ]
    );
}

#[test]
fn a_job_that_waits_on_its_nodes_for_its_reserved_time_runs_from_then_on() {
    let ranges = [RunTimeRange::new(1_000, 1_200, 1.0)];
    // It has its nodes since ten minutes, and waits for five more, of its hour.
    let asked = r#""asked":{"nodes":2,"cpus":8}"#;
    let record = format!(
        r#"{{"queuecast":{{"version":1,"generation":7,"at":1,"mode":"enforce",{asked},"written":{{"hold_until":{}}}}}}}"#,
        NOW + 300
    );
    let holds = QueuedJob { node_ranges: vec![(0, 0), (2, 2)], cpus: 8, nodes: 2, admin_comment: Some(record), ..running(1, 0, 2, 600) };
    let early = QueuedJob { started: Some(NOW - 3_000), ..holds.clone() };
    let jobs = |holds: &QueuedJob| [holds.clone(), job(2, JobState::Pending, 4)];
    // The job's 1,100 s count from the end of its wait for the reserved time.
    assert_eq!(planned(&cluster(&jobs(&holds), Vec::new()), &ranges), [(2, Ok(300 + 1_100))]);
    assert_eq!(planned(&cluster(&jobs(&early), Vec::new()), &ranges), [(2, Ok(600))], "no longer than its limit");
}

#[test]
fn of_an_admitted_job_the_plan_knows_what_its_deadline_says_and_how_far_it_can_be_put_off() {
    // The jobs of the user on two nodes run for 100 s or for 3,000 s; the admitted job is due in
    // 400 s, and most jobs were given four times their run time.
    let ranges = [RunTimeRange::new(100, 100, 0.5), RunTimeRange::new(3_000, 3_000, 0.5)];
    let record = |by: &str| {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":{},"mode":"enforce","asked":{{"nodes":2,"cpus":8}},
            "written":{{"admitted_by":"{by}","deadline":{},"wanted":0.9}}}}}}"#,
            NOW,
            NOW + 400
        )
    };
    let mut history = DeadlineHistory::default();
    (0..1_000).for_each(|_| history.observe_run(400.0, 100.0));
    let answer = |by: &str, eligible: i64| {
        let admitted = QueuedJob { admin_comment: Some(record(by)), eligible: Some(eligible), ..job(1, JobState::Pending, 2) };
        let cluster = cluster(&[admitted, job(2, JobState::Pending, 4)], Vec::new());
        let indices: PartitionIndices = [(Arc::from("main"), PartitionIndex(3))].into();
        let question = Question::new(&cluster, &indices, false, of_two_nodes(&ranges), &[(PartitionIndex(3), history)]);
        let answer = published(&question, &plan(&question.state), &Pricer::default());
        (answer.jobs[1].start.map(|start| (start.expected - UnixTime(NOW)).0), answer.promised)
    };
    let (behind, promised) = answer("probability", NOW - 10);
    let expected = behind.unwrap();
    assert!((100..200).contains(&expected), "{expected}");
    let [(PartitionIndex(3), promised)] = promised[..] else { panic!("{promised:?}") };
    assert_eq!((promised.start, promised.deadline, promised.cpus), (UnixTime(NOW), UnixTime(NOW + 400), 8));
    assert_eq!((promised.end - promised.start, promised.slack), (Seconds(expected), Seconds(300)));
    // One that becomes eligible later keeps its place, and by another rule nothing is promised that
    // the plan could hold.
    assert_eq!(answer("probability", NOW + 60).1, []);
    assert_eq!(answer("edf", NOW - 10), (Ok(1_550), Vec::new()));
}

#[test]
fn a_reservation_keeps_its_nodes_for_those_that_wait_for_it() {
    let reservation = Reservation {
        name: "course".to_owned(),
        start: NOW - 10,
        end: Some(NOW + 10_000),
        cpus: Some(8),
        node_ranges: vec![(0, 0), (2, 2)],
        ..Reservation::default()
    };
    let jobs = [
        job(1, JobState::Pending, 2),
        job(2, JobState::Pending, 1),
        QueuedJob { reservation: Some("course".to_owned()), ..job(3, JobState::Pending, 2) },
        job(4, JobState::Pending, 3),
    ];
    let start = Seconds(10_000).0;
    assert_eq!(planned(&cluster(&jobs, vec![reservation]), &[]), [(3, Ok(0)), (1, Ok(0)), (2, Ok(3_600)), (4, Ok(start))]);
}

#[test]
fn each_reason_of_slurmctlds_has_its_obstacle_and_none_gives_a_start_that_is_not_certain() {
    let obstacle = |reason, priority| {
        let jobs = [QueuedJob { reason, priority, ..job(1, JobState::Pending, 1) }];
        planned(&cluster(&jobs, Vec::new()), &[])[0].1
    };
    for (reason, expected) in [
        (PendingReason::Resources, None),
        (PendingReason::LastRunFailed, None),
        (PendingReason::Held, Some(PlanObstacle::Held)),
        (PendingReason::Dependency, Some(PlanObstacle::Dependency)),
        (PendingReason::DependencyNeverSatisfied, Some(PlanObstacle::DependencyNeverSatisfied)),
        (PendingReason::Licences, Some(PlanObstacle::Licences)),
        (PendingReason::BurstBuffer, Some(PlanObstacle::BurstBuffer)),
        (PendingReason::Power, Some(PlanObstacle::Power)),
        (PendingReason::Channels, Some(PlanObstacle::Channels)),
        (PendingReason::Federation, Some(PlanObstacle::Federation)),
        (PendingReason::PartitionLimit, Some(PlanObstacle::PartitionLimit)),
        (PendingReason::ReservationGone, Some(PlanObstacle::Reservation)),
        (PendingReason::ArrayLimit, Some(PlanObstacle::ArrayLimit)),
        (PendingReason::AccountLimit, Some(PlanObstacle::Limit)),
        (PendingReason::NotAllowed, Some(PlanObstacle::NotAllowed)),
        (PendingReason::Constraints, Some(PlanObstacle::Constraints)),
        (PendingReason::NodesAway, Some(PlanObstacle::NodesAway)),
        // One of the five nodes is down, and the other four would do for one that needs only nodes.
        (PendingReason::NodesAwayOrInTurn, Some(PlanObstacle::NodesAway)),
        (PendingReason::NotKnown, Some(PlanObstacle::NotKnown)),
    ] {
        assert_eq!(obstacle(reason, 10).err(), expected, "{reason:?}");
    }
    // What slurmctld holds is told by the reason for that.
    assert_eq!(obstacle(PendingReason::Constraints, 0), Err(PlanObstacle::Constraints));
    assert_eq!(obstacle(PendingReason::Resources, 0), Err(PlanObstacle::Held));
    let five = QueuedJob { reason: PendingReason::NodesAwayOrInTurn, ..job(1, JobState::Pending, 5) };
    assert_eq!(planned(&cluster(&[five], Vec::new()), &[]), [(1, Err(PlanObstacle::TooLarge))]);
}
