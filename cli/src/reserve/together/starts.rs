//! The starts at which all parts may be had, the best first.

use std::cmp::Ordering;

use job_types::time::UnixTime;
use queue_plan::placement::{Preference, Slot};

use crate::cluster::ClusterArgument;
use crate::grid::{GridSlot, Order, Probed};

/// Starts as near as this are the same one: each cluster spreads its slots by itself.
const SAME_WITHIN_S: u64 = 60;

/// A start at which no cluster is known to lack its part.
#[derive(Debug)]
struct Start {
    start: i64,
    /// On how many clusters no slot was looked at with that start.
    unknown: usize,
    /// The worst availability on any cluster where one was.
    availability: f64,
}

/// The starts, those first that all clusters have looked at.
///
/// # Errors
/// A cluster has no slot at all: which, and why.
pub(super) fn in_order(probed: &Probed, clusters: &[ClusterArgument], order: Order) -> Result<Vec<i64>, String> {
    let is_granted = |slot: &&GridSlot| slot.slot.allowed && slot.is_to_be_had();
    for ClusterArgument { name, .. } in clusters {
        let of_cluster = || probed.slots.iter().filter(|slot| slot.cluster == *name);
        if of_cluster().find(is_granted).is_none() {
            let why = of_cluster().find_map(|slot| slot.slot.why_not.as_deref()).unwrap_or("no slot is in the window");
            return Err(format!("{name} has no slot: {why}"));
        }
    }
    let mut starts: Vec<i64> = probed.slots.iter().filter(is_granted).map(|slot| slot.slot.start).collect();
    starts.sort_unstable();
    starts.dedup_by(|later, earlier| later.abs_diff(*earlier) < SAME_WITHIN_S);
    let mut starts: Vec<Start> = starts.into_iter().filter_map(|start| start_of(start, probed, clusters)).collect();
    starts.sort_by(|one, other| one.compare(other, order));
    if starts.is_empty() {
        return Err("the clusters have their slots at different times, and each lacks nodes when others have theirs".to_owned());
    }
    Ok(starts.into_iter().map(|start| start.start).collect())
}

/// What is known of a start; `None` where a cluster lacks its part then.
fn start_of(start: i64, probed: &Probed, clusters: &[ClusterArgument]) -> Option<Start> {
    let mut known = Start { start, unknown: 0, availability: 1.0 };
    for ClusterArgument { name, .. } in clusters {
        let near = probed.slots.iter().filter(|slot| slot.cluster == *name && slot.slot.start.abs_diff(start) < SAME_WITHIN_S);
        match near.min_by_key(|slot| slot.slot.start.abs_diff(start)) {
            Some(slot) if slot.slot.allowed && slot.is_to_be_had() => known.availability = known.availability.min(slot.slot.availability),
            Some(_) => return None,
            None => known.unknown += 1,
        }
    }
    Some(known)
}

impl Start {
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        let slot = |start: &Self| Slot { start: UnixTime(start.start), end: UnixTime(start.start) };
        let by_start = |preference: Preference| preference.compare(slot(self), slot(other));
        let by_availability = || other.availability.total_cmp(&self.availability);
        let by_order = match order {
            Order::Start(preference) => by_start(preference).then_with(by_availability),
            // The same nodes for the same time cost the same whenever they begin.
            Order::Availability | Order::Cheapest => by_availability().then_with(|| by_start(Preference::Earliest)),
        };
        self.unknown.cmp(&other.unknown).then(by_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::made_up_slot as slot;

    fn named() -> Vec<ClusterArgument> {
        ["east", "west"].map(|name| ClusterArgument { name: name.to_owned(), directory: None }).into()
    }

    #[test]
    fn starts_that_all_clusters_have_come_first_and_those_that_one_lacks_are_left_out() {
        let slots = vec![
            slot("east", 1_000, 0.5, 0),
            slot("west", 1_020, 0.9, 0),
            slot("east", 2_000, 1.0, 0),
            slot("west", 2_000, 0.8, 0),
            slot("east", 3_000, 1.0, 0),
            slot("west", 3_000, 0.0, 0),
            slot("west", 4_000, 1.0, 0),
        ];
        let probed = Probed::made_up(slots);
        assert_eq!(in_order(&probed, &named(), Order::Availability), Ok(vec![2_000, 1_000, 4_000]));
        assert_eq!(in_order(&probed, &named(), Order::Start(Preference::Earliest)), Ok(vec![1_000, 2_000, 4_000]));
    }

    #[test]
    fn a_cluster_without_a_slot_is_named_with_its_reason() {
        let mut refused = slot("west", 1_000, 0.0, 0);
        refused.slot.why_not = Some("4 of 16 nodes are free".to_owned());
        let why = in_order(&Probed::made_up(vec![slot("east", 1_000, 1.0, 0), refused]), &named(), Order::Availability).unwrap_err();
        assert_eq!(why, "west has no slot: 4 of 16 nodes are free");
    }
}
