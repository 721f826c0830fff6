//! What is decided about a submission, and why.

#![allow(clippy::unwrap_used)]

use job_types::job::EndedJob;
use job_types::number::{PartitionIndex, UserId};
use job_types::options::{EarlyStart, IfMissed, Mode, MoldSizes, SuccessProbability, UserOptions};
use job_types::policy::{Others, Policy, When};
use job_types::record::{MOST_BYTES, Record};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decisions::{
    Changes, Decision, DecisionInputs, FixedSizeReason, NodeRange, NotDeferred, NotMolded, NotReserved, Refusal, Reservable, Reservation,
    Submission, TimeLimit, configured_policy, decide, trajectory,
};
use predictor_core::forecasts::forecast::{Association, Claimed, Claims, JobShape, Moment};
use predictor_core::forecasts::price::PriceStep;
use proptest::prelude::*;
use snapshot_writer::PartitionState;

/// A cluster of that partition with that past.
fn cluster(jobs: impl IntoIterator<Item = EndedJob<(), &'static str, ()>>, partition: PartitionState) -> Cluster {
    MadeUpSite::new(NOW).partition(partition).ended_jobs(jobs).state()
}

fn decided(cluster: &Cluster, submission: &Submission<'_>) -> Decision {
    decide(&cluster.situation(submission))
}

fn mold() -> UserOptions {
    UserOptions { auto_mold: true, ..UserOptions::default() }
}

/// Large jobs wait 5,000 s and run 500 s, small ones wait 100 s and run 1,000 s.
fn past() -> impl Iterator<Item = EndedJob<(), &'static str, ()>> {
    (0..200).flat_map(|n| {
        [
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500),
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 7_200, 100, 1_000),
        ]
    })
}

#[test]
fn a_job_is_molded_to_the_size_forecast_to_finish_first() {
    let cluster = cluster(past(), batch(enforcing()));
    let decision = decided(&cluster, &Submission { tasks: Some(64), ..submission(16, mold()) });
    assert_eq!(decision.molding, Some(Ok(())));
    let changes = decision.changes();
    assert_eq!(changes.size, Some((Size { nodes: 4, cpus: 16 }, Some(16))));
    // VI.C: smaller, so the least of the user's longest limit at that size (7,200 s) and the
    // partition's longest that exceeds the original.
    assert_eq!(changes.limit, Some(Seconds(7_200)));
    let decided = decision.decided.unwrap();
    assert_eq!(decided.wait.unwrap().0, Seconds(100));
    assert!((decided.run_time.0 - 1_000).abs() <= 1);
}

#[test]
fn a_size_that_the_user_has_hardly_run_is_not_tried_unless_named() {
    let jobs = || {
        let often = (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500));
        let seldom = (0..9).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 100, 10));
        let by_another = (0..100).map(|n| ended_job(UserId(2), NOW - Seconds(900_000 - n * 600), 4, 3_600, 100, 10));
        often.chain(seldom).chain(by_another)
    };
    let cluster = cluster(jobs(), batch(enforcing()));
    assert_eq!(decided(&cluster, &submission(16, mold())).molding, Some(Err(NotMolded::NoOtherSize)));
    let named = UserOptions { mold_sizes: Some(MoldSizes::list([4]).unwrap()), ..mold() };
    assert_eq!(decided(&cluster, &submission(16, named)).molding, Some(Ok(())));
}

#[test]
fn a_smaller_size_gets_no_more_than_the_limit_in_proportion() {
    // The user's longest limit at 4 nodes is the original one, the partition's is two days; a
    // quarter of the CPUs needs four times as long at most.
    let jobs = (0..200).flat_map(|n| {
        [
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500),
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 100, 1_000),
        ]
    });
    let cluster = cluster(jobs, batch(enforcing()));
    assert_eq!(decided(&cluster, &submission(16, mold())).changes().limit, Some(Seconds(14_400)));
}

#[test]
fn a_larger_size_keeps_the_time_limit() {
    let jobs = (0..200).flat_map(|n| {
        [
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 100, 3_000),
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 8, 7_200, 100, 500),
        ]
    });
    let cluster = cluster(jobs, batch(enforcing()));
    let changes = decided(&cluster, &submission(4, mold())).changes();
    assert_eq!((changes.size.unwrap().0.nodes, changes.limit), (8, None));
}

#[test]
fn tasks_that_do_not_divide_leave_the_job_as_it_is() {
    let cluster = cluster(past(), batch(enforcing()));
    let decision = decided(&cluster, &Submission { tasks: Some(18), ..submission(16, mold()) });
    assert_eq!(decision.molding, Some(Err(NotMolded::NoOtherSize)));
    assert!(decision.changes().is_empty());
}

