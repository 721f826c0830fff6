//! What protects those who run.

use super::{bid, market, queued, running};
use crate::{Milliseconds, Retention, Settings, WalkRule};

#[test]
fn whoever_displaces_a_running_job_has_to_bid_more_by_the_margin() {
    let retention = Retention { margin: 0.2, ..Retention::default() };
    let (mut market, mut ids) = market(1, Settings { retention, ..Settings::default() }, &[(1, 10.0)]);
    market.cycle(Milliseconds::ZERO);
    ids.push(market.enter(queued(1, 1, 11.0), Milliseconds::ZERO).unwrap());
    let outcome = market.cycle(Milliseconds::ZERO);
    // The other one bids 11, and nobody pays more than the own bid.
    assert_eq!((outcome.price, outcome.revenue_per_minute), (bid(11.0), 10.0));
    assert_eq!(running(&market, &ids), [0]);
    market.rebid(ids[1], bid(12.5), Milliseconds::ZERO);
    market.cycle(Milliseconds::ZERO);
    assert_eq!(running(&market, &ids), [1]);
    // Now that one runs.
    market.rebid(ids[0], bid(14.0), Milliseconds::ZERO);
    market.cycle(Milliseconds::ZERO);
    assert_eq!(running(&market, &ids), [1]);
}

#[test]
fn nobody_is_suspended_before_the_least_run_time_is_over() {
    let retention = Retention { least_run_time: Milliseconds(1_000), ..Retention::default() };
    let (mut market, mut ids) = market(1, Settings { retention, ..Settings::default() }, &[(1, 1.0)]);
    market.cycle(Milliseconds(500));
    assert_eq!(market.wakes_at(), None);
    ids.push(market.enter(queued(1, 1, 9.0), Milliseconds(600)).unwrap());
    market.cycle(Milliseconds(600));
    assert_eq!((running(&market, &ids), market.wakes_at()), (vec![0], Some(Milliseconds(1_500))));
    market.cycle(Milliseconds(1_499));
    assert_eq!(running(&market, &ids), [0]);
    market.cycle(Milliseconds(1_500));
    assert_eq!((running(&market, &ids), market.wakes_at()), (vec![1], Some(Milliseconds(2_500))));
}

/// The job on three nodes is ranked as one that bids 1.2 while it runs. The one that bids 1.5
/// displaces it, after which the one that bids 1.1 is before it, and fits.
#[test]
fn one_cycle_is_enough_where_it_changes_the_order() {
    let retention = Retention { margin: 0.2, ..Retention::default() };
    for walk in [WalkRule::StopAtFirst, WalkRule::Backfill] {
        let (mut market, mut ids) = market(4, Settings { walk, retention, ..Settings::default() }, &[(3, 1.0)]);
        market.cycle(Milliseconds::ZERO);
        ids.extend(
            [(2, 1.5), (1, 1.1)]
                .into_iter()
                .enumerate()
                .map(|(index, (nodes, credits))| market.enter(queued(1 + index as u64, nodes, credits), Milliseconds::ZERO).unwrap()),
        );
        market.cycle(Milliseconds::ZERO);
        assert_eq!(running(&market, &ids), [1, 2]);
        assert!(market.cycle(Milliseconds::ZERO).is_unchanged());
    }
}
