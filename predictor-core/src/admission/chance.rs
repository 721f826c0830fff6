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
use crate::deadline_history::DeadlineHistory;

/// The most standard deviations that are asked for or looked at.
const MOST_DEVIATIONS: f64 = 8.0;

/// A job with a deadline for which nodes are looked for.
#[derive(Clone, Copy, Debug)]
pub struct UncertainJob<'a> {
    /// Its run times in seconds with their probabilities, ascending.
    pub run_times: &'a [(f64, f64)],
    /// When it can begin.
    pub begin: UnixTime,
    /// When it is to be done.
    pub deadline: UnixTime,
    /// How many nodes it needs, at least one.
    pub nodes: usize,
    /// Its CPUs on each of them.
    pub cpus: u32,
    /// The probability that is wanted, for it and for those beside it.
    pub wanted: f64,
    /// What jobs with deadlines have taught.
    pub history: &'a DeadlineHistory,
}

/// Whether there are nodes for a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chance {
    /// There are.
    Taken {
        /// The probability with which all on the worst of them are done in time.
        probability: f64,
    },
    /// It would not even be likely enough with its CPUs to itself.
    Unlikely {
        /// The probability of that.
        probability: f64,
    },
    /// There are too few.
    TooFewNodes {
        /// How many there are.
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
        let deviation = (node.variance + self.share.variance).sqrt();
        node.earliest_deadline > self.begin && node.total_share + self.share.mean + self.deviations * deviation <= WHOLE_NODE
    }
}

impl UncertainJob<'_> {
    /// The share of each of its CPUs that it needs.
    #[must_use]
    pub fn share(&self) -> NeededShare {
        NeededShare::of(self.run_times, Seconds::ZERO, self.deadline - self.begin)
    }

    /// Chooses among `count` nodes whose loads are computed as they are looked at; of a node that
    /// is out of the question there is none. `chosen` gets their places, ascending, or nothing
    /// where there are too few.
    pub fn choose_among(&self, count: u32, load: impl Fn(u32) -> Option<NodeLoad>, chosen: &mut Vec<u32>) -> Chance {
        chosen.clear();
        let left_s = (self.deadline - self.begin).0 as f64;
        let alone: f64 = self.run_times.iter().filter(|(run_s, _)| *run_s <= left_s).map(|(_, weight)| weight).sum();
        let asked = self.history.asked(self.wanted);
        let told = |probability: f64| self.history.corrected(probability, self.wanted);
        if alone.is_nan() || alone < asked {
            return Chance::Unlikely { probability: told(alone.clamp(0.0, 1.0)) };
        }
        let share = self.share().of_cpus(self.cpus);
        let wanted = Wanted { share, deviations: deviations(asked), begin: self.begin };
        let suitable = |place: u32| {
            let node = load(place).filter(|node| wanted.fits(node))?;
            Some((node.total_share + wanted.deviations.max(1.0) * node.variance.sqrt(), place))
        };
        let mut suitable: Vec<(f64, u32)> = (0..count).filter_map(suitable).collect();
        if suitable.len() < self.nodes {
            return Chance::TooFewNodes { suitable: u32::try_from(suitable.len()).unwrap_or(u32::MAX) };
        }
        if suitable.len() > self.nodes && self.nodes > 0 {
            suitable.select_nth_unstable_by(self.nodes - 1, |one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            suitable.truncate(self.nodes);
        }
        chosen.extend(suitable.into_iter().map(|(_, place)| place));
        chosen.sort_unstable();
        let fitting = chosen.iter().filter_map(|place| load(*place)).map(|node| fit(&node, share));
        let probability = fitting.fold(alone.min(1.0), f64::min).max(asked);
        Chance::Taken { probability: told(probability) }
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

/// So many standard deviations above its mean a normal distribution has the probability.
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

    /// What of `nodes` a job gets that has 1,000 s, with a probability of 0.9.
    fn chosen(nodes: &[NodeLoad], run_times: &[(f64, f64)], count: usize) -> (Chance, Vec<u32>) {
        let mut chosen = vec![7; 3];
        let history = DeadlineHistory::default();
        let job =
            UncertainJob { run_times, begin: NOW, deadline: NOW + Seconds(1_000), nodes: count, cpus: 1, wanted: 0.9, history: &history };
        let chance = job.choose_among(nodes.len() as u32, |place| nodes.get(place as usize).copied(), &mut chosen);
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
        assert!(matches!(chosen(&[load(&[(0.7, 0.0)])], &run_times, 1).0, Chance::Taken { .. }));
        assert_eq!(chosen(&[load(&[(0.7, 0.01)])], &run_times, 1), (Chance::TooFewNodes { suitable: 0 }, vec![]));
        assert!(matches!(chosen(&[load(&[(0.7, 0.0025)])], &run_times, 1).0, Chance::Taken { .. }));
    }

    #[test]
    fn the_nodes_that_need_least_are_taken() {
        let nodes = [load(&[(0.3, 0.0)]), load(&[(0.1, 0.0)]), load(&[]), load(&[(0.1, 0.09)])];
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 1).1, [2]);
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 3).1, [0, 1, 2]);
        assert_eq!(chosen(&nodes, &[(100.0, 1.0)], 5), (Chance::TooFewNodes { suitable: 4 }, vec![]));
    }

    #[test]
    fn nobody_joins_a_job_whose_deadline_has_passed() {
        let mut late = NodeLoad::IDLE;
        late.add_uncertain(NeededShare::sure(0.0), NOW);
        assert_eq!(chosen(&[late], &[(100.0, 1.0)], 1).0, Chance::TooFewNodes { suitable: 0 });
    }

    #[test]
    fn a_job_that_is_not_likely_done_even_alone_is_refused_for_that() {
        let (chance, _) = chosen(&[load(&[])], &[(500.0, 0.6), (2_000.0, 0.4)], 1);
        assert_eq!(chance, Chance::Unlikely { probability: 0.6 });
        assert!(matches!(chosen(&[load(&[])], &[(500.0, 0.95), (2_000.0, 0.05)], 1).0, Chance::Taken { .. }));
        assert!(matches!(chosen(&[load(&[])], &[], 1).0, Chance::Unlikely { .. }), "nothing is known");
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
                Chance::Taken { probability } => {
                    prop_assert!((0.9..=1.0).contains(&probability) && places.len() == count && places.is_sorted());
                    prop_assert!(places.iter().all(|place| nodes[*place as usize].total_share < 1.0 + 1e-6));
                }
                Chance::Unlikely { probability } => prop_assert!(probability < 0.9 && places.is_empty()),
                Chance::TooFewNodes { suitable } => prop_assert!((suitable as usize) < count && places.is_empty()),
            }
        }
    }
}
