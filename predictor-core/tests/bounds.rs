//! Rewrites within what Slurm allows: limits of accounting and of partitions, and what a job asks
//! of its nodes.
#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::job::EndedJob;
use job_types::number::{QosId, UserId};
use job_types::options::{MoldSizes, SuccessProbability, UserOptions};
use job_types::policy::{Policy, When};
use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{MadeUpSite, NOW, USER, batch, ended_job, enforcing, situation, submission};
use predictor_core::decisions::limits::{AccountingLimits, AssociationLimits, Caps, JobLimits, NodeSizes, PartitionLimits, Qos, QosRules};
use predictor_core::decisions::{
    Bound, Bounds, Decision, Limit, NodeRange, NotDeferred, NotMolded, NotReserved, Placement, StartBlocker, Submission, TimeLimit, decide,
};
use predictor_core::snapshot::Snapshot;
use proptest::prelude::*;
use snapshot_writer::PartitionState;

fn wall(hours: i64) -> Caps {
    Caps { wall: Some(Seconds(hours * 3_600)), ..Caps::default() }
}

fn on_jobs(job: Caps) -> JobLimits {
    JobLimits { job, ..JobLimits::default() }
}

fn qos(id: u32, name: &str, limits: JobLimits) -> Qos {
    Qos { id: QosId(id), name: name.into(), rules: QosRules::default(), limits }
}

fn association(user: Option<u32>, account: &str, limits: JobLimits) -> AssociationLimits {
    AssociationLimits { user: user.map(UserId), account: account.into(), limits, ..AssociationLimits::default() }
}

fn open(
    jobs: impl IntoIterator<Item = EndedJob<(), &'static str, ()>>,
    partitions: &[PartitionState],
    limits: AccountingLimits,
) -> Snapshot<Vec<u8>> {
    let site = MadeUpSite::new(NOW).ended_jobs(jobs).origin(|origin| origin.limits = limits.into());
    partitions.iter().cloned().fold(site, MadeUpSite::partition).snapshot()
}

/// Jobs on 16 nodes that wait long, and on 4 that do not.
fn past() -> impl Iterator<Item = EndedJob<(), &'static str, ()>> {
    (0..200).flat_map(|n| {
        [
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500),
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 14_400, 100, 5_000),
        ]
    })
}

fn mold() -> UserOptions {
    UserOptions { auto_mold: true, ..UserOptions::default() }
}

fn decided(snapshot: &Snapshot<Vec<u8>>, submission: &Submission<'_>) -> Decision {
    decide(&situation(snapshot, submission))
}

fn bounds(snapshot: &Snapshot<Vec<u8>>, submission: &Submission<'_>) -> Bounds {
    situation(snapshot, submission).bounds
}

fn size(nodes: u32) -> Size {
    Size { nodes, cpus: nodes * 4 }
}

#[test]
fn a_job_is_not_molded_to_a_time_limit_that_its_quality_of_service_or_association_forbids() {
    let limits = || AccountingLimits {
        qos: vec![qos(1, "normal", JobLimits::default()), qos(2, "short", on_jobs(wall(1)))],
        associations: vec![
            AssociationLimits { is_default: true, ..association(Some(USER), "physics", JobLimits::default()) },
            association(Some(USER), "brief", on_jobs(wall(1))),
        ],
    };
    let snapshot = open(past(), &[batch(enforcing())], limits());
    let free = decided(&snapshot, &submission(16, mold())).changes();
    assert_eq!((free.size.unwrap().0.nodes, free.limit), (4, Some(Seconds(14_400))));
    let short = Submission { qos: Some("SHORT"), ..submission(16, mold()) };
    assert_eq!(decided(&snapshot, &short).molding, Some(Err(NotMolded::Forbidden(Limit::QosWall))));
    let brief = Submission { account: Some("brief"), ..submission(16, mold()) };
    assert_eq!(decided(&snapshot, &brief).molding, Some(Err(NotMolded::Forbidden(Limit::AssociationWall))));
}

#[test]
fn the_default_account_and_quality_of_service_hold_where_none_is_named() {
    let limits = AccountingLimits {
        qos: vec![qos(3, "short", on_jobs(wall(1)))],
        associations: vec![
            association(Some(USER), "other", on_jobs(wall(9))),
            AssociationLimits { is_default: true, default_qos: Some(QosId(3)), ..association(Some(USER), "brief", on_jobs(wall(2))) },
        ],
    };
    let snapshot = open(past(), &[batch(enforcing())], limits);
    let longest = |account, qos| {
        let asked = Submission { account, qos, ..submission(16, UserOptions::default()) };
        bounds(&snapshot, &asked).longest_limit(size(16)).map(|bound| (bound.value.0 / 3_600, bound.by))
    };
    assert_eq!(longest(None, None), Some((1, Limit::QosWall)));
    assert_eq!(longest(Some("other"), None), Some((9, Limit::AssociationWall)));
    assert_eq!(longest(None, Some("unknown")), Some((2, Limit::AssociationWall)));
}

