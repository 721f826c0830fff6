//! Templates, which say which jobs are alike and how a run time follows from theirs.

use crate::genetic::Gene;
use job_types::number::{AccountIndex, PartitionIndex, UserId};
use learning::run_times::ArrivingJob;

/// The genes of one template.
pub(super) const GENES: [Gene; 9] = [
    Gene::Whole(0, 1),
    Gene::Whole(0, 1),
    Gene::Whole(0, 1),
    Gene::Whole(0, 1),
    Gene::Whole(0, 1),
    Gene::Whole(0, 1),
    Gene::Whole(-1, 9),
    Gene::Whole(0, 16),
    Gene::Whole(0, 1),
];

/// How a category predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Estimate {
    /// The mean of its run times.
    Mean,
    /// Linear regression of its run times on the number of CPUs.
    Linear,
}

/// One template: the characteristics in which jobs of a category agree, the length of its history,
/// and how it predicts.
///
/// Of the characteristics of the publication these are known of every job: user, queue (partition),
/// group (account) and the number of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmithTemplate {
    /// Whether jobs of one category have the same user.
    pub user: bool,
    /// Whether jobs of one category have the same partition.
    pub partition: bool,
    /// Whether they have the same account.
    pub account: bool,
    /// Jobs of one category have numbers of CPUs in the same range of this length, a power of 2
    /// from 1 to 512; with `None` the number does not count.
    pub size_range: Option<u32>,
    /// A category keeps so many of the latest jobs, a power of 2 up to 65,536; `None` is all.
    pub most_jobs: Option<u32>,
    /// Run times are kept as parts of the time limits.
    pub relative: bool,
    /// How it predicts.
    pub estimate: Estimate,
}

/// What tells the categories of a template apart.
pub(super) type CategoryKey = (u8, Option<UserId>, Option<PartitionIndex>, Option<AccountIndex>, Option<u32>);

impl SmithTemplate {
    /// The template of so many genes; `None` where the first says that it is not in use.
    pub(super) fn of_genes(genes: &[f64]) -> Option<SmithTemplate> {
        let gene = |index: usize| genes.get(index).copied().unwrap_or(0.0);
        let on = |index: usize| gene(index) >= 0.5;
        on(0).then(|| SmithTemplate {
            user: on(1),
            partition: on(2),
            account: on(3),
            relative: on(4),
            estimate: if on(5) { Estimate::Linear } else { Estimate::Mean },
            size_range: (gene(6) >= 0.0).then(|| 1 << (gene(6) as u32).min(9)),
            most_jobs: (on(8) && gene(7) >= 1.0).then(|| 1 << (gene(7) as u32).min(16)),
        })
    }

    /// The category of a job; `None` where it has no limit to be relative to.
    pub(super) fn category(&self, index: u8, job: &ArrivingJob) -> Option<CategoryKey> {
        if self.relative && job.submitted.limit.is_none_or(|limit| limit.0 <= 0) {
            return None;
        }
        Some((
            index,
            self.user.then_some(job.submitted.user),
            self.partition.then_some(job.submitted.partition),
            self.account.then_some(job.submitted.account),
            self.size_range.map(|range| job.submitted.size.cpus.saturating_sub(1) / range.max(1)),
        ))
    }
}
