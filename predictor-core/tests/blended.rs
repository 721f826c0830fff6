//! Decisions from the default forecasts of waits, as they come with a snapshot.

#![allow(clippy::unwrap_used)]

use job_types::job::EndedJob;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::options::{SuccessProbability, UserOptions};
use job_types::policy::{Admission, Policy};
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{
    FREE_CPUS, LIMIT, MadeUpSite, NOW, USER, WAITING_JOBS, batch, ended_job, enforcing, forecast_by, fork, free_cpus, running_job, score,
    situation, submission,
};
use predictor_core::decisions::site::Site;
use predictor_core::decisions::{
    Changes, Decision, DecisionInputs, NotAdmitted, NotDeferred, NotReserved, Reservable, Submission, TimeLimit, decide, trajectory,
};
use predictor_core::forecasts::forecast::{Association, Claimed, Claims, JobShape, Moment, WaitForecaster};
use predictor_core::forecasts::levels::{Levels, nearest_knot};
use predictor_core::forecasts::promise::{PromiseKind, PromiseLevels, Shortfalls, classes};
use predictor_core::forecasts::reliability::WaitSourceReason;
use predictor_core::forecasts::trees::Forest;
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::Snapshot;
use proptest::prelude::*;
use snapshot_writer::{PartitionState, ReservedCpus};

fn decided(snapshot: &Snapshot<Vec<u8>>, asked: UserOptions) -> Decision {
    decide(&situation(snapshot, &submission(4, asked)))
}

/// Jobs on 4 nodes that waited 2,000 to 2,199 s and ran 500 s.
fn past() -> impl Iterator<Item = EndedJob<(), &'static str, ()>> {
    (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 4, 3_600, 2_000 + n * 73 % 200, 500))
}

/// A snapshot in which 240 of 256 CPUs are busy, and are expected to be free in 600 s.
fn busy(model: &WaitModel) -> Snapshot<Vec<u8>> {
    let mut busy = batch(enforcing());
    busy.running = vec![running_job(60, NOW - Seconds(600), NOW + Seconds(600))];
    MadeUpSite::new(NOW).partition(busy).ended_jobs(past()).learnt(model).snapshot()
}

/// A wait of 10,000 s while no more than 100 CPUs are free, and of none beyond.
fn by_free_cpus() -> WaitModel {
    forecast_by(fork(FREE_CPUS, 100.0, 100.0, 0.0), 240)
}

fn shape() -> JobShape {
    let size = Size { nodes: 4, cpus: 16 };
    JobShape { user: UserId(USER), association: Association::default(), partition: PartitionIndex(0), size, limit: Some(Seconds(3_600)) }
}

#[test]
fn a_forecast_is_the_blends_point_with_the_bounds_of_its_row() {
    let snapshot = busy(&by_free_cpus());
    let wait = snapshot.wait(&shape(), Some(&Moment::present(NOW))).unwrap();
    assert_eq!((wait.source, wait.jobs, wait.median, wait.class), (WaitSource::Blended, 70, Seconds(10_000), None));
    assert_eq!((wait.bound(0.5), wait.bound(0.95)), (Some(Seconds(10_049)), Some(Seconds(10_094))));
    // The weights move the point away: half of it comes from the member that says none.
    let mut half = by_free_cpus();
    half.weights = [0.5, 0.5, 0.0, 0.0];
    let halved = busy(&half);
    let wait = halved.wait(&shape(), Some(&Moment::present(NOW))).unwrap();
    assert_eq!((wait.median, wait.bound(0.95)), (Seconds(2_500), Some(Seconds(94))));
}

#[test]
fn a_deferral_pays_where_the_queue_is_forecast_to_empty() {
    let snapshot = busy(&by_free_cpus());
    let decision = decided(&snapshot, UserOptions { auto_defer: true, ..UserOptions::default() });
    assert_eq!(decision.changes(), Changes { begin: Some(UnixTime(NOW.0 + 600)), ..Changes::default() });
    let Some(Ok(deferral)) = &decision.deferral else { panic!("{:?}", decision.deferral) };
    assert_eq!((deferral.response_now, deferral.response_deferred), (Seconds(10_500), Seconds(600 + 500)));
    // With a forecast that does not look at free CPUs nothing is gained.
    let indifferent = busy(&forecast_by(fork(LIMIT, 60.0, 0.0, 100.0), 240));
    let decision = decided(&indifferent, UserOptions { auto_defer: true, ..UserOptions::default() });
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::GainTooSmall { .. }))));
}

