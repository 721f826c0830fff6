//! Experiments on a made-up workload.

use std::collections::HashMap;

use super::*;
use crate::lublin::{self, Options as Model};
use crate::swf;
use crate::workload::{Rules, read};
use job_types::number::UserId;
use job_types::time::UnixTime;

/// 900 jobs on 64 processors, well loaded.
pub(super) fn jobs() -> Vec<Job> {
    so_many_jobs(900)
}

/// Makes `jobs` jobs on 64 processors, well loaded.
pub(super) fn so_many_jobs(jobs: u64) -> Vec<Job> {
    let log = lublin::workload(&Model { jobs, processors: 64, users: 6, ..Model::default() }).unwrap();
    let mut text = Vec::new();
    swf::write(&mut text, &log.header, &log.records).unwrap();
    read(swf::Reader::new(text.as_slice()).unwrap(), Some(64), &Rules::default()).unwrap().jobs
}

fn options(method: Method, protocol: Protocol) -> Options {
    Options { method, protocol, from: 301, to: 900, ..Options::default() }
}

const MOLDING: Method = Method::Default(RequestedFeatures { molding: true, deferral: false, reservation: None, deadline: None });

const METHODS: [Method; 5] = [
    Method::PaperMolding,
    Method::PaperDeferral(Hold::Queue, Counted::FromSubmission),
    Method::PaperDeferral(Hold::SingleJobs, Counted::FromRelease),
    MOLDING,
    Method::Default(RequestedFeatures { molding: true, deferral: true, reservation: None, deadline: None }),
];

#[test]
fn the_same_seed_gives_the_same_figures() {
    let jobs = jobs();
    for protocol in [Protocol::Paper, Protocol::WorkConserving] {
        for method in METHODS {
            let found = compare(&jobs, 64, &options(method, protocol)).unwrap();
            assert_eq!(found, compare(&jobs, 64, &options(method, protocol)).unwrap(), "{method:?}");
        }
    }
}

#[test]
fn the_default_has_no_job_cut_by_its_limit_where_work_is_conserved() {
    let jobs = jobs();
    for speed_up in [SpeedUpModel::Downey, SpeedUpModel::Amdahl] {
        let found = compare(&jobs, 64, &Options { speed_up, ..options(MOLDING, Protocol::WorkConserving) }).unwrap();
        assert!(found.changed.smaller + found.changed.larger > 0, "{found:?}");
        assert_eq!(found.changed.cut_by_limit, 0);
    }
}

#[test]
fn nobody_adopts_and_nothing_changes() {
    let jobs = jobs();
    for method in METHODS {
        let found = compare(&jobs, 64, &Options { adoption: 0.0, ..options(method, Protocol::WorkConserving) }).unwrap();
        assert_eq!((found.baseline, found.changed), (found.ours, Changed::default()));
        assert_eq!(found.unmolded_jobs, 600);
    }
}

#[test]
fn with_jitter_each_seed_compares_two_other_paths_of_the_same_jobs() {
    let jobs = jobs();
    let moved = |seed| jittered(&jobs, JITTER, seed).into_owned();
    let one = moved(1);
    assert!(one.is_sorted_by_key(|job| job.submit) && one != jobs && one != moved(2) && one == moved(1));
    let submitted: HashMap<u32, UnixTime> = jobs.iter().map(|job| (job.number, job.submit)).collect();
    for job in &one {
        let later = job.submit - submitted[&job.number];
        assert!((Seconds::ZERO..=JITTER).contains(&later), "{job:?}");
    }
    assert_eq!(one.len(), submitted.len());
    let baseline = |seed, jitter| {
        let asked = Options { adoption: 0.0, jitter, seed, ..options(MOLDING, Protocol::WorkConserving) };
        let found = compare(&jobs, 64, &asked).unwrap();
        assert_eq!((&found.baseline, found.changed), (&found.ours, Changed::default()), "nobody uses it");
        found.baseline.mean_response_s
    };
    assert_eq!(baseline(1, Seconds::ZERO), baseline(2, Seconds::ZERO));
    assert_ne!(baseline(1, JITTER), baseline(2, JITTER), "what chance moves is in the baseline as well");
}

#[test]
fn a_window_behind_the_last_job_is_refused() {
    let outcome = compare(&jobs(), 64, &Options { from: 901, ..options(MOLDING, Protocol::Paper) });
    assert_eq!(outcome, Err(ExperimentError::TooFewJobs { found: 900, wanted: 901 }));
}

/// Makes a burst of jobs on 64 processors: one that takes half of them for half a day, and twenty
/// that take all of them and come a second apart.
fn burst() -> Vec<Job> {
    let job = |submit: i64, processors: u32, run_time: i64, estimate: i64| Job {
        submit: UnixTime(submit),
        processors,
        run_time: Seconds(run_time),
        estimate: Seconds(estimate),
        user: UserId(1),
        executable: 1,
        ..Job::default()
    };
    std::iter::once(job(0, 32, 40_000, 40_000)).chain((1..=20).map(|second| job(second, 64, 1_000, 4_000))).collect()
}

#[test]
fn with_claims_a_burst_on_one_snapshot_does_not_run_for_the_same_processors() {
    let jobs = burst();
    let sizes = |claims: bool| {
        // The user of the burst has no past.
        let parts = Ablations { claims, first_runs: true, ..Ablations::default() };
        let options = Options { from: 2, to: 21, refresh: Seconds(3_600), parts, ..options(MOLDING, Protocol::WorkConserving) };
        let WithPolicy { records, .. } = with_policy(&mut easy(), &jobs, &Machine::new(64), 1, &options, &|_, _| ()).unwrap();
        records.iter().skip(1).map(|record| record.processors).collect::<Vec<u32>>()
    };
    let small = |sizes: &[u32]| sizes.iter().filter(|size| **size <= 32).count();
    let (with, without) = (sizes(true), sizes(false));
    assert_eq!(small(&without), 20, "everybody believes that the free half is theirs: {without:?}");
    assert!(small(&with) <= 2, "{with:?}");
}
