//! The blend as it lives through the past: asked as jobs arrive, told as they start.

use super::bags::{BagNumber, Bags, first_that_count_as};
use super::outcomes::{ForecastOutcome, bounds};
use super::renewal::{FIRST, renewed};
use super::retraining::{Retrained, Retraining};
use crate::sweep::Arrivals;
use crate::training::Training;
use job_types::job::Job;
use job_types::time::UnixTime;
use predictor_core::forecasts::blend::{BoundTable, MEMBERS, Weights, blend, member_forecasts};
use predictor_core::forecasts::forecast::PERCENTILES;
use predictor_core::forecasts::levels::{KNOTS, Levels};
use predictor_core::forecasts::past::FEATURES;
use predictor_core::forecasts::trees::Forest;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// How far one outcome moves a level of the bounds, the first of its bag.
const LEVEL_STEP: f64 = 0.005;

/// How many jobs and outcomes the predictor keeps, and how often it is renewed. The settings are
/// the same for every log and cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Fewest started jobs to train on.
    pub first_training: usize,
    /// Most started jobs to train on, the latest.
    pub most_training: usize,
    /// Started jobs between two trainings.
    pub training_interval: usize,
    /// Outcomes that weights rest on, the latest.
    pub most_outcomes: usize,
    /// Effective number of the outcomes that bounds rest on, the latest of those: n of a bag of
    /// tasks count as the root of n.
    pub bounds_outcomes: usize,
    /// Outcomes between two renewals of the weights.
    pub weights_interval: usize,
    /// Outcomes between two renewals of the table of bounds.
    pub bounds_interval: usize,
    /// How the trees are trained.
    pub training: Training,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            first_training: 500,
            most_training: 100_000,
            training_interval: 1_000,
            most_outcomes: 20_000,
            bounds_outcomes: 4_000,
            weights_interval: 500,
            bounds_interval: 200,
            // No worse on SDSC-SP2 than twice as many trees at half the rate, in half the time.
            training: Training { trees: 100, leaves: 32, learning_rate: 0.1, feature_fraction: 0.4, ..Training::default() },
        }
    }
}

/// A forecast of the wait of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendedForecast {
    /// The point forecast in seconds.
    pub point_s: f64,
    /// The members' forecasts, as square roots of seconds.
    pub members: [f32; MEMBERS],
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending; `None` while there are too
    /// few outcomes.
    pub bounds_s: Option<[u32; PERCENTILES]>,
}

/// Fewest outcomes for bounds.
const FEWEST_OUTCOMES: usize = 200;

/// A job that was forecast and has not started.
#[serde_with::serde_as]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    members: [f32; MEMBERS],
    eligible: UnixTime,
    /// The bounds on the job's wait that were forecast; `None` where there were none.
    #[serde_as(as = "Option<[_; PERCENTILES]>")]
    bounds_s: Option<[u32; PERCENTILES]>,
    /// The bounds that the job has outwaited, one bit for each knot of [`KNOTS`].
    missed: u16,
    bag: BagNumber,
}

/// The default predictor of waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlendedWaits {
    settings: Settings,
    forests: Option<[Forest; 2]>,
    weights: Weights,
    levels: Levels,
    outcomes: VecDeque<ForecastOutcome>,
    table: BoundTable,
    /// Rows of the jobs that have started, in that order.
    started: VecDeque<u32>,
    pending: HashMap<u32, Pending>,
    /// When which bound of which pending job is outwaited.
    misses: BinaryHeap<Reverse<(i64, u32, u8)>>,
    until_training: usize,
    until_weights: usize,
    until_bounds: usize,
    bags: Bags,
}