#[test]
fn claims_wait_before_the_job() {
    let snapshot = busy(&forecast_by(fork(WAITING_JOBS, 2.5, 0.0, 100.0), 240));
    let median = |jobs| {
        let cluster = Claims { jobs, cpus: 4 * jobs, ..Claims::default() };
        let claimed = Claimed { partition: cluster, cluster, ..Claimed::default() };
        snapshot.wait(&shape(), Some(&Moment { claimed, ..Moment::present(NOW) })).unwrap().median
    };
    assert_eq!([median(0), median(2), median(3)], [0, 0, 10_000].map(Seconds));
}

#[test]
fn without_the_default_the_class_stands_in_and_the_user_is_told() {
    let mut uncalibrated = by_free_cpus();
    uncalibrated.scores = vec![score(WaitSource::Qbets, WaitSourceReason::NotCalibrated)];
    let snapshot = busy(&uncalibrated);
    let asked = submission(4, UserOptions { auto_defer: true, ..UserOptions::default() });
    let situation = situation(&snapshot, &asked);
    let decision = decide(&situation);
    let written = decision.as_written.as_ref().unwrap();
    assert_eq!((written.wait_source, written.wait.unwrap().0), (Some(WaitSource::Qbets), Seconds(2_099)));
    let line = decision.line(&asked, &enforcing(), NOW).unwrap();
    assert!(line.ends_with("jobs like it alone: the bounds have lately not held as often as they should in the partition"), "{line}");
    assert_eq!(decision.record(&situation, 7).forecast.unwrap().wait_from, Some(WaitSource::Qbets));
}

#[test]
fn what_is_in_force_is_what_the_partitions_score_says() {
    let source = |scores: Vec<_>, at: i64| {
        let snapshot = busy(&WaitModel { scores, ..by_free_cpus() });
        snapshot.wait(&shape(), Some(&Moment::present(NOW).at(NOW + Seconds(at)))).map(|wait| wait.source)
    };
    let scored = |source, reason| vec![score(source, reason)];
    assert_eq!(source(scored(WaitSource::Nothing, WaitSourceReason::NotTrained), 0), None);
    assert_eq!(source(scored(WaitSource::Qbets, WaitSourceReason::TooFewJobs), 0), Some(WaitSource::Qbets));
    assert_eq!(source(Vec::new(), 0), Some(WaitSource::Qbets));
    assert_eq!(source(scored(WaitSource::Blended, WaitSourceReason::Calibrated), 12 * 3_600), Some(WaitSource::Blended));
    // Half a day ahead the present tells nothing any more.
    assert_eq!(source(scored(WaitSource::Blended, WaitSourceReason::Calibrated), 12 * 3_600 + 1), Some(WaitSource::Qbets));
}

#[test]
fn a_reservation_rests_on_the_present_for_moments_near_by_and_on_the_past_for_others() {
    let reserve = |ahead: i64, model: &WaitModel| {
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + ahead),
            success_probability: Some(SuccessProbability::AtLeast(0.9)),
            ..UserOptions::default()
        };
        decided(&busy(model), asked).reservation.unwrap().map(|reservation| reservation.at - reservation.point.begin)
    };
    // The cluster is forecast to be empty by then, but jobs here have waited 2,000 to 2,199 s.
    assert!((2_100..=2_220).contains(&reserve(7_200, &by_free_cpus()).unwrap().0));
    // What is idle now is promised for two minutes ahead, whatever jobs have waited.
    let idle = forecast_by(fork(LIMIT, 1e9, 0.0, 100.0), 0);
    assert!((88..=120).contains(&reserve(120, &idle).unwrap().0));
    // Long waits are forecast whatever is free, and the past does not say otherwise.
    let full = forecast_by(fork(LIMIT, 60.0, 0.0, 100.0), 240);
    assert!(matches!(reserve(120, &full), Err(NotReserved::Unlikely { .. })));
    assert!(matches!(reserve(7_200, &full), Err(NotReserved::Unlikely { .. })));
    assert!((10_000..=10_140).contains(&reserve(20_000, &full).unwrap().0));
}

