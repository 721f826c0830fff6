//! What molding comes to, and why a job is left at its size.

use super::super::submission::FixedSizeReason;
use super::super::{HELD_BACK, LeastGain, Limit, Weighed};
use super::candidate::{Candidate, Draft, NoDraft};
use job_types::size::Unit;
use job_types::time::Seconds;
use std::fmt;

/// Why a job is not molded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotMolded {
    /// It is tied to its size.
    Tied(FixedSizeReason),
    /// There is no past of the user's at the size as written, and no list of sizes.
    NoHistory {
        /// The number of nodes or CPUs of the size as written.
        count: u32,
        /// Whether `count` is nodes or CPUs.
        unit: Unit,
    },
    /// There are no past waits in the partition.
    NoWaits,
    /// No other size is allowed or can be made of its tasks.
    NoOtherSize,
    /// Every other size that the job could have is forbidden; this limit forbids the nearest of
    /// them.
    Forbidden(Limit),
    /// The size as written is forecast to finish first.
    AlreadyBest,
    /// Another size is forecast to finish sooner, and not by so much that it would be worth it.
    GainTooSmall {
        /// The number of nodes or CPUs of the other size.
        count: u32,
        /// Whether `count` is nodes or CPUs.
        unit: Unit,
        /// Forecast response at the size as written.
        written: Seconds,
        /// Forecast response at that size.
        other: Seconds,
        /// The least that a change has to gain.
        least: LeastGain,
    },
    /// Another size is forecast to finish sooner, and others would wait longer for it than the site
    /// allows.
    OthersWait {
        /// The number of nodes or CPUs of the other size.
        count: u32,
        /// Whether `count` is nodes or CPUs.
        unit: Unit,
        /// What it gains, and what it does to others.
        weighed: Weighed,
    },
    /// The site molds none in this partition.
    NotOffered,
    /// The guard holds molding back in this partition.
    HeldBack,
    /// A better size could not be reserved, the one as written can.
    NotReservable,
    /// A firm slot is asked for at the size as written.
    FirmSlot,
    /// A better size would not be admitted with the job's deadline, the one as written is.
    NotAdmitted,
}

impl fmt::Display for NotMolded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMolded::Tied(tie) => write!(f, "{tie}"),
            NotMolded::NoHistory { count, unit } => write!(
                f,
                "you have no past jobs on {count} {} here to compare with; --mold-sizes=LIST names sizes to try",
                unit.word(*count)
            ),
            NotMolded::NoWaits => f.write_str("no past waits are known for this partition"),
            NotMolded::NoOtherSize => f.write_str("no other size that you have run or named fits its tasks and limits"),
            NotMolded::Forbidden(limit) => write!(f, "other sizes are forbidden by {limit}"),
            NotMolded::AlreadyBest => f.write_str("its size is the one forecast to finish first"),
            NotMolded::GainTooSmall { count, unit, written, other, least } => write!(
                f,
                "{count} {} would gain too little: done about {} sooner than in {written}, and {least} are wanted here",
                unit.word(*count),
                *written - *other,
            ),
            NotMolded::OthersWait { count, unit, weighed } => write!(f, "{count} {} {weighed}", unit.word(*count)),
            NotMolded::NotOffered => f.write_str("this partition molds no jobs"),
            NotMolded::HeldBack => f.write_str(HELD_BACK),
            NotMolded::NotReservable => f.write_str("only its own size can be had at the reserved time"),
            NotMolded::FirmSlot => f.write_str("its firm slot is asked for at its own size"),
            NotMolded::NotAdmitted => f.write_str("only at its own size it is admitted with its deadline"),
        }
    }
}

/// The result of molding.
#[derive(Debug)]
pub(in crate::decisions) struct Molding {
    /// What is forecast at the size as written; `None` where that can't be said.
    pub(in crate::decisions) as_written: Option<Candidate>,
    /// The best other size, if one is better.
    pub(in crate::decisions) better: Result<Candidate, NotMolded>,
    /// Whether a plan of the queue says so.
    pub(in crate::decisions) by_plan: bool,
}

/// The first reason for which a size was left out: sizes come with the nearest first.
#[derive(Debug, Default)]
pub(super) struct Forbidden(Option<Limit>);

impl Forbidden {
    /// The size, if nothing forbids it.
    pub(super) fn noted(&mut self, draft: Result<Draft, NoDraft>) -> Option<Draft> {
        if let Err(NoDraft::Forbidden(limit)) = draft {
            self.0.get_or_insert(limit);
        }
        draft.ok()
    }

    /// Why no other size is taken, where no size was left.
    pub(super) fn or(&self, why: NotMolded) -> NotMolded {
        self.0.map_or(why, NotMolded::Forbidden)
    }
}
