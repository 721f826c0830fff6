//! When the past is replayed, and what follows from what was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use job_types::options::Mode;
use job_types::policy::{HeldBack, Policy, When};
use job_types::time::{Seconds, UnixTime};
use simulator::guard::state::{Act, Guard, GuardedPolicy, PolicyStanding, Replay, Standing, Try};
use slurm_conf::configuration::GuardSettings;
use slurm_conf::trusted::{is_damage, read_owned};
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
        if self.guard != before {
            self.keep(directory);
        }
    }

    /// Has the past replayed where it is time for that and something is enforced.
    pub(super) fn look(&mut self, settings: &Settings, partitions: Option<&[Partition]>, record_key: PathBuf, now: UnixTime) {
        let Some(partitions) = partitions.filter(|_| self.is_due(now)) else { return };
        let partitions: Vec<AskedPartition> = partitions
            .iter()
            .filter_map(|partition| asked(&partition.name, partition.total_cpus, &settings.policy(&partition.name)))
            .collect();
        if partitions.is_empty() {
            return;
        }
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
        let (jobs, failure) = match outcome {
            Ok(Answer { jobs, replays, not_known }) => {
                tracing::info!(jobs, replays = replays.len(), took_s, "the guard has replayed the past");
                self.guard.last_success = Some(asked_at);
                self.guard.not_known = not_known;
                for (partition, policy, replay) in replays {
                    self.judged(partition, policy, replay);
                }
                (jobs, None)
            }
            Err(failure) => {
                tracing::error!(failure, "the guard could not replay the past; what is held back stays so");
                (0, Some(failure))
            }
        };
        self.guard.last_try = Some(Try { at: asked_at, took_s, jobs, failure });
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
    let Policy { min_gain, min_gain_time, .. } = *policy;
    (!policies.is_empty()).then(|| AskedPartition { name: name.to_owned(), processors, min_gain, min_gain_time, policies })
}
