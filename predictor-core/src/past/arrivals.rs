//! What was known when each job arrived, in columns.

use super::PastJob;

/// How many features table II of the end-to-end paper has.
pub const TABLE_FEATURES: usize = 16;

/// How many distributions table I of the end-to-end paper has.
pub const DISTRIBUTIONS: usize = 6;

/// Jobs in order of arrival, with what was known of the cluster when each arrived.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    jobs: Vec<PastJob>,
    table: Vec<[f32; TABLE_FEATURES]>,
    bins: usize,
    distributions: Vec<u8>,
    features: Vec<f32>,
    feature_count: usize,
}

impl Arrivals {
    /// How many jobs have arrived.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The job of a row, `None` beyond the last.
    #[must_use]
    pub fn job(&self, row: usize) -> Option<&PastJob> {
        self.jobs.get(row)
    }

    /// The sixteen features of table II, in its order: CPUs, time limit in seconds, and so on.
    #[must_use]
    pub fn table(&self, row: usize) -> Option<&[f32; TABLE_FEATURES]> {
        self.table.get(row)
    }

    /// Bins of each distribution.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The distributions of table I, one after the other in its order, each of [`Arrivals::bins`] bins that sum to 255 (or 0 where no job was there), rounded.
    #[must_use]
    pub fn distributions(&self, row: usize) -> Option<&[u8]> {
        let width = DISTRIBUTIONS * self.bins;
        self.distributions.get(row * width..(row + 1) * width)
    }

    /// All features that the default predictor uses.
    #[must_use]
    pub fn features(&self, row: usize) -> Option<&[f32]> {
        self.features.get(row * self.feature_count..(row + 1) * self.feature_count)
    }
}
