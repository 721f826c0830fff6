//! What is seen of a slot: its reservation and its job, as slurmctld has them at a moment.

use std::collections::HashSet;

use job_types::time::UnixTime;
use slurm_sys::client::controller::{QueuedJob, Reservation, ReservationFlag};
use upkeep::{FAR_BEFORE, FirmSlot, ReservationSeen, SlotSeen};

use super::jobs;
use crate::clock::now;
use crate::known::cluster::{Cluster, Phase};

/// What is seen of a slot whose reservation has that name, among all reservations. `job` is what
/// slurmctld has under the number of its job.
pub(super) fn seen(
    slot: &FirmSlot,
    (reservations, name): (&[Reservation], &str),
    job: Option<&QueuedJob>,
    cluster: Option<&Cluster>,
) -> SlotSeen {
    let there = reservations.iter().find(|reservation| reservation.name == name);
    let (is_in_use, is_waited_for) = cluster.map_or((false, false), |cluster| uses(cluster, name));
    SlotSeen {
        now: UnixTime(now()),
        reservation: there.map(|there| ReservationSeen {
            start: UnixTime(there.start),
            end: there.end.map_or(UnixTime(i64::MAX), UnixTime),
            nodes: there.nodes,
            usable_nodes: cluster.map_or(there.nodes, |cluster| usable_nodes(cluster, there)),
            maintained_nodes: maintained_nodes(there, reservations),
        }),
        job: jobs::seen(slot, job, name),
        is_in_use,
        is_waited_for,
        has_job_ended_early: slot.ranked_at.zip(cluster).is_some_and(|(since, cluster)| has_job_ended_early(cluster, since)),
    }
}

/// Whether jobs run in a reservation, and whether jobs wait for it.
fn uses(cluster: &Cluster, name: &str) -> (bool, bool) {
    let phases = cluster.queue.jobs.iter().filter(|job| job.reservation.as_deref() == Some(name)).map(|job| &job.phase);
    phases.fold((false, false), |(runs, waits), phase| match phase {
        Phase::Pending { .. } => (runs, true),
        Phase::Running { .. } | Phase::Completing { .. } => (true, waits),
    })
}

/// The places of a reservation's nodes in slurmctld's table.
fn places(reservation: &Reservation) -> impl Iterator<Item = usize> {
    reservation.node_ranges.iter().flat_map(|(first, last)| *first..last.saturating_add(1))
}

/// How many nodes of a reservation start jobs.
fn usable_nodes(cluster: &Cluster, reservation: &Reservation) -> u32 {
    let nodes = &cluster.queue.nodes;
    let takes_jobs = |place: &usize| nodes.get(*place).is_some_and(|node| node.as_ref().is_some_and(|node| node.takes_jobs));
    let usable: HashSet<usize> = places(reservation).take_while(|place| *place < nodes.len()).filter(takes_jobs).collect();
    u32::try_from(usable.len()).unwrap_or(u32::MAX)
}

