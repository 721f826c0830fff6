//! When the past is replayed, and what follows from what was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use job_types::options::Mode;
use job_types::policy::{HeldBack, Policy, When};
use job_types::time::{Seconds, UnixTime};
use simulator::guard::state::{Act, Guard, GuardedPolicy, PolicyStanding, Replay, Standing, Try};
use slurm_conf::configuration::GuardSettings;
use slurm_conf::trusted::{is_damage, is_there, read_owned};
use slurm_sys::client::controller::Partition;

use crate::guard::{Answer, AskedPartition, AskedPolicy, GuardThread, Question, Replayed};
use crate::known::damaged::keep_aside;
use crate::publish::state_directory::StateDirectory;
use crate::settings::Settings;

/// The most bytes of `guard.json` that are read: 60 replays of each policy take some 100 kB for a
/// partition.
const MOST_BYTES: usize = 64 << 20;

/// The guard, as the main thread knows it.
pub(super) struct Guarding {
    thread: GuardThread,
    guard: Guard,
    /// The file that is kept.
    path: PathBuf,
    slurm_conf: PathBuf,
    cluster: String,
}

impl Guarding {
    /// Goes on where `guard.json` ends.
    pub(super) fn load(thread: GuardThread, directory: &StateDirectory, settings: &Settings, cluster: String) -> Self {
        let path = directory.guard();
        let guard = read(&path);
        let slurm_conf = slurm_conf(std::env::var_os("SLURM_CONF").map(PathBuf::from), settings.path());
        Self { thread, guard, path, slurm_conf, cluster }
    }

    /// What was found.
    pub(super) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// What is held back, by partition.
    pub(super) fn held_back(&self) -> BTreeMap<String, HeldBack> {
        let of = |standing: &PolicyStanding| {
            let is_held = |policy| self.guard.is_held_back(&standing.partition, policy);
            let held = HeldBack { molding: is_held(GuardedPolicy::Molding), deferral: is_held(GuardedPolicy::Deferral) };
            (standing.partition.clone(), held)
        };
        self.guard.policies.iter().map(of).filter(|(_, held)| *held != HeldBack::default()).collect()
    }

    /// Follows `[guard]`.
    pub(super) fn follow(&mut self, settings: &GuardSettings, directory: &StateDirectory) {
        let before = self.guard.clone();
        (self.guard.act, self.guard.interval_s, self.guard.window_s) = (settings.act, settings.interval_seconds, settings.window_seconds);
        // Whoever asks is told from the start that nothing has been replayed yet.
        if self.guard != before || !is_there(&self.path).unwrap_or(true) {
            self.keep(directory);
        }
    }

    /// Has the past replayed where it is time for that and something is enforced.
    pub(super) fn look(&mut self, settings: &Settings, partitions: Option<&[Partition]>, record_key: PathBuf, now: UnixTime) {
        let Some(partitions) = partitions.filter(|_| self.is_due(now)) else { return };
        let mut partitions: Vec<AskedPartition> = partitions
            .iter()
            .filter_map(|partition| asked(&partition.name, partition.total_cpus, &settings.policy(&partition.name)))
            .collect();
        if partitions.is_empty() {
            return;
        }
        // There may not be time for all.
        partitions.sort_by_key(|partition| self.replayed_last(partition));
        let question = Question {
            at: now,
            window: Seconds(self.guard.window_s),
            cluster: self.cluster.clone(),
            earlier_clusters: settings.configuration.history.earlier_clusters.clone(),
            slurm_conf: self.slurm_conf.clone(),
            record_key,
            partitions,
        };
        if self.thread.ask(Box::new(question)) {
            tracing::debug!("the guard replays the past");
        }
    }

    /// When the policy that was replayed the longest ago in a partition was replayed; `None` where
    /// one never was.
    fn replayed_last(&self, partition: &AskedPartition) -> Option<UnixTime> {
        let last = |asked: &AskedPolicy| Some(self.guard.of(&partition.name, asked.policy)?.replays.last()?.at);
        partition.policies.iter().map(last).min().flatten()
    }