impl BlendedWaits {
    /// A predictor that knows nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> BlendedWaits {
        BlendedWaits {
            settings,
            forests: None,
            weights: FIRST,
            levels: Levels::default(),
            outcomes: VecDeque::new(),
            table: BoundTable::default(),
            started: VecDeque::new(),
            pending: HashMap::new(),
            misses: BinaryHeap::new(),
            until_training: settings.first_training,
            until_weights: settings.weights_interval,
            until_bounds: FEWEST_OUTCOMES,
            bags: Bags::default(),
        }
    }

    /// Forecasts the wait of the job of `row`, which arrives; what follows will be held against it.
    pub fn arrive(&mut self, past: &Arrivals, row: usize) -> BlendedForecast {
        let (Some(job), Some(features)) = (past.job(row), past.features(row)) else {
            return BlendedForecast { point_s: 0.0, members: [0.0; MEMBERS], bounds_s: None };
        };
        let eligible = job.submitted().eligible;
        self.outwait(eligible);
        let forests = self.forests.as_ref().map(|[root, log]| [root.view(), log.view()]);
        let members = member_forecasts(features, forests);
        let root = blend(&members, &self.weights);
        let part = self.table.row(root);
        let bounds_s = self.table.bounds_s.get(part).copied();
        let knots_s = bounds_s.map(|bounds_s| KNOTS.map(|knot| bounds_s[((knot * 100.0).round() as usize).clamp(1, PERCENTILES) - 1]));
        let bag = self.bags.arrive(job.submitted());
        let pending = Pending { members, eligible, bounds_s, missed: 0, bag };
        if forests.is_some() {
            let row = row as u32;
            self.bags.await_one(bag);
            for (knot, bound_s) in (0u8..).zip(knots_s.into_iter().flatten()) {
                self.misses.push(Reverse((eligible.0 + i64::from(bound_s) + 1, row, knot)));
            }
            self.pending.insert(row, pending);
        }
        BlendedForecast { point_s: f64::from(root * root), members, bounds_s }
    }

    /// The point forecast in seconds for a job with these features. Nothing will be held against
    /// it.
    #[must_use]
    pub fn point_s(&self, features: &[f32]) -> f64 {
        let forests = self.forests.as_ref().map(|[root, log]| [root.view(), log.view()]);
        let root = blend(&member_forecasts(features, forests), &self.weights);
        f64::from(root * root)
    }

    /// Learns from the bounds that jobs have outwaited by `now`. A job that still waits beyond its
    /// bound has missed it, and waiting for its start to say so would make long waits count too
    /// late.
    pub fn outwait(&mut self, now: UnixTime) {
        while let Some(Reverse((at, row, knot))) = self.misses.peek().copied() {
            if at > now.0 {
                break;
            }
            self.misses.pop();
            if let Some(pending) = self.pending.get_mut(&row) {
                pending.missed |= 1 << knot;
                let step = LEVEL_STEP * self.bags.observe(pending.bag, usize::from(knot));
                self.levels.observe(usize::from(knot), 0.0, step);
            }
        }
    }

    /// The job of `row` has started.
    pub fn learn(&mut self, past: &Arrivals, row: usize) {
        let Some(wait) = past.job(row).and_then(Job::wait) else { return };
        let wait_s = wait.0 as f32;
        self.started.push_back(row as u32);
        if self.started.len() > self.settings.most_training {
            self.started.pop_front();
        }
        self.until_training = self.until_training.saturating_sub(1);
        let Some(pending) = self.take_pending(row) else { return };
        self.outwait(pending.eligible + wait);
        self.score(&pending, wait_s);
        let Pending { members, bag, .. } = pending;
        self.outcomes.push_back(ForecastOutcome { root: blend(&members, &self.weights), members, wait_s, bag });
        if self.outcomes.len() > self.settings.most_outcomes {
            self.outcomes.pop_front();
        }
        self.until_weights = self.until_weights.saturating_sub(1);
        self.until_bounds = self.until_bounds.saturating_sub(1);
        if self.until_weights == 0 {
            self.renew_weights();
        }
        if self.until_bounds == 0 {
            self.until_bounds = self.settings.bounds_interval;
            let outcomes = &*self.outcomes.make_contiguous();
            let latest = outcomes.iter().rev().map(|outcome| outcome.bag);
            let first = outcomes.len() - first_that_count_as(self.settings.bounds_outcomes as f64, latest);
            self.table = bounds(outcomes.get(first..).unwrap_or_default(), &self.levels);
        }
    }

    /// The job of a row leaves the queue without having started, as far as is known at `at`: it has
    /// waited at least so long.
    ///
    /// A bound that it has outwaited was missed and is counted as such already. One that it has not
    /// may have held or not: it counts as held with the probability that the forecast itself gives
    /// to that, from where the wait was broken off. To count the former alone would make every
    /// cancellation say that bounds are too low.
    pub fn leave(&mut self, row: usize, at: UnixTime) {
        self.outwait(at);
        let Some(Pending { eligible, bounds_s: Some(bounds_s), missed, bag, .. }) = self.take_pending(row) else { return };
        let waited_s = (at - eligible).0;
        let passed = bounds_s.partition_point(|bound_s| i64::from(*bound_s) < waited_s) as f64 / 100.0;
        for (knot, nominal) in KNOTS.into_iter().enumerate() {
            if missed & (1 << knot) == 0 {
                let step = LEVEL_STEP * self.bags.observe(bag, knot);
                self.levels.observe(knot, ((nominal - passed) / (1.0 - passed)).clamp(0.0, 1.0), step);
            }
        }
    }

    /// What was forecast for the job of a row is to be held against nothing.
    pub fn forget(&mut self, row: usize) {
        self.take_pending(row);
    }

    fn take_pending(&mut self, row: usize) -> Option<Pending> {
        let pending = self.pending.remove(&(row as u32))?;
        self.bags.settle_one(pending.bag);
        Some(pending)
    }

    fn score(&mut self, pending: &Pending, wait_s: f32) {
        let Some(bounds_s) = pending.bounds_s else { return };
        // The wait lies anywhere between these two parts of the forecast distribution, because
        // waits are whole seconds and many are equal.
        let below = bounds_s.partition_point(|bound_s| (*bound_s as f32) < wait_s) as f64 / 100.0;
        let up_to = (bounds_s.partition_point(|bound_s| *bound_s as f32 <= wait_s) + 1) as f64 / 100.0;
        for (knot, nominal) in KNOTS.into_iter().enumerate() {
            if pending.missed & (1 << knot) == 0 {
                let step = LEVEL_STEP * self.bags.observe(pending.bag, knot);
                self.levels.observe(knot, ((nominal - below) / (up_to - below)).clamp(0.0, 1.0), step);
            }
        }
    }

    fn renew_weights(&mut self) {
        self.until_weights = self.settings.weights_interval;
        self.weights = renewed(self.weights, self.outcomes.make_contiguous());
        for outcome in &mut self.outcomes {
            outcome.root = blend(&outcome.members, &self.weights);
        }
        self.until_bounds = 0;
    }

    /// What to train the forests on, if it is time to.
    pub fn retraining(&mut self, past: &Arrivals) -> Option<Retraining> {
        if self.until_training > 0 {
            return None;
        }
        self.until_training = self.settings.training_interval;
        let mut features = Vec::with_capacity(self.started.len() * FEATURES);
        let mut waits_s = Vec::with_capacity(self.started.len());
        for row in &self.started {
            let row = *row as usize;
            if let (Some(wait), Some(row)) = (past.job(row).and_then(Job::wait), past.features(row)) {
                features.extend_from_slice(row);
                waits_s.push(wait.0 as f32);
            }
        }
        Some(Retraining { features, waits_s, training: self.settings.training })
    }

    /// Takes forests that were trained.
    pub fn adopt(&mut self, retrained: Retrained) {
        self.forests = Some(retrained.forests);
    }

    /// How many started jobs the next training would rest on.
    #[must_use]
    pub fn jobs_known(&self) -> usize {
        self.started.len()
    }

    /// The forests in use, of the root and of the logarithm of the wait.
    #[must_use]
    pub fn forests(&self) -> Option<&[Forest; 2]> {
        self.forests.as_ref()
    }

    /// The weights in use.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The bounds in use.
    #[must_use]
    pub fn table(&self) -> &BoundTable {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::job::WaitingJob;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;

    /// How far the level of the median has risen once 2,500 jobs have outwaited it, of which each
    /// so many are of one user, and alike.
    fn risen_by(bag: u32) -> f64 {
        let mut waits = BlendedWaits::new(Settings::default());
        for row in 0..2_500 {
            let job = WaitingJob {
                user: UserId(row / bag),
                account: AccountIndex(0),
                partition: PartitionIndex(0),
                qos: QosIndex(0),
                size: Size { nodes: 1, cpus: 1 },
                limit: None,
                eligible: UnixTime(1_000),
            };
            let bag = waits.bags.arrive(&job);
            let pending = Pending { members: [0.0; MEMBERS], eligible: job.eligible, bounds_s: None, missed: 0, bag };
            waits.pending.insert(row, pending);
            waits.misses.push(Reverse((1_001, row, 4)));
        }
        waits.outwait(UnixTime(1_001));
        waits.levels.published()[4] - KNOTS[4]
    }

    #[test]
    fn a_bag_that_outwaits_a_bound_does_not_drive_its_level_to_the_end() {
        assert_eq!(risen_by(1), 0.5, "2,500 users");
        // About twice the root of 2,500, times half of the step.
        assert!((risen_by(2_500) - 0.25).abs() < 0.01, "{}", risen_by(2_500));
    }
}
