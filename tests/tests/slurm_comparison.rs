//! The engine's model of Slurm's schedulers against Slurm itself.

use end_to_end::comparison::{Difference, Happened, Recording, Replay, Site, replay, run, submission_priorities, submissions};
use end_to_end::skipped;

fn difference(site: &Site, happened: &[Happened], which: Replay) -> Difference {
    let real: Vec<i64> = happened.iter().map(|job| job.start_seconds).collect();
    Difference::of(&replay(site, happened, which), &real)
}

/// Bounds that the model keeps and that first come first served and EASY do not. Where a job starts a second earlier or later than it did, others fit beside
/// it, so that single jobs start at quite another time, as they also do when Slurm itself is run twice; docs/simulation.md has figures.
const MEDIAN_BOUND_S: f64 = 12.0;
const P95_BOUND_S: f64 = 75.0;

fn check(site: &Site, happened: &[Happened]) {
    let by_model = submission_priorities(site, happened);
    let equal = by_model.iter().zip(happened).filter(|(model, job)| (*model - i64::from(job.submission_priority)).abs() <= 1);
    assert!(10 * equal.count() >= 9 * happened.len(), "priorities at submission: {by_model:?}, {happened:?}");
    for which in Replay::ALL {
        let difference = difference(site, happened, which);
        println!("{}: {difference:?}", which.name());
        let keeps_bounds = difference.median_s <= MEDIAN_BOUND_S && difference.p95_s <= P95_BOUND_S;
        assert_eq!(keeps_bounds, matches!(which, Replay::Slurm | Replay::SlurmByCounting), "{}: {difference:?}", which.name());
    }
}

#[test]
fn the_model_starts_the_jobs_of_a_recorded_run_when_slurm_did() {
    let recording: Recording = serde_json::from_str(include_str!("../data/slurm-22.05.8-60-jobs.json")).unwrap();
    check(&Site::read(recording.site), &recording.jobs);
}

#[test]
fn the_model_starts_jobs_when_slurm_does() {
    if skipped() {
        return;
    }
    let cluster = Site::up();
    let mut site = Site::of(&cluster);
    // Submitted within half a minute, so that most of them wait for long and their order counts.
    let planned = submissions(60, 7, 0.5, 3.0);
    let happened = run(&cluster, &mut site, &planned, |submitted, ended| println!("{submitted} submitted, {ended} ended"));

    check(&site, &happened);
}