#[test]
fn a_node_range_excludes_sizes_outside_it() {
    let cluster = cluster(past(), batch(enforcing()));
    let narrow = Submission { nodes: Some(NodeRange { least: 16, most: 20 }), ..submission(16, mold()) };
    assert_eq!(decided(&cluster, &narrow).molding, Some(Err(NotMolded::NoOtherSize)));
}

#[test]
fn a_job_without_nodes_is_molded_in_cpus() {
    let cluster = cluster(past(), PartitionState { whole_nodes: false, ..batch(enforcing()) });
    let tasks = Submission { nodes: None, tasks: Some(64), ..submission(1, mold()) };
    assert_eq!(decided(&cluster, &tasks).changes().size, Some((Size { nodes: 4, cpus: 16 }, Some(16))));
}

#[test]
fn a_tied_job_is_left_and_the_reason_is_told() {
    let cluster = cluster(past(), batch(enforcing()));
    let tied = Submission { tie: Some(FixedSizeReason::NodeList), ..submission(16, mold()) };
    let decision = decided(&cluster, &tied);
    assert_eq!(decision.molding, Some(Err(NotMolded::Tied(FixedSizeReason::NodeList))));
    assert_eq!(decision.line(&tied, &enforcing(), NOW).unwrap(), "not molded: it names its nodes");
}

#[test]
fn without_a_past_at_the_size_only_named_sizes_are_tried() {
    let cluster = cluster(past(), batch(enforcing()));
    assert!(matches!(decided(&cluster, &submission(8, mold())).molding, Some(Err(NotMolded::NoHistory { count: 8, .. }))));
    let named = UserOptions { mold_sizes: Some(MoldSizes::list([4, 8, 16]).unwrap()), ..mold() };
    assert_eq!(decided(&cluster, &submission(8, named)).changes().size.unwrap().0.nodes, 4);
}

#[test]
fn a_site_that_never_molds_says_so() {
    let never = Policy { mold: When::Never, ..enforcing() };
    let cluster = cluster(past(), batch(never));
    assert_eq!(decided(&cluster, &submission(16, mold())).molding, Some(Err(NotMolded::NotOffered)));
}

#[test]
fn a_mode_below_enforce_changes_nothing_and_records_what_it_would_have() {
    for mode in [Mode::Observe, Mode::Advise] {
        let cluster = cluster(past(), batch(Policy { mode, ..enforcing() }));
        let asked = submission(16, mold());
        let decision = decided(&cluster, &asked);
        assert!(decision.changes().is_empty());
        let record = decision.record(&cluster.situation(&asked), 7);
        assert_eq!((record.mode, record.written.unwrap().nodes), (mode, Some(4)));
    }
}

#[test]
fn a_user_can_only_lower_the_mode() {
    let cluster = cluster(past(), batch(Policy { mode: Mode::Advise, ..enforcing() }));
    let mode = |asked| decided(&cluster, &submission(16, UserOptions { mode: Some(asked), ..mold() })).mode;
    assert_eq!([mode(Mode::Enforce), mode(Mode::Observe)], [Mode::Advise, Mode::Observe]);
}

/// Nobody waits while no other job does; then jobs on up to 40 CPUs wait 100 s, and larger ones
/// 10,000 s.
fn crowded(job: &JobShape, moment: &Moment) -> u32 {
    match (moment.claimed.cluster.jobs, job.size.cpus) {
        (0, _) => 0,
        (_, ..=40) => 100,
        _ => 10_000,
    }
}

#[test]
fn claims_wait_like_other_jobs_and_turn_the_choice() {
    // An empty queue favours the larger size, a crowded one the smaller.
    let sizes = |n: i64| {
        [
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 0, 500),
            ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 0, 1_500),
        ]
    };
    let cluster = Cluster { wait: Some(Box::new(crowded)), ..cluster((0..150).flat_map(sizes), batch(enforcing())) };
    let asked = submission(4, mold());
    let choice = |jobs| {
        let partition = Claims { jobs, ..Claims::default() };
        let claimed = Claimed { partition, cluster: partition, ..Claimed::default() };
        decide(&DecisionInputs { claimed, ..cluster.situation(&asked) }).decided.unwrap().size.nodes
    };
    assert_eq!([choice(0), choice(1)], [16, 4]);
}

/// A past in which the user's jobs ran for 500 s, running jobs that end after so many seconds, and
/// a forecast by which a job waits 10,000 s until the first of them has ended, and not at all from
/// then on.
fn pressed(ends_in: &[i64]) -> Cluster {
    let past = (0..100).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 0, 500));
    let ends: Vec<UnixTime> = ends_in.iter().map(|seconds| NOW + Seconds(*seconds)).collect();
    let first = ends.first().copied();
    let wait = move |_: &JobShape, moment: &Moment| if first.is_some_and(|end| moment.at >= end) { 0 } else { 10_000 };
    Cluster { wait: Some(Box::new(wait)), ends, ..cluster(past, batch(enforcing())) }
}

