use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use job_types::time::UnixTime;
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::Snapshot;
use slurm_sys::client::PrivateData;

use super::Publisher;
use crate::failure::Failure;
use crate::known::made_up::{NOW, cluster};
use crate::known::privacy::Privacy;
use crate::publish::state_directory::StateDirectory;
use crate::settings::Settings;

/// A state directory, and settings by default.
struct Site {
    parent: tempfile::TempDir,
    directory: StateDirectory,
    settings: Settings,
}

impl Site {
    fn new() -> Site {
        let parent = tempfile::tempdir().unwrap();
        let own_user = fs::metadata("/proc/self").unwrap().uid();
        let directory = StateDirectory::open(&parent.path().join("state"), own_user, Privacy::new(PrivateData::default())).unwrap();
        let settings = Settings::load(parent.path().join("queuecast.toml"), UnixTime(NOW)).unwrap();
        Site { parent, directory, settings }
    }

    /// Publishes, and returns the snapshot that is in place then.
    fn publish(&self, publisher: &mut Publisher, at: i64) -> Snapshot<Vec<u8>> {
        let (published, bytes) = publisher.publish(UnixTime(at), &self.settings, &self.directory).unwrap();
        let in_place = fs::read(self.directory.snapshot()).unwrap();
        assert!(in_place == bytes, "what is returned is not what is in place");
        let snapshot = Snapshot::open(in_place).unwrap();
        assert_eq!((published.generation, published.length), (snapshot.generation(), bytes.len()));
        assert_eq!(published.has_plan, snapshot.plan().is_some());
        snapshot
    }
}

fn publisher() -> Publisher {
    Publisher::new("c".to_owned(), false, None, 5, None, None)
}

#[test]
fn snapshots_are_numbered_on_from_those_of_the_daemon_before() {
    let site = Site::new();
    let mut publisher = publisher();
    assert_eq!(site.publish(&mut publisher, NOW).generation(), 5);
    let second = site.publish(&mut publisher, NOW + 30);
    assert_eq!((second.generation(), second.published_at()), (6, UnixTime(NOW + 30)));
}

#[test]
fn a_plan_goes_with_the_queue_that_it_was_made_of_and_with_no_other() {
    let site = Site::new();
    let mut publisher = publisher();
    let plan = QueuePlan { at: UnixTime(NOW), is_complete: true, ..QueuePlan::default() };
    publisher.set_plan(plan.clone(), Some(Arc::default()));
    assert!(site.publish(&mut publisher, NOW).plan().is_none(), "nothing was read of the queue");
    publisher.set_cluster(Arc::new(cluster(&[], Vec::new())));
    assert!(site.publish(&mut publisher, NOW + 1).plan().is_some());

    let mut later = cluster(&[], Vec::new());
    later.read_at = UnixTime(NOW + 30);
    publisher.set_cluster(Arc::new(later));
    assert!(site.publish(&mut publisher, NOW + 31).plan().is_none(), "the queue was read again since");
    publisher.set_plan(QueuePlan { at: UnixTime(NOW + 30), ..plan }, Some(Arc::default()));
    assert!(site.publish(&mut publisher, NOW + 31).plan().is_some());
    let maximum_age = site.settings.configuration.snapshot.maximum_age_seconds;
    assert!(site.publish(&mut publisher, NOW + 31 + maximum_age).plan().is_none(), "the plan is too old");
}

#[test]
fn what_was_learnt_of_a_queue_that_is_long_gone_is_left_out() {
    let site = Site::new();
    let mut publisher = publisher();
    publisher.set_cluster(Arc::new(cluster(&[], Vec::new())));
    assert!(site.publish(&mut publisher, NOW).model().is_none());
    publisher.set_model(Arc::new(WaitModel { cpus: 20, ..WaitModel::default() }), UnixTime(NOW));
    assert!(site.publish(&mut publisher, NOW + 1).model().is_some());
    let maximum_age = site.settings.configuration.snapshot.maximum_age_seconds;
    assert!(site.publish(&mut publisher, NOW + maximum_age + 1).model().is_none());
}

#[test]
fn a_snapshot_that_cant_be_put_in_place_leaves_the_one_before_and_takes_no_number() {
    let site = Site::new();
    let mut publisher = publisher();
    let first = site.publish(&mut publisher, NOW);
    // Nothing can be made in a directory that is not there.
    let (path, elsewhere) = (site.parent.path().join("state"), site.parent.path().join("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    let refused = publisher.publish(UnixTime(NOW + 30), &site.settings, &site.directory);
    assert!(matches!(refused, Err(Failure::Publish { .. })), "{refused:?}");
    fs::rename(&elsewhere, &path).unwrap();
    let still = Snapshot::open(fs::read(site.directory.snapshot()).unwrap()).unwrap();
    assert_eq!((still.generation(), still.checksum()), (first.generation(), first.checksum()));
    assert_eq!(site.publish(&mut publisher, NOW + 60).generation(), 6);
}

#[test]
fn a_clock_that_was_set_back_makes_it_forget_what_it_was_given() {
    let site = Site::new();
    let mut publisher = publisher();
    publisher.set_cluster(Arc::new(cluster(&[], Vec::new())));
    publisher.set_plan(QueuePlan { at: UnixTime(NOW), ..QueuePlan::default() }, Some(Arc::default()));
    publisher.set_model(Arc::new(WaitModel { cpus: 20, ..WaitModel::default() }), UnixTime(NOW));
    assert_eq!(site.publish(&mut publisher, NOW).partitions().count(), 1);
    publisher.start_afresh();
    let snapshot = site.publish(&mut publisher, NOW - 3_600);
    assert!(snapshot.plan().is_none() && snapshot.model().is_none());
    assert_eq!((snapshot.partitions().count(), snapshot.provenance().ended_jobs), (0, 0));
}
