//! Time to plan for 10,000 pending and 5,000 running jobs on a cluster of 2,000 nodes with three
//! partitions, to answer each of a thousand questions about 1,000 pending and 500 running ones, to
//! probe a hundred slots of a window, and to rank 64 firm slots anew.
#![allow(missing_docs, clippy::expect_used)]

use job_types::number::JobId;
use job_types::size::Size;
use std::hint::black_box;
use std::time::Instant;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use job_types::time::{Seconds, UnixTime};
use queue_plan::placement::in_queue::{NodesWanted, harm_of_granted, probe};
use queue_plan::placement::{Preference, Probing, WhatIf};
use queue_plan::{
    Assumption, Change, Location, Node, Occupancy, Partition, Pass, PendingJob, Placeholder, Reservation, Resources, RunTimes, RunningJob,
    State, plan,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NOW: UnixTime = UnixTime(1_800_000_000);
const NODES: u32 = 2_000;
const CPUS: u32 = 64;
const QUESTIONS: u32 = 1_000;

fn run_times(random: &mut ChaCha8Rng, longest: i64) -> RunTimes {
    let limit = (600.0 * (longest as f64 / 600.0).powf(random.random::<f64>())) as i64;
    let expected = ((limit as f64) * random.random::<f64>()).max(1.0) as i64;
    RunTimes { optimistic: Seconds((expected / 2).max(1)), expected: Seconds(expected), limit: Seconds(limit) }
}

/// Half of the jobs ask for CPUs of one node, the others for whole nodes.
fn pending_job(random: &mut ChaCha8Rng, id: u32) -> PendingJob {
    let run_time = run_times(random, 7 * 86_400);
    let nodes = 1 << random.random_range(0..8).min(random.random_range(0..10));
    let is_small = random.random_bool(0.5);
    PendingJob {
        id: JobId(id),
        partitions: vec![[0, 0, 0, 1, 2][random.random_range(0..5)]],
        asks: Resources::from(Size {
            nodes: if is_small { 1 } else { nodes },
            cpus: if is_small { random.random_range(1..=CPUS) } else { nodes * CPUS },
        }),
        tasks: 1,
        whole_nodes: !is_small,
        priority: random.random_range(0..100_000),
        eligible: NOW - Seconds(1_000),
        limit: Some(run_time.limit),
        run_time,
        ..PendingJob::default()
    }
}

/// Running jobs share nodes.
fn state(running: u32, pending: u32) -> State {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let partition = |nodes: std::ops::Range<u32>, tier| Partition {
        nodes: nodes.collect(),
        is_up: true,
        longest_limit: Some(Seconds(7 * 86_400)),
        tier,
        ..Partition::default()
    };
    let partitions = vec![partition(0..NODES, 1), partition(0..200, 2), partition(1_500..NODES, 1)];
    let running = (0..running).map(|_| {
        let first = random.random_range(0..NODES);
        let nodes: Vec<u32> = (first..(first + random.random_range(1..8)).min(NODES)).collect();
        let holds = Resources::of_cpus(nodes.len() as i64 * random.random_range(1..6));
        RunningJob { holds, nodes, reservation: None, remaining: run_times(&mut random, 7 * 86_400) }
    });
    let running = running.collect();
    let pending = (0..pending).map(|id| pending_job(&mut random, id));
    let pending = pending.collect();
    let maintenance =
        Reservation { start: NOW + Seconds(3 * 86_400), end: NOW + Seconds(3 * 86_400 + 28_800), nodes: (0..NODES).collect(), keeps: None };
    State {
        now: NOW,
        nodes: vec![Node { offers: Size { nodes: 1, cpus: CPUS }.into(), takes_jobs: true }; NODES as usize],
        partitions,
        reservations: vec![maintenance],
        running,
        pending,
    }
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(20);
    for (running, pending) in [(500, 1_000), (5_000, 10_000)] {
        let state = state(running, pending);
        let begin = Instant::now();
        let planned = plan(&state);
        let starts = planned.pending.iter().filter(|job| job.start.is_ok()).count();
        assert!(starts > 0, "nothing starts by the plan");
        println!("{pending} pending, {running} running: {starts} starts in {:?} at first", begin.elapsed());
        group.bench_function(format!("{pending} pending, {running} running"), |bencher| bencher.iter(|| black_box(plan(&state))));
    }
    group.finish();
}

/// A thousand questions of each kind about one state, in turn; each sample is of one question.
fn questions(criterion: &mut Criterion) {
    let state = state(500, 1_000);
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let jobs: Vec<PendingJob> = (0..QUESTIONS).map(|id| pending_job(&mut random, 10_000 + id)).collect();
    let placeholders = jobs.iter().map(|job| {
        let start = NOW + Seconds(random.random_range(0..2 * 86_400));
        let location = Location::Partition(job.partitions[0]);
        Placeholder { start, end: start + job.run_time.expected, takes: job.asks, location }
    });
    let placeholders: Vec<Placeholder> = placeholders.collect();
    let pass = Pass::of_state(&state, Assumption::Expected);
    let mut group = criterion.benchmark_group("question");
    measure(&mut group, "prepare what stands", &jobs, |_| Occupancy::of(&state, Assumption::Expected));
    measure(&mut group, "start all with a placeholder", &placeholders, |placeholder| {
        Pass::from(&pass.occupancy().with(placeholder.clone()))
    });
    let mut behind = pass.clone();
    measure(&mut group, "start behind all", &jobs, |job| behind.start_behind_all(job));
    measure(&mut group, "effect of a placeholder", &placeholders, |placeholder| pass.effect(Change::Placed(placeholder)));
    measure(&mut group, "effect of a submission", &jobs, |job| pass.effect(Change::Submitted(job)));
    let others: Vec<(usize, PendingJob)> = jobs.into_iter().enumerate().collect();
    measure(&mut group, "effect of another job in place of one", &others, |(index, job)| pass.effect(Change::Replaced(*index, job)));
    group.finish();
}

fn measure<Q, A>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, questions: &[Q], mut answer: impl FnMut(&Q) -> A) {
    let begin = Instant::now();
    questions.iter().for_each(|question| drop(black_box(answer(question))));
    println!("{name}: {:?} for each of {} questions", begin.elapsed() / QUESTIONS, questions.len());
    let mut next = questions.iter().cycle();
    group.bench_function(name, |bencher| bencher.iter(|| next.next().map(|question| black_box(answer(question)))));
}

