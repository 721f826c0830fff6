//! What a new snapshot costs slurmctld.

use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::queuecastd::Queuecastd;
use crate::private_cluster::PrivateCluster;
use crate::statistics::{median, rounded};

/// How long the plugin's count of snapshots is waited for. The plugin counts in memory of the
/// daemon's, which passes it on within a second.
const COUNTED: Duration = Duration::from_secs(30);

#[derive(Debug, Serialize)]
pub(super) struct Uptake {
    /// The median of what the first submission after a new snapshot takes longer than the next one.
    pub(super) uptake_ms: f64,
    /// All of these differences, in ascending order.
    uptakes_ms: Vec<f64>,
    /// The medians of what the first and the next submission took in slurmctld.
    #[serde(skip)]
    pub(super) first_submission_ms: f64,
    pub(super) next_submission_ms: f64,
}

impl Queuecastd<'_> {
    /// Publishes and submits twice, again and again.
    ///
    /// # Errors
    ///
    /// Where a submission fails, or the plugin took up another number of snapshots.
    pub(super) fn measure_uptake(&mut self) -> anyhow::Result<Uptake> {
        let uptakes = self.size.uptakes;
        let before = self.site.status()?.sum_of("snapshots_taken");
        let (mut firsts_ms, mut nexts_ms) = (Vec::new(), Vec::new());
        for _ in 0..uptakes {
            self.refresh(self.size.jobs)?;
            firsts_ms.push(self.site.time_submission()?);
            nexts_ms.push(self.site.time_submission()?);
        }
        self.wait_for_snapshots_taken(before, uptakes as u64)?;
        let mut uptakes_ms: Vec<f64> = firsts_ms.iter().zip(&nexts_ms).map(|(first, next)| first - next).collect();
        uptakes_ms.sort_by(f64::total_cmp);
        Ok(Uptake {
            uptake_ms: rounded(median(&uptakes_ms), 1),
            uptakes_ms: uptakes_ms.iter().map(|uptake_ms| rounded(*uptake_ms, 1)).collect(),
            first_submission_ms: rounded(median(&firsts_ms), 1),
            next_submission_ms: rounded(median(&nexts_ms), 2),
        })
    }

    fn wait_for_snapshots_taken(&self, before: u64, expected: u64) -> anyhow::Result<()> {
        let mut taken = 0;
        let counted = self.site.wait(COUNTED, || {
            taken = self.site.status()?.sum_of("snapshots_taken").saturating_sub(before);
            Ok((taken == expected).then_some(()))
        })?;
        if counted.is_none() {
            bail!("the plugin took up {taken} snapshots instead of {expected}");
        }
        Ok(())
    }
}

impl PrivateCluster {
    /// Submits one job of which nothing is asked, and returns the milliseconds that it took in
    /// slurmctld.
    fn time_submission(&self) -> anyhow::Result<f64> {
        self.reset_statistics()?;
        let mut sbatch = self.cluster.prepare("sbatch");
        sbatch.current_dir(self.cluster.path("jobs"));
        sbatch.args(["--quiet", "--hold", "--ntasks=1", "--time=1", "--output=/dev/null", "job.sh"]);
        self.run(&mut sbatch).context("a submission failed")?;
        Ok(self.mean_submission_us(1)? / 1_000.0)
    }
}
