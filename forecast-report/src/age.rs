//! What is to be said of the age of a snapshot.

use job_types::time::UnixTime;
use predictor_core::decisions::Timeliness;
use predictor_core::snapshot::Snapshot;

/// Says that a snapshot is dated ahead of the clock.
pub fn ahead(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> String {
    format!(
        "the snapshot is dated {} ahead of this machine's clock, and is not used; where the clock is right, restart queuecastd",
        snapshot.published_at() - now
    )
}

/// What is to be said of a snapshot that is too old, or dated ahead of the clock.
pub fn note_on_age(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> Option<String> {
    match snapshot.timeliness(now) {
        Timeliness::Current => None,
        Timeliness::TooOld => Some(format!("the snapshot is {} old: is queuecastd running?", snapshot.age(now))),
        Timeliness::Ahead => Some(ahead(snapshot, now)),
    }
}
