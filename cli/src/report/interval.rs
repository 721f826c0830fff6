//! How far a part that was counted may be from the probability behind it.

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::class::rounded;

/// The confidence of the intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// The interval of Clopper and Pearson for a part that was counted, as reports have it. It has no
/// ends where nothing was counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Interval {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
}

impl Interval {
    /// The interval for what has happened `happened` times of `count`.
    pub(super) fn of(happened: u64, count: u64) -> Self {
        let (lower, upper) = clopper_pearson(happened, count).unzip();
        Self { lower: lower.map(rounded), upper: upper.map(rounded) }
    }

    /// Whether the whole interval lies below a probability.
    pub(super) fn is_below(self, probability: f64) -> bool {
        self.upper.is_some_and(|upper| upper < probability)
    }

    /// Returns the ends of the interval, as tables show them under the heading "between".
    pub(super) fn ends(self) -> String {
        self.lower.zip(self.upper).map(|(lower, upper)| format!("{lower:.3} and {upper:.3}")).unwrap_or_default()
    }
}

/// What is said below a table of the heading "between".
pub(super) fn note_on_between() -> String {
    format!("between: interval of Clopper and Pearson for the part that was kept, {} %", CONFIDENCE * 100.0)
}

/// The interval of Clopper and Pearson (1934) for the probability of what has happened `happened`
/// times of `count`: it holds with at least [`CONFIDENCE`], whatever the probability. `None` where
/// nothing was counted.
fn clopper_pearson(happened: u64, count: u64) -> Option<(f64, f64)> {
    if count == 0 || happened > count {
        return None;
    }
    let (happened, missed) = (happened as f64, (count - happened) as f64);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let lower = if happened > 0.0 { Beta::new(happened, missed + 1.0).ok()?.inverse_cdf(tail) } else { 0.0 };
    let upper = if missed > 0.0 { Beta::new(happened + 1.0, missed).ok()?.inverse_cdf(1.0 - tail) } else { 1.0 };
    Some((lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn without_a_miss_the_lower_end_is_the_root_of_the_tail() {
        // 0.025^(1/10) and its mirror image.
        let (lower, upper) = clopper_pearson(10, 10).unwrap();
        assert!((lower - 0.025_f64.powf(0.1)).abs() < 1e-4 && upper == 1.0, "{lower} {upper}");
        let (lower, upper) = clopper_pearson(0, 10).unwrap();
        assert!((upper - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-4 && lower == 0.0, "{lower} {upper}");
    }

    #[test]
    fn beyond_its_ends_what_was_counted_is_less_likely_than_a_tail() {
        for (happened, count) in [(1, 2), (9, 10), (80, 100), (950, 1_000)] {
            let (lower, upper) = clopper_pearson(happened, count).unwrap();
            let at_most = |probability| Binomial::new(probability, count).unwrap().cdf(happened);
            let at_least = |probability| 1.0 - Binomial::new(probability, count).unwrap().cdf(happened - 1);
            assert!((at_least(lower) - 0.025).abs() < 1e-3, "{happened} of {count}: {lower}");
            assert!((at_most(upper) - 0.025).abs() < 1e-3, "{happened} of {count}: {upper}");
        }
    }

    #[test]
    fn nothing_counted_says_nothing() {
        assert_eq!((clopper_pearson(0, 0), clopper_pearson(2, 1)), (None, None));
    }
}
