//! The probability trajectory of a reservation.

use job_types::options::SuccessProbability;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{DecisionInputs, LONGEST_AHEAD, Reservable, ReservationCost, trajectory};
use predictor_core::forecasts::forecast::Moment;
use serde::Serialize;

use crate::situation::{Situation, shape_of};

/// Most points of a trajectory in a report.
const MOST_POINTS: usize = 60;

/// The probability of having the nodes at the reserved time, by when the job becomes eligible
/// (Nurmi, Wolski and Brevik 2008, figure 3).
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TrajectoryReport {
    /// In the order of time.
    pub points: Vec<PointReport>,
}

/// One point of a trajectory.
#[derive(Debug, Serialize)]
pub struct PointReport {
    /// When the job becomes eligible, in Unix seconds.
    pub begin: i64,
    /// The time limit that reaches to the end of the reservation, in seconds.
    pub padded_limit_s: i64,
    /// The probability.
    pub probability: f64,
    #[serde(flatten)]
    /// What it costs.
    pub cost: CostReport,
}

/// What a reservation costs beyond the job itself.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CostReport {
    /// At most.
    pub most_node_hours: f64,
    /// As forecast.
    pub expected_node_hours: f64,
}

impl From<ReservationCost> for CostReport {
    fn from(cost: ReservationCost) -> Self {
        let rounded = |node_hours: f64| (node_hours * 1e3).round() / 1e3;
        Self { most_node_hours: rounded(cost.most_node_hours()), expected_node_hours: rounded(cost.expected_node_hours()) }
    }
}

impl TrajectoryReport {
    /// Computes the trajectory of a job of `size` with a limit, as decided, at evenly spaced times.
    /// `None` if no reservation is asked for or the time can't be reserved.
    pub fn of(situation: &Situation<'_>, decided: Option<(Size, Option<Seconds>)>) -> Option<Self> {
        let DecisionInputs { submission, partition, policy, forecasts: snapshot, now, claimed, .. } = situation;
        let early_start = submission.asked.early_start.unwrap_or(policy.early_start);
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
        let (job, _) = job.beside(partition, reserved).ok()?;
        let wanted = submission.asked.success_probability.unwrap_or(SuccessProbability::AtLeast(policy.success_probability)).wanted();
        let points = trajectory(&job, reserved);
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        let points = points.iter().step_by(every).map(|point| PointReport {
            begin: point.begin.0,
            padded_limit_s: point.padded_limit.0,
            probability: job.probability_to_tell(reserved - *now, wanted, point.probability),
            cost: ReservationCost::of(point, reserved, early_start, size.nodes).into(),
        });
        Some(Self { points: points.collect() }).filter(|trajectory| !trajectory.points.is_empty())
    }
}
