//! A snapshot is read back as it was written, or not at all.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use job_types::number::{AccountIndex, JobId, PartitionIndex, QosId, QosIndex, UserId};
use job_types::policy::{Admission, Policy};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use made_up_site::{FREE_CPUS, MadeUpSite, NOW, USER, batch, ended_job, enforcing, forecast_by, fork, running_job};
use predictor_core::decisions::Timeliness;
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::decisions::limits::{AccountingLimits, AssociationLimits, Caps, JobLimits, NodeSizes, PartitionLimits, Qos, QosRules};
use predictor_core::decisions::shared_nodes::SharingJob;
use predictor_core::decisions::site::Site;
use predictor_core::decisions::slurm_reservations::{MOST_SLURM_RESERVATIONS, SlurmReservation, taken_between};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::forecast::{
    Association, ClassBounds, JobShape, Moment, QueueForecaster, RunTimeForecaster, RunTimeQuestion, RunTimeRange, WaitForecaster, point,
};
use predictor_core::forecasts::past::{Group, GroupKey, GroupKind, Recent, UserPast};
use predictor_core::forecasts::price::PriceStep;
use predictor_core::forecasts::promised_job::PromisedJob;
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle, PlannedJob, PlannedPartition, QueuePlan};
use predictor_core::forecasts::run_time_models::{LikeJobs, RunTimeModel};
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::layout::{LAYOUT_VERSION, MAGIC};
use predictor_core::snapshot::{SeenSubmission, Snapshot, SnapshotError};
use proptest::prelude::*;
use snapshot_writer::{MOST_SUBMISSIONS, PartitionState, RunningJob, SeenSubmissions, SharedNodeState, for_reader};
use std::sync::Arc;

fn some_jobs() -> impl Iterator<Item = job_types::job::EndedJob<(), &'static str, ()>> {
    (0..100).map(|n| ended_job(UserId(USER), NOW - Seconds(10_000 + n * 60), 1 + (n % 3) as u32, 3_600, n * 37 % 100 * 10, 600 + n))
}

/// A site of the partition `batch`, without a past.
fn site() -> MadeUpSite {
    MadeUpSite::new(NOW).partition(batch(enforcing()))
}

/// That site with all that a snapshot holds of one.
fn whole() -> MadeUpSite {
    let partition = PartitionState { slurm_reservations: some_slurm_reservations(), ..batch(enforcing()) };
    MadeUpSite::new(NOW).partition(partition).ended_jobs(some_jobs()).learnt(&some_model()).queue(&some_plan())
}

fn some_slurm_reservations() -> Vec<SlurmReservation> {
    vec![SlurmReservation::new(0, NOW + Seconds(600), NOW + Seconds(7_800), Size { nodes: 16, cpus: 64 })]
}

/// A node of one CPU with an admitted job, and one of four with a job without a deadline.
fn some_shared_nodes() -> Vec<SharedNodeState> {
    let node = |name: &str, cpus, jobs| SharedNodeState { name: name.to_owned(), cpus, jobs_to_a_cpu: 2, jobs };
    let admitted = SharingJob { cpus: 1, admitted: Some((NeededShare { mean: 0.5, variance: 0.0625 }, NOW + Seconds(3_600))) };
    vec![node("n1", 1, vec![admitted]), node("n2", 4, vec![SharingJob { cpus: 2, admitted: None }])]
}

fn some_model() -> WaitModel {
    forecast_by(fork(FREE_CPUS, 100.0, 100.0, 0.0), 240)
}

fn some_limits() -> AccountingLimits {
    let caps = |wall_s| Caps {
        wall: Some(Seconds(wall_s)),
        cpus: Some(64),
        nodes: Some(16),
        cpus_per_node: Some(4),
        cpu_minutes: Some(1 << 40),
        other: true,
        other_minutes: false,
    };
    let limits = JobLimits { job: caps(3_600), group: caps(7_200), member: Caps::default() };
    let rules = QosRules { over_partition_time: true, least_cpus: 2, limit_factor: 0.5, ..QosRules::default() };
    AccountingLimits {
        qos: vec![Qos { id: QosId(1), name: "normal".into(), rules, limits }],
        associations: vec![AssociationLimits {
            user: Some(UserId(USER)),
            account: "physics".into(),
            partition: Some("batch".into()),
            is_default: true,
            default_qos: Some(QosId(1)),
            allowed_qos: Vec::new(),
            limits,
        }],
    }
}

