//! Profiles of free processors: the production one against a plain sorted vector.
//!
//! A round is what conservative backfilling does for a job: looks for the earliest start, marks it
//! there, and gives the place of an earlier job back, so that the number of points stays about the
//! same. Both do the same rounds, and must agree.
#![allow(missing_docs)]

mod vector;

use std::collections::VecDeque;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use job_types::time::{Seconds, UnixTime};
use queue_plan::{Profile, Resources};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::vector::VectorProfile;

const PROCESSORS: i64 = 1_024;
const POINTS: [usize; 5] = [10, 100, 1_000, 10_000, 20_000];

/// Whether only to look that this still runs: `cargo bench` gives `--bench`, `cargo test` does not.
fn is_small() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// What both do.
trait FreeProcessors: Clone {
    fn new(free: i64) -> Self;
    fn change(&mut self, start: i64, end: i64, difference: i64);
    fn earliest(&self, from: i64, processors: i64, duration: i64) -> Option<i64>;
}

impl FreeProcessors for Profile {
    fn new(free: i64) -> Self {
        Self::new(UnixTime(0), Resources::of_cpus(free))
    }

    fn change(&mut self, start: i64, end: i64, difference: i64) {
        self.give_back(UnixTime(start), UnixTime(end), Resources::of_cpus(difference));
    }

    fn earliest(&self, from: i64, processors: i64, duration: i64) -> Option<i64> {
        self.earliest(UnixTime(from), Resources::of_cpus(processors), Seconds(duration)).map(|start| start.0)
    }
}

#[derive(Clone, Copy)]
struct Job {
    processors: i64,
    duration: i64,
}

/// Powers of two up to half of the machine, small ones more often; run times from a minute to a
/// day, short ones more often.
fn jobs(seed: u64, count: usize) -> Vec<Job> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut job = || {
        let exponent = random.random_range(0..10).min(random.random_range(0..10));
        let duration = 60.0 * 1_440_f64.powf(random.random::<f64>());
        Job { processors: 1 << exponent, duration: duration as i64 }
    };
    (0..count).map(|_| job()).collect()
}

/// A machine with the jobs placed in their order, and where each is.
struct Placed<P> {
    profile: P,
    places: VecDeque<(i64, Job)>,
}

impl<P: FreeProcessors> Placed<P> {
    fn of(jobs: &[Job]) -> Self {
        let mut placed = Self { profile: P::new(PROCESSORS), places: VecDeque::new() };
        for job in jobs {
            placed.place(*job);
        }
        placed
    }

    fn place(&mut self, job: Job) -> i64 {
        let start = self.profile.earliest(0, job.processors, job.duration).unwrap_or_default();
        self.profile.change(start, start + job.duration, -job.processors);
        self.places.push_back((start, job));
        start
    }

    fn round(&mut self, job: Job) -> i64 {
        if let Some((start, left)) = self.places.pop_front() {
            self.profile.change(start, start + left.duration, left.processors);
        }
        self.place(job)
    }
}

fn measure<P: FreeProcessors>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, points: usize, waiting: &[Job], next: &[Job]) {
    let mut placed = Placed::<P>::of(waiting);
    let mut next = next.iter().cycle();
    group.bench_function(BenchmarkId::new(name, points), |bencher| {
        bencher.iter(|| {
            if let Some(job) = next.next() {
                black_box(placed.round(*job));
            }
        });
    });
}

fn rounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("profile");
    for points in POINTS.into_iter().filter(|points| !is_small() || *points <= 1_000) {
        // About two points a job, until its neighbours begin where it ends.
        let mut count = points / 2;
        while Placed::<Profile>::of(&jobs(1, count)).profile.steps().count() < points {
            count += (points / 20).max(1);
        }
        let (waiting, next) = (jobs(1, count), jobs(2, 20_000));
        let agree = |mut one: Placed<Profile>, mut other: Placed<VectorProfile>| {
            next.iter().take(500).all(|job| one.round(*job) == other.round(*job))
        };
        assert!(agree(Placed::of(&waiting), Placed::of(&waiting)), "the two differ at {points} points");
        measure::<Profile>(&mut group, "blocks", points, &waiting, &next);
        measure::<VectorProfile>(&mut group, "vector", points, &waiting, &next);
    }
    group.finish();
}

criterion_group!(benches, rounds);
criterion_main!(benches);
