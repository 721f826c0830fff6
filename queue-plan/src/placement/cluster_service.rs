//! The reservation service of a cluster, and the resource manager below it.

use super::cycle::Cycle;
use super::probing::Probing;
use super::ranking::{Probe, Ranking, Rated};
use super::request::Request;
use super::slot::Slot;
use super::workload::Workload;

/// Why a slot was not granted: it conflicts with what runs, what is reserved, or what is locked for
/// the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

/// The local resource management system of a cluster (LRMS).
pub trait ResourceManager {
    /// Returns what the cluster has to do, and the scheduling cycle that stands.
    fn state(&self) -> (&Workload, &Cycle);

    /// Reserves a slot for a request.
    ///
    /// # Errors
    ///
    /// [`Conflict`], and nothing is reserved.
    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict>;
}

/// The answer to a probe: the slots of a request that are to be had, with their availability
/// (step 5 of figure 1). Those with 0 are left out: they are not tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probed {
    /// The slots.
    pub slots: Vec<Rated>,
}

/// A cluster's reservation service (CRS), which ranks slots.
pub struct ClusterService<R> {
    /// By which method.
    pub ranking: R,
    /// How many slots are looked at.
    pub probing: Probing,
}

impl<R: Ranking> ClusterService<R> {
    /// Answers a probe.
    #[must_use]
    pub fn probe(&self, manager: &impl ResourceManager, request: &Request) -> Probed {
        let (workload, cycle) = manager.state();
        let mut slots = self.ranking.rate(&Probe { workload, cycle, request, probing: self.probing });
        slots.retain(|rated| rated.availability > 0.0);
        Probed { slots }
    }
}
