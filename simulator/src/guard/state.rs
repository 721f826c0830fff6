//! What the guard has found, as `guard.json` in the state directory keeps it.

use std::fmt;

use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};
pub use slurm_conf::configuration::GuardAct as Act;

/// The version of the file that is written here.
pub const VERSION: u32 = 1;

/// The most replays that are kept of a policy in a partition, one of each day.
pub const MOST_REPLAYS: usize = 60;

/// A policy that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardedPolicy {
    /// Jobs get another size.
    Molding,
    /// Jobs get a later begin time.
    Deferral,
}

impl GuardedPolicy {
    /// Both, in the order of the file.
    pub const ALL: [GuardedPolicy; 2] = [GuardedPolicy::Molding, GuardedPolicy::Deferral];

    /// The word of the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GuardedPolicy::Molding => "molding",
            GuardedPolicy::Deferral => "deferral",
        }
    }
}

/// How a policy stands in a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Nothing speaks against it.
    #[default]
    Good,
    /// It was found not to pay, or to harm others. It is held back where the site lets the guard
    /// act ([`Guard::is_held_back`]), and warned of otherwise.
    Bad,
}

/// What one replay of the last weeks says of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// Those who use it gain, and nobody pays for it.
    Pays,
    /// Those who use it gain too little to notice.
    NoGain,
    /// Those who don't use it pay for it.
    Harms,
    /// There are too few jobs or days, or nobody uses it.
    CannotBeSaid,
}

/// What becomes of some jobs without the policy and with it, times from submission to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The number of these jobs.
    pub jobs: u64,
    /// The mean without the policy, in seconds.
    pub mean_without_s: f64,
    /// The mean with it, in seconds.
    pub mean_with_s: f64,
    /// 95 % of the jobs take no longer than this without the policy, in seconds.
    pub p95_without_s: f64,
    /// 95 % of them take no longer than this with it, in seconds.
    pub p95_with_s: f64,
}

impl Change {
    /// The part by which the mean changes; below 0 where it falls.
    #[must_use]
    pub fn mean(&self) -> f64 {
        part(self.mean_without_s, self.mean_with_s)
    }

    /// The part by which the 95th percentile changes; below 0 where it falls.
    #[must_use]
    pub fn p95(&self) -> f64 {
        part(self.p95_without_s, self.p95_with_s)
    }
}

fn part(from: f64, to: f64) -> f64 {
    if from > 0.0 { to / from - 1.0 } else { 0.0 }
}

/// One draw of who uses the policy and how jobs run at other sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// The seed.
    pub seed: u64,
    /// Jobs that got another size or begin.
    pub changed: u64,
    /// All jobs that count.
    pub all: Change,
    /// Those that use the policy.
    pub users: Change,
    /// Those that don't; without jobs where all use it.
    pub others: Change,
}

/// A replay of the last weeks of a partition with a policy and without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// When it was made.
    pub at: UnixTime,
    /// The first submission that was replayed; absent where there was no job.
    pub first: Option<UnixTime>,
    /// The last submission.
    pub last: Option<UnixTime>,
    /// The days between them.
    pub days: f64,
    /// Jobs that were replayed, with those that only fill the machine.
    pub jobs: u64,
    /// The part of the jobs that use the policy, 0 to 1.
    pub adoption: f64,
    /// What it says.
    pub finding: Finding,
    /// The same in one sentence, with the figures that decide.
    pub why: String,
    /// The draws; none where nothing was replayed.
    pub draws: Vec<Draw>,
}

/// How a policy stands in a partition, and by which replays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyStanding {
    /// The partition.
    pub partition: String,
    /// The policy.
    pub policy: GuardedPolicy,
    /// How it stands.
    pub standing: Standing,
    /// Since when it stands so.
    pub since: UnixTime,
    /// Why it stands so, in one sentence.
    pub why: String,
    /// How many replays in a row have said what would change the standing, without that having
    /// changed it yet.
    pub in_a_row: u32,
    /// The latest replays, the oldest first: of each day the last one, and at most
    /// [`MOST_REPLAYS`].
    pub replays: Vec<Replay>,
}

/// Something that the replays do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotKnown {
    /// The subject.
    pub about: String,
    /// What is not known of it, and why.
    pub why: String,
}

/// A try to replay the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// When it began.
    pub at: UnixTime,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// The jobs that were read.
    pub jobs: u64,
    /// What failed; absent where nothing did.
    pub failure: Option<String>,
    /// What there was no time for, and comes first the next time.
    #[serde(default)]
    pub postponed: Vec<Postponed>,
}

/// A policy in a partition for whose replay there was no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Postponed {
    /// The partition.
    pub partition: String,
    /// The policy.
    pub policy: GuardedPolicy,
}

impl fmt::Display for Postponed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.policy.name(), self.partition)
    }
}

