//! What was known when each job arrived, in columns.

use super::distributions::{DISTRIBUTIONS, Distributions};
use job_types::job::{Job, WaitingJob};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::past::{FEATURES, FeatureInputs, GroupKind};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// How many features table II of Hariharan et al. 2020 has.
pub const TABLE_FEATURES: usize = 16;

/// Place of the job's CPUs among them.
pub const TABLE_CPUS: usize = 0;

/// Rows that are kept, and let go of, together.
const BLOCK: usize = 4_096;

/// Jobs in order of arrival, with what was known of the cluster when each arrived. A job's start
/// and end are there once they have happened.
///
/// A row keeps its number for good. Where only so many rows are kept, the first are let go of, but
/// not those of jobs that wait: their waits, the longest of all, are still to be learnt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arrivals {
    bins: usize,
    /// How many rows are to be kept.
    most: usize,
    /// The first row of the first block.
    first: usize,
    len: usize,
    blocks: VecDeque<Block>,
    /// Earlier rows whose jobs waited when their block was let go of.
    left: HashMap<usize, Block>,
    /// The rows of these that have started since, in the same order.
    left_started: VecDeque<usize>,
}

/// The columns of some rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Block {
    jobs: Vec<Job>,
    table: Vec<[f32; TABLE_FEATURES]>,
    distributions: Vec<u8>,
    features: Vec<f32>,
}

impl Block {
    fn with_room(rows: usize, bins: usize) -> Block {
        Block {
            jobs: Vec::with_capacity(rows),
            table: Vec::with_capacity(rows),
            distributions: Vec::with_capacity(rows * DISTRIBUTIONS * bins),
            features: Vec::with_capacity(rows * FEATURES),
        }
    }

    fn distributions(&self, row: usize, bins: usize) -> Option<&[u8]> {
        let width = DISTRIBUTIONS * bins;
        self.distributions.get(row * width..(row + 1) * width)
    }

    fn features(&self, row: usize) -> Option<&[f32]> {
        self.features.get(row * FEATURES..(row + 1) * FEATURES)
    }

    /// One row by itself.
    fn row(&self, row: usize, bins: usize) -> Option<Block> {
        Some(Block {
            jobs: vec![*self.jobs.get(row)?],
            table: vec![*self.table.get(row)?],
            distributions: self.distributions(row, bins)?.to_vec(),
            features: self.features(row)?.to_vec(),
        })
    }
}

impl Arrivals {
    pub(super) fn new(bins: usize) -> Arrivals {
        Arrivals { bins, most: usize::MAX, first: 0, len: 0, blocks: VecDeque::new(), left: HashMap::new(), left_started: VecDeque::new() }
    }

    /// Keeps the latest `rows` rows from now on, and at most [`BLOCK`] more.
    pub(super) fn keep(&mut self, rows: usize) {
        self.most = rows;
    }

    /// Adds a row. The features of the default forecast are those that were published, or else
    /// those that follow from `inputs`.
    pub(super) fn push(&mut self, job: &WaitingJob, inputs: &FeatureInputs<'_>, published: Option<&[f32]>, distributions: &Distributions) {
        if self.blocks.back().is_none_or(|block| block.jobs.len() >= BLOCK) {
            self.let_go();
            // Small pasts stay small.
            let room = if self.blocks.is_empty() { 0 } else { BLOCK };
            self.blocks.push_back(Block::with_room(room, self.bins));
        }
        let Some(block) = self.blocks.back_mut() else { return };
        block.jobs.push(Job::Waiting(*job));
        block.table.push(table(inputs, job));
        match published.filter(|features| features.len() == FEATURES) {
            Some(features) => block.features.extend_from_slice(features),
            None => inputs.write_features(job, &mut block.features),
        }
        distributions.write(inputs.now, &mut block.distributions);
        self.len += 1;
    }

    fn let_go(&mut self) {
        while self.blocks.len() > 1 && (self.blocks.len() - 1) * BLOCK >= self.most {
            let Some(block) = self.blocks.pop_front() else { return };
            for (row, job) in block.jobs.iter().enumerate() {
                if matches!(job, Job::Waiting(_))
                    && let Some(row_of_its_own) = block.row(row, self.bins)
                {
                    self.left.insert(self.first + row, row_of_its_own);
                }
            }
            self.first += block.jobs.len();
        }
    }

    /// Returns the block that a row is in, and its place there.
    fn place(&self, row: usize) -> Option<(&Block, usize)> {
        match row.checked_sub(self.first) {
            Some(place) => Some((self.blocks.get(place / BLOCK)?, place % BLOCK)),
            None => Some((self.left.get(&row)?, 0)),
        }
    }

    fn job_mut(&mut self, row: usize) -> Option<&mut Job> {
        match row.checked_sub(self.first) {
            Some(place) => self.blocks.get_mut(place / BLOCK)?.jobs.get_mut(place % BLOCK),
            None => self.left.get_mut(&row)?.jobs.first_mut(),
        }
    }

