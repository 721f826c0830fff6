//! What is forecast must not depend on what has not happened yet.

use predictor_core::past::{PastJob, Sweep, events};
use predictor_core::size::Size;
use predictor_core::time::{Seconds, UnixTime};

use super::methods::{self, Method};
use super::{BINS, Replay};

const JOBS: i64 = 760;
/// The first row of the test part: enough have started by then to train trees on.
const FIRST: usize = 640;

/// A job every minute of some users who come back with like jobs; waits and run times are of all lengths.
fn job(index: i64) -> PastJob {
    let scattered = index * 7_919 % 10_007;
    let eligible = UnixTime(1_000_000_000 + 60 * index);
    let start = eligible + Seconds(if scattered % 3 == 0 { 0 } else { scattered % 4_000 });
    PastJob {
        user: (scattered % 5) as u32,
        account: 0,
        partition: (scattered % 2) as u16,
        qos: 0,
        size: Size { nodes: 1, cpus: 1 << (scattered % 4) },
        limit: Some(Seconds(600 + 600 * (scattered % 5))),
        eligible,
        start: Some(start),
        end: Some(start + Seconds(1 + scattered % 2_000)),
        suspended: Seconds::ZERO,
    }
}

fn replay(jobs: &[PastJob]) -> Replay {
    Replay { past: Sweep::over(jobs, 64, BINS), events: events(jobs), test: FIRST..jobs.len(), seed: 1 }
}

#[test]
fn no_forecast_changes_when_the_future_does() {
    let jobs: Vec<PastJob> = (0..JOBS).map(job).collect();
    let marker = jobs[700].eligible;
    // Whatever happens after the marker happens differently: starts and ends are later, and other jobs arrive.
    let changed: Vec<PastJob> = jobs
        .iter()
        .map(|job| {
            let later = |moment: UnixTime| if moment > marker { moment + Seconds(50_000) } else { moment };
            let cpus = if job.eligible > marker { 32 } else { job.size.cpus };
            PastJob { start: job.start.map(later), end: job.end.map(later), size: Size { nodes: 1, cpus }, ..*job }
        })
        .collect();
    let [as_it_was, otherwise] = [&jobs, &changed].map(|jobs| methods::forecast_all(&replay(jobs), &|_, _| ()).unwrap());
    let before = FIRST..701;
    assert_eq!(as_it_was.len(), 6);
    for (one, other) in as_it_was.iter().zip(&otherwise) {
        assert_eq!(one.method, other.method);
        assert_eq!(one.points_s[..before.len()], other.points_s[..before.len()], "{:?}", one.method);
        if matches!(one.method, Method::Best | Method::Qbets) {
            assert_eq!(one.bounds[..before.len()], other.bounds[..before.len()], "{:?}", one.method);
        }
        if one.method != Method::Zero {
            assert_ne!(one.points_s, other.points_s, "{:?} must notice what is different after the marker", one.method);
        }
    }
}
