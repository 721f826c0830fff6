//! The reservation service above clusters.

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
        let mut dropped: Vec<(usize, Slot)> = Vec::new();
        while let Some((place, rated)) = best(request, sites, &dropped) {
            match sites.get_mut(place).map(|site| site.reserve(request, rated.slot)) {
                Some(Ok(())) => return Answer { granted: Some((place, rated)), in_vain: dropped.len() },
                Some(Err(Conflict)) | None => dropped.push((place, rated.slot)),
            }
        }
        Answer { granted: None, in_vain: dropped.len() }
    }
}

/// The best slot of all clusters but those that were dropped, with the place of its cluster.
fn best<S: Site>(request: &Request, sites: &[S], dropped: &[(usize, Slot)]) -> Option<(usize, Rated)> {
    let of_site = |(place, site): (usize, &S)| {
        let slots = site.probe(request).slots;
        slots.into_iter().map(move |rated| (place, rated))
    };
    let slots = sites.iter().enumerate().flat_map(of_site).filter(|(place, rated)| !dropped.contains(&(*place, rated.slot)));
    slots.min_by(|(_, one), (_, other)| one.compare(other, request.preference))
}
