//! `queuecastd` as it runs, with its log and its memory.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use end_to_end::Daemon;
use jiff::Timestamp;

use super::size::Size;
use crate::daemon_log::{Entry, Log, Place};
use crate::private_cluster::PrivateCluster;
use crate::statistics::rounded;

/// How long a single snapshot is waited for.
pub(super) const SOON: Duration = Duration::from_secs(300);

/// How long the whole history and all that is learnt from it are waited for.
pub(super) const IN_AN_HOUR: Duration = Duration::from_secs(3_600);

/// The message of a new snapshot.
pub(super) const PUBLISHED: &str = "published";

/// A running `queuecastd`. It is killed when it is dropped.
#[derive(Debug)]
pub(super) struct Queuecastd<'a> {
    pub(super) site: &'a PrivateCluster,
    pub(super) size: Size,
    pub(super) log: Log,
    pub(super) started: Timestamp,
    daemon: Daemon,
}

impl<'a> Queuecastd<'a> {
    /// Starts it. Its log is added to what is there.
    pub(super) fn start(site: &'a PrivateCluster, size: Size) -> Queuecastd<'a> {
        let started = Timestamp::now();
        Queuecastd { site, size, log: Log::new(site), started, daemon: site.cluster.start_queuecastd() }
    }

    /// Waits for the first entry of the log behind a place that has a message and rests on at least
    /// so many ended jobs.
    ///
    /// # Errors
    ///
    /// Where that takes longer than `timeout`, or the daemon ends before.
    pub(super) fn wait_for(&mut self, from: Place, timeout: Duration, message: &str, ended_jobs: u64) -> anyhow::Result<Entry> {
        let mut place = from;
        let site = self.site;
        let found = site.wait(timeout, || {
            let (entries, end) = self.log.since(place)?;
            place = end;
            let found = entries.into_iter().find(|entry| entry.says(message) && entry.number("ended_jobs").unwrap_or(0) >= ended_jobs);
            if found.is_none() {
                self.require()?;
            }
            Ok(found)
        })?;
        found.with_context(|| {
            let (seconds, last) = (timeout.as_secs(), self.log.last_line());
            format!("queuecastd did not say '{message}' of {ended_jobs} jobs in {seconds} s (the last line: {last})")
        })
    }

    /// Fails where it has ended.
    pub(super) fn require(&mut self) -> anyhow::Result<()> {
        self.site.require(&mut self.daemon)
    }

    /// Demands a snapshot.
    pub(super) fn demand_snapshot(&self) {
        self.daemon.signal("USR1");
    }

    /// Has it read its configuration again, with these lines in the section `[snapshot]`, and waits
    /// for the snapshot that follows.
    pub(super) fn reload(&mut self, snapshot: &str) -> anyhow::Result<()> {
        self.site.configure(&self.size, snapshot);
        let from = self.log.end()?;
        self.daemon.signal("HUP");
        self.wait_for(from, SOON, PUBLISHED, self.size.jobs)?;
        Ok(())
    }

    /// Stops it, and returns how many MiB it had resident at the most.
    pub(super) fn stop(mut self) -> anyhow::Result<f64> {
        let resident_mib = self.resident_mib()?;
        self.daemon.signal("TERM");
        self.daemon.end(SOON);
        Ok(resident_mib)
    }

    /// How many MiB it has had resident at the most until now.
    pub(super) fn resident_mib(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.daemon.process_id())).context("queuecastd's memory")?;
        most_resident_mib(&status).context("the kernel does not tell how much memory queuecastd has had")
    }
}

/// The most memory that a process had resident, by its /proc/PID/status.
pub(crate) fn most_resident_mib(status: &str) -> Option<f64> {
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok())?;
    Some(rounded(kibibytes / 1_024.0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_memory_is_the_high_water_mark() {
        let status = "Name:\tqueuecastd\nVmHWM:\t   20736 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(most_resident_mib(status), Some(20.3));
        assert_eq!(most_resident_mib("Name:\tkthreadd\n"), None);
    }
}
