//! What the plugin keeps between submissions: where the snapshot is, the one in force, and the
//! counters.

use crate::admitted::AdmittedTable;
use crate::counts::Counts;
use crate::uptake::{SnapshotStore, Uptake};
use crate::watch::Watch;
use job_types::number::UserId;
use job_types::policy::Policy;
use job_types::time::UnixTime;
use once_cell::sync::OnceCell;
use predictor_core::counters::Counter;
use predictor_core::decision::{configured_policy, governing};
use predictor_core::refusals::NotedRefusal;
use slurm_conf::Configuration;
use slurm_conf::configuration::Policies;
use slurm_conf::state_directory::{HAND_OVER, SNAPSHOT};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// How long after a failed look at the configuration the next one is taken.
const RETRY_SECONDS: i64 = 10;

/// What follows from a readable configuration.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) snapshots: SnapshotStore,
    /// What the configuration said when it was read, for where there was never a snapshot: after
    /// that the daemon is asked, which reads it again.
    policies: Policies,
    /// What was admitted with deadlines, which outlasts the snapshots.
    pub(crate) admitted: AdmittedTable,
    watch: Watch,
}

/// The plugin's state.
#[derive(Debug)]
pub struct State {
    located: OnceCell<Located>,
    /// When the configuration may be looked at again, in Unix seconds.
    retry_at: AtomicI64,
    counts: Counts,
}

/// The present time.
pub(crate) fn now() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64))
}

static STATE: State = State::new();

/// The state of this process.
pub(crate) fn current() -> &'static State {
    &STATE
}

/// Brings the state up; on failure the log says why, and it is tried again at later submissions.
pub(crate) fn start() {
    std::panic::set_hook(Box::new(|panic| slurm_sys::log::error(&format!("job_submit/queuecast: {panic}; the job is left as it is"))));
    if let Some(located) = STATE.locate(0) {
        // So that the first submission finds a snapshot, and not a file to read.
        STATE.look(located, now());
    }
}

/// Before the plugin is unloaded: the hook must not outlive it, and what a library keeps for as
/// long as it is loaded is dropped by nobody.
pub(crate) fn stop() {
    let _ = std::panic::take_hook();
    STATE.let_go();
}

impl State {
    /// A state that has looked at nothing yet.
    #[must_use]
    pub(crate) const fn new() -> State {
        State { located: OnceCell::new(), retry_at: AtomicI64::new(0), counts: Counts::new() }
    }

    /// A state over a directory, without a configuration.
    #[must_use]
    pub fn over(directory: &Path) -> State {
        let state = State::new();
        let _ = state.located.set(Located::new(directory, Policies::default()));
        state
    }

    /// What follows from the configuration; `None`, and the next look only after some seconds,
    /// where that can't be read.
    pub(crate) fn locate(&self, now: i64) -> Option<&Located> {
        if let Some(located) = self.located.get() {
            return Some(located);
        }
        let retry_at = self.retry_at.load(Ordering::Relaxed);
        let may_look =
            now >= retry_at && self.retry_at.compare_exchange(retry_at, now + RETRY_SECONDS, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !may_look {
            return None;
        }
        let path = Configuration::path();
        match Configuration::load(&path) {
            Ok(configuration) => Some(self.located.get_or_init(|| Located::new(&configuration.state_directory, configuration.policy))),
            Err(error) => {
                slurm_sys::log::error(&format!("job_submit/queuecast: jobs are left as they are: {error}"));
                None
            }
        }
    }

    /// Looks at the state directory: at the kill switch before anything else, and at nothing else
    /// while it is on. Takes up a new snapshot. Returns whether the kill switch is on.
    ///
    /// A directory in which nothing has changed costs one call of the system.
    pub(crate) fn look(&self, located: &Located, now: UnixTime) -> bool {
        let watch = &located.watch;
        let state = watch.state(now);
        if let Some(is_off) = watch.known(state) {
            return is_off;
        }
        let is_off = watch.is_off();
        if is_off {
            watch.looked_through(state, true);
        } else if let Some(uptake) = located.snapshots.refresh(now, &self.counts) {
            watch.looked_through(state, false);
            match uptake {
                Uptake::AsBefore => {}
                Uptake::Taken => self.count(Counter::SnapshotsTaken),
                Uptake::Refused(error) => slurm_sys::log::error(&format!("job_submit/queuecast: a new snapshot is not used: {error}")),
            }
        }
        is_off
    }

    /// Gives back the snapshot and the page of counts, and forgets what was looked at, so that the
    /// next look is a first one. No submission may be under way.
    fn let_go(&self) {
        self.counts.let_go();
        if let Some(located) = self.located.get() {
            located.snapshots.let_go();
            located.watch.forget();
        }
    }

    /// Adds one to a counter.
    pub fn count(&self, counter: Counter) {
        self.counts.count(counter);
    }

    /// Counts a submission that was refused for its deadline, and notes whose it was.
    pub(crate) fn refused(&self, refusal: &NotedRefusal) {
        self.counts.refused(refusal);
    }
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

impl Located {
    /// What the site says of a job in these partitions, whatever is known of the cluster: by the
    /// last snapshot, however old it is, or else by the configuration.
    pub(crate) fn configured(&self, partitions: Option<&str>) -> Policy {
        let current = self.snapshots.current();
        let last = current.as_ref().and_then(|current| governing(partitions, &current.snapshot));
        last.map_or_else(|| configured_policy(partitions, &self.policies.site, |name| self.policies.of(name)), |(_, policy)| policy)
    }

    /// A refusal of a job in these partitions for its deadline, by what is known of them likewise.
    pub(crate) fn refusal(&self, partitions: Option<&str>, user: UserId, now: UnixTime) -> NotedRefusal {
        let current = self.snapshots.current();
        let last = current.as_ref().and_then(|current| governing(partitions, &current.snapshot));
        let named = partitions.and_then(|names| names.split(',').next()).unwrap_or_default();
        let partition = last.map_or(named, |(partition, _)| partition.name);
        NotedRefusal::new(now, user, partition, self.configured(partitions).admission)
    }

    fn new(directory: &Path, policies: Policies) -> Located {
        let snapshots = SnapshotStore::new(directory.join(HAND_OVER), directory.join(SNAPSHOT));
        Located { snapshots, policies, admitted: AdmittedTable::new(), watch: Watch::new(directory) }
    }
}
