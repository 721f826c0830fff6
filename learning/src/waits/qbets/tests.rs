use super::*;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::UnixTime;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn job(partition: u16, cpus: u32, limit_s: i64) -> WaitingJob {
    WaitingJob {
        user: UserId(1),
        account: AccountIndex(0),
        partition: PartitionIndex(partition),
        qos: QosIndex(0),
        size: Size { nodes: 1, cpus },
        limit: Some(Seconds(limit_s)),
        eligible: UnixTime(0),
    }
}

/// Log-normal waits with a first autocorrelation of their logarithms, whose typical wait changes at
/// some of them.
fn waits(count: usize, autocorrelation: f64, changes: &[(usize, f64)], seed: u64) -> Vec<Seconds> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let innovation = (1.0 - autocorrelation * autocorrelation).sqrt();
    let (mut value, mut level) = (0.0, 5.0);
    (0..count)
        .map(|index| {
            let noise: f64 = StandardNormal.sample(&mut random);
            value = autocorrelation * value + innovation * noise;
            level = changes.iter().find(|(at, _)| *at == index).map_or(level, |(_, level)| *level);
            Seconds((level + value).exp() as i64)
        })
        .collect()
}

/// The part of the waits that were within the bounds given just before.
fn coverage(waits: &[Seconds], quantile: f64) -> f64 {
    let mut qbets = Qbets::new();
    let job = job(0, 1, 3_600);
    let (mut within, mut bounded) = (0, 0);
    for wait in waits {
        if let Some(bound) = qbets.bound_of(&job, quantile, CONFIDENCE) {
            bounded += 1;
            within += usize::from(*wait <= bound);
        }
        qbets.observe(&job, *wait);
    }
    f64::from(within as u32) / f64::from(bounded)
}

#[test]
fn the_bounds_on_correlated_waits_cover_as_much_as_they_promise() {
    for (seed, autocorrelation) in [(1, 0.0), (2, 0.3), (3, 0.6)] {
        let waits = waits(4_000, autocorrelation, &[], seed);
        for quantile in [0.5, 0.75, 0.95] {
            let coverage = coverage(&waits, quantile);
            assert!(coverage >= quantile, "autocorrelation {autocorrelation}: {coverage} at {quantile}");
        }
    }
}

#[test]
fn changes_cost_little_coverage() {
    // Each rise is missed for some waits before it is noticed; without the search for changes a
    // rise in the last quarter would cost up to a quarter.
    let waits = waits(8_000, 0.3, &[(2_000, 7.0), (4_000, 4.0), (6_000, 8.0)], 4);
    for quantile in [0.5, 0.75, 0.95] {
        let coverage = coverage(&waits, quantile);
        assert!(coverage >= quantile - 0.02, "{coverage} at {quantile}");
    }
}

#[test]
fn after_a_rise_the_bound_rises_within_a_few_waits() {
    let waits = waits(2_000, 0.3, &[(1_500, 9.0)], 5);
    let mut qbets = Qbets::new();
    let job = job(0, 1, 3_600);
    waits.iter().take(1_500).for_each(|wait| qbets.observe(&job, *wait));
    let before = qbets.bound_of(&job, 0.95, CONFIDENCE).unwrap();
    waits.iter().skip(1_500).take(20).for_each(|wait| qbets.observe(&job, *wait));
    let after = qbets.bound_of(&job, 0.95, CONFIDENCE).unwrap();
    assert!(after.0 > 5 * before.0, "{before:?} {after:?}");
}

#[test]
fn jobs_of_unlike_delay_get_bounds_of_their_own_once_there_are_enough() {
    let mut qbets = Qbets::new();
    for index in 0..1_000 {
        qbets.observe(&job(3, 2, 600), Seconds(index % 10));
        qbets.observe(&job(3, 128, 86_400), Seconds(20_000 + 37 * index % 5_000));
    }
    let [small, large] = [job(3, 1, 300), job(3, 100, 40_000)].map(|job| qbets.bound_of(&job, 0.5, CONFIDENCE).unwrap().0);
    assert!(small < 10 && large > 20_000, "{small} {large}");
    let classes = qbets.classes(CONFIDENCE);
    assert_eq!(classes.len(), 2);
    assert!(classes.iter().all(|class| class.partition == PartitionIndex(3) && class.jobs == 1_000 && class.bounds_s.is_sorted()));
    assert!(classes[0].median_s < 10 && classes[1].median_s > 20_000);
}

#[test]
fn classes_by_size_stay_whatever_the_waits_are() {
    let mut qbets = Qbets::with_classes(Classes::BySize);
    for round in 0..2_000_u32 {
        // Those with a short limit wait for seconds, of whichever size.
        let (cpus, limit_s, wait) = (1 + round % 100, 600 * (1 + round % 2 * 100), 1 + i64::from(round % 2) * 50_000);
        qbets.observe(&job(3, cpus, i64::from(limit_s)), Seconds(wait));
    }
    let cpus: Vec<_> = qbets.classes(CONFIDENCE).into_iter().map(|class| (class.cpus, class.limit_s)).collect();
    assert_eq!(cpus, [0..=4, 5..=16, 17..=64, 65..=u32::MAX].map(|cpus| (cpus, 0..=u32::MAX)));
}

