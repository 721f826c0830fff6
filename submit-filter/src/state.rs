//! What the plugin keeps between submissions: where the snapshot is, the one in force, and the
//! counters.

use crate::counts::Counts;
use crate::record_key::RecordKey;
use crate::rules::RuleStore;
use crate::snapshot::Current;
use crate::unconfirmed::Unconfirmed;
use crate::uptake::{Fault, SnapshotStore, Uptake};
use crate::watch::{DirectoryState, Switch};
use job_types::number::UserId;
use job_types::policy::Policy;
use job_types::time::UnixTime;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use predictor_core::decisions::counters::Counter;
use predictor_core::decisions::refusals::NotedRefusal;
use predictor_core::decisions::{NoState, Timeliness, configured_policy, governing};
use site_rules::refusal_log::RefusalLog;
use slurm_conf::Configuration;
use slurm_conf::configuration::Policies;
use slurm_conf::state_directory::{HAND_OVER, KILL_SWITCH, SNAPSHOT};
use std::path::Path;
use std::sync::Arc;
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
    /// The key with which records are sealed.
    pub(crate) record_key: RecordKey,
    /// The site's own rules. Their look at the directory also serves the switch and the snapshot.
    rules: Arc<RuleStore>,
    off: Switch,
}

/// The plugin's state.
#[derive(Debug)]
pub struct State {
    located: OnceCell<Located>,
    /// The site's own rules from the directory that a configuration names which is wrong otherwise,
    /// as long as it is: they hold all the same.
    rules_meanwhile: OnceCell<Arc<RuleStore>>,
    /// When the configuration may be looked at again, in Unix seconds.
    retry_at: AtomicI64,
    counts: Counts,
    unconfirmed: OnceCell<Unconfirmed>,
    /// Refusals that the log tells.
    pub(crate) refusal_log: Mutex<RefusalLog>,
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
    // What becomes of the request is said by whoever catches the panic.
    std::panic::set_hook(Box::new(|panic| slurm_sys::log::error(&format!("job_submit/queuecast: an error of the plugin itself: {panic}"))));
    let located = STATE.locate(0);
    // The first submission is to find rules and a snapshot, and not files that it has to read.
    let rules = STATE.rules(located);
    let directory = rules.directory_state(now());
    let _ = rules.look(directory);
    if let Some(located) = located {
        STATE.look(located, directory, now());
    }
}

/// Cleans up before the plugin is unloaded. The hook must not outlive the plugin, and nobody else
/// drops what a library keeps for as long as it is loaded.
pub(crate) fn stop() {
    let _ = std::panic::take_hook();
    STATE.let_go();
}

impl State {
    /// A state that has looked at nothing yet.
    #[must_use]
    pub(crate) const fn new() -> State {
        State {
            located: OnceCell::new(),
            rules_meanwhile: OnceCell::new(),
            retry_at: AtomicI64::new(0),
            counts: Counts::new(),
            unconfirmed: OnceCell::new(),
            refusal_log: parking_lot::const_mutex(RefusalLog::new()),
        }
    }

    /// A state over a directory, without a configuration.
    #[must_use]
    pub fn over(directory: &Path) -> State {
        let state = State::new();
        let _ = state.located.set(Located::new(directory, Policies::default(), Arc::new(RuleStore::new(directory))));
        state
    }

    /// How many bytes of fields are kept of what was let through and is not confirmed yet.
    #[must_use]
    pub fn unconfirmed_bytes(&self) -> usize {
        self.unconfirmed.get().map_or(0, |unconfirmed| unconfirmed.submissions.bytes() + unconfirmed.changes.bytes())
    }

    /// How many submissions were kept so far to be confirmed.
    #[must_use]
    pub fn submissions_kept(&self) -> u64 {
        self.unconfirmed.get().map_or(0, |unconfirmed| unconfirmed.submissions.kept())
    }

    /// What was let through and is not confirmed yet, which outlasts snapshots and rules.
    pub(crate) fn unconfirmed(&self) -> &Unconfirmed {
        self.unconfirmed.get_or_init(Unconfirmed::new)
    }

    /// The site's own rules: from the directory of the configuration, or where that can't be read
    /// from the one that it seems to name.
    pub(crate) fn rules<'s>(&'s self, located: Option<&'s Located>) -> &'s RuleStore {
        let meanwhile = || {
            self.rules_meanwhile.get_or_init(|| Arc::new(RuleStore::new(&Configuration::state_directory_named_in(&Configuration::path()))))
        };
        located.map_or_else(meanwhile, |located| &located.rules)
    }

    /// The rules' store of the directory that a configuration names at last, taken up already.
    fn rules_of(&self, directory: &Path) -> Arc<RuleStore> {
        match self.rules_meanwhile.get().filter(|rules| rules.directory() == directory) {
            Some(rules) => rules.clone(),
            None => {
                let rules = RuleStore::new(directory);
                let _ = rules.look(rules.directory_state(now()));
                Arc::new(rules)
            }
        }
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
            Ok(configuration) => Some(self.located.get_or_init(|| {
                let directory = &configuration.state_directory;
                Located::new(directory, configuration.policy, self.rules_of(directory))
            })),
            Err(error) => {
                slurm_sys::log::error(&format!("job_submit/queuecast: jobs are left as they are, but for the site's own rules: {error}"));
                None
            }
        }
    }

    /// Looks at the state directory: at the kill switch before anything else, and at no snapshot
    /// while it is on. Takes up a new snapshot. Returns whether the kill switch is on.
    ///
    /// A directory in whose state nothing has changed is not looked into.
    pub(crate) fn look(&self, located: &Located, directory: Option<DirectoryState>, now: UnixTime) -> bool {
        let off = &located.off;
        if let Some(is_off) = off.known(directory) {
            return is_off;
        }
        let is_off = off.is_on();
        if is_off {
            off.looked_through(directory, true);
        } else if let Some(uptake) = located.snapshots.refresh(now, &self.counts) {
            off.looked_through(directory, false);
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
            located.off.forget();
            located.rules.let_go();
        }
        if let Some(rules) = self.rules_meanwhile.get() {
            rules.let_go();
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

    /// The snapshot in force, if it can be used at this time.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn usable(&self, now: UnixTime) -> Result<Arc<Current>, NoState> {
        let current = self.snapshots.current();
        let timeliness = current.as_ref().map(|current| current.snapshot.timeliness(now));
        match (current, timeliness, self.snapshots.fault()) {
            (Some(current), Some(Timeliness::Current), _) => Ok(current),
            (.., Fault::Damaged) => Err(NoState::Damaged),
            (.., Fault::Ahead) | (_, Some(Timeliness::Ahead), _) => Err(NoState::Ahead),
            (Some(_), ..) => Err(NoState::TooOld),
            (None, ..) => Err(NoState::Absent),
        }
    }

    fn new(directory: &Path, policies: Policies, rules: Arc<RuleStore>) -> Located {
        let snapshots = SnapshotStore::new(directory.join(HAND_OVER), directory.join(SNAPSHOT));
        Located { snapshots, policies, record_key: RecordKey::new(directory), rules, off: Switch::new(directory, KILL_SWITCH) }
    }
}