#[test]
fn a_job_is_deferred_until_running_jobs_are_expected_to_have_ended() {
    let cluster = pressed(&[600, 620, 5_000]);
    let asked = submission(4, UserOptions { auto_defer: true, ..UserOptions::default() });
    let decision = decided(&cluster, &asked);
    // The second end follows within 5 % of 600 s, the third does not.
    assert_eq!(decision.changes(), Changes { begin: Some(UnixTime(NOW.0 + 620)), ..Changes::default() });
    let Some(Ok(deferral)) = decision.deferral else { panic!("not deferred") };
    assert_eq!((deferral.response_now, deferral.response_deferred), (Seconds(10_500), Seconds(620 + 500)));
}

#[test]
fn a_deferral_must_gain_thirty_percent_and_keep_within_its_bounds() {
    let deferral = |ends_in, asked: UserOptions, deadline: Option<i64>| {
        let cluster = pressed(&[ends_in]);
        let deadline = deadline.map(|seconds| NOW + Seconds(seconds));
        decided(&cluster, &Submission { deadline, ..submission(4, asked) }).deferral.unwrap().map(|_| ())
    };
    let defer = UserOptions { auto_defer: true, ..UserOptions::default() };
    // 70 % of 10,500 s is 7,350 s: an end in 6,800 s leaves 7,300, one in 6,900 s leaves 7,400.
    assert_eq!(deferral(6_800, defer.clone(), None), Ok(()));
    assert!(matches!(deferral(6_900, defer.clone(), None), Err(NotDeferred::GainTooSmall { .. })));
    let short = UserOptions { max_defer: Some(600), ..defer.clone() };
    assert_eq!(deferral(601, short, None), Err(NotDeferred::NoEndExpected));
    assert_eq!(deferral(3_000, defer.clone(), Some(6_000)), Err(NotDeferred::BeyondDeadline));
    assert_eq!(deferral(3_000, defer, Some(7_000)), Ok(()));
}

#[test]
fn bounds_by_class_know_no_load_so_that_nothing_is_gained_by_deferral() {
    let waits = (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 9_000, 500));
    let busy = Cluster { ends: vec![NOW + Seconds(600)], ..cluster(waits, batch(enforcing())) };
    let decision = decided(&busy, &submission(4, UserOptions { auto_defer: true, ..UserOptions::default() }));
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::GainTooSmall { .. }))), "{:?}", decision.deferral);
}

#[test]
fn a_deferral_must_gain_what_the_site_wants_of_every_change_as_well() {
    // As submitted the job is done in 10,500 s; deferred, 500 s after the end.
    let deferral = |ends_in, min_gain, min_gain_time_s| {
        let policy = Policy { defer_threshold: 0.0, min_gain, min_gain_time: Seconds(min_gain_time_s), ..enforcing() };
        let cluster = pressed(&[ends_in]);
        let asked = submission(4, UserOptions { auto_defer: true, ..UserOptions::default() });
        let decision = decide(&DecisionInputs { policy, ..cluster.situation(&asked) });
        decision.deferral.unwrap().map(|deferral| deferral.response_deferred.0).map_err(|why| why.to_string())
    };
    assert_eq!(deferral(9_400, 0.05, 60), Ok(9_900));
    let too_little = "waiting gains too little: done about 8 min sooner than in 2 h 55 min, and 5 % and 1 min are wanted here";
    assert_eq!(deferral(9_500, 0.05, 60), Err(too_little.to_owned()));
    assert_eq!(deferral(9_500, 0.0, 60), Ok(10_000));
    assert!(deferral(9_500, 0.0, 501).is_err());
    assert!(deferral(9_999, 0.0, 0).is_ok());
    assert!(deferral(10_001, 0.0, 0).is_err());
}

