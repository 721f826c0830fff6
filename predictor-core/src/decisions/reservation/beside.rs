//! Virtual reservations beside Slurm's own: how much padding a job may have so that none of
//! Slurm's reservations, as for maintenance, keeps it from starting.

use super::trajectory::Reservable;
use crate::decisions::LIMIT_ROUNDING;
use crate::decisions::site::Partition;
use crate::decisions::slurm_reservations::{SlurmReservation, leaves_room};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// A change that is smaller than this part of what is left, of the padding or of the time until the
/// job becomes eligible, is not worth a change of the job.
pub const WORTH_A_CHANGE: f64 = 0.125;

/// A time of which all has to be free of Slurm's reservations, with the padding that it is of.
///
/// A job that becomes eligible so long before the reserved time can start at any moment from then
/// on, and slurmctld starts it only where its time limit then ends outside of Slurm's reservations.
/// The limit is at most the padding longer than is needed, and while the job waits it sheds what it
/// has outlived, but only as soon as that is worth a change.
fn time_of(reserved: UnixTime, own_limit: Seconds, padding: Seconds) -> (UnixTime, UnixTime) {
    let not_shed = Seconds((padding.0 as f64 * WORTH_A_CHANGE).ceil() as i64);
    (reserved - padding, unpadded_end(reserved, own_limit) + not_shed)
}

fn unpadded_end(reserved: UnixTime, own_limit: Seconds) -> UnixTime {
    reserved + own_limit + LIMIT_ROUNDING
}

/// The longest padding with which one of Slurm's reservations stays outside of the job's time;
/// `None` where it is inside without any.
fn most_padding_outside(of: &SlurmReservation, reserved: UnixTime, own_limit: Seconds) -> Option<Seconds> {
    let unpadded_end = unpadded_end(reserved, own_limit);
    if of.end() <= reserved {
        Some(reserved - of.end())
    } else if of.start() >= unpadded_end {
        Some(Seconds(((of.start() - unpadded_end).0 as f64 / WORTH_A_CHANGE) as i64))
    } else {
        None
    }
}

/// The most padding that a virtual reservation of a job of that size and time limit may have beside
/// Slurm's reservations in a partition, and which of them forbids more; `None` where none does.
///
/// # Errors
/// Where too little is left of the partition at the reserved time itself, or before the job's own
/// time limit ends it: of Slurm's reservations then the last to end.
pub(super) fn most_padding(
    partition: &Partition<'_>,
    size: Size,
    reserved: UnixTime,
    own_limit: Seconds,
) -> Result<Option<(Seconds, SlurmReservation)>, SlurmReservation> {
    let all = Size { nodes: partition.nodes, cpus: partition.cpus };
    let has_room = |padding| {
        let (from, until) = time_of(reserved, own_limit, padding);
        leaves_room(partition.slurm_reservations, all, size, from, until)
    };
    let with_bounds = || partition.slurm_reservations.iter().map(|record| (most_padding_outside(record, reserved, own_limit), record));
    let inside = with_bounds().filter(|(bound, _)| bound.is_none()).map(|(_, record)| *record).max_by_key(SlurmReservation::end);
    if let Some(by) = inside.filter(|_| !has_room(Seconds::ZERO)) {
        return Err(by);
    }
    let mut bounds: Vec<(Seconds, SlurmReservation)> = with_bounds().filter_map(|(bound, record)| Some((bound?, *record))).collect();
    bounds.sort_unstable_by_key(|(bound, record)| (*bound, record.order()));
    // More padding never makes room, so that those with room come first. Beyond the last of them
    // the time reaches into the record that it is of.
    let with_room = bounds.partition_point(|(bound, _)| has_room(*bound));
    let Some(longest) = with_room.checked_sub(1).and_then(|last| bounds.get(last)) else { return Ok(None) };
    let is_unbounded = with_room == bounds.len() && has_room(longest.0 + Seconds::MINUTE);
    Ok((!is_unbounded).then_some(*longest))
}

