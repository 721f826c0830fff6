//! Upkeep of reservations beside Slurm's own reservations, such as those for maintenance.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{ALL, NOW, reserved_job, site_beside, slurm_reservation, slurm_reservations};
use predictor_core::decisions::slurm_reservations::leaves_room;
use proptest::prelude::*;
use upkeep::{ReservationState, Revision, Step, UPDATE_DELAY, Upkeep, Wanted, upkeep};

#[test]
fn padding_is_shed_at_once_where_the_limit_would_reach_into_maintenance() {
    let job = reserved_job(&site_beside(Vec::new()));
    let now = job.eligible.unwrap() + Seconds(70);
    // It has outlived padding: too little for a change, and too much for what comes behind it.
    assert_eq!(upkeep(&job, &site_beside(Vec::new()), now, Seconds(30)).wanted, None);
    let close = slurm_reservation(5 * 3_600 + 60, 90_000, 64);
    let Upkeep { state, wanted: Some((wanted, _)) } = upkeep(&job, &site_beside(vec![close]), now, Seconds(30)) else {
        panic!("it is kept")
    };
    assert_eq!(state, ReservationState::Waiting);
    let steps = wanted.steps(&job, now, UPDATE_DELAY);
    let [Step::Update { begin: None, limit: Some(limit), .. }] = steps[..] else { panic!("{steps:?}") };
    assert!(now + limit <= close.start() && now + limit >= NOW + Seconds(5 * 3_600), "{limit}");
    // Where nothing helps nothing is changed.
    let too_close = slurm_reservation(5 * 3_600 - 60, 90_000, 64);
    assert_eq!(upkeep(&job, &site_beside(vec![too_close]), now, Seconds(30)).wanted, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// What the daemon moves needs no nodes that Slurm has reserved.
    #[test]
    fn no_job_is_moved_into_slurms_reservations(
        records in prop::collection::vec((0u16..4, -3_600i64..40_000, 60i64..20_000), 0..6), later in 0i64..20_000,
    ) {
        let records = slurm_reservations(&records);
        let cluster = site_beside(records.clone());
        // What was promised before that is moved to where it can start, or not at all.
        let job = reserved_job(&site_beside(Vec::new()));
        let now = NOW + Seconds(later);
        let small = Size { nodes: 4, cpus: 16 };
        if let Some((Wanted::Revision(Revision { begin: Some(begin), limit, .. }), _)) = upkeep(&job, &cluster, now, Seconds(30)).wanted {
            let limit = limit.or(job.limit).unwrap();
            prop_assert!(leaves_room(&records, ALL, small, begin, begin + limit), "{begin:?} {limit}");
        }
    }
}
