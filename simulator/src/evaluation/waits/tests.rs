//! What is forecast must not depend on what has not happened yet.

use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

use super::Replay;
use super::methods::{self, Method};
use crate::evaluation::Methods;

const JOBS: i64 = 760;
/// The first job of the test part among those that ran: enough have started by then to train trees
/// on.
const FIRST: usize = 580;

/// A job every minute of some users who come back with like jobs; waits and run times are of all
/// lengths, some jobs are cancelled while they wait, and some get more than they asked for.
fn job(index: i64) -> EndedJob {
    let scattered = index * 7_919 % 10_007;
    let eligible = UnixTime(1_000_000_000 + 60 * index);
    let start = eligible + Seconds(if scattered % 3 == 0 { 0 } else { scattered % 4_000 });
    let is_cancelled = index % 11 == 5;
    EndedJob {
        submitted: WaitingJob {
            user: UserId((scattered % 5) as u32),
            account: AccountIndex(0),
            partition: PartitionIndex((scattered % 2) as u16),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 1 << (scattered % 4) },
            limit: Some(Seconds(600 + 600 * (scattered % 5))),
            eligible,
        },
        allocated: (scattered % 7 == 0).then_some(Size { nodes: 2, cpus: 16 }),
        start: (!is_cancelled).then_some(start),
        end: if is_cancelled { start } else { start + Seconds(1 + scattered % 2_000) },
        suspended: Seconds::ZERO,
    }
}

fn replay(jobs: &[EndedJob]) -> Replay {
    Replay::new(jobs, 64, FIRST..jobs.iter().filter(|job| job.start.is_some()).count(), 1)
}

#[test]
fn no_forecast_changes_when_the_future_does() {
    let jobs: Vec<EndedJob> = (0..JOBS).map(job).collect();
    let marker = jobs[700].submitted.eligible;
    // Whatever happens after the marker happens differently: starts and ends are later, and other
    // jobs arrive.
    let changed: Vec<EndedJob> = jobs
        .iter()
        .map(|job| {
            let later = |moment: UnixTime| if moment > marker { moment + Seconds(50_000) } else { moment };
            let cpus = if job.submitted.eligible > marker { 32 } else { job.submitted.size.cpus };
            let submitted = WaitingJob { size: Size { nodes: 1, cpus }, ..job.submitted };
            EndedJob { submitted, start: job.start.map(later), end: later(job.end), ..*job }
        })
        .collect();
    let [as_it_was, otherwise] = [&jobs, &changed].map(|jobs| methods::forecast_all(Methods::All, &replay(jobs), &|_, _| ()).unwrap());
    let before = FIRST..jobs[..701].iter().filter(|job| job.start.is_some()).count();
    assert!(before.len() > 50);
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

#[test]
fn a_job_that_is_cancelled_later_waits_in_the_queue_of_those_that_arrive_meanwhile_and_is_not_forecast() {
    let cancelled = EndedJob { start: None, end: UnixTime(1_000_000_090), ..job(0) };
    let ran = |index: i64| {
        let job = job(index);
        EndedJob { start: Some(job.submitted.eligible), end: job.submitted.eligible + Seconds(10), ..job }
    };
    let replay = Replay::new(&[cancelled, ran(1), ran(2)], 64, 0..2, 1);
    assert_eq!(replay.test_rows(), [1, 2]);
    let waiting: Vec<f32> = replay.test_rows().iter().map(|row| replay.past.table(*row).unwrap()[2]).collect();
    assert_eq!(
        waiting,
        [cancelled.submitted.size.cpus as f32, 0.0],
        "the second arrives 60 s and the third 120 s after the one cancelled at 90 s"
    );
}