#[test]
fn nodes_that_the_plan_has_free_are_promised_for_a_time_near_by_whatever_jobs_have_waited() {
    // Long waits are forecast whatever is free.
    let full = forecast_by(fork(LIMIT, 60.0, 0.0, 100.0), 240);
    let reserve = |free: Vec<(i64, u32)>, ahead: i64, change: fn(&mut DecisionInputs<'_, Snapshot<Vec<u8>>>), wanted: f64| {
        let free = free.into_iter().map(|(from, cpus)| (NOW + Seconds(from), cpus)).collect();
        let site = MadeUpSite::new(NOW).partition(batch(enforcing())).ended_jobs(past()).learnt(&full);
        let snapshot = site.queue(&free_cpus(NOW, free, 3)).snapshot();
        let success_probability = Some(SuccessProbability::AtLeast(wanted));
        let asked = UserOptions { reserve_at: Some(NOW.0 + ahead), success_probability, ..UserOptions::default() };
        let submission = submission(4, asked);
        let mut situation = situation(&snapshot, &submission);
        change(&mut situation);
        decide(&situation).reservation.unwrap().map(|reservation| reservation.point)
    };
    let unchanged = |_: &mut DecisionInputs<'_, Snapshot<Vec<u8>>>| ();
    let is_refused = |answer| matches!(answer, Err(NotReserved::Unlikely { .. }));
    // Sixteen CPUs are free until a job that waits begins, behind the padded limit of 62 minutes.
    let until = |end: i64| vec![(-30, 16), (end, 0), (end + 3_600, 256)];
    let point = reserve(until(3_720), 120, unchanged, 0.95).unwrap();
    assert_eq!((point.begin, point.padded_limit, point.probability), (NOW, Seconds(3_720), 0.99));
    assert!(is_refused(reserve(until(3_719), 120, unchanged, 0.95)), "it would be in that job's way");
    assert!(is_refused(reserve(vec![(-30, 15), (300, 256)], 120, unchanged, 0.95)), "too few are free");
    let claim = |situation: &mut DecisionInputs<'_, Snapshot<Vec<u8>>>| situation.claimed.partition.cpus = 1;
    assert!(is_refused(reserve(until(3_720), 120, claim, 0.95)), "one was taken since");
    // Nobody knows who will come, and the nodes are paid for until then.
    assert!(reserve(vec![(-30, 256)], 1_800, unchanged, 0.95).is_ok() && is_refused(reserve(vec![(-30, 256)], 1_830, unchanged, 0.95)));
    let Err(NotReserved::Unlikely { best, .. }) = reserve(until(3_720), 120, unchanged, 0.995) else { panic!("it is given") };
    assert_eq!(best.unwrap().point.probability, 0.99);
}

#[test]
fn what_others_have_reserved_for_a_time_leaves_less_room_the_surer_a_promise_is_to_be() {
    let idle = forecast_by(fork(LIMIT, 1e9, 0.0, 100.0), 0);
    let reserve = |cpus: u32, wanted: f64| {
        let others = ReservedCpus { from: NOW - Seconds(60), until: NOW + Seconds(3_720), cpus };
        let partition = PartitionState { reserved: if cpus > 0 { vec![others] } else { Vec::new() }, ..batch(enforcing()) };
        let snapshot = MadeUpSite::new(NOW).partition(partition).ended_jobs(past()).learnt(&idle).snapshot();
        let success_probability = Some(SuccessProbability::AtLeast(wanted));
        decided(&snapshot, UserOptions { reserve_at: Some(NOW.0 + 120), success_probability, ..UserOptions::default() })
            .reservation
            .unwrap()
    };
    // With 16 of its own it would be 176 of 256 CPUs, 69 %; 60 % are left for 0.9, 75 % for 0.75.
    let Err(refused @ NotReserved::Crowded { part, .. }) = reserve(160, 0.9) else { panic!("it is given") };
    assert_eq!((part, refused.to_string().as_str()), (0.6875, "with it reservations would take 69 % of the CPUs at that time"));
    assert!(reserve(160, 0.75).is_ok() && reserve(120, 0.9).is_ok());
    // Who is first may take all.
    assert!(reserve(0, 0.9).is_ok());
    // What its user's jobs claimed since the snapshot counts where it is reserved.
    let claimed = |reserved_cpus: u64, until: i64| {
        let snapshot = busy(&idle);
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + 120),
            success_probability: Some(SuccessProbability::AtLeast(0.9)),
            ..UserOptions::default()
        };
        let submission = submission(4, asked);
        let mut situation = situation(&snapshot, &submission);
        let reserved_until_s = (NOW + Seconds(until)).0.unsigned_abs();
        situation.claimed.partition = Claims { jobs: 1, cpus: 160, reserved_cpus, reserved_until_s, ..Claims::default() };
        decide(&situation).reservation.unwrap()
    };
    assert!(matches!(claimed(160, 121), Err(NotReserved::Crowded { part, .. }) if part == 0.6875));
    assert!(!matches!(claimed(160, 120), Err(NotReserved::Crowded { .. })), "they are over by then");
    assert!(!matches!(claimed(0, 0), Err(NotReserved::Crowded { .. })));
}

