//! The three histograms of each run (7.2.2.2): bins of 5, and bars that are cut, so that the many
//! jobs with one value leave the others to be seen.

use std::collections::BTreeMap;

/// How values are counted and drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Where the first bin begins.
    pub from: f64,
    /// Where the last bin ends.
    pub to: f64,
    /// The width of a bin.
    pub width: f64,
    /// Bars are not drawn above this count.
    pub cap: u64,
}

/// Bids, in credits per node and minute.
pub const BIDS: Scale = Scale { from: 0.0, to: f64::INFINITY, width: 5.0, cap: 1000 };
/// Delays, in minutes.
pub const DELAYS: Scale = Scale { from: 0.0, to: f64::INFINITY, width: 5.0, cap: 500 };
/// Dilations, in percent: 100 is no delay.
pub const DILATIONS: Scale = Scale { from: 100.0, to: 1000.0, width: 5.0, cap: 600 };

/// One bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Where its bin begins; the bin's end is the next one's.
    pub from: f64,
    /// Values in it.
    pub count: u64,
    /// As high as it is drawn.
    pub drawn: u64,
}

/// The bars of these values, without those of empty bins. What lies outside the scale is left out.
#[must_use]
pub fn bars(scale: Scale, values: impl IntoIterator<Item = f64>) -> Vec<Bar> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for value in values {
        if (scale.from..scale.to).contains(&value) {
            *counts.entry(((value - scale.from) / scale.width) as u64).or_default() += 1;
        }
    }
    let bar = |(bin, count): (u64, u64)| Bar { from: scale.from + bin as f64 * scale.width, count, drawn: count.min(scale.cap) };
    counts.into_iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_belongs_to_the_bin_that_it_begins() {
        let bars: Vec<(f64, u64)> = bars(BIDS, [0.0, 4.9, 5.0, 1e12]).iter().map(|bar| (bar.from, bar.count)).collect();
        assert_eq!(bars, [(0.0, 2), (5.0, 1), (1e12, 1)]);
    }

    #[test]
    fn bars_are_cut_and_what_is_off_the_scale_is_left_out() {
        let many = std::iter::repeat_n(100.0, 700);
        assert_eq!(bars(DILATIONS, many.chain([1000.0, 99.0])), [Bar { from: 100.0, count: 700, drawn: 600 }]);
    }
}