fn in_seconds(lower: i64, expected: i64, upper: i64) -> ExpectedStart {
    ExpectedStart { lower: NOW + Seconds(lower), expected: NOW + Seconds(expected), upper: NOW + Seconds(upper) }
}

/// An admitted job that waits and can be put off by so many seconds.
fn some_promise(slack_s: i64) -> PromisedJob {
    let [start, end, deadline] = [100, 400, 1_300].map(|seconds| NOW + Seconds(seconds));
    PromisedJob { deadline, start, end, cpus: 8, slack: Seconds(slack_s) }
}

/// Two jobs wait; a grid of 8, 16 and 256 CPUs by 10 min and 1 h, where the largest is never free
/// for long.
fn some_plan() -> QueuePlan {
    let job = PlannedJob {
        job: JobId(7),
        user: UserId(USER),
        partition: PartitionIndex(0),
        size: Size { nodes: 2, cpus: 8 },
        tasks: 3,
        limit: Some(Seconds(600)),
        priority: 100,
        start: Ok(in_seconds(10, 20, 30)),
    };
    let held = PlannedJob { job: JobId(5), tasks: 1, limit: None, start: Err(PlanObstacle::Held), ..job };
    let start = |seconds: i64| Some(in_seconds(seconds / 2, seconds, seconds * 2));
    QueuePlan {
        at: NOW,
        pending_jobs: 2,
        is_complete: true,
        jobs: vec![job, held],
        partitions: vec![PlannedPartition {
            index: PartitionIndex(0),
            cpus_per_node: 4,
            free: vec![(NOW, 16), (NOW + Seconds(500), 256)],
            cpus: vec![8, 16, 256],
            limits: vec![Seconds(600), Seconds(3_600)],
            starts: vec![start(0), start(100), start(100), start(200), start(500), None],
            prices: Some((NOW - Seconds(60), some_prices())),
        }],
        promised: vec![(PartitionIndex(0), some_promise(900))],
    }
}

fn some_prices() -> Vec<PriceStep> {
    [(900, 2.5), (3_600, 0.25)].map(|(until, waited)| PriceStep { until: Seconds(until), waited }).to_vec()
}

#[test]
fn what_the_time_of_the_machine_costs_is_read_back_and_nonsense_costs_nothing() {
    let read = |prices: Option<Vec<PriceStep>>| {
        let mut plan = some_plan();
        plan.partitions[0].prices = prices.map(|steps| (NOW - Seconds(60), steps));
        let snapshot = site().ended_jobs(some_jobs()).queue(&plan).snapshot();
        assert!(snapshot.prices(PartitionIndex(1)).is_none(), "nobody has worked it out there");
        snapshot.prices(PartitionIndex(0)).map(|prices| (prices.at, prices.steps.into_owned()))
    };
    assert_eq!(read(Some(some_prices())), Some((NOW - Seconds(60), some_prices())));
    assert_eq!(read(None), None);
    let strange = [f32::NAN, f32::INFINITY, -3.0].map(|waited| PriceStep { until: Seconds(900), waited });
    let nothing = vec![PriceStep { until: Seconds(900), waited: 0.0 }; 3];
    assert_eq!(read(Some(strange.to_vec())), Some((NOW - Seconds(60), nothing)));
    let many = vec![PriceStep { until: Seconds(900), waited: 1.0 }; 1_000];
    assert_eq!(read(Some(many)).map(|(_, steps)| steps.len()), Some(64), "no more are read");
}

#[test]
fn of_many_admitted_jobs_those_that_could_give_way_for_longest_are_published() {
    let promised = (-10..4_990).map(|slack_s| (PartitionIndex(u16::from(slack_s % 2 == 0)), some_promise(slack_s))).collect();
    let snapshot = site().ended_jobs(some_jobs()).queue(&QueuePlan { promised, ..some_plan() }).snapshot();
    for (partition, longest) in [(0, 4_989), (1, 4_988)] {
        let read: Vec<i64> = snapshot.promised_jobs(PartitionIndex(partition)).iter().map(|job| job.slack.0).collect();
        assert_eq!(read, (0..1_000).map(|place| longest - 2 * place).collect::<Vec<_>>());
    }
}