impl<F> Reservable<'_, F> {
    /// Returns the job with no more padding than fits beside Slurm's reservations in a partition at
    /// a reserved time, and the reservation that forbids more padding if there is one.
    ///
    /// # Errors
    /// The reservation that leaves no room at the reserved time, as in [`most_padding`].
    pub fn beside(&self, partition: &Partition<'_>, reserved: UnixTime) -> Result<(Self, Option<SlurmReservation>), SlurmReservation> {
        let own_limit = self.shape.limit.unwrap_or(Seconds::ZERO);
        let most = most_padding(partition, self.shape.size, reserved, own_limit)?;
        let most_limit = most.map(|(padding, _)| own_limit + padding);
        let longest_limit = [self.longest_limit, most_limit].into_iter().flatten().min();
        Ok((Reservable { longest_limit, ..*self }, most.map(|(_, by)| by)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: Seconds = Seconds(3_600);
    const RESERVED: UnixTime = UnixTime(1_000_000);

    /// The most padding of an hour on so many of ten nodes beside Slurm's reservations, with one
    /// group of nodes for each record.
    fn most(nodes: u32, slurm_reservations: &[SlurmReservation]) -> Result<Option<(Seconds, SlurmReservation)>, SlurmReservation> {
        let partition = Partition { nodes: 10, cpus: 40, slurm_reservations, ..Partition::default() };
        most_padding(&partition, size(nodes), RESERVED, HOUR)
    }

    fn size(nodes: u32) -> Size {
        Size { nodes, cpus: nodes * 4 }
    }

    fn slurm_reservation(from: i64, until: i64) -> SlurmReservation {
        SlurmReservation::new(0, RESERVED + Seconds(from), RESERVED + Seconds(until), size(6))
    }

    #[test]
    fn a_job_beside_slurms_reservations_has_any_padding() {
        assert_eq!(most(4, &[slurm_reservation(-600, 600)]), Ok(None));
        assert_eq!(most(10, &[]), Ok(None));
    }

    #[test]
    fn a_reservation_at_the_reserved_time_or_before_the_job_would_end_leaves_no_room() {
        for record in [
            slurm_reservation(-600, 1),
            slurm_reservation(0, 10),
            slurm_reservation(3_600, 7_200),
            slurm_reservation(3_659, 7_200),
            slurm_reservation(-600, 90_000),
        ] {
            assert_eq!(most(5, &[record]), Err(record));
        }
    }

    #[test]
    fn a_job_becomes_eligible_behind_a_reservation_before_its_time() {
        let before = slurm_reservation(-3_000, -600);
        assert_eq!(most(5, &[before]), Ok(Some((Seconds(600), before))));
        assert_eq!(most(5, &[slurm_reservation(-600, 0)]).unwrap().unwrap().0, Seconds::ZERO);
    }

    #[test]
    fn padding_that_is_not_shed_at_once_stays_before_a_later_reservation() {
        // Ten minutes are left behind the job's hour and the minute of rounding. A job that is
        // eligible 80 minutes before its time may have its limit that much too long while it waits.
        let after = slurm_reservation(3_600 + 60 + 600, 90_000);
        assert_eq!(most(5, &[after]), Ok(Some((Seconds(80 * 60), after))));
    }

    proptest! {
        #[test]
        fn the_most_padding_is_what_trying_each_finds(
            records in prop::collection::vec((0u16..4, -300i64..4_200, 1i64..200), 0..8), nodes in 1u32..=10,
        ) {
            // Groups of four nodes and less, together all ten.
            let count = |group: u16| [4, 3, 2, 1][usize::from(group)];
            let mut records: Vec<SlurmReservation> = records
                .iter()
                .map(|(group, from, length)| {
                    let start = RESERVED + Seconds(*from);
                    SlurmReservation::new(*group, start, start + Seconds(*length), size(count(*group)))
                })
                .collect();
            records.sort_by_key(SlurmReservation::order);
            let has_room = |padding: i64| {
                let (from, until) = time_of(RESERVED, HOUR, Seconds(padding));
                leaves_room(&records, size(10), size(nodes), from, until)
            };
            match most(nodes, &records) {
                Err(by) => prop_assert!(!has_room(0) && records.contains(&by)),
                Ok(None) => prop_assert!((0..9_000).all(has_room)),
                Ok(Some((Seconds(padding), _))) => prop_assert!((0..=padding).all(has_room) && !has_room(padding + 1), "{padding}"),
            }
        }
    }
}
