//! The workload model against its published figures, and what our users add to it.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::BTreeMap;

use simulator::lublin::parameters::{BATCH, INTERACTIVE, TYPELESS};
use simulator::lublin::{HALF_HOURS, Kind, Mix, ModelJob, Options, Parameters, jobs, workload};
use simulator::swf::{self, Log, Record};

const MACHINE: u64 = 128;

fn share<T>(all: &[T], mut holds: impl FnMut(&T) -> bool) -> f64 {
    all.iter().filter(|item| holds(item)).count() as f64 / all.len() as f64
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.into_iter().fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / count
}

/// The probability that the two-stage uniform logarithm of a parallel size is at most `logarithm`.
fn parallel_size_curve(parameters: &Parameters, logarithm: f64) -> f64 {
    let sizes = &parameters.sizes;
    let medium = 7.0 - sizes.medium_below_machine;
    let high = 7.0 - sizes.high_below_machine;
    let up_to = |from: f64, to: f64| ((logarithm - from) / (to - from)).clamp(0.0, 1.0);
    sizes.first_stage_probability * up_to(sizes.low, medium) + (1.0 - sizes.first_stage_probability) * up_to(medium, high)
}

/// The share of sizes that are a power of two but not 1: those made so, and those that a rounded
/// size hits by chance.
fn expected_powers_of_two(parameters: &Parameters) -> f64 {
    let sizes = &parameters.sizes;
    let by_chance: f64 = (1..=7)
        .map(|exponent| {
            let size = f64::from(exponent).exp2();
            parallel_size_curve(parameters, (size + 0.5).log2()) - parallel_size_curve(parameters, (size - 0.5).log2())
        })
        .sum();
    sizes.power_of_two_probability + (1.0 - sizes.serial_probability - sizes.power_of_two_probability) * by_chance
}

/// The mean logarithm of the run time of a serial job: of the mixture of two gammas (mean: shape
/// times scale).
fn expected_log_run_time(parameters: &Parameters) -> f64 {
    let run_times = &parameters.run_times;
    let first = run_times.probability_slope + run_times.probability_intercept;
    first * run_times.first_shape * run_times.first_scale + (1.0 - first) * run_times.second_shape * run_times.second_scale
}

fn check(drawn: &[ModelJob], parameters: &Parameters, draws_too_long: f64) {
    let serial = share(drawn, |job| job.processors == 1);
    assert!((serial - parameters.sizes.serial_probability).abs() < 0.01, "serial: {serial}");
    let powers = share(drawn, |job| job.processors > 1 && job.processors.is_power_of_two());
    let expected = expected_powers_of_two(parameters);
    assert!((powers - expected).abs() < 0.01, "powers of two: {powers}, expected {expected}");
    let logarithm = mean(drawn.iter().filter(|job| job.processors == 1).map(|job| job.run_time_seconds.ln()));
    let expected = expected_log_run_time(parameters);
    assert!((logarithm - expected).abs() < 0.06 + draws_too_long, "log run time: {logarithm}, expected {expected}");
    // The published slope is negative: larger jobs run longer.
    let large = mean(drawn.iter().filter(|job| job.processors >= 32).map(|job| job.run_time_seconds.ln()));
    assert!(large > logarithm, "{large} > {logarithm}");
    assert!(drawn.iter().all(|job| job.run_time_seconds <= 12.0_f64.exp() && job.processors <= MACHINE));
}

#[test]
fn jobs_alike_have_the_published_sizes_and_run_times() {
    check(&jobs(Mix::Typeless, MACHINE, 60_000, 7).unwrap(), &TYPELESS, 0.0);
}