#[test]
fn a_user_without_an_association_is_held_to_the_accounts_or_the_clusters_limits() {
    let limits = AccountingLimits {
        qos: Vec::new(),
        associations: vec![
            association(None, "root", on_jobs(wall(5))),
            association(None, "physics", on_jobs(wall(3))),
            association(Some(7), "physics", on_jobs(wall(1))),
            AssociationLimits { partition: Some("batch".into()), ..association(Some(8), "physics", on_jobs(wall(2))) },
            association(Some(8), "physics", on_jobs(wall(4))),
        ],
    };
    let snapshot = open(past(), &[batch(enforcing())], limits);
    let hours = |user, account| {
        let asked = Submission { user, account, ..submission(16, UserOptions::default()) };
        bounds(&snapshot, &asked).longest_limit(size(16)).unwrap().value.0 / 3_600
    };
    assert_eq!((hours(UserId(7), Some("Physics")), hours(UserId(8), Some("physics"))), (1, 2));
    assert_eq!((hours(UserId(9), Some("physics")), hours(UserId(9), Some("unknown")), hours(UserId(9), None)), (3, 5, 5));
}

#[test]
fn partitions_bound_how_few_and_how_many_nodes_a_job_gets() {
    let state = |limits| PartitionState { limits, ..batch(enforcing()) };
    let few = open(past(), &[state(PartitionLimits { least_nodes: 8, ..PartitionLimits::default() })], AccountingLimits::default());
    assert_eq!(decided(&few, &submission(16, mold())).molding, Some(Err(NotMolded::Forbidden(Limit::PartitionMinNodes))));
    let many = open(past(), &[state(PartitionLimits { most_nodes: Some(8), ..PartitionLimits::default() })], AccountingLimits::default());
    let of_many = bounds(&many, &submission(4, mold()));
    assert_eq!(of_many.admit(size(16), Some(Seconds(60))), Err(Limit::PartitionMaxNodes));
    assert_eq!(of_many.admit(size(8), Some(Seconds(60))), Ok(()));
}

#[test]
fn a_flag_of_the_quality_of_service_lifts_a_partitions_limit() {
    let rules = QosRules { over_partition_max_nodes: true, over_partition_time: true, ..QosRules::default() };
    let limits = AccountingLimits { qos: vec![Qos { rules, ..qos(2, "large", JobLimits::default()) }], associations: Vec::new() };
    let state = PartitionState { limits: PartitionLimits { most_nodes: Some(8), ..PartitionLimits::default() }, ..batch(enforcing()) };
    let snapshot = open(past(), &[state], limits);
    let large = Submission { qos: Some("large"), ..submission(4, mold()) };
    assert_eq!(bounds(&snapshot, &large).admit(size(16), Some(Seconds(9 * 86_400))), Ok(()));
}

#[test]
fn jobs_that_not_every_node_can_run_are_made_smaller_only() {
    let snapshot = open(past(), &[batch(enforcing())], AccountingLimits::default());
    for placement in [Placement::Features, Placement::ExcludedNodes, Placement::GenericResources, Placement::Memory, Placement::NodeShape] {
        let asked = Submission { placement: Some(placement), ..submission(8, mold()) };
        let of = bounds(&snapshot, &asked);
        assert_eq!(of.admit(size(16), Some(Seconds(3_600))), Err(Limit::Placement(placement)));
        assert_eq!(of.admit(size(4), Some(Seconds(7_200))), Ok(()));
    }
}

#[test]
fn a_job_grows_only_onto_nodes_that_take_jobs_and_are_large_enough() {
    let nodes =
        |usable, least_cpus| PartitionLimits { nodes: Some(NodeSizes { usable, least_cpus, most_cpus: 8 }), ..PartitionLimits::default() };
    let admit = |limits, tasks_per_node, to| {
        let snapshot = open(past(), &[PartitionState { limits, ..batch(enforcing()) }], AccountingLimits::default());
        let asked = Submission { tasks_per_node, ..submission(8, mold()) };
        bounds(&snapshot, &asked).admit(size(to), Some(Seconds(3_600)))
    };
    assert_eq!(admit(nodes(64, 4), Some(4), 16), Ok(()));
    assert_eq!(admit(nodes(12, 4), Some(4), 16), Err(Limit::Nodes));
    assert_eq!(admit(nodes(64, 2), Some(4), 16), Err(Limit::Nodes));
    assert_eq!(admit(nodes(4, 2), Some(4), 4), Ok(()), "smaller is not for these to forbid");
}

