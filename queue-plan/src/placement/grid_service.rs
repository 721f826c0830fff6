//! The reservation service above clusters.

use std::cmp::Ordering;

use super::cluster_service::{Conflict, Probed};
use super::ranking::Rated;
use super::request::Request;
use super::slot::Slot;

/// A cluster as the service above sees it: the messages of figure 1.
pub trait Site {
    /// Asks which slots are to be had (steps 4 and 5).
    fn probe(&self, request: &Request) -> Probed;

    /// Asks for one of them (steps 6 and 7).
    ///
    /// # Errors
    ///
    /// [`Conflict`]: it is not to be had any more.
    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict>;
}

/// The same messages to all clusters together, for clusters that are asked at the same time and
/// whose answers have more to them.
pub trait Grid {
    /// A slot of one of the clusters.
    type Slot;
    /// What ends the search: mostly what was granted.
    type Reserved;

    /// Asks all clusters which slots are to be had (steps 4 and 5).
    fn probe(&mut self) -> Vec<Self::Slot>;

    /// Says which of two slots is tried first.
    fn compare(&self, one: &Self::Slot, other: &Self::Slot) -> Ordering;

    /// Whether a slot is the one that was dropped.
    fn is_dropped(&self, slot: &Self::Slot, dropped: &Self::Slot) -> bool;

    /// Asks for one of them (steps 6 and 7).
    ///
    /// # Errors
    ///
    /// [`Conflict`]: it is not to be had any more.
    fn reserve(&mut self, slot: &Self::Slot) -> Result<Self::Reserved, Conflict>;
}

/// What a client is told (step 8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The place of the cluster among those that were asked, and the slot there; `None` if there is
    /// none.
    pub granted: Option<(usize, Rated)>,
    /// How many slots were tried in vain.
    pub in_vain: usize,
}

/// The reservation service above clusters (GRS): it asks all of them, and reserves the best slot.
/// If that fails, the slot is dropped and they are asked again, until a slot is granted or none is
/// left (section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct GridService;

impl GridService {
    /// Answers a request. Of slots that are alike on several clusters that of the first is tried
    /// first.
    pub fn place<S: Site>(self, request: &Request, sites: &mut [S]) -> Answer {
        let (granted, in_vain) = self.choose(&mut OneByOne { request, sites }, usize::MAX);
        Answer { granted, in_vain }
    }

    /// Tries the best slot of all clusters, at most `most` slots one after the other. Returns what
    /// ended the search, if anything did, and how many slots were tried in vain.
    pub fn choose<G: Grid>(self, grid: &mut G, most: usize) -> (Option<G::Reserved>, usize) {
        let mut dropped: Vec<G::Slot> = Vec::new();
        while dropped.len() < most {
            let mut slots = grid.probe();
            slots.retain(|slot| !dropped.iter().any(|dropped| grid.is_dropped(slot, dropped)));
            let Some(best) = slots.into_iter().min_by(|one, other| grid.compare(one, other)) else { break };
            match grid.reserve(&best) {
                Ok(reserved) => return (Some(reserved), dropped.len()),
                Err(Conflict) => dropped.push(best),
            }
        }
        (None, dropped.len())
    }
}

/// Clusters that are asked one after the other about a request. A slot is that of the cluster in a
/// place.
struct OneByOne<'a, S> {
    request: &'a Request,
    sites: &'a mut [S],
}

impl<S: Site> Grid for OneByOne<'_, S> {
    type Slot = (usize, Rated);
    type Reserved = (usize, Rated);

    fn probe(&mut self) -> Vec<(usize, Rated)> {
        let of_site = |(place, site): (usize, &S)| {
            let slots = site.probe(self.request).slots;
            slots.into_iter().map(move |rated| (place, rated))
        };
        self.sites.iter().enumerate().flat_map(of_site).collect()
    }

    fn compare(&self, (_, one): &Self::Slot, (_, other): &Self::Slot) -> Ordering {
        one.compare(other, self.request.preference)
    }

    fn is_dropped(&self, (place, rated): &Self::Slot, (dropped_place, dropped): &Self::Slot) -> bool {
        (place, rated.slot) == (dropped_place, dropped.slot)
    }

    fn reserve(&mut self, &(place, rated): &Self::Slot) -> Result<(usize, Rated), Conflict> {
        self.sites.get_mut(place).map_or(Err(Conflict), |site| site.reserve(self.request, rated.slot)).map(|()| (place, rated))
    }
}