#[test]
fn a_deferral_for_which_others_would_wait_longer_is_left_and_told() {
    // The job would run in 10,000 s as submitted, and in 9,400 s deferred, when a CPU is dear.
    let deferral = |others, price_s: f32| {
        let policy = Policy { defer_threshold: 0.0, others, ..enforcing() };
        let steps = [(9_300, 0.0), (9_950, price_s), (9_951, 0.0)];
        let prices = steps.map(|(until, waited)| PriceStep { until: Seconds(until), waited }).to_vec();
        let cluster = Cluster { prices: Some(prices), ..pressed(&[9_400]) };
        let asked = submission(4, UserOptions { auto_defer: true, ..UserOptions::default() });
        let decision = decide(&DecisionInputs { policy, ..cluster.situation(&asked) });
        decision.deferral.unwrap().map(|deferral| deferral.response_deferred.0).map_err(|why| why.to_string())
    };
    assert_eq!([Others::Ignore, Others::Sum, Others::NotWorse].map(|others| deferral(others, 0.0)), [(); 3].map(|()| Ok(9_900)));
    assert_eq!([Others::Ignore, Others::Sum].map(|others| deferral(others, 0.05)), [(); 2].map(|()| Ok(9_900)));
    let told = deferral(Others::NotWorse, 0.05).unwrap_err();
    assert!(told.starts_with("waiting would have it done about 10 min sooner, and others together wait about"), "{told}");
    assert!(deferral(Others::Sum, 1.0).is_err());
}

#[test]
fn a_size_that_past_waits_favour_is_left_and_told_where_others_would_wait_longer_for_it() {
    // On 4 nodes in the place of 16 the job is done in 1,100 s in the place of 5,500 s, and takes
    // 16 CPUs for 1,000 s when a CPU is dear.
    let molding = |others, price_s: f32| {
        let prices = [(4_000, price_s), (20_000, 0.0)].map(|(until, waited)| PriceStep { until: Seconds(until), waited });
        let policy = Policy { others, ..enforcing() };
        let cluster = Cluster { prices: Some(prices.to_vec()), ..cluster(past(), batch(policy)) };
        decided(&cluster, &submission(16, mold())).molding.unwrap().map_err(|why| why.to_string())
    };
    assert_eq!([0.0, 0.2, 0.4].map(|price| molding(Others::Sum, price).is_ok()), [true, true, false]);
    assert_eq!([0.0, 0.01, 0.2].map(|price| molding(Others::NotWorse, price).is_ok()), [true, true, false]);
    assert_eq!(molding(Others::Ignore, 100.0), Ok(()));
    let told = molding(Others::NotWorse, 0.2).unwrap_err();
    assert!(told.starts_with("4 nodes would have it done about 1 h 13 min sooner, and others together wait about"), "{told}");
}

#[test]
fn a_size_that_past_waits_favour_by_less_than_the_least_gain_is_passed_over() {
    // By their past waits large jobs wait so much longer than small ones, and all run for 500 s.
    let choice = |large_wait: u32, submission: &Submission<'_>| {
        let jobs = past().map(|job| EndedJob { end: job.start.unwrap() + Seconds(500), ..job });
        let wait = move |job: &JobShape, _: &Moment| if job.size.cpus > 16 { large_wait } else { 100 };
        let cluster = Cluster { wait: Some(Box::new(wait)), ..cluster(jobs, batch(enforcing())) };
        let decision = decided(&cluster, submission);
        let line = decision.line(submission, &enforcing(), NOW).unwrap();
        (decision.changes().size.map(|(size, _)| size.nodes), line)
    };
    let plain = submission(16, mold());
    let (molded, line) = choice(155, &plain);
    assert_eq!(molded, None);
    let told = "not molded: 4 nodes would gain too little: done about 55 s sooner than in 10 min, and 5 % and 1 min are wanted here";
    assert_eq!(line, told);
    assert_eq!(choice(165, &plain).0, Some(4));
    // What counts is the response from when the job may begin, however far that is ahead.
    let tomorrow = Submission { begin: Some(NOW + Seconds(86_400)), ..submission(16, mold()) };
    assert_eq!(choice(155, &tomorrow).0, None);
    let (molded, line) = choice(165, &tomorrow);
    assert_eq!(molded, Some(4));
    assert!(line.ends_with(": forecast to be done about 1 min sooner, in 1 d"), "{line}");
}

#[test]
fn of_two_partitions_the_greater_least_gain_holds() {
    let of = |min_gain, seconds| Policy { min_gain, min_gain_time: Seconds(seconds), ..enforcing() };
    let (first, second) = (of(0.1, 60), of(0.05, 600));
    let policy = configured_policy(Some("first,second"), &first, |name| if name == "first" { &first } else { &second });
    assert_eq!((policy.min_gain, policy.min_gain_time), (0.1, Seconds(600)));
}

fn reserve(ahead: i64, probability: f64) -> UserOptions {
    UserOptions {
        reserve_at: Some(NOW.0 + ahead),
        success_probability: Some(SuccessProbability::AtLeast(probability)),
        ..UserOptions::default()
    }
}

/// Waits of 0 to 1,990 s in even steps, in no order.
fn even_waits() -> impl Iterator<Item = EndedJob<(), &'static str, ()>> {
    (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, n * 73 % 200 * 10, 500))
}