#[test]
fn an_unknown_partition_has_the_bounds_of_the_cluster() {
    let mut qbets = Qbets::new();
    assert_eq!(qbets.bound_of(&job(0, 1, 60), 0.5, CONFIDENCE), None);
    for wait in 0..100 {
        qbets.observe(&job(0, 1, 60), Seconds(wait));
    }
    assert_eq!(qbets.bound_of(&job(7, 1, 60), 0.95, CONFIDENCE), qbets.bound_of(&job(0, 1, 60), 0.95, CONFIDENCE));
}

#[test]
fn the_probability_of_starting_in_time_is_a_cautious_share_of_the_past() {
    let mut qbets = Qbets::new();
    for wait in 0..1_000 {
        qbets.observe(&job(0, 1, 60), Seconds(wait * 7_919 % 1_000));
    }
    let probability = qbets.probability_within_of(&job(0, 1, 60), Seconds(799), CONFIDENCE).unwrap();
    // 800 of 1,000 show 0.8 - 1.645 sqrt(0.8 * 0.2 / 1,000) = 0.779 at 95 %.
    assert!((probability - 0.779).abs() < 0.003, "{probability}");
}

#[test]
fn a_downtime_does_not_lengthen_the_bounds() {
    // A job every minute, each having waited for some minutes; then a night in which nothing
    // starts, and jobs that came during it.
    let mut qbets = Qbets::new();
    let at = |minute: i64| UnixTime(1_000_000 + 60 * minute);
    for minute in 0..4_000 {
        let wait = Seconds(60 + minute * 7_919 % 600);
        qbets.observe(&WaitingJob { eligible: at(minute) + Seconds(-wait.0), ..job(0, 1, 3_600) }, wait);
    }
    let before = qbets.bound_of(&job(0, 1, 3_600), 0.95, CONFIDENCE).unwrap();
    for index in 0..30 {
        let (eligible, start) = (at(4_000 + 10 * index), at(4_600 + index));
        qbets.observe(&WaitingJob { eligible, ..job(0, 1, 3_600) }, start - eligible);
    }
    assert_eq!(qbets.downtimes(), (1, Seconds(60 * 601)));
    let after = qbets.bound_of(&job(0, 1, 3_600), 0.95, CONFIDENCE).unwrap();
    assert!(before.0 < 700 && after.0 < 1_900, "{before:?} {after:?}");
}

#[test]
fn a_class_of_few_waits_takes_the_bounds_that_it_lacks_from_the_cluster() {
    let mut qbets = Qbets::new();
    (0..500).for_each(|wait| qbets.observe(&job(0, 1, 60), Seconds(wait)));
    (0..10).for_each(|wait| qbets.observe(&job(1, 1, 60), Seconds(wait)));
    let classes = qbets.classes(CONFIDENCE);
    let of_few = classes.iter().find(|class| class.partition == PartitionIndex(1)).unwrap();
    assert_eq!((of_few.jobs, of_few.bounds_s[49]), (10, 8));
    for percent in [50, 80, 95, 99] {
        let bound = qbets.bound_of(&job(1, 1, 60), f64::from(percent) / 100.0, CONFIDENCE).unwrap();
        assert_eq!(i64::from(of_few.bounds_s[percent as usize - 1]), bound.0, "{percent}");
    }
}

#[test]
fn the_forecast_of_a_job_is_that_which_is_published_for_its_class() {
    let mut qbets = Qbets::new();
    assert_eq!(qbets.forecast(&job(3, 2, 600)), None);
    for index in 0..1_000 {
        qbets.observe(&job(3, 2, 600), Seconds(index % 10));
        qbets.observe(&job(3, 128, 86_400), Seconds(20_000 + 37 * index % 5_000));
    }
    qbets.observe(&job(4, 1, 600), Seconds(7));
    for confidence in [CONFIDENCE, 0.8] {
        let classes = qbets.classes(confidence);
        for (partition, cpus, limit_s) in [(3, 1, 300), (3, 100, 40_000), (4, 1, 600)] {
            let holds = |class: &&ClassBounds| {
                let limit_s = limit_s as u32;
                class.partition == PartitionIndex(partition) && class.cpus.contains(&cpus) && class.limit_s.contains(&limit_s)
            };
            let published = classes.iter().find(holds).unwrap();
            let forecast = qbets.forecast(&job(partition, cpus, limit_s)).unwrap();
            assert_eq!((forecast.median_s, forecast.bounds_s), (published.median_s, published.bounds_s));
        }
    }
}

#[test]
fn a_percentile_without_a_bound_is_held_against_waits_with_the_bound_before_it() {
    let mut qbets = Qbets::new();
    (0..59).for_each(|wait| qbets.observe(&job(0, 1, 60), Seconds(wait)));
    let forecast = qbets.forecast(&job(0, 1, 60)).unwrap();
    assert_eq!((forecast.bounds_s[94], forecast.bounds_s[98]), (58, UNBOUNDED_S));
    assert_eq!(forecast.distribution_s().unwrap()[94..], [58; 5]);
    assert_eq!(ClassForecast { median_s: 0, bounds_s: [UNBOUNDED_S; PERCENTILES] }.distribution_s(), None);
}
