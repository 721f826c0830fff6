//! What goes with the publication of a snapshot.

use job_types::time::Seconds;
use slurm_conf::configuration::{Configuration, SnapshotSettings};

use super::Daemon;
use crate::changes;
use crate::failure::Failure;
use crate::firm::Round;

impl Daemon {
    /// Puts a snapshot in place, and tells everybody who goes by it.
    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        let goes_on = !self.rounds.are_once();
        self.publication.follow_privacy();
        let (published, snapshot) = self.publication.publish(&self.settings)?;
        if goes_on {
            let Configuration { snapshot: SnapshotSettings { interval_seconds, .. }, changes, clusters, .. } = &self.settings.configuration;
            let configured = || changes::Configured { per_second: changes.per_second, clusters: clusters.keys().cloned().collect() };
            let (mode, per_second) = (self.settings.site_policy().mode, changes.per_second);
            let round = |cluster| Round { cluster, per_second, mode, clusters: clusters.clone() };
            self.firm.ask(self.publication.publisher.cluster().map(round));
            self.changes.ask(self.publication.publisher.cluster(), Seconds(*interval_seconds), configured, || snapshot);
        }
        self.filter.store(&self.publication.directory);
        self.filter.check();
        self.metrics.published(&published);
        if self.publication.note_plan(published.has_plan, self.planner.is_busy()) {
            self.metrics.not_planned();
        }
        self.publication.published(&published, self.rounds.started().elapsed());
        self.notification.ready();
        self.notification.status(&format!(
            "snapshot {} from {} ended jobs{}{}",
            published.generation,
            self.publication.publisher.ended_jobs(),
            self.readers.away(),
            if self.settings.error.is_empty() { "" } else { "; the configuration file is broken" }
        ));
        Ok(())
    }
}
