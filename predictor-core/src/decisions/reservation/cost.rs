//! What a reservation costs: the time that a job has its nodes before the reserved time, because it
//! started early, times its nodes (Nurmi, Wolski and Brevik 2008, 4.1 and table 3).

use super::trajectory::TrajectoryPoint;
use job_types::options::EarlyStart;
use job_types::time::{Seconds, UnixTime};

/// What a reservation costs beyond the job itself, in node-seconds. Nothing is paid by a job that
/// never has its nodes before the reserved time, nor by one that runs as soon as it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReservationCost {
    /// The most that it can cost: the job starts the moment that it becomes eligible.
    pub most_node_seconds: u64,
    /// What it costs in the mean of the forecast waits.
    pub expected_node_seconds: u64,
}

impl ReservationCost {
    /// The cost of a job of so many nodes that becomes eligible at a point of the trajectory of the
    /// reserved time.
    #[must_use]
    pub fn of(point: &TrajectoryPoint, reserved: UnixTime, early_start: EarlyStart, nodes: u32) -> ReservationCost {
        if early_start == EarlyStart::Run {
            return ReservationCost::default();
        }
        let node_seconds = |time: Seconds| u64::from(nodes) * u64::try_from(time.0).unwrap_or(0);
        ReservationCost { most_node_seconds: node_seconds(reserved - point.begin), expected_node_seconds: node_seconds(point.mean_early) }
    }

    /// The most that it can cost, in node-hours.
    #[must_use]
    pub fn most_node_hours(&self) -> f64 {
        self.most_node_seconds as f64 / 3_600.0
    }

    /// What it costs in the mean, in node-hours.
    #[must_use]
    pub fn expected_node_hours(&self) -> f64 {
        self.expected_node_seconds as f64 / 3_600.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::reservation::trajectory::{Begins, Reservable, latest_point, trajectory};
    use crate::forecasts::forecast::{Association, JobShape, Moment, PERCENTILES, UNBOUNDED_S, WaitForecast, WaitForecaster};
    use job_types::number::{PartitionIndex, UserId};
    use job_types::record::WaitSource;
    use job_types::size::Size;

    const NOW: UnixTime = UnixTime(1_000_000);

    /// The percentiles of each wait.
    struct Waits([u32; PERCENTILES]);

    impl WaitForecaster for Waits {
        fn wait(&self, _job: &JobShape, _moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
            Some(WaitForecast { source: WaitSource::Qbets, class: None, jobs: 100, median: Seconds::ZERO, bounds: &self.0 })
        }

        fn association(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>) -> Association {
            Association::default()
        }
    }

    fn reservable(forecasts: &Waits) -> Reservable<'_, Waits> {
        let shape = JobShape {
            user: UserId(1),
            association: Association::default(),
            partition: PartitionIndex(0),
            size: Size { nodes: 4, cpus: 4 },
            limit: Some(Seconds(3_600)),
        };
        Reservable { forecasts, shape, now: Moment::present(NOW), longest_limit: None }
    }

    /// The cost of four nodes in two hours with a probability, where the percentiles of the wait
    /// are given in seconds.
    fn cost(percentile_s: impl FnMut(usize) -> u32, wanted: f64, early_start: EarlyStart) -> ReservationCost {
        let waits = Waits(std::array::from_fn(percentile_s));
        let point = latest_point(&reservable(&waits), Seconds(7_200), wanted, Begins::BeforeReserved).unwrap();
        ReservationCost::of(&point, NOW + Seconds(7_200), early_start, 4)
    }

    #[test]
    fn a_wait_that_is_certain_costs_the_same_at_the_most_and_in_the_mean() {
        // Every wait is 0 s, and the job becomes eligible one step of 30 s before its reserved
        // time.
        let cost = cost(|_| 0, 0.9, EarlyStart::Wait);
        assert_eq!(cost, ReservationCost { most_node_seconds: 120, expected_node_seconds: 120 });
    }

    #[test]
    fn the_expected_cost_is_the_mean_over_the_percentiles_of_the_time_that_is_left() {
        // The percentile p is at 30 p seconds, so that 0.5 are had 1,500 s before the time. There
        // 1,470 s, 1,440 s, ..., 0 s are left at the percentiles 1 to 50, and nothing beyond them:
        // 36,750 s over the 99 percentiles are 371.2 s, on four nodes 371 x 4 node-seconds.
        let cost = cost(|place| 30 * (place as u32 + 1), 0.5, EarlyStart::Wait);
        assert_eq!(cost, ReservationCost { most_node_seconds: 4 * 1_500, expected_node_seconds: 4 * 371 });
    }

    #[test]
    fn waits_without_a_bound_leave_no_time_early() {
        // 50 percentiles are without a wait, the others have no bound.
        let cost = cost(|place| if place < 50 { 0 } else { UNBOUNDED_S }, 0.5, EarlyStart::Wait);
        assert_eq!(cost, ReservationCost { most_node_seconds: 120, expected_node_seconds: 60 });
    }

    #[test]
    fn a_job_that_runs_as_soon_as_it_has_its_nodes_costs_nothing_more() {
        assert_eq!(cost(|_| 600, 0.9, EarlyStart::Run), ReservationCost::default());
    }

    #[test]
    fn a_later_begin_never_costs_more() {
        let waits = Waits(std::array::from_fn(|place| 90 * place as u32));
        let points = trajectory(&reservable(&waits), NOW + Seconds(7_200));
        let costs = points.iter().map(|point| ReservationCost::of(point, NOW + Seconds(7_200), EarlyStart::Wait, 1));
        let costs: Vec<_> = costs.map(|cost| (cost.most_node_seconds, cost.expected_node_seconds)).collect();
        assert_eq!(costs.len(), 240);
        assert!(costs.windows(2).all(|pair| pair[1].0 < pair[0].0 && pair[1].1 <= pair[0].1), "{costs:?}");
        assert!(costs.iter().all(|(most, expected)| expected <= most));
    }
}
