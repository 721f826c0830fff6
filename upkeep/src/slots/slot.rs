//! A firm slot as the daemon keeps it.

use job_types::number::{JobId, UserId};
use job_types::options::IfRefused;
use job_types::slot::{LONGER_THAN_LIMIT, SlotState};
use job_types::time::{Seconds, UnixTime};
use job_types::together::{CONFIRMED_WITHIN, Decision, Together};
use job_types::window::Window;
use serde::{Deserialize, Serialize};

/// How long before its start a job is attached to its reservation. From then on it waits for that
/// alone, so that it is as late as can be.
pub const ATTACHED_BEFORE: Seconds = Seconds(10);

/// How often the slots of a window are ranked anew for a slot that may still move.
pub const RANKED_EVERY: Seconds = Seconds(3_600);

/// How long before its time limit a job ends that has them ranked anew at once, as in the replay
/// (`simulator::engine::reserved`).
pub const FAR_BEFORE: Seconds = RANKED_EVERY;

/// How often the cluster that decides about a part is asked, while it does not say what it has
/// decided.
pub const ASKED_EVERY: Seconds = Seconds(15);

/// A firm slot that somebody asked for, and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirmSlot {
    /// Its number, by which its user knows it.
    pub id: u64,
    /// Who asked for it.
    pub user: UserId,
    /// The user's name, or number where this machine knows no name.
    pub user_name: String,
    /// The account that is charged; `None` where there are no accounts.
    pub account: Option<String>,
    /// The quality of service that was asked with.
    pub qos: Option<String>,
    /// The partition whose nodes it has.
    pub partition: String,
    /// How many nodes.
    pub nodes: u32,
    /// The time limit that it has room for.
    pub limit: Seconds,
    /// When it may begin at the earliest.
    pub earliest: UnixTime,
    /// When its time limit has to have passed.
    pub latest: UnixTime,
    /// The start that is preferred among several that are equally good; `None` is the earliest.
    pub near: Option<UnixTime>,
    /// How long before its start it is to move no more, as its user says; `None` is as the site has
    /// it.
    pub asked_notice: Option<Seconds>,
    /// How long before its start it moves no more.
    pub notice: Seconds,
    /// After how long it is given back that nobody uses.
    pub idle: Seconds,
    /// The job that it is for.
    pub job: Option<SlotJob>,
    /// What becomes of the job where there is no slot.
    pub if_refused: IfRefused,
    /// When it was asked for.
    pub asked_at: UnixTime,
    /// How far it has come.
    pub state: SlotState,
    /// What is reserved.
    pub reserved: Option<ReservedTime>,
    /// Node-seconds that are charged for reservations of it which had begun and were given back for
    /// another one.
    #[serde(default)]
    pub charged_before: i64,
    /// When the slots of its window were ranked last.
    pub ranked_at: Option<UnixTime>,
    /// When it was seen in use last.
    pub used_at: Option<UnixTime>,
    /// How many times it was moved, or another one took its place.
    pub moved: u32,
    /// Why it is over or was replaced, in a sentence.
    pub why: Option<String>,
    /// When it was over, and its reservation was given back.
    pub over_at: Option<UnixTime>,
    /// Whether slurmctld may have its reservation, as far as the daemon has found out.
    pub is_left: bool,
    /// The parts that it is one of, which are had together or not at all; `None` is a slot by
    /// itself.
    #[serde(default)]
    pub part: Option<Part>,
}

/// What makes a slot one of several parts, which other clusters have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What the parts are known by, and which cluster decides about them.
    #[serde(flatten)]
    pub of: Together,
    /// By when it has to be confirmed.
    pub confirm_by: UnixTime,
    /// Whether it is. What is confirmed stays so.
    pub is_confirmed: bool,
    /// When the cluster that decides was asked last.
    pub asked_at: Option<UnixTime>,
}

/// The job of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotJob {
    /// The job's number.
    pub id: JobId,
    /// When it was submitted, by which it is told from an earlier job of the same number.
    pub submitted: UnixTime,
}

impl Part {
    /// The part of a slot that is asked for.
    #[must_use]
    pub fn asked(of: Together, now: UnixTime) -> Self {
        Self { of, confirm_by: now + CONFIRMED_WITHIN, is_confirmed: false, asked_at: None }
    }

    /// When the cluster that decides is asked next, which is none of this one's concern where it
    /// decides itself.
    #[must_use]
    pub fn ask_at(&self) -> UnixTime {
        self.asked_at.map_or(self.confirm_by, |asked_at| asked_at + ASKED_EVERY)
    }
}

