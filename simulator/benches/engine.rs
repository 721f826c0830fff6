//! How many jobs a second the engine runs, and how the time grows with the number of jobs at a
//! fixed load.
//!
//! The workloads are the Lublin-Feitelson model's, scaled to seven tenths of the machine.
//! `cargo bench -p simulator --bench engine` prints a table up to 10^7 jobs, which takes minutes
//! and 2 GiB, before criterion's figures.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use job_types::time::{Seconds, UnixTime};
use simulator::engine::backfill::{Conservative, Easy, InOrder};
use simulator::engine::estimates::Requested;
use simulator::engine::order::FirstCome;
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Backfill, Job, Machine, Scheduler, simulate};
use simulator::lublin::{self, Mix};

const PROCESSORS: u32 = 256;
const LOAD: f64 = 0.7;
const MOST_JOBS: usize = 10_000_000;

/// Whether only to look that this still runs: `cargo bench` gives `--bench`, `cargo test` does not.
fn is_small() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// Jobs of the model at [`LOAD`]; each is estimated at twice what it runs.
fn workload(jobs: usize) -> Vec<Job> {
    let drawn = lublin::jobs(Mix::Typeless, u64::from(PROCESSORS), jobs, 1).unwrap();
    let work: f64 = drawn.iter().map(|job| job.processors as f64 * job.run_time_seconds.max(1.0)).sum();
    let (first, last) = (drawn[0].submit_time_seconds, drawn[drawn.len() - 1].submit_time_seconds);
    let stretch = work / (LOAD * f64::from(PROCESSORS)) / (last - first);
    let job = |job: &lublin::ModelJob| {
        let run_time = Seconds(job.run_time_seconds.round().max(1.0) as i64);
        Job {
            submit: UnixTime(((job.submit_time_seconds - first) * stretch) as i64),
            run_time,
            estimate: run_time + run_time,
            processors: job.processors as u32,
            ..Job::default()
        }
    };
    drawn.iter().map(job).collect()
}

fn run(jobs: &[Job], backfill: Box<dyn Backfill>) -> usize {
    let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill, estimates: Box::new(Requested) };
    simulate(jobs, &Machine::new(PROCESSORS), &mut scheduler, &mut AsSubmitted).unwrap().len()
}

/// Time for the first `jobs` of a workload, the best of some runs.
fn seconds(jobs: &[Job], backfill: impl Fn() -> Box<dyn Backfill>) -> f64 {
    let runs = if is_small() { 1 } else { (2_000_000 / jobs.len()).clamp(1, 20) };
    let one = || {
        let started = Instant::now();
        assert_eq!(black_box(run(jobs, backfill())), jobs.len());
        started.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| one()).fold(f64::INFINITY, f64::min)
}

fn growth(_: &mut Criterion) {
    let counts: &[usize] = if is_small() { &[10_000] } else { &[10_000, 100_000, 1_000_000, MOST_JOBS] };
    let jobs = workload(counts[counts.len() - 1]);
    println!("{:>10}  {:>14} {:>12}  {:>14} {:>12}", "jobs", "FCFS jobs/s", "ns/(n log n)", "EASY jobs/s", "ns/(n log n)");
    for &count in counts {
        let part = &jobs[..count];
        let per = |seconds: f64| (count as f64 / seconds, seconds * 1e9 / (count as f64 * (count as f64).log2()));
        let (fcfs, fcfs_growth) = per(seconds(part, || Box::new(InOrder)));
        let (easy, easy_growth) = per(seconds(part, || Box::new(Easy::default())));
        println!("{count:>10}  {fcfs:>14.0} {fcfs_growth:>12.2}  {easy:>14.0} {easy_growth:>12.2}");
    }
}

fn schedulers(criterion: &mut Criterion) {
    type Kind = (&'static str, fn() -> Box<dyn Backfill>);
    let kinds: [Kind; 3] = [
        ("first come, first served", || Box::new(InOrder)),
        ("EASY", || Box::<Easy>::default()),
        ("conservative", || Box::new(Conservative::new())),
    ];
    let jobs = workload(if is_small() { 2_000 } else { 100_000 });
    let mut group = criterion.benchmark_group(format!("{} jobs", jobs.len()));
    group.throughput(Throughput::Elements(jobs.len() as u64)).sample_size(10);
    for (name, backfill) in kinds {
        group.bench_function(name, |bencher| bencher.iter_batched(backfill, |backfill| run(&jobs, backfill), BatchSize::PerIteration));
    }
    group.finish();
}

criterion_group!(benches, growth, schedulers);
criterion_main!(benches);
