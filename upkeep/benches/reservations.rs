//! Time to go through 10,000 deferred reservations: each record is read, and each job is looked at
//! with the forecasts of a snapshot, by trees over many groups of jobs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use criterion::{Criterion, criterion_group, criterion_main};
use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::options::{SuccessProbability, UserOptions};
use job_types::policy::Policy;
use job_types::record::Record;
use job_types::time::Seconds;
use made_up_site::{MadeUpSite, NOW, USER, batch, ended_job, enforcing, large_model, situation, submission};
use predictor_core::decisions::decide;
use predictor_core::decisions::limits::Applying;
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::forecasts::forecast::{Association, JobShape, Moment, WaitForecast, WaitForecaster};
use predictor_core::snapshot::Snapshot;
use std::cell::Cell;
use std::hint::black_box;
use upkeep::{QueuedJob, ReservationState, upkeep};

const JOBS: u32 = 10_000;

fn site() -> Snapshot<Vec<u8>> {
    let past = (0..6_000).map(|n| {
        let eligible = NOW - Seconds(40_000_000 - n * 6_000);
        ended_job(UserId(USER), eligible, 1 + (n % 16) as u32, 3_600, n * 37 % 100 * 60, 600)
    });
    MadeUpSite::new(NOW).partition(batch(enforcing())).ended_jobs(past).learnt(&large_model(NOW, 200_000)).snapshot()
}

/// Jobs of one to sixteen nodes, reserved for one hour to three days ahead, with their comments.
fn deferred(site: &Snapshot<Vec<u8>>) -> Vec<(QueuedJob, String)> {
    let job = |number: u32| {
        let nodes = 1 + number % 16;
        let ahead = 3_600 + i64::from(number) * 37 % (3 * 86_400);
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + ahead),
            success_probability: Some(SuccessProbability::AtLeast(0.5)),
            ..UserOptions::default()
        };
        let submission = submission(nodes, asked);
        let situation = situation(site, &submission);
        let decision = decide(&situation);
        let (record, changes) = (decision.record(&situation, 7), decision.changes());
        let comment = record.to_json().unwrap();
        let job = QueuedJob {
            partition: Some("batch".to_owned()),
            whole_nodes: true,
            eligible: changes.begin.map(|begin| begin.max(NOW + Seconds(1))),
            accounting_is_enforced: true,
            ..QueuedJob::as_recorded(JobId(number), UserId(USER), record)
        };
        (changes.hold_until.is_some()).then_some((job, comment))
    };
    (0..).filter_map(job).take(JOBS as usize).collect()
}

/// A snapshot that counts how often it is asked for forecasts.
struct Counting<'a> {
    snapshot: &'a Snapshot<Vec<u8>>,
    asked: Cell<usize>,
}

impl Site for Counting<'_> {
    fn partition(&self, name: &str) -> Option<Partition<'_>> {
        self.snapshot.partition(name)
    }

    fn default_partition(&self) -> Option<Partition<'_>> {
        self.snapshot.default_partition()
    }

    fn site_policy(&self) -> Policy {
        self.snapshot.site_policy()
    }

    fn accounting_limits(&self, user: UserId, account: Option<&str>, qos: Option<&str>, partition: PartitionIndex) -> Applying {
        self.snapshot.accounting_limits(user, account, qos, partition)
    }
}

impl WaitForecaster for Counting<'_> {
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
        self.asked.set(self.asked.get() + 1);
        self.snapshot.wait(job, moment)
    }

    fn association(&self, user: UserId, account: Option<&str>, qos: Option<&str>) -> Association {
        self.snapshot.association(user, account, qos)
    }
}

/// How many are deferred.
fn gone_through<S: Site + WaitForecaster>(jobs: &[(QueuedJob, String)], site: &S) -> usize {
    let mut deferred = 0;
    for (job, comment) in jobs {
        let job = QueuedJob { record: Record::parse(comment).unwrap(), ..job.clone() };
        let found = upkeep(&job, site, NOW, Seconds(30));
        deferred += usize::from(found.state == ReservationState::Deferred);
    }
    deferred
}

fn benchmark(criterion: &mut Criterion) {
    let site = site();
    let jobs = deferred(&site);
    // It measures what it says: all of them are deferred, and each is held against a forecast at
    // the least: none is passed over.
    for job in &jobs {
        let counting = Counting { snapshot: &site, asked: Cell::new(0) };
        assert_eq!(gone_through(std::slice::from_ref(job), &counting), 1, "job {} is not deferred", job.0.id.0);
        assert!(counting.asked.get() > 0, "job {} was passed over without a forecast", job.0.id.0);
    }
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