/// From when until when nodes are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservedTime {
    /// When the reservation begins.
    pub start: UnixTime,
    /// When it ends, later than the time limit by [`LONGER_THAN_LIMIT`].
    pub end: UnixTime,
}

impl FirmSlot {
    /// Where it may lie.
    #[must_use]
    pub fn window(&self) -> Window {
        Window { earliest: self.earliest, latest: self.latest }
    }

    /// How long its reservation is: slurmctld takes whole minutes.
    #[must_use]
    pub fn duration(&self) -> Seconds {
        Seconds((self.limit + LONGER_THAN_LIMIT).minutes_rounded_up().saturating_mul(60))
    }

    /// When it begins at the latest.
    #[must_use]
    pub fn last_start(&self) -> UnixTime {
        self.latest - self.limit
    }

    /// From when on it moves no more; `None` where nothing is reserved.
    #[must_use]
    pub fn fixed_at(&self) -> Option<UnixTime> {
        self.reserved.map(|reserved| reserved.start - self.notice)
    }

    /// The part that it is, while it is not confirmed.
    #[must_use]
    pub fn unconfirmed(&self) -> Option<&Part> {
        self.part.as_ref().filter(|part| !part.is_confirmed)
    }

    /// What was decided about the parts that it is one of; `None` where it is none, or another
    /// cluster decides.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        let part = self.part.as_ref().filter(|part| part.of.decided_by.is_none())?;
        Some(match part.is_confirmed {
            true => Decision::Confirmed,
            false if self.state.is_over() => Decision::GivenUp,
            false => Decision::Open,
        })
    }

    /// When something is to be done about it next that nobody else begins; `None` where nothing is.
    #[must_use]
    pub fn due(&self, now: UnixTime) -> Option<UnixTime> {
        if let Some(part) = self.unconfirmed().filter(|_| !self.state.is_over()) {
            return Some(part.ask_at().max(now + Seconds(1)));
        }
        let ReservedTime { start, end } = self.reserved.filter(|_| !self.state.is_over())?;
        let job = self.job.is_some();
        let moments = [
            Some(start - self.notice),
            Some(start - ATTACHED_BEFORE).filter(|_| job),
            Some(start),
            Some(end - self.limit).filter(|_| job),
            Some(self.used_at.unwrap_or(start) + self.idle).filter(|_| !job),
            Some(end),
        ];
        moments.into_iter().flatten().filter(|moment| *moment > now).min()
    }

    /// How many node-seconds are charged for it: for all of its reservation, or until that was
    /// given back, and for earlier ones that had begun.
    #[must_use]
    pub fn charged_node_seconds(&self) -> i64 {
        let given_back_at = self.over_at.filter(|_| !self.is_left);
        self.charged_before.saturating_add(self.charged_until(given_back_at.unwrap_or(UnixTime(i64::MAX))))
    }

    /// How many node-seconds of its reservation lie before a moment.
    fn charged_until(&self, moment: UnixTime) -> i64 {
        let Some(ReservedTime { start, end }) = self.reserved else { return 0 };
        (moment.clamp(start, end) - start).0.saturating_mul(self.nodes.into())
    }

    /// Takes note that nodes are reserved from then on.
    pub fn reserve(&mut self, start: UnixTime, end: UnixTime, now: UnixTime) {
        (self.reserved, self.is_left) = (Some(ReservedTime { start, end }), true);
        self.state = if start - self.notice > now { SlotState::Movable } else { SlotState::Fixed };
    }

    /// Takes note that its reservation was given back, and that another one is looked for.
    pub fn begin_anew(&mut self, why: &str, now: UnixTime) {
        self.charged_before = self.charged_before.saturating_add(self.charged_until(now));
        (self.reserved, self.state, self.is_left) = (None, SlotState::Asked, false);
        (self.moved, self.why, self.ranked_at) = (self.moved.saturating_add(1), Some(why.to_owned()), None);
    }

    /// Takes note that nothing is reserved for it any more. Where that was so only some time after
    /// it was over, because slurmctld was away or jobs still ran there, nodes were kept until now.
    pub fn given_back(&mut self, now: UnixTime) {
        if self.is_left && self.over_at.is_some() {
            self.over_at = Some(now);
        }
        self.is_left = false;
    }

    /// Takes note that it is over.
    pub fn end(&mut self, state: SlotState, why: Option<String>, now: UnixTime) {
        (self.state, self.over_at) = (state, Some(now));
        if why.is_some() {
            self.why = why;
        }
    }
}