#[test]
fn what_jobs_with_deadlines_have_taught_is_read_back_where_they_are_admitted_by_probability() {
    let admitting = Policy { admission: Admission::Probability, ..enforcing() };
    let mut taught = DeadlineHistory { shift: -0.25, leeway: 0.5, ..DeadlineHistory::default() };
    (0..300).for_each(|_| taught.observe_run(3_600.0, 700.0));
    let learnt = WaitModel { deadlines: vec![(PartitionIndex(0), taught)], ..some_model() };
    let history = |policy, model: &WaitModel| {
        let site = MadeUpSite::new(NOW).partition(batch(policy)).learnt(model);
        site.ended_jobs(some_jobs()).snapshot().deadline_history(PartitionIndex(0))
    };
    assert_eq!(history(admitting, &learnt), Some(taught));
    assert_eq!(history(admitting, &some_model()), Some(DeadlineHistory::default()), "nothing is learnt yet");
    assert_eq!(history(enforcing(), &learnt), None);
}

#[test]
fn a_plan_is_read_back_and_asked_on_the_careful_side() {
    let plan = some_plan();
    let snapshot = site().ended_jobs(some_jobs()).queue(&plan).snapshot();
    let read = snapshot.plan().unwrap();
    assert_eq!((read.at, read.pending_jobs, read.is_complete), (NOW, 2, true));
    assert_eq!(read.jobs().collect::<Vec<_>>(), plan.jobs);
    assert_eq!(read.free(PartitionIndex(0)).collect::<Vec<_>>(), plan.partitions[0].free);
    assert_eq!(read.free(PartitionIndex(1)).count(), 0);
    assert_eq!(*snapshot.promised_jobs(PartitionIndex(0)), [some_promise(900)]);
    assert!(snapshot.promised_jobs(PartitionIndex(1)).is_empty());
    let expected = |nodes: u32, cpus: u32, limit: Option<i64>| {
        let start = snapshot.expected_start(PartitionIndex(0), Size { nodes, cpus }, limit.map(Seconds))?;
        assert!(start.lower <= start.expected && start.expected <= start.upper);
        Some((start.expected - NOW).0)
    };
    assert_eq!((expected(1, 1, Some(60)), expected(2, 8, Some(600)), expected(2, 8, Some(601))), (Some(0), Some(0), Some(100)));
    // Three whole nodes of 4 CPUs are 12, for which the next size is 16, whatever the job asks for
    // on them.
    assert_eq!((expected(3, 3, Some(60)), expected(4, 16, None), expected(5, 5, Some(1))), (Some(100), Some(200), Some(500)));
    assert_eq!((expected(64, 256, None), expected(1, 257, Some(60)), expected(1, 1, Some(3_601))), (None, None, None));
    assert!(snapshot.expected_start(PartitionIndex(1), Size { nodes: 1, cpus: 1 }, None).is_none());
    assert!(site().snapshot().plan().is_none());
}

#[test]
fn what_was_learnt_is_read_back() {
    let learnt = some_model();
    let snapshot = site().ended_jobs(some_jobs()).learnt(&learnt).snapshot();
    let summary = snapshot.model().unwrap();
    assert_eq!((summary.trees, summary.weights, summary.bound_rows, summary.groups, summary.cpus), (1, learnt.weights, 2, 2, 256));
    assert_eq!(snapshot.scores().collect::<Vec<_>>(), learnt.scores);
    assert_eq!(snapshot.score(snapshot.partition("batch").unwrap().index), learnt.scores.first().cloned());
    let usual = Association { account: AccountIndex(1), qos: QosIndex(1) };
    assert_eq!(snapshot.association(UserId(USER), None, None), usual);
    assert_eq!(
        snapshot.association(UserId(USER), Some("physics"), Some("nothing")),
        Association { account: AccountIndex(0), qos: QosIndex::UNKNOWN }
    );
    assert_eq!(
        snapshot.association(UserId(USER + 1), None, Some("long")),
        Association { account: AccountIndex::UNKNOWN, qos: QosIndex(1) }
    );
}