#[test]
fn promises_that_were_not_kept_are_asked_for_with_a_higher_probability() {
    let idle = forecast_by(fork(LIMIT, 1e9, 0.0, 100.0), 0);
    let reserve = |wanted: f64, missed: usize| {
        let mut levels = Levels::default();
        (0..missed).for_each(|_| levels.observe(nearest_knot(0.75), 0.0, 0.02));
        let promises = vec![PromiseLevels { partition: PartitionIndex(0), class: 0, levels, shortfalls: Shortfalls::default() }];
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + 120),
            success_probability: Some(SuccessProbability::AtLeast(wanted)),
            ..UserOptions::default()
        };
        decided(&busy(&WaitModel { promises, ..idle.clone() }), asked).reservation.unwrap().map(|reservation| reservation.point)
    };
    let (before, after) = (reserve(0.75, 0).unwrap(), reserve(0.75, 14).unwrap());
    assert!(after.begin < before.begin, "{after:?} against {before:?}");
    assert!((0.75..0.85).contains(&after.probability), "the promise is still of what is wanted: {after:?}");
    let Err(refused @ NotReserved::Unlikely { best, asked, .. }) = reserve(0.75, 40) else { panic!("it is given") };
    assert!(best.unwrap().point.probability < 0.75 && asked > 0.99);
    assert!(refused.to_string().contains("kept less often lately"), "{refused}");
}

#[test]
fn what_is_told_of_a_reservation_is_less_where_such_forecasts_were_missed_and_what_is_given_is_the_same() {
    let idle = forecast_by(fork(LIMIT, 1e9, 0.0, 100.0), 0);
    let reserve = |shortfalls| {
        let promises = vec![PromiseLevels { partition: PartitionIndex(0), class: 0, levels: Levels::default(), shortfalls }];
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + 120),
            success_probability: Some(SuccessProbability::AtLeast(0.75)),
            ..UserOptions::default()
        };
        decided(&busy(&WaitModel { promises, ..idle.clone() }), asked).reservation.unwrap().unwrap()
    };
    let before = reserve(Shortfalls::default());
    let forecast = before.point.probability;
    let mut shortfalls = Shortfalls::default();
    (0..100).for_each(|_| shortfalls.observe(forecast, forecast, false));
    let after = reserve(shortfalls);
    assert!((forecast - 0.35..forecast - 0.1).contains(&after.point.probability), "{before:?} and {after:?}");
    assert_eq!((after.point.begin, after.point.padded_limit, after.wanted), (before.point.begin, before.point.padded_limit, 0.75));
}

