//! The clusters as the reservation service above them meets them.

use std::cmp::Ordering;

use command_parts::failure::Failure;
use job_types::time::UnixTime;
use job_types::window::Window;
use queue_plan::placement::{Conflict, Grid};
use serde::Serialize;

use crate::grid::{Clusters, GridSlot, Order, Outcome, Probed};

/// Slots of a cluster with starts as near as this are the same one: each probe spreads them anew
/// from the plan that is there then.
const SAME_WITHIN_S: u64 = 60;

/// A slot that was lost.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    pub(super) cluster: String,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Why.
    pub(super) why: String,
}

/// The slot that is asked for.
#[derive(Debug)]
pub(super) struct Reserving {
    pub(super) cluster: String,
    pub(super) partition: Option<String>,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The clusters, and what came of it so far.
pub(super) struct LiveGrid<'a> {
    clusters: &'a Clusters,
    order: Order,
    pub(super) tried: Vec<Tried>,
    pub(super) notes: Vec<String>,
    /// Why the last probe has no answer.
    pub(super) failed: Option<Failure>,
    /// Why the best slot of the last probe is not to be had.
    why_not: Option<String>,
    /// The partition that each cluster would take.
    partitions: Vec<(String, Option<String>)>,
}

impl<'a> LiveGrid<'a> {
    pub(super) fn new(clusters: &'a Clusters, order: Order) -> Self {
        Self { clusters, order, tried: Vec::new(), notes: Vec::new(), failed: None, why_not: None, partitions: Vec::new() }
    }

    /// Why nothing was reserved in so many tries at the most.
    pub(super) fn why_none(&self, most: usize) -> String {
        match (&self.failed, self.tried.last(), &self.why_not) {
            (Some(failed), ..) => format!("the clusters do not answer any more: {}", failed.message()),
            (None, Some(last), _) if self.tried.len() >= most => {
                format!("{most} slots were tried and are not to be had any more, the last: {}", last.why)
            }
            (None, _, Some(why)) => format!("none of the slots is to be had: {why}"),
            (None, ..) => "no slot is to be had in the window".to_owned(),
        }
    }

    /// The clusters that can grant something, with their slots.
    fn take(&mut self, probed: Probed) -> Vec<GridSlot> {
        for note in probed.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let partition = |request: &daemon_api::Probe| request.partition.clone();
        self.partitions = probed.clusters.into_iter().map(|report| (report.cluster, report.request.as_ref().and_then(partition))).collect();
        self.why_not = probed.slots.first().and_then(|slot| Some(format!("{}: {}", slot.cluster, slot.slot.why_not.as_ref()?)));
        probed.slots.into_iter().filter(|slot| slot.slot.allowed && slot.is_to_be_had()).collect()
    }

    /// Has the slot reserved by its cluster, with exactly it as the window.
    fn ask(&self, slot: &GridSlot) -> Result<Outcome, String> {
        let site = self.clusters.site(&slot.cluster).ok_or("it is not known how it is asked")?;
        site.reserve(Window { earliest: UnixTime(slot.slot.start), latest: UnixTime(slot.slot.end) }, &[])
    }
}

impl Grid for LiveGrid<'_> {
    type Slot = GridSlot;
    type Reserved = (Reserving, Outcome);

    fn probe(&mut self) -> Vec<GridSlot> {
        match self.clusters.probe(self.order).answered() {
            Ok(probed) => self.take(probed),
            Err(failed) => {
                self.failed = Some(failed);
                Vec::new()
            }
        }
    }

    fn compare(&self, one: &GridSlot, other: &GridSlot) -> Ordering {
        self.order.compare(one, other)
    }

    fn is_dropped(&self, slot: &GridSlot, dropped: &GridSlot) -> bool {
        slot.cluster == dropped.cluster && slot.slot.start.abs_diff(dropped.slot.start) < SAME_WITHIN_S
    }

    fn reserve(&mut self, slot: &GridSlot) -> Result<(Reserving, Outcome), Conflict> {
        let (start, end) = (slot.slot.start, slot.slot.end);
        match self.ask(slot) {
            Ok(outcome) => {
                let partition = self.partitions.iter().find(|(cluster, _)| *cluster == slot.cluster);
                let partition = partition.and_then(|(_, partition)| partition.clone());
                Ok((Reserving { cluster: slot.cluster.clone(), partition, start, end }, outcome))
            }
            Err(why) => {
                self.tried.push(Tried { cluster: slot.cluster.clone(), start, end, why });
                Err(Conflict)
            }
        }
    }
}
