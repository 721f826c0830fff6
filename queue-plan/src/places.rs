//! Which nodes compete with which: the places in which resources are counted.
//!
//! Partitions that share nodes, directly or through others, make a pool, and a job must fit into
//! its pool. A partition that has only some of its pool's nodes is a place of its own besides: a
//! job of it must fit into both. For two partitions that overlap, and for partitions that lie one
//! within the other, that is as good as counting what each part has; where three or more overlap
//! in other ways it may find room where there is none.

use std::collections::BTreeMap;

use crate::resources::Resources;
use crate::state::{Reservation, State};

/// Index of a place.
pub(crate) type PlaceIndex = u16;

/// The places, and what lies where.
#[derive(Debug)]
pub(crate) struct Places {
    /// What the nodes that take jobs offer, by place.
    pub(crate) offers: Vec<Resources>,
    /// The places of each partition: its pool, and its own where it has only some of the pool's
    /// nodes; none where it has no node.
    pub(crate) of_partition: Vec<Vec<PlaceIndex>>,
    /// The class of each node.
    pub(crate) class_of_node: Vec<usize>,
    /// The classes.
    pub(crate) classes: Vec<Class>,
}

/// Nodes that are alike in where they lie and who reserves them.
#[derive(Debug)]
pub(crate) struct Class {
    /// The places that they belong to.
    pub(crate) places: Vec<PlaceIndex>,
    /// The reservations that have them, by index.
    pub(crate) reservations: Vec<u32>,
    /// Whether they take jobs.
    pub(crate) takes_jobs: bool,
    /// What all of them offer.
    pub(crate) offers: Resources,
}

impl Places {
    /// Finds the places of a cluster with these reservations. Nodes that the lists name but the
    /// state does not have are left out.
    pub(crate) fn of(state: &State, reservations: &[Reservation]) -> Self {
        let count = state.nodes.len();
        let mut pools = Pools::new(count);
        for partition in &state.partitions {
            for pair in partition.nodes.windows(2) {
                if let [one, other] = pair {
                    pools.unite(*one as usize, *other as usize);
                }
            }
        }
        // A set of nodes is a place once, whoever has it; pools come first.
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut known: BTreeMap<Vec<u32>, PlaceIndex> = BTreeMap::new();
        let mut place_of = |nodes: Vec<u32>| {
            let next = PlaceIndex::try_from(members.len()).unwrap_or(PlaceIndex::MAX);
            *known.entry(nodes).or_insert_with_key(|nodes| {
                members.push(nodes.clone());
                next
            })
        };
        let mut pool_nodes: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let mut is_in_partition = vec![false; count];
        for node in state.partitions.iter().flat_map(|partition| &partition.nodes) {
            if let Some(is_in) = is_in_partition.get_mut(*node as usize) {
                *is_in = true;
            }
        }
        for (node, _) in (0u32..).zip(&is_in_partition).filter(|(_, is_in)| **is_in) {
            pool_nodes.entry(pools.root(node as usize)).or_default().push(node);
        }
        let pool_places: BTreeMap<usize, PlaceIndex> = pool_nodes.into_iter().map(|(root, nodes)| (root, place_of(nodes))).collect();
        let of_partition = state.partitions.iter().map(|partition| {
            let mut nodes: Vec<u32> = partition.nodes.iter().copied().filter(|node| (*node as usize) < count).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let Some(first) = nodes.first() else { return Vec::new() };
            let pool = pool_places.get(&pools.root(*first as usize)).copied();
            let own = place_of(nodes);
            pool.filter(|pool| *pool != own).into_iter().chain([own]).collect()
        });
        let of_partition = of_partition.collect();
        let mut places = Self { offers: Vec::new(), of_partition, class_of_node: Vec::new(), classes: Vec::new() };
        places.classify(state, reservations, &members);
        places
    }

    fn classify(&mut self, state: &State, reservations: &[Reservation], members: &[Vec<u32>]) {
        self.offers = vec![Resources::NONE; members.len()];
        let mut places_of = vec![Vec::new(); state.nodes.len()];
        for (place, nodes) in (0..).zip(members) {
            for node in nodes {
                if let Some(places) = places_of.get_mut(*node as usize) {
                    places.push(place);
                }
            }
        }
        let mut reservations_of = vec![Vec::new(); state.nodes.len()];
        for (index, reservation) in (0u32..).zip(reservations) {
            for node in &reservation.nodes {
                if let Some(reservations) = reservations_of.get_mut(*node as usize) {
                    reservations.push(index);
                }
            }
        }
        let mut known: BTreeMap<(Vec<PlaceIndex>, Vec<u32>, bool), usize> = BTreeMap::new();
        for ((node, places), reservations) in state.nodes.iter().zip(places_of).zip(reservations_of) {
            for place in places.iter().filter(|_| node.takes_jobs) {
                self.offers[usize::from(*place)] += node.offers;
            }
            let class = *known.entry((places, reservations, node.takes_jobs)).or_insert_with_key(|(places, reservations, takes_jobs)| {
                let class =
                    Class { places: places.clone(), reservations: reservations.clone(), takes_jobs: *takes_jobs, offers: Resources::NONE };
                self.classes.push(class);
                self.classes.len() - 1
            });
            self.classes[class].offers += node.offers;
            self.class_of_node.push(class);
        }
    }

    /// What the nodes of a partition offer that take jobs; nothing where it has no node.
    pub(crate) fn offered(&self, partition: usize) -> Resources {
        let place = self.of_partition.get(partition).and_then(|places| places.last());
        place.and_then(|place| self.offers.get(usize::from(*place))).copied().unwrap_or_default()
    }

    /// What a job needs in a partition: what it asks for, or what its nodes have where it gets
    /// whole ones, which are taken to be alike. `None` where the partition has no node, or less
    /// than that in use.
    pub(crate) fn needed(&self, partition: usize, asked: Resources, whole_nodes: bool) -> Option<Resources> {
        let all = self.offered(partition);
        if all.nodes == 0 || asked.nodes > all.nodes {
            return None;
        }
        let asked = asked.with_a_cpu_on_each_node();
        let needed = if whole_nodes { asked.most(all.on_average_nodes(asked.nodes.max(1))) } else { asked };
        needed.fits_in(all).then_some(needed)
    }
}

/// Nodes that belong together, found by uniting sets.
struct Pools(Vec<usize>);

impl Pools {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, node: usize) -> usize {
        let mut node = node;
        while let Some(&above) = self.0.get(node).filter(|above| **above != node) {
            // Halves the way for those who come after.
            let next = self.0.get(above).copied().unwrap_or(above);
            self.0[node] = next;
            node = next;
        }
        node
    }

    fn unite(&mut self, one: usize, other: usize) {
        if one < self.0.len() && other < self.0.len() {
            let (one, other) = (self.root(one), self.root(other));
            let (lower, higher) = (one.min(other), one.max(other));
            self.0[higher] = lower;
        }
    }
}
