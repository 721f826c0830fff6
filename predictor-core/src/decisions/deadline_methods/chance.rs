//! Nodes that are shared in time, by what is known of run times: a job is taken where all jobs of a
//! node are done by their deadlines with the probability that is wanted.
//!
//! How long a job still runs is a distribution, and so is the share of a CPU that it needs, which
//! is that time over the time until its deadline (Yeo and Buyya 2006, equation 1): a mean and a
//! variance ([`NeededShare`]). The run time of one job says nothing of another's, so that the means
//! and variances of the jobs of a node add up, and the sum is taken to be normal. All shares fit
//! into the node with a probability if the mean does with so many standard deviations above it as
//! that probability has (Charnes and Cooper 1959, "Chance-Constrained Programming").
//!
//! Of the nodes on which they fit those are taken that need least, with the standard deviations
//! that are kept free: a forecast that was too short then harms few others, and what is spare is
//! given to the job. ([`libra`](super::libra), which takes estimates for sure, fills the fullest
//! nodes.)
//!
//! Nobody joins a job whose deadline has passed, as by [`libra_risk`](super::libra_risk).

use job_types::time::{Seconds, UnixTime};
use libm::erfc;
use std::f64::consts::SQRT_2;

use super::needed_share::NeededShare;
use super::node::NodeLoad;
use super::share::WHOLE_NODE;
use crate::forecasts::deadline_history::DeadlineHistory;

/// The most standard deviations that are asked for or looked at.
const MOST_DEVIATIONS: f64 = 8.0;

/// A job with a deadline for which nodes are looked for.
#[derive(Clone, Copy, Debug)]
pub struct UncertainJob<'a> {
    /// The job's run times in seconds with their probabilities, ascending.
    pub run_times: &'a [(f64, f64)],
    /// When the job can begin.
    pub begin: UnixTime,
    /// When the job is to be done.
    pub deadline: UnixTime,
    /// How many nodes the job needs, at least one.
    pub nodes: usize,
    /// How many CPUs the job needs on each of these nodes.
    pub cpus: u32,
    /// How likely it has to be that all on a node are done in time.
    pub bar: &'a Threshold<'a>,
}

/// How likely it has to be that all on a node are done in time.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<'a> {
    /// The probability that is wanted.
    wanted: f64,
    /// The one that is asked of a forecast, by how promises were kept.
    asked: f64,
    /// The number of standard deviations above its mean below which a normal distribution lies with
    /// the probability that is asked.
    deviations: f64,
    history: &'a DeadlineHistory,
}

impl<'a> Threshold<'a> {
    /// Builds the bar for a wanted probability from what jobs with deadlines have taught.
    #[must_use]
    pub fn new(wanted: f64, history: &'a DeadlineHistory) -> Self {
        let asked = history.asked(wanted);
        Self { wanted, asked, deviations: deviations(asked), history }
    }

    /// The probability that is wanted.
    #[must_use]
    pub fn wanted(&self) -> f64 {
        self.wanted
    }

    /// What jobs with deadlines have taught.
    #[must_use]
    pub fn history(&self) -> &'a DeadlineHistory {
        self.history
    }

    /// Returns the probability that users are told for a forecast one.
    fn told(&self, probability: f64) -> f64 {
        self.history.corrected(probability, self.wanted)
    }

    /// What a node needs, with the standard deviations that are kept free.
    fn need(&self, node: &NodeLoad) -> f64 {
        node.total_share + self.deviations.max(1.0) * node.variance.sqrt()
    }

    /// Leaves of nodes the `most` that need least.
    pub fn keep_roomiest(&self, nodes: &mut Vec<NodeLoad>, most: usize) {
        if nodes.len() > most && most > 0 {
            let mut needs: Vec<(f64, NodeLoad)> = nodes.iter().map(|node| (self.need(node), *node)).collect();
            needs.select_nth_unstable_by(most - 1, |one, other| one.0.total_cmp(&other.0));
            nodes.clear();
            nodes.extend(needs.into_iter().take(most).map(|(_, node)| node));
        }
    }
}

/// Whether there are nodes for a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnTimeProbability {
    /// There are enough nodes for the job.
    Taken {
        /// The probability with which all on the worst of them are done in time.
        probability: f64,
    },
    /// It would not even be likely enough with its CPUs to itself.
    Unlikely {
        /// The probability that the job alone is done in time.
        probability: f64,
    },
    /// Too few nodes are likely enough to have all their jobs done in time.
    TooFewNodes {
        /// The number of such nodes.
        suitable: u32,
    },
}

/// What is looked for on each node.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    share: NeededShare,
    deviations: f64,
    begin: UnixTime,
}

