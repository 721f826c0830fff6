//! Time to rank 20 slots of a window of 30 hours beside 100 and 1,000 waiting jobs on a cluster of
//! 1,000 CPUs, by what-if and by load, and to look whether a granted slot moves.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use job_types::time::{Seconds, UnixTime};
use queue_plan::Resources;
use queue_plan::placement::{
    Cycle, ExecutionPlan, Granted, Load, Moving, Placed, Preference, Probe, Probing, Ranking, Rated, Request, Running, Slot, Waiting,
    WhatIf, Workload,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NOW: UnixTime = UnixTime(1_800_000_000);
const CPUS: i64 = 1_000;
const HOUR: i64 = 3_600;

/// A cluster on which jobs of up to a day run, as many as there is room for, and so many wait.
fn workload(waiting: usize) -> Workload {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut job = || {
        let estimate = Seconds((600.0 * 144_f64.powf(random.random::<f64>())) as i64);
        let asks = Resources::of_cpus(1 << random.random_range(0..9));
        (Waiting { estimate, runs: estimate, asks }, random.random::<f64>())
    };
    let mut workload = Workload { now: NOW, offers: Resources::of_cpus(CPUS), ..Workload::default() };
    let mut free = CPUS;
    loop {
        let (Waiting { estimate, asks, .. }, part) = job();
        free -= asks.cpus;
        if free < 0 {
            break;
        }
        let until = NOW + Seconds((estimate.0 as f64 * part) as i64 + 1);
        workload.running.push(Running { until, ends: until, holds: asks });
    }
    workload.waiting = (0..waiting).map(|_| job().0).collect();
    workload
}

/// A quarter of the cluster for two hours, at some time within 30 hours.
fn request() -> Request {
    let duration = Seconds(2 * HOUR);
    Request {
        submitted: NOW,
        duration,
        earliest_start: NOW,
        latest_end: NOW + Seconds(30 * HOUR) + duration,
        takes: Resources::of_cpus(CPUS / 4),
        preference: Preference::Earliest,
    }
}

fn cycle(workload: &Workload) -> Cycle {
    Cycle::of_heads(workload.now, workload.profile(), workload.waiting.iter().copied())
}

fn slots(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("20 slots");
    group.sample_size(20);
    let (request, probing) = (request(), Probing::default());
    assert_eq!(probing.slots(&request, NOW).len(), 20, "slots that are looked at");
    for waiting in [100, 1_000] {
        let workload = workload(waiting);
        let cycle = cycle(&workload);
        assert!(cycle.started() < 5, "{} of {waiting} jobs start at once", cycle.started());
        let probe = Probe { workload: &workload, cycle: &cycle, request: &request, probing };
        let what_if = WhatIf::default();
        let rated = what_if.rate(&probe);
        assert!(rated.len() >= 15, "{} slots are free beside what runs and the lock", rated.len());
        assert!(spread(&rated) > 0.0, "slots are alike");
        group.bench_function(format!("what-if, {waiting} waiting"), |bencher| bencher.iter(|| black_box(what_if.rate(&probe))));
        let load = Load::default();
        assert_eq!(load.rate(&probe).len(), 20);
        assert!(load.done_in(&workload) > HOUR as f64, "there is little to do");
        group.bench_function(format!("load, {waiting} waiting"), |bencher| bencher.iter(|| black_box(load.rate(&probe))));
    }
    group.finish();
}

/// The best availability less the worst.
fn spread(rated: &[Rated]) -> f64 {
    let all = || rated.iter().map(|rated| rated.availability);
    all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
}

/// Whether a slot moves that delays jobs: all others of its window are looked at.
fn moves(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a move among 20 slots");
    group.sample_size(20);
    let (request, probing, moving) = (request(), Probing::default(), Moving::default());
    for waiting in [100, 1_000] {
        let workload = workload(waiting);
        let cycle = cycle(&workload);
        let present = worst(&workload, &cycle, &request, probing);
        let better = || moving.better((&workload, &cycle), &request, present, probing);
        assert!(better().is_some_and(|slot| slot != present), "the slot does not move");
        group.bench_function(format!("{waiting} waiting"), |bencher| bencher.iter(|| black_box(better())));
    }
    group.finish();
}

/// The free slot with which jobs end latest.
fn worst(workload: &Workload, cycle: &Cycle, request: &Request, probing: Probing) -> Slot {
    let granted = |slot| Granted { slot, takes: request.takes };
    let free = probing.slots(request, NOW).into_iter().filter(|slot| cycle.has_room_for(&granted(*slot)));
    let by_completions = |slot: &Slot| ExecutionPlan::of(workload, Placed::Reservation(granted(*slot))).completions;
    free.max_by_key(by_completions).unwrap_or(Slot::of(NOW, request.duration))
}

criterion_group!(benches, slots, moves);
criterion_main!(benches);