    pub(super) fn set_start(&mut self, row: usize, at: UnixTime, size: Size) {
        if let Some(job) = self.job_mut(row) {
            *job = job.started(at, (size != job.submitted().size).then_some(size));
        }
        if row < self.first && self.left.contains_key(&row) {
            self.left_started.push_back(row);
            // They are few, and become too old to learn from like the others.
            if self.left_started.len() > BLOCK
                && let Some(oldest) = self.left_started.pop_front()
            {
                self.left.remove(&oldest);
            }
        }
    }

    pub(super) fn set_end(&mut self, row: usize, at: UnixTime, suspended: Seconds) {
        if let Some(job) = self.job_mut(row) {
            *job = job.ended(at, suspended);
        }
        if row < self.first && self.left.get(&row).and_then(|block| block.jobs.first()).is_some_and(|job| job.start().is_none()) {
            self.left.remove(&row);
        }
    }

    /// How many jobs have arrived.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no job has arrived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first row that is kept, whatever its job does.
    #[must_use]
    pub fn first_row(&self) -> usize {
        self.first
    }

    /// The job of a row, `None` beyond the last and where the row is not kept any more.
    #[must_use]
    pub fn job(&self, row: usize) -> Option<&Job> {
        let (block, place) = self.place(row)?;
        block.jobs.get(place)
    }

    /// The sixteen features of table II, in its order: CPUs, time limit in seconds, and so on.
    #[must_use]
    pub fn table(&self, row: usize) -> Option<&[f32; TABLE_FEATURES]> {
        let (block, place) = self.place(row)?;
        block.table.get(place)
    }

    /// Bins of each distribution.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The distributions of table I, one after the other in its order, each of [`Arrivals::bins`]
    /// bins that sum to 255 but for rounding, or to 0 where no job was there.
    #[must_use]
    pub fn distributions(&self, row: usize) -> Option<&[u8]> {
        let (block, place) = self.place(row)?;
        block.distributions(place, self.bins)
    }

    /// The [`FEATURES`] features of the default predictor.
    #[must_use]
    pub fn features(&self, row: usize) -> Option<&[f32]> {
        let (block, place) = self.place(row)?;
        block.features(place)
    }
}

/// The sixteen features of table II of Hariharan et al. 2020, in its order.
fn table(inputs: &FeatureInputs<'_>, job: &WaitingJob) -> [f32; TABLE_FEATURES] {
    let (cluster, user) = (inputs.group(GroupKind::Cluster), inputs.group(GroupKind::User));
    let features = [
        f64::from(job.size.cpus),
        job.limit_or_zero().0 as f64,
        cluster.waiting.cpus,
        cluster.waiting.limits_s,
        cluster.waiting.elapsed_s(inputs.now),
        cluster.running.cpus,
        cluster.running.limits_s,
        cluster.running.elapsed_s(inputs.now),
        user.waiting.work / 3_600.0,
        user.waiting.cpus,
        user.waiting.limits_s,
        user.waiting.jobs,
        user.running.work / 3_600.0,
        user.running.cpus,
        user.running.limits_s,
        user.running.jobs,
    ];
    features.map(|feature| feature as f32)
}

#[cfg(test)]
mod tests {
    use crate::sweep::Sweep;
    use job_types::job::WaitingJob;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;
    use job_types::time::{Seconds, UnixTime};
    use predictor_core::forecasts::past::FEATURES;

    #[test]
    fn rows_keep_their_numbers_and_those_of_waiting_jobs_are_not_let_go_of() {
        let job = |eligible: i64| WaitingJob {
            user: UserId(1),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 1 + (eligible % 7) as u32 },
            limit: None,
            eligible: UnixTime(eligible),
        };
        let mut sweep = Sweep::new(8, 2).keeping(5_000);
        for eligible in 0..30_000i64 {
            let row = sweep.arrive(&job(eligible));
            assert_eq!(i64::from(row), eligible);
            // Every thousandth job goes on waiting.
            if eligible % 1_000 != 17 {
                sweep.start(row, UnixTime(eligible));
                sweep.end(row, UnixTime(eligible), Seconds::ZERO);
            }
        }
        let past = sweep.arrivals();
        assert_eq!(past.len(), 30_000);
        assert!((20_000..=25_000).contains(&past.first_row()), "{}", past.first_row());
        for row in past.first_row()..30_000 {
            assert_eq!(past.job(row).unwrap().submitted().eligible.0, row as i64);
            assert_eq!(past.features(row).unwrap().len(), FEATURES);
        }
        assert!(past.job(16).is_none() && past.job(30_000).is_none());
        assert_eq!((past.job(17).unwrap().submitted().eligible.0, past.distributions(17).unwrap().len()), (17, 12));

        sweep.start(17, UnixTime(30_000));
        assert_eq!(sweep.arrivals().job(17).unwrap().wait(), Some(Seconds(29_983)));
        sweep.end(1_017, UnixTime(30_001), Seconds::ZERO);
        assert!(sweep.arrivals().job(1_017).is_none(), "cancelled, and of no more use");
    }
}
