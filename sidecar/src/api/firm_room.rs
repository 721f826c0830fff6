//! The API as the room knows it that makes firm slots.

use std::sync::Arc;

use crossbeam::channel::Receiver;
use daemon_api::FirmSlot;

use super::Latest;
use super::desk::Asked;
use super::probing::Prober;

/// What the room takes from the API, and leaves there.
#[derive(Debug)]
pub(crate) struct FirmRoom {
    pub(super) prober: Prober,
    pub(super) asked: Receiver<Asked>,
    pub(super) firm_slots: Latest<Vec<FirmSlot>>,
}

impl FirmRoom {
    /// Ranks windows.
    pub(crate) fn prober(&self) -> &Prober {
        &self.prober
    }

    /// What users ask. Each request is taken by one of those who take from it.
    pub(crate) fn asked(&self) -> &Receiver<Asked> {
        &self.asked
    }

    /// These firm slots are there from now on: they are listed to those whose they are, and count
    /// when others are asked for.
    pub(crate) fn list(&self, slots: Vec<FirmSlot>) {
        *self.firm_slots.lock() = Some(Arc::new(slots));
    }
}