impl Wanted {
    fn fits(&self, node: &NodeLoad) -> bool {
        let needed = node.total_share + self.share.mean;
        let left = WHOLE_NODE - needed;
        // The squares, because a root would be most of what looking at thousands of nodes costs.
        let kept_free = self.deviations * self.deviations * (node.variance + self.share.variance);
        let fits = match self.deviations >= 0.0 {
            true => needed <= WHOLE_NODE && kept_free <= left * left,
            false => needed <= WHOLE_NODE || kept_free >= left * left,
        };
        fits && node.earliest_deadline > self.begin
    }
}

impl UncertainJob<'_> {
    /// The share of each of its CPUs that it needs.
    #[must_use]
    pub fn share(&self) -> NeededShare {
        NeededShare::of(self.run_times, Seconds::ZERO, self.deadline - self.begin)
    }

    /// The probability that it is done in time with its CPUs to itself.
    fn alone(&self) -> f64 {
        let left_s = (self.deadline - self.begin).0 as f64;
        self.run_times.iter().filter(|(run_s, _)| *run_s <= left_s).map(|(_, weight)| weight).sum()
    }

    fn wanted(&self) -> Wanted {
        Wanted { share: self.share().of_cpus(self.cpus), deviations: self.bar.deviations, begin: self.begin }
    }

    /// Whether it is taken where these are the nodes that are not out of the question.
    #[must_use]
    pub fn is_taken(&self, nodes: &[NodeLoad]) -> bool {
        if nodes.len() < self.nodes || self.alone() < self.bar.asked {
            return false;
        }
        let wanted = self.wanted();
        nodes.iter().filter(|node| wanted.fits(node)).take(self.nodes).count() == self.nodes
    }

    /// Chooses among `count` nodes whose loads are computed as they are looked at; of a node that
    /// is out of the question there is none. `chosen` gets their places, ascending, or nothing
    /// where there are too few.
    pub fn choose_among(&self, count: u32, load: impl Fn(u32) -> Option<NodeLoad>, chosen: &mut Vec<u32>) -> OnTimeProbability {
        chosen.clear();
        let alone = self.alone();
        if alone.is_nan() || alone < self.bar.asked {
            return OnTimeProbability::Unlikely { probability: self.bar.told(alone.clamp(0.0, 1.0)) };
        }
        let wanted = self.wanted();
        let suitable = |place: u32| {
            let node = load(place).filter(|node| wanted.fits(node))?;
            Some((self.bar.need(&node), place))
        };
        let mut suitable: Vec<(f64, u32)> = (0..count).filter_map(suitable).collect();
        if suitable.len() < self.nodes {
            return OnTimeProbability::TooFewNodes { suitable: u32::try_from(suitable.len()).unwrap_or(u32::MAX) };
        }
        if suitable.len() > self.nodes && self.nodes > 0 {
            suitable.select_nth_unstable_by(self.nodes - 1, |one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            suitable.truncate(self.nodes);
        }
        chosen.extend(suitable.into_iter().map(|(_, place)| place));
        chosen.sort_unstable();
        let fitting = chosen.iter().filter_map(|place| load(*place)).map(|node| fit(&node, wanted.share));
        let probability = fitting.fold(alone.min(1.0), f64::min).max(self.bar.asked);
        OnTimeProbability::Taken { probability: self.bar.told(probability) }
    }
}

/// The probability that all shares of a node fit into it with another one.
fn fit(node: &NodeLoad, share: NeededShare) -> f64 {
    let left = WHOLE_NODE - node.total_share - share.mean;
    let deviation = (node.variance + share.variance).sqrt();
    if deviation > 0.0 { below(left / deviation) } else { f64::from(u8::from(left >= 0.0)) }
}

/// The probability that a normal distribution is below so many standard deviations above its mean.
fn below(deviations: f64) -> f64 {
    erfc(-deviations / SQRT_2) / 2.0
}

