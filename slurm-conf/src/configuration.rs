//! `queuecast.toml`: what the site wants of queuecast.
//!
//! Every key may be left out; `etc/queuecast.toml` shows them all with their defaults. A key that
//! is not known is an error, and so is a value out of its range: the message names the file, the
//! line, and what is allowed.

mod api;
mod clusters;
mod error;
mod file;
mod firm;
mod value;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use job_types::firm::FirmPolicy;
use job_types::policy::Policy;
use serde::{Deserialize, Serialize};

pub use api::{ApiSettings, HostPort};
pub use clusters::ClusterSettings;
pub use error::ConfigurationError;

/// Names the configuration file where it is not in its usual place.
pub const PATH_VARIABLE: &str = "QUEUECAST_CONF";

const FILE_NAME: &str = "queuecast.toml";
const DEFAULT_PATH: &str = "/etc/slurm/queuecast.toml";

/// What the site wants of queuecast. Durations are whole seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// The directory of the snapshot, the kill switch and the counters.
    pub state_directory: PathBuf,
    /// How snapshots are published.
    pub snapshot: SnapshotSettings,
    /// The amount of history that is read and kept.
    pub history: HistorySettings,
    /// How waits are forecast.
    pub wait: WaitSettings,
    /// What may be done to jobs.
    pub policy: Policies,
    /// `[[firm]]`: to whom firm slots are given, and which. The first that holds counts, and where
    /// none does there is no firm slot.
    pub firm: Vec<FirmPolicy>,
    /// How jobs are changed after their submission.
    pub changes: ChangesSettings,
    /// `[clusters]`: other clusters, by their names.
    pub clusters: BTreeMap<String, ClusterSettings>,
    /// How the daemon is asked from other hosts.
    pub api: ApiSettings,
    /// The address at which metrics are served.
    pub metrics: MetricsSettings,
    /// How the site's own past is replayed.
    pub guard: GuardSettings,
    /// What the daemon logs.
    pub log: LogSettings,
}

/// `[snapshot]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSettings {
    /// `interval`: how often a snapshot is published.
    pub interval_seconds: i64,
    /// `maximum_age`: a snapshot older than this is not used.
    pub maximum_age_seconds: i64,
}

/// `[history]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySettings {
    /// `window`: how far back ended jobs are read.
    pub window_seconds: i64,
    /// `maximum_jobs`: how many ended jobs are read at the start, the latest ones.
    pub maximum_jobs: u64,
    /// `earlier_clusters`: other clusters of the same slurmdbd whose ended jobs count as this
    /// cluster's past, by their names.
    pub earlier_clusters: Vec<String>,
}

/// `[wait]`.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitSettings {
    /// `confidence` of the bounds on quantiles.
    pub confidence: f64,
}

/// `[changes]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesSettings {
    /// `per_second`: how many changes of jobs a second go to slurmctld at the most; 0 is none.
    pub per_second: u32,
}

/// `[guard]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardSettings {
    /// `act`: what becomes of a policy that does not pay.
    pub act: GuardAct,
    /// `interval`: how often the past is replayed.
    pub interval_seconds: i64,
    /// `window`: how much of the past is replayed.
    pub window_seconds: i64,
}

/// What the guard does about a policy that does not pay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardAct {
    /// It takes the policy back to `observe` in that partition.
    #[default]
    Observe,
    /// It only says so.
    Warn,
    /// Nothing is replayed.
    Off,
}

/// `[metrics]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsSettings {
    /// `listen`: the address, always a loopback one; `None` for `"off"`.
    pub listen: Option<SocketAddr>,
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// `level`: the least severe messages that are logged.
    pub level: LogLevel,
    /// `format`.
    pub format: LogFormat,
}

/// `[policy]` and `[policy.partition.NAME]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policies {
    /// The policy of partitions that have none of their own.
    pub site: Policy,
    /// The policies of partitions by their names, complete: what a partition leaves out is the
    /// site's.
    pub partitions: BTreeMap<String, Policy>,
}

impl Policies {
    /// Returns the policy that holds in a partition.
    #[must_use]
    pub fn of(&self, partition: &str) -> &Policy {
        self.partitions.get(partition).unwrap_or(&self.site)
    }
}

