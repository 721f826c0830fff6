//! How long it takes to learn from a long past, and how much memory: a million synthetic jobs at
//! once, a thousand more that arrive afterwards, and the training that is due then.
//!
//! Not a statistical benchmark: it runs once, because the first part takes minutes.
//! `cargo bench -p learning --bench past -- [JOBS]`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use job_types::job::{EndedJob, Job, WaitingJob};
use job_types::number::{AccountIndex, JobId, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::sweep::{EventKind, Sweep, events};
use learning::waits::qbets::Qbets;
use learning::{Learner, LearnerSettings, Run, RunId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

const CPUS: u32 = 4_096;
const BEGIN: i64 = 1_700_000_000;

/// Jobs that arrive after the first refresh: as many as make a training due.
const MORE: u32 = 1_000;

/// Jobs of a thousand users in four partitions, first come, first served on one machine, at nine
/// tenths of what it can do; in order of arrival.
fn jobs(count: u32) -> Vec<Run<EndedJob<&'static str, PartitionIndex, &'static str>>> {
    const ACCOUNTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut eligible, mut clock, mut free) = (BEGIN as f64, BEGIN, CPUS);
    let mut ends: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let job = |number| {
        let user = (random.random::<f64>().powi(3) * 1_000.0) as u32;
        let cpus = (1u32 << random.random_range(0..8)) * if random.random::<f64>() < 0.05 { 8 } else { 1 };
        let run_time_s = 10.0 * (random.random::<f64>() * 8.0).exp();
        // Mean work: about 47 CPUs and 3,700 s.
        eligible += -random.random::<f64>().max(1e-12).ln() * 51.0;
        clock = clock.max(eligible as i64);
        while free < cpus || ends.peek().is_some_and(|Reverse((end, _))| *end <= clock) {
            let Some(Reverse((end, freed))) = ends.pop() else { break };
            clock = clock.max(end);
            free += freed;
        }
        free -= cpus;
        let end = clock + run_time_s as i64;
        ends.push(Reverse((end, cpus)));
        let limit_s = ((run_time_s * random.random_range(1.0..10.0)) as i64).div_euclid(900) * 900 + 900;
        Run {
            id: RunId { submitted: eligible as i64, job: JobId(number) },
            array: None,
            tasks: 1,
            is_held: false,
            job: EndedJob {
                submitted: WaitingJob {
                    user: UserId(user),
                    account: ACCOUNTS[user as usize % 8],
                    partition: PartitionIndex((user % 4) as u16),
                    qos: "normal",
                    size: Size { nodes: cpus.div_ceil(64), cpus },
                    limit: Some(Seconds(limit_s)),
                    eligible: UnixTime(eligible as i64),
                },
                allocated: None,
                start: Some(UnixTime(clock)),
                end: UnixTime(end),
                suspended: Seconds::ZERO,
            },
            recorded_forecast: None,
            promise: None,
            admission: None,
            is_in_slot: false,
            is_interrupted: false,
        }
    };
    (1..=count).map(job).collect()
}

fn status_mib(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or_default() / 1_024.0
}

/// Seconds of processor time that this process has used: what other processes do has no part in it.
fn used_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // User and system time, in hundredths of a second.
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// What something took: wall and processor time.
struct Took(Instant, f64);

impl Took {
    fn begin() -> Took {
        Took(Instant::now(), used_s())
    }
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} s ({:.2} s of processor time)", self.0.elapsed().as_secs_f64(), used_s() - self.1)
    }
}

/// Whether only to look that this still runs: `cargo bench` gives `--bench`, `cargo test` does not.
fn is_small() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

