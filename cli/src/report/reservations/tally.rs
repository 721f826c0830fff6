//! Reservations counted by partition and by the probability that was promised.

use serde::Serialize;

use super::record::ReportedReservation;
use crate::report::class::rounded;
use crate::report::kept::{DecidedPromise, KeptPromises, by_partition_and_class};

/// What became of the reservations of a partition, or of all, in one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) kept: KeptPromises,
    pub(super) reservations: u64,
    pub(super) required_node_hours: f64,
    pub(super) used_node_hours: f64,
    pub(super) cost_ratio: Option<f64>,
}

impl Row {
    fn of(kept: KeptPromises, reservations: &[&ReportedReservation]) -> Self {
        let node_hours = |seconds: i64| seconds as f64 / 3_600.0;
        let required = node_hours(reservations.iter().map(|reservation| reservation.required_node_seconds).sum());
        let used = node_hours(reservations.iter().map(|reservation| reservation.used_node_seconds).sum());
        Self {
            reservations: kept.promises,
            kept,
            required_node_hours: rounded(required),
            used_node_hours: rounded(used),
            cost_ratio: (required > 0.0).then(|| rounded(used / required)),
        }
    }
}

/// Counts reservations, each with whether it was kept, by partition and class, in this order; and
/// those of all partitions together by class.
pub(super) fn rows<'a>(reservations: impl Iterator<Item = (&'a ReportedReservation, bool)>) -> (Vec<Row>, Vec<Row>) {
    let decided = reservations.map(|(reservation, is_kept)| {
        let ReportedReservation { partition, promised, .. } = reservation;
        (DecidedPromise { partition, promised: *promised, is_kept }, reservation)
    });
    by_partition_and_class(decided).map(|(kept, group)| Row::of(kept, &group)).partition(|row| row.kept.partition.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::record::test_reservation;
    use super::*;

    #[test]
    fn rows_are_by_partition_and_probability_and_once_for_all() {
        let every = [("b", 0.96, true), ("a", 0.5, false), ("b", 0.98, false), ("a", 0.99, true)];
        let every = every.map(|(partition, promised, kept)| (test_reservation(partition, promised), kept));
        let (by_partition, all) = rows(every.iter().map(|(reservation, kept)| (reservation, *kept)));
        let found: Vec<_> = by_partition
            .iter()
            .map(|row| (row.kept.partition.as_deref().unwrap(), row.kept.class.from, row.reservations, row.kept.kept))
            .collect();
        assert_eq!(found, [("a", 0.5, 1, 0), ("a", 0.95, 1, 1), ("b", 0.95, 2, 1)]);
        let b = &by_partition[2];
        assert_eq!(
            (b.kept.promised, b.kept.kept_part, b.required_node_hours, b.used_node_hours, b.cost_ratio),
            (0.97, 0.5, 2.0, 3.0, Some(1.5))
        );
        let found: Vec<_> = all.iter().map(|row| (row.kept.class.from, row.reservations, row.kept.kept)).collect();
        assert_eq!(found, [(0.5, 1, 0), (0.95, 3, 2)]);
    }
}
