//! The rules of a market.

use crate::{Bid, Milliseconds};

/// Who gets nodes. All contenders are gone through in the order of falling bids, equal bids in the
/// order of submission, and each is taken while its nodes are left; they are counted, not placed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum WalkRule {
    /// Nobody behind the first that does not fit (Geweke 2000, 5.2.3.4).
    #[default]
    StopAtFirst,
    /// Whoever fits. Who runs behind one that does not fit is suspended as soon as that one does,
    /// and so delays nobody above.
    Backfill,
}

/// What happens where a suspended job returns to its own nodes, which are not free. No job is moved
/// to other nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Overlap {
    /// Both run there, each more slowly (Geweke 2000, 7.2.2.1, load delay).
    #[default]
    Share,
    /// The nodes go to the one that comes first in the order; the other is suspended, or stays so.
    Wait,
}

/// What those who run pay per node and minute. Nobody pays more than the own bid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum PriceRule {
    /// All pay the bid of the first that does not fit, and nothing where all fit (Geweke 2000,
    /// 5.2.3.4). Whoever runs behind that one ([`WalkRule::Backfill`]) bids less, and pays what
    /// [`PriceRule::Externality`] says.
    #[default]
    Uniform,
    /// Each pays what the others would have bid for the room that it takes (Clarke 1971), which the
    /// same walk without it tells: by how much the bids of the others who run, each times its
    /// nodes, would come to more, divided by the own nodes.
    Externality,
}

/// What protects those who run, so that nodes are not spent on suspending and resuming.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Retention {
    /// Nobody is suspended within this time of a start or a resumption in favour of others.
    pub least_run_time: Milliseconds,
    /// By which share of the own bid whoever displaces a running job has to bid more; 0.2 is a
    /// fifth. At least 0.
    pub margin: f64,
}

impl Retention {
    /// Whether anybody is protected at all.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.least_run_time > Milliseconds::ZERO || self.margin > 0.0
    }

    /// The bid by which a running job is ranked.
    pub(crate) fn ranked_as(&self, bid: Bid) -> Bid {
        if self.margin > 0.0 { Bid::nearest(bid.credits_per_node_minute() * (1.0 + self.margin)) } else { bid }
    }
}

/// The rules of a market.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settings {
    /// Who gets nodes.
    pub walk: WalkRule,
    /// What happens where jobs meet on nodes.
    pub overlap: Overlap,
    /// What those who run pay.
    pub price: PriceRule,
    /// What protects those who run.
    pub retention: Retention,
}