#[test]
fn cpu_minutes_bound_the_limit_by_the_size() {
    let caps = Caps { cpu_minutes: Some(64 * 60), ..Caps::default() };
    let limits = AccountingLimits { qos: vec![qos(1, "normal", on_jobs(caps))], associations: Vec::new() };
    let snapshot = open(past(), &[batch(enforcing())], limits);
    let of = bounds(&snapshot, &Submission { qos: Some("normal"), ..submission(16, mold()) });
    assert_eq!(of.longest_limit(size(16)), Some(Bound { value: Seconds(3_600), by: Limit::CpuMinutes }));
    assert_eq!(of.longest_limit(size(4)), Some(Bound { value: Seconds(14_400), by: Limit::CpuMinutes }));
}

#[test]
fn a_cap_on_another_resource_keeps_a_job_from_growing_and_a_least_amount_from_shrinking() {
    let rules = QosRules { least_other: true, ..QosRules::default() };
    let other = Caps { other: true, ..Caps::default() };
    let limits = AccountingLimits {
        qos: vec![qos(1, "billed", on_jobs(other)), Qos { rules, ..qos(2, "large", JobLimits::default()) }],
        associations: Vec::new(),
    };
    let snapshot = open(past(), &[batch(enforcing())], limits);
    let of = |name| bounds(&snapshot, &Submission { qos: Some(name), ..submission(8, mold()) });
    let limit = Some(Seconds(3_600));
    assert_eq!((of("billed").admit(size(16), limit), of("billed").admit(size(4), limit)), (Err(Limit::OtherResource), Ok(())));
    assert_eq!((of("large").admit(size(16), limit), of("large").admit(size(4), limit)), (Ok(()), Err(Limit::LeastOfQos)));
}

#[test]
fn of_several_partitions_the_strictest_limit_holds() {
    let other = PartitionState {
        name: "other".into(),
        is_default: false,
        max_time: Some(Seconds(7_200)),
        limits: PartitionLimits { most_nodes: Some(20), ..PartitionLimits::default() },
        ..batch(enforcing())
    };
    let snapshot = open(past(), &[batch(enforcing()), other], AccountingLimits::default());
    let named = |names| bounds(&snapshot, &Submission { partition: Some(names), ..submission(16, UserOptions::default()) });
    let both = named("batch,other");
    assert_eq!(both.longest_limit(size(16)), Some(Bound { value: Seconds(7_200), by: Limit::PartitionMaxTime }));
    assert_eq!(both.admit(size(32), Some(Seconds(3_600))), Err(Limit::PartitionMaxNodes));
    assert_eq!(named("batch,unknown").admit(size(4), Some(Seconds(60))), Err(Limit::UnknownPartition));
}

/// Jobs that wait up to 99 s.
fn short_waits() -> impl Iterator<Item = EndedJob<(), &'static str, ()>> {
    (0..100).map(|n| ended_job(UserId(USER), NOW - Seconds(9_000_000 - n * 20_000), 4, 3_600, n, 500))
}

fn reserve(ahead: i64) -> UserOptions {
    UserOptions { reserve_at: Some(NOW.0 + ahead), success_probability: Some(SuccessProbability::AtLeast(0.5)), ..UserOptions::default() }
}

#[test]
fn a_reservation_whose_padding_a_limit_forbids_is_refused_with_the_limit() {
    let limits = AccountingLimits { qos: vec![qos(1, "short", on_jobs(wall(1)))], associations: Vec::new() };
    let snapshot = open(short_waits(), &[batch(enforcing())], limits);
    let asked = |limit, qos| Submission { limit: TimeLimit::Limited(Seconds(limit)), qos, ..submission(4, reserve(3_000)) };
    let refusal = decided(&snapshot, &asked(3_600, Some("short"))).reservation.unwrap().unwrap_err();
    let NotReserved::BeyondLimit { needed, longest } = refusal else { panic!("{refusal}") };
    assert_eq!(longest, Bound { value: Seconds(3_600), by: Limit::QosWall });
    assert!(needed > Seconds(3_600), "{needed}");
    assert!(refusal.to_string().contains("MaxWall or GrpWall of the quality of service is 1 h"), "{refusal}");
    assert!(decided(&snapshot, &asked(1_800, Some("short"))).reservation.unwrap().is_ok());
    assert!(decided(&snapshot, &asked(3_600, None)).reservation.unwrap().is_ok());
}