#[test]
fn a_reservation_pads_the_limit_from_the_latest_begin_that_is_likely_enough() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let decision = decided(&cluster, &submission(4, reserve(7_200, 0.5)));
    let Some(Ok(reservation)) = decision.reservation else { panic!("{:?}", decision.reservation) };
    // The median of 200 waits is bounded by the 113th at 95 %: P(Binomial(200, 0.5) <= 111) =
    // 0.948, (<= 112) = 0.962. That is 1,120 s, so 1,140 on steps of 30 s.
    assert_eq!(reservation.point.begin, UnixTime(NOW.0 + 7_200 - 1_140));
    assert_eq!(reservation.point.padded_limit, Seconds(3_600 + 1_140).rounded_up_to_minutes());
    assert!(reservation.point.probability >= 0.5);
    let changes = decision.proposed();
    assert_eq!(changes.hold_until, Some(UnixTime(NOW.0 + 7_200)));
}

#[test]
fn an_unlikely_reservation_is_refused_with_what_could_be_had() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let asked = submission(4, reserve(600, 0.9));
    let decision = decided(&cluster, &asked);
    let Some(Refusal::NotReserved(NotReserved::Unlikely { best, wanted, later, .. })) = decision.refusal() else {
        panic!("{:?}", decision.reservation)
    };
    let best = best.unwrap();
    assert!(best.point.probability < 0.4 && wanted == SuccessProbability::AtLeast(0.9));
    let ahead = later.unwrap() - NOW;
    assert_eq!(decided(&cluster, &submission(4, reserve(ahead.0, 0.9))).refusal(), None);
    // The nearest such time in whole minutes.
    assert!(decided(&cluster, &submission(4, reserve(ahead.0 - 60, 0.9))).refusal().is_some());
    // The job would be eligible at once, ten minutes early at the most, on four nodes.
    let line = decision.line(&asked, &enforcing(), NOW).unwrap();
    let hours = best.cost().expected_node_hours();
    let expected = format!(
        "no reservation: it would be kept with probability {0:.2} at best, 0.9 is wanted; 0.9 can be had in {ahead} \
         (--reserve-at=now+{1}minutes); or accept --success-probability={0:.2}, at most 0.67 node-hours beyond the job, {hours:.2} expected",
        best.point.probability,
        ahead.0 / 60,
    );
    assert_eq!(line, expected);
    assert!(hours > 0.0 && hours < 0.67);
}

#[test]
fn the_best_probability_is_that_of_the_most_probable_point() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let best = |ahead| {
        let asked = UserOptions { success_probability: Some(SuccessProbability::Best), ..reserve(ahead, 0.5) };
        decided(&cluster, &submission(4, asked)).reservation.unwrap()
    };
    // Ten minutes ahead it is what the refusal of more offers.
    let refused = decided(&cluster, &submission(4, reserve(600, 0.9))).refusal();
    let Some(Refusal::NotReserved(NotReserved::Unlikely { best: Some(offered), .. })) = refused else { panic!("{refused:?}") };
    assert_eq!(best(600), Ok(Reservation { wanted: 1.0, ..offered }));
    assert_eq!(offered.point.begin, NOW);
    // Two hours ahead it is the latest point at which no bound is longer than what is left.
    let far = best(7_200).unwrap().point;
    assert_eq!(decided(&cluster, &submission(4, reserve(7_200, far.probability))).reservation.unwrap().unwrap().point, far);
    assert!(far.probability < 0.99, "200 waits bound no 99th percentile");
    assert!(decided(&cluster, &submission(4, reserve(7_200, far.probability + 0.01))).refusal().is_some());
    // Where nothing is known there is no best either.
    assert_eq!(
        decided(
            &self::cluster([], batch(enforcing())),
            &submission(4, UserOptions { success_probability: Some(SuccessProbability::Best), ..reserve(600, 0.5) })
        )
        .refusal(),
        Some(Refusal::NotReserved(NotReserved::NoWaits))
    );
}

