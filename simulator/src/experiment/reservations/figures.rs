//! What the pictures of Nurmi, Wolski and Brevik 2008 show, on a log that is replayed: how stable
//! the bounds of QBETS are beside the waits (figure 2), and a probability trajectory (figure 4).

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};
use published_methods::varq::{Point, ReservationRequest, Varq};

use super::super::expected_run_times::waiting_job;
use super::super::{ExperimentError, easy};
use crate::engine::policy::AsSubmitted;
use crate::engine::{Job, Machine, simulate};

/// How long the time is that figure 2 shows: a month of February.
const SHOWN: Seconds = Seconds(28 * 86_400);

/// The percentile of the bound in figure 2.
const PERCENT: u8 = 95;

/// The reservation of figure 4: a job of four nodes and an hour, twelve hours ahead.
const TRAJECTORY_PROCESSORS: u32 = 4;
const TRAJECTORY_LIMIT: Seconds = Seconds(3_600);
const TRAJECTORY_AHEAD: Seconds = Seconds(43_200);

/// A wait beside its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundedWait {
    /// The submission.
    pub submit: UnixTime,
    /// The wait.
    pub wait: Seconds,
    /// The bound on its 95th percentile, from what was known at the submission; `None` while too
    /// few waits were.
    pub bound: Option<Seconds>,
}

/// What the pictures show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationFigures {
    /// The waits of 28 days from the first submission of the window on, of the jobs of one class:
    /// that which had most jobs in that time, as the classes were at its end.
    pub waits: Vec<BoundedWait>,
    /// When the trajectory is made: at the last submission of that time.
    pub now: UnixTime,
    /// The trajectory of a job of four processors and an hour, reserved twelve hours ahead.
    pub trajectory: Vec<Point>,
}

/// The figures of a log that is replayed without reservations, from job `from` on (counted from 1).
///
/// # Errors
///
/// [`ExperimentError`] where `from` lies behind the last job, or a job is larger than the machine.
pub fn reservation_figures(jobs: &[Job], processors: u32, from: usize) -> Result<ReservationFigures, ExperimentError> {
    let first = from.saturating_sub(1);
    let Some(begin) = jobs.get(first).map(|job| job.submit) else {
        return Err(ExperimentError::TooFewJobs { found: jobs.len(), wanted: from });
    };
    let jobs = jobs.get(..jobs.partition_point(|job| job.submit <= begin + SHOWN)).unwrap_or_default();
    let records = simulate(jobs, &Machine::new(processors), &mut easy(), &mut AsSubmitted)?;
    let mut starts: Vec<_> = jobs.iter().zip(&records).collect();
    starts.sort_by_key(|(_, record)| record.start);
    let mut starts = starts.into_iter().peekable();
    let (mut varq, mut waits) = (Varq::new(), Vec::new());
    for (job, record) in jobs.iter().zip(&records).skip(first) {
        while let Some((started, record)) = starts.next_if(|(_, record)| record.start <= job.submit) {
            varq.observe(&waiting_job(started, record.eligible), record.wait());
        }
        let bound = varq.bound(&waiting_job(job, job.submit), PERCENT);
        waits.push((job, BoundedWait { submit: job.submit, wait: record.wait(), bound }));
    }
    let classes: Vec<_> = waits.iter().map(|(job, _)| (job.queue, varq.class(&waiting_job(job, job.submit)))).collect();
    let mut jobs_of_class: BTreeMap<_, usize> = BTreeMap::new();
    classes.iter().for_each(|class| *jobs_of_class.entry(*class).or_default() += 1);
    let (queue, largest) = jobs_of_class.into_iter().max_by_key(|(_, jobs)| *jobs).map(|(class, _)| class).unwrap_or_default();
    let waits = waits.into_iter().zip(classes).filter(|(_, class)| *class == (queue, largest)).map(|((_, wait), _)| wait).collect();
    let now = jobs.last().map_or(begin, |job| job.submit);
    let job = waiting_job(&Job { processors: TRAJECTORY_PROCESSORS, estimate: TRAJECTORY_LIMIT, queue, ..Job::default() }, now);
    let longest_limit = jobs.iter().map(|job| job.estimate).max();
    let trajectory = varq.trajectory(&ReservationRequest { job: &job, now, reserved: now + TRAJECTORY_AHEAD, longest_limit });
    Ok(ReservationFigures { waits, now, trajectory })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::jobs;
    use super::*;

    #[test]
    fn the_waits_stand_beside_bounds_and_the_trajectory_ends_before_the_reserved_time() {
        let jobs = jobs();
        let found = reservation_figures(&jobs, 64, 301).unwrap();
        assert!(!found.waits.is_empty() && found.waits.iter().all(|wait| wait.submit >= jobs[300].submit));
        assert!(found.waits.iter().any(|wait| wait.bound.is_some()));
        let last = found.trajectory.last().unwrap();
        assert_eq!((last.begin, last.padded_limit), (found.now + Seconds(43_170), Seconds(3_630)));
        assert_eq!(reservation_figures(&jobs, 64, 901), Err(ExperimentError::TooFewJobs { found: 900, wanted: 901 }));
    }
}
