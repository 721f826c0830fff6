//! All contenders in their order, so that a walk goes no further than it has to.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set};

use crate::contender::Place;

/// The places of all contenders, apart for each number of nodes: where only few nodes are left, a
/// walk passes over all that want more at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    by_nodes: BTreeMap<u32, BTreeSet<Place>>,
    wanted: u64,
}

impl Book {
    pub(crate) fn insert(&mut self, nodes: u32, place: Place) {
        if self.by_nodes.entry(nodes).or_default().insert(place) {
            self.wanted += u64::from(nodes);
        }
    }

    pub(crate) fn remove(&mut self, nodes: u32, place: &Place) {
        let Some(places) = self.by_nodes.get_mut(&nodes) else { return };
        if places.remove(place) {
            self.wanted -= u64::from(nodes);
        }
        if places.is_empty() {
            self.by_nodes.remove(&nodes);
        }
    }

    /// The nodes that all together want.
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// All contenders in their order.
    pub(crate) fn in_order(&self) -> InOrder<'_> {
        let heads = self.by_nodes.iter().filter_map(|(&nodes, places)| Head::of(nodes, places.iter())).collect();
        InOrder { heads, most_nodes: u32::MAX }
    }
}

/// The first of those who want the same number of nodes, and those behind it.
struct Head<'a> {
    place: Reverse<Place>,
    nodes: u32,
    behind: btree_set::Iter<'a, Place>,
}

impl<'a> Head<'a> {
    fn of(nodes: u32, mut places: btree_set::Iter<'a, Place>) -> Option<Self> {
        Some(Head { place: Reverse(*places.next()?), nodes, behind: places })
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Head<'_> {}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

/// Contenders in their order, each with its number of nodes.
pub(crate) struct InOrder<'a> {
    heads: BinaryHeap<Head<'a>>,
    most_nodes: u32,
}

impl InOrder<'_> {
    /// From here on passes over all that want more nodes.
    pub(crate) fn pass_over_more_than(&mut self, nodes: u32) {
        self.most_nodes = nodes;
    }
}

impl Iterator for InOrder<'_> {
    type Item = (Place, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut head = self.heads.peek_mut()?;
            if head.nodes > self.most_nodes {
                PeekMut::pop(head);
                continue;
            }
            let first = (head.place.0, head.nodes);
            match head.behind.next() {
                Some(next) => head.place = Reverse(*next),
                None => drop(PeekMut::pop(head)),
            }
            return Some(first);
        }
    }
}
