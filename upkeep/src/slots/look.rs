//! What is to be done about a firm slot, by what is seen of it.

use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};

use super::slot::{ATTACHED_BEFORE, FirmSlot, Part, RANKED_EVERY, ReservedTime};

/// How long before its start nodes that are down are waited for to come back or to be replaced.
const NODES_WANTED_BEFORE: Seconds = Seconds(60);

/// What is seen of a firm slot at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotSeen {
    /// The moment.
    pub now: UnixTime,
    /// Its reservation, as slurmctld has it; `None` where slurmctld has none.
    pub reservation: Option<ReservationSeen>,
    /// Its job.
    pub job: JobSeen,
    /// Whether some job runs in the reservation.
    pub is_in_use: bool,
    /// Whether some job waits for it.
    pub is_waited_for: bool,
    /// Whether some job has ended [`FAR_BEFORE`](super::FAR_BEFORE) or more before its time limit
    /// since the slots of the window were ranked.
    pub has_job_ended_early: bool,
}

/// A reservation as slurmctld has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationSeen {
    /// When it begins.
    pub start: UnixTime,
    /// When it ends.
    pub end: UnixTime,
    /// How many nodes it has.
    pub nodes: u32,
    /// How many of them start jobs.
    pub usable_nodes: u32,
    /// How many of them are maintained at some time between its start and its end.
    pub maintained_nodes: u32,
}

/// The job of a slot as slurmctld has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSeen {
    /// The slot is for no job.
    NotNamed,
    /// It waits.
    Waits {
        /// Whether it is held or waits for other jobs.
        is_blocked: bool,
        /// Whether it is still the job that the slot was asked for: its nodes, time limit,
        /// partition and account, and no other reservation.
        is_as_asked: bool,
        /// Whether it waits for the slot's reservation alone.
        is_attached: bool,
        /// From when on slurmctld may start it; `None` where it does not say.
        eligible: Option<UnixTime>,
    },
    /// It runs, or has ended and its nodes are not free yet.
    Runs {
        /// Whether in the slot's reservation.
        is_inside: bool,
    },
    /// It has ended, or slurmctld does not know it any more.
    Ended {
        /// Whether it is known to have started; `None` where slurmctld does not know it any more.
        has_run: Option<bool>,
    },
}

/// What is to be done about a firm slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotWanted {
    /// Nothing.
    Nothing,
    /// It has come further, and nothing else is to be done.
    Note(SlotState),
    /// The slots of the window are to be ranked, and the best is to be reserved.
    Place,
    /// The slots are to be ranked anew, and it is to move where another one is better.
    Rank,
    /// The reservation that slurmctld has is taken for that of the slot, with the times that it has
    /// there.
    Adopt,
    /// The job is to wait for the reservation alone.
    Attach,
    /// The cluster that decides about the parts is to be asked what it has decided.
    AskDecision,
    /// The reservation is to be given back, and another slot to be looked for.
    Replace {
        /// Why.
        why: &'static str,
    },
    /// The reservation is to be given back, and the slot is over.
    End {
        /// How it ends.
        state: SlotState,
        /// Why, where that needs to be said.
        why: Option<&'static str>,
    },
    /// The reservation of a slot that is over is to be given back.
    GiveBack,
}