fn main() {
    let usual = if is_small() { 20_000 } else { 1_000_000 };
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(usual);
    let all = jobs(count + MORE);
    let (first, more) = all.split_at(count as usize);
    println!("{count} jobs; mean wait {:.0} s", first.iter().map(|run| run.job.wait().unwrap().0 as f64).sum::<f64>() / f64::from(count));

    let before_mib = status_mib("VmRSS:");
    let past: Vec<EndedJob> = first.iter().map(|run| run.job.of(AccountIndex(0), run.job.submitted.partition, QosIndex(0))).collect();
    let took = Took::begin();
    let mut sweep = Sweep::new(CPUS, 0).keeping(125_000);
    for event in events(&past) {
        let job = &past[event.job as usize];
        match event.kind {
            EventKind::Arrival => {
                sweep.arrive(&job.submitted);
            }
            EventKind::Start => sweep.start(event.job, event.at),
            EventKind::End | EventKind::EndAtOnce => sweep.end(event.job, event.at, job.suspended),
        }
    }
    println!("one sweep: {took}, {:.0} MiB more at the most", status_mib("VmHWM:") - before_mib);
    drop(sweep);

    let before_mib = status_mib("VmRSS:");
    let took = Took::begin();
    let mut qbets = Qbets::new();
    for event in events(&past).iter().filter(|event| event.kind == EventKind::Start) {
        let job = &past[event.job as usize];
        qbets.observe(&job.submitted, job.wait().unwrap());
    }
    println!("QBETS: {took}, {:.0} MiB more now", status_mib("VmRSS:") - before_mib);
    let took = Took::begin();
    let classes = qbets.classes(0.95).len();
    println!("the bounds of its {classes} classes: {took}");
    drop((qbets, past));

    // The first refresh is between the arrivals of the two parts. Only what arrives afterwards is
    // seen with the queue that it met, and nothing else counts towards the next training.
    let arrived_at = first.last().map(|run| run.job.submitted.eligible).expect("there are jobs before those");
    let (ended, live): (Vec<_>, Vec<_>) = first.iter().partition(|run| run.job.end <= arrived_at);

    let before_mib = status_mib("VmRSS:");
    let settings = LearnerSettings::default();
    let mut learner = Learner::new(settings);
    learner.set_cpus(CPUS);
    let took = Took::begin();
    for run in ended {
        assert!(learner.ended(run), "a run that ended is not taken");
    }
    let shown = live.iter().map(|run| {
        let waiting = Job::Waiting(run.job.submitted);
        run.with(run.job.start.filter(|start| *start <= arrived_at).map_or(waiting, |start| waiting.started(start, None)))
    });
    let refreshed = learner.refresh(shown, arrived_at);
    println!(
        "first refresh with training: {took}, {} events, {:.0} MiB more now, {:.0} MiB at the most",
        refreshed.events,
        status_mib("VmRSS:") - before_mib,
        status_mib("VmHWM:") - before_mib
    );
    for change in &refreshed.changes {
        println!("  partition {}: {:?}, farthest {:?} of {} jobs", change.partition, change.now, change.farthest, change.jobs);
    }
    let trained_first = learner.model(0.95).forests;
    assert!(trained_first.is_some(), "the first refresh did not train");

    let took = Took::begin();
    for run in live.into_iter().chain(more) {
        assert!(learner.ended(run), "a run that ended is not taken");
    }
    let all_ended_at = all.iter().map(|run| run.job.end).max().expect("jobs that ended");
    let refreshed = learner.refresh([], all_ended_at);
    println!("{MORE} more: {took}, {} events", refreshed.events);
    let took = Took::begin();
    let model = learner.model(0.95);
    println!("model: {took}, {} groups", model.groups.len());

    let took = Took::begin();
    let retraining = learner.retraining().expect("no training is due after the jobs that arrived later");
    let jobs = retraining.jobs();
    assert_eq!(jobs, all.len().min(settings.waits.most_training), "all jobs are trained on, or the most that are");
    learner.adopt(retraining.run().expect("the training succeeds"));
    println!("training on {jobs} jobs: {took}");
    assert!(learner.model(0.95).forests != trained_first, "the forests are still those of the first refresh");
}