#[test]
fn a_reservation_for_whose_idle_nodes_others_would_wait_longer_is_refused_and_told_where_the_site_asks() {
    // A CPU costs the same at all times, so that others pay for the time before the reserved one.
    let answer = |others, price_s: f32, early_start| {
        let prices = vec![PriceStep { until: Seconds(60_000), waited: price_s }];
        let cluster = Cluster { prices: Some(prices), ..cluster(even_waits(), batch(Policy { others, ..enforcing() })) };
        let asked = UserOptions { early_start: Some(early_start), ..reserve(7_200, 0.5) };
        decided(&cluster, &submission(4, asked)).reservation.unwrap().map(|given| given.point.mean_early.0)
    };
    let early = answer(Others::Ignore, 100.0, EarlyStart::Wait).unwrap();
    // Without it the job would wait for 1,000 s and more, and for its sixteen CPUs others wait by
    // their price for as long as they are held.
    let dear = (2_000.0 / (16 * early) as f64) as f32;
    assert_eq!([0.0, dear / 1_000.0].map(|price_s| answer(Others::NotWorse, price_s, EarlyStart::Wait)), [Ok(early), Ok(early)]);
    assert_eq!(answer(Others::Sum, dear / 10.0, EarlyStart::Wait), Ok(early));
    let refused = |others, price_s| answer(others, price_s, EarlyStart::Wait).unwrap_err();
    assert!(matches!(refused(Others::NotWorse, dear / 10.0), NotReserved::OthersWait(_)));
    let told = refused(Others::Sum, dear).to_string();
    assert!(told.starts_with("the reservation would have it done about"), "{told}");
    assert!(told.ends_with("and others together wait about 33 min longer, which is not wanted here"), "{told}");
    // What runs as soon as it has its nodes keeps them from nobody.
    assert_eq!(answer(Others::NotWorse, dear, EarlyStart::Run), Ok(early));
}

#[test]
fn a_user_is_told_what_a_reservation_costs_and_that_it_may_be_cancelled() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let asked = UserOptions { if_missed: Some(IfMissed::Cancel), ..reserve(7_200, 0.5) };
    let submission = submission(4, asked);
    let decision = decided(&cluster, &submission);
    let Some(Ok(reservation)) = decision.reservation else { panic!("{:?}", decision.reservation) };
    assert_eq!((reservation.nodes, reservation.if_missed), (4, IfMissed::Cancel));
    // Eligible 1,140 s before, on four nodes: 1.27 node-hours.
    let line = decision.line(&submission, &enforcing(), NOW).unwrap();
    let cost = format!("at most 1.3 node-hours beyond the job, {:.2} expected", reservation.cost().expected_node_hours());
    let end = format!("waits on its nodes if it gets them early, {cost}; cancelled if it has not started by then");
    assert!(line.ends_with(&end), "{line}");
}

#[test]
fn what_contradicts_a_reservation_is_named() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let plain = submission(4, reserve(7_200, 0.5));
    let refusal = |submission: &Submission<'_>| decided(&cluster, submission).refusal();
    assert_eq!(refusal(&submission(4, reserve(-5, 0.5))), Some(Refusal::NotReserved(NotReserved::InThePast)));
    assert_eq!(refusal(&submission(4, reserve(367 * 86_400, 0.5))), Some(Refusal::NotReserved(NotReserved::TooFar)));
    assert_eq!(refusal(&Submission { is_array: true, ..plain.clone() }), Some(Refusal::NotReserved(NotReserved::Array)));
    assert_eq!(refusal(&Submission { begin: Some(NOW + Seconds(60)), ..plain.clone() }), Some(Refusal::NotReserved(NotReserved::OwnBegin)));
    assert_eq!(refusal(&Submission { limit: TimeLimit::Unlimited, ..plain.clone() }), Some(Refusal::NotReserved(NotReserved::Unlimited)));
    assert_eq!(
        refusal(&Submission { deadline: Some(NOW + Seconds(10_000)), ..plain.clone() }),
        Some(Refusal::NotReserved(NotReserved::BeyondDeadline))
    );
    assert_eq!(refusal(&Submission { deadline: Some(NOW + Seconds(10_860)), ..plain }), None);
}

#[test]
fn an_early_start_may_run_at_once() {
    let cluster = cluster(even_waits(), batch(enforcing()));
    let asked = UserOptions { early_start: Some(EarlyStart::Run), ..reserve(7_200, 0.5) };
    let asked = submission(4, asked);
    let decision = decided(&cluster, &asked);
    assert_eq!(decision.proposed().hold_until, None);
    let line = decision.line(&asked, &enforcing(), NOW).unwrap();
    assert!(line.ends_with("; runs at once if it gets them early"), "{line}");
}

#[test]
fn without_known_waits_a_deadline_has_a_probability_only_where_no_wait_could_meet_it() {
    // A job of an hour, of whose kind there is no past.
    let cluster = cluster([], batch(enforcing()));
    let record = |seconds: i64| {
        let submission = Submission { deadline: Some(NOW + Seconds(seconds)), ..submission(16, UserOptions::default()) };
        let decision = decided(&cluster, &submission);
        let line = decision.line(&submission, &enforcing(), NOW).unwrap();
        (decision.record(&cluster.situation(&submission), 7).forecast.unwrap().deadline_probability, line)
    };
    let (probability, line) = record(86_400);
    assert_eq!(probability, None);
    assert!(line.contains("nothing is known of waits here, so not whether the deadline will be met"), "{line}");
    let (probability, line) = record(3_500);
    assert_eq!(probability, Some(0.0));
    assert!(line.contains("with probability 0.00"), "{line}");
}

