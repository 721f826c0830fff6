//! Time of one call of `job_submit` for a job with a deadline, by each rule of admission, with
//! 10,000 admitted jobs on 5,000 nodes: those of the snapshot, and those that are admitted
//! meanwhile.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Description, Site, free, now, past_job, publish, read};
use criterion::{BatchSize, Criterion};
use job_types::number::PartitionIndex;
use job_types::policy::{Admission, Policy};
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, batch, enforcing, free_cpus};
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::decisions::shared_nodes::SharingJob;
use predictor_core::forecasts::promised_job::PromisedJob;
use predictor_core::forecasts::queue_plan::QueuePlan;
use slurm_sys::bindings;
use snapshot_writer::{PartitionState, SharedNodeState};
use std::ffi::{c_char, c_int};
use std::time::{Duration, Instant};

/// Nodes of the partition, of one CPU each as the published methods have them.
const NODES: u32 = 5_000;

/// Admitted jobs that the snapshot knows: two to a node.
const JOBS: u32 = 10_000;

/// Calls per row of the table.
const CALLS: usize = 10_000;

/// Calls where only to look that each row still measures what it says: `cargo bench` gives
/// `--bench`, `cargo test` does not.
const FEW_CALLS: usize = 20;

/// A job of an hour on so many nodes, with a deadline in so many seconds.
fn job(nodes: u32, due_in: i64) -> Description {
    let mut job = Description::batch(nodes, nodes);
    job.0.deadline = now().0 + due_in;
    job
}

fn call(job: &mut Description, message: &mut *mut c_char) -> c_int {
    // SAFETY: a description and a place for a message of our own.
    unsafe { job_submit_queuecast::job_submit(&raw mut *job.0, 0, message) }
}

/// The rule by which jobs are admitted, and whether they share nodes.
#[derive(Clone, Copy, Debug)]
struct Case {
    rule: Admission,
    is_shared: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shared = if self.is_shared && !self.rule.shares_nodes() { ", shared" } else { "" };
        write!(f, "{}{shared}", self.rule.as_str())
    }
}

/// Puts 10,000 admitted jobs on 5,000 nodes into place. They need from 0.45 to 0.85 of a node
/// together, and no two nodes the same, so that the best fit has to be looked for. By probability
/// that is the mean, and the standard deviation of each is up to 0.06.
fn site(site: &Site, case: Case, generation: u64) {
    let rule = case.rule;
    let (now, policy) = (now(), Policy { admission: rule, ..enforcing() });
    let variance = if rule == Admission::Probability { 0.0036 } else { 0.0 };
    let share = |node: u32, job: u32| 0.225 + 0.2 * f64::from((node * 7_919 + job * 104_729) % NODES) / f64::from(NODES);
    let jobs = |node: u32| {
        let has = |job| SharingJob {
            cpus: 1,
            admitted: Some((
                NeededShare { mean: share(node, job), variance: variance * share(job, node) },
                now + Seconds(20_000 + i64::from((node * 31 + job) % 50_000)),
            )),
        };
        (0..JOBS / NODES).map(has).collect()
    };
    let node = |n: u32| SharedNodeState { name: format!("node{n:05}"), cpus: 1, jobs_to_a_cpu: 60_000, jobs: jobs(n) };
    let shared_nodes = if case.is_shared { (0..NODES).map(node).collect() } else { Vec::new() };
    let partition = PartitionState { whole_nodes: false, cpus: NODES, nodes: NODES, shared_nodes, ..batch(policy) };
    // Waits of some minutes, so that the probability has something to rest on.
    let past = (0..2_000).map(|n| past_job(now, n, 4, 3_600, n * 37 % 900, 1_200 + n % 900));
    let made = MadeUpSite::new(now).partition(partition).ended_jobs(past);
    let made = made.origin(|origin| {
        (origin.generation, origin.site_policy, origin.controller_read_at) = (generation, policy, Some(now + Seconds(3_000)));
    });
    // Admission by probability asks the plan, which holds jobs that wait for their deadlines.
    let made = if rule == Admission::Probability && !case.is_shared { made.queue(&plan(now)) } else { made };
    publish(site.path(), &made.bytes());
}

