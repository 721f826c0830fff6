//! Reservations counted by partition and by the probability that was promised.

use std::collections::BTreeMap;

use serde::Serialize;

use super::record::EndedReservation;
use crate::report::class::{Class, rounded};
use crate::report::interval::clopper_pearson;

/// What became of the reservations of a partition, or of all, in one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) partition: Option<String>,
    #[serde(flatten)]
    pub(super) class: Class,
    pub(super) reservations: u64,
    pub(super) promised: f64,
    pub(super) kept: u64,
    pub(super) kept_part: f64,
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) required_node_hours: f64,
    pub(super) used_node_hours: f64,
    pub(super) cost_ratio: Option<f64>,
}

impl Row {
    fn of(partition: Option<String>, class: Class, reservations: &[&EndedReservation]) -> Self {
        let count = reservations.len() as u64;
        let kept = reservations.iter().filter(|reservation| reservation.kept == Some(true)).count() as u64;
        let per = |sum: f64| sum / count.max(1) as f64;
        let node_hours = |seconds: i64| seconds as f64 / 3_600.0;
        let required = node_hours(reservations.iter().map(|reservation| reservation.required_node_seconds).sum());
        let used = node_hours(reservations.iter().map(|reservation| reservation.used_node_seconds).sum());
        let (lower, upper) = clopper_pearson(kept, count).unzip();
        Self {
            partition,
            class,
            reservations: count,
            promised: rounded(per(reservations.iter().map(|reservation| reservation.promised).sum())),
            kept,
            kept_part: rounded(per(kept as f64)),
            lower: lower.map(rounded),
            upper: upper.map(rounded),
            required_node_hours: rounded(required),
            used_node_hours: rounded(used),
            cost_ratio: (required > 0.0).then(|| rounded(used / required)),
        }
    }

    /// Whether so few were kept that chance does not explain it.
    pub(super) fn is_broken(&self) -> bool {
        self.upper.is_some_and(|upper| upper < self.promised)
    }
}

/// By partition and class, in this order.
pub(super) fn by_partition<'a>(reservations: impl Iterator<Item = &'a EndedReservation>) -> Vec<Row> {
    let mut groups: BTreeMap<(&str, usize), Vec<&EndedReservation>> = BTreeMap::new();
    for reservation in reservations {
        groups.entry((&reservation.partition, Class::index(reservation.promised))).or_default().push(reservation);
    }
    groups.iter().map(|((partition, class), group)| Row::of(Some((*partition).to_owned()), Class::of(*class), group)).collect()
}

/// By class alone.
pub(super) fn of_all<'a>(reservations: impl Iterator<Item = &'a EndedReservation>) -> Vec<Row> {
    let mut groups: BTreeMap<usize, Vec<&EndedReservation>> = BTreeMap::new();
    for reservation in reservations {
        groups.entry(Class::index(reservation.promised)).or_default().push(reservation);
    }
    groups.iter().map(|(class, group)| Row::of(None, Class::of(*class), group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(partition: &str, promised: f64, kept: bool) -> EndedReservation {
        EndedReservation {
            partition: partition.to_owned(),
            promised,
            kept: Some(kept),
            required_node_seconds: 3_600,
            used_node_seconds: 5_400,
        }
    }

    #[test]
    fn rows_are_by_partition_and_probability_and_once_for_all() {
        let all = [reservation("b", 0.96, true), reservation("a", 0.5, false), reservation("b", 0.98, false), reservation("a", 0.99, true)];
        let rows = by_partition(all.iter());
        let found: Vec<_> =
            rows.iter().map(|row| (row.partition.as_deref().unwrap(), row.class.from, row.reservations, row.kept)).collect();
        assert_eq!(found, [("a", 0.5, 1, 0), ("a", 0.95, 1, 1), ("b", 0.95, 2, 1)]);
        let b = &rows[2];
        assert_eq!((b.promised, b.kept_part, b.required_node_hours, b.used_node_hours, b.cost_ratio), (0.97, 0.5, 2.0, 3.0, Some(1.5)));
        let found: Vec<_> = of_all(all.iter()).iter().map(|row| (row.class.from, row.reservations, row.kept)).collect();
        assert_eq!(found, [(0.5, 1, 0), (0.95, 3, 2)]);
    }

    #[test]
    fn only_what_chance_does_not_explain_is_called_broken() {
        let row = |kept: usize, count: usize| {
            let all: Vec<_> = (0..count).map(|n| reservation("a", 0.95, n < kept)).collect();
            of_all(all.iter())[0].is_broken()
        };
        assert_eq!((row(9, 10), row(900, 1_000), row(0, 1)), (false, true, false));
    }
}