/// What `guard.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// [`VERSION`].
    pub version: u32,
    /// What the site lets it do, as of the last writing.
    pub act: Act,
    /// How often the past is to be replayed, in seconds.
    pub interval_s: i64,
    /// How much of the past is replayed, in seconds.
    pub window_s: i64,
    /// The last try; absent before the first.
    pub last_try: Option<Try>,
    /// When a try succeeded last; absent before the first that did.
    pub last_success: Option<UnixTime>,
    /// The policies by partition, in the order of both.
    pub policies: Vec<PolicyStanding>,
    /// What the latest replays do not know.
    pub not_known: Vec<NotKnown>,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            version: VERSION,
            act: Act::default(),
            interval_s: 86_400,
            window_s: 28 * 86_400,
            last_try: None,
            last_success: None,
            policies: Vec::new(),
            not_known: Vec::new(),
        }
    }
}

/// Why a `guard.json` can't be used.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// It is not what a guard writes.
    #[error("guard.json is damaged ({0}); restart queuecastd, which keeps it aside and begins anew")]
    Damaged(#[from] serde_json::Error),
    /// Another release wrote it.
    #[error("guard.json has version {found}, and {VERSION} is read here; use the programs of one release")]
    Version {
        /// The version that it has.
        found: u32,
    },
}

impl Guard {
    /// Reads the text of `guard.json`.
    ///
    /// # Errors
    ///
    /// [`GuardError`] where it is damaged, or of another version.
    pub fn read(text: &[u8]) -> Result<Self, GuardError> {
        /// What every version has.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_slice(text)?;
        if version != VERSION {
            return Err(GuardError::Version { found: version });
        }
        Ok(serde_json::from_slice(text)?)
    }

    /// The text of `guard.json`.
    ///
    /// # Errors
    ///
    /// A figure is not a number.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec_pretty(self)
    }

    /// The standing of a policy in a partition, where it was ever judged.
    #[must_use]
    pub fn of(&self, partition: &str, policy: GuardedPolicy) -> Option<&PolicyStanding> {
        self.policies.iter().find(|standing| standing.partition == partition && standing.policy == policy)
    }

    /// Whether a policy is held back in a partition: whether it stands badly there, and the guard
    /// may act on that.
    #[must_use]
    pub fn is_held_back(&self, partition: &str, policy: GuardedPolicy) -> bool {
        self.act == Act::Observe && self.of(partition, policy).is_some_and(|found| found.standing == Standing::Bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_back() -> Guard {
        let all = Change { jobs: 9, mean_without_s: 100.0, mean_with_s: 90.0, p95_without_s: 200.0, p95_with_s: 210.0 };
        let replay = Replay {
            at: UnixTime(2_000),
            first: Some(UnixTime(10)),
            last: Some(UnixTime(1_000)),
            days: 0.01,
            jobs: 9,
            adoption: 0.5,
            finding: Finding::Harms,
            why: "the others take longer".to_owned(),
            draws: vec![Draw { seed: 1, changed: 3, all, users: all, others: all }],
        };
        let standing = PolicyStanding {
            partition: "batch".to_owned(),
            policy: GuardedPolicy::Molding,
            standing: Standing::Bad,
            since: UnixTime(2_000),
            why: replay.why.clone(),
            in_a_row: 0,
            replays: vec![replay],
        };
        Guard { policies: vec![standing], ..Guard::default() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let guard = held_back();
        assert_eq!(Guard::read(&guard.write().unwrap()).unwrap(), guard);
    }

    #[test]
    fn a_damaged_file_and_one_of_another_version_are_told_apart() {
        let written = held_back().write().unwrap();
        assert!(matches!(Guard::read(&written[..written.len() / 2]), Err(GuardError::Damaged(_))));
        let newer = Guard { version: VERSION + 1, ..held_back() }.write().unwrap();
        assert!(matches!(Guard::read(&newer), Err(GuardError::Version { found }) if found == VERSION + 1));
    }

    #[test]
    fn only_a_guard_that_may_act_holds_back_and_only_what_stands_badly() {
        let guard = held_back();
        assert!(guard.is_held_back("batch", GuardedPolicy::Molding));
        assert!(!guard.is_held_back("batch", GuardedPolicy::Deferral) && !guard.is_held_back("debug", GuardedPolicy::Molding));
        for act in [Act::Warn, Act::Off] {
            assert!(!Guard { act, ..held_back() }.is_held_back("batch", GuardedPolicy::Molding), "{act:?}");
        }
    }

    #[test]
    fn changes_are_parts_of_what_was() {
        let change = held_back().policies[0].replays[0].draws[0].all;
        assert!((change.mean() + 0.1).abs() < 1e-9 && (change.p95() - 0.05).abs() < 1e-9);
        assert_eq!(Change::default().mean(), 0.0);
    }
}
