//! The thread that changes jobs after their submission.
//!
//! After each snapshot it looks at every job that carries a reservation, as slurmctld described it
//! for that snapshot, and asks `upkeep::upkeep` what is wanted of it, with the forecasts of that
//! very snapshot. What is wanted goes to [`issuer`], the one place from which changes go to
//! slurmctld. Of jobs that were admitted with a deadline [`deadlines`] does the same.
//!
//! A job that belongs together with jobs of other clusters is withdrawn once one of those has its
//! nodes: [`siblings`] reads them from slurmdbd, and `upkeep::withdrawal` says which of them stays.
//!
//! It remembers nothing that a restart would miss but places in the order by deadline that are not
//! written yet: what was promised and what was written last is in each job's record. The main
//! thread never waits for it: while it is busy with one round, the next one waits in the channel,
//! and those after that are left out.

mod deadlines;
mod issuer;
mod siblings;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::Receiver;
use job_types::time::{Seconds, UnixTime};
use parking_lot::Mutex;
use predictor_core::snapshot::Snapshot;
use upkeep::{ReservationState, Wanted, clocks_agree, upkeep, withdrawal};

use crate::clock::now;
use crate::known::cluster::Cluster;
use crate::metrics::changes::ChangeMetrics;
use crate::worker::Worker;

use deadlines::Deadlines;
pub(crate) use issuer::{Change, Issuer};
use siblings::Siblings;

/// What its thread is called.
pub(crate) const NAME: &str = "changes";

/// How old the queue may be that changes rest on.
const LONGEST_AGE: Seconds = Seconds(120);

/// What one look at all reservations and deadlines rests on.
pub(crate) struct Round {
    pub(crate) cluster: Arc<Cluster>,
    /// The snapshot that was just published.
    pub(crate) snapshot: Vec<u8>,
    /// How long it is until the next one.
    pub(crate) interval: Seconds,
    /// How many changes a second may go to slurmctld; 0 is none.
    pub(crate) per_second: u32,
    /// The clusters that the configuration names, of which alone slurmdbd is asked for jobs that
    /// belong together with jobs of this one.
    pub(crate) clusters: BTreeSet<String>,
}

/// What the configuration says of changes.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    /// Like [`Round::per_second`].
    pub(crate) per_second: u32,
    /// Like [`Round::clusters`].
    pub(crate) clusters: BTreeSet<String>,
}

/// The thread that changes jobs, as the main thread knows it.
pub(crate) struct ChangesThread {
    worker: Worker<Round>,
    /// When the queue was read of which a round was sent last, and whether it had jobs to look at.
    sent: Option<(UnixTime, bool)>,
}

impl ChangesThread {
    /// An end, and the other one.
    pub(crate) fn new() -> (Self, Receiver<Round>) {
        let (worker, received) = Worker::new();
        (Self { worker, sent: None }, received)
    }

    /// Has the reservations and deadlines of a queue looked at, unless they have been already, or
    /// there are none and were none before. `snapshot` is called where they are.
    pub(crate) fn ask(
        &mut self,
        cluster: Option<Arc<Cluster>>,
        interval: Seconds,
        configured: impl FnOnce() -> Configured,
        snapshot: impl FnOnce() -> Vec<u8>,
    ) {
        let Some(cluster) = cluster else { return };
        let has_some = !cluster.reserved.is_empty() || !cluster.admitted.is_empty();
        let is_known = self.sent.is_some_and(|(read_at, had_some)| read_at >= cluster.read_at || !(had_some || has_some));
        if is_known || !self.worker.has_room() {
            return;
        }
        let read_at = cluster.read_at;
        let Configured { per_second, clusters } = configured();
        if self.worker.tell(Round { cluster, snapshot: snapshot(), interval, per_second, clusters }) {
            self.sent = Some((read_at, has_some));
        }
    }

    /// The clock was set back, and the queue is about to be older than the last one.
    pub(crate) fn start_afresh(&mut self) {
        self.sent = None;
    }
}

