//! What users ask for over the API: a slot without a job, and that one is given back.

use std::time::Duration;

use axum::http::StatusCode;
use daemon_api::{Preferred, Refusal, Reserve};
use job_types::firm::FirmPolicy;
use job_types::number::UserId;
use job_types::options::IfRefused;
use job_types::slot::SlotState;
use job_types::slot_name;
use job_types::time::{Seconds, UnixTime};
use upkeep::{FirmSlot, Part};

use super::room::{Closed, GivenBack, Placed, Room};
use super::{deciders, jobs, listed};
use crate::api::{Asked, Refused};
use crate::clock::now;

/// How often the reservation of a request is tried before its user is told to wait.
const ATTEMPTS: u32 = 3;

impl Room<'_> {
    /// Answers what a user asks.
    pub(super) fn answer(&mut self, asked: Asked) {
        match asked {
            // The caller has hung up, and would never know of the slot.
            Asked::Reserve { answer, .. } if answer.is_closed() => {}
            Asked::Reserve { user, wanted, answer } => {
                let outcome = self.reserve_for(user, &wanted);
                self.keep_and_list();
                let granted = outcome.as_ref().ok().filter(|slot| slot.name.is_some()).map(|slot| slot.id);
                // A slot that nobody was told of is given back.
                if let (Err(_), Some(id)) = (answer.send(outcome), granted) {
                    let _ = self.cancel_for(user, id);
                }
            }
            Asked::Cancel { user, id, answer } => {
                let outcome = self.cancel_for(user, id);
                self.keep_and_list();
                let _ = answer.send(outcome);
            }
            Asked::Confirm { user, id, answer } => {
                let outcome = self.confirm_for(user, id);
                self.keep_and_list();
                let _ = answer.send(outcome);
            }
            Asked::Decision { token, answer } => {
                let _ = answer.send(Ok(self.decision(&token)));
            }
        }
    }

    fn open(&self) -> Result<(), Refused> {
        self.check_open().map_err(|closed| {
            let (status, why) = match closed {
                Closed::ForNow(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
                Closed::BySite(why) => (StatusCode::FORBIDDEN, why),
            };
            Refused(status, Refusal::because(format!("no firm slot can be made or given back: {why}")))
        })
    }

    fn reserve_for(&mut self, user: UserId, wanted: &Reserve) -> Result<daemon_api::FirmSlot, Refused> {
        self.open()?;
        if let Some(round) = &self.round {
            deciders::check(wanted.together.as_ref(), &round.clusters)?;
        }
        let place = self.ledger.add(asked(user, wanted, UnixTime(now())));
        let id = self.ledger.slots().get(place).map(|slot| slot.id);
        let name = id.zip(self.key()).map(|(id, key)| slot_name::of_slot(id, &key)).unwrap_or_default();
        let mut placed = Placed::Later;
        for _ in 0..ATTEMPTS {
            placed = self.place(place, &name, wanted.probe.earliest());
            if placed != Placed::Later {
                break;
            }
        }
        let key = self.key();
        match placed {
            // Whoever is told of a part confirms all by that: it has to outlive this process.
            Placed::Reserved if wanted.together.is_some() && !self.ledger.keep() => {
                self.withdraw(place, &name);
                let error = "the firm slot can't be kept: queuecastd can't write it down";
                Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because(error)))
            }
            Placed::Reserved => {
                let slot = self.ledger.slots().get(place).ok_or_else(failed)?;
                Ok(listed::listed(slot, key.as_ref(), None))
            }
            // Nobody asks about a request again that was refused.
            Placed::Refused(why, nearest) => {
                let mut slot = self.ledger.remove(place).ok_or_else(failed)?;
                slot.end(SlotState::Refused, Some(why), UnixTime(now()));
                Ok(listed::listed(&slot, key.as_ref(), nearest))
            }
            Placed::Later => {
                self.withdraw(place, &name);
                Err(Refused::for_now(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "slots can't be ranked or reserved at the moment: there is no plan of the queue, or slurmctld does not answer",
                    Duration::from_secs(30),
                ))
            }
        }
    }

    /// Takes a request back of which it is not certain that nothing is reserved.
    fn withdraw(&mut self, place: usize, name: &str) {
        let may_be_there = self.ledger.slots().get(place).is_some_and(|slot| slot.is_left);
        if !may_be_there || self.give_back(name) == GivenBack::Gone {
            self.ledger.remove(place);
        } else if let Some(slot) = self.ledger.change(place) {
            slot.end(SlotState::Cancelled, Some("slurmctld did not answer".to_owned()), UnixTime(now()));
        }
    }

    /// Where the slot of that number is, if it is the caller's.
    pub(super) fn place_of(&self, user: UserId, id: u64) -> Result<usize, Refused> {
        let is_operator = user == UserId(0) || user.0 == nix::unistd::geteuid().as_raw();
        let is_meant = |slot: &FirmSlot| slot.id == id && (is_operator || slot.user == user);
        let place = self.ledger.slots().iter().position(is_meant);
        // Somebody else's is as if it did not exist.
        place.ok_or_else(|| Refused(StatusCode::NOT_FOUND, Refusal::because("there is no such firm slot of yours")))
    }

    fn cancel_for(&mut self, user: UserId, id: u64) -> Result<daemon_api::FirmSlot, Refused> {
        let place = self.place_of(user, id)?;
        let slot = self.ledger.slots().get(place).cloned().ok_or_else(failed)?;
        if !slot.state.is_over() {
            self.open()?;
            let away =
                || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "slurmctld does not answer; the slot stays", Duration::from_secs(30));
            let name = self.key().map(|key| slot_name::of_slot(slot.id, &key)).unwrap_or_default();
            let job = match slot.job {
                Some(job) => self.job(job.id).ok_or_else(away)?,
                None => None,
            };
            let reservations = self.reservations().ok_or_else(away)?;
            let seen = self.seen(&slot, &reservations, job.as_ref(), &name);
            if seen.is_in_use {
                let error = "jobs run in the reservation: cancel them first, and it is given back by itself";
                return Err(Refused(StatusCode::CONFLICT, Refusal::because(error)));
            }
            if slot.job.is_none() && seen.is_waited_for {
                let error = "jobs wait for the reservation: cancel them, or take them out of it with scontrol update reservation=";
                return Err(Refused(StatusCode::CONFLICT, Refusal::because(error)));
            }
            let why = if user == slot.user { "it was cancelled" } else { "an operator cancelled it" };
            self.end(place, SlotState::Cancelled, Some(why.to_owned()), &seen, job.as_ref());
            if user != slot.user {
                self.mail(job.as_ref(), &format!("Firm slot cancelled: {why}"));
            }
        }
        let slot = self.ledger.slots().get(place).ok_or_else(failed)?;
        Ok(listed::listed(slot, self.key().as_ref(), None))
    }
}

