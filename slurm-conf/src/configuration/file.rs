//! The file as it is written: every key optional, each with its range.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};

use super::api::ApiTable;
use super::clusters::clusters;
use super::firm::{self, FirmTable};
use super::value::{AbsolutePath, Count, Duration, Fraction, Listen};
use super::{ClusterSettings, Configuration, GuardAct, LogFormat, LogLevel, Policies};
use crate::duration::{DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS};
use job_types::cluster_name::is_cluster_name;
use job_types::options::{EarlyStart, IfMissed, Mode};
use job_types::policy::{Admission, Others, Policy, When, WithoutForecast};
use job_types::time::Seconds;

/// slurmdbd is asked once for each of them whenever ended jobs are read.
const MOST_EARLIER_CLUSTERS: usize = 16;

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    state_directory: Option<AbsolutePath>,
    snapshot: SnapshotTable,
    history: HistoryTable,
    wait: WaitTable,
    policy: PolicyTable,
    #[serde(deserialize_with = "firm::tables")]
    firm: Vec<FirmTable>,
    changes: ChangesTable,
    #[serde(deserialize_with = "clusters")]
    clusters: BTreeMap<String, ClusterSettings>,
    api: ApiTable,
    metrics: MetricsTable,
    guard: GuardTable,
    log: LogTable,
    // The site's own rules, which are checked where they are compiled.
    #[serde(rename = "rule")]
    _rule: Option<IgnoredAny>,
    #[serde(rename = "rules")]
    _rules: Option<IgnoredAny>,
    #[serde(rename = "tables")]
    _tables: Option<IgnoredAny>,
    #[serde(rename = "test")]
    _test: Option<IgnoredAny>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SnapshotTable {
    interval: Option<Duration<1, HOUR_SECONDS>>,
    maximum_age: Option<Duration<1, { 7 * DAY_SECONDS }>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HistoryTable {
    window: Option<Duration<DAY_SECONDS, { 3_650 * DAY_SECONDS }>>,
    maximum_jobs: Option<Count<1_000, 10_000_000>>,
    #[serde(deserialize_with = "cluster_names")]
    earlier_clusters: Vec<String>,
    // 59 waits are the fewest that bound their 95th percentile with 95 % confidence: 1 - 0.95^59 >
    // 0.95 > 1 - 0.95^58.
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WaitTable {
    confidence: Option<Fraction<500, 999>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ChangesTable {
    per_second: Option<Count<0, 1_000>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MetricsTable {
    listen: Option<Listen>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GuardTable {
    act: Option<GuardAct>,
    interval: Option<Duration<10, { 30 * DAY_SECONDS }>>,
    window: Option<Duration<DAY_SECONDS, { 366 * DAY_SECONDS }>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogTable {
    level: Option<LogLevel>,
    format: Option<LogFormat>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PolicyTable {
    mode: Option<Mode>,
    mold: Option<When>,
    defer: Option<When>,
    reserve: Option<WhenReserve>,
    success_probability: Option<Fraction<1, 999>>,
    max_defer: Option<Duration<MINUTE_SECONDS, { 30 * DAY_SECONDS }>>,
    min_gain: Option<Fraction<0, 999>>,
    min_gain_time: Option<Duration<0, DAY_SECONDS>>,
    others: Option<Others>,
    defer_threshold: Option<Fraction<0, 999>>,
    early_start: Option<EarlyStart>,
    if_missed: Option<IfMissed>,
    admission: Option<Admission>,
    admission_without_forecast: Option<WithoutForecast>,
    deadline_probability: Option<Fraction<1, 999>>,
    #[serde(deserialize_with = "partitions")]
    partition: BTreeMap<String, PolicyTable>,
}

/// The jobs to which virtual reservations are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum WhenReserve {
    /// Jobs whose users ask for it.
    Asked,
    /// No jobs.
    Never,
}

/// The tables of partitions, which have no partitions of their own.
fn partitions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, PolicyTable>, D::Error> {
    let partitions = BTreeMap::<String, PolicyTable>::deserialize(deserializer)?;
    match partitions.iter().find(|(_name, policy)| !policy.partition.is_empty()) {
        Some((name, _policy)) => Err(D::Error::custom(format_args!(
            "policy.partition.{name} holds partitions: write [policy.partition.NAME], and dots in a name within quotes"
        ))),
        None => Ok(partitions),
    }
}

/// Names that clusters can have, each once.
fn cluster_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    if names.len() > MOST_EARLIER_CLUSTERS {
        return Err(D::Error::custom(format_args!("history.earlier_clusters has more than {MOST_EARLIER_CLUSTERS} names")));
    }
    let mut known = BTreeSet::new();
    match names.iter().find(|name| !is_cluster_name(name) || !known.insert(name.as_str())) {
        Some(name) => {
            Err(D::Error::custom(format_args!("history.earlier_clusters: {name:?} is not the name of a cluster, or is there twice")))
        }
        None => Ok(names),
    }
}

impl PolicyTable {
    /// This table's keys, and those of `rest` where it has none.
    fn over(&self, rest: &Policy) -> Policy {
        Policy {
            mode: self.mode.unwrap_or(rest.mode),
            mold: self.mold.unwrap_or(rest.mold),
            defer: self.defer.unwrap_or(rest.defer),
            reserve: self.reserve.map_or(rest.reserve, |reserve| reserve == WhenReserve::Asked),
            success_probability: self.success_probability.as_ref().map_or(rest.success_probability, |fraction| fraction.0),
            max_defer: self.max_defer.as_ref().map_or(rest.max_defer, |duration| Seconds(duration.0)),
            min_gain: self.min_gain.as_ref().map_or(rest.min_gain, |fraction| fraction.0),
            min_gain_time: self.min_gain_time.as_ref().map_or(rest.min_gain_time, |duration| Seconds(duration.0)),
            others: self.others.unwrap_or(rest.others),
            defer_threshold: self.defer_threshold.as_ref().map_or(rest.defer_threshold, |fraction| fraction.0),
            early_start: self.early_start.unwrap_or(rest.early_start),
            if_missed: self.if_missed.unwrap_or(rest.if_missed),
            admission: self.admission.unwrap_or(rest.admission),
            admission_without_forecast: self.admission_without_forecast.unwrap_or(rest.admission_without_forecast),
            deadline_probability: self.deadline_probability.as_ref().map_or(rest.deadline_probability, |fraction| fraction.0),
            held_back: rest.held_back,
        }
    }
}

impl File {
    /// The file's keys, and the defaults where it has none.
    pub(super) fn complete(self) -> Configuration {
        let mut configuration = Configuration::default();
        let site = self.policy.over(&configuration.policy.site);
        configuration.policy =
            Policies { partitions: self.policy.partition.iter().map(|(name, policy)| (name.clone(), policy.over(&site))).collect(), site };
        configuration.firm = self.firm.into_iter().map(FirmTable::complete).collect();
        if let Some(AbsolutePath(path)) = self.state_directory {
            configuration.state_directory = path;
        }
        if let Some(Duration(seconds)) = self.snapshot.interval {
            configuration.snapshot.interval_seconds = seconds;
        }
        if let Some(Duration(seconds)) = self.snapshot.maximum_age {
            configuration.snapshot.maximum_age_seconds = seconds;
        }
        if let Some(Duration(seconds)) = self.history.window {
            configuration.history.window_seconds = seconds;
        }
        if let Some(Count(jobs)) = self.history.maximum_jobs {
            configuration.history.maximum_jobs = jobs;
        }
        configuration.history.earlier_clusters = self.history.earlier_clusters;
        if let Some(Fraction(confidence)) = self.wait.confidence {
            configuration.wait.confidence = confidence;
        }
        if let Some(Count(per_second)) = self.changes.per_second {
            configuration.changes.per_second = u32::try_from(per_second).unwrap_or(u32::MAX);
        }
        configuration.clusters = self.clusters;
        configuration.api = self.api.complete();
        if let Some(Listen(listen)) = self.metrics.listen {
            configuration.metrics.listen = listen;
        }
        configuration.guard.act = self.guard.act.unwrap_or(configuration.guard.act);
        if let Some(Duration(seconds)) = self.guard.interval {
            configuration.guard.interval_seconds = seconds;
        }
        if let Some(Duration(seconds)) = self.guard.window {
            configuration.guard.window_seconds = seconds;
        }
        configuration.log.level = self.log.level.unwrap_or(configuration.log.level);
        configuration.log.format = self.log.format.unwrap_or(configuration.log.format);
        configuration
    }
}
