//! What Slurm's own reservations take of each partition, as the snapshot has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use job_types::size::Size;
use job_types::time::UnixTime;
use predictor_core::decisions::slurm_reservations::SlurmReservation;
use queue_plan::LONGEST;
use slurm_sys::client::controller::Reservation;

use crate::known::cluster::{PlanNode, Queue};

/// What Slurm's reservations take of each partition from `now` on, by its name; partitions without
/// reservations are not named. Of a reservation of some CPUs of its nodes (`CoreCnt`) slurmctld
/// does not tell which nodes these are on: it takes no whole node, and CPUs of all of them alike.
pub(crate) fn by_partition(queue: &Queue, now: UnixTime) -> BTreeMap<Arc<str>, Vec<SlurmReservation>> {
    let Queue { nodes, reservations, .. } = queue;
    let ahead: Vec<&Reservation> = reservations.iter().filter(|reservation| end(reservation) > now.0.max(reservation.start)).collect();
    // The reservations that each node is in, by their places among these.
    let mut of_node: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (place, reservation) in (0u32..).zip(&ahead) {
        for (first, last) in &reservation.node_ranges {
            let end = last.saturating_add(1).min(nodes.len());
            of_node.get_mut(*first..end).into_iter().flatten().for_each(|of_node| of_node.push(place));
        }
    }
    let all_cpus: Vec<u64> = ahead.iter().map(|reservation| reserved_node_cpus(reservation, nodes)).collect();
    let mut groups: BTreeMap<(&Arc<str>, &[u32]), Size> = BTreeMap::new();
    for (node, reservations) in nodes.iter().zip(&of_node).filter(|(_, reservations)| !reservations.is_empty()) {
        let Some(node) = node else { continue };
        for partition in &node.partitions {
            let group = groups.entry((partition, reservations)).or_insert(Size { nodes: 0, cpus: 0 });
            *group = Size { nodes: group.nodes.saturating_add(1), cpus: group.cpus.saturating_add(node.cpus) };
        }
    }
    let mut by_partition: BTreeMap<Arc<str>, Vec<SlurmReservation>> = BTreeMap::new();
    // Groups beyond the number of a group are far more than a snapshot keeps.
    for (number, ((partition, reservations), size)) in (0..=u16::MAX).zip(groups) {
        let records = reservations.iter().filter_map(|place| {
            let (reservation, all_cpus) = (ahead.get(*place as usize)?, *all_cpus.get(*place as usize)?);
            Some(SlurmReservation::new(number, UnixTime(reservation.start), UnixTime(end(reservation)), share(reservation, all_cpus, size)))
        });
        by_partition.entry(Arc::clone(partition)).or_default().extend(records);
    }
    by_partition
}

/// When a reservation ends; one without an end is taken to last as long as anything is foreseen.
fn end(reservation: &Reservation) -> i64 {
    reservation.end.unwrap_or_else(|| (UnixTime(reservation.start) + LONGEST + LONGEST).0)
}

/// CPUs of all nodes of a reservation.
fn reserved_node_cpus(reservation: &Reservation, nodes: &[Option<PlanNode>]) -> u64 {
    let of_range = |(first, last): &(usize, usize)| nodes.get(*first..last.saturating_add(1).min(nodes.len())).unwrap_or(&[]);
    reservation.node_ranges.iter().flat_map(of_range).flatten().map(|node| u64::from(node.cpus)).sum()
}

/// What a reservation takes of a group of its nodes of that size.
fn share(reservation: &Reservation, all_cpus: u64, group: Size) -> Size {
    match reservation.cpus.map(u64::from).filter(|cpus| *cpus < all_cpus) {
        None => group,
        Some(cpus) => {
            let share = (u64::from(group.cpus) * cpus).div_ceil(all_cpus.max(1));
            Size { nodes: 0, cpus: u32::try_from(share).unwrap_or(group.cpus) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::Seconds;
    use predictor_core::decisions::slurm_reservations::taken_between;

    const NOW: UnixTime = UnixTime(1_000_000);

    fn reservation(from: i64, until: Option<i64>, nodes: (usize, usize), cpus: Option<u32>) -> Reservation {
        Reservation {
            name: "maintenance".to_owned(),
            start: NOW.0 + from,
            end: until.map(|until| NOW.0 + until),
            cpus,
            node_ranges: vec![nodes],
            ..Reservation::default()
        }
    }

    /// Eight nodes of four CPUs in one partition, of which the last four are in another one too.
    fn of_reservations(reservations: Vec<Reservation>) -> BTreeMap<Arc<str>, Vec<SlurmReservation>> {
        let node = |place: usize| {
            let partitions = if place < 4 { vec!["all".into()] } else { vec!["all".into(), "half".into()] };
            Some(PlanNode { cpus: 4, takes_jobs: true, partitions })
        };
        by_partition(&Queue { nodes: (0..8).map(node).chain([None]).collect(), reservations, jobs: Vec::new() }, NOW)
    }

    fn taken(of: &BTreeMap<Arc<str>, Vec<SlurmReservation>>, partition: &str, from: i64, until: i64) -> (u32, u32) {
        let Some(records) = of.get(partition) else { return (0, 0) };
        assert!(records.is_sorted_by_key(SlurmReservation::order), "{records:?}");
        let taken = taken_between(records, NOW + Seconds(from), NOW + Seconds(until));
        (taken.nodes, taken.cpus)
    }

    #[test]
    fn nodes_count_in_each_of_their_partitions_and_once_in_each() {
        let of = of_reservations(vec![reservation(100, Some(200), (2, 5), Some(16)), reservation(150, Some(300), (4, 8), Some(16))]);
        assert_eq!([taken(&of, "all", 0, 100), taken(&of, "half", 0, 100)], [(0, 0); 2]);
        assert_eq!([taken(&of, "all", 100, 150), taken(&of, "half", 100, 150)], [(4, 16), (2, 8)]);
        assert_eq!([taken(&of, "all", 0, 1_000), taken(&of, "half", 0, 1_000)], [(6, 24), (4, 16)]);
        assert_eq!(taken(&of, "all", 200, 250), (4, 16));
    }

    #[test]
    fn what_has_ended_or_has_no_nodes_takes_nothing_and_what_has_no_end_takes_them_for_good() {
        let of = of_reservations(vec![reservation(-200, Some(-100), (0, 7), None), reservation(-10, None, (0, 0), None)]);
        assert_eq!(taken(&of, "all", 0, 300 * 86_400), (1, 4));
        let unfounded = of_reservations(vec![reservation(0, Some(10), (20, usize::MAX), None), reservation(10, Some(5), (0, 7), None)]);
        assert!(unfounded.is_empty(), "{unfounded:?}");
    }

    #[test]
    fn some_cpus_of_nodes_take_no_node_as_a_whole() {
        let of = of_reservations(vec![reservation(0, Some(100), (2, 5), Some(6))]);
        assert_eq!([taken(&of, "all", 0, 10), taken(&of, "half", 0, 10)], [(0, 6), (0, 3)]);
    }
}
