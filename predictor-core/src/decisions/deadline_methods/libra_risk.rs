//! LibraRisk: a job is taken on nodes whose risk is zero with it (Yeo and Buyya 2006, algorithm 1).
//!
//! The algorithm adds the job to each node for a trial, projects the delays ([`super::projection`])
//! and computes the risk ([`super::risk`]); [`has_no_risk_by_trial`] does so. With shares that are
//! dealt anew the answer follows from the sums of the node alone, which [`has_no_risk`] makes use
//! of:
//!
//! - If all shares fit into the node, nobody is late, every deadline delay is 1, and there is no
//!   risk.
//! - If they don't, the job that ends first is late by the factor S of the total share, and the
//!   node is busy until the last late job ends. If all deadline delays were S, the last job, with
//!   the latest deadline D, would end at S D, which has to be the sum of all run times. S D is the
//!   sum of the run times, each times D over its own deadline, and is larger unless all deadlines
//!   are the same. So there is no risk only where all jobs have one deadline, and above all for
//!   **one job alone, however late it is by its estimate**.
//! - A job whose deadline has passed has a deadline delay without bound: nobody joins it.
//!
//! The job alone is what LibraRisk gains by where estimates are too long: Libra and EDF refuse a
//! job whose estimate is longer than its deadline, LibraRisk gives it idle nodes.

use job_types::time::UnixTime;

use super::node::{Newcomer, NodeLoad};
use super::projection::{SparePower, dealt_anew};
use super::risk::Risk;
use super::share::{Claim, WHOLE_NODE};

/// Whether a node has no risk of delay with a job at a moment, from what it has to do in sum.
#[must_use]
pub fn has_no_risk(node: &NodeLoad, job: &Newcomer, now: UnixTime) -> bool {
    let is_late = job.deadline <= now || node.earliest_deadline <= now;
    let has_one_deadline = || node.jobs == 0 || (node.earliest_deadline == job.deadline && node.latest_deadline == job.deadline);
    !is_late && (node.total_share + job.share <= WHOLE_NODE || has_one_deadline())
}

/// Whether a node has no risk of delay, by trial: lines 2 to 8 of algorithm 1. The last of `claims`
/// is the job that is tried; `delays` has a place for each.
///
/// # Panics
///
/// Where there are not as many delays as claims.
pub fn has_no_risk_by_trial(claims: &[Claim], spare: SparePower, delays: &mut [f64]) -> bool {
    dealt_anew(claims, spare, delays);
    Risk::of(claims, delays).is_zero()
}

/// Chooses nodes for a job: the first ones that have no risk with it (algorithm 1, lines 12 to 18).
/// `chosen` gets their places in `nodes`, ascending, or nothing where there are too few. Returns
/// whether the job is taken.
pub fn admit(nodes: &[NodeLoad], job: &Newcomer, now: UnixTime, chosen: &mut Vec<u32>) -> bool {
    let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    admit_among(count, |place| nodes.get(place as usize).copied(), job, now, chosen)
}

/// Chooses nodes as [`admit`] does, from `count` nodes whose loads are computed as they are looked
/// at. `load` returns `None` for a node that is out of the question.
pub fn admit_among(count: u32, load: impl Fn(u32) -> Option<NodeLoad>, job: &Newcomer, now: UnixTime, chosen: &mut Vec<u32>) -> bool {
    chosen.clear();
    let without_risk = (0..count).filter(|place| load(*place).is_some_and(|node| has_no_risk(&node, job, now)));
    chosen.extend(without_risk.take(job.nodes));
    let is_taken = chosen.len() == job.nodes;
    if !is_taken {
        chosen.clear();
    }
    is_taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: UnixTime = UnixTime(1_000);

    fn newcomer(share: f64, deadline: i64, nodes: usize) -> Newcomer {
        Newcomer { share, deadline: UnixTime(deadline), nodes }
    }

    fn load(jobs: &[(f64, i64)]) -> NodeLoad {
        NodeLoad::of(jobs.iter().map(|&(share, deadline)| (share, UnixTime(deadline))))
    }

    #[test]
    fn a_job_whose_estimate_is_too_long_gets_idle_nodes_and_no_others() {
        let nodes = [load(&[(0.1, 1_500)]), load(&[]), load(&[(0.2, 1_500)]), load(&[])];
        let mut chosen = Vec::new();
        assert!(admit(&nodes, &newcomer(2.5, 1_100, 2), NOW, &mut chosen));
        assert_eq!(chosen, [1, 3]);
        assert!(!admit(&nodes, &newcomer(2.5, 1_100, 3), NOW, &mut chosen));
        assert!(chosen.is_empty());
    }

    #[test]
    fn nobody_joins_a_job_that_is_late_by_its_estimate_or_by_the_clock() {
        let job = newcomer(0.1, 1_900, 1);
        assert!(has_no_risk(&load(&[(0.9, 1_500)]), &job, NOW));
        assert!(!has_no_risk(&load(&[(2.5, 1_500)]), &job, NOW));
        assert!(!has_no_risk(&load(&[(0.1, 1_000)]), &job, NOW));
        assert!(!has_no_risk(&load(&[]), &newcomer(0.1, 1_000, 1), NOW), "its own deadline has passed");
    }

    #[test]
    fn nodes_are_taken_in_their_order() {
        let nodes = [load(&[(0.1, 1_500)]), load(&[(0.8, 1_500)]), load(&[])];
        let mut chosen = Vec::new();
        assert!(admit(&nodes, &newcomer(0.2, 1_700, 2), NOW, &mut chosen));
        assert_eq!(chosen, [0, 1]);
    }

    proptest! {
        /// What follows from the sums is what algorithm 1 finds by trial, spare power given or not.
        #[test]
        fn the_sums_of_a_node_say_what_the_trial_finds(
            jobs in prop::collection::vec((1_i64..400, 1_i64..5), 1..7),
            one_deadline in any::<bool>(),
            gives_spare in any::<bool>(),
        ) {
            let deadline = |step: i64| if one_deadline { 200 } else { 100 * step };
            let claims: Vec<Claim> = jobs.iter()
                .map(|&(run, step)| Claim { remaining_run_s: run as f64, remaining_deadline_s: deadline(step) as f64 }).collect();
            let (new, old) = claims.split_last().unwrap();
            let at = |claim: &Claim| UnixTime(NOW.0 + claim.remaining_deadline_s as i64);
            let node = NodeLoad::of(old.iter().map(|claim| (claim.share(), at(claim))));
            let job = Newcomer { share: new.share(), deadline: at(new), nodes: 1 };
            let spare = if gives_spare { SparePower::Given } else { SparePower::Kept };
            let mut delays = vec![0.0; claims.len()];
            prop_assert_eq!(has_no_risk(&node, &job, NOW), has_no_risk_by_trial(&claims, spare, &mut delays), "{:?}", delays);
        }
    }
}