#[test]
fn molding_maximises_the_probability_of_the_deadline() {
    // By the gain the small size wins (done after 1,100 s), but it runs 1,000 s, and only its bound
    // matters here.
    let cluster = cluster(past(), batch(enforcing()));
    let late = Submission { deadline: Some(NOW + Seconds(86_400)), ..submission(16, mold()) };
    assert!(decided(&cluster, &late).deadline_probability().unwrap() > 0.9);
    let tight = Submission { deadline: Some(NOW + Seconds(4_000)), ..submission(16, UserOptions::default()) };
    let decision = decided(&cluster, &tight);
    assert_eq!(decision.deadline_probability(), Some(0.0));
    let holds = decision.deadline_that_holds.unwrap();
    let met = Submission { deadline: Some(holds), ..submission(16, UserOptions::default()) };
    assert!(decided(&cluster, &met).deadline_probability().unwrap() >= 0.95);
    assert!(decision.line(&tight, &enforcing(), NOW).unwrap().contains("with probability 0.00; a deadline in"));
}

#[test]
fn molding_never_chooses_a_limit_beyond_the_deadline() {
    let cluster = cluster(past(), batch(enforcing()));
    // The small size would need a limit of 7,200 s.
    let asked = Submission { deadline: Some(NOW + Seconds(7_000)), ..submission(16, mold()) };
    assert_eq!(decided(&cluster, &asked).molding, Some(Err(NotMolded::NoOtherSize)));
}

