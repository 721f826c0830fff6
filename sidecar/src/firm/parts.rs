//! Slots that are parts of several clusters, had together or not at all: what a cluster does that
//! decides, and one that asks it.
//!
//! Whoever asks reserves a part on each cluster, which keeps it for two minutes
//! (`job_types::together`), and then confirms the part of the cluster that decides. From the moment
//! on at which that is on the disk there, all are kept: each other cluster is told, or asks once
//! its two minutes are over, and keeps its part until it has been answered.

use std::time::Duration;

use axum::http::StatusCode;
use daemon_api::{Decided, Refusal};
use job_types::number::UserId;
use job_types::slot::SlotState;
use job_types::slot_name;
use job_types::time::{Seconds, UnixTime};
use job_types::together::{Decision, Together, Token};
use upkeep::FirmSlot;

use super::asking::failed;
use super::deciders::Heard;
use super::listed;
use super::room::Room;
use crate::api::Refused;
use crate::clock::now;

impl Room<'_> {
    /// Keeps a part, whether it was asked for before or not. It is on the disk once this returns.
    pub(super) fn confirm_for(&mut self, user: UserId, id: u64) -> Result<daemon_api::FirmSlot, Refused> {
        let place = self.place_of(user, id)?;
        let slot = self.ledger.slots().get(place).cloned().ok_or_else(failed)?;
        if slot.unconfirmed().is_some() {
            self.check_stands(&slot)?;
            self.confirm(place)?;
        }
        let slot = self.ledger.slots().get(place).ok_or_else(failed)?;
        Ok(listed::listed(slot, self.key().as_ref(), None))
    }

    /// Checks that a part is still there to be confirmed.
    fn check_stands(&mut self, slot: &FirmSlot) -> Result<(), Refused> {
        let gone = |why: &str| Refused(StatusCode::CONFLICT, Refusal::because(format!("the firm slot can't be confirmed: {why}")));
        let is_late = slot.unconfirmed().is_some_and(|part| part.of.decided_by.is_none() && UnixTime(now()) >= part.confirm_by);
        if slot.state.is_over() || slot.reserved.is_none() {
            return Err(gone(slot.why.as_deref().unwrap_or("nothing is reserved for it")));
        }
        if is_late {
            return Err(gone("it was not confirmed in time"));
        }
        // What is decided here holds for all parts, so that this one has to be there.
        let away =
            || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "slurmctld does not answer; nothing is confirmed", Duration::from_secs(5));
        let name = self.key().map(|key| slot_name::of_slot(slot.id, &key)).ok_or_else(away)?;
        let reservations = self.reservations().ok_or_else(away)?;
        if reservations.iter().any(|reservation| reservation.name == name) { Ok(()) } else { Err(gone("its reservation was deleted")) }
    }

    /// Notes that a part is kept, which stands only where it is on the disk.
    fn confirm(&mut self, place: usize) -> Result<(), Refused> {
        let note = |slot: &mut FirmSlot, is_confirmed| {
            if let Some(part) = &mut slot.part {
                part.is_confirmed = is_confirmed;
            }
        };
        self.ledger.change(place).into_iter().for_each(|slot| note(slot, true));
        if self.ledger.keep() {
            return Ok(());
        }
        self.ledger.change(place).into_iter().for_each(|slot| note(slot, false));
        Err(Refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::because("the firm slot can't be confirmed: queuecastd can't write it down"),
        ))
    }

    /// What was decided here about parts.
    pub(super) fn decision(&self, token: &Token) -> Decided {
        let is_of = |slot: &&FirmSlot| slot.part.as_ref().is_some_and(|part| part.of.token == *token);
        let decision = self.ledger.slots().iter().filter(is_of).find_map(FirmSlot::decision);
        // Parts of which none is known here can't be confirmed any more.
        Decided { decision: decision.unwrap_or(Decision::GivenUp) }
    }

    /// Has the cluster asked that decides about a part.
    pub(super) fn ask_decision(&mut self, place: usize, now: UnixTime) {
        let Some(slot) = self.ledger.slots().get(place) else { return };
        let Some(Together { token, decided_by: Some(decider) }) = slot.part.as_ref().map(|part| part.of.clone()) else { return };
        let id = slot.id;
        let words = self.round.as_ref().and_then(|round| round.clusters.get(&decider)).map(|settings| settings.command.clone());
        let words = words.unwrap_or_default();
        if words.is_empty() {
            tracing::warn!(
                slot = id,
                cluster = decider,
                "the cluster that decides about a part can't be asked: command under [clusters] is not set"
            );
        }
        if (words.is_empty() || self.deciders.ask(id, &token, words))
            && let Some(part) = self.ledger.change(place).and_then(|slot| slot.part.as_mut())
        {
            part.asked_at = Some(now);
        }
    }

    /// Takes note of what a cluster has decided about a part.
    pub(super) fn decided(&mut self, heard: &Heard) {
        self.deciders.has_said(heard);
        let is_meant = |slot: &FirmSlot| slot.id == heard.slot && slot.unconfirmed().is_some() && !slot.state.is_over();
        let Some(place) = self.ledger.slots().iter().position(is_meant) else { return };
        match &heard.decision {
            Ok(Decision::Confirmed) => {
                tracing::info!(slot = heard.slot, "a part is kept: all of them are confirmed");
                let _ = self.confirm(place);
            }
            Ok(Decision::GivenUp) => self.give_up(place),
            Ok(Decision::Open) => {}
            Err(why) if self.is_new(place) => {
                tracing::warn!(slot = heard.slot, why, "it is not known whether a part is kept, so that it stays: it is asked again");
            }
            Err(why) => tracing::debug!(slot = heard.slot, why, "it is still not known whether a part is kept"),
        }
    }

    /// Whether it is still the first minute in which the cluster that decides is asked.
    fn is_new(&self, place: usize) -> bool {
        let part = self.ledger.slots().get(place).and_then(FirmSlot::unconfirmed);
        part.is_some_and(|part| UnixTime(now()) - part.confirm_by < Seconds::MINUTE)
    }

    /// Gives a part back that is not wanted without the others.
    fn give_up(&mut self, place: usize) {
        let Some(slot) = self.ledger.slots().get(place).cloned() else { return };
        let Some(name) = self.key().map(|key| slot_name::of_slot(slot.id, &key)) else { return };
        let Some(reservations) = self.reservations() else { return };
        let seen = self.seen(&slot, &reservations, None, &name);
        self.end(place, SlotState::Cancelled, Some("the parts were not confirmed in time".to_owned()), &seen, None);
    }
}