#[test]
fn jobs_that_something_else_starts_are_neither_reserved_nor_deferred() {
    let snapshot = open(short_waits(), &[batch(Policy { defer: When::Always, ..enforcing() })], AccountingLimits::default());
    for obstacle in [StartBlocker::Dependency, StartBlocker::Held, StartBlocker::Reservation] {
        let reserved = Submission { obstacle: Some(obstacle), ..submission(4, reserve(3_000)) };
        assert_eq!(decided(&snapshot, &reserved).reservation, Some(Err(NotReserved::Obstacle(obstacle))));
        let plain = Submission { obstacle: Some(obstacle), ..submission(4, UserOptions::default()) };
        assert!(matches!(decided(&snapshot, &plain).deferral, Some(Err(NotDeferred::Obstacle(other))) if other == obstacle));
    }
}

#[test]
fn interactive_jobs_are_deferred_only_where_they_ask() {
    let snapshot = open(short_waits(), &[batch(Policy { defer: When::Always, ..enforcing() })], AccountingLimits::default());
    let deferral = |is_interactive, auto_defer| {
        let asked = Submission { is_interactive, ..submission(4, UserOptions { auto_defer, ..UserOptions::default() }) };
        decided(&snapshot, &asked).deferral.is_some()
    };
    assert_eq!([deferral(true, false), deferral(true, true), deferral(false, false)], [false, true, true]);
}

#[test]
fn the_shortest_limit_grows_with_the_limit() {
    let snapshot = open(past().chain(short_waits()), &[batch(enforcing())], AccountingLimits::default());
    let shortest_limit = Some(Seconds(1_800));
    // 4 nodes in the place of 16, 4 h in the place of 1 h: 2 h in the place of 30 min.
    let molded = decided(&snapshot, &Submission { shortest_limit, ..submission(16, mold()) }).changes();
    assert_eq!((molded.limit, molded.shortest_limit), (Some(Seconds(14_400)), Some(Seconds(7_200))));
    // The partition's default limit of an hour is padded like one that is given.
    let unset = Submission { shortest_limit, limit: TimeLimit::Unset, ..submission(4, reserve(40_000)) };
    let reserved = decided(&snapshot, &unset).changes();
    let padding = reserved.limit.unwrap() - Seconds(3_600);
    assert!(padding > Seconds::ZERO);
    assert_eq!(reserved.shortest_limit, Some(Seconds(1_800) + padding));
    let none = decided(&snapshot, &submission(16, mold())).changes();
    assert_eq!(none.shortest_limit, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is decided stays within every limit.
    #[test]
    fn no_rewrite_exceeds_a_limit(
        max_wall in 1i64..50, max_cpus in 4u32..300, max_nodes in 1u32..70, least in 0u32..10, nodes in 1u32..40, hours in 1i64..20,
        ahead in prop::option::of(1i64..200_000), sizes in prop::collection::vec(1u32..64, 1..8), limited in any::<bool>(),
    ) {
        let caps = Caps { wall: Some(Seconds(max_wall * 3_600)), cpus: Some(max_cpus), ..Caps::default() };
        let limits = AccountingLimits { qos: vec![qos(1, "normal", on_jobs(caps))], associations: Vec::new() };
        let state = PartitionState {
            limits: PartitionLimits { least_nodes: least, most_nodes: Some(max_nodes), ..PartitionLimits::default() },
            ..batch(enforcing())
        };
        let snapshot = open(past().chain(short_waits()), &[state], limits);
        let asked = UserOptions {
            auto_mold: true,
            mold_sizes: Some(MoldSizes::list(sizes).unwrap()),
            reserve_at: ahead.map(|ahead| NOW.0 + ahead),
            ..UserOptions::default()
        };
        let limit = if limited { TimeLimit::Limited(Seconds(hours * 3_600)) } else { TimeLimit::Unset };
        let written = Submission {
            nodes: Some(NodeRange { least: nodes, most: nodes }),
            qos: Some("normal"),
            limit,
            shortest_limit: Some(Seconds(60)),
            ..submission(nodes, asked)
        };
        let changes = decided(&snapshot, &written).changes();
        if let Some((size, _)) = changes.size {
            prop_assert!(size.nodes >= least && size.nodes <= max_nodes && size.cpus <= max_cpus, "{changes:?}");
        }
        if let Some(limit) = changes.limit {
            prop_assert!(limit.0 <= max_wall * 3_600, "{changes:?}");
            prop_assert!(changes.shortest_limit.is_none_or(|shortest| shortest <= limit), "{changes:?}");
        }
    }
}
