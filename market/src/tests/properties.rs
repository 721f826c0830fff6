//! What holds of any market, whatever has happened to it.

use proptest::prelude::*;

use super::{bid, queued};
use crate::{ContenderId, Market, Milliseconds, Overlap, PriceRule, Retention, Settings, Standing, WalkRule};

const NODES: u32 = 8;

/// Something that happens to a market, a cycle after each.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Enters(u32, u32),
    Leaves(usize),
    Bids(usize, u32),
}

fn happenings() -> impl Strategy<Value = Vec<Happens>> {
    let one = prop_oneof![
        4 => (prop_oneof![2 => 1..3_u32, 1 => 1..=NODES], 0..12_u32).prop_map(|(nodes, credits)| Happens::Enters(nodes, credits)),
        2 => any::<usize>().prop_map(Happens::Leaves),
        2 => (any::<usize>(), 0..12_u32).prop_map(|(whose, credits)| Happens::Bids(whose, credits)),
    ];
    proptest::collection::vec(one, 1..60)
}

fn settings() -> impl Strategy<Value = Settings> {
    let walk = prop_oneof![Just(WalkRule::StopAtFirst), Just(WalkRule::Backfill)];
    let overlap = prop_oneof![Just(Overlap::Share), Just(Overlap::Wait)];
    let price = prop_oneof![Just(PriceRule::Uniform), Just(PriceRule::Externality)];
    let retention = prop_oneof![
        2 => Just(Retention::default()),
        1 => (0..4_u64, 0..3_u32).prop_map(|(least, fifths)| Retention {
            least_run_time: Milliseconds(least),
            margin: f64::from(fifths) / 5.0,
        }),
    ];
    (walk, overlap, price, retention).prop_map(|(walk, overlap, price, retention)| Settings { walk, overlap, price, retention })
}

/// Has everything happen, one thing a millisecond, and looks at the market after each cycle.
fn play(settings: Settings, happenings: &[Happens], mut look: impl FnMut(&Market, &[ContenderId], Milliseconds)) {
    let mut market = Market::new(NODES, settings);
    let mut present: Vec<ContenderId> = Vec::new();
    for (index, happens) in happenings.iter().enumerate() {
        let now = Milliseconds(index as u64);
        match *happens {
            Happens::Enters(nodes, credits) => present.push(market.enter(queued(index as u64, nodes, f64::from(credits)), now).unwrap()),
            Happens::Leaves(whose) if !present.is_empty() => drop(market.leave(present.swap_remove(whose % present.len()))),
            Happens::Bids(whose, credits) if !present.is_empty() => {
                market.rebid(present[whose % present.len()], bid(f64::from(credits)), now);
            }
            _ => {}
        }
        market.cycle(now);
        look(&market, &present, now);
    }
}

/// The same market built anew from what is there, as one does that reads the state of a cluster.
fn built_anew(market: &Market, present: &[ContenderId], settings: Settings, now: Milliseconds) -> Market {
    let mut anew = Market::new(NODES, settings);
    for id in present {
        anew.enter(market.contender(*id).unwrap().clone(), now).unwrap();
    }
    anew
}

fn runs(market: &Market, id: ContenderId) -> bool {
    market.contender(id).is_some_and(|contender| contender.standing.is_running())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_second_cycle_on_an_unchanged_state_changes_nothing(happenings in happenings(), settings in settings()) {
        play(settings, &happenings, |market, present, now| {
            let price = market.outcome().price;
            let mut again = market.clone();
            assert!(again.cycle(now).is_unchanged());
            let mut anew = built_anew(market, present, settings, now);
            assert!(anew.cycle(now).is_unchanged(), "{:?}", anew.outcome());
            assert_eq!(anew.outcome().price, price);
            assert!((anew.outcome().revenue_per_minute - market.outcome().revenue_per_minute).abs() < 1e-9);
        });
    }

    #[test]
    fn nobody_pays_more_than_the_own_bid(happenings in happenings(), settings in settings()) {
        play(settings, &happenings, |market, present, now| {
            let mut anew = built_anew(market, present, settings, now);
            let pays = anew.cycle(now).pays.clone();
            for (id, pays) in pays {
                assert!(pays <= anew.contender(id).unwrap().bid);
            }
        });
    }

    #[test]
    fn nodes_are_those_of_one_running_job_where_they_are_not_shared(happenings in happenings(), settings in settings()) {
        play(Settings { overlap: Overlap::Wait, ..settings }, &happenings, |market, present, _| {
            let mut jobs = [0; NODES as usize];
            for id in present.iter().filter(|id| runs(market, **id)) {
                market.contender(*id).unwrap().standing.nodes().iter().for_each(|node| jobs[*node as usize] += 1);
            }
            assert!(jobs.iter().all(|jobs| *jobs <= 1), "{jobs:?}");
        });
    }

    #[test]
    fn no_more_nodes_are_given_than_there_are_and_each_job_keeps_its_own(happenings in happenings(), settings in settings()) {
        let mut given: Vec<(u64, Box<[u32]>)> = Vec::new();
        play(settings, &happenings, |market, present, _| {
            let contenders = present.iter().map(|id| market.contender(*id).unwrap());
            assert!(contenders.clone().filter(|one| one.standing.is_running()).map(|one| one.nodes).sum::<u32>() <= NODES);
            for one in contenders.filter(|one| one.standing != Standing::Queued) {
                assert_eq!(one.standing.nodes().len() as u32, one.nodes);
                match given.iter().find(|(submission, _)| *submission == one.submission) {
                    Some((_, nodes)) => assert_eq!(&nodes[..], one.standing.nodes()),
                    None => given.push((one.submission, one.standing.nodes().into())),
                }
            }
        });
    }

    /// Whoever runs after a cycle would do so with a higher bid as well.
    #[test]
    fn a_higher_bid_never_delays_ones_own_start(happenings in happenings(), settings in settings(), whose: usize, more in 1..12_u32) {
        let settings = Settings { retention: Retention::default(), ..settings };
        play(settings, &happenings[..happenings.len() - 1], |before, present, now| {
            if present.is_empty() {
                return;
            }
            let own = present[whose % present.len()];
            let mut with_more = before.clone();
            let bids = before.contender(own).unwrap().bid.credits_per_node_minute();
            with_more.rebid(own, bid(bids + f64::from(more)), now);
            with_more.cycle(now);
            assert!(!runs(before, own) || runs(&with_more, own));
        });
    }
}
