//! `POST /v1/predict`: what is forecast of a job that would be submitted, and what would be done
//! with it.

use job_types::options::UserOptions;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

use crate::keys::{LATEST, count, moment_or_none, moments, name, number, object, truth};
use crate::probe::{LONGEST_LIMIT_S, MOST_NODES};
use crate::refusal::Refusal;

/// The most times of which it is asked how probably the job is done by then.
const MOST_TIMES: usize = 16;

/// The job that is described; all times are in Unix seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predict {
    /// The partition, or several separated by commas; `None` is the cluster's default one.
    pub partition: Option<String>,
    /// The account that would be charged; `None` is the user's default one.
    pub account: Option<String>,
    /// The quality of service; `None` is the user's default one.
    pub qos: Option<String>,
    /// How many nodes.
    pub nodes: u32,
    /// CPUs of the job on all of them; `None` is whole nodes.
    pub cpus: Option<u32>,
    /// The job's time limit in seconds; `None` is the partition's default one.
    pub limit_s: Option<i64>,
    /// When it may begin; `None` is at once.
    pub begin: Option<i64>,
    /// When it must have ended (Slurm's own `--deadline`).
    pub deadline: Option<i64>,
    /// Whether queuecast may choose the number of nodes (`--auto-mold`).
    pub auto_mold: bool,
    /// When its nodes are wanted (`--reserve-at`).
    pub reserve_at: Option<i64>,
    /// Further times of which it is asked how probably the job is done by then.
    pub by: Vec<i64>,
}

impl Predict {
    /// The keys of a request.
    pub const KEYS: [&str; 11] =
        ["partition", "account", "qos", "nodes", "cpus", "limit_s", "begin", "deadline", "auto_mold", "reserve_at", "by"];

    /// The job's time limit.
    #[must_use]
    pub fn limit(&self) -> Option<Seconds> {
        self.limit_s.map(Seconds)
    }

    /// When it may begin.
    #[must_use]
    pub fn begin(&self) -> Option<UnixTime> {
        self.begin.map(UnixTime)
    }

    /// When it must have ended.
    #[must_use]
    pub fn deadline(&self) -> Option<UnixTime> {
        self.deadline.map(UnixTime)
    }

    /// What the user asks of queuecast.
    #[must_use]
    pub fn asked(&self) -> UserOptions {
        UserOptions { auto_mold: self.auto_mold, reserve_at: self.reserve_at, ..UserOptions::default() }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let keys = &object(bytes, &Self::KEYS)?;
        let request = Self {
            partition: name(keys, "partition")?,
            account: name(keys, "account")?,
            qos: name(keys, "qos")?,
            nodes: count(keys, "nodes", MOST_NODES)?.ok_or_else(|| Refusal::of_key("nodes", "this key is needed"))?,
            cpus: count(keys, "cpus", u32::MAX)?,
            limit_s: number(keys, "limit_s", 1, LONGEST_LIMIT_S)?,
            begin: moment_or_none(keys, "begin")?,
            deadline: moment_or_none(keys, "deadline")?,
            auto_mold: truth(keys, "auto_mold")?,
            reserve_at: moment_or_none(keys, "reserve_at")?,
            by: moments(keys, "by", MOST_TIMES)?,
        };
        if request.begin.zip(request.deadline).is_some_and(|(begin, deadline)| deadline < begin) {
            return Err(Refusal::of_key("deadline", format!("a time from begin to {LATEST}")));
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(request: &str) -> Option<String> {
        Predict::read(request.as_bytes()).unwrap_err().key
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let whole = Predict {
            partition: Some("batch".to_owned()),
            account: Some("physics".to_owned()),
            qos: Some("normal".to_owned()),
            nodes: 4,
            cpus: Some(32),
            limit_s: Some(3_600),
            begin: Some(1_000),
            deadline: Some(9_000),
            auto_mold: true,
            reserve_at: Some(2_000),
            by: vec![5_000, 6_000],
        };
        assert_eq!(Predict::read(&serde_json::to_vec(&whole).unwrap()), Ok(whole));
        let least = Predict { nodes: 1, ..Predict::default() };
        assert_eq!(Predict::read(b"{\"nodes\": 1}"), Ok(least.clone()));
        assert_eq!(Predict::read(&serde_json::to_vec(&least).unwrap()), Ok(least), "null is the same as nothing");
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        let many = format!("{{\"nodes\": 1, \"by\": {:?}}}", vec![1; MOST_TIMES + 1]);
        for (request, key) in [
            ("{}", "nodes"),
            ("{\"nodes\": 0}", "nodes"),
            ("{\"nodes\": 1.5}", "nodes"),
            ("{\"nodes\": 1, \"limit_s\": 0}", "limit_s"),
            ("{\"nodes\": 1, \"auto_mold\": 1}", "auto_mold"),
            ("{\"nodes\": 1, \"begin\": -1}", "begin"),
            ("{\"nodes\": 1, \"begin\": 5, \"deadline\": 4}", "deadline"),
            ("{\"nodes\": 1, \"by\": 5}", "by"),
            ("{\"nodes\": 1, \"by\": [\"noon\"]}", "by"),
            (&many, "by"),
            ("{\"nodes\": 1, \"earliest\": 5}", "earliest"),
        ] {
            assert_eq!(refused(request).as_deref(), Some(key), "{request}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_can_be_written_and_read_again(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = Predict::read(&bytes) {
                prop_assert_eq!(Predict::read(&serde_json::to_vec(&read).unwrap()), Ok(read));
            }
        }
    }
}
