//! The built plugin is loaded and unloaded again and again, in a process of its own.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Plugin, Site};
use made_up_site::enforcing;
use predictor_core::decisions::counters::Counter;
use std::time::{Duration, Instant};

const ROUNDS: usize = 50;
const THREADS: usize = 8;
const PLUGIN: &str = "job_submit_queuecast";

/// Mappings of a file in this process.
fn mappings_of(name: &str) -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().filter(|line| line.contains(name)).count()
}

fn entries(path: &str) -> usize {
    std::fs::read_dir(path).unwrap().count()
}

/// slurmctld has a thread for each submission, and some of them may end after the plugin has been
/// closed: what the plugin left in them is destroyed then, by code that must still be there. (The C
/// library keeps a library mapped as long as a thread has such values of it, as one that has waited
/// for a lock, and then until it is closed once more.)
#[test]
fn fifty_times_loaded_used_from_eight_threads_and_unloaded() {
    let site = Site::new();
    site.publish(enforcing());
    let threads_before = entries("/proc/self/task");
    let mut first = None;
    for round in 0..ROUNDS {
        let plugin = Plugin::open();
        assert_eq!(plugin.call("init"), 0);
        let loaded = mappings_of(PLUGIN);
        let decided = std::sync::Barrier::new(THREADS + 1);
        let unloaded = std::sync::Barrier::new(THREADS + 1);
        let submit = plugin.submit_symbol();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (decided, unloaded) = (&decided, &unloaded);
                    scope.spawn(move || {
                        for n in 0..5 {
                            let control: &[&str] = if n == 4 { &["QUEUECAST_MOLD_SIZES=1,,2"] } else { &["QUEUECAST_AUTO_MOLD=1"] };
                            // Nothing is claimed, so that each finds what it would find alone.
                            let mut job = Description::batch(16, 64).with_control(control).only_tested();
                            let mut message = std::ptr::null_mut();
                            // SAFETY: as slurmctld calls it; the plugin stays loaded until all
                            // threads have come to `decided`.
                            assert_eq!(unsafe { submit(&raw mut *job.0, 0, &raw mut message) }, 0);
                            common::free(&mut message);
                            assert_eq!(job.0.min_nodes, if n == 4 { 16 } else { 4 }, "round {round}, thread {thread}");
                        }
                        decided.wait();
                        unloaded.wait();
                    })
                })
                .collect();
            decided.wait();
            assert_eq!(plugin.call("fini"), 0);
            plugin.close();
            unloaded.wait();
            // A scope waits for what its threads do, joining them for the threads themselves.
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        // A thread that has been joined is in the list until the kernel has done with it.
        let deadline = Instant::now() + Duration::from_secs(10);
        while entries("/proc/self/task") > threads_before {
            assert!(Instant::now() < deadline, "round {round}: a thread stays");
            std::thread::yield_now();
        }
        let mapped = mappings_of(PLUGIN);
        assert!(mapped == 0 || mapped == loaded, "round {round}: {mapped} mappings of a plugin that has {loaded}");
        // What the first round leaves may stay; nothing may be added.
        let left = (mappings_of("memfd:"), entries("/proc/self/fd"));
        let first = *first.get_or_insert(left);
        assert_eq!(left, first, "round {round}: mappings of the snapshot and the counters; files");
    }
    let plugin = Plugin::open();
    assert_eq!(plugin.call("init"), 0);
    assert_eq!(plugin.call("fini"), 0);
    plugin.close();
    assert_eq!(mappings_of(PLUGIN), 0, "no thread has anything of the plugin");
    assert_eq!(site.counter(Counter::Panics), 0);
    assert_eq!(site.counter(Counter::Submissions), (ROUNDS * THREADS * 5) as u64);
}
