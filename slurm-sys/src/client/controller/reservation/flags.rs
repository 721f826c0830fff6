//! What sets one reservation apart from another.

use std::fmt;

use crate::bindings;
use strum::VariantArray;

/// A property of a reservation, by which others may be on its nodes, it changes them, or it ends.
/// `scontrol show reservation` has its name in `Flags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum ReservationFlag {
    /// It is for maintenance (`MAINT`), and may lie over any other reservation.
    Maintenance,
    /// Its jobs may begin before it and end after it, on its nodes and on others (`FLEX`).
    Flex,
    /// It comes again each hour, day, week, weekday or weekend (`HOURLY`, `DAILY`, `WEEKLY`,
    /// `WEEKDAY`, `WEEKEND`).
    Recurring,
    /// It is deleted when it has been without jobs for a while (`PURGE_COMP`).
    PurgeComp,
    /// Jobs that still wait for it when it ends then wait as others do (`NO_HOLD_JOBS_AFTER_END`);
    /// otherwise they are held.
    NoHoldJobsAfterEnd,
    /// It was made whatever jobs run on its nodes (`IGNORE_JOBS`).
    IgnoreJobs,
    /// It was made whatever other reservations have its nodes (`OVERLAP`).
    Overlap,
    /// Its nodes were named when it was made, and stay the same (`SPEC_NODES`).
    SpecificNodes,
    /// Nodes that jobs are given in it are replaced with others, so that it always has as many that
    /// are free (`REPLACE`).
    Replace,
    /// Nodes that can't be used any more are replaced (`REPLACE_DOWN`). Without this flag as well,
    /// but for named nodes and `STATIC_ALLOC` (`_validate_node_choice` in
    /// src/slurmctld/reservation.c).
    ReplaceDown,
    /// It reserves licences or the like, and any nodes do (`ANY_NODES`).
    AnyNodes,
}

impl ReservationFlag {
    /// Slurm's own bits for it (`RESERVE_FLAG_*` of slurm/slurm.h): of these, one that is set is
    /// enough.
    pub(super) fn bits(self) -> u64 {
        match self {
            Self::Maintenance => bindings::FLAG_RESERVATION_MAINT,
            Self::Flex => bindings::FLAG_RESERVATION_FLEX,
            Self::Recurring => bindings::FLAG_RESERVATION_RECURRING,
            Self::PurgeComp => bindings::FLAG_RESERVATION_PURGE_COMP,
            Self::NoHoldJobsAfterEnd => bindings::FLAG_RESERVATION_NO_HOLD_JOBS,
            Self::IgnoreJobs => bindings::FLAG_RESERVATION_IGNORE_JOBS,
            Self::Overlap => bindings::FLAG_RESERVATION_OVERLAP,
            Self::SpecificNodes => bindings::FLAG_RESERVATION_SPEC_NODES,
            Self::Replace => bindings::FLAG_RESERVATION_REPLACE,
            Self::ReplaceDown => bindings::FLAG_RESERVATION_REPLACE_DOWN,
            Self::AnyNodes => bindings::FLAG_RESERVATION_ANY_NODES,
        }
    }
}

/// The flags that a reservation has, of those that are told apart here.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ReservationFlags(u16);

impl ReservationFlags {
    /// Whether it has this one.
    #[must_use]
    pub fn has(self, flag: ReservationFlag) -> bool {
        self.0 & 1 << flag as u16 != 0
    }

    /// Those that Slurm's number stands for; bits that are not known here are left out.
    pub(super) fn from_raw(raw: u64) -> Self {
        ReservationFlag::VARIANTS.iter().copied().filter(|flag| raw & flag.bits() != 0).collect()
    }
}

impl FromIterator<ReservationFlag> for ReservationFlags {
    fn from_iter<T: IntoIterator<Item = ReservationFlag>>(flags: T) -> Self {
        Self(flags.into_iter().fold(0, |set, flag| set | 1 << flag as u16))
    }
}

impl fmt::Debug for ReservationFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(ReservationFlag::VARIANTS.iter().filter(|flag| self.has(**flag))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ReservationFlag::{Maintenance, PurgeComp, Recurring};

    #[test]
    fn flags_are_known_by_slurms_bits_and_others_are_ignored() {
        // MAINT is bit 0, DAILY bit 2, PURGE_COMP bit 20, HOURLY bit 35; bits 1 and 60 are none of
        // ours.
        let flags = ReservationFlags::from_raw(1 | 1 << 1 | 1 << 20 | 1 << 60);
        assert_eq!(flags, [PurgeComp, Maintenance].into_iter().collect());
        assert!(flags.has(Maintenance) && !flags.has(Recurring));
        for recurrence in [1 << 2, 1 << 35] {
            assert_eq!(ReservationFlags::from_raw(recurrence), [Recurring].into_iter().collect());
        }
        assert_eq!(format!("{flags:?}"), "{Maintenance, PurgeComp}");
    }

    #[test]
    fn each_flag_is_told_from_each_other() {
        for flag in ReservationFlag::VARIANTS {
            assert_eq!(ReservationFlags::from_raw(flag.bits()), [*flag].into_iter().collect());
        }
    }
}
