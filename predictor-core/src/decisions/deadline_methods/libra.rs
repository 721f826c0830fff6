//! Libra: a job is taken where the shares of all jobs of a node fit into it (Yeo and Buyya 2006,
//! 3.1; Sherwani et al. 2004).

use super::node::{Newcomer, NodeLoad};
use super::share::WHOLE_NODE;

/// Whether a node has the share that a job needs, beside those that it has given.
#[must_use]
pub fn is_suitable(node: &NodeLoad, job: &Newcomer) -> bool {
    node.total_share + job.share <= WHOLE_NODE
}

/// Chooses nodes for a job by best fit: of those that are suitable the ones that then have the
/// least power left, and of equal ones the first. `chosen` gets their places in `nodes`, ascending,
/// or nothing where there are too few. Returns whether the job is taken.
///
/// It goes over the nodes once, and over the suitable ones once more.
pub fn admit(nodes: &[NodeLoad], job: &Newcomer, chosen: &mut Vec<u32>) -> bool {
    let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    admit_among(count, |place| nodes.get(place as usize).copied(), job, chosen)
}

/// Chooses nodes as [`admit`] does, from `count` nodes whose loads are computed as they are looked
/// at. `load` returns `None` for a node that is out of the question.
pub fn admit_among(count: u32, load: impl Fn(u32) -> Option<NodeLoad>, job: &Newcomer, chosen: &mut Vec<u32>) -> bool {
    chosen.clear();
    // The loads are computed once for each node, and not again for each comparison.
    let suitable = |place: u32| Some((load(place).filter(|node| is_suitable(node, job))?.total_share, place));
    let mut suitable: Vec<(f64, u32)> = (0..count).filter_map(suitable).collect();
    if suitable.len() < job.nodes {
        return false;
    }
    if suitable.len() > job.nodes {
        let fullest_first = |one: &(f64, u32), other: &(f64, u32)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
        suitable.select_nth_unstable_by(job.nodes - 1, fullest_first);
        suitable.truncate(job.nodes);
    }
    chosen.extend(suitable.into_iter().map(|(_, place)| place));
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
