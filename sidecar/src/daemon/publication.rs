//! What is published and where, and whether that is better than what is in place.

use std::time::Duration;

use job_types::time::UnixTime;
use predictor_core::decisions::MOST_AHEAD;

use crate::clock::now;
use crate::failure::Failure;
use crate::publish::descriptor_reserve::{DescriptorReserve, are_used_up};
use crate::publish::publisher::{Published, Publisher};
use crate::publish::state_directory::{Previous, StateDirectory};
use crate::settings::Settings;

/// The publisher, the directory that its snapshots go to, and what is in place there.
pub(super) struct Publication {
    pub(super) publisher: Publisher,
    pub(super) directory: StateDirectory,
    /// Kept back for publishing.
    descriptors: DescriptorReserve,
    /// The snapshot of an earlier daemon, until the first one of this is published.
    previous: Option<Previous>,
    has_published: bool,
    /// Whether the last snapshot had a plan, as far as there was a queue to plan.
    is_planned: bool,
}

impl Publication {
    /// A publication of which nothing is in place but perhaps the snapshot of an earlier daemon.
    pub(super) fn new(publisher: Publisher, directory: StateDirectory, previous: Option<Previous>) -> Self {
        let descriptors = DescriptorReserve::default();
        Self { publisher, directory, descriptors, previous, has_published: false, is_planned: true }
    }

    /// Whether a snapshot of this daemon is in place.
    pub(super) fn has_published(&self) -> bool {
        self.has_published
    }

    /// Whether a snapshot now would be better than the one in place: one of no history, of a part
    /// of it, or without forecasts learnt from it does not replace one that has all that and is not
    /// too old yet. `all_is_learnt` is whether the history has been read and learnt from, and
    /// `maximum_age` for how many seconds a snapshot is used.
    pub(super) fn is_worth_publishing(&self, now: UnixTime, maximum_age: i64, all_is_learnt: bool) -> bool {
        let Some(previous) = self.previous.filter(|previous| previous.has_history && !self.has_published) else { return true };
        let age = now.0 - previous.published_at;
        let is_complete = self.publisher.ended_jobs() > 0 && all_is_learnt;
        is_complete || !(-MOST_AHEAD.0..maximum_age).contains(&age)
    }

    /// Follows what slurmctld says of what users may see of each other.
    pub(super) fn follow_privacy(&mut self) {
        if self.directory.follow_privacy() {
            tracing::info!(hides_jobs = self.directory.privacy().hides_jobs(), "PrivateData has changed, and who may read files with it");
        }
    }

    /// Puts a snapshot in place, with the descriptors that are kept back where there are no others.
    /// Returns the snapshot as well.
    ///
    /// # Errors
    /// The snapshot cannot be put in place; the one before stays there.
    pub(super) fn publish(&mut self, settings: &Settings) -> Result<(Published, Vec<u8>), Failure> {
        let mut outcome = self.publisher.publish(UnixTime(now()), settings, &self.directory);
        if matches!(&outcome, Err(Failure::Publish { source, .. }) if are_used_up(source)) {
            self.descriptors.release();
            outcome = self.publisher.publish(UnixTime(now()), settings, &self.directory);
        }
        self.descriptors.fill();
        outcome
    }

    /// Notes that a snapshot is in place, `after` so long since the start.
    pub(super) fn published(&mut self, published: &Published, after: Duration) {
        if !self.has_published {
            tracing::info!(generation = published.generation, ?after, "first snapshot");
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
    }

    /// Notes whether a snapshot has a plan; what changes is logged, what stays so is not. Returns
    /// whether it goes without one although there is a queue.
    pub(super) fn note_plan(&mut self, has_plan: bool, planner_is_busy: bool) -> bool {
        let is_planned = has_plan || self.publisher.cluster().is_none();
        match (self.is_planned, is_planned) {
            (true, false) => tracing::warn!(busy = planner_is_busy, "the snapshot has no plan of the queue: it was not made in time"),
            (false, true) => tracing::info!("snapshots have a plan of the queue again"),
            _ => {}
        }
        self.is_planned = is_planned;
        !is_planned
    }

    /// Forgets what was read while the clock was ahead.
    pub(super) fn start_afresh(&mut self) {
        self.publisher.start_afresh();
        self.previous = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::{NOW, cluster, ended};
    use crate::known::privacy::Privacy;
    use slurm_sys::client::PrivateData;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    const MAXIMUM_AGE: i64 = 600;

    fn publication(previous: Option<Previous>) -> (tempfile::TempDir, Publication) {
        let parent = tempfile::tempdir().unwrap();
        let own_user = fs::metadata("/proc/self").unwrap().uid();
        let directory = StateDirectory::open(&parent.path().join("state"), own_user, Privacy::new(PrivateData::default())).unwrap();
        let publisher = Publisher::new("c".to_owned(), false, None, 1, None, None);
        (parent, Publication::new(publisher, directory, previous))
    }

    fn previous(age: i64, has_history: bool) -> Option<Previous> {
        Some(Previous { generation: 1, published_at: NOW - age, has_history })
    }

    fn is_worth_publishing(publication: &Publication, all_is_learnt: bool) -> bool {
        publication.is_worth_publishing(UnixTime(NOW), MAXIMUM_AGE, all_is_learnt)
    }

    #[test]
    fn a_snapshot_that_lacks_something_replaces_none_that_has_a_history_and_is_not_too_old() {
        for (in_place, is_worth) in [
            (None, true),
            (previous(10, false), true),
            (previous(10, true), false),
            (previous(MAXIMUM_AGE - 1, true), false),
            (previous(MAXIMUM_AGE, true), true),
            // It is of a clock that went a little or much ahead.
            (previous(-MOST_AHEAD.0, true), false),
            (previous(-MOST_AHEAD.0 - 1, true), true),
        ] {
            let (_parent, publication) = publication(in_place);
            assert_eq!(is_worth_publishing(&publication, false), is_worth, "{in_place:?}");
        }
    }

    #[test]
    fn a_snapshot_of_the_whole_history_replaces_any() {
        let (_parent, mut publication) = publication(previous(10, true));
        assert!(!is_worth_publishing(&publication, true), "there are no jobs in the history");
        publication.publisher.add(&[ended(1)]);
        assert!(!is_worth_publishing(&publication, false), "the learner has not answered");
        assert!(is_worth_publishing(&publication, true));
    }

    #[test]
    fn a_daemon_replaces_its_own_snapshots_and_those_of_a_wrong_clock() {
        let (parent, mut publication) = publication(previous(10, true));
        let settings = Settings::load(parent.path().join("queuecast.toml"), UnixTime(NOW)).unwrap();
        let (published, _) = publication.publish(&settings).unwrap();
        assert!(!publication.has_published());
        publication.published(&published, Duration::ZERO);
        assert!(publication.has_published() && is_worth_publishing(&publication, false));

        let (_parent, mut publication) = self::publication(previous(10, true));
        publication.start_afresh();
        assert!(is_worth_publishing(&publication, false), "it may be dated ahead");
    }

    #[test]
    fn a_plan_is_missed_only_where_there_is_a_queue() {
        let (_parent, mut publication) = publication(None);
        assert!(!publication.note_plan(false, true));
        publication.publisher.set_cluster(Arc::new(cluster(&[], Vec::new())));
        assert!(publication.note_plan(false, true) && publication.note_plan(false, true));
        assert!(!publication.note_plan(true, false));
    }
}
