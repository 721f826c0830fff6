//! From the start of `queuecastd` to the first snapshot with what it has learnt.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use super::queuecastd::{IN_AN_HOUR, PUBLISHED, Queuecastd, SOON};
use super::site::PARTITIONS;
use super::size::Size;
use crate::daemon_log::{Log, Place};
use crate::private_cluster::PrivateCluster;
use crate::statistics::rounded;

/// How long the first snapshot of the whole history is waited for.
const WHOLE_HISTORY: Duration = Duration::from_secs(1_200);

/// Times are seconds from the start to a snapshot, and memory is the most until then.
#[derive(Debug, Serialize)]
pub(super) struct Learning {
    pub(super) first_snapshot_s: f64,
    /// The ended jobs that the first snapshot rests on.
    pub(super) first_snapshot_jobs: u64,
    pub(super) whole_history_s: f64,
    /// Seconds from the start until all ended jobs were read.
    pub(super) history_read_s: f64,
    /// How long it took to fit the statistics of all of them.
    pub(super) history_fitting_ms: f64,
    pub(super) learnt_s: f64,
    pub(super) resident_after_history_mib: f64,
    pub(super) resident_learnt_mib: f64,
}

impl PrivateCluster {
    /// Starts `queuecastd` with an empty log.
    pub(super) fn start_queuecastd_anew(&self, size: Size) -> anyhow::Result<Queuecastd<'_>> {
        Log::new(self).clear()?;
        Ok(Queuecastd::start(self, size))
    }
}

impl Queuecastd<'_> {
    /// Waits until it has published what it has learnt from all jobs.
    ///
    /// # Errors
    ///
    /// Where it takes longer than an hour; or the snapshot does not have all jobs and nodes, or no
    /// trees for one of the partitions.
    pub(super) fn measure_learning(&mut self) -> anyhow::Result<Learning> {
        let jobs = self.size.jobs;
        let beginning = Place::default();
        let whole = self.wait_for(beginning, WHOLE_HISTORY, PUBLISHED, jobs)?;
        let first = self.wait_for(beginning, SOON, PUBLISHED, 0)?;
        let read = self.wait_for(beginning, SOON, "the history of ended jobs is read", 0)?;
        let resident_after_history_mib = self.resident_mib()?;
        let learnt = self.wait_for(beginning, IN_AN_HOUR, "learnt", 0)?;
        self.demand_snapshot();
        let with_learnt = self.wait_for(learnt.end, SOON, PUBLISHED, jobs)?;
        let learning = Learning {
            first_snapshot_s: rounded(first.seconds_since(self.started), 1),
            first_snapshot_jobs: first.number("ended_jobs").context("the first snapshot rests on no number of jobs")?,
            whole_history_s: rounded(whole.seconds_since(self.started), 1),
            history_read_s: rounded(read.seconds_since(self.started), 1),
            history_fitting_ms: rounded(whole.milliseconds("fitting").context("it is not known how long fitting took")?, 1),
            learnt_s: rounded(with_learnt.seconds_since(self.started), 1),
            resident_after_history_mib,
            resident_learnt_mib: self.resident_mib()?,
        };
        self.require_whole_snapshot()?;
        Ok(learning)
    }

    fn require_whole_snapshot(&self) -> anyhow::Result<()> {
        let status = self.site.status()?;
        let Size { pending, nodes, .. } = self.size;
        for (key, expected) in [("pending_jobs", pending), ("nodes", PARTITIONS.len() as u64 * nodes)] {
            let seen = status.sum_of(key);
            ensure!(seen == expected, "the snapshot knows {seen} {key} in its four partitions instead of {expected}");
        }
        let forecasts = status.wait_forecasts()?;
        let trained = forecasts.values().filter(|forecasts| forecasts.has_trees()).count();
        ensure!(trained == PARTITIONS.len(), "there are partitions for which no trees have been trained: {forecasts:?}");
        Ok(())
    }
}