#[test]
fn batch_and_interactive_jobs_have_their_own_sizes_and_run_times() {
    let drawn = jobs(Mix::BatchAndInteractive, MACHINE, 120_000, 7).unwrap();
    let (batch, interactive): (Vec<_>, Vec<_>) = drawn.into_iter().partition(|job| job.kind == Kind::Batch);
    // Means of the logarithmic interarrivals: 6.0415 * 1.0519 * 0.8531 = 5.42 and 6.5510 * 0.9797 *
    // 0.6621 = 4.25.
    assert!(interactive.len() > 3 * batch.len() && batch.len() > 10_000, "{} and {}", batch.len(), interactive.len());
    // Both sets draw some logarithms above 12, which are drawn again and lower the mean a little.
    check(&batch, &BATCH, 0.05);
    check(&interactive, &INTERACTIVE, 0.05);
    // Interactive jobs have at most 2^5.5 processors, rounded to a power of two where made one: 45,
    // or 64.
    assert!(interactive.iter().all(|job| job.processors <= 64));
}

#[test]
fn jobs_arrive_by_day() {
    let drawn = jobs(Mix::Typeless, MACHINE, 60_000, 3).unwrap();
    let mut arrivals = [0.0; HALF_HOURS];
    for job in &drawn {
        arrivals[(job.submit_time_seconds / 1800.0) as usize % HALF_HOURS] += 1.0 / drawn.len() as f64;
    }
    // The mode of gamma(8.1737, 3.9631) is half-hour 28.4 counted from 1; at half past five in the
    // morning the cycle is at its lowest.
    let around_the_mode: f64 = arrivals[25..30].iter().sum();
    let early: f64 = arrivals[8..13].iter().sum();
    assert!(around_the_mode > 5.0 * early, "{around_the_mode} in the afternoon, {early} in the morning");
    // gamma(10.2303 * 1.0225, 0.4871) has mean 5.096: a time of a typical 163 s between jobs, and a
    // longer mean.
    let typical = mean(drawn.windows(2).map(|pair| (pair[1].submit_time_seconds - pair[0].submit_time_seconds).max(1.0).ln()));
    assert!((4.6..5.4).contains(&typical), "{typical}");
}

fn text(log: &Log) -> Vec<u8> {
    let mut text = Vec::new();
    swf::write(&mut text, &log.header, &log.records).unwrap();
    text
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    let options = Options { jobs: 3_000, ..Options::default() };
    let log = text(&workload(&options).unwrap());
    assert_eq!(log, text(&workload(&options).unwrap()));
    assert_ne!(log, text(&workload(&Options { seed: 2, ..options }).unwrap()));
    // Made by this program at its first release: a change means that a seed no longer stands for
    // the same workload.
    assert_eq!(xxhash_rust::xxh3::xxh3_64(&log), 8_802_648_211_783_883_727);
}

#[test]
fn no_moment_has_more_processors_in_use_than_there_are() {
    for processors in [1, 7, 100, 128] {
        let log = workload(&Options { jobs: 4_000, processors, ..Options::default() }).unwrap();
        let mut changes = Vec::new();
        for job in &log.records {
            let start = job.submit_time_seconds.unwrap() + job.wait_time_seconds.unwrap();
            let size = job.processors().unwrap() as i64;
            changes.push((start, 1, size));
            changes.push((start + job.run_time_seconds.unwrap(), 0, -size));
        }
        changes.sort_unstable();
        let mut in_use = 0;
        for (_, _, change) in changes {
            in_use += change;
            assert!((0..=processors as i64).contains(&in_use));
        }
        assert_eq!(in_use, 0);
    }
}

#[test]
fn the_load_is_the_one_asked_for() {
    for load in [0.4, 0.8] {
        let log = workload(&Options { load: Some(load), ..Options::default() }).unwrap();
        let span = log.records.last().unwrap().submit_time_seconds.unwrap() - log.records[0].submit_time_seconds.unwrap();
        let work: u64 = log.records.iter().map(|job| job.processors().unwrap() * job.run_time_seconds.unwrap()).sum();
        let found = work as f64 / (MACHINE * span) as f64;
        assert!((found - load).abs() < 0.01, "{found} for {load}");
    }
}

#[test]
fn users_keep_the_sizes_of_the_model() {
    let log = workload(&Options { mix: Mix::Typeless, ..Options::default() }).unwrap();
    let serial = share(&log.records, |job| job.processors() == Some(1));
    assert!((serial - TYPELESS.sizes.serial_probability).abs() < 0.03, "{serial}");
    let powers = share(&log.records, |job| job.processors().is_some_and(|size| size > 1 && size.is_power_of_two()));
    assert!((powers - expected_powers_of_two(&TYPELESS)).abs() < 0.03, "{powers}");
}