pub(super) fn failed() -> Refused {
    Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because("the request has failed; queuecastd has logged why"))
}

/// The slot that is asked for; its partition and time limit are found out when it is ranked.
fn asked(user: UserId, wanted: &Reserve, now: UnixTime) -> FirmSlot {
    let probe = &wanted.probe;
    let policy = FirmPolicy::default();
    FirmSlot {
        id: 0,
        user,
        user_name: jobs::name_of(user),
        account: probe.account.clone(),
        qos: probe.qos.clone(),
        partition: probe.partition.clone().unwrap_or_default(),
        nodes: probe.nodes,
        limit: probe.limit().unwrap_or(Seconds::ZERO),
        earliest: probe.earliest(),
        latest: probe.latest(),
        near: match probe.prefer {
            Preferred::Earliest => None,
            Preferred::Latest => Some(probe.latest()),
            Preferred::Nearest(to) => Some(UnixTime(to)),
        },
        asked_notice: wanted.notice(),
        notice: policy.notice_of(wanted.notice()),
        idle: policy.idle,
        job: None,
        if_refused: IfRefused::Run,
        asked_at: now,
        state: SlotState::Asked,
        reserved: None,
        charged_before: 0,
        ranked_at: None,
        used_at: None,
        moved: 0,
        why: None,
        over_at: None,
        is_left: false,
        part: wanted.together.clone().map(|of| Part::asked(of, now)),
    }
}
