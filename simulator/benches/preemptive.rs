//! How many events a second the engine of jobs that bid and can be suspended runs, and how that
//! falls with the number of jobs at a fixed load.
//!
//! The jobs are made up: arrivals are exponential, sizes are those of a year of a cluster of 106
//! nodes (Geweke 2000, 7.2.1.1), run times are log-normal, and bids are uniform in [0, 50).
//! `cargo bench -p simulator --bench preemptive` prints a table up to 10^6 jobs and of one year
//! before criterion's figures.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp, LogNormal};
use simulator::engine::preemptive::{Bid, Cycle, GivenBids, Job, Milliseconds, Overlap, PriceRule, Rules, SchedulerName, simulate};
use strum::IntoEnumIterator;

const NODES: u32 = 106;
/// The jobs of the year, whose load is a tenth of the machine.
const YEAR: usize = 528_617;
/// Of so many jobs each size, up to the last number of nodes that is meant.
const SIZES: [(u32, u32); 8] = [(423_430, 1), (22_187, 2), (16_716, 4), (11_712, 8), (18_848, 16), (2_669, 32), (349, 64), (3_747, NODES)];

/// Whether only to look that this still runs: `cargo bench` gives `--bench`, `cargo test` does not.
fn is_small() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// Jobs that take up a share of the machine, with their bids.
fn workload(jobs: usize, load: f64) -> (Vec<Job>, Vec<Bid>) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let all: u32 = SIZES.iter().map(|(jobs, _)| jobs).sum();
    let run_times = LogNormal::new(2.5_f64, 2.2).unwrap();
    let mut made = Vec::with_capacity(jobs);
    for _ in 0..jobs {
        let mut drawn = random.random_range(0..all);
        let nodes = SIZES.iter().find(|(jobs, _)| drawn.checked_sub(*jobs).map(|rest| drawn = rest).is_none()).unwrap().1;
        let run_time = Milliseconds((run_times.sample(&mut random).min(864_000.0) * 1_000.0) as u64 + 1);
        made.push(Job { submit: Milliseconds::ZERO, run_time, nodes, user: 0, is_io_bound: false });
    }
    let work: f64 = made.iter().map(|job| job.run_time.0 as f64 * f64::from(job.nodes)).sum();
    let between = Exp::new(load * f64::from(NODES) * jobs as f64 / work).unwrap();
    let mut now = 0.0;
    for job in &mut made {
        now += between.sample(&mut random);
        job.submit = Milliseconds(now as u64);
    }
    let bids = made.iter().map(|_| Bid::nearest(random.random_range(0.0..50.0))).collect();
    (made, bids)
}

/// Cycles, suspensions, the mean delay in minutes, and the longest queue.
fn run(jobs: &[Job], bids: &[Bid], rules: &Rules) -> (u64, u64, f64, u32) {
    let (mut cycles, mut longest) = (0, 0);
    let mut count = |cycle: &Cycle| {
        cycles += 1;
        longest = longest.max(cycle.queued + cycle.suspended);
    };
    let records = simulate(jobs, NODES, rules, &mut GivenBids(bids), &mut count);
    let delay = |(job, record): (&Job, &simulator::engine::preemptive::Record)| (record.end.unwrap() - job.submit - job.run_time).minutes();
    let delays: f64 = jobs.iter().zip(&records).map(delay).sum();
    let suspensions = records.iter().map(|record| u64::from(record.suspensions)).sum();
    (cycles, suspensions, delays / jobs.len() as f64, longest)
}

fn all_rules() -> Vec<(String, Rules)> {
    let mut all = Vec::new();
    for scheduler in SchedulerName::iter() {
        if scheduler.walk().is_none() {
            all.push((scheduler.to_string(), Rules { scheduler, ..Rules::default() }));
            continue;
        }
        for (price, overlap) in
            [(PriceRule::Uniform, Overlap::Share), (PriceRule::Externality, Overlap::Share), (PriceRule::Uniform, Overlap::Wait)]
        {
            all.push((format!("{scheduler} {price} {overlap}"), Rules { scheduler, price, overlap, ..Rules::default() }));
        }
    }
    all
}

fn growth(_: &mut Criterion) {
    let counts: &[(usize, f64)] = if is_small() {
        &[(1_000, 0.5)]
    } else {
        &[(1_000, 0.5), (10_000, 0.5), (100_000, 0.5), (1_000_000, 0.5), (YEAR, 0.1), (YEAR, 0.5), (YEAR, 0.8)]
    };
    println!(
        "{:>9} {:>5} {:36} {:>12} {:>8} {:>12} {:>12} {:>14}",
        "jobs", "load", "rules", "cycles/s", "s", "suspensions", "longest", "mean delay min"
    );
    for &(jobs, load) in counts {
        let (jobs, bids) = workload(jobs, load);
        for (name, rules) in all_rules() {
            let started = Instant::now();
            let (cycles, suspensions, delay, longest) = black_box(run(&jobs, &bids, &rules));
            let seconds = started.elapsed().as_secs_f64();
            let per_second = cycles as f64 / seconds;
            println!(
                "{:>9} {load:>5} {name:36} {per_second:>12.0} {seconds:>8.3} {suspensions:>12} {longest:>12} {delay:>14.3}",
                jobs.len()
            );
        }
    }
}

fn rules(criterion: &mut Criterion) {
    let (jobs, bids) = workload(if is_small() { 500 } else { 50_000 }, 0.5);
    let mut group = criterion.benchmark_group(format!("{} jobs", jobs.len()));
    group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
    for (name, rules) in all_rules() {
        group.bench_function(name, |bencher| bencher.iter(|| run(&jobs, &bids, &rules)));
    }
    group.finish();
}

criterion_group!(benches, growth, rules);
criterion_main!(benches);