/// Looks and changes until nobody asks any more. While the file `off` exists nothing is changed.
pub(crate) fn run(rounds: &Receiver<Round>, issuer: &Mutex<Issuer>, metrics: &ChangeMetrics, cluster: String) {
    let mut siblings = Siblings::new(cluster);
    let mut deadlines = Deadlines::default();
    let mut next = rounds.recv().ok();
    while let Some(round) = next {
        // A panic costs this round, not the daemon.
        let changes = catch_unwind(AssertUnwindSafe(|| {
            siblings.refresh(&round.cluster.reserved, &round.clusters);
            wanted(&round, &siblings, &mut deadlines, metrics, UnixTime(now()))
        }))
        .unwrap_or_else(|_panic| {
            tracing::error!("looking at reservations and deadlines has panicked: no job is changed in this round");
            Vec::new()
        });
        let reserved = round.cluster.reserved.iter().map(|job| (job.job.id, &job.seen));
        issuer.lock().forget_others(reserved.chain(round.cluster.admitted.iter().map(|job| (job.job.id, &job.seen))));
        next = issue(issuer, changes, &round, rounds);
    }
}

/// Sends changes, no faster than allowed, until all are sent or the next round has come, which it
/// returns; `None` where nobody asks any more.
fn issue(issuer: &Mutex<Issuer>, changes: Vec<Change>, round: &Round, rounds: &Receiver<Round>) -> Option<Round> {
    if round.per_second > 0 {
        let gap = Duration::from_secs(1) / round.per_second;
        for change in changes {
            let begin = Instant::now();
            if !issuer.lock().issue(&change) {
                break;
            }
            match rounds.recv_timeout(gap.saturating_sub(begin.elapsed())) {
                Ok(next) => return Some(next),
                Err(crossbeam::channel::RecvTimeoutError::Timeout) => {}
                Err(crossbeam::channel::RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
    rounds.recv().ok()
}

/// What is wanted of the jobs with reservations and deadlines as of `now`, the most urgent first.
fn wanted(round: &Round, siblings: &Siblings, deadlines: &mut Deadlines, metrics: &ChangeMetrics, now: UnixTime) -> Vec<Change> {
    let Round { cluster, snapshot, interval, .. } = round;
    let begin = Instant::now();
    let mut states: BTreeMap<ReservationState, i64> = ReservationState::ALL.iter().map(|state| (*state, 0)).collect();
    let mut changes = Vec::new();
    match Snapshot::open(snapshot.as_slice()) {
        Ok(snapshot) => {
            let is_current = (Seconds::ZERO..=LONGEST_AGE).contains(&(now - cluster.read_at));
            for reserved in &cluster.reserved {
                // The state is that before the queue was read, because a job that waited in that
                // queue has not started earlier.
                let found = upkeep(&reserved.job, &snapshot, cluster.read_at, *interval);
                *states.entry(found.state).or_default() += 1;
                let withdrawn = reserved
                    .joint
                    .as_ref()
                    .and_then(|_| withdrawal(&reserved.job, found.state, siblings.cluster(), &siblings.of(reserved), now));
                let is_certain = |wanted: &Wanted| *wanted != Wanted::Cancellation || clocks_agree(cluster.controller_ahead);
                if let Some((wanted, due)) = withdrawn.or(found.wanted).filter(|(wanted, _)| is_current && is_certain(wanted)) {
                    changes.push(Change::new(reserved, &wanted, due, now, cluster.record_key));
                }
            }
            let of_deadlines = deadlines.wanted(cluster, &snapshot, now, metrics);
            changes.extend(of_deadlines.into_iter().filter(|_| is_current));
        }
        Err(error) => tracing::error!(%error, "the snapshot can't be read back: no job is changed in this round"),
    }
    changes.sort_by_key(Change::due);
    metrics.reservations(&states);
    let (reservations, deadlines) = (cluster.reserved.len(), cluster.admitted.len());
    tracing::debug!(reservations, deadlines, wanted = changes.len(), took = ?begin.elapsed(), "looked at reservations and deadlines");
    changes
}

#[cfg(test)]
mod tests;
