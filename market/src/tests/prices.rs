//! What those who run pay, by hand and beside walks without each of them.

use proptest::prelude::*;

use super::{bid, market, running};
use crate::{Market, Milliseconds, PriceRule, Settings, WalkRule};

/// What each contender pays that runs, by its place among the contenders.
fn paid(nodes: u32, walk: WalkRule, price: PriceRule, contenders: &[(u32, f64)]) -> Vec<(usize, f64)> {
    let (mut market, ids) = market(nodes, Settings { walk, price, ..Settings::default() }, contenders);
    let pays = market.cycle(Milliseconds::ZERO).pays.clone();
    let paid = |index: usize| pays.iter().find(|(id, _)| *id == ids[index]).map_or(0.0, |(_, pays)| pays.credits_per_node_minute());
    running(&market, &ids).into_iter().map(|index| (index, paid(index))).collect()
}

#[test]
fn all_pay_the_bid_of_the_first_that_does_not_fit() {
    let contenders = [(2, 5.0), (1, 4.0), (2, 3.0), (1, 2.0)];
    assert_eq!(paid(3, WalkRule::StopAtFirst, PriceRule::Uniform, &contenders), [(0, 3.0), (1, 3.0)]);
}

/// Without the first the third fits, and bids 3 for each of its two nodes. Without the second it
/// does not fit, and nobody behind it runs unless the walk goes on.
#[test]
fn each_pays_what_the_others_would_have_bid_for_its_room() {
    let contenders = [(2, 5.0), (1, 4.0), (2, 3.0), (1, 2.0)];
    assert_eq!(paid(3, WalkRule::StopAtFirst, PriceRule::Externality, &contenders), [(0, 3.0), (1, 0.0)]);
    assert_eq!(paid(3, WalkRule::Backfill, PriceRule::Externality, &contenders), [(0, 3.0), (1, 2.0)]);
}

/// The third runs behind the second, whose bid is above its own; without it the fourth would run.
#[test]
fn whoever_runs_behind_one_that_does_not_fit_pays_the_externality() {
    let contenders = [(2, 5.0), (2, 3.0), (1, 2.0), (1, 1.0)];
    assert_eq!(paid(3, WalkRule::Backfill, PriceRule::Uniform, &contenders), [(0, 3.0), (2, 1.0)]);
}

/// Without the first, the second gets all its nodes and bids 4.9 for each of four, which is more
/// than the bid of the first for its one node.
#[test]
fn nobody_pays_more_than_the_own_bid_however_much_the_others_lose() {
    assert_eq!(paid(4, WalkRule::StopAtFirst, PriceRule::Externality, &[(1, 5.0), (4, 4.9)]), [(0, 5.0)]);
}

/// The contenders that a walk takes, gone through one by one.
fn taken(nodes: u32, walk: WalkRule, contenders: &[(u32, f64)], without: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..contenders.len()).filter(|index| Some(*index) != without).collect();
    order.sort_by(|one, other| contenders[*other].1.total_cmp(&contenders[*one].1));
    let (mut left, mut taken) = (nodes, Vec::new());
    for index in order {
        if contenders[index].0 <= left {
            left -= contenders[index].0;
            taken.push(index);
        } else if walk == WalkRule::StopAtFirst {
            break;
        }
    }
    taken.sort_unstable();
    taken
}

fn workload() -> impl Strategy<Value = Vec<(u32, f64)>> {
    let bids = (0..20_u32).prop_map(f64::from);
    proptest::collection::vec((prop_oneof![3 => 1..3_u32, 1 => 1..=12_u32], bids), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn who_runs_and_pays_what_is_what_the_rules_say(contenders in workload(), goes_on: bool, clarke: bool) {
        let walk = if goes_on { WalkRule::Backfill } else { WalkRule::StopAtFirst };
        let price = if clarke { PriceRule::Externality } else { PriceRule::Uniform };
        let who = taken(12, walk, &contenders, None);
        let found = paid(12, walk, price, &contenders);
        prop_assert_eq!(found.iter().map(|(index, _)| *index).collect::<Vec<_>>(), who.clone());
        let value = |who: &[usize], without: usize| -> f64 {
            who.iter().filter(|index| **index != without).map(|index| contenders[*index].1 * f64::from(contenders[*index].0)).sum()
        };
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        order.sort_by(|one, other| contenders[*other].1.total_cmp(&contenders[*one].1));
        let first_that_does_not_fit = order.iter().position(|index| !who.contains(index));
        for (index, pays) in found {
            let (nodes, own) = contenders[index];
            let lost = value(&taken(12, walk, &contenders, Some(index)), index) - value(&who, index);
            let externality = (lost / f64::from(nodes)).clamp(0.0, own);
            let place = order.iter().position(|other| *other == index);
            let expected = match first_that_does_not_fit {
                None => 0.0,
                Some(first) if !clarke && place < Some(first) => contenders[order[first]].1,
                Some(_) => externality,
            };
            prop_assert!((pays - expected).abs() < 1e-9, "{index} pays {pays} and not {expected}");
        }
    }
}

/// What changes behind the last that a cycle looked at changes nothing, prices included.
#[test]
fn a_price_follows_the_first_that_does_not_fit() {
    let (mut market, ids): (Market, _) = market(2, Settings::default(), &[(2, 5.0), (1, 3.0), (1, 2.0)]);
    assert_eq!(market.cycle(Milliseconds::ZERO).price, bid(3.0));
    market.rebid(ids[2], bid(2.5), Milliseconds::ZERO);
    assert_eq!(market.cycle(Milliseconds::ZERO).price, bid(3.0));
    market.leave(ids[1]);
    assert_eq!(market.cycle(Milliseconds::ZERO).price, bid(2.5));
    market.rebid(ids[2], bid(4.0), Milliseconds::ZERO);
    let outcome = market.cycle(Milliseconds::ZERO);
    assert_eq!((outcome.price, outcome.pays.clone()), (bid(4.0), vec![(ids[0], bid(4.0))]));
}