/// A plan of 256 steps, by which all is free in six hours, with 10,000 admitted jobs that wait.
fn plan(now: UnixTime) -> QueuePlan {
    let after = |seconds: u32| now + Seconds(seconds.into());
    let free = (0..256).map(|step| (after(step * 84), if step == 255 { NODES } else { 40 + step * 7_919 % 400 }));
    let promised = |job: u32| PromisedJob {
        deadline: after(10_000 + job * 31 % 90_000),
        start: after(job * 17 % 18_000),
        end: after(job * 17 % 18_000 + 1_650),
        cpus: 1 + job % 8,
        slack: Seconds(i64::from(job % 20_000)),
    };
    let promised = (0..JOBS).map(|job| (PartitionIndex(0), promised(job))).collect();
    QueuePlan { promised, ..free_cpus(now, free.collect(), JOBS) }
}

/// Median, 99th and 99.9th percentile and maximum of the time of one call.
///
/// # Panics
/// Where a call does not admit or refuse as it says, or an admitted job is not given its nodes.
fn percentiles(case: Case, nodes: u32, due_in: i64, is_admitted: bool) -> [Duration; 4] {
    let calls = if std::env::args().any(|argument| argument == "--bench") { CALLS } else { FEW_CALLS };
    let mut times: Vec<Duration> = (0..calls)
        .map(|_| {
            let (mut job, mut message) = (job(nodes, due_in), std::ptr::null_mut());
            let begin = Instant::now();
            let answer = call(&mut job, &mut message);
            let time = begin.elapsed();
            let said = read(message).unwrap_or_default();
            let wanted = if is_admitted { 0 } else { bindings::ESLURM_INVALID_TIME_LIMIT as c_int };
            assert_eq!(answer, wanted, "{case}: {said}");
            assert!(said.contains(if is_admitted { "queuecast: admitted" } else { "queuecast: not admitted" }), "{said}");
            let chosen = read(job.0.req_nodes).map_or(0, |names| names.split(',').count());
            assert_eq!(chosen, if is_admitted && case.is_shared { nodes as usize } else { 0 }, "{case}");
            free(&mut message);
            time
        })
        .collect();
    times.sort_unstable();
    [times[calls / 2], times[calls * 99 / 100], times[calls * 999 / 1000], times[calls - 1]]
}

fn main() {
    let state = Site::new();
    let case = |rule: Admission| Case { rule, is_shared: rule.shares_nodes() };
    site(&state, case(Admission::Libra), 1);
    assert_eq!(job_submit_queuecast::init(), 0);
    // Nodes, seconds until the deadline, and whether that can be had: by shares an hour in 300 days
    // needs 0.00014 of a node, so that all that are admitted here find room, and in 1.5 hours 0.67,
    // which no node has left beside its two jobs; by time limit and by forecast a day is much, and
    // 40 minutes are too few.
    let by_shares = [(4, 25_920_000, true), (64, 25_920_000, true), (4, 5_400, false)];
    let by_time = [(4, 86_400, true), (64, 86_400, true), (4, 2_400, false)];
    // By forecast, a job that runs for 25 minutes needs half of a node in 50 minutes.
    let by_forecast = [(4, 25_920_000, true), (64, 25_920_000, true), (4, 3_000, false), (4, 1_000, false)];
    let cases = [Admission::Libra, Admission::LibraRisk, Admission::Edf, Admission::Probability].map(case);
    let cases = cases.into_iter().chain([Case { rule: Admission::Probability, is_shared: true }]);
    println!(
        "{:<52} {:>10} {:>10} {:>10} {:>10}",
        "one submission, 10,000 admitted jobs, 5,000 nodes", "median us", "p99 us", "p99.9 us", "most us"
    );
    let mut criterion = Criterion::default().configure_from_args();
    for (generation, case) in (2..).zip(cases) {
        site(&state, case, generation);
        let jobs = match case {
            Case { rule: Admission::Probability, is_shared: true } => &by_forecast[..],
            // Admission by probability knows nothing of jobs on 64 nodes.
            Case { rule: Admission::Probability, is_shared: false } => &[by_time[0], by_time[2]],
            Case { is_shared: true, .. } => &by_shares,
            Case { is_shared: false, .. } => &by_time,
        };
        for &(nodes, due_in, is_admitted) in jobs {
            let row = percentiles(case, nodes, due_in, is_admitted).map(|time| format!("{:>10.2}", time.as_secs_f64() * 1e6)).join(" ");
            let verdict = if is_admitted { "admitted" } else { "refused" };
            let name = format!("{case}, {nodes} nodes, {verdict}, due in {due_in} s");
            println!("{name:<52} {row}");
            criterion.bench_function(&name, |bencher| {
                bencher.iter_batched_ref(
                    || job(nodes, due_in),
                    |job| {
                        let mut message = std::ptr::null_mut();
                        call(job, &mut message);
                        free(&mut message);
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    criterion.final_summary();
}
