//! `POST /v1/reserve`: nodes are reserved inside a window; `POST /v1/confirm`: they are kept
//! together with those of other clusters; `POST /v1/cancel`: they are given back.

use job_types::time::Seconds;
use job_types::together::Together;
use job_types::window::FARTHEST_AHEAD;
use serde::{Deserialize, Serialize};

use crate::keys::{self, Keys};
use crate::probe::Probe;
use crate::refusal::Refusal;
use crate::together::together_in;

/// The firm slot that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// Who gets how many nodes for how long, and the window: the keys of a probe, in the same
    /// object.
    #[serde(flatten)]
    pub probe: Probe,
    /// How many seconds before its start the slot is to move no more; `None` is as the site has it.
    pub notice_s: Option<i64>,
    /// That it is one of several parts, which are had together or not at all.
    #[serde(flatten)]
    pub together: Option<Together>,
}

/// The firm slot that is to be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// The number of the slot, as the listing and the answer to a [`Reserve`] have it.
    pub id: u64,
}

/// The part that is to be kept: all others stand, or the cluster that decides has confirmed its
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirm {
    /// The number of the slot, as the listing and the answer to a [`Reserve`] have it.
    pub id: u64,
}

impl Reserve {
    /// The keys of a request: those of a [`Probe`], and more.
    pub const KEYS: [&str; 12] =
        ["partition", "account", "qos", "nodes", "cpus", "limit_s", "earliest", "latest", "prefer", "notice_s", "together", "decided_by"];

    /// How long before its start the slot is to move no more, where its user says so.
    #[must_use]
    pub fn notice(&self) -> Option<Seconds> {
        self.notice_s.map(Seconds)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let keys = keys::object(bytes, &Self::KEYS)?;
        let notice_s = keys::number(&keys, "notice_s", 0, FARTHEST_AHEAD.0)?;
        Ok(Self { probe: Probe::of(&keys)?, notice_s, together: together_in(&keys)? })
    }
}

impl Cancel {
    /// The keys of a request.
    pub const KEYS: [&str; 1] = ["id"];

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Ok(Self { id: id_in(&keys::object(bytes, &Self::KEYS)?)? })
    }
}

impl Confirm {
    /// The keys of a request.
    pub const KEYS: [&str; 1] = ["id"];

    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it, by its key.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Ok(Self { id: id_in(&keys::object(bytes, &Self::KEYS)?)? })
    }
}

/// The number of a firm slot.
fn id_in(keys: &Keys) -> Result<u64, Refusal> {
    let id = keys.get("id").ok_or_else(|| Refusal::of_key("id", "this key is needed: the number of a firm slot"))?;
    id.as_u64().ok_or_else(|| Refusal::of_key("id", format!("a whole number from 0 to {}", u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Preferred;
    use job_types::together::Token;
    use proptest::prelude::*;

    fn reserve(notice_s: Option<i64>) -> Reserve {
        let probe = Probe {
            partition: Some("batch".to_owned()),
            account: None,
            qos: None,
            nodes: 16,
            cpus: None,
            limit_s: Some(7_200),
            earliest: 1_000,
            latest: 90_000,
            prefer: Preferred::Nearest(5_000),
        };
        Reserve { probe, notice_s, together: None }
    }

    fn key_of<T: std::fmt::Debug>(read: Result<T, Refusal>) -> Option<String> {
        read.unwrap_err().key
    }

    #[test]
    fn a_request_has_the_keys_of_a_probe_and_the_notice_beside_them() {
        for notice_s in [None, Some(0), Some(FARTHEST_AHEAD.0)] {
            let written = serde_json::to_vec(&reserve(notice_s)).unwrap();
            assert_eq!(Reserve::read(&written).unwrap(), reserve(notice_s));
            let object: Keys = serde_json::from_slice(&written).unwrap();
            let written: Vec<&str> = object.keys().map(String::as_str).collect();
            assert!(written.iter().all(|key| Reserve::KEYS.contains(key)), "{written:?}");
        }
        assert_eq!(Reserve::KEYS[..Probe::KEYS.len()], Probe::KEYS);
        let least = Reserve::read(br#"{"nodes": 1, "earliest": 5, "latest": 6}"#).unwrap();
        assert_eq!((least.notice(), least.probe.nodes), (None, 1));
    }

    #[test]
    fn a_part_says_what_it_belongs_to_and_who_decides() {
        let token = Token::from(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128);
        for decided_by in [None, Some("east".to_owned())] {
            let wanted = Reserve { together: Some(Together { token: token.clone(), decided_by }), ..reserve(None) };
            let written = serde_json::to_vec(&wanted).unwrap();
            assert_eq!(Reserve::read(&written).unwrap(), wanted);
        }
    }

    #[test]
    fn what_is_wrong_with_a_request_is_said_by_its_key() {
        for (text, key) in [
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "notice_s": -1}"#, "notice_s"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "notice_s": 31622401}"#, "notice_s"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "notice_s": "600"}"#, "notice_s"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "notice": 600}"#, "notice"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "together": "7"}"#, "together"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "together": 7}"#, "together"),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "decided_by": "east"}"#, "decided_by"),
            (
                r#"{"nodes": 1, "earliest": 5, "latest": 6, "together": "0123456789abcdef0123456789abcdef", "decided_by": "a b"}"#,
                "decided_by",
            ),
            (r#"{"nodes": 1, "earliest": 5, "latest": 6, "probe": {}}"#, "probe"),
            (r#"{"nodes": 0, "earliest": 5, "latest": 6}"#, "nodes"),
            (r#"{"nodes": 1, "earliest": 6, "latest": 6}"#, "latest"),
        ] {
            assert_eq!(key_of(Reserve::read(text.as_bytes())).as_deref(), Some(key), "{text}");
        }
        assert_eq!(key_of(Probe::read(br#"{"nodes": 1, "earliest": 5, "latest": 6, "notice_s": 5}"#)).as_deref(), Some("notice_s"));
    }

    #[test]
    fn a_slot_is_cancelled_by_its_number_and_by_nothing_else() {
        for id in [0, 7, u64::MAX] {
            let written = serde_json::to_vec(&Cancel { id }).unwrap();
            assert_eq!((Cancel::read(&written).unwrap(), Confirm::read(&written).unwrap()), (Cancel { id }, Confirm { id }));
        }
        for text in [r"{}", r#"{"id": null}"#, r#"{"id": -1}"#, r#"{"id": 1.5}"#, r#"{"id": "7"}"#, r#"{"id": 18446744073709551616}"#] {
            assert_eq!(key_of(Cancel::read(text.as_bytes())).as_deref(), Some("id"), "{text}");
        }
        assert_eq!(key_of(Cancel::read(br#"{"id": 7, "name": "queuecast"}"#)).as_deref(), Some("name"));
        assert!(Cancel::read(b"[7]").is_err() && Cancel::read(b"7").is_err() && Cancel::read(b"").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Reserve::read(&bytes);
            let _ = Cancel::read(&bytes);
            let _ = Confirm::read(&bytes);
        }
    }
}
