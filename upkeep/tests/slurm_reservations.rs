//! Upkeep of reservations beside Slurm's own reservations, such as those for maintenance.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, reserved_job};
use predictor_core::decisions::slurm_reservations::{SlurmReservation, leaves_room};
use proptest::prelude::*;
use snapshot_writer::PartitionState;
use upkeep::{ARRIVAL, ReservationState, Revision, Step, Upkeep, Wanted, upkeep};

/// The partition that the jobs are in, 64 nodes of 4 CPUs.
const ALL: Size = Size { nodes: 64, cpus: 256 };

/// Where jobs on 4 nodes have waited from 0 to 1,980 s, with these reservations of Slurm.
fn site(slurm_reservations: Vec<SlurmReservation>) -> Cluster {
    let past = (0..400).map(|n| ended_job(UserId(USER), NOW - Seconds(40_000_000 - n * 90_000), 4, 3_600, n * 37 % 100 * 20, 600));
    MadeUpSite::new(NOW).partition(PartitionState { slurm_reservations, ..batch(enforcing()) }).ended_jobs(past).state()
}

fn slurm_reservation(from: i64, until: i64, nodes: u32) -> SlurmReservation {
    SlurmReservation::new(0, NOW + Seconds(from), NOW + Seconds(until), Size { nodes, cpus: nodes * 4 })
}

#[test]
fn padding_is_shed_at_once_where_the_limit_would_reach_into_maintenance() {
    let job = reserved_job(&site(Vec::new()));
    let now = job.eligible.unwrap() + Seconds(70);
    // It has outlived padding: too little for a change, and too much for what comes behind it.
    assert_eq!(upkeep(&job, &site(Vec::new()), now, Seconds(30)).wanted, None);
    let close = slurm_reservation(5 * 3_600 + 60, 90_000, 64);
    let Upkeep { state, wanted: Some((wanted, _)) } = upkeep(&job, &site(vec![close]), now, Seconds(30)) else { panic!("it is kept") };
    assert_eq!(state, ReservationState::Waiting);
    let steps = wanted.steps(&job, now, ARRIVAL);
    let [Step::Update { begin: None, limit: Some(limit), .. }] = steps[..] else { panic!("{steps:?}") };
    assert!(now + limit <= close.start() && now + limit >= NOW + Seconds(5 * 3_600), "{limit}");
    // Where nothing helps nothing is changed.
    let too_close = slurm_reservation(5 * 3_600 - 60, 90_000, 64);
    assert_eq!(upkeep(&job, &site(vec![too_close]), now, Seconds(30)).wanted, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// What the daemon moves needs no nodes that Slurm has reserved.
    #[test]
    fn no_job_is_moved_into_slurms_reservations(
        records in prop::collection::vec((0u16..4, -3_600i64..40_000, 60i64..20_000), 0..6), later in 0i64..20_000,
    ) {
        // Groups of these sizes make up the whole partition.
        let nodes_of = |group: u16| [32, 16, 12, 4][usize::from(group)];
        let mut records: Vec<SlurmReservation> = records
            .iter()
            .map(|(group, from, length)| {
                let nodes = nodes_of(*group);
                let size = Size { nodes, cpus: nodes * 4 };
                SlurmReservation::new(*group, NOW + Seconds(*from), NOW + Seconds(from + length), size)
            })
            .collect();
        records.sort_by_key(SlurmReservation::order);
        let cluster = site(records.clone());
        // What was promised before that is moved to where it can start, or not at all.
        let job = reserved_job(&site(Vec::new()));
        let now = NOW + Seconds(later);
        let small = Size { nodes: 4, cpus: 16 };
        if let Some((Wanted::Revision(Revision { begin: Some(begin), limit, .. }), _)) = upkeep(&job, &cluster, now, Seconds(30)).wanted {
            let limit = limit.or(job.limit).unwrap();
            prop_assert!(leaves_room(&records, ALL, small, begin, begin + limit), "{begin:?} {limit}");
        }
    }
}
