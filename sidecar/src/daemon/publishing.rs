//! When a snapshot is published, and what goes with it.

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::MOST_AHEAD;
use slurm_conf::configuration::{Configuration, SnapshotSettings};

use super::Daemon;
use crate::changes;
use crate::clock::now;
use crate::failure::Failure;
use crate::publish::answers::Answers;
use crate::publish::descriptor_reserve::are_used_up;
use crate::publish::state_directory::StateDirectory;

/// Answers users with their own jobs, where jobs are private.
pub(super) fn start_answers(directory: &StateDirectory) -> Option<Answers> {
    Answers::start(&directory.answers()?)
        .inspect_err(|error| tracing::warn!(%error, "users can't be given their own jobs; `queuecast` shows them nobody's"))
        .ok()
}

impl Daemon {
    /// Whether a snapshot now would be better than the one in place: one of no history, of a part
    /// of it, or without forecasts learnt from it does not replace one that has all that and is not
    /// too old yet.
    pub(super) fn is_worth_publishing(&mut self) -> bool {
        if self.has_published {
            return true;
        }
        if let Some(previous) = self.previous.filter(|previous| previous.has_history) {
            let maximum_age = self.settings.configuration.snapshot.maximum_age_seconds;
            let age = now() - previous.published_at;
            let is_complete = self.publisher.ended_jobs() > 0 && self.may_learn && (self.has_learnt || !self.learner.is_alive());
            if !is_complete && (-MOST_AHEAD.0..maximum_age).contains(&age) {
                self.notification.ready();
                return false;
            }
        }
        true
    }

    /// Follows what slurmctld says of what users may see of each other.
    pub(super) fn follow_privacy(&mut self) {
        if self.directory.follow_privacy() {
            tracing::info!(hides_jobs = self.directory.privacy().hides_jobs(), "PrivateData has changed, and who may read files with it");
            if !self.once && !self.publisher.has_answers() {
                self.publisher.set_answers(start_answers(&self.directory));
            }
        }
    }

    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        self.follow_privacy();
        let mut outcome = self.publisher.publish(UnixTime(now()), &self.settings, &self.directory);
        if matches!(&outcome, Err(Failure::Publish { source, .. }) if are_used_up(source)) {
            self.descriptors.release();
            outcome = self.publisher.publish(UnixTime(now()), &self.settings, &self.directory);
        }
        self.descriptors.fill();
        let (published, snapshot) = outcome?;
        if !self.once {
            let Configuration { snapshot: SnapshotSettings { interval_seconds, .. }, changes, clusters, .. } = &self.settings.configuration;
            let configured = || changes::Configured { per_second: changes.per_second, clusters: clusters.keys().cloned().collect() };
            self.changes.ask(self.publisher.cluster(), Seconds(*interval_seconds), configured, || snapshot);
        }
        self.refusals.store(&self.directory);
        self.counters.check();
        self.metrics.published(&published);
        self.note_plan(published.has_plan);
        if !self.has_published {
            tracing::info!(generation = published.generation, after = ?self.started.elapsed(), "first snapshot");
        }
        self.has_published = true;
        self.previous = None;
        tracing::debug!(
            generation = published.generation,
            bytes = published.length,
            ended_jobs = self.publisher.ended_jobs(),
            fitting = ?published.fitting,
            writing = ?published.writing,
            "published"
        );
        self.notification.ready();
        let sources = [(self.accounting.is_up, self.accounting.source), (self.controller.is_up, self.controller.source)];
        let away: Vec<&str> = sources.into_iter().filter(|(is_up, _)| *is_up != Some(true)).map(|(_, source)| source.name()).collect();
        let away = if away.is_empty() { String::new() } else { format!("; {} away", away.join(" and ")) };
        self.notification.status(&format!(
            "snapshot {} from {} ended jobs{away}{}",
            published.generation,
            self.publisher.ended_jobs(),
            if self.settings.error.is_empty() { "" } else { "; the configuration file is broken" }
        ));
        Ok(())
    }

    /// Counts snapshots that go without a plan although there is a queue; what changes is logged,
    /// what stays so is not.
    pub(super) fn note_plan(&mut self, has_plan: bool) {
        let is_planned = has_plan || self.publisher.cluster().is_none();
        if !is_planned {
            self.metrics.not_planned();
        }
        match (self.is_planned, is_planned) {
            (true, false) => {
                tracing::warn!(busy = self.planner.is_busy(), "the snapshot has no plan of the queue: it was not made in time")
            }
            (false, true) => tracing::info!("snapshots have a plan of the queue again"),
            _ => {}
        }
        self.is_planned = is_planned;
    }
}
