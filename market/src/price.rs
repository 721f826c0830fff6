//! What those who run pay.

use crate::book::Book;
use crate::contender::Place;
use crate::contenders::Contenders;
use crate::externality::externalities;
use crate::walk::Walked;
use crate::{Bid, PriceRule, Settings, WalkRule};

/// The prices of a cycle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prices {
    /// The bid of the first that does not fit, or nothing where all fit.
    pub(crate) market: Bid,
    /// What each winner pays per node and minute, in their order.
    pub(crate) each: Vec<Bid>,
    /// Whatever changes behind this place changes nothing of this.
    pub(crate) looked_up_to: Option<Place>,
}

impl Prices {
    /// The prices after a walk.
    pub(crate) fn find(&mut self, walked: &Walked, book: &Book, contenders: &Contenders, nodes: u32, settings: &Settings) {
        let bid = |id| contenders.get(id).map_or(Bid::ZERO, |entry| entry.contender.bid);
        self.each.clear();
        self.looked_up_to = walked.looked_up_to;
        let Some((blocked, before)) = walked.blocked else {
            self.market = Bid::ZERO;
            self.each.resize(walked.winners.len(), Bid::ZERO);
            return;
        };
        self.market = bid(blocked);
        let pay_the_market = match settings.price {
            PriceRule::Uniform => before,
            PriceRule::Externality => 0,
        };
        self.each.extend(walked.winners.iter().take(pay_the_market).map(|&id| bid(id).min(self.market)));
        if pay_the_market < walked.winners.len() {
            let found = externalities(book, contenders, nodes, settings.walk, pay_the_market);
            debug_assert_eq!(found.credits_per_minute.len(), walked.winners.len());
            let others = walked.winners.iter().zip(found.credits_per_minute).skip(pay_the_market);
            self.each.extend(others.map(|(&id, credits_per_minute)| {
                let nodes = contenders.get(id).map_or(1, |entry| entry.contender.nodes);
                Bid::nearest(credits_per_minute / f64::from(nodes)).min(bid(id))
            }));
            self.looked_up_to = found.looked_up_to;
        }
        debug_assert!(settings.walk == WalkRule::Backfill || before == walked.winners.len());
    }
}
