//! How well slots are to be had.

use std::cmp::Ordering;

use super::cycle::Cycle;
use super::preference::Preference;
use super::probing::Probing;
use super::request::Request;
use super::slot::Slot;
use super::workload::{Granted, Workload};

/// What a ranking is asked: the workload in the middle of a scheduling cycle, after its heads have
/// started.
#[derive(Debug)]
pub struct Probe<'p> {
    /// The workload.
    pub workload: &'p Workload,
    /// The cycle that stands: what is free beside running jobs, reservations and the head's lock.
    pub cycle: &'p Cycle,
    /// What is asked for.
    pub request: &'p Request,
    /// Which slots are looked at.
    pub probing: Probing,
}

impl Probe<'_> {
    /// The slots of the request, in the order of time.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        self.probing.slots(self.request, self.workload.now)
    }

    /// The reservation that a slot would be.
    #[must_use]
    pub fn placeholder(&self, slot: Slot) -> Granted {
        Granted { slot, takes: self.request.takes }
    }
}

/// A slot and how well it is to be had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// The slot.
    pub slot: Slot,
    /// From 0, not at all, to 1: the less it does to the jobs of the cluster, the more.
    pub availability: f64,
}

impl Rated {
    /// Returns which of two slots is tried first: the better, and of equals the preferred.
    #[must_use]
    pub fn compare(&self, other: &Self, preference: Preference) -> Ordering {
        other.availability.total_cmp(&self.availability).then_with(|| preference.compare(self.slot, other.slot))
    }
}

/// A method that says how well slots are to be had (p_res of section 4).
pub trait Ranking {
    /// Rates slots of the request. Those of availability 0 are not to be had and may be left out.
    fn rate(&self, probe: &Probe<'_>) -> Vec<Rated>;
}
