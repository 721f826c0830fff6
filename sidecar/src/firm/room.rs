//! Looks at each slot, and does what is wanted of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, never};
use job_types::number::JobId;
use job_types::options::{IfRefused, Mode};
use job_types::promise::SlotAsked;
use job_types::record::SealKey;
use job_types::slot::SlotState;
use job_types::slot_name;
use job_types::time::{Seconds, UnixTime};
use parking_lot::Mutex;
use slurm_sys::client::controller::{
    self, JobUpdate, NewReservation, QueuedJob, Reservation, ReservationError, ReservationUpdate, create_reservation, delete_reservation,
    update_reservation,
};
use upkeep::{FirmSlot, JobSeen, SlotSeen, SlotWanted};

use super::deciders::{Deciders, Heard};
use super::ledger::Ledger;
use super::mail::{self, Mailer};
use super::observed::Observed;
use super::placing::{self, NotRanked};
use super::told::told;
use super::{Round, jobs, listed, seen};
use crate::api::{Asked, FirmRoom};
use crate::changes::{Change, Issuer};
use crate::clock::now;
use crate::metrics::firm_slots::FirmSlotMetrics;
use crate::read::queue_reader;

/// How long slurmctld keeps a reservation without jobs where no daemon gives it back, at the least.
const LEAST_PURGE: Seconds = Seconds(180);
/// How far ahead a reservation begins at the least.
const AHEAD: Seconds = Seconds(2);
/// How many slots are ranked anew in one look, so that what is due of others does not wait long.
const MOST_RANKED_ANEW: u32 = 4;
/// How old a use is that is written to the disk anew.
const USE_WRITTEN_EVERY: Seconds = Seconds(60);

/// What became of the attempt to give a reservation back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenBack {
    /// It is not there any more.
    Gone,
    /// Jobs run in it or wait for it.
    InUse,
    /// slurmctld is away, refuses, or nothing may be done now.
    NotNow,
}

/// Why nothing is reserved or given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// Not at the moment.
    ForNow(&'static str),
    /// Not on this site.
    BySite(&'static str),
}

/// What became of the attempt to place a slot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// Nodes are reserved.
    Reserved,
    /// Nothing can be done now; it is tried again.
    Later,
    /// There is no slot, for this reason, and perhaps in a window that is near.
    Refused(String, Option<String>),
}

/// The slots, and what is known of the cluster they are on.
pub(super) struct Room<'a> {
    pub(super) api: FirmRoom,
    pub(super) ledger: Ledger,
    issuer: &'a Mutex<Issuer>,
    metrics: FirmSlotMetrics,
    /// What would have been reserved in a mode that makes no slots.
    pub(super) observed: Observed,
    pub(super) round: Option<Round>,
    /// When something was sent to slurmctld last.
    sent_at: Option<Instant>,
    /// Whether the log says that slurmctld can't be asked.
    is_away: bool,
    /// Whether nobody can ask any more.
    is_alone: bool,
    /// How many slots were ranked anew in this look.
    ranked_anew: u32,
    /// The reservations of slots that are not known any more, as the log has them.
    strays: HashSet<String>,
    /// The clusters that decide about parts.
    pub(super) deciders: Deciders,
    mailer: Mailer,
}

impl<'a> Room<'a> {
    pub(super) fn new(api: FirmRoom, (ledger, observed): (Ledger, Observed), issuer: &'a Mutex<Issuer>, metrics: FirmSlotMetrics) -> Self {
        let room = Self {
            api,
            ledger,
            issuer,
            metrics,
            observed,
            round: None,
            sent_at: None,
            is_away: false,
            is_alone: false,
            ranked_anew: 0,
            strays: HashSet::new(),
            deciders: Deciders::new(),
            mailer: Mailer::start(),
        };
        room.list();
        room
    }

    /// What users ask. It is taken once it can be answered, which needs a cluster.
    pub(super) fn asked(&self) -> Receiver<Asked> {
        if self.round.is_some() && !self.is_alone { self.api.asked().clone() } else { never() }
    }

