//! Files of the state directory are truncated and overwritten while eight threads submit through
//! the built plugin, in a process of its own: a file that was mapped would end it by SIGBUS.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, Plugin, Site, now, publish, snapshot_bytes};
use made_up_site::enforcing;
use predictor_core::decisions::counters::{Counted, Counter};
use std::fs::{self, OpenOptions};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const THREADS: usize = 8;
const SUBMISSIONS: usize = 1_000;
const SPOILS: u64 = 100;

fn submit(running: &Running) -> u32 {
    let mut job = Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1"]);
    assert_eq!(running.plugin.submit(&mut job).0, 0, "the job passes");
    job.0.min_nodes
}

#[test]
fn files_that_are_truncated_and_overwritten_end_no_process_and_stop_no_job() {
    let running = Running { site: Site::new(), plugin: Plugin::open() };
    let site = &running.site;
    let spoils = AtomicU64::new(0);
    // Once with the snapshot from the daemon's memory, once from the file alone.
    for generation in [1, 1_000_000] {
        let done = AtomicBool::new(false);
        let begun = spoils.load(Ordering::Relaxed);
        let mut memory = Vec::new();
        let mut renew = |generation| {
            let bytes = snapshot_bytes(enforcing(), 400, now(), generation);
            if generation < 1_000_000 {
                memory.push(site.hand_over(&bytes));
                // As the daemon, which keeps the last two.
                memory.drain(..memory.len().saturating_sub(2));
            } else {
                let _ = fs::remove_file(site.path().join("snapshot-memory"));
            }
            publish(site.path(), &bytes);
            fs::write(
                site.path().join("filter-counters"),
                slurm_conf::state_directory::COUNTERS_ENVELOPE.sealed(&Counted::default().to_bytes()).unwrap(),
            )
            .unwrap();
        };
        renew(generation);
        assert_eq!(running.plugin.call("init"), 0);
        assert_eq!(submit(&running), 4);
        std::thread::scope(|scope| {
            let submitters: Vec<_> =
                (0..THREADS).map(|_| scope.spawn(|| (0..SUBMISSIONS).for_each(|_| assert!([4, 16].contains(&submit(&running)))))).collect();
            let spoiler = scope.spawn(|| {
                for count in 0.. {
                    // Every round spoils all files, in turn by truncation and by `cp` of another
                    // file over them.
                    for entry in fs::read_dir(site.path()).unwrap().flatten() {
                        let path = entry.path();
                        if path.extension().is_some() {
                            continue;
                        }
                        if count % 2 == 0 {
                            let _ = OpenOptions::new().write(true).truncate(true).open(&path);
                        } else {
                            let _ = fs::copy("/bin/true", &path);
                        }
                    }
                    let spoilt = spoils.fetch_add(1, Ordering::Relaxed) + 1 - begun;
                    if spoilt >= SPOILS && done.load(Ordering::Relaxed) {
                        break;
                    }
                    renew(generation + spoilt);
                }
            });
            submitters.into_iter().for_each(|submitter| submitter.join().unwrap());
            done.store(true, Ordering::Relaxed);
            spoiler.join().unwrap();
        });
        assert!(spoils.load(Ordering::Relaxed) - begun >= SPOILS);
        renew(generation + 900_000);
        assert_eq!(submit(&running), 4, "a good snapshot is taken up again");
    }
    let expected = 2 * (THREADS * SUBMISSIONS + 2) as u64;
    // The counts are in memory, which nothing of this has touched.
    let _memory = site.hand_over(&snapshot_bytes(enforcing(), 400, now(), 1));
    submit(&running);
    assert_eq!((site.counter(Counter::Submissions), site.counter(Counter::Panics)), (expected + 1, 0));
}
