//! What the plugin keeps between submissions: where the snapshot is, the one in force, and the counters.

use crate::snapshot::SnapshotStore;
use once_cell::sync::OnceCell;
use predictor_core::counters::{COUNTERS_LENGTH, COUNTERS_MAGIC, Counter};
use slurm_conf::Configuration;
use slurm_sys::mapping::SharedNumbers;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

/// Name of the snapshot in the state directory.
pub(crate) const SNAPSHOT_FILE: &str = "snapshot";
/// Name of the kill switch.
pub(crate) const OFF_FILE: &str = "off";
/// Name of the counters.
pub(crate) const COUNTERS_FILE: &str = "filter-counters";

/// How long after a failed look at the configuration the next one is taken.
const RETRY_SECONDS: i64 = 10;

/// What follows from a readable configuration.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) snapshots: SnapshotStore,
    off: PathBuf,
    counters: Option<SharedNumbers>,
}

/// The plugin's state.
#[derive(Debug)]
pub struct State {
    located: OnceCell<Located>,
    /// When the configuration may be looked at again, in Unix seconds.
    retry_at: AtomicI64,
}

static STATE: State = State::new();

/// The state of this process.
pub(crate) fn current() -> &'static State {
    &STATE
}

/// Brings the state up; on failure the log says why, and it is tried again at later submissions.
pub(crate) fn start() {
    std::panic::set_hook(Box::new(|panic| slurm_sys::log::error(&format!("job_submit/queuecast: {panic}; the job is left as it is"))));
    STATE.locate(0);
}

/// Before the plugin is unloaded: the hook must not outlive it.
pub(crate) fn stop() {
    let _ = std::panic::take_hook();
}

impl State {
    /// A state that has looked at nothing yet.
    #[must_use]
    pub(crate) const fn new() -> State {
        State { located: OnceCell::new(), retry_at: AtomicI64::new(0) }
    }

    /// A state over a directory, without a configuration.
    #[must_use]
    pub fn over(directory: &Path) -> State {
        let state = State::new();
        let _ = state.located.set(Located::new(directory));
        state
    }

    /// What follows from the configuration; `None`, and the next look only after some seconds, where that can't be read.
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
            Ok(configuration) => Some(self.located.get_or_init(|| Located::new(&configuration.state_directory))),
            Err(error) => {
                slurm_sys::log::error(&format!("job_submit/queuecast: jobs are left as they are: {error}"));
                None
            }
        }
    }

    /// Counts something.
    pub fn count(&self, counter: Counter) {
        if let Some(counters) = self.located.get().and_then(|located| located.counters.as_ref()) {
            counters.count(counter.index());
        }
    }
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

impl Located {
    fn new(directory: &Path) -> Located {
        let counters = SharedNumbers::create(&directory.join(COUNTERS_FILE), COUNTERS_MAGIC, COUNTERS_LENGTH);
        if let Err(error) = &counters {
            let file = directory.join(COUNTERS_FILE);
            slurm_sys::log::error(&format!("job_submit/queuecast: nothing is counted: {}: {error}", file.display()));
        }
        Located { snapshots: SnapshotStore::new(directory.join(SNAPSHOT_FILE)), off: directory.join(OFF_FILE), counters: counters.ok() }
    }

    /// Whether the administrator has thrown the kill switch.
    pub(crate) fn is_off(&self) -> bool {
        self.off.symlink_metadata().is_ok()
    }
}