/// How many nodes of a reservation are maintained at some time of it. No job starts there
/// meanwhile, whatever reservation it waits for.
fn maintained_nodes(reservation: &Reservation, reservations: &[Reservation]) -> u32 {
    let is_before_end = |moment: i64, end: Option<i64>| end.is_none_or(|end| moment < end);
    let is_over_it = |other: &&Reservation| {
        other.flags.has(ReservationFlag::Maintenance)
            && other.name != reservation.name
            && is_before_end(other.start, reservation.end)
            && is_before_end(reservation.start, other.end)
    };
    let maintained: Vec<(usize, usize)> =
        reservations.iter().filter(is_over_it).flat_map(|other| other.node_ranges.iter().copied()).collect();
    let count = places(reservation).filter(|place| maintained.iter().any(|(first, last)| (first..=last).contains(&place))).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Whether a job has ended far before its time limit since then.
fn has_job_ended_early(cluster: &Cluster, since: UnixTime) -> bool {
    cluster.ended.iter().any(|run| {
        let job = &run.job;
        let is_early = |start: UnixTime| job.submitted.limit.is_some_and(|limit| start + limit - job.end >= FAR_BEFORE);
        // In the same second it may have been after.
        job.end >= since && job.start.is_some_and(is_early)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::{self, NOW, job, running};
    use job_types::time::Seconds;
    use slurm_sys::client::JobState;

    const NAME: &str = "queuecast-1-0123456789abcdef";

    /// A reservation of the nodes from a first to a last one, for so many seconds from a moment on.
    fn reservation(name: &str, (start, duration): (i64, i64), nodes: (usize, usize), flags: &[ReservationFlag]) -> Reservation {
        Reservation {
            name: name.to_owned(),
            start: NOW + start,
            end: Some(NOW + start + duration),
            node_ranges: vec![nodes],
            flags: flags.iter().copied().collect(),
            ..Reservation::default()
        }
    }

    #[test]
    fn only_maintenance_that_lies_over_a_reservation_in_time_and_nodes_is_in_its_way() {
        use ReservationFlag::{Maintenance, Overlap};
        let own = reservation(NAME, (100, 50), (1, 3), &[]);
        let in_its_way = |other: Reservation| maintained_nodes(&own, &[own.clone(), other]);
        assert_eq!(in_its_way(reservation("repair", (149, 50), (2, 7), &[Maintenance])), 2);
        assert_eq!(in_its_way(reservation("repair", (50, 51), (0, 1), &[Maintenance])), 1);
        assert_eq!(in_its_way(Reservation { end: None, ..reservation("repair", (0, 1), (3, 3), &[Maintenance]) }), 1);
        assert_eq!(in_its_way(reservation("later", (150, 50), (2, 7), &[Maintenance])), 0);
        assert_eq!(in_its_way(reservation("before", (50, 50), (2, 7), &[Maintenance])), 0);
        assert_eq!(in_its_way(reservation("elsewhere", (100, 50), (4, 7), &[Maintenance])), 0);
        assert_eq!(in_its_way(reservation("lecture", (100, 50), (1, 3), &[Overlap])), 0);
    }

    #[test]
    fn jobs_that_use_a_reservation_are_told_from_those_that_wait_for_it() {
        let within = |name: &str, job: QueuedJob| QueuedJob { reservation: Some(name.to_owned()), ..job };
        let uses = |jobs: &[QueuedJob]| super::uses(&made_up::cluster(jobs, Vec::new()), NAME);
        let waits = job(2, JobState::Pending, 1);
        assert_eq!(uses(&[within(NAME, waits.clone())]), (false, true));
        assert_eq!(uses(&[within(NAME, waits.clone()), within(NAME, running(3, 0, 0, 60))]), (true, true));
        assert_eq!(uses(&[within("lecture", waits), running(3, 0, 0, 60)]), (false, false));
    }

    #[test]
    fn a_job_has_ended_early_that_had_an_hour_left_and_only_since_the_slots_were_ranked() {
        let ended_at = |(start, end): (i64, i64), since: i64| {
            let mut cluster = made_up::cluster(&[], Vec::new());
            let mut run = made_up::ended(9);
            run.job.submitted.limit = Some(Seconds(7_200));
            (run.job.start, run.job.end) = (Some(UnixTime(NOW + start)), UnixTime(NOW + end));
            cluster.ended = vec![run];
            has_job_ended_early(&cluster, UnixTime(NOW + since))
        };
        assert!(ended_at((0, 3_600), 3_600));
        assert!(!ended_at((0, 3_601), 3_600), "it had less than an hour left");
        assert!(!ended_at((0, 3_600), 3_601), "the slots were ranked after it");
    }

    #[test]
    fn nodes_that_are_down_or_not_there_start_no_jobs() {
        let cluster = made_up::cluster(&[], Vec::new());
        let usable = |last| usable_nodes(&cluster, &reservation(NAME, (0, 60), (0, last), &[]));
        assert_eq!([usable(3), usable(5), usable(9)], [2, 4, 4]);
    }
}
