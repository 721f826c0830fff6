//! The probability trajectory of a reservation.

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::{LONGEST_AHEAD, Reservable, Situation, trajectory};
use predictor_core::forecast::Moment;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;

use super::shape_of;

/// Most points of a trajectory in a report.
const MOST_POINTS: usize = 60;

/// The probability of having the nodes at the reserved time, by when the job becomes eligible
/// (Nurmi, Wolski and Brevik 2008, figure 3).
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct TrajectoryReport {
    pub(crate) points: Vec<PointReport>,
}

/// One point of a distribution.
#[derive(Debug, Serialize)]
pub(crate) struct PointReport {
    pub(crate) begin: i64,
    pub(crate) padded_limit_s: i64,
    pub(crate) probability: f64,
}

impl TrajectoryReport {
    /// For a job of `size` with a limit, as decided, at evenly spaced times; `None` where no
    /// reservation is asked for or the time is none that can be reserved.
    pub(crate) fn of(situation: &Situation<'_, Snapshot<Vec<u8>>>, decided: Option<(Size, Option<Seconds>)>) -> Option<Self> {
        let Situation { submission, partition, forecasts: snapshot, now, claimed, .. } = situation;
        let reserved = UnixTime(submission.asked.reserve_at?);
        if reserved <= *now || reserved - *now > LONGEST_AHEAD {
            return None;
        }
        let (size, limit) = decided.unwrap_or_else(|| (submission.size(partition), submission.limit_in(partition)));
        let job = Reservable {
            forecasts: *snapshot,
            shape: shape_of(situation, size, limit),
            now: Moment { now: *now, at: *now, claimed: *claimed },
            longest_limit: situation.bounds.longest_limit(size).map(|longest| longest.value),
        };
        let points = trajectory(&job, reserved);
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        let points = points.iter().step_by(every).map(|point| PointReport {
            begin: point.begin.0,
            padded_limit_s: point.padded_limit.0,
            probability: point.probability,
        });
        Some(Self { points: points.collect() }).filter(|trajectory| !trajectory.points.is_empty())
    }
}
