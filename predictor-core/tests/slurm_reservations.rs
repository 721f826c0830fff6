//! Virtual reservations beside Slurm's own, such as those for maintenance.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::options::{SuccessProbability, UserOptions};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{ALL, Cluster, NOW, enforcing, site_beside, slurm_reservation, slurm_reservations, submission};
use predictor_core::decisions::slurm_reservations::leaves_room;
use predictor_core::decisions::{Decision, NotReserved, Refusal, Reservation, decide};
use proptest::prelude::*;

const HOUR: Seconds = Seconds(3_600);

/// Of a job of an hour on 4 nodes.
fn decided(site: &Cluster, ahead: i64, wanted: SuccessProbability) -> Decision {
    let asked = UserOptions { reserve_at: Some(NOW.0 + ahead), success_probability: Some(wanted), ..UserOptions::default() };
    decide(&site.situation(&submission(4, asked)))
}

fn reserved(site: &Cluster, ahead: i64) -> Result<Reservation, NotReserved> {
    decided(site, ahead, SuccessProbability::AtLeast(0.9)).reservation.unwrap()
}

#[test]
fn a_job_that_would_run_into_maintenance_is_refused_with_a_time_behind_it() {
    // In two hours the job would run until three hours from now, where all nodes are gone.
    let site = site_beside(vec![slurm_reservation(2 * 3_600 + 1_800, 6 * 3_600, 64)]);
    let decision = decided(&site, 7_200, SuccessProbability::AtLeast(0.9));
    let Some(Refusal::NotReserved(NotReserved::SlurmReservation { from, until, later: Some(later) })) = decision.refusal() else {
        panic!("{:?}", decision.reservation)
    };
    assert_eq!((from, until), (NOW + Seconds(9_000), NOW + Seconds(21_600)));
    // Behind it, by what nine of ten jobs wait at the most: 0.9 of 2,000 s, and some more for how
    // little is known.
    assert!((until + Seconds(1_700)..until + Seconds(2_200)).contains(&later), "{}", later - until);
    let given = reserved(&site, (later - NOW).0).unwrap();
    assert!(given.point.begin >= until && given.point.probability >= 0.9, "{given:?}");
    let asked = submission(4, UserOptions { reserve_at: Some(NOW.0 + 7_200), ..UserOptions::default() });
    let line = decision.line(&asked, &enforcing(), NOW).unwrap();
    let minutes = (later - NOW).minutes_rounded_up();
    let expected = format!(
        "no reservation: Slurm's own reservations, such as for maintenance, leave too few nodes of the partition for it; what is in the \
         way begins in 2 h 30 min and ends in 6 h; there is room in {} (--reserve-at=now+{minutes}minutes)",
        later - NOW
    );
    assert_eq!(line, expected);
}

#[test]
fn a_job_that_maintenance_leaves_enough_nodes_for_is_reserved_as_without_it() {
    let without = reserved(&site_beside(Vec::new()), 7_200).unwrap();
    assert_eq!(reserved(&site_beside(vec![slurm_reservation(0, 90_000, 60)]), 7_200), Ok(without));
    assert!(reserved(&site_beside(vec![slurm_reservation(0, 90_000, 61)]), 7_200).is_err());
    // Nor is one refused that ends before it, or begins behind it.
    for record in [slurm_reservation(4 * 3_600, 90_000, 64), slurm_reservation(-600, 4_000, 64)] {
        assert_eq!(reserved(&site_beside(vec![record]), 7_200), Ok(without));
    }
}

#[test]
fn time_that_is_left_behind_maintenance_is_what_a_promise_is_made_of() {
    // Ten minutes are too short for 0.9, and the best that they are worth is told as what is given.
    let site = site_beside(vec![slurm_reservation(600, 6_600, 64)]);
    assert!(matches!(reserved(&site, 7_200), Err(NotReserved::SlurmReservation { .. })));
    let in_the_way = decided(&site_beside(vec![slurm_reservation(600, 90_000, 64)]), 7_200, SuccessProbability::Best).reservation.unwrap();
    let Err(NotReserved::SlurmReservation { later: Some(later), .. }) = in_the_way else { panic!("{in_the_way:?}") };
    assert!(later > NOW + Seconds(90_000), "{later:?}");
    let best = decided(&site, 7_200, SuccessProbability::Best).reservation.unwrap().unwrap();
    assert!(best.point.begin >= NOW + Seconds(6_600) && (0.2..0.4).contains(&best.point.probability), "{best:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// What is promised needs no nodes that Slurm has reserved.
    #[test]
    fn no_job_is_padded_into_slurms_reservations(
        records in prop::collection::vec((0u16..4, -3_600i64..40_000, 60i64..20_000), 0..6), ahead in 60i64..40_000, nodes in 1u32..=64,
    ) {
        let records = slurm_reservations(&records);
        let cluster = site_beside(records.clone());
        let asked = UserOptions {
            reserve_at: Some(NOW.0 + ahead), success_probability: Some(SuccessProbability::AtLeast(0.5)), ..UserOptions::default()
        };
        let size = Size { nodes, cpus: nodes * 4 };
        let has_room = |from: UnixTime, limit: Seconds| leaves_room(&records, ALL, size, from, from + limit);
        match decide(&cluster.situation(&submission(nodes, asked))).reservation.unwrap() {
            Ok(reservation) => {
                prop_assert!(has_room(reservation.point.begin, reservation.point.padded_limit), "{reservation:?}");
                // Nor does it, eligible as it is, shortly before its time.
                prop_assert!(has_room(reservation.at, HOUR), "{reservation:?}");
            }
            Err(NotReserved::SlurmReservation { later: Some(at), .. }) => {
                let asked = UserOptions {
                    reserve_at: Some(at.0), success_probability: Some(SuccessProbability::AtLeast(0.5)), ..UserOptions::default()
                };
                let then = decide(&cluster.situation(&submission(nodes, asked))).reservation.unwrap();
                prop_assert!(then.is_ok() && at > NOW + Seconds(ahead), "{then:?}");
            }
            Err(_) => {}
        }
    }
}