impl FirmSlot {
    /// What is to be done about the slot.
    #[must_use]
    pub fn wanted(&self, seen: &SlotSeen) -> SlotWanted {
        if self.state.is_over() {
            return if seen.reservation.is_some() { SlotWanted::GiveBack } else { SlotWanted::Nothing };
        }
        if let Some(part) = self.unconfirmed() {
            return self.until_confirmed(part, seen);
        }
        match seen.job {
            JobSeen::Ended { has_run } => self.without_job(has_run),
            JobSeen::Runs { is_inside: false } => SlotWanted::End { state: SlotState::Early, why: None },
            JobSeen::Runs { is_inside: true } => self.noted(SlotState::Running),
            JobSeen::Waits { is_blocked: true, .. } => returned("the job is held, or waits for other jobs"),
            JobSeen::Waits { is_as_asked: false, .. } => {
                returned("the job is not the one any more that the slot was asked for: somebody has changed it")
            }
            JobSeen::Waits { .. } if self.state == SlotState::Running => SlotWanted::Replace { why: "the job was put back into the queue" },
            JobSeen::Waits { is_attached, .. } => match self.times(seen) {
                Ok(times) => self.before_job(seen, times, is_attached),
                Err(wanted) => wanted,
            },
            JobSeen::NotNamed => match self.times(seen) {
                Ok(times) => self.without_named_job(seen, times),
                Err(wanted) => wanted,
            },
        }
    }

    /// The slot is a part of which it is not known yet whether all of them stand: it stays where it
    /// is until that is decided.
    fn until_confirmed(&self, part: &Part, seen: &SlotSeen) -> SlotWanted {
        let cancelled = |why| SlotWanted::End { state: SlotState::Cancelled, why: Some(why) };
        match (self.reserved, seen.reservation) {
            // Whoever asked was never told of it.
            (None, _) => cancelled("its nodes had not been reserved when queuecastd ended"),
            // The cluster that decides may have confirmed the other parts: what becomes of this one
            // is told then.
            (Some(_), None) if part.of.decided_by.is_none() => cancelled("its reservation was deleted before it was confirmed"),
            // The cluster that decides was out of reach for all of that time.
            (Some(times), there) if seen.now >= times.end || there.is_none() && seen.now >= times.start => {
                returned("its time was over before it was known whether the parts are kept")
            }
            (Some(_), _) if seen.now < part.ask_at() => SlotWanted::Nothing,
            (Some(_), _) if part.of.decided_by.is_none() => cancelled("it was not confirmed in time"),
            (Some(_), _) => SlotWanted::AskDecision,
        }
    }

    /// What is reserved and there, or what is to be done because it is not.
    fn times(&self, seen: &SlotSeen) -> Result<(ReservedTime, ReservationSeen), SlotWanted> {
        match (self.reserved, seen.reservation) {
            (None, Some(_)) => Err(SlotWanted::Adopt),
            (None, None) if seen.now > self.last_start() => {
                let state = if self.moved == 0 { SlotState::Refused } else { SlotState::Lost };
                Err(SlotWanted::End { state, why: Some("no slot is left in the window") })
            }
            (None, None) => Err(SlotWanted::Place),
            (Some(times), None) if seen.job == JobSeen::NotNamed && seen.now >= times.start => {
                // slurmctld deletes a reservation that has ended, or that nobody uses.
                let state = if self.used_at.is_some() { SlotState::Used } else { SlotState::Returned };
                Err(SlotWanted::End { state, why: None })
            }
            (Some(_), None) => Err(SlotWanted::Replace { why: "its reservation is not there any more" }),
            (Some(times), Some(there)) if (there.start, there.end) != (times.start, times.end) => {
                Err(if self.fits(&there) { SlotWanted::Adopt } else { SlotWanted::Replace { why: "somebody has changed its reservation" } })
            }
            (Some(times), Some(there)) if there.nodes < self.nodes && self.state != SlotState::Running && seen.now < times.start => {
                Err(SlotWanted::Replace { why: "its reservation has fewer nodes than it had" })
            }
            (Some(times), Some(there)) => Ok((times, there)),
        }
    }

    /// When the slot may begin at the earliest, so that its job may start then.
    #[must_use]
    pub fn first_start(&self, seen: &SlotSeen) -> UnixTime {
        match seen.job {
            JobSeen::Waits { eligible: Some(eligible), .. } => self.earliest.max(eligible),
            _ => self.earliest,
        }
    }