fn by_key<K: Ord>(records: &[Record], key: impl Fn(&Record) -> K) -> BTreeMap<K, Vec<&Record>> {
    let mut groups: BTreeMap<K, Vec<&Record>> = BTreeMap::new();
    for record in records {
        groups.entry(key(record)).or_default().push(record);
    }
    groups
}

/// The mean square distance of the jobs' logarithmic run times from their group's mean.
fn spread_within<K: Ord>(records: &[Record], key: impl Fn(&Record) -> K) -> f64 {
    let logarithm = |job: &Record| (job.run_time_seconds.unwrap() as f64).ln();
    mean(by_key(records, key).into_values().filter(|group| group.len() >= 10).flat_map(|group| {
        let centre = mean(group.iter().map(|job| logarithm(job)));
        group.into_iter().map(move |job| (logarithm(job) - centre).powi(2)).collect::<Vec<_>>()
    }))
}

#[test]
fn a_users_history_at_a_size_says_something_of_the_next_job() {
    let log = workload(&Options::default()).unwrap();
    let of_all = spread_within(&log.records, |_| 0);
    let of_user_and_size = spread_within(&log.records, |job| (job.user, job.processors()));
    let of_application = spread_within(&log.records, |job| (job.executable, job.processors()));
    assert!(of_user_and_size < 0.7 * of_all, "{of_user_and_size} of {of_all}");
    assert!(of_application < 0.3 * of_all, "{of_application} of {of_all}");
}

#[test]
fn few_users_submit_most_jobs_and_all_have_several_sizes() {
    let log = workload(&Options::default()).unwrap();
    let users = by_key(&log.records, |job| job.user.unwrap());
    let mut counts: Vec<usize> = users.values().map(Vec::len).collect();
    counts.sort_unstable();
    let busiest_eighth: usize = counts.iter().rev().take(8).sum();
    assert!(counts.len() >= 48, "{} users of 64 submitted", counts.len());
    assert!(busiest_eighth * 10 > log.records.len() * 3, "{busiest_eighth} jobs by the busiest eight");
    let of_several_sizes = users.values().filter(|jobs| jobs.len() >= 20).map(|jobs| by_key_size(jobs)).filter(|&sizes| sizes >= 2).count();
    assert!(of_several_sizes >= 40, "{of_several_sizes}");
}

fn by_key_size(jobs: &[&Record]) -> usize {
    jobs.iter().map(|job| job.processors()).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn limits_are_round_and_seldom_too_short() {
    let log = workload(&Options::default()).unwrap();
    let limits = by_key(&log.records, |job| job.requested_time_seconds.unwrap());
    assert!(limits.len() <= 22, "the model of estimates has 22 values");
    assert!(log.records.iter().all(|job| job.run_time_seconds <= job.requested_time_seconds));
    let ended_by_limit = share(&log.records, |job| job.run_time_seconds == job.requested_time_seconds);
    assert!(ended_by_limit < 0.05, "{ended_by_limit}");
    // Runs shorter than the least limit, of five minutes, say nothing of how well users estimate.
    let long = log.records.iter().filter(|job| job.run_time_seconds > Some(300));
    let used = mean(long.map(|job| job.run_time_seconds.unwrap() as f64 / job.requested_time_seconds.unwrap() as f64));
    assert!((0.2..0.6).contains(&used), "{used} of the limits are used");
}

#[test]
fn options_that_no_workload_can_have_are_refused() {
    for options in [
        Options { jobs: 0, ..Options::default() },
        Options { processors: 0, ..Options::default() },
        Options { users: 0, ..Options::default() },
        Options { load: Some(0.0), ..Options::default() },
        Options { load: Some(f64::NAN), ..Options::default() },
    ] {
        assert!(workload(&options).is_err(), "{options:?}");
    }
}