#[test]
fn deadlines_that_were_missed_raise_what_is_asked_of_those_that_are_admitted() {
    let idle = forecast_by(fork(LIMIT, 1e9, 0.0, 100.0), 0);
    let policy = Policy { admission: Admission::Probability, deadline_probability: 0.75, ..enforcing() };
    let job = Submission { deadline: Some(NOW + Seconds(7_200)), ..submission(4, UserOptions::default()) };
    let admission = |kind, missed: usize| {
        let mut levels = Levels::default();
        (0..missed).for_each(|_| levels.observe(nearest_knot(0.75), 0.0, 0.02));
        let class = classes(kind, 16, Seconds(7_200))[0];
        let promises = vec![PromiseLevels { partition: PartitionIndex(0), class, levels, shortfalls: Shortfalls::default() }];
        let model = WaitModel { promises, ..idle.clone() };
        let snapshot = MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past()).learnt(&model).snapshot();
        decide(&DecisionInputs { policy, ..situation(&snapshot, &job) }).admission.unwrap()
    };
    assert!(admission(PromiseKind::Deadline, 0).is_ok());
    assert!(admission(PromiseKind::Reservation, 40).is_ok(), "reservations are another matter");
    let refused = admission(PromiseKind::Deadline, 40);
    let Err(NotAdmitted::Unlikely { probability, wanted, .. }) = refused else { panic!("{refused:?}") };
    assert!(probability < wanted && wanted > 0.99, "{probability}, {wanted}");
}

