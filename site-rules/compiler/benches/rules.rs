//! How long 50 rules of which 5 match take to compile, to be read, and at a submission.

#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::{Duration, Instant};

#[path = "../tests/fifty/mod.rs"]
mod fifty;

/// How many submissions are timed one by one; few where it is only run once.
fn submissions() -> usize {
    if std::env::args().any(|argument| argument == "--bench") { 200_000 } else { 100 }
}

fn evaluation(criterion: &mut Criterion) {
    let rules = fifty::rules();
    let mut memory = site_rules::scratch::Memory::default();
    let submissions = submissions();
    let mut times: Vec<Duration> = Vec::with_capacity(submissions);
    for _ in 0..submissions {
        let begin = Instant::now();
        black_box(fifty::apply_to_gpu_job(black_box(&rules), &mut memory));
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let of = |part: usize| times[(submissions * part / 1_000).min(submissions - 1)];
    println!("50 rules of which 5 match: p50 {:?}, p99 {:?}, p99.9 {:?} of {submissions} submissions", of(500), of(990), of(999));
    criterion.bench_function("50 rules of which 5 match", |bencher| {
        bencher.iter(|| black_box(fifty::apply_to_gpu_job(black_box(&rules), &mut memory)));
    });
    criterion.bench_function("50 rules of which none matches", |bencher| {
        bencher.iter(|| black_box(fifty::apply_to_plain_job(black_box(&rules), &mut memory)));
    });
}

fn loading(criterion: &mut Criterion) {
    let text = fifty::text();
    criterion.bench_function("compile 50 rules", |bencher| bencher.iter(|| black_box(fifty::compiled(black_box(&text)))));
    let bytes = site_rules::file::encode(&fifty::rules()).unwrap();
    println!("the file of 50 rules has {} bytes", bytes.len());
    criterion.bench_function("read the file of 50 rules", |bencher| {
        bencher.iter(|| black_box(site_rules::file::decode(black_box(&bytes)).unwrap()));
    });
}

criterion_group!(benches, evaluation, loading);
criterion_main!(benches);