/// A user's job of so many nodes, of whichever time limit.
fn on_nodes(user: u32, partition: PartitionIndex, count: u32) -> RunTimeQuestion {
    RunTimeQuestion { user: UserId(user), partition, unit: Unit::Nodes, count, limit: None }
}

#[test]
fn learnt_run_times_go_before_the_historys_own() {
    let ranges = vec![RunTimeRange::new(50, 70, 0.75), RunTimeRange::new(2_900, 3_000, 0.25)];
    let like = LikeJobs::of_size(UserId(USER), PartitionIndex(0), Unit::Nodes, 2);
    let gone = LikeJobs { user: Some(UserId(USER + 1)), ..like };
    let run_times = Arc::new(RunTimeModel { jobs: 20, longest_limit_s: 7_200, ranges: ranges.clone() });
    let learnt = WaitModel { run_times: [(like, Arc::clone(&run_times)), (gone, run_times)].into(), ..some_model() };
    let snapshot = site().ended_jobs(some_jobs()).learnt(&learnt).snapshot();
    let read = snapshot.run_time(&on_nodes(USER, PartitionIndex(0), 2)).unwrap();
    assert_eq!((read.jobs, read.longest_limit, read.ranges), (20, Some(Seconds(7_200)), &ranges[..]));
    // 60 s in three of four cases, 2950 s in the fourth.
    assert_eq!(point(read.ranges), Seconds(783));
    let own = snapshot.run_time(&on_nodes(USER, PartitionIndex(0), 1)).unwrap();
    assert_eq!((own.jobs, own.longest_limit), (34, Some(Seconds(3_600))));
    assert!(snapshot.run_time(&on_nodes(USER + 1, PartitionIndex(0), 2)).is_none());
}

