//! `POST /v1/probe`: where inside a window nodes can be reserved, and what that does to others.

use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::keys::{Keys, LATEST, count, moment, name, number, object};
use crate::refusal::Refusal;

/// The most nodes that can be asked for; more than Slurm takes (`MAX_NODES` of its configuration).
pub(crate) const MOST_NODES: u32 = 1 << 20;
/// The longest time limit: a year, which is as far as plans reach.
pub(crate) const LONGEST_LIMIT_S: i64 = 365 * 86_400;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The partition; `None` is the cluster's default one.
    pub partition: Option<String>,
    /// The account that would be charged; `None` is the user's default one.
    pub account: Option<String>,
    /// The quality of service; `None` is the user's default one.
    pub qos: Option<String>,
    /// How many nodes.
    pub nodes: u32,
    /// CPUs of the job on all of them, for its ordinary start; `None` is whole nodes.
    pub cpus: Option<u32>,
    /// The job's time limit in seconds; `None` is the partition's default one.
    pub limit_s: Option<i64>,
    /// When it starts at the earliest, in Unix seconds.
    pub earliest: i64,
    /// When it ends at the latest, in Unix seconds.
    pub latest: i64,
    /// Which of several slots that are equally good is the best.
    pub prefer: Preferred,
}

/// Which of several slots that are equally good is the best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preferred {
    /// The earliest.
    #[default]
    Earliest,
    /// The latest.
    Latest,
    /// The one whose start is nearest to a time, in Unix seconds.
    Nearest(i64),
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The number of the snapshot whose plan was asked.
    pub generation: u64,
    /// The present of that plan, in Unix seconds.
    pub planned_at: i64,
    /// What was asked for, with what was left open filled in.
    pub request: Probe,
    /// When the job would start that waits as any other; `None` where that is not known.
    pub ordinary_start: Option<OrdinaryStart>,
    /// The slots, in the order of time.
    pub slots: Vec<Slot>,
    /// The place of the best of those that are allowed, or where none is, of those that are to be
    /// had; see [`Slot::allowed`].
    pub best: Option<usize>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// When a job would start that waits as any other, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdinaryStart {
    /// If running jobs end as early as one of four does.
    pub lower: i64,
    /// If they end when they are expected to.
    pub expected: i64,
    /// If they run until their time limits.
    pub upper: i64,
}

/// A slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// When the job could start, in Unix seconds.
    pub start: i64,
    /// When it would have ended by its time limit.
    pub end: i64,
    /// From 0, not to be had, to 1: the less others end later for it, the more.
    pub availability: f64,
    /// How many waiting jobs start later for it; like the next three, `None` where it is not to be
    /// had.
    pub delayed_jobs: Option<usize>,
    /// By how many seconds all of them together.
    pub total_delay_s: Option<i64>,
    /// By how many seconds the one that is delayed most.
    pub most_delay_s: Option<i64>,
    /// For how many node-seconds nodes stand idle before it that others would have used.
    pub idle_node_s: Option<i64>,
    /// How many node-seconds of reservation are charged, used or not.
    pub charged_node_s: i64,
    /// Whether it is to be had and the site's policy allows it.
    pub allowed: bool,
    /// Why not.
    pub why_not: Option<String>,
}

impl Answer {
    /// The best slot.
    #[must_use]
    pub fn chosen(&self) -> Option<&Slot> {
        self.slots.get(self.best?)
    }
}

impl Probe {
    /// The keys of a request.
    pub const KEYS: [&str; 9] = ["partition", "account", "qos", "nodes", "cpus", "limit_s", "earliest", "latest", "prefer"];

    /// The job's time limit.
    #[must_use]
    pub fn limit(&self) -> Option<Seconds> {
        self.limit_s.map(Seconds)
    }

    /// When it starts at the earliest.
    #[must_use]
    pub fn earliest(&self) -> UnixTime {
        UnixTime(self.earliest)
    }

    /// When it ends at the latest.
    #[must_use]
    pub fn latest(&self) -> UnixTime {
        UnixTime(self.latest)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::of(&object(bytes, &Self::KEYS)?)
    }