/// The least severe messages that are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Failures, and what is unusual but does not keep the daemon from its work.
    Warn,
    /// The messages of `Warn`, and what the daemon does in the course of its work.
    Info,
    /// The messages of `Info`, and what helps to find a fault.
    Debug,
    /// Everything.
    Trace,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line for people.
    Text,
    /// A JSON object on each line.
    Json,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            state_directory: PathBuf::from("/var/spool/queuecast"),
            snapshot: SnapshotSettings { interval_seconds: 30, maximum_age_seconds: 10 * crate::duration::MINUTE_SECONDS },
            history: HistorySettings {
                window_seconds: 365 * crate::duration::DAY_SECONDS,
                maximum_jobs: 1_000_000,
                earlier_clusters: Vec::new(),
            },
            wait: WaitSettings { confidence: 0.95 },
            policy: Policies::default(),
            firm: Vec::new(),
            changes: ChangesSettings { per_second: 10 },
            clusters: BTreeMap::new(),
            api: ApiSettings::default(),
            metrics: MetricsSettings { listen: Some(SocketAddr::from(([127, 0, 0, 1], 9_487))) },
            guard: GuardSettings {
                act: GuardAct::Observe,
                interval_seconds: crate::duration::DAY_SECONDS,
                window_seconds: 28 * crate::duration::DAY_SECONDS,
            },
            log: LogSettings { level: LogLevel::Info, format: LogFormat::Text },
        }
    }
}

impl Configuration {
    /// Returns the path of the configuration: the file that `QUEUECAST_CONF` names, else
    /// `queuecast.toml` beside the slurm.conf that `SLURM_CONF` names, else
    /// `/etc/slurm/queuecast.toml`. The daemon, the command line and the plugin inside slurmctld
    /// all look here.
    #[must_use]
    pub fn path() -> PathBuf {
        let named = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        path_from(named(PATH_VARIABLE), named("SLURM_CONF"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigurationError`] names the file, the line where there is one, and what is allowed.
    pub fn load(path: &Path) -> Result<Self, ConfigurationError> {
        let bytes = std::fs::read(path).map_err(|source| ConfigurationError::read(path, &source))?;
        let text = String::from_utf8(bytes).map_err(|error| ConfigurationError::encoding(path, error.as_bytes(), &error.utf8_error()))?;
        Self::parse(&text, path)
    }

    /// The state directory that a file names, however wrong the rest of it is: what has to hold all
    /// the same is looked for there. The usual one where the file names none or can't be read.
    #[must_use]
    pub fn state_directory_named_in(path: &Path) -> PathBuf {
        let bytes = std::fs::read(path).unwrap_or_default();
        state_directory_in(&String::from_utf8_lossy(&bytes)).unwrap_or_else(|| Configuration::default().state_directory)
    }

    /// Reads a text; `path` is where it comes from, for messages.
    ///
    /// # Errors
    /// As [`Configuration::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigurationError> {
        let file: file::File = toml::from_str(text).map_err(|error| ConfigurationError::syntax(path, text, &error))?;
        let configuration = file.complete();
        configuration.contradiction().map_or(Ok(configuration), |reason| Err(ConfigurationError::value(path, reason)))
    }

    /// Why values can't hold together that are allowed by themselves.
    fn contradiction(&self) -> Option<String> {
        let SnapshotSettings { interval_seconds, maximum_age_seconds } = self.snapshot;
        if maximum_age_seconds < interval_seconds {
            return Some(format!(
                "snapshot.maximum_age ({}) is shorter than snapshot.interval ({}): no snapshot would be used for its whole interval",
                crate::duration::format(maximum_age_seconds),
                crate::duration::format(interval_seconds)
            ));
        }
        if self.api.listen.is_some() && !self.api.command.is_empty() {
            return Some("api.listen and api.command are two ways to the same: leave one of them out".to_owned());
        }
        let for_everybody = self.firm.iter().position(FirmPolicy::holds_for_everybody)?;
        let is_last = for_everybody + 1 == self.firm.len();
        (!is_last).then(|| format!("[[firm]] table {} is about everybody, so that none behind it counts: put it last", for_everybody + 1))
    }
}

/// The value of `state_directory`, by the lines before the first section that are whole by
/// themselves.
fn state_directory_in(text: &str) -> Option<PathBuf> {
    /// A line that says where the state directory is.
    #[derive(Deserialize)]
    struct Line {
        state_directory: value::AbsolutePath,
    }
    let lines = text.trim_start_matches('\u{feff}').lines().take_while(|line| !line.trim_start().starts_with('['));
    lines.filter_map(|line| toml::from_str::<Line>(line).ok()).map(|line| line.state_directory.0).last()
}

/// Returns the path of the configuration by the values of the two variables.
fn path_from(named: Option<PathBuf>, slurm_conf: Option<PathBuf>) -> PathBuf {
    let beside_slurm_conf = || slurm_conf.map(|slurm_conf| slurm_conf.with_file_name(FILE_NAME));
    named.or_else(beside_slurm_conf).unwrap_or_else(|| PathBuf::from(DEFAULT_PATH))
}

#[cfg(test)]
mod tests;
