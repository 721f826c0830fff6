//! Markets by hand, and what holds of all.

mod prices;
mod properties;
mod retention;

use crate::{Bid, Contender, ContenderId, Market, Milliseconds, NeverFits, Overlap, Settings, Standing, WalkRule};

fn bid(credits: f64) -> Bid {
    Bid::new(credits).unwrap()
}

fn queued(submission: u64, nodes: u32, credits: f64) -> Contender {
    Contender { submission, bid: bid(credits), nodes, standing: Standing::Queued }
}

/// A market that contenders with these nodes and bids have entered, in this order of submission.
fn market(nodes: u32, settings: Settings, contenders: &[(u32, f64)]) -> (Market, Vec<ContenderId>) {
    let mut market = Market::new(nodes, settings);
    let enter = |(submission, &(nodes, credits)): (usize, &(u32, f64))| {
        market.enter(queued(submission as u64, nodes, credits), Milliseconds::ZERO).unwrap()
    };
    let ids = contenders.iter().enumerate().map(enter).collect();
    (market, ids)
}

/// The contenders that run, by their place among `ids`.
fn running(market: &Market, ids: &[ContenderId]) -> Vec<usize> {
    let runs = |id: &ContenderId| market.contender(*id).is_some_and(|contender| contender.standing.is_running());
    ids.iter().enumerate().filter(|(_, id)| runs(id)).map(|(index, _)| index).collect()
}

#[test]
fn bids_are_neither_negative_nor_above_the_highest_nor_no_numbers() {
    for no_bid in [-1e-9, 1e12 * 1.000_001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Bid::new(no_bid).is_err(), "{no_bid}");
    }
    assert_eq!(Bid::new(1e12), Ok(Bid::HIGHEST));
    assert_eq!(Bid::new(-0.0).map(|bid| bid.cmp(&Bid::ZERO)), Ok(std::cmp::Ordering::Equal));
}

#[test]
fn whoever_wants_more_than_the_machine_is_left_out() {
    let mut market = Market::new(4, Settings::default());
    assert_eq!(market.enter(queued(0, 5, 1.0), Milliseconds::ZERO), Err(NeverFits { wanted: 5, machine: 4 }));
}

#[test]
fn a_walk_stops_at_the_first_that_does_not_fit_or_goes_on() {
    let contenders = [(2, 5.0), (3, 4.0), (1, 3.0), (1, 2.0), (1, 1.0)];
    for (walk, runs) in [(WalkRule::StopAtFirst, &[0][..]), (WalkRule::Backfill, &[0, 2, 3])] {
        let (mut market, ids) = market(4, Settings { walk, ..Settings::default() }, &contenders);
        assert_eq!(market.cycle(Milliseconds::ZERO).price, bid(4.0));
        assert_eq!(running(&market, &ids), runs, "{walk}");
    }
}

#[test]
fn equal_bids_go_by_submission() {
    let (mut market, ids) = market(2, Settings::default(), &[(1, 1.0), (1, 1.0), (1, 1.0)]);
    market.cycle(Milliseconds::ZERO);
    assert_eq!(running(&market, &ids), [0, 1]);
}

#[test]
fn nothing_is_paid_where_all_fit_even_if_no_node_is_left() {
    let (mut market, _) = market(4, Settings::default(), &[(3, 5.0), (1, 4.0)]);
    let outcome = market.cycle(Milliseconds::ZERO);
    assert_eq!((outcome.price, outcome.revenue_per_minute, outcome.pays.len()), (Bid::ZERO, 0.0, 0));
    market.enter(queued(2, 1, 1.5), Milliseconds::ZERO).unwrap();
    let outcome = market.cycle(Milliseconds::ZERO);
    assert_eq!((outcome.price, outcome.revenue_per_minute), (bid(1.5), 6.0));
}

#[test]
fn a_new_job_takes_the_nodes_with_the_fewest_jobs_and_a_suspended_one_returns_to_its_own() {
    let (mut market, ids) = market(4, Settings::default(), &[(2, 2.0), (1, 1.0)]);
    market.cycle(Milliseconds::ZERO);
    let on = |market: &Market, id| market.contender(id).unwrap().standing.nodes().to_vec();
    assert_eq!((on(&market, ids[0]), on(&market, ids[1])), (vec![0, 1], vec![2]));
    // Node 3 has nobody, and node 2 one who is suspended for it: 0 and 1 have one who runs.
    let third = market.enter(queued(2, 2, 3.0), Milliseconds::ZERO).unwrap();
    assert_eq!(market.cycle(Milliseconds::ZERO).suspended, [ids[1]]);
    assert_eq!(on(&market, third), [3, 2]);
    market.leave(ids[0]);
    assert_eq!(market.cycle(Milliseconds::ZERO).resumed, [ids[1]]);
    assert_eq!(on(&market, ids[1]), [2]);
}

#[test]
fn where_nodes_are_not_shared_the_higher_bid_has_them() {
    let on_both = |standing: fn(Box<[u32]>) -> Standing| {
        let mut market = Market::new(2, Settings { overlap: Overlap::Wait, ..Settings::default() });
        let contender = |submission, credits, standing| Contender { submission, bid: bid(credits), nodes: 1, standing };
        let low = contender(0, 1.0, Standing::Running { on: Box::from([0]), since: Milliseconds::ZERO });
        let ids = [low, contender(1, 2.0, standing(Box::from([0])))];
        let ids = ids.map(|contender| market.enter(contender, Milliseconds::ZERO).unwrap());
        market.cycle(Milliseconds::ZERO);
        running(&market, &ids)
    };
    assert_eq!(on_both(|on| Standing::Suspended { on }), [1]);
    assert_eq!(on_both(|on| Standing::Running { on, since: Milliseconds::ZERO }), [1]);
    assert_eq!(on_both(|_| Standing::Queued), [0, 1]);
}
