use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

use job_types::policy::Policy;
use job_types::size::Unit;
use learning::run_times::ArrivingJob;
use learning::sweep::EventKind;
use predictor_core::forecasts::forecast::{RunTimeForecaster, RunTimeQuestion};
use predictor_core::snapshot::Snapshot;

use super::shipped::Shipped;
use super::*;
use crate::experiment::{PublishedSite, Site};

/// 600 jobs of four users, each of whom repeats two kinds of job with run times that vary a little;
/// all follow from the index.
fn workload() -> Workload {
    let job = |index: i64| {
        let user = index % 4;
        let long = (index / 4) % 5 == 0;
        let run_time = if long { 3_000 + 100 * user } else { 200 + 10 * user } + index * 7_919 % 37;
        let (eligible, wait) = (index * 60, index * 31 % 400);
        let start = UnixTime(eligible + wait);
        EndedJob {
            submitted: WaitingJob {
                user: UserId(user as u32),
                account: AccountIndex(0),
                partition: PartitionIndex(0),
                qos: QosIndex(0),
                size: Size { nodes: 1 + user as u32, cpus: 1 + user as u32 },
                limit: Some(Seconds(if long { 3_600 } else { 600 })),
                eligible: UnixTime(eligible),
            },
            allocated: None,
            start: Some(start),
            end: start + Seconds(run_time),
            suspended: Seconds::ZERO,
        }
    };
    let jobs: Vec<EndedJob> = (0..600).map(job).collect();
    Workload { queue: jobs.clone(), jobs, left_out: 0, processors: 100, has_limits: true, queues: Vec::new() }
}

/// Point and ranges of each job of the test part that arrives up to `until`.
fn forecasts(workload: &Workload, method: Method, until: UnixTime) -> Vec<(usize, String)> {
    let events = events(&workload.jobs);
    let way = Way { jobs: &workload.jobs, events: &events, processors: workload.processors, test: 200..600, seed: 3 };
    let mut said = Vec::new();
    way.go(
        method,
        |forecast| {
            if workload.jobs[forecast.index].submitted.eligible <= until {
                said.push((forecast.index, format!("{:?} {:?}", forecast.prediction, forecast.distribution)));
            }
        },
        || {},
    );
    said
}

#[test]
fn no_forecast_changes_when_the_future_does() {
    let past = workload();
    let now = UnixTime(60 * 400);
    let mut other = past.clone();
    for job in &mut other.jobs {
        // What starts or ends later than now does so at another time.
        if job.start.is_some_and(|start| start > now) {
            job.start = job.start.map(|start| start + Seconds(5_000));
            job.end = job.end + Seconds(9_000);
        } else if job.end > now {
            job.end = job.end + Seconds(77_777);
        }
    }
    for method in Method::ALL {
        let (one, two) = (forecasts(&past, method, now), forecasts(&other, method, now));
        assert_eq!(one.len(), 201);
        assert_eq!(one, two, "{method:?}");
    }
    let everything = UnixTime(i64::MAX);
    assert_ne!(forecasts(&past, Method::Best, everything), forecasts(&other, Method::Best, everything), "the marker is there");
}

#[test]
fn the_forecast_that_is_scored_is_the_one_in_the_snapshot() {
    let site = Site { processors: 100, longest_limit: None, refresh: Seconds::MINUTE };
    let site = PublishedSite { site, policy: Policy::default(), partitions: 1 };
    let (mut workload, mut shipped) = (workload(), Shipped::default());
    // Some users have one job only.
    for (number, job) in workload.jobs.iter_mut().step_by(40).enumerate() {
        job.submitted.user = UserId(100 + number as u32);
    }
    let (mut compared, mut of_others) = (0, 0);
    for event in events(&workload.jobs) {
        let past = &workload.jobs[event.job as usize];
        let job = ArrivingJob::new(event.job, past);
        match event.kind {
            EventKind::Arrival => {
                let run_times = shipped.learner.published().iter().map(|(like, model)| (*like, (**model).clone())).collect();
                let snapshot = Snapshot::open(site.snapshot(event.at, &site.partitions(), run_times, None, None)).unwrap();
                let WaitingJob { user, partition, size, limit, .. } = past.submitted;
                let asked = RunTimeQuestion { user, partition, unit: Unit::Cpus, count: size.cpus, limit };
                let read = snapshot.run_time(&asked).map(|forecast| (forecast.jobs, forecast.within(limit)));
                let scored = shipped.predict(&job).map(|(_, ranges)| ranges);
                assert_eq!(read.as_ref().map(|(_, ranges)| ranges), scored.as_ref(), "job {}", event.job);
                compared += u32::from(scored.is_some());
                of_others += u32::from(read.is_some_and(|(jobs, _)| jobs == 0));
            }
            EventKind::Start => {}
            EventKind::End | EventKind::EndAtOnce => shipped.ended(&job, past),
        }
    }
    assert!(compared > 550 && of_others > 0, "{compared} compared, {of_others} of them by others' jobs");
}

#[test]
fn the_report_follows_from_the_seed_and_the_default_knows_its_users() {
    let options = RunTimeOptions { from: 201, to: 600, seed: 5, ..RunTimeOptions::default() };
    let report = evaluate_run_times(&workload(), &options, &|_, _| {}).unwrap();
    assert_eq!(report, evaluate_run_times(&workload(), &options, &|_, _| {}).unwrap());
    assert_eq!((report.test_jobs, report.from, report.to), (400, 201, 600));
    assert_eq!(report.coverage_percent["baseline"], 100.0);
    // One queue of sizes 1 to 4: its part is the whole.
    let [queue] = report.by_queue.as_slice() else { panic!("{:?}", report.by_queue) };
    assert_eq!((queue.part.jobs, &queue.part.aae_minutes), (400, &report.aae_minutes));
    assert_eq!((&queue.part.median_ae_minutes, &queue.part.pit_coverage), (&report.median_ae_minutes, &report.pit_coverage));
    assert_eq!(report.by_size.iter().map(|size| size.part.jobs).collect::<Vec<_>>(), [100, 300]);
    let inexpensive = evaluate_run_times(&workload(), &RunTimeOptions { methods: Methods::Inexpensive, ..options }, &|_, _| {}).unwrap();
    assert_eq!(inexpensive.aae_minutes.keys().copied().collect::<Vec<_>>(), ["baseline", "best", "last_two", "requested"]);
    assert_eq!(inexpensive.aae_minutes["best"], report.aae_minutes["best"]);
    assert!(report.aae_minutes["best"] < 2.0, "{:?}", report.aae_minutes);
    assert!(report.aae_minutes["best"] < report.aae_minutes["last_two"]);
    assert!(report.success_rate["best"] > 0.9 && report.coverage_percent["best"] < 30.0, "{report:?}");
}

#[test]
fn without_limits_the_requested_time_is_left_out() {
    let mut workload = workload();
    workload.has_limits = false;
    for job in &mut workload.jobs {
        job.submitted.limit = None;
    }
    let report =
        evaluate_run_times(&workload, &RunTimeOptions { from: 201, to: 600, seed: 5, ..RunTimeOptions::default() }, &|_, _| {}).unwrap();
    assert!(!report.aae_minutes.contains_key("requested"));
    assert!(report.notes.iter().any(|note| note.contains("no requested times")));
}

#[test]
fn a_log_that_is_too_short_says_so() {
    let error = evaluate_run_times(&workload(), &RunTimeOptions::default(), &|_, _| {}).unwrap_err();
    assert_eq!(error, EvaluationError::TooFewJobs { found: 600, wanted: 20_001 });
}