    /// The probe that keys ask for; other keys beside them are left to who reads those.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub(crate) fn of(keys: &Keys) -> Result<Self, Refusal> {
        let request = Self {
            partition: name(keys, "partition")?,
            account: name(keys, "account")?,
            qos: name(keys, "qos")?,
            nodes: count(keys, "nodes", MOST_NODES)?.ok_or_else(|| Refusal::of_key("nodes", "this key is needed"))?,
            cpus: count(keys, "cpus", u32::MAX)?,
            limit_s: number(keys, "limit_s", 1, LONGEST_LIMIT_S)?,
            earliest: moment(keys, "earliest")?,
            latest: moment(keys, "latest")?,
            prefer: preferred(keys)?,
        };
        if request.latest <= request.earliest {
            return Err(Refusal::of_key("latest", "a time after earliest"));
        }
        Ok(request)
    }
}

fn preferred(keys: &Keys) -> Result<Preferred, Refusal> {
    let wrong = || Refusal::of_key("prefer", "\"earliest\", \"latest\", or {\"nearest\": a time in Unix seconds}");
    match keys.get("prefer") {
        None | Some(Value::Null) => Ok(Preferred::Earliest),
        Some(Value::String(text)) if text == "earliest" => Ok(Preferred::Earliest),
        Some(Value::String(text)) if text == "latest" => Ok(Preferred::Latest),
        Some(Value::Object(nearest)) if nearest.len() == 1 => {
            let to = number(nearest, "nearest", 0, LATEST).map_err(|_| wrong())?;
            to.map(Preferred::Nearest).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn probe() -> Probe {
        Probe {
            partition: Some("batch".to_owned()),
            account: None,
            qos: None,
            nodes: 16,
            cpus: None,
            limit_s: Some(7_200),
            earliest: 1_000,
            latest: 90_000,
            prefer: Preferred::Earliest,
        }
    }

    fn refused(text: &str) -> (Option<String>, String) {
        let refusal = Probe::read(text.as_bytes()).unwrap_err();
        (refusal.key, refusal.error)
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        for prefer in [Preferred::Earliest, Preferred::Latest, Preferred::Nearest(5_000)] {
            let written = Probe { prefer, ..probe() };
            assert_eq!(Probe::read(&serde_json::to_vec(&written).unwrap()).unwrap(), written);
        }
        let least = Probe::read(br#"{"nodes": 1, "earliest": 5, "latest": 6}"#).unwrap();
        assert_eq!((least.partition, least.limit_s, least.prefer), (None, None, Preferred::Earliest));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key_and_what_is_allowed() {
        for (text, key, allowed) in [
            (r#"{"nodes": 0, "earliest": 5, "latest": 6}"#, "nodes", "from 1 to"),
            (r#"{"nodes": 1.5, "earliest": 5, "latest": 6}"#, "nodes", "whole number"),
            (r#"{"nodes": "1", "earliest": 5, "latest": 6}"#, "nodes", "whole number"),
            (r#"{"nodes": 99999999999999999999, "earliest": 5, "latest": 6}"#, "nodes", "from 1 to"),
            (r#"{"earliest": 5, "latest": 6}"#, "nodes", "needed"),
            (r#"{"nodes": 1, "earliest": 5}"#, "latest", "needed"),
            (r#"{"nodes": 1, "earliest": 6, "latest": 6}"#, "latest", "after earliest"),
            (r#"{"nodes": 1, "earliest": -1, "latest": 6}"#, "earliest", "from 0"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "limit_s": 0}"#, "limit_s", "from 1"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "prefer": "cheap"}"#, "prefer", "earliest"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "prefer": {"nearest": "x"}}"#, "prefer", "nearest"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "partition": ""}"#, "partition", "a name"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "account": "a\nb"}"#, "account", "a name"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "user": "root"}"#, "user", "not known"),
        ] {
            let (named, error) = refused(text);
            assert_eq!(named.as_deref(), Some(key), "{text}: {error}");
            assert!(error.contains(allowed), "{text}: {error}");
        }
        assert!(refused("[]").1.contains("no JSON object"));
        assert!(refused("{").1.contains("no JSON"));
        assert!(Probe::read(&[0xff, 0xfe]).is_err());
        // Deep nesting ends in an error, not in a stack that overflows.
        assert!(Probe::read("[".repeat(60_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Probe::read(&bytes);
        }

        #[test]
        fn any_value_at_any_key_is_read_or_refused_with_that_key(key in 0..Probe::KEYS.len(), value in any_value()) {
            let mut request = serde_json::to_value(probe()).unwrap();
            request[Probe::KEYS[key]] = value;
            if let Err(refusal) = Probe::read(&serde_json::to_vec(&request).unwrap()) {
                let named = refusal.key.unwrap();
                prop_assert!(named == Probe::KEYS[key] || named == "latest", "{}", named);
            }
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,300}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,10}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
