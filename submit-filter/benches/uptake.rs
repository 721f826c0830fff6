//! What a new snapshot costs slurmctld: taking it up from the daemon's memory or from the file, and
//! the first decision after it.
//!
//! `QUEUECAST_SNAPSHOT=FILE` adds a daemon's snapshot to those that are made here.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Description, Site, free, now, past_job, publish, site as made_up, snapshot_bytes};
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{USER, enforcing, free_cpus, large_model};
use predictor_core::decisions::counters::Counter;
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlannedJob, QueuePlan};
use predictor_core::snapshot::Snapshot;
use predictor_core::snapshot::layout::{CHECKSUM_AT, Header, checksum};
use std::ffi::OsStr;
use std::fs;
use std::mem::offset_of;
use std::time::{Duration, Instant};

/// New snapshots per row.
const ROUNDS: usize = 60;
/// The number of waiting jobs that a snapshot holds.
const PLANNED_JOBS: u32 = 10_000;
/// Groups of jobs that 200,000 pending jobs and their past make, at the most one for each.
const GROUPS: u32 = 200_000;

/// Measures the time of one submission.
fn call(control: &[&str]) -> Duration {
    let mut job = Description::batch(16, 64).with_control(control);
    let mut message = std::ptr::null_mut();
    let begin = Instant::now();
    // SAFETY: a description and a place for a message of our own.
    unsafe { job_submit_queuecast::job_submit(&raw mut *job.0, 0, &raw mut message) };
    let time = begin.elapsed();
    free(&mut message);
    time
}

/// A snapshot of a large cluster: trees, 10,000 ends of running jobs, 200,000 groups, and a plan as
/// long as it is published.
fn large(generation: u64) -> Vec<u8> {
    let at = now();
    let past = (0..400).map(|n| past_job(at, n, [4, 16][n as usize % 2], 3_600, n % 900, 600 + n % 300));
    let job = |job| PlannedJob {
        job: JobId(job),
        user: UserId(USER + job % 1_000),
        partition: PartitionIndex(0),
        size: Size { nodes: 1, cpus: 4 },
        tasks: 1,
        limit: Some(Seconds(3_600)),
        priority: job,
        start: Ok(ExpectedStart { lower: at, expected: at, upper: at }),
    };
    let free = (0..256).map(|step| (at + Seconds(i64::from(step) * 300), if step == 255 { 256 } else { step * 37 % 48 })).collect();
    let plan = QueuePlan { is_complete: false, jobs: (1..=PLANNED_JOBS).map(job).collect(), ..free_cpus(at, free, 200_000) };
    made_up(enforcing(), at, generation).ended_jobs(past).learnt(&large_model(at, GROUPS)).queue(&plan).bytes()
}

/// The snapshot of a file, as if it were published now under another number.
fn of_file(path: &OsStr, generation: u64) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("QUEUECAST_SNAPSHOT names a file");
    let mut put = |at: usize, number: [u8; 8]| bytes[at..at + 8].copy_from_slice(&number);
    put(offset_of!(Header, generation), generation.to_le_bytes());
    put(offset_of!(Header, published_at), now().0.to_le_bytes());
    let sum = checksum(&bytes).to_le_bytes();
    bytes[CHECKSUM_AT].copy_from_slice(&sum);
    bytes
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() {
    let site = Site::new();
    assert_eq!(job_submit_queuecast::init(), 0);
    println!(
        "{:<10} {:>10} {:<28} {:>14} {:>20} {:>14}",
        "snapshot", "bytes", "taken from", "taking up, us", "first decision, us", "warm, us"
    );
    type Make = Box<dyn Fn(u64) -> Vec<u8>>;
    let mut kinds: Vec<(&str, Make)> =
        vec![("small", Box::new(|generation| snapshot_bytes(enforcing(), 400, now(), generation))), ("large", Box::new(large))];
    if let Some(path) = std::env::var_os("QUEUECAST_SNAPSHOT") {
        kinds.push(("from file", Box::new(move |generation| of_file(&path, generation))));
    }
    let mut generation = 0;
    for (name, make) in kinds {
        for shared in [true, false] {
            let [mut uptakes, mut firsts, mut warms] = [const { Vec::new() }; 3];
            let mut length = 0;
            for _ in 0..ROUNDS {
                generation += 1;
                let bytes = make(generation);
                length = bytes.len();
                let taken = site.counter(Counter::SnapshotsTaken);
                let memory = if shared {
                    Some(site.hand_over(&bytes))
                } else {
                    let _ = fs::remove_file(site.path().join("snapshot-memory"));
                    publish(site.path(), &bytes);
                    None
                };
                assert!(Snapshot::open(bytes).is_ok());
                // The first one takes the snapshot up; nothing is asked of it.
                uptakes.push(call(&[]));
                firsts.push(call(&["QUEUECAST_AUTO_MOLD=1"]));
                (0..5).for_each(|_| assert!(call(&["QUEUECAST_AUTO_MOLD=1"]) > Duration::ZERO));
                warms.push(call(&["QUEUECAST_AUTO_MOLD=1"]));
                assert_eq!(site.counter(Counter::SnapshotsTaken), taken + 1, "a round takes up one snapshot");
                drop(memory);
            }
            let from = if shared { "the daemon's sealed memory" } else { "the file, into its own memory" };
            let [uptake, first, warm] = [uptakes, firsts, warms].map(|times| format!("{:.1}", median(times).as_secs_f64() * 1e6));
            println!("{name:<10} {length:>10} {from:<28} {uptake:>14} {first:>20} {warm:>14}");
        }
    }
    assert_eq!(site.counter(Counter::Panics), 0);
}