    /// A restart does not have the past replayed at once again: what counts is the last try. A try
    /// that lies ahead is of a clock that has been set back.
    fn is_due(&self, now: UnixTime) -> bool {
        let waits = self.guard.last_try.as_ref().is_some_and(|last| (0..self.guard.interval_s).contains(&(now - last.at).0));
        self.guard.act != Act::Off && !waits && !self.thread.is_busy()
    }

    /// Takes up what was found, tells what changes, and keeps it. Returns whether it is to be
    /// published what is held back.
    pub(super) fn answered(&mut self, replayed: Replayed, directory: &StateDirectory) -> bool {
        self.thread.answered();
        let before = self.held_back();
        let Replayed { asked_at, took, outcome } = replayed;
        let took_s = (took.as_secs_f64() * 10.0).round() / 10.0;
        let (jobs, postponed, failure) = match outcome {
            Ok(Answer { jobs, replays, postponed, not_known }) => {
                tracing::info!(jobs, replays = replays.len(), took_s, "the guard has replayed the past");
                self.guard.last_success = Some(asked_at);
                self.guard.not_known = not_known;
                for (partition, policy, replay) in replays {
                    self.judged(partition, policy, replay);
                }
                for policy in &postponed {
                    tracing::warn!(%policy, "the guard had no time for a replay: it comes first the next time");
                }
                (jobs, postponed, None)
            }
            Err(failure) => {
                tracing::error!(failure, "the guard could not replay the past; what is held back stays so");
                (0, Vec::new(), Some(failure))
            }
        };
        self.guard.last_try = Some(Try { at: asked_at, took_s, jobs, failure, postponed });
        self.keep(directory);
        self.held_back() != before
    }

    /// Takes up one replay, and tells if the standing changes.
    fn judged(&mut self, partition: String, policy: GuardedPolicy, replay: Replay) {
        if self.guard.of(&partition, policy).is_none() {
            let (partition, standing) = (partition.clone(), Standing::Good);
            let (since, why) = (replay.at, "nothing has spoken against it yet".to_owned());
            self.guard.policies.push(PolicyStanding { partition, policy, standing, since, why, in_a_row: 0, replays: Vec::new() });
            self.guard.policies.sort_by(|one, other| (&one.partition, one.policy).cmp(&(&other.partition, other.policy)));
        }
        let is_it = |found: &&mut PolicyStanding| found.partition == partition && found.policy == policy;
        let Some(found) = self.guard.policies.iter_mut().find(is_it) else { return };
        let (finding, why) = (replay.finding, replay.why.clone());
        let changes = found.judged(replay);
        let policy = policy.name();
        match (changes, found.standing, self.guard.act) {
            (false, ..) => tracing::info!(partition, policy, ?finding, why, standing = ?found.standing, "the guard has judged"),
            (true, Standing::Good, _) => tracing::warn!(partition, policy, why, "the guard lets a policy act again, which pays again"),
            (true, Standing::Bad, Act::Observe) => {
                tracing::warn!(partition, policy, why, "the guard takes a policy back to observe, which does not pay");
            }
            (true, Standing::Bad, Act::Warn | Act::Off) => {
                tracing::warn!(partition, policy, why, "the guard warns of a policy, which does not pay; [guard] act lets it go on");
            }
        }
    }

    /// Keeps what was found in the state directory.
    fn keep(&self, directory: &StateDirectory) {
        let kept = self.guard.write().map_err(std::io::Error::other).and_then(|text| directory.keep_guard(&text));
        if let Err(error) = kept {
            tracing::error!(file = %self.path.display(), %error, "what the guard has found can't be kept: the next daemon does not know it");
        }
    }

