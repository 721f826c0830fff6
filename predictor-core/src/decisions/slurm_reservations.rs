//! Nodes that Slurm's own reservations, those for maintenance among them, keep from ordinary jobs.
//!
//! slurmctld starts a job on no node that a reservation has, or will have before the job's time
//! limit ends it, unless the job names the reservation (src/slurmctld/reservation.c,
//! `job_test_resv`). Which nodes those are matters, because a job needs the same ones for all of
//! its time. Nodes that are in the same reservations make a group, and what Slurm's reservations
//! take at some time of a job is the sum over the groups.

use job_types::size::Size;
use job_types::time::UnixTime;
use zerocopy::little_endian::{I64, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The most records that are looked at of one partition.
pub const MOST_SLURM_RESERVATIONS: usize = 256;

/// The latest moment, in Unix seconds, that is read as it is; it is in the year 36812.
const LATEST: i64 = 1 << 40;

/// What one of Slurm's reservations takes of a group of a partition's nodes: a snapshot's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SlurmReservation {
    /// When it begins, in Unix seconds.
    start: I64,
    /// When it ends, in Unix seconds.
    end: I64,
    /// How many nodes are taken as a whole.
    nodes: U32,
    /// How many CPUs are taken, of these nodes and of others.
    cpus: U32,
    /// The group of nodes that they are.
    group: U16,
    /// Unused, zero.
    reserved: U16,
}

impl SlurmReservation {
    /// Nodes and CPUs of a group of nodes that a reservation takes from `start` until `end`.
    #[must_use]
    pub fn new(group: u16, start: UnixTime, end: UnixTime, size: Size) -> SlurmReservation {
        SlurmReservation {
            start: start.0.into(),
            end: end.0.into(),
            nodes: size.nodes.into(),
            cpus: size.cpus.into(),
            group: group.into(),
            reserved: U16::ZERO,
        }
    }

    /// When it begins.
    #[must_use]
    pub fn start(&self) -> UnixTime {
        UnixTime(self.start.get().clamp(0, LATEST))
    }

    /// When it ends.
    #[must_use]
    pub fn end(&self) -> UnixTime {
        UnixTime(self.end.get().clamp(0, LATEST))
    }

    /// How many nodes and CPUs are taken.
    #[must_use]
    pub fn size(&self) -> Size {
        Size { nodes: self.nodes.get(), cpus: self.cpus.get() }
    }

    /// The record's group of nodes and its begin, by which the records of a partition ascend.
    #[must_use]
    pub fn order(&self) -> (u16, UnixTime) {
        (self.group.get(), self.start())
    }

    /// Whether some of the time from one moment until another is its own.
    #[must_use]
    pub fn overlaps(&self, from: UnixTime, until: UnixTime) -> bool {
        self.start() < until && self.end() > from
    }
}

/// What Slurm's reservations take at some time between two moments, of records in their order.
#[must_use]
pub fn taken_between(slurm_reservations: &[SlurmReservation], from: UnixTime, until: UnixTime) -> Size {
    let mut taken = Size { nodes: 0, cpus: 0 };
    for group in slurm_reservations.chunk_by(|one, other| one.group == other.group) {
        // The nodes of a group are the same ones at all times, so that they are taken once.
        let overlapping = || group.iter().filter(|record| record.overlaps(from, until)).map(SlurmReservation::size);
        let most = |count: fn(&Size) -> u32| overlapping().map(|size| count(&size)).max().unwrap_or(0);
        taken.nodes = taken.nodes.saturating_add(most(|size| size.nodes));
        taken.cpus = taken.cpus.saturating_add(most(|size| size.cpus));
    }
    taken
}

/// Whether a job can start at one moment and run until another beside Slurm's reservations in a
/// partition of the size `all`. A job that is larger than the partition is not kept out by them.
#[must_use]
pub fn leaves_room(slurm_reservations: &[SlurmReservation], all: Size, job: Size, from: UnixTime, until: UnixTime) -> bool {
    let taken = taken_between(slurm_reservations, from, until);
    let is_left = |all: u32, taken: u32, job: u32| taken == 0 || job <= all.saturating_sub(taken);
    is_left(all.nodes, taken.nodes, job.nodes) && is_left(all.cpus, taken.cpus, job.cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Size = Size { nodes: 10, cpus: 40 };

    fn nodes(nodes: u32) -> Size {
        Size { nodes, cpus: nodes.saturating_mul(4) }
    }

    fn slurm_reservation(group: u16, start: i64, end: i64, count: u32) -> SlurmReservation {
        SlurmReservation::new(group, UnixTime(start), UnixTime(end), nodes(count))
    }

    fn has_room(records: &[SlurmReservation], count: u32, from: i64, until: i64) -> bool {
        leaves_room(records, ALL, nodes(count), UnixTime(from), UnixTime(until))
    }

    #[test]
    fn a_job_fits_before_behind_and_beside_a_reservation() {
        let maintenance = [slurm_reservation(0, 100, 200, 6)];
        assert!(has_room(&maintenance, 10, 0, 100) && has_room(&maintenance, 10, 200, 300));
        assert!(has_room(&maintenance, 4, 50, 250) && !has_room(&maintenance, 5, 99, 101));
    }

    #[test]
    fn nodes_that_are_reserved_one_after_the_other_are_all_missing_from_a_job_over_both_times() {
        let rolling = [slurm_reservation(0, 100, 200, 6), slurm_reservation(1, 200, 300, 4)];
        assert!(has_room(&rolling, 4, 100, 200) && has_room(&rolling, 6, 200, 300));
        assert!(!has_room(&rolling, 1, 150, 250));
        // Two reservations of the same nodes take them away once.
        let twice = [slurm_reservation(0, 100, 200, 6), slurm_reservation(0, 150, 300, 6)];
        assert!(has_room(&twice, 4, 150, 250));
    }

    #[test]
    fn a_job_that_is_larger_than_the_partition_is_not_kept_out_by_reservations_at_other_times() {
        assert!(has_room(&[slurm_reservation(0, 100, 200, 6)], 11, 0, 100));
    }

    #[test]
    fn numbers_that_can_not_be_are_read_as_ones_that_can() {
        let hostile = slurm_reservation(9, i64::MIN, i64::MAX, u32::MAX);
        assert_eq!((hostile.start(), hostile.end()), (UnixTime(0), UnixTime(LATEST)));
        let twice = [hostile, slurm_reservation(10, i64::MIN, i64::MAX, u32::MAX)];
        assert_eq!(taken_between(&twice, UnixTime(1), UnixTime(2)), Size { nodes: u32::MAX, cpus: u32::MAX });
        assert!(!slurm_reservation(0, 200, 100, 1).overlaps(UnixTime(120), UnixTime(150)));
    }
}