fn states() -> impl Strategy<Value = (Vec<(i64, i64, u32)>, PartitionState)> {
    let jobs = prop::collection::vec((0i64..40_000, 1i64..90_000, 1u32..64), 1..250);
    let times = (3_600i64..500_000, prop::option::of(60i64..80_000));
    (jobs, times).prop_map(|(jobs, (max_time, default_time))| {
        let times = PartitionState { max_time: Some(Seconds(max_time)), default_time: default_time.map(Seconds), ..batch(enforcing()) };
        (jobs, times)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The walk from class to class finds what Nurmi et al.'s walk back through every step finds.
    #[test]
    fn the_latest_point_is_the_one_that_walking_back_finds_first(
        (jobs, state) in states(), ahead in 1i64..100_000, limit in 60i64..50_000, percent in 1u32..100, nodes in 1u32..64,
    ) {
        let jobs = jobs.iter().enumerate()
            .map(|(n, (wait, limit, nodes))| ended_job(UserId(USER), NOW - Seconds(9_000_000 - n as i64 * 600), *nodes, *limit, *wait, 100));
        let cluster = cluster(jobs, state.clone());
        let wanted = f64::from(percent) / 100.0;
        let reserved = NOW + Seconds(ahead);
        let asked = Submission { limit: TimeLimit::Limited(Seconds(limit)), ..submission(nodes, reserve(ahead, wanted)) };
        let decision = decided(&cluster, &asked);
        let size = Size { nodes, cpus: nodes * 4 };
        let shape = JobShape { user: UserId(USER), association: Association::default(), partition: PartitionIndex(0), size, limit: Some(Seconds(limit)) };
        let job = Reservable { forecasts: &cluster, shape, now: Moment::present(NOW), longest_limit: state.max_time };
        let points = trajectory(&job, reserved);
        prop_assert!(points.iter().all(|point| state.max_time.is_none_or(|longest| point.padded_limit <= longest)));
        let by_walk = points.iter().rev().find(|point| point.probability >= wanted - 1e-9);
        match (decision.reservation.unwrap(), by_walk) {
            (Ok(reservation), Some(point)) => prop_assert_eq!(reservation.point, *point),
            (Err(NotReserved::Unlikely { best, .. }), None) => {
                let highest = points.iter().map(|point| point.probability).fold(0.0, f64::max);
                let best = best.map_or(0.0, |best| best.point.probability);
                prop_assert!((best - highest).abs() < 1e-9, "best {best}, highest {highest}");
            }
            // Without the partition's longest limit it could be had.
            (Err(NotReserved::BeyondLimit { needed, longest }), None) => prop_assert!(needed > longest.value),
            (other, point) => prop_assert!(false, "{other:?} against {point:?}"),
        }
    }

    #[test]
    fn a_record_is_short_and_reads_back(
        (jobs, state) in states(), nodes in 1u32..64, ahead in 1i64..100_000, list in prop::collection::vec(1u32..1_000_000, 1..64),
        tasks in prop::option::of(1u32..100), deadline in prop::option::of(1i64..1_000_000),
    ) {
        let jobs = jobs.iter().enumerate()
            .map(|(n, (wait, limit, nodes))| ended_job(UserId(USER), NOW - Seconds(9_000_000 - n as i64 * 600), *nodes, *limit, *wait, 100));
        let cluster = cluster(jobs, state);
        let asked = UserOptions {
            auto_mold: true, auto_defer: true, mold_sizes: Some(MoldSizes::list(list).unwrap()), ..reserve(ahead, 0.3)
        };
        let deadline = deadline.map(|seconds| NOW + Seconds(seconds));
        let submission = Submission { tasks, deadline, ..submission(nodes, asked) };
        let situation = cluster.situation(&submission);
        let decision = decide(&situation);
        let record = decision.record(&situation, u64::MAX);
        let json = record.to_json().unwrap();
        prop_assert!(json.len() <= MOST_BYTES);
        let with_more = format!("{json} somebody's comment");
        prop_assert_eq!(Record::parse(&with_more).unwrap().written, record.written);
    }

    #[test]
    fn what_is_written_never_breaks_a_deadline(
        (jobs, state) in states(), nodes in 1u32..64, deadline in 60i64..200_000, ends in 1i64..50_000, ahead in prop::option::of(1i64..90_000),
    ) {
        let jobs = jobs.iter().enumerate()
            .map(|(n, (wait, limit, nodes))| ended_job(UserId(USER), NOW - Seconds(9_000_000 - n as i64 * 600), *nodes, *limit, *wait, 100));
        let cluster = Cluster { ends: vec![NOW + Seconds(ends)], ..cluster(jobs, state) };
        let asked = UserOptions { auto_mold: true, auto_defer: true, reserve_at: ahead.map(|ahead| NOW.0 + ahead), success_probability: Some(SuccessProbability::AtLeast(0.1)), ..UserOptions::default() };
        let asked = Submission { deadline: Some(NOW + Seconds(deadline)), ..submission(nodes, asked) };
        let changes = decided(&cluster, &asked).changes();
        if changes.begin.is_some() || changes.limit.is_some() {
            let begin = changes.begin.unwrap_or(NOW);
            prop_assert!(begin + changes.limit.unwrap_or(Seconds(3_600)) <= NOW + Seconds(deadline));
        }
    }
}

#[test]
fn what_the_guard_holds_back_is_left_as_written_and_the_record_says_so() {
    use job_types::policy::HeldBack;
    let of = |policy, asked| {
        let cluster = cluster(past(), batch(policy));
        let submission = Submission { tasks: Some(64), ..submission(16, asked) };
        let situation = cluster.situation(&submission);
        let decision = decide(&situation);
        (decision.record(&situation, 1), decision)
    };
    let held = HeldBack { molding: true, deferral: false };
    let transparent = Policy { mold: When::Always, ..enforcing() };
    for (policy, asked) in [(enforcing(), mold()), (transparent, UserOptions::default())] {
        assert!(!of(policy, asked.clone()).1.changes().is_empty());
        let (record, decision) = of(Policy { held_back: held, ..policy }, asked);
        assert_eq!(decision.molding, Some(Err(NotMolded::HeldBack)));
        assert!(decision.changes().is_empty() && record.written.is_none());
        assert!(record.left.iter().any(|why| why.contains("not molded: held back here by the guard")), "{:?}", record.left);
    }
    let (_, decision) = of(Policy { held_back: held, ..enforcing() }, UserOptions { auto_defer: true, ..UserOptions::default() });
    assert!(!matches!(decision.deferral, None | Some(Err(NotDeferred::HeldBack))), "{:?}", decision.deferral);
    let held = HeldBack { molding: false, deferral: true };
    let (record, decision) = of(Policy { held_back: held, ..enforcing() }, UserOptions { auto_defer: true, ..mold() });
    assert_eq!(decision.molding, Some(Ok(())));
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::HeldBack))), "{:?}", decision.deferral);
    assert!(record.left.iter().any(|why| why.contains("not deferred: held back here by the guard")), "{:?}", record.left);
}

#[test]
fn of_several_partitions_what_is_held_back_in_one_is_held_back() {
    use job_types::policy::HeldBack;
    let here = Policy { held_back: HeldBack { molding: true, deferral: false }, ..enforcing() };
    let there = Policy { held_back: HeldBack { molding: false, deferral: true }, ..enforcing() };
    let of = |names| configured_policy(Some(names), &enforcing(), |name| if name == "here" { &here } else { &there }).held_back;
    assert_eq!(of("here,there"), HeldBack { molding: true, deferral: true });
    assert_eq!(of("here"), here.held_back);
}