    /// The thread has panicked.
    pub(super) fn died(&mut self) {
        self.thread.died();
    }
}

/// What an earlier daemon has kept. What can't be used is kept aside, and nothing is held back then
/// until the past has been replayed.
fn read(path: &Path) -> Guard {
    let bytes = match read_owned(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            if is_damage(&error) {
                keep_aside(path, &error);
            } else if error.kind() != std::io::ErrorKind::NotFound {
                tracing::warn!(file = %path.display(), %error, "what the guard has found can't be read: it begins anew");
            }
            return Guard::default();
        }
    };
    Guard::read(&bytes).unwrap_or_else(|error| {
        keep_aside(path, &error);
        Guard::default()
    })
}

/// The slurm.conf: the one that is named, or the one beside `queuecast.toml`.
fn slurm_conf(named: Option<PathBuf>, configuration: &Path) -> PathBuf {
    named.filter(|path| !path.as_os_str().is_empty()).unwrap_or_else(|| configuration.with_file_name("slurm.conf"))
}

/// What is asked about a partition, where something is enforced there.
fn asked(name: &str, processors: u32, policy: &Policy) -> Option<AskedPartition> {
    let asked = |when, guarded| (when != When::Never).then_some(AskedPolicy { policy: guarded, is_unasked: when == When::Always });
    let policies = [asked(policy.mold, GuardedPolicy::Molding), asked(policy.defer, GuardedPolicy::Deferral)];
    let is_enforced = policy.mode == Mode::Enforce && processors > 0;
    let policies: Vec<AskedPolicy> = policies.into_iter().flatten().filter(|_| is_enforced).collect();
    let Policy { min_gain, min_gain_time, defer_threshold, max_defer, others, .. } = *policy;
    let name = name.to_owned();
    let partition = AskedPartition { name, processors, min_gain, min_gain_time, defer_threshold, max_defer, others, policies };
    (!partition.policies.is_empty()).then_some(partition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::privacy::Privacy;
    use simulator::guard::state::{Finding, Postponed};
    use slurm_sys::client::PrivateData;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;

    const NOW: i64 = 1_750_000_000;

    fn directory() -> (tempfile::TempDir, StateDirectory) {
        let parent = tempfile::tempdir().unwrap();
        let own_user = fs::metadata("/proc/self").unwrap().uid();
        let directory = StateDirectory::open(&parent.path().join("state"), own_user, Privacy::new(PrivateData::default())).unwrap();
        (parent, directory)
    }

    fn guarding(parent: &tempfile::TempDir, directory: &StateDirectory, act: Act) -> Guarding {
        let settings = Settings::load(parent.path().join("queuecast.toml"), UnixTime(NOW)).unwrap();
        let mut guarding = Guarding::load(GuardThread::new().0, directory, &settings, "c".to_owned());
        guarding.follow(&GuardSettings { act, interval_seconds: 100, window_seconds: 86_400 }, directory);
        guarding
    }

    fn replayed(at: i64, finding: Finding) -> Replayed {
        let why = format!("{finding:?}");
        let (at, days, jobs, adoption, draws) = (UnixTime(at), 28.0, 5_000, 1.0, Vec::new());
        let replay = Replay { at, first: None, last: None, days, jobs, adoption, finding, why, draws };
        let replays = vec![("batch".to_owned(), GuardedPolicy::Molding, replay)];
        let postponed = vec![Postponed { partition: "batch".to_owned(), policy: GuardedPolicy::Deferral }];
        let answer = Answer { jobs: 5_000, replays, postponed, not_known: Vec::new() };
        Replayed { asked_at: at, took: Duration::from_secs(3), outcome: Ok(answer) }
    }

    #[test]
    fn what_is_held_back_outlives_the_daemon_and_so_does_the_time_of_the_last_try() {
        let (parent, directory) = directory();
        let mut first = guarding(&parent, &directory, Act::Observe);
        assert!(first.is_due(UnixTime(NOW)) && first.held_back().is_empty());
        assert!(first.answered(replayed(NOW, Finding::Harms), &directory));
        let second = guarding(&parent, &directory, Act::Observe);
        let held = HeldBack { molding: true, deferral: false };
        assert_eq!(second.held_back(), BTreeMap::from([("batch".to_owned(), held)]));
        assert!(!second.is_due(UnixTime(NOW + 99)) && second.is_due(UnixTime(NOW + 100)));
        assert!(second.is_due(UnixTime(NOW - 1)), "the clock was set back");
    }

    #[test]
    fn a_guard_that_only_warns_holds_nothing_back_and_one_that_is_off_asks_nothing() {
        let (parent, directory) = directory();
        let mut warning = guarding(&parent, &directory, Act::Warn);
        assert!(!warning.answered(replayed(NOW, Finding::Harms), &directory));
        assert!(warning.held_back().is_empty());
        assert!(!guarding(&parent, &directory, Act::Off).is_due(UnixTime(NOW + 1_000)));
        // Once it may act, it goes by what it has found.
        assert_eq!(guarding(&parent, &directory, Act::Observe).held_back().len(), 1);
    }

    #[test]
    fn a_replay_that_fails_is_told_and_changes_no_standing() {
        let (parent, directory) = directory();
        let mut guarding = guarding(&parent, &directory, Act::Observe);
        guarding.answered(replayed(NOW, Finding::Harms), &directory);
        let failed = Replayed { asked_at: UnixTime(NOW + 200), took: Duration::ZERO, outcome: Err("slurmdbd is away".to_owned()) };
        assert!(!guarding.answered(failed, &directory));
        let kept = read(&directory.guard());
        let last = kept.last_try.unwrap();
        assert_eq!((last.at, last.failure.as_deref()), (UnixTime(NOW + 200), Some("slurmdbd is away")));
        assert_eq!((kept.last_success, guarding.held_back().len()), (Some(UnixTime(NOW)), 1));
    }

    #[test]
    fn what_was_replayed_the_longest_ago_comes_first_and_what_never_was_before_it() {
        let (parent, directory) = directory();
        let mut guarding = guarding(&parent, &directory, Act::Observe);
        guarding.answered(replayed(NOW, Finding::Pays), &directory);
        let partition = |mold, defer| asked("batch", 8, &Policy { mode: Mode::Enforce, mold, defer, ..Policy::default() }).unwrap();
        assert_eq!(guarding.replayed_last(&partition(When::Asked, When::Never)), Some(UnixTime(NOW)));
        assert_eq!(guarding.replayed_last(&partition(When::Asked, When::Asked)), None, "there was no time for deferral");
        assert_eq!(guarding.guard().last_try.as_ref().unwrap().postponed[0].to_string(), "deferral in batch");
    }

    #[test]
    fn only_what_is_enforced_is_asked_about() {
        let of = |mode, mold, defer| {
            let found = asked("batch", 8, &Policy { mode, mold, defer, ..Policy::default() });
            found.map(|found| found.policies.iter().map(|asked| (asked.policy, asked.is_unasked)).collect::<Vec<_>>())
        };
        assert_eq!(of(Mode::Advise, When::Always, When::Always), None);
        assert_eq!(of(Mode::Enforce, When::Never, When::Never), None);
        let both = vec![(GuardedPolicy::Molding, true), (GuardedPolicy::Deferral, false)];
        assert_eq!(of(Mode::Enforce, When::Always, When::Asked), Some(both));
    }

    #[test]
    fn a_damaged_file_is_kept_aside_and_begun_anew() {
        let (_parent, directory) = directory();
        fs::write(directory.guard(), "{\"version\": 1").unwrap();
        assert_eq!(read(&directory.guard()), Guard::default());
        assert!(directory.path().join("guard.json.damaged").exists() && !directory.guard().exists());
    }
}