/// So many nodes for two hours, until a moment.
fn two_hours(nodes: u32, latest_end: UnixTime) -> NodesWanted {
    let job = PendingJob {
        id: JobId(u32::MAX),
        partitions: vec![0],
        asks: Resources::from(Size { nodes, cpus: nodes * CPUS }),
        tasks: 1,
        whole_nodes: true,
        eligible: NOW,
        limit: Some(Seconds(7_200)),
        run_time: RunTimes::of_limit(Some(Seconds(7_200))),
        ..PendingJob::default()
    };
    NodesWanted {
        lead: Seconds::MINUTE,
        partition: 0,
        nodes,
        duration: Seconds(7_320),
        earliest_start: NOW,
        latest_end,
        preference: Preference::Earliest,
        job,
    }
}

/// A probe of a hundred slots for sixteen nodes within four days.
fn probes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("probe");
    group.sample_size(10);
    for (running, pending) in [(500, 1_000), (5_000, 10_000)] {
        let state = state(running, pending);
        let wanted = two_hours(16, NOW + Seconds(4 * 86_400));
        let probing = Probing { slots: 100, gap: Seconds(300) };
        let begin = Instant::now();
        let found = probe(&state, &wanted, probing, WhatIf::default());
        let planned = found.slots.iter().filter(|slot| slot.harm.is_some()).count();
        let harmful = found.slots.iter().filter(|slot| slot.harm.is_some_and(|harm| harm.delayed_jobs > 0)).count();
        assert!(planned >= 20 && harmful > 0, "{planned} slots are planned, of which {harmful} delay anybody");
        println!(
            "{pending} pending, {running} running: {planned} of {} slots planned in {:?} at first",
            found.slots.len(),
            begin.elapsed()
        );
        group.bench_function(format!("{pending} pending, {running} running"), |bencher| {
            bencher.iter(|| black_box(probe(&state, &wanted, probing, WhatIf::default())));
        });
    }
    group.finish();
}

/// All firm slots that a site has at the most unless it says otherwise, each with its window of two
/// days, ranked anew as an hourly round does it: its reservation is taken out, each start of its
/// window is planned, and its present start is held against them.
fn rounds(criterion: &mut Criterion) {
    const SLOTS: usize = 64;
    let mut group = criterion.benchmark_group("round");
    group.sample_size(10);
    let mut state = state(5_000, 10_000);
    let wanted: Vec<NodesWanted> =
        (0..SLOTS).map(|place| two_hours(1 << (place % 5), NOW + Seconds(2 * 86_400 + 600 * place as i64))).collect();
    let mut starts = Vec::new();
    for wanted in &wanted {
        let found = probe(&state, wanted, Probing::default(), WhatIf::default());
        let slot = found.best.and_then(|best| found.slots.get(best)).map(|slot| slot.slot).expect("a slot is to be had");
        // Which nodes slurmctld chooses does not matter here, but that no two slots have one.
        let first = NODES - 1 - starts.len() as u32 * 16;
        let nodes = (first + 1 - wanted.nodes..=first).collect();
        state.reservations.push(Reservation { start: slot.start, end: slot.end, nodes, keeps: None });
        starts.push(slot.start);
    }
    let round = || {
        let ranked = wanted.iter().zip(&starts).enumerate().filter_map(|(place, (wanted, start))| {
            let mut without = state.clone();
            // The maintenance is the first.
            without.reservations.remove(1 + place);
            let found = probe(&without, wanted, Probing::default(), WhatIf::default());
            harm_of_granted(&without, wanted, *start)?;
            found.best
        });
        ranked.count()
    };
    let begin = Instant::now();
    let ranked = round();
    assert!(ranked >= SLOTS / 2, "{ranked} of {SLOTS} slots were ranked anew");
    println!("{ranked} of {SLOTS} slots ranked anew in {:?} at first", begin.elapsed());
    group.bench_function("64 firm slots, 10000 pending, 5000 running", |bencher| bencher.iter(|| black_box(round())));
    group.finish();
}

criterion_group!(benches, plans, questions, probes, rounds);
criterion_main!(benches);