#[test]
fn sizes_forecast_together_are_as_each_alone() {
    // 50 trees by different features, so that the forecasts differ.
    let mut trees = Forest::default();
    for tree in 0..50u16 {
        let one = fork(tree % 5, f32::from(tree * 60), f32::from(tree % 7) / 5.0, f32::from(tree % 11) / 5.0);
        trees.roots.push((trees.nodes.len() as u32).into());
        trees.nodes.extend(one.nodes);
    }
    let snapshot = busy(&forecast_by(trees, 100));
    let asked: Vec<_> = (1..=45u32)
        .map(|n| {
            let shape = JobShape { size: Size { nodes: n, cpus: 4 * n }, limit: Some(Seconds(60 * i64::from(n))), ..shape() };
            (shape, (n % 9 != 0).then(|| Moment::present(NOW).at(NOW + Seconds(i64::from(n % 3) * 300))))
        })
        .collect();
    let alone = asked.iter().map(|(shape, moment)| snapshot.wait(shape, moment.as_ref()).unwrap());
    for (alone, together) in alone.zip(snapshot.waits(&asked)) {
        let together = together.unwrap();
        assert_eq!((alone.source, alone.median, alone.bounds), (together.source, together.median, together.bounds));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The walk from limit to limit finds what Nurmi et al.'s walk back through every step finds.
    #[test]
    fn the_latest_point_is_the_one_that_walking_back_finds_first(
        feature in prop_oneof![Just(LIMIT), Just(FREE_CPUS)], threshold in 0f32..20_000.0, low in 0f32..100.0, high in 0f32..100.0,
        ahead in 1i64..100_000, limit in 60i64..50_000, percent in 1u32..100,
    ) {
        let snapshot = busy(&forecast_by(fork(feature, threshold, low, high), 240));
        let wanted = f64::from(percent) / 100.0;
        let asked = UserOptions { reserve_at: Some(NOW.0 + ahead), success_probability: Some(SuccessProbability::AtLeast(wanted)), ..UserOptions::default() };
        let asked = Submission { limit: TimeLimit::Limited(Seconds(limit)), ..submission(4, asked) };
        let decision = decide(&situation(&snapshot, &asked));
        let longest_limit = snapshot.partition("batch").unwrap().max_time;
        let association = Association { account: AccountIndex(1), qos: QosIndex(1) };
        let shape = JobShape { limit: Some(Seconds(limit)), association, ..shape() };
        let job = Reservable { forecasts: &snapshot, shape, now: Moment::present(NOW), longest_limit };
        let points = trajectory(&job, NOW + Seconds(ahead));
        match (decision.reservation.unwrap(), points.iter().rev().find(|point| point.probability >= wanted - 1e-9)) {
            (Ok(reservation), Some(point)) => prop_assert_eq!(reservation.point, *point),
            (Err(NotReserved::Unlikely { best, .. }), None) => {
                let highest = points.iter().map(|point| point.probability).fold(0.0, f64::max);
                let best = best.map_or(0.0, |best| best.point.probability);
                prop_assert!((best - highest).abs() < 1e-9, "best {best}, highest {highest}");
            }
            (other, point) => prop_assert!(false, "{other:?} against {point:?}"),
        }
    }
}

/// The plugin forecasts what the daemon would.
mod against_the_daemon {
    use super::*;
    use job_types::job::{EndedJob, WaitingJob};
    use learning::sweep::{EventKind, PUBLISHED_FOR, Sweep, events, rounds};
    use learning::training::Training;
    use learning::waits::blended::{BlendedWaits, Settings};
    use predictor_core::forecasts::past::FEATURES;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const CPUS: u32 = 64;

    /// Jobs first come, first served.
    fn past(jobs: i64) -> Vec<EndedJob> {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut free_at = vec![1_000_000i64; CPUS as usize];
        let mut eligible = 1_000_000;
        let job = |_| {
            eligible += random.random_range(1..240);
            let cpus = 1u32 << random.random_range(0..5);
            let limit = 600 * random.random_range(1..12i64);
            free_at.sort_unstable();
            let start = free_at[cpus as usize - 1].max(eligible);
            let end = start + random.random_range(1..=limit);
            free_at[..cpus as usize].fill(end);
            EndedJob {
                submitted: WaitingJob {
                    user: UserId(USER + random.random_range(0..7)),
                    account: AccountIndex(random.random_range(0..3)),
                    partition: PartitionIndex(0),
                    qos: QosIndex(random.random_range(0..2)),
                    size: Size { nodes: cpus.div_ceil(4), cpus },
                    limit: Some(Seconds(limit)),
                    eligible: UnixTime(eligible),
                },
                allocated: None,
                start: Some(UnixTime(start)),
                end: UnixTime(end),
                suspended: Seconds::ZERO,
            }
        };
        (0..jobs).map(job).collect()
    }

    #[test]
    fn a_forecast_from_the_snapshot_equals_the_one_on_arrival() {
        let jobs = past(2_000);
        let training = Training { trees: 20, leaves: 8, ..Training::default() };
        let settings = Settings { first_training: 300, training_interval: 500, training, ..Settings::default() };
        let mut waits = BlendedWaits::new(settings);
        let mut sweep = Sweep::new(CPUS, 4);
        let (mut compared, mut longest) = (0, 0.0f64);
        for event in events(&jobs) {
            let job = &jobs[event.job as usize];
            match event.kind {
                EventKind::Arrival => {
                    let published = (event.job > 1_500 && event.job.is_multiple_of(10)).then(|| publish(&mut sweep, &waits));
                    let row = sweep.arrive(&job.submitted) as usize;
                    let forecast = waits.arrive(sweep.arrivals(), row);
                    let Some(snapshot) = published else { continue };
                    let association = Association { account: job.submitted.account, qos: job.submitted.qos };
                    let shape = JobShape {
                        user: job.submitted.user,
                        association,
                        partition: PartitionIndex(0),
                        size: job.submitted.size,
                        limit: job.submitted.limit,
                    };
                    let wait = snapshot.wait(&shape, Some(&Moment::present(job.submitted.eligible))).unwrap();
                    assert_eq!(wait.source, WaitSource::Blended);
                    assert!((wait.median.0 as f64 - forecast.point_s).abs() <= 0.501, "{} {}", wait.median, forecast.point_s);
                    assert_eq!(*wait.bounds, forecast.bounds_s.unwrap());
                    (compared, longest) = (compared + 1, longest.max(forecast.point_s));
                }
                EventKind::Start => {
                    sweep.start(event.job, event.at);
                    waits.learn(sweep.arrivals(), event.job as usize);
                    if let Some(retraining) = waits.retraining(sweep.arrivals()) {
                        waits.adopt(retraining.run().unwrap());
                    }
                }
                EventKind::End | EventKind::EndAtOnce => sweep.end(event.job, event.at, Seconds::ZERO),
            }
        }
        assert!(compared >= 49 && longest > 600.0, "{compared} forecasts, the longest {longest} s");
    }

    /// Any past of two partitions: jobs in bursts and alone, some cancelled while they wait, some
    /// that end at once, some that get more than they asked for, some without a limit.
    fn any_past() -> impl Strategy<Value = Vec<EndedJob>> {
        let shape = (0u32..4, 0u32..3, 0u16..2, 0u16..2, 1u32..9, prop::option::of(1i64..5_000));
        let times = (0i64..90, 0i64..900, prop_oneof![Just(0), 1i64..3_000]);
        let job = (shape, times, prop::option::of(1u32..20), prop::bool::weighted(0.2));
        prop::collection::vec(job, 1..60).prop_map(|jobs| {
            type Drawn = ((u32, u32, u16, u16, u32, Option<i64>), (i64, i64, i64), Option<u32>, bool);
            let mut eligible = 1_000_000;
            let job = |((user, account, partition, qos, cpus, limit), (gap, wait, run_time), more, is_cancelled): Drawn| {
                eligible += gap;
                let left = eligible + wait;
                EndedJob {
                    submitted: WaitingJob {
                        user: UserId(USER + user),
                        account: AccountIndex(account),
                        partition: PartitionIndex(partition),
                        qos: QosIndex(qos),
                        size: Size { nodes: 1, cpus },
                        limit: limit.map(Seconds),
                        eligible: UnixTime(eligible),
                    },
                    allocated: more.filter(|_| !is_cancelled).map(|more| Size { nodes: 2, cpus: cpus + more }),
                    start: (!is_cancelled).then_some(UnixTime(left)),
                    end: UnixTime(if is_cancelled { left } else { left + run_time }),
                    suspended: Seconds::ZERO,
                }
            };
            jobs.into_iter().map(job).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What trees are trained on and evaluated with is what the filter makes of the snapshot in
        /// force when the job is submitted.
        #[test]
        fn the_filter_makes_of_a_written_snapshot_the_features_that_the_sweep_has_for_the_same_submission(jobs in any_past()) {
            let past = Sweep::over(&jobs, CPUS, 0);
            let waits = BlendedWaits::new(Settings::default());
            let mut sweep = Sweep::new(CPUS, 0);
            let (mut compared, all) = (0, events(&jobs));
            for round in rounds(&all, PUBLISHED_FOR) {
                let snapshot = publish(&mut sweep, &waits);
                let arriving: Vec<usize> =
                    round.iter().filter(|event| event.kind == EventKind::Arrival).map(|event| event.job as usize).collect();
                let asked: Vec<_> = arriving.iter().map(|row| {
                    let WaitingJob { user, account, qos, partition, size, limit, eligible } = jobs[*row].submitted;
                    (JobShape { user, association: Association { account, qos }, partition, size, limit }, Moment::present(eligible))
                }).collect();
                let filters = snapshot.wait_features(&asked).unwrap();
                for (row, filters) in arriving.iter().zip(filters.chunks(FEATURES)) {
                    let sweeps = past.features(*row).unwrap();
                    for place in 0..FEATURES {
                        prop_assert_eq!(filters[place], sweeps[place], "feature {} of job {}", place, row);
                    }
                    compared += 1;
                }
                for event in round {
                    let job = &jobs[event.job as usize];
                    match event.kind {
                        EventKind::Arrival => _ = sweep.arrive(&job.submitted),
                        EventKind::Start => sweep.start_with(event.job, event.at, job.occupied()),
                        EventKind::End | EventKind::EndAtOnce => sweep.end(event.job, event.at, job.suspended),
                    }
                }
            }
            prop_assert_eq!(compared, jobs.len());
        }
    }

    fn publish(sweep: &mut Sweep, waits: &BlendedWaits) -> Snapshot<Vec<u8>> {
        let [by_limit, expected] = sweep.ends();
        let (ends_by_limit, ends_expected) = (by_limit.freed.to_vec(), expected.freed.to_vec());
        let learnt = WaitModel {
            forests: waits.forests().cloned(),
            weights: *waits.weights(),
            table: waits.table().clone(),
            groups: sweep.groups(),
            cpus: sweep.cpus(),
            ends_by_limit,
            ends_expected,
            users: sweep.users().collect(),
            accounts: Vec::new(),
            qos: Vec::new(),
            classes: Vec::new(),
            scores: vec![score(WaitSource::Blended, WaitSourceReason::Calibrated)],
            deadlines: Vec::new(),
            promises: Vec::new(),
            run_times: std::collections::BTreeMap::new(),
        };
        MadeUpSite::new(NOW).partition(batch(enforcing())).learnt(&learnt).snapshot()
    }
}
