//! queuecastd beside the cluster, which is paused while other plugins are measured.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use anyhow::Context;
use end_to_end::Daemon;

use crate::private_cluster::PrivateCluster;

/// queuecastd. It is ended when it is dropped.
#[derive(Debug)]
pub(crate) struct Forecaster<'a> {
    site: &'a PrivateCluster,
    daemon: Daemon,
}

/// What tells one snapshot from the next: the number of its file, and the time at which that was
/// written, in seconds and nanoseconds.
type Version = (u64, i64, i64);

impl PrivateCluster {
    /// Starts queuecastd.
    pub(crate) fn start_forecaster(&self) -> Forecaster<'_> {
        Forecaster { site: self, daemon: self.cluster.start_queuecastd() }
    }

    fn snapshot_version(&self) -> anyhow::Result<Version> {
        let file = fs::metadata(self.cluster.state_directory().join("snapshot")).context("the snapshot")?;
        Ok((file.ino(), file.mtime(), file.mtime_nsec()))
    }
}

impl Forecaster<'_> {
    pub(crate) fn pause(&self) {
        self.daemon.signal("STOP");
    }

    pub(crate) fn go_on(&self) {
        self.daemon.signal("CONT");
    }

    /// Fails where queuecastd has ended.
    pub(crate) fn require(&mut self) -> anyhow::Result<()> {
        self.site.require(&mut self.daemon)
    }

    /// Waits until queuecastd has published each of these files of its state directory.
    ///
    /// # Errors
    ///
    /// Where it ends, or takes longer than two minutes.
    pub(crate) fn await_files(&mut self, names: &[&str]) -> anyhow::Result<()> {
        let timeout = Duration::from_secs(120);
        let site = self.site;
        let published = site.wait(timeout, || {
            self.require()?;
            Ok(names.iter().all(|name| site.cluster.state_directory().join(name).exists()).then_some(()))
        })?;
        published.with_context(|| format!("queuecastd did not publish {} in {timeout:?}", names.join(" and ")))
    }

    /// Waits until another snapshot than the one now is in place.
    ///
    /// # Errors
    ///
    /// Where queuecastd ends, or takes longer than `timeout`.
    pub(crate) fn await_snapshot(&mut self, timeout: Duration) -> anyhow::Result<()> {
        let before = self.site.snapshot_version()?;
        self.await_snapshot_after(before, timeout)
    }

    /// Sends queuecastd a signal that demands a snapshot, and waits until another than the one
    /// before is in place.
    ///
    /// # Errors
    ///
    /// Where queuecastd ends, or takes longer than a minute.
    pub(crate) fn demand_snapshot(&mut self, signal: &str) -> anyhow::Result<()> {
        let before = self.site.snapshot_version()?;
        self.daemon.signal(signal);
        self.await_snapshot_after(before, Duration::from_secs(60))
    }

    fn await_snapshot_after(&mut self, before: Version, timeout: Duration) -> anyhow::Result<()> {
        let site = self.site;
        let published = site.wait(timeout, || {
            self.require()?;
            Ok((site.snapshot_version()? != before).then_some(()))
        })?;
        published.with_context(|| format!("queuecastd published nothing in {timeout:?}"))
    }
}