    /// What clusters have decided about parts.
    pub(super) fn heard(&self) -> Receiver<Heard> {
        self.deciders.heard().clone()
    }

    /// Nobody will ask any more.
    pub(super) fn is_left_alone(&mut self) {
        self.is_alone = true;
    }

    pub(super) fn begin_round(&mut self, round: Round) {
        self.round = Some(round);
    }

    /// When something is to be done next that nobody else begins.
    pub(super) fn due(&self, now: UnixTime) -> Option<UnixTime> {
        self.ledger.slots().iter().filter_map(|slot| slot.due(now)).min()
    }

    /// The key of names and records.
    pub(super) fn key(&self) -> Option<SealKey> {
        self.round.as_ref()?.cluster.record_key
    }

    /// Whether reservations may be made.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_open(&self) -> Result<(), Closed> {
        match &self.round {
            None => Err(Closed::ForNow("the cluster is not known yet")),
            Some(Round { mode, .. }) if *mode != Mode::Enforce => {
                Err(Closed::BySite("the site's mode is below enforce, so that nothing is reserved"))
            }
            Some(Round { per_second: 0, .. }) => {
                Err(Closed::BySite("the site has queuecast change nothing after a submission (per_second of [changes])"))
            }
            Some(_) if self.key().is_none() => Err(Closed::ForNow("the key of records can't be read")),
            Some(_) if self.issuer.lock().is_off() => Err(Closed::ForNow("queuecast is switched off")),
            Some(_) => Ok(()),
        }
    }

    /// Looks at all slots, the most urgent first.
    pub(super) fn look(&mut self) {
        if !self.issuer.lock().is_off() {
            self.observe();
        }
        if self.check_open().is_err() {
            return;
        }
        self.take_up_jobs();
        self.ledger.forget(UnixTime(now()));
        let mut places: Vec<usize> = (0..self.ledger.slots().len()).filter(|place| self.needs_look(*place)).collect();
        if places.is_empty() || !self.ledger.keep() {
            return;
        }
        places.sort_by_key(|place| self.ledger.slots().get(*place).and_then(|slot| slot.reserved).map(|times| times.start));
        let begun = Instant::now();
        let Some(reservations) = self.reservations() else { return };
        self.tell_of_strays(&reservations);
        self.ranked_anew = 0;
        for place in places {
            if self.look_at(place, &reservations).is_none() {
                return;
            }
        }
        self.metrics.looked(begun.elapsed());
        if self.is_away {
            self.is_away = false;
            tracing::info!("firm slots are looked after again");
        }
    }

    fn needs_look(&self, place: usize) -> bool {
        self.ledger.slots().get(place).is_some_and(|slot| !slot.state.is_over() || slot.is_left)
    }

    /// Takes up the jobs whose records ask for a slot.
    fn take_up_jobs(&mut self) {
        let Some(Round { cluster, .. }) = &self.round else { return };
        let cluster = Arc::clone(cluster);
        for promised in &cluster.slots {
            let job = &promised.job;
            let is_its =
                |slot: &FirmSlot| slot.job.is_some_and(|of| of.id == job.id && (of.submitted == job.submitted || job.restarts > 0));
            if SlotAsked::of(&job.record).is_none() || job.started.is_some() || self.ledger.slots().iter().any(is_its) {
                continue;
            }
            if let Some(slot) = jobs::asked_by(promised, UnixTime(now())) {
                tracing::info!(job = job.id.0, nodes = slot.nodes, "a job asks for a firm slot");
                self.ledger.add(slot);
            }
        }
    }

    /// Looks at one slot and does what is wanted of it; `None` where slurmctld does not say how it
    /// stands.
    fn look_at(&mut self, place: usize, reservations: &[Reservation]) -> Option<()> {
        let slot = self.ledger.slots().get(place)?.clone();
        let name = slot_name::of_slot(slot.id, &self.key()?);
        let job = match slot.job.map(|job| self.job(job.id)) {
            Some(known) => known?,
            None => None,
        };
        let seen = self.seen(&slot, reservations, job.as_ref(), &name);
        let wanted = slot.wanted(&seen);
        if seen.reservation.is_none() && slot.state.is_over() {
            self.ledger.change(place)?.given_back(seen.now);
        }
        if wanted != SlotWanted::Nothing {
            tracing::debug!(slot = slot.id, ?wanted, ?seen, "looked at a firm slot");
        }
        self.carry_out(place, &wanted, &seen, job.as_ref(), &name);
        Some(())
    }

    fn carry_out(&mut self, place: usize, wanted: &SlotWanted, seen: &SlotSeen, job: Option<&QueuedJob>, name: &str) -> Option<()> {
        let now = seen.now;
        let first_start = self.ledger.slots().get(place)?.first_start(seen);
        match wanted {
            SlotWanted::Nothing => {}
            SlotWanted::Note(state) => {
                let slot = self.ledger.slots().get(place)?;
                let is_news = slot.state != *state;
                let is_use = seen.is_in_use && slot.used_at.is_none_or(|used_at| now - used_at >= USE_WRITTEN_EVERY);
                if is_news || is_use {
                    let slot = self.ledger.change(place)?;
                    slot.state = *state;
                    slot.used_at = if seen.is_in_use { Some(now) } else { slot.used_at };
                }
                if is_news {
                    self.tell(place, job);
                }
            }
            SlotWanted::Place => match self.place(place, name, first_start) {
                Placed::Reserved => self.tell(place, job),
                Placed::Later => {}
                Placed::Refused(why, _) => {
                    let state = if self.ledger.slots().get(place)?.moved == 0 { SlotState::Refused } else { SlotState::Lost };
                    self.end(place, state, Some(why), seen, job);
                }
            },
            SlotWanted::Rank if self.ranked_anew >= MOST_RANKED_ANEW => {}
            SlotWanted::Rank => {
                self.ranked_anew += 1;
                self.move_to_better(place, name, job, seen)?;
            }
            SlotWanted::Adopt => {
                let there = seen.reservation?;
                self.ledger.change(place)?.reserve(there.start, there.end, now);
                self.tell(place, job);
            }
            SlotWanted::Attach => {
                let job = job?;
                let attached = FirmSlot { state: SlotState::Attached, ..self.ledger.slots().get(place)?.clone() };
                let admin_comment = told(job, &attached, self.key().as_ref(), now);
                if self.change(job, Some(JobUpdate { reservation: Some(name.to_owned()), admin_comment, ..JobUpdate::default() })) {
                    self.ledger.change(place)?.state = SlotState::Attached;
                }
            }
            SlotWanted::Replace { why } => {
                if self.let_go(seen, job) && self.give_back(name) == GivenBack::Gone {
                    let slot = self.ledger.change(place)?;
                    tracing::info!(slot = slot.id, why, "another slot is looked for");
                    slot.begin_anew(why, now);
                    self.metrics.moved();
                    let placed = self.place(place, name, first_start);
                    let present = job.and_then(|job| self.job(job.job_id).flatten());
                    if let Placed::Refused(reason, _) = placed {
                        let seen = SlotSeen { reservation: None, ..*seen };
                        self.end(place, SlotState::Lost, Some(format!("{why}; {reason}")), &seen, present.as_ref());
                    } else {
                        self.mail(present.as_ref(), &mail::of_replacement(why, placed == Placed::Reserved));
                        self.tell(place, present.as_ref());
                    }
                }
            }
            SlotWanted::AskDecision => self.ask_decision(place, now),
            SlotWanted::End { state, why } => self.end(place, *state, why.map(str::to_owned), seen, job),
            SlotWanted::GiveBack => {
                if self.let_go(seen, job) && self.give_back(name) == GivenBack::Gone {
                    self.ledger.change(place)?.given_back(now);
                }
            }
        }
        Some(())
    }

    /// Ends a slot: what is reserved for it is given back, now or at the next look.
    pub(super) fn end(&mut self, place: usize, state: SlotState, why: Option<String>, seen: &SlotSeen, job: Option<&QueuedJob>) {
        let Some(slot) = self.ledger.change(place) else { return };
        slot.end(state, why, seen.now);
        slot.is_left = seen.reservation.is_some();
        let (id, if_refused, is_left) = (slot.id, slot.if_refused, slot.is_left);
        tracing::info!(slot = id, state = state.name(), why = slot.why, "a firm slot is over");
        let says = mail::of_end(state, slot.why.as_deref());
        // It is over on the disk before anything of it is given back.
        self.ledger.keep();
        let Some(name) = self.key().map(|key| slot_name::of_slot(id, &key)) else { return };
        if is_left && self.let_go(seen, job) && self.give_back(&name) == GivenBack::Gone {
            self.ledger.change(place).into_iter().for_each(|slot| slot.given_back(seen.now));
        }
        says.into_iter().for_each(|says| self.mail(job, &says));
        let waits = matches!(seen.job, JobSeen::Waits { .. });
        let present = job.and_then(|job| self.job(job.job_id).flatten());
        match present {
            Some(job) if waits && matches!(state, SlotState::Refused | SlotState::Lost) && if_refused == IfRefused::Cancel => {
                self.tell(place, Some(&job));
                if let Some(job) = self.job(job.job_id).flatten() {
                    self.change(&job, None);
                }
            }
            Some(job) if !matches!(seen.job, JobSeen::Ended { .. }) => self.tell(place, Some(&job)),
            _ => {}
        }
    }

    /// Reserves the best slot that is to be had, of those that begin at `first_start` at the
    /// earliest.
    pub(super) fn place(&mut self, place: usize, name: &str, first_start: UnixTime) -> Placed {
        let Some(slot) = self.ledger.slots().get(place).cloned() else { return Placed::Later };
        let ranked = match placing::rank(self.api.prober(), &slot, name, first_start) {
            Ok(ranked) => ranked,
            Err(NotRanked::Later) => return Placed::Later,
            Err(NotRanked::Never(why)) => return Placed::Refused(why, None),
        };
        let Some(slot) = self.ledger.change(place) else { return Placed::Later };
        let request = &ranked.answer.request;
        (slot.idle, slot.ranked_at) = (ranked.idle, Some(UnixTime(now())));
        slot.notice = slot.asked_notice.unwrap_or(ranked.notice);
        if slot.job.is_none() {
            (slot.account, slot.qos) = (request.account.clone(), request.qos.clone());
        }
        if let (Some(partition), Some(limit)) = (&request.partition, request.limit()) {
            (slot.partition, slot.limit) = (partition.clone(), limit);
        }
        // From now on slurmctld may have it, whatever becomes of this process.
        slot.is_left = true;
        let slot = slot.clone();
        if !self.ledger.keep() {
            return Placed::Later;
        }
        let mut taken = 0;
        for start in placing::in_order(&ranked, slot.near) {
            // One that has passed when slurmctld reads it would begin at another moment than is
            // noted here.
            let start = start.max(UnixTime(now()) + AHEAD);
            if start > slot.last_start() {
                continue;
            }
            match self.reserve(&slot, name, start) {
                Some(Ok(_)) => {
                    let end = start + slot.duration();
                    tracing::info!(slot = slot.id, name, start = start.0, nodes = slot.nodes, "reserved nodes for a firm slot");
                    if let Some(slot) = self.ledger.change(place) {
                        slot.reserve(start, end, UnixTime(now()));
                    }
                    // It counts from now on when others are ranked.
                    self.keep_and_list();
                    return Placed::Reserved;
                }
                Some(Err(ReservationError::NodesBusy | ReservationError::Overlaps)) => taken += 1,
                // One that is there already is taken up at the next look.
                Some(Err(ReservationError::NameTaken | ReservationError::InUse | ReservationError::Away(_))) | None => {
                    return Placed::Later;
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, slot = slot.id, "a firm slot can't be reserved");
                    return Placed::Refused(format!("slurmctld takes no such reservation: {error}"), None);
                }
            }
        }
        if let Some(slot) = self.ledger.change(place) {
            slot.is_left = false;
        }
        Placed::Refused(placing::why_none(&ranked, taken), ranked.nearest)
    }

    fn reserve(&mut self, slot: &FirmSlot, name: &str, start: UnixTime) -> Option<Result<String, ReservationError>> {
        let new = NewReservation {
            name: name.to_owned(),
            start,
            duration: slot.duration(),
            users: vec![slot.user_name.clone()],
            accounts: slot.account.iter().cloned().collect(),
            partition: Some(slot.partition.clone()),
            nodes: slot.nodes,
            purge_after: Some(slot.idle.max(LEAST_PURGE)),
            no_hold_jobs_after_end: true,
            replace_down: true,
            comment: None,
        };
        self.pace();
        let outcome = self.issuer.lock().reservation(|| create_reservation(&new))?;
        self.metrics.answered(&outcome);
        Some(outcome)
    }

    fn move_to_better(&mut self, place: usize, name: &str, job: Option<&QueuedJob>, seen: &SlotSeen) -> Option<()> {
        let slot = self.ledger.slots().get(place)?.clone();
        let (times, now) = (slot.reserved?, seen.now);
        let ranked = placing::rank(self.api.prober(), &slot, name, slot.first_start(seen));
        self.ledger.change(place)?.ranked_at = Some(now);
        let ranked =
            ranked.inspect_err(|not_ranked| tracing::debug!(slot = slot.id, ?not_ranked, "a firm slot is not ranked anew")).ok()?;
        let better = placing::better(&ranked, &slot, times.start, now);
        tracing::debug!(slot = slot.id, present_delay = ?ranked.present_delay, better = better.len(), "ranked a firm slot anew");
        for start in better {
            self.pace();
            let update = ReservationUpdate { start: Some(start), nodes: Some(slot.nodes), ..ReservationUpdate::default() };
            let outcome = self.issuer.lock().reservation(|| update_reservation(name, &update))?;
            self.metrics.answered(&outcome);
            match outcome {
                Ok(()) => {
                    tracing::info!(slot = slot.id, from = times.start.0, to = start.0, "moved a firm slot");
                    let slot = self.ledger.change(place)?;
                    slot.reserve(start, start + slot.duration(), now);
                    slot.moved = slot.moved.saturating_add(1);
                    self.metrics.moved();
                    self.tell(place, job);
                    return Some(());
                }
                Err(ReservationError::NodesBusy | ReservationError::Overlaps) => {}
                Err(error) => {
                    tracing::warn!(%error, slot = slot.id, "a firm slot can't be moved, and stays where it is");
                    return Some(());
                }
            }
        }
        Some(())
    }

    /// Deletes a reservation.
    pub(super) fn give_back(&mut self, name: &str) -> GivenBack {
        self.pace();
        match self.issuer.lock().reservation(|| delete_reservation(name)) {
            Some(Ok(())) => {
                tracing::info!(name, "gave the reservation of a firm slot back");
                GivenBack::Gone
            }
            Some(Err(ReservationError::NotThere)) => GivenBack::Gone,
            Some(Err(ReservationError::InUse)) => GivenBack::InUse,
            Some(Err(_)) | None => GivenBack::NotNow,
        }
    }

    /// Has the job wait for its reservation no longer, where it does. Returns whether it does not.
    fn let_go(&mut self, seen: &SlotSeen, job: Option<&QueuedJob>) -> bool {
        match (seen.job, job) {
            (JobSeen::Waits { is_attached: true, .. }, Some(job)) => {
                self.change(job, Some(JobUpdate { reservation: Some(String::new()), ..JobUpdate::default() }))
            }
            _ => true,
        }
    }

    /// Writes into the job's record how its slot stands.
    fn tell(&mut self, place: usize, job: Option<&QueuedJob>) {
        let (Some(job), Some(slot)) = (job, self.ledger.slots().get(place)) else { return };
        let admin_comment = told(job, slot, self.key().as_ref(), UnixTime(now()));
        if admin_comment.is_some() {
            self.change(job, Some(JobUpdate { admin_comment, ..JobUpdate::default() }));
        }
    }

    /// Has the user of a job told by mail, where that is wanted.
    pub(super) fn mail(&mut self, job: Option<&QueuedJob>, says: &str) {
        if let Some(job) = job
            && !self.issuer.lock().is_off()
        {
            self.mailer.send(job, says);
        }
    }

    fn change(&mut self, job: &QueuedJob, update: Option<JobUpdate>) -> bool {
        self.pace();
        self.issuer.lock().change(&Change::of_slot(job, update, UnixTime(now())))
    }

    /// Waits until slurmctld may be sent something again.
    fn pace(&mut self) {
        let per_second = self.round.as_ref().map_or(1, |round| round.per_second.max(1));
        let gap = Duration::from_secs(1) / per_second;
        if let Some(sent_at) = self.sent_at {
            thread::sleep(gap.saturating_sub(sent_at.elapsed()));
        }
        self.sent_at = Some(Instant::now());
    }

    /// The job of that number, if slurmctld knows it; `None` where slurmctld does not answer.
    #[allow(clippy::option_option, reason = "that there is no job is known, or nothing is")]
    pub(super) fn job(&mut self, job: JobId) -> Option<Option<QueuedJob>> {
        match queue_reader::jobs_with_number(job) {
            Ok(known) => Some(known.into_iter().map(|known| known.job).find(|known| known.job_id == job)),
            Err(error) => {
                self.note_away(&error);
                None
            }
        }
    }

    /// All reservations; `None` where slurmctld does not answer.
    pub(super) fn reservations(&mut self) -> Option<Vec<Reservation>> {
        controller::reservations().inspect_err(|error| self.note_away(error)).ok()
    }

    /// Says of reservations that are those of slots which are not known any more, as where the file
    /// of slots was lost. Slurm deletes each once it has been idle for a while, or at its end.
    fn tell_of_strays(&mut self, reservations: &[Reservation]) {
        let Some(key) = self.key() else { return };
        let is_known = |id: u64| self.ledger.slots().iter().any(|slot| slot.id == id);
        let strays = reservations.iter().filter(|reservation| slot_name::slot_of(&reservation.name, &key).is_some_and(|id| !is_known(id)));
        let strays: HashSet<String> = strays.map(|reservation| reservation.name.clone()).collect();
        for name in strays.difference(&self.strays) {
            tracing::warn!(name, "a reservation is that of a firm slot which is not known any more: it runs out by itself");
        }
        self.strays = strays;
    }

    fn note_away(&mut self, error: &dyn std::fmt::Display) {
        if !self.is_away {
            self.is_away = true;
            tracing::warn!(%error, "firm slots can't be looked after at present; each round tries again");
        }
    }

    pub(super) fn seen(&self, slot: &FirmSlot, reservations: &[Reservation], job: Option<&QueuedJob>, name: &str) -> SlotSeen {
        seen::seen(slot, (reservations, name), job, self.round.as_ref().map(|round| &*round.cluster))
    }

    /// Keeps on the disk what has changed, and has it listed.
    pub(super) fn keep_and_list(&mut self) {
        self.ledger.keep();
        self.list();
    }

    fn list(&self) {
        let key = self.key();
        self.metrics.slots(self.ledger.slots().iter().map(|slot| slot.state));
        self.api.list(self.ledger.slots().iter().map(|slot| listed::listed(slot, key.as_ref(), None)).collect());
    }
}