#[test]
fn what_was_fitted_is_read_back() {
    let snapshot = site().ended_jobs(some_jobs()).snapshot();
    assert_eq!((snapshot.generation(), snapshot.published_at()), (7, NOW));
    let provenance = snapshot.provenance();
    assert_eq!((provenance.cluster, provenance.ended_jobs), ("test", 100));
    let found = snapshot.partition("batch").unwrap();
    assert_eq!((found.cpus, found.nodes, found.policy), (256, 64, enforcing()));
    assert_eq!(snapshot.default_partition().unwrap().name, "batch");
    assert!(snapshot.partition("bat").is_none());

    let shape = JobShape {
        user: UserId(USER),
        association: Association::default(),
        partition: found.index,
        size: Size { nodes: 1, cpus: 4 },
        limit: Some(Seconds(3_600)),
    };
    // 34 of the jobs have one node: too few for a class of their own, which all jobs of the
    // partition are one of.
    let wait = snapshot.wait(&shape, None).unwrap();
    assert_eq!((wait.jobs, wait.median), (100, Seconds(490)));
    let class = wait.class.unwrap();
    assert_eq!((class.first_cpus, class.last_cpus, class.first_limit_s, class.last_limit_s), (0, u32::MAX, 0, u32::MAX));
    assert_eq!(snapshot.past_sizes(UserId(USER), found.index, Unit::Nodes).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(snapshot.past_sizes(UserId(USER), found.index, Unit::Cpus).collect::<Vec<_>>(), [4, 8, 12]);
    let run_time = snapshot.run_time(&on_nodes(USER, found.index, 1)).unwrap();
    assert_eq!((run_time.jobs, run_time.longest_limit), (34, Some(Seconds(3_600))));
    assert!(snapshot.run_time(&on_nodes(USER + 1, found.index, 1)).is_none());
}

#[test]
fn the_classes_of_qbets_are_read_back_for_each_job_and_learnt_ones_go_first() {
    let class = |class, cpus, limit_s, median_s| ClassBounds {
        partition: PartitionIndex(0),
        cpus,
        limit_s,
        class,
        jobs: 100 + class,
        changes: 3,
        bounds_s: std::array::from_fn(|percentile| median_s + percentile as u32),
        median_s,
    };
    let all = 0..=u32::MAX;
    // Small jobs and large short ones wait alike; another partition has a class of its own.
    let classes = vec![
        class(1, 5..=u32::MAX, 601..=u32::MAX, 5_000),
        class(0, 0..=4, all.clone(), 10),
        class(0, 5..=u32::MAX, 0..=600, 10),
        ClassBounds { partition: PartitionIndex(1), ..class(0, all.clone(), all, 77) },
    ];
    let learnt = WaitModel { classes, scores: Vec::new(), ..some_model() };
    let snapshot = site().ended_jobs(some_jobs()).learnt(&learnt).snapshot();
    let wait = |partition, cpus, limit: Option<i64>| {
        let shape = JobShape {
            user: UserId(USER),
            association: Association::default(),
            partition,
            size: Size { nodes: 1, cpus },
            limit: limit.map(Seconds),
        };
        snapshot
            .wait(&shape, None)
            .map(|wait| (wait.jobs, wait.median.0, wait.bound(0.95).unwrap().0, wait.class.unwrap().holds(cpus, shape.limit)))
    };
    assert_eq!(
        [wait(PartitionIndex(0), 1, None), wait(PartitionIndex(0), 4, Some(9_000)), wait(PartitionIndex(0), 5, Some(600))],
        [Some((100, 10, 104, true)); 3]
    );
    assert_eq!([wait(PartitionIndex(0), 5, Some(601)), wait(PartitionIndex(0), u32::MAX, None)], [Some((101, 5_000, 5_094, true)); 2]);
    assert_eq!((wait(PartitionIndex(1), 9, Some(60)), wait(PartitionIndex(2), 9, Some(60))), (Some((100, 77, 171, true)), None));
    assert_eq!(snapshot.provenance().wait_classes, 3);
}

#[test]
fn a_snapshot_ages() {
    let snapshot = site().snapshot();
    assert_eq!(snapshot.timeliness(NOW + Seconds(600)), Timeliness::Current);
    assert_eq!(snapshot.timeliness(NOW + Seconds(601)), Timeliness::TooOld);
    assert_eq!(snapshot.age(UnixTime(NOW.0 - 5)), Seconds(0));
}

#[test]
fn a_snapshot_dated_more_than_a_minute_ahead_is_not_current() {
    let snapshot = site().snapshot();
    assert_eq!(snapshot.timeliness(UnixTime(NOW.0 - 60)), Timeliness::Current);
    for ahead in [61, 86_400, 366 * 86_400, i64::MAX / 2] {
        assert_eq!(snapshot.timeliness(UnixTime(NOW.0 - ahead)), Timeliness::Ahead, "{ahead} s");
    }
}

#[test]
fn another_magic_or_version_is_named() {
    let mut bytes = MadeUpSite::new(NOW).ended_jobs(some_jobs()).bytes();
    bytes[8] += 1;
    assert_eq!(Snapshot::open(&bytes).unwrap_err(), SnapshotError::Version { found: LAYOUT_VERSION + 1 });
    bytes[0] = 0;
    assert_eq!(Snapshot::open(&bytes).unwrap_err(), SnapshotError::Magic);
}

#[test]
fn a_job_that_waits_on_its_nodes_is_expected_to_end_its_run_time_after_that() {
    // Jobs of the user on two nodes have run for some ten minutes. This one has had its nodes for
    // half an hour.
    let of_two_nodes = running_job(2, NOW - Seconds(1_800), NOW + Seconds(5_400));
    let job = |waits_on_nodes| RunningJob { user: UserId(USER), waits_on_nodes: Seconds(waits_on_nodes), ..of_two_nodes };
    let ends = |running| {
        let partition = PartitionState { running, ..batch(enforcing()) };
        let snapshot = MadeUpSite::new(NOW).partition(partition).ended_jobs(some_jobs()).snapshot();
        snapshot.expected_ends(PartitionIndex(0)).collect::<Vec<_>>()
    };
    let [end] = ends(vec![job(3_600)])[..] else { panic!("one job runs") };
    // It waits for an hour in all, half of which is over.
    assert!((NOW + Seconds(1_800 + 600)..NOW + Seconds(1_800 + 700)).contains(&end), "{}", end - NOW);
    // Without the wait it has outlived that, and has its limit's end.
    assert_eq!(ends(vec![job(0)]), [NOW + Seconds(5_400)]);
}

#[test]
fn of_slurms_reservations_in_a_partition_the_nearest_are_kept_in_their_order() {
    let record =
        |group, start: i64| SlurmReservation::new(group, NOW + Seconds(start), NOW + Seconds(start + 60), Size { nodes: 1, cpus: 4 });
    let of_two_groups = |count: i64| (0..count).rev().map(|n| record((n % 2) as u16, n * 100));
    let other = PartitionState { name: "other".into(), slurm_reservations: vec![record(7, 0)], ..batch(enforcing()) };
    let many = PartitionState { slurm_reservations: of_two_groups(400).collect(), ..batch(enforcing()) };
    let snapshot = MadeUpSite::new(NOW).partition(other).partition(many).snapshot();
    assert_eq!(snapshot.partition("other").unwrap().slurm_reservations, [record(7, 0)]);
    let kept = snapshot.partition("batch").unwrap().slurm_reservations;
    assert!(kept.len() == MOST_SLURM_RESERVATIONS && kept.is_sorted_by_key(SlurmReservation::order), "{}", kept.len());
    assert!(kept.iter().all(|record| record.start() < NOW + Seconds(100 * MOST_SLURM_RESERVATIONS as i64)));
}

#[test]
fn shared_nodes_are_read_back_for_their_partition_alone_and_for_every_reader() {
    let shared = PartitionState { name: "shared".into(), shared_nodes: some_shared_nodes(), ..batch(enforcing()) };
    let site = MadeUpSite::new(NOW).partition(batch(enforcing())).partition(shared);
    let whole = site.snapshot();
    let of_reader = Snapshot::open(for_reader(&whole, Some(UserId(USER)))).unwrap();
    for snapshot in [whole, of_reader] {
        let nodes = snapshot.partition("shared").unwrap().shared_nodes;
        let names: Vec<&str> = nodes.iter().map(|node| snapshot.shared_node_name(node)).collect();
        assert_eq!(names, ["n1", "n2"]);
        let loads: Vec<_> = nodes.iter().map(|node| node.load(1)).collect();
        let load = loads[0].unwrap();
        assert_eq!((load.total_share, load.variance, load.latest_deadline), (0.5, 0.0625, NOW + Seconds(3_600)));
        assert_eq!(loads[1].map(|load| load.jobs), Some(1));
        assert!(snapshot.partition("batch").unwrap().shared_nodes.is_empty());
    }
}

fn some_submissions() -> SeenSubmissions {
    let submission = |user: u32, before: i64, nodes: u32| SeenSubmission {
        user: UserId(user),
        submitted_at: NOW - Seconds(before),
        size: Size { nodes, cpus: 4 * nodes },
    };
    let jobs = vec![submission(USER, 20, 1), submission(7, 3, 2), submission(USER, 30, 4)];
    SeenSubmissions { since: Some(NOW - Seconds(60)), jobs }
}

#[test]
fn submissions_that_became_jobs_are_found_by_user_and_of_too_many_the_latest_are_kept() {
    let open =
        |submissions: SeenSubmissions| Snapshot::open(site().origin(|origin| origin.submissions = submissions.into()).bytes()).unwrap();
    let found = |snapshot: &Snapshot<Vec<u8>>, user: u32| -> Vec<(i64, u32)> {
        let of_user = snapshot.seen_submissions(UserId(user));
        of_user.map(|job| ((NOW - job.submitted_at).0, job.size.nodes)).collect()
    };
    let snapshot = open(some_submissions());
    assert_eq!((found(&snapshot, USER), found(&snapshot, 7), found(&snapshot, 8)), (vec![(30, 4), (20, 1)], vec![(3, 2)], vec![]));
    assert_eq!(snapshot.provenance().submissions_since, Some(NOW - Seconds(60)));
    assert_eq!(open(SeenSubmissions::default()).provenance().submissions_since, None);
    // A reader sees the own alone.
    let own = Snapshot::open(for_reader(&snapshot, Some(UserId(7)))).unwrap();
    assert_eq!((found(&own, USER), found(&own, 7)), (vec![], vec![(3, 2)]));
    let many = (0..=MOST_SUBMISSIONS).map(|n| SeenSubmission {
        user: UserId(USER),
        submitted_at: NOW - Seconds(n as i64 / 1_000),
        size: Size { nodes: 1, cpus: 1 },
    });
    let snapshot = open(SeenSubmissions { since: Some(NOW - Seconds(600)), jobs: many.collect() });
    assert_eq!(found(&snapshot, USER).len(), MOST_SUBMISSIONS);
    assert_eq!(snapshot.provenance().submissions_since, Some(NOW - Seconds(49)), "of the second before one is missing");
}

#[test]
fn the_layout_is_that_of_the_golden_file() {
    // A changed golden file is a new layout: raise LAYOUT_VERSION with it. Written by this test
    // where QUEUECAST_WRITE_GOLDEN is set.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/snapshot-v17");
    let limits = PartitionLimits {
        least_nodes: 2,
        most_nodes: Some(32),
        most_cpus_per_node: Some(3),
        qos: Some("normal".into()),
        nodes: Some(NodeSizes { usable: 60, least_cpus: 4, most_cpus: 8 }),
    };
    let site = MadeUpSite::new(NOW).origin(|origin| {
        origin.limits = some_limits().into();
        origin.submissions = some_submissions().into();
    });
    let site = site
        .partition(PartitionState {
            limits,
            slurm_reservations: some_slurm_reservations(),
            shared_nodes: some_shared_nodes(),
            ..batch(enforcing())
        })
        .ended_jobs(some_jobs().take(5));
    let bytes = site.learnt(&some_model()).queue(&some_plan()).bytes();
    if std::env::var_os("QUEUECAST_WRITE_GOLDEN").is_some() {
        std::fs::write(path, &bytes).unwrap();
    }
    let golden = std::fs::read(path).unwrap();
    assert_eq!(golden.get(..8), Some(MAGIC.as_slice()));
    assert!(bytes == golden, "the layout has changed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_snapshot_cut_short_is_refused(cut in 0usize..10_000) {
        let bytes = whole().bytes();
        let cut = cut % bytes.len();
        prop_assert_eq!(Snapshot::open(&bytes[..cut]).unwrap_err(), SnapshotError::Length);
    }

    #[test]
    fn a_snapshot_with_a_changed_byte_is_refused(place in 0usize..100_000, change in 1u8..) {
        let mut bytes = whole().bytes();
        let place = place % bytes.len();
        bytes[place] ^= change;
        prop_assert!(Snapshot::open(&bytes).is_err());
    }

    #[test]
    fn bytes_with_a_right_checksum_never_panic_whatever_they_hold(
        changes in prop::collection::vec((48usize..1_000_000, prop_oneof![any::<u8>(), 0u8..4]), 1..40),
    ) {
        use predictor_core::snapshot::layout::{CHECKSUM_AT, checksum};
        let mut bytes = whole().bytes();
        for (place, value) in changes {
            let place = 48 + (place - 48) % (bytes.len() - 48);
            bytes[place] = value;
        }
        let sum = checksum(&bytes);
        bytes[CHECKSUM_AT].copy_from_slice(&sum.to_le_bytes());
        if let Ok(snapshot) = Snapshot::open(&bytes) {
            let _ = (snapshot.provenance(), snapshot.model(), snapshot.scores().count());
            let association = snapshot.association(UserId(USER), Some("physics"), Some("long"));
            if let Some(plan) = snapshot.plan() {
                let _ = plan.jobs().filter(|job| job.start.is_ok_and(|start| start.lower > start.upper)).count();
            }
            for partition in snapshot.partitions() {
                prop_assert!(partition.slurm_reservations.len() <= MOST_SLURM_RESERVATIONS);
                let _ = taken_between(partition.slurm_reservations, NOW, NOW + Seconds(86_400));
                let _ = snapshot.plan().map(|plan| plan.free(partition.index).count());
                for (nodes, limit) in [(1, None), (64, Some(Seconds(600))), (u32::MAX, Some(Seconds(i64::MAX)))] {
                    let _ = snapshot.expected_start(partition.index, Size { nodes, cpus: nodes }, limit);
                }
                let _ = snapshot.expected_ends(partition.index).count();
                let shape = JobShape { user: UserId(USER), association, partition: partition.index, size: Size { nodes: 1, cpus: 4 }, limit: None };
                let _ = snapshot.score(partition.index);
                let _ = snapshot.wait(&shape, Some(&Moment::present(NOW))).map(|wait| wait.bound(0.5));
                let _ = snapshot.wait(&shape, Some(&Moment::present(NOW).at(NOW + Seconds(600)))).map(|wait| (wait.bound(0.95), wait.probability_within(Seconds(50))));
                let _ = snapshot.past_sizes(UserId(USER), partition.index, Unit::Nodes).count();
                let _ = snapshot.run_time(&on_nodes(USER, partition.index, 1)).map(|forecast| point(forecast.ranges));
            }
        }
    }
}

/// A user whose number is not by chance another one's in a snapshot.
const OTHER: u32 = 0x7a5c_33d1;

/// The snapshot of two users with a plan, as one of them sees it, or nobody in particular.
fn seen_by(user: Option<u32>) -> Vec<u8> {
    let jobs = some_jobs().chain((0..50).map(|n| ended_job(UserId(OTHER), NOW - Seconds(20_000 + n * 60), 2, 3_600, n * 10, 600 + n)));
    let mut model = some_model();
    let key = |kind, values| (GroupKey { kind, values }, Group { recent: Recent { fast: 7.0, ..Recent::default() }, ..Group::default() });
    model.groups = vec![
        key(GroupKind::Partition, [0, 0, 0]),
        key(GroupKind::User, [USER, 0, 0]),
        key(GroupKind::User, [OTHER, 0, 0]),
        key(GroupKind::Account, [1, 0, 0]),
        key(GroupKind::Account, [2, 0, 0]),
        key(GroupKind::UserRequest, [OTHER, 8, 600]),
    ];
    let past = |user, account| UserPast { user, last_two_s: Some([1.0, 2.0]), account, qos: QosIndex(0) };
    model.users = vec![past(UserId(USER), AccountIndex(1)), past(UserId(OTHER), AccountIndex(2))];
    model.accounts = vec!["zero".into(), "myaccount".into(), "theiraccount".into()];
    let mut plan = some_plan();
    plan.jobs[1].user = UserId(OTHER);
    for_reader(&site().ended_jobs(jobs).learnt(&model).queue(&plan).snapshot(), user.map(UserId))
}

#[test]
fn a_user_sees_what_is_their_own_and_of_nobody_else() {
    let bytes = seen_by(Some(USER));
    let snapshot = Snapshot::open(bytes.as_slice()).unwrap();
    let partition = snapshot.partition("batch").unwrap().index;
    assert_eq!(snapshot.run_time(&on_nodes(USER, partition, 1)).unwrap().jobs, 34);
    assert!(!snapshot.run_time(&on_nodes(USER, partition, 1)).unwrap().ranges.is_empty());
    assert!(snapshot.run_time(&on_nodes(OTHER, partition, 2)).is_none());
    assert!(snapshot.plan().unwrap().jobs().all(|job| job.user == UserId(USER)) && snapshot.plan().unwrap().jobs().count() == 1);
    assert_eq!(snapshot.plan().unwrap().pending_jobs, some_plan().pending_jobs, "how many wait is no secret");
    let groups = snapshot.model().unwrap().groups;
    assert_eq!(groups, 3, "partition, user and account");
    let has = |bytes: &[u8], name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    assert!(has(&bytes, "myaccount") && !has(&bytes, "theiraccount"));
    // The number of the other user stands nowhere, by whichever field.
    assert!(!has_number(&bytes, OTHER));

    let bytes = seen_by(None);
    let public = Snapshot::open(bytes.as_slice()).unwrap();
    assert!(!has(&bytes, "account") && !has_number(&bytes, OTHER));
    assert_eq!(public.plan().unwrap().jobs().count(), 0);
    assert!(
        public
            .wait(
                &JobShape {
                    user: UserId(USER),
                    association: Association::default(),
                    partition,
                    size: Size { nodes: 1, cpus: 4 },
                    limit: None
                },
                None
            )
            .is_some()
    );
    assert_eq!(public.partition("batch").unwrap().demand, snapshot.partition("batch").unwrap().demand);
}

/// Whether a number stands anywhere behind the header.
fn has_number(bytes: &[u8], number: u32) -> bool {
    bytes[48..].windows(4).any(|window| window == number.to_le_bytes())
}
