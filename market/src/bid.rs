//! What a job bids.

use std::cmp::Ordering;

/// Credits per node and minute: what a job bids, or pays. Never negative, and finite, so that bids
/// have an order.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bid(f64);

/// A number that is no bid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a bid is between 0 and 10^12 credits per node and minute, and {0} is not")]
pub struct BidOutOfRange(pub f64);

impl Bid {
    /// Nothing.
    pub const ZERO: Bid = Bid(0.0);
    /// The highest bid that is taken.
    pub const HIGHEST: Bid = Bid(1e12);

    /// A bid in credits per node and minute.
    ///
    /// # Errors
    ///
    /// If it is negative, above [`Self::HIGHEST`] or no number.
    pub fn new(credits_per_node_minute: f64) -> Result<Bid, BidOutOfRange> {
        if (0.0..=Self::HIGHEST.0).contains(&credits_per_node_minute) {
            // Zero has a sign, which the order would tell apart.
            Ok(Bid(credits_per_node_minute.abs()))
        } else {
            Err(BidOutOfRange(credits_per_node_minute))
        }
    }

    /// The nearest bid to a number of credits per node and minute; zero for what is no number.
    #[must_use]
    pub fn nearest(credits_per_node_minute: f64) -> Bid {
        Self::new(credits_per_node_minute).unwrap_or(if credits_per_node_minute > 0.0 { Self::HIGHEST } else { Self::ZERO })
    }

    /// In credits per node and minute.
    #[must_use]
    pub fn credits_per_node_minute(self) -> f64 {
        self.0
    }
}

impl Eq for Bid {}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Bid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<f64> for Bid {
    type Error = BidOutOfRange;

    fn try_from(credits_per_node_minute: f64) -> Result<Self, Self::Error> {
        Self::new(credits_per_node_minute)
    }
}
