//! Libra: a job is taken where the shares of all jobs of a node fit into it (Yeo and Buyya 2006,
//! 3.1; Sherwani et al. 2004).

use super::node::{Newcomer, NodeLoad};
use super::share::WHOLE_NODE;

/// Whether a node has the share that a job needs, beside those that it has given.
#[must_use]
pub fn is_suitable(node: &NodeLoad, job: &Newcomer) -> bool {
    node.total_share + job.share <= WHOLE_NODE
}

/// Chooses nodes for a job by best fit: of those that are suitable the ones that then have the least
/// power left, and of equal ones the first. `chosen` gets their places in `nodes`, ascending, or
/// nothing where there are too few. Returns whether the job is taken.
///
/// It goes over the nodes once, and over the suitable ones once more, and allocates only where
/// `chosen` has no room yet.
pub fn admit(nodes: &[NodeLoad], job: &Newcomer, chosen: &mut Vec<u32>) -> bool {
    let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    admit_among(count, |place| nodes.get(place as usize).copied(), job, chosen)
}

/// The same of `count` nodes whose loads are computed as they are looked at; of a node that is out
/// of the question there is none.
pub fn admit_among(count: u32, load: impl Fn(u32) -> Option<NodeLoad>, job: &Newcomer, chosen: &mut Vec<u32>) -> bool {
    chosen.clear();
    chosen.extend((0..count).filter(|place| load(*place).is_some_and(|node| is_suitable(&node, job))));
    if chosen.len() < job.nodes {
        chosen.clear();
        return false;
    }
    if chosen.len() > job.nodes {
        let share = |place: u32| load(place).map_or(0.0, |node| node.total_share);
        let fullest_first = |one: &u32, other: &u32| share(*other).total_cmp(&share(*one)).then(one.cmp(other));
        chosen.select_nth_unstable_by(job.nodes - 1, fullest_first);
        chosen.truncate(job.nodes);
    }
    chosen.sort_unstable();
    true
}

#[cfg(test)]
mod tests {
    use job_types::time::UnixTime;

    use super::*;

    fn chosen(shares: &[f64], share: f64, nodes: usize) -> Option<Vec<u32>> {
        let loads: Vec<NodeLoad> = shares.iter().map(|&share| NodeLoad::of([(share, UnixTime(10))])).collect();
        let mut chosen = vec![7; 3];
        let is_taken = admit(&loads, &Newcomer { share, deadline: UnixTime(20), nodes }, &mut chosen);
        assert!(is_taken || chosen.is_empty());
        is_taken.then_some(chosen)
    }

    #[test]
    fn the_fullest_nodes_with_room_are_filled_first() {
        assert_eq!(chosen(&[0.2, 0.75, 0.5, 0.9], 0.25, 1), Some(vec![1]));
        assert_eq!(chosen(&[0.2, 0.75, 0.5, 0.9], 0.25, 2), Some(vec![1, 2]));
        assert_eq!(chosen(&[0.5, 0.5, 0.5], 0.5, 2), Some(vec![0, 1]));
    }

    #[test]
    fn a_job_is_refused_where_too_few_nodes_have_its_share_left() {
        assert_eq!(chosen(&[0.2, 0.75, 0.5, 0.9], 0.25, 4), None);
        assert_eq!(chosen(&[0.0, 0.0], 1.01, 1), None);
        assert_eq!(chosen(&[0.0, 0.0], 1.0, 3), None);
        assert_eq!(chosen(&[0.0, 0.0], f64::NAN, 1), None);
    }

    #[test]
    fn shares_that_fill_a_node_exactly_fit_however_their_sum_is_rounded() {
        // 0.1 ten times is a little less than 1, 0.7 and 0.1 three times a little more.
        assert_eq!(chosen(&[0.7 + 0.1 + 0.1], 0.1, 1), Some(vec![0]));
    }
}
