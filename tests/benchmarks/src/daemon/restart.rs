//! What is answered while `queuecastd` is stopped and started again.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, bail, ensure};
use job_types::record::WaitSource;
use serde::Serialize;

use super::asking::{Answer, Asking};
use super::queuecastd::{IN_AN_HOUR, PUBLISHED, Queuecastd, SOON};
use super::site::PARTITIONS;
use super::size::MILLION;
use crate::daemon_log::Log;
use crate::statistics::rounded;

#[derive(Debug, Default, Serialize)]
pub(super) struct Restart {
    /// In how many partitions waits were forecast from trees before.
    pub(super) partitions_from_trees: usize,
    /// Whether an answer was from less than before. It never is here: that fails.
    fell_back: bool,
    pub(super) answers: usize,
    /// How many of the answers came while no daemon ran.
    pub(super) while_stopped: usize,
    /// Seconds from the second start to the first snapshot that rests on all jobs.
    pub(super) first_snapshot_s: f64,
}

/// The second daemon, and what was measured of both.
#[derive(Debug)]
pub(super) struct Restarted<'a> {
    pub(super) daemon: Queuecastd<'a>,
    /// How many MiB the first one had resident at the most.
    pub(super) resident_before_mib: f64,
    pub(super) restart: Restart,
}

impl<'a> Queuecastd<'a> {
    /// Stops it and starts another while reservations are asked for.
    ///
    /// # Errors
    ///
    /// Where an answer falls back, or there are none from before and after; or where the second
    /// daemon does not take up what the first one has learnt, or nothing was forecast from trees.
    pub(super) fn measure_restart(mut self) -> anyhow::Result<Restarted<'a>> {
        self.wait_for_kept()?;
        let (site, jobs) = (self.site, self.size.jobs);
        let status = site.status()?;
        let generation = status.generation()?;
        let before: BTreeMap<String, WaitSource> =
            status.wait_forecasts()?.into_iter().map(|(partition, forecasts)| (partition, forecasts.source)).collect();
        let (count, wanted) = (before.len(), PARTITIONS.len());
        ensure!(count == wanted, "waits are forecast in {count} partitions instead of {wanted}: {}", status.0);

        let asking = Asking::new(site, before.keys().map(String::as_str).collect());
        let mut restarted = asking.during(|| self.replace(&asking))?;

        let answers = asking.answers();
        for partition in before.keys() {
            let generations: Vec<u64> =
                answers.iter().filter(|answer| answer.partition == *partition).filter_map(|answer| answer.generation).collect();
            let has_both = generations.iter().any(|number| *number <= generation) && generations.iter().any(|number| *number > generation);
            ensure!(has_both, "no answers of {partition} from both before and after the restart");
        }
        if let Some(answer) = answers.iter().find(|answer| falls_back(answer, &before)) {
            let quoted: String = answer.said.chars().take(300).collect();
            bail!("an answer over a restart fell back, that of {}: {quoted}", answer.partition);
        }
        let from_trees = before.values().filter(|source| **source == WaitSource::Blended).count();
        // If bounds have not held lately, no answer is from trees and none can fall back. The table
        // tells that of a large site.
        let has_trees = from_trees > 0 || jobs > MILLION;
        ensure!(has_trees, "in no partition were waits forecast from trees before the restart: {before:?}");
        restarted.restart.partitions_from_trees = from_trees;
        restarted.restart.answers = answers.len();
        Ok(restarted)
    }

    /// Does so, and returns what is measured of the daemons. The answers are not looked at.
    fn replace(self, asking: &Asking<'_>) -> anyhow::Result<Restarted<'a>> {
        let (site, size) = (self.site, self.size);
        asking.wait_for_one_of_each()?;
        let resident_before_mib = self.stop()?;
        let answered = asking.count();
        let from = Log::new(site).end()?;
        asking.wait_for_one_of_each()?;
        let mut daemon = Queuecastd::start(site, size);
        let while_stopped = asking.count() - answered;
        let published = daemon.wait_for(from, IN_AN_HOUR, PUBLISHED, size.jobs)?;
        let first_snapshot_s = rounded(published.seconds_since(daemon.started), 1);
        asking.wait_for_one_of_each()?;
        for _ in 0..2 {
            daemon.refresh(size.jobs)?;
            asking.wait_for_one_of_each()?;
        }
        let (entries, _) = daemon.log.since(from)?;
        let has_taken_up = entries.iter().any(|entry| entry.says("what was learnt before is taken up"));
        ensure!(has_taken_up, "queuecastd did not take up what it had kept");
        let restart = Restart { while_stopped, first_snapshot_s, ..Restart::default() };
        Ok(Restarted { daemon, resident_before_mib, restart })
    }

    /// Waits until what was learnt is on disk, where a restart finds it.
    fn wait_for_kept(&mut self) -> anyhow::Result<()> {
        let site = self.site;
        let learnt = site.cluster.state_directory().join("learnt");
        let kept = site.wait(SOON, || {
            self.require()?;
            Ok(fs::metadata(&learnt).is_ok_and(|file| file.len() > 0).then_some(()))
        })?;
        kept.context("what was learnt is not kept")
    }
}

/// Whether an answer is from less than what waits in its partition were forecast from before.
fn falls_back(answer: &Answer, before: &BTreeMap<String, WaitSource>) -> bool {
    answer.source < before.get(&answer.partition).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_falls_back_that_is_from_less_than_before() {
        let before = BTreeMap::from([("long".to_owned(), WaitSource::Qbets)]);
        let falls_back = |said: &str| falls_back(&Answer::new("long", said.to_owned()), &before);
        assert!(!falls_back(r#"{"generation": 7, "wait": {"source": "blended"}}"#));
        assert!(!falls_back(r#"{"generation": 7, "wait": {"source": "qbets"}}"#));
        assert!(falls_back(r#"{"generation": 7, "wait": null}"#));
        assert!(falls_back("queuecast: there is no snapshot"));
    }
}
