//! The figures of a row: the mean time of its submissions in each round, and the times of the
//! plugin's callback.

use serde::Serialize;

use crate::private_cluster::PrivateCluster;
use crate::statistics::{median, quartile, rounded};

/// What was measured of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The mean time of a submission in microseconds, one for each round.
    pub(crate) means_us: Vec<f64>,
    /// The times of the callback in nanoseconds, one for each submission of all rounds.
    pub(crate) callbacks_ns: Vec<u32>,
}

/// The figures of one row in microseconds, to tenths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The median of the rounds.
    pub(crate) median_us: f64,
    /// The median, over the rounds, of the row's time less that of another row in the same round.
    pub(crate) adds_us: f64,
    /// The first and the third quartile of these differences.
    pub(crate) quartiles_us: [f64; 2],
    /// The median time of the callback alone.
    pub(crate) callback_us: f64,
}

impl Series {
    /// Sums up the rounds, of which there is at least one, where `base` is the row from whose times
    /// on this one's count.
    pub(crate) fn summary(&self, base: &Series) -> Summary {
        let differences: Vec<f64> = self.means_us.iter().zip(&base.means_us).map(|(ours, theirs)| ours - theirs).collect();
        let callbacks_ns: Vec<f64> = self.callbacks_ns.iter().copied().map(f64::from).collect();
        Summary {
            median_us: rounded(median(&self.means_us), 1),
            adds_us: rounded(median(&differences), 1),
            quartiles_us: [1, 3].map(|number| rounded(quartile(&differences, number), 1)),
            callback_us: rounded(median(&callbacks_ns) / 1_000.0, 1),
        }
    }
}

impl Summary {
    /// The quartiles of what the row adds, as tables show them.
    pub(crate) fn quartiles(&self) -> String {
        let [first, third] = self.quartiles_us;
        format!("{first:.1}, {third:.1}")
    }
}

impl PrivateCluster {
    /// Adds a round to a row: the mean time of the submissions since slurmctld counts afresh, of
    /// which there should be `count`, and the times of their callbacks. Returns the mean in
    /// microseconds.
    ///
    /// # Errors
    ///
    /// Where slurmctld tells of another number of submissions, or there were fewer callbacks.
    pub(crate) fn end_round(&self, series: &mut Series, count: usize) -> anyhow::Result<f64> {
        let mean_us = self.mean_submission_us(count)?;
        series.callbacks_ns.extend(self.last_callbacks(count)?);
        series.means_us.push(mean_us);
        Ok(mean_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_adds_is_the_median_of_differences_within_rounds() {
        let row = Series { means_us: vec![310.0, 420.0, 332.5], callbacks_ns: vec![9_000, 8_000, 8_640] };
        let base = Series { means_us: vec![300.0, 390.0, 320.25], callbacks_ns: vec![200] };
        let expected = Summary { median_us: 332.5, adds_us: 12.3, quartiles_us: [12.3, 30.0], callback_us: 8.6 };
        assert_eq!(row.summary(&base), expected);
        assert_eq!(expected.quartiles(), "12.3, 30.0");
    }
}
