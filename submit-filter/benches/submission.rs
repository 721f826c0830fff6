//! Time of one call of `job_submit`, through its C entry point, as slurmctld makes it.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Description, Site, free, now, past_job, publish, site as made_up, snapshot_bytes};
use criterion::{BatchSize, Criterion};
use job_types::time::Seconds;
use made_up_site::{enforcing, free_cpus, large_model};
use std::ffi::{c_char, c_int};
use std::time::{Duration, Instant};

/// Calls per row of the table.
const CALLS: usize = 20_000;

/// Calls where only to look that each row still measures what it says: `cargo bench` gives
/// `--bench`, `cargo test` does not.
const FEW_CALLS: usize = 20;

/// The sizes that a job with forests behind its forecasts is compared at: its own and sixteen
/// others, of each of which there is a past.
const SIZES: [u32; 17] = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64];

/// The variable that asks for a firm slot.
const WINDOW: &str = "QUEUECAST_RESERVE_WINDOW";

fn call(job: &mut Description, message: &mut *mut c_char) -> c_int {
    // SAFETY: a description and a place for a message of our own.
    unsafe { job_submit_queuecast::job_submit(&raw mut *job.0, 0, message) }
}

/// Median, 99th and 99.9th percentile and maximum of the time of one call.
///
/// # Panics
/// Where a job with a window is refused, or a call neither leaves a record of a decision nor gives
/// an answer although something is asked for, or does so although nothing is.
fn percentiles(make: &dyn Fn() -> Description, control: &[&str]) -> [Duration; 4] {
    let (is_asked, has_window) = (!control.is_empty(), control.iter().any(|variable| variable.starts_with(WINDOW)));
    let calls = if std::env::args().any(|argument| argument == "--bench") { CALLS } else { FEW_CALLS };
    let mut times: Vec<Duration> = (0..calls)
        .map(|_| {
            let (mut job, mut message) = (make(), std::ptr::null_mut());
            let begin = Instant::now();
            let code = call(&mut job, &mut message);
            let time = begin.elapsed();
            assert!(code == 0 || !has_window, "a firm slot is refused: {code}");
            let is_answered = !job.0.admin_comment.is_null() || !message.is_null();
            assert_eq!(is_answered, is_asked, "there is an answer where something is asked for, and only there");
            free(&mut message);
            time
        })
        .collect();
    times.sort_unstable();
    [times[calls / 2], times[calls * 99 / 100], times[calls * 999 / 1000], times[calls - 1]]
}

fn main() {
    let site = Site::new();
    // 6,000 jobs in the class.
    publish(site.path(), &snapshot_bytes(enforcing(), 12_000, now(), 1));
    assert_eq!(job_submit_queuecast::init(), 0);
    let at = now().0 + 20_000;
    let reserve = format!("QUEUECAST_RESERVE_AT={at}");
    let day = format!("QUEUECAST_RESERVE_AT={}", now().0 + 86_400);
    let far = format!("QUEUECAST_RESERVE_AT={}", now().0 + 300 * 86_400);
    let window = format!("{WINDOW}={at},{}", at + 86_400);
    let cases: [(&str, Vec<&str>); 8] = [
        ("nothing asked", vec![]),
        ("firm slot", vec![&window]),
        ("molding", vec!["QUEUECAST_AUTO_MOLD=1"]),
        ("deferral", vec!["QUEUECAST_AUTO_DEFER=1"]),
        ("reservation", vec![&reserve]),
        ("reservation, 24 h ahead", vec![&day]),
        ("all three", vec!["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1", &reserve]),
        (
            "all three, 300 days ahead, all sizes",
            vec!["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_MOLD_SIZES=1-64", "QUEUECAST_AUTO_DEFER=1", &far],
        ),
    ];
    println!("{:<40} {:>12} {:>12} {:>12} {:>12}", "one submission", "median us", "p99 us", "p99.9 us", "longest us");
    let table = |before: &str| {
        for (name, control) in &cases {
            let make = || Description::batch(16, 64).with_control(control);
            let row = percentiles(&make, control).map(|time| format!("{:>12.2}", time.as_secs_f64() * 1e6)).join(" ");
            println!("{:<40} {row}", format!("{before}{name}"));
        }
    };
    table("");
    // Each size with a distribution of its own, and the forests in force.
    let past = || {
        SIZES.iter().flat_map(|nodes| {
            let run_time = move |n: i64| 600 + (n * 7_919) % 2_400 / i64::from(*nodes);
            (0..200).map(move |n| past_job(now(), n, *nodes, 3_600, n % 900, run_time(n)))
        })
    };
    let model = large_model(now(), 200_000);
    publish(site.path(), &made_up(enforcing(), now(), 2).ended_jobs(past()).learnt(&model).bytes());
    table("trees: ");
    // A plan with as many steps as are published, in which nothing is free for long before its end.
    let steps = (0..256).map(|step| (now() + Seconds(i64::from(step) * 300), if step == 255 { 256 } else { step * 37 % 48 }));
    let plan = free_cpus(now(), steps.collect(), 3);
    publish(site.path(), &made_up(enforcing(), now(), 3).ended_jobs(past()).learnt(&model).queue(&plan).bytes());
    table("plan: ");
    let mut criterion = Criterion::default().configure_from_args();
    for (name, control) in &cases {
        criterion.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || Description::batch(16, 64).with_control(control),
                |job| {
                    let mut message = std::ptr::null_mut();
                    call(job, &mut message);
                    free(&mut message);
                },
                BatchSize::SmallInput,
            );
        });
    }
    criterion.final_summary();
}
