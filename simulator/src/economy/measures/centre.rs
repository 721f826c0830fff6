//! The centre of mass of a graph of delay, or dilation, against bid.
//!
//! The text of the thesis (7.2.2.3) has Σd·b/Σb, and its table 7.2-I has Σd·b/Σd, the mean bid
//! weighted by delay: only so can the row of random bids, which are 25 in the mean, be 24.9 under
//! both schedulers that ask for no bids, and the row of zeros 0 and not 0/0.

use std::iter::Sum;

/// The sums of which both centres are made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Centre {
    /// Σd·b.
    products: f64,
    /// Σd.
    delays: f64,
    /// Σb.
    bids: f64,
}

impl Centre {
    /// The graph that has one point: a delay, or a dilation, and a bid.
    #[must_use]
    pub fn of(delay: f64, bid: f64) -> Self {
        Self { products: delay * bid, delays: delay, bids: bid }
    }

    /// Σd·b/Σd, in credits per node and minute: the reading of the table. `None` where nothing was
    /// delayed.
    #[must_use]
    pub fn as_tabled(&self) -> Option<f64> {
        (self.delays > 0.0).then(|| self.products / self.delays)
    }

    /// Σd·b/Σb, in minutes, or without a unit for dilations: the reading of the text. `None` where
    /// nothing was bid.
    #[must_use]
    pub fn as_written(&self) -> Option<f64> {
        (self.bids > 0.0).then(|| self.products / self.bids)
    }
}

impl Sum for Centre {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::default(), |sum, point| Self {
            products: sum.products + point.products,
            delays: sum.delays + point.delays,
            bids: sum.bids + point.bids,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn centre(points: &[(f64, f64)]) -> Centre {
        points.iter().map(|&(delay, bid)| Centre::of(delay, bid)).sum()
    }

    #[test]
    fn the_table_weights_bids_by_delay_and_the_text_delays_by_bid() {
        let centre = centre(&[(1.0, 10.0), (3.0, 20.0), (0.0, 40.0)]);
        assert_eq!(centre.as_tabled(), Some(70.0 / 4.0));
        assert_eq!(centre.as_written(), Some(1.0));
    }

    #[test]
    fn only_the_reading_of_the_table_has_a_row_of_zeros() {
        let zeros = centre(&[(1.0, 0.0), (3.0, 0.0)]);
        assert_eq!((zeros.as_tabled(), zeros.as_written()), (Some(0.0), None));
        assert_eq!(centre(&[(0.0, 5.0)]).as_tabled(), None);
    }
}
