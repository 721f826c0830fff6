//! A site with reservations of Slurm's own, such as those for maintenance.

use job_types::number::UserId;
use job_types::size::Size;
use job_types::time::Seconds;
use predictor_core::decisions::slurm_reservations::SlurmReservation;
use snapshot_writer::PartitionState;

use crate::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing};

/// The size of the partition [`batch`].
pub const ALL: Size = Size { nodes: 64, cpus: 256 };

/// A site on which jobs on 4 nodes have waited from 0 to 1,980 s, with these reservations of
/// Slurm in its partition.
#[must_use]
pub fn site_beside(slurm_reservations: Vec<SlurmReservation>) -> Cluster {
    let past = (0..400).map(|n| ended_job(UserId(USER), NOW - Seconds(40_000_000 - n * 90_000), 4, 3_600, n * 37 % 100 * 20, 600));
    MadeUpSite::new(NOW).partition(PartitionState { slurm_reservations, ..batch(enforcing()) }).ended_jobs(past).state()
}

/// A reservation of so many nodes, from and until so many seconds after [`NOW`].
#[must_use]
pub fn slurm_reservation(from: i64, until: i64, nodes: u32) -> SlurmReservation {
    in_group(0, from, until, nodes)
}

/// Reservations of whole groups of nodes: the group, 0 to 3, the begin in seconds after [`NOW`],
/// and the length in seconds. The four groups make up [`ALL`] nodes.
#[must_use]
pub fn slurm_reservations(records: &[(u16, i64, i64)]) -> Vec<SlurmReservation> {
    let nodes_of = |group: u16| [32, 16, 12, 4][usize::from(group)];
    let record = |(group, from, length): &(u16, i64, i64)| in_group(*group, *from, from + length, nodes_of(*group));
    let mut records: Vec<SlurmReservation> = records.iter().map(record).collect();
    records.sort_by_key(SlurmReservation::order);
    records
}

fn in_group(group: u16, from: i64, until: i64, nodes: u32) -> SlurmReservation {
    SlurmReservation::new(group, NOW + Seconds(from), NOW + Seconds(until), Size { nodes, cpus: nodes * 4 })
}