/// Returns the number of standard deviations above its mean below which a normal distribution lies
/// with the probability.
fn deviations(probability: f64) -> f64 {
    let (mut low, mut high) = (-MOST_DEVIATIONS, MOST_DEVIATIONS);
    // Halved until nothing is left of the difference but rounding.
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if below(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: UnixTime = UnixTime(1_000);

    /// Returns the nodes that a job with a deadline in 1,000 s gets if a probability of 0.9 is
    /// wanted.
    fn chosen(nodes: &[NodeLoad], run_times: &[(f64, f64)], count: usize) -> (OnTimeProbability, Vec<u32>) {
        let mut chosen = vec![7; 3];
        let history = DeadlineHistory::default();
        let bar = Threshold::new(0.9, &history);
        let job = UncertainJob { run_times, begin: NOW, deadline: NOW + Seconds(1_000), nodes: count, cpus: 1, bar: &bar };
        let chance = job.choose_among(nodes.len() as u32, |place| nodes.get(place as usize).copied(), &mut chosen);
        assert_eq!(job.is_taken(nodes), matches!(chance, OnTimeProbability::Taken { .. }));
        (chance, chosen)
    }

    fn load(shares: &[(f64, f64)]) -> NodeLoad {
        let mut load = NodeLoad::IDLE;
        shares.iter().for_each(|&(mean, variance)| load.add_uncertain(NeededShare { mean, variance }, NOW + Seconds(5_000)));
        load
    }

    #[test]
    fn the_less_sure_shares_are_the_more_of_a_node_is_kept_free() {
        let run_times = [(200.0, 1.0)];
        assert!(matches!(chosen(&[load(&[(0.7, 0.0)])], &run_times, 1).0, OnTimeProbability::Taken { .. }));
        assert_eq!(chosen(&[load(&[(0.7, 0.01)])], &run_times, 1), (OnTimeProbability::TooFewNodes { suitable: 0 }, vec![]));
        assert!(matches!(chosen(&[load(&[(0.7, 0.0025)])], &run_times, 1).0, OnTimeProbability::Taken { .. }));
    }

    #[test]
    fn the_nodes_that_need_least_are_taken() {
        let nodes = [load(&[(0.3, 0.0)]), load(&[(0.1, 0.0)]), load(&[]), load(&[(0.1, 0.09)])];
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 1).1, [2]);
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 3).1, [0, 1, 2]);
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 5), (OnTimeProbability::TooFewNodes { suitable: 4 }, vec![]));
    }

    #[test]
    fn nobody_joins_a_job_whose_deadline_has_passed() {
        let mut late = NodeLoad::IDLE;
        late.add_uncertain(NeededShare::sure(0.0), NOW);
        assert_eq!(chosen(&[late], &[(100.0, 1.0)], 1).0, OnTimeProbability::TooFewNodes { suitable: 0 });
    }

    #[test]
    fn a_job_that_is_not_likely_done_even_alone_is_refused_for_that() {
        let (chance, _) = chosen(&[load(&[])], &[(500.0, 0.6), (2_000.0, 0.4)], 1);
        assert_eq!(chance, OnTimeProbability::Unlikely { probability: 0.6 });
        assert!(matches!(chosen(&[load(&[])], &[(500.0, 0.95), (2_000.0, 0.05)], 1).0, OnTimeProbability::Taken { .. }));
        assert!(matches!(chosen(&[load(&[])], &[], 1).0, OnTimeProbability::Unlikely { .. }), "nothing is known");
    }

    #[test]
    fn standard_deviations_are_those_of_the_normal_distribution() {
        for (probability, expected) in [(0.5, 0.0), (0.8, 0.841_621), (0.9, 1.281_552), (0.95, 1.644_854), (0.05, -1.644_854)] {
            assert!((deviations(probability) - expected).abs() < 1e-6, "{probability}");
        }
    }

    proptest! {
        /// Whatever nodes and run times there are: who is taken is told at least what is wanted,
        /// and each of the nodes has room for it.
        #[test]
        fn who_is_taken_is_told_at_least_what_is_wanted(
            loads in prop::collection::vec((0.0..1.2_f64, 0.0..0.2_f64), 0..20),
            run_times in prop::collection::vec((1.0..2_000.0_f64, 0.01..1.0_f64), 1..8),
            count in 1_usize..5,
        ) {
            let nodes: Vec<NodeLoad> = loads.iter().map(|load_of| load(&[*load_of])).collect();
            let mut run_times = run_times;
            run_times.sort_by(|one, other| one.0.total_cmp(&other.0));
            let sum: f64 = run_times.iter().map(|(_, weight)| weight).sum();
            run_times.iter_mut().for_each(|(_, weight)| *weight /= sum);
            let (chance, places) = chosen(&nodes, &run_times, count);
            match chance {
                OnTimeProbability::Taken { probability } => {
                    prop_assert!((0.9..=1.0).contains(&probability) && places.len() == count && places.is_sorted());
                    prop_assert!(places.iter().all(|place| nodes[*place as usize].total_share < 1.0 + 1e-6));
                }
                OnTimeProbability::Unlikely { probability } => prop_assert!(probability < 0.9 && places.is_empty()),
                OnTimeProbability::TooFewNodes { suitable } => prop_assert!((suitable as usize) < count && places.is_empty()),
            }
        }
    }
}
