//! What was known when each job arrived, in columns.

use super::distributions::Distributions;
use super::picture::{FEATURES, Picture};
use super::PastJob;
use crate::time::{Seconds, UnixTime};

/// How many features table II of the end-to-end paper has.
pub const TABLE_FEATURES: usize = 16;

/// How many distributions table I of the end-to-end paper has.
pub const DISTRIBUTIONS: usize = 6;

/// Jobs in order of arrival, with what was known of the cluster when each arrived. A job's start and end are there once they have happened.
#[derive(Clone, Debug)]
pub struct Arrivals {
    jobs: Vec<PastJob>,
    table: Vec<[f32; TABLE_FEATURES]>,
    bins: usize,
    distributions: Vec<u8>,
    features: Vec<f32>,
}

impl Arrivals {
    pub(super) fn new(bins: usize) -> Arrivals {
        Arrivals { jobs: Vec::new(), table: Vec::new(), bins, distributions: Vec::new(), features: Vec::new() }
    }

    pub(super) fn push(&mut self, job: &PastJob, picture: &Picture<'_>, distributions: &Distributions) {
        self.jobs.push(PastJob { start: None, end: None, suspended: Seconds::ZERO, ..*job });
        self.table.push(picture.table(job));
        picture.write_features(job, &mut self.features);
        distributions.write(picture.now, &mut self.distributions);
    }

    pub(super) fn set_start(&mut self, row: usize, at: UnixTime) {
        if let Some(job) = self.jobs.get_mut(row) {
            job.start = Some(at);
        }
    }

    pub(super) fn set_end(&mut self, row: usize, at: UnixTime, suspended: Seconds) {
        if let Some(job) = self.jobs.get_mut(row) {
            job.end = Some(at);
            job.suspended = suspended;
        }
    }

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

    /// All jobs, in order of arrival.
    #[must_use]
    pub fn jobs(&self) -> &[PastJob] {
        &self.jobs
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

    /// The distributions of table I, one after the other in its order, each of [`Arrivals::bins`] bins that sum to 255 but for rounding, or to 0
    /// where no job was there.
    #[must_use]
    pub fn distributions(&self, row: usize) -> Option<&[u8]> {
        let width = DISTRIBUTIONS * self.bins;
        self.distributions.get(row * width..(row + 1) * width)
    }

    /// The [`FEATURES`] features of the default predictor.
    #[must_use]
    pub fn features(&self, row: usize) -> Option<&[f32]> {
        self.features.get(row * FEATURES..(row + 1) * FEATURES)
    }
}
