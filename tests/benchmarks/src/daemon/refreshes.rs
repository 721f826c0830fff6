//! Refreshes of the snapshot.

use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;

use super::queuecastd::{PUBLISHED, Queuecastd, SOON};
use super::size::MORE_JOBS;
use crate::daemon_log::Entry;
use crate::statistics::{median, rounded};

/// One refresh on demand.
#[derive(Debug)]
struct Refresh {
    /// From the demand to the snapshot.
    took_ms: f64,
    /// Of that, what the questions to slurmdbd took.
    reading_ms: f64,
    published: Entry,
}

#[derive(Debug, Serialize)]
pub(super) struct Refreshes {
    /// The most memory until the refreshes with no more ended jobs were done.
    pub(super) resident_after_refreshes_mib: f64,
    /// With more ended jobs, from the demand to the snapshot.
    pub(super) refresh_ms: f64,
    pub(super) reading_ms: f64,
    pub(super) fitting_ms: f64,
    pub(super) writing_ms: f64,
    /// The median of those with no more ended jobs.
    pub(super) idle_refresh_ms: f64,
    pub(super) snapshot_mib: f64,
}

impl Queuecastd<'_> {
    /// Refreshes the snapshot, first with no more ended jobs and then with some.
    ///
    /// # Errors
    ///
    /// Where a snapshot does not come, or slurmdbd does not take the jobs.
    pub(super) fn measure_refreshes(&mut self) -> anyhow::Result<Refreshes> {
        let jobs = self.size.jobs;
        let mut idle_ms = Vec::new();
        for _ in 0..self.size.refreshes {
            idle_ms.push(self.timed_refresh(jobs)?.took_ms);
        }
        let resident_after_refreshes_mib = self.resident_mib()?;
        self.site.add_more_jobs()?;
        let Refresh { took_ms, reading_ms, published } = self.timed_refresh(jobs + MORE_JOBS)?;
        let part_ms = |key: &str| published.milliseconds(key).with_context(|| format!("it is not known how long {key} took"));
        let bytes = published.number("bytes").context("it is not known how large the snapshot is")?;
        Ok(Refreshes {
            resident_after_refreshes_mib,
            refresh_ms: rounded(took_ms, 1),
            reading_ms: rounded(reading_ms, 1),
            fitting_ms: rounded(part_ms("fitting")?, 1),
            writing_ms: rounded(part_ms("writing")?, 1),
            idle_refresh_ms: rounded(median(&idle_ms), 1),
            snapshot_mib: rounded(bytes as f64 / f64::from(1 << 20), 2),
        })
    }

    /// Demands a snapshot that rests on at least so many ended jobs, and waits for it.
    pub(super) fn refresh(&mut self, ended_jobs: u64) -> anyhow::Result<()> {
        self.timed_refresh(ended_jobs)?;
        Ok(())
    }

    fn timed_refresh(&mut self, ended_jobs: u64) -> anyhow::Result<Refresh> {
        let from = self.log.end()?;
        let demanded = Timestamp::now();
        self.demand_snapshot();
        let published = self.wait_for(from, SOON, PUBLISHED, ended_jobs)?;
        let (entries, _) = self.log.since(from)?;
        let read = entries.iter().filter(|entry| entry.says("read ended jobs"));
        let reading_ms = read.filter_map(|entry| entry.milliseconds("elapsed")).sum();
        Ok(Refresh { took_ms: 1_000.0 * published.seconds_since(demanded), reading_ms, published })
    }
}
