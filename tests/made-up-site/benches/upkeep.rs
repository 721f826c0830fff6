//! Time to go through 10,000 deferred reservations: each record is read, and each job is looked at
//! with the forecasts of a snapshot, by trees over many groups of jobs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use criterion::{Criterion, criterion_group, criterion_main};
use job_types::number::{JobId, UserId};
use job_types::options::{Asked, SuccessProbability};
use job_types::record::Record;
use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{MadeUpSite, NOW, USER, batch, ended_job, enforcing, large_model, situation, submission};
use predictor_core::decision::{ReservationState, ReservedJob, decide, upkeep};
use predictor_core::snapshot::Snapshot;
use std::hint::black_box;

const JOBS: u32 = 10_000;

fn site() -> Snapshot<Vec<u8>> {
    let past = (0..6_000).map(|n| {
        let eligible = NOW - Seconds(40_000_000 - n * 6_000);
        ended_job(UserId(USER), eligible, 1 + (n % 16) as u32, 3_600, n * 37 % 100 * 60, 600)
    });
    MadeUpSite::new(NOW).partition(batch(enforcing())).ended_jobs(past).learnt(&large_model(NOW, 200_000)).snapshot()
}

/// Jobs of one to sixteen nodes, reserved for one hour to three days ahead, with their comments.
fn deferred(site: &Snapshot<Vec<u8>>) -> Vec<(ReservedJob, String)> {
    let job = |number: u32| {
        let nodes = 1 + number % 16;
        let ahead = 3_600 + i64::from(number) * 37 % (3 * 86_400);
        let asked =
            Asked { reserve_at: Some(NOW.0 + ahead), success_probability: Some(SuccessProbability::AtLeast(0.5)), ..Asked::default() };
        let submission = submission(nodes, asked);
        let situation = situation(site, &submission);
        let decision = decide(&situation);
        let (mut record, mut changes) = (decision.record(&situation, 7), decision.changes());
        if let Some(written) = record.written.as_mut().filter(|_| number.is_multiple_of(10)) {
            // As if jobs had waited less when it was submitted: it has to be moved.
            changes.begin = Some(NOW + Seconds(ahead - 30));
            written.begin = changes.begin.map(|begin| begin.0);
        }
        let comment = record.to_json().unwrap();
        let job = ReservedJob {
            id: JobId(number),
            user: UserId(USER),
            partition: Some("batch".to_owned()),
            account: None,
            qos: None,
            size: Size { nodes, cpus: nodes * 4 },
            whole_nodes: true,
            limit: changes.limit,
            shortest_limit: None,
            eligible: changes.begin.map(|begin| begin.max(NOW + Seconds(1))),
            started: None,
            is_blocked: false,
            is_requeued: false,
            record,
        };
        (changes.hold_until.is_some()).then_some((job, comment))
    };
    (0..).filter_map(job).take(JOBS as usize).collect()
}

/// How many are deferred, and of how many something is to be changed.
fn gone_through(jobs: &[(ReservedJob, String)], site: &Snapshot<Vec<u8>>) -> (usize, usize) {
    let (mut deferred, mut to_change) = (0, 0);
    for (job, comment) in jobs {
        let job = ReservedJob { record: Record::parse(comment).unwrap(), ..job.clone() };
        let found = upkeep(&job, site, NOW, Seconds(30));
        deferred += usize::from(found.state == ReservationState::Deferred);
        to_change += usize::from(found.wanted.is_some());
    }
    (deferred, to_change)
}

fn benchmark(criterion: &mut Criterion) {
    let site = site();
    let jobs = deferred(&site);
    assert_eq!(jobs.len(), JOBS as usize);
    // It measures what it says: all of them are deferred, and are held against their forecasts,
    // by which those are to be moved that are as if jobs had waited less.
    let (deferred, to_change) = gone_through(&jobs, &site);
    assert_eq!(deferred, JOBS as usize, "jobs that are not deferred");
    assert!((JOBS as usize / 20..JOBS as usize / 5).contains(&to_change), "{to_change} are to be moved");
    println!("{deferred} deferred reservations, {to_change} to be changed");
    criterion.bench_function("10,000 deferred reservations", |bencher| {
        bencher.iter(|| black_box(gone_through(&jobs, &site)));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = benchmark
}
criterion_main!(benches);