    /// Whether a reservation with those times is one inside the window.
    fn fits(&self, there: &ReservationSeen) -> bool {
        there.start >= self.earliest
            && there.end <= self.latest + self.duration() - self.limit
            && there.end - there.start >= self.duration()
    }

    /// The job has ended.
    fn without_job(&self, has_run: Option<bool>) -> SlotWanted {
        let was_inside = matches!(self.state, SlotState::Running) || (self.state == SlotState::Attached && has_run == Some(true));
        let (state, why) = match has_run {
            _ if was_inside => (SlotState::Used, None),
            Some(true) => (SlotState::Early, None),
            Some(false) => (SlotState::Cancelled, Some("the job was cancelled before it started")),
            None => (SlotState::Returned, Some("the job has ended")),
        };
        SlotWanted::End { state, why }
    }

    /// The job waits, and the reservation is there.
    fn before_job(&self, seen: &SlotSeen, (times, there): (ReservedTime, ReservationSeen), is_attached: bool) -> SlotWanted {
        let now = seen.now;
        if let Some(why) = self.lacks_nodes(now, times, there) {
            return SlotWanted::Replace { why };
        }
        // Slurm starts a job in a reservation that is too short for it, and kills it at its end.
        if times.end - now.max(times.start) < self.limit {
            return SlotWanted::Replace { why: "the job did not start in its slot, of which too little is left" };
        }
        if times.end - self.first_start(seen) < self.limit {
            return SlotWanted::Replace { why: "the job may not start yet when its slot begins" };
        }
        if is_attached {
            return self.noted(SlotState::Attached);
        }
        if now >= times.start - ATTACHED_BEFORE {
            return SlotWanted::Attach;
        }
        self.until_fixed(times, seen)
    }

    /// Why the reservation does not have its nodes when it begins.
    fn lacks_nodes(&self, now: UnixTime, times: ReservedTime, there: ReservationSeen) -> Option<&'static str> {
        if there.nodes.saturating_sub(there.maintained_nodes) < self.nodes {
            return Some("maintenance is planned on nodes of its reservation");
        }
        let is_near = now >= times.start - NODES_WANTED_BEFORE;
        (is_near && there.usable_nodes < self.nodes).then_some("nodes of its reservation are down, and no others take their place")
    }

    /// Nobody but its user knows which jobs use the slot, and its reservation is there.
    fn without_named_job(&self, seen: &SlotSeen, (times, there): (ReservedTime, ReservationSeen)) -> SlotWanted {
        let now = seen.now;
        if now < times.start {
            // A reservation that jobs wait for can't be deleted.
            return match self.lacks_nodes(now, times, there).filter(|_| !seen.is_waited_for) {
                Some(why) => SlotWanted::Replace { why },
                None => self.until_fixed(times, seen),
            };
        }
        if seen.is_in_use {
            return SlotWanted::Note(SlotState::Running);
        }
        if seen.is_waited_for || now - self.used_at.unwrap_or(times.start) < self.idle {
            return self.noted(if self.used_at.is_some() { SlotState::Running } else { SlotState::Fixed });
        }
        match self.used_at {
            Some(_) => SlotWanted::End { state: SlotState::Used, why: None },
            None => returned("nobody has used it"),
        }
    }

    fn until_fixed(&self, times: ReservedTime, seen: &SlotSeen) -> SlotWanted {
        if seen.now >= times.start - self.notice {
            return self.noted(SlotState::Fixed);
        }
        match self.ranked_at {
            Some(ranked_at) if seen.now - ranked_at < RANKED_EVERY && !seen.has_job_ended_early => self.noted(SlotState::Movable),
            _ => SlotWanted::Rank,
        }
    }

    fn noted(&self, state: SlotState) -> SlotWanted {
        if self.state == state { SlotWanted::Nothing } else { SlotWanted::Note(state) }
    }
}

fn returned(why: &'static str) -> SlotWanted {
    SlotWanted::End { state: SlotState::Returned, why: Some(why) }
}
