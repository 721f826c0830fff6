//! A slot that a cluster is asked to reserve, and what came of it.

use std::ffi::OsString;
use std::time::Duration;

use daemon_api::SlotRefused;
use job_types::slot::SlotState;
use job_types::window::Window;
use serde::Deserialize;

use super::asking::Heard;
use super::slot::shown;
use super::{Site, written};

/// How long a cluster may take to reserve a slot: longer than its own `queuecast` waits for its
/// daemon.
const PATIENCE: Duration = Duration::from_secs(45);
/// The longest name of a reservation, in bytes.
const MOST_NAME_BYTES: usize = 256;

/// What came of asking for a slot that was not refused.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A slot was made, or is going to be.
    Reserved(Granted),
    /// It is not known whether one was made: why.
    NotKnown(String),
}

/// A slot that was made, as the `queuecast` of its cluster tells it.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) state: SlotState,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) nodes: u32,
    pub(crate) fixed_at: Option<i64>,
    pub(crate) charged_node_s: Option<i64>,
}

/// The keys of `queuecast reserve --between --json` that are gone by.
#[derive(Debug, Deserialize)]
struct Told {
    id: Option<u64>,
    name: Option<String>,
    state: SlotState,
    start: Option<i64>,
    end: Option<i64>,
    nodes: u32,
    fixed_at: Option<i64>,
    refused: Option<SlotRefused>,
    charged_node_s: Option<i64>,
}

impl Site {
    /// Has a slot reserved that has exactly this window, with further arguments.
    ///
    /// # Errors
    /// Nothing was reserved, and this is why.
    pub(crate) fn reserve(&self, window: Window, further: &[String]) -> Result<Outcome, String> {
        let mut arguments: Vec<OsString> = vec!["reserve".into(), format!("--between={}", written(window)).into(), "--json".into()];
        arguments.extend(further.iter().chain(&self.job).map(OsString::from));
        outcome(&self.way.ask(&arguments, PATIENCE))
    }
}

/// What came of asking for a slot.
///
/// # Errors
/// Nothing was reserved, and this is why.
fn outcome(heard: &Heard) -> Result<Outcome, String> {
    if let Some(why) = heard.refusal() {
        return Err(why);
    }
    let Heard::Said(said) = heard else { return Ok(Outcome::NotKnown(heard.why())) };
    let Ok(told) = serde_json::from_str::<Told>(&said.output) else { return Ok(Outcome::NotKnown(heard.why())) };
    if let Some(refused) = told.refused {
        return Err(shown(&refused.reason));
    }
    if told.state.is_over() {
        return Err(told.state.to_string());
    }
    let Told { id: Some(id), name, state, start, end, nodes, fixed_at, charged_node_s, .. } = told else {
        return Ok(Outcome::NotKnown("its answer names no slot".to_owned()));
    };
    if name.as_deref().is_some_and(|name| !is_plain(name)) {
        return Ok(Outcome::NotKnown("its answer has a name that reservations of queuecastd never have".to_owned()));
    }
    Ok(Outcome::Reserved(Granted { id, name, state, start, end, nodes, fixed_at, charged_node_s }))
}

/// Whether a name can be typed into a shell as it is.
fn is_plain(name: &str) -> bool {
    let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= MOST_NAME_BYTES && !name.starts_with('-') && name.bytes().all(is_of_a_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elsewhere::process::Said;
    use serde_json::{Value, json};

    fn said(status: i32, output: &Value, error: &str) -> Heard {
        Heard::Said(Said { status: Some(status), output: output.to_string(), error: error.to_owned() })
    }

    fn made(name: &str) -> Value {
        json!({
            "id": 7, "name": name, "job_id": null, "state": "movable", "start": 2_000, "end": 5_600, "nodes": 2, "fixed_at": 1_400,
            "window": {"earliest": 2_000, "latest": 5_600}, "refused": null, "parts": [], "charged_node_s": 7_440, "notes": [],
        })
    }

    #[test]
    fn a_slot_that_was_made_ends_the_search() {
        let Ok(Outcome::Reserved(granted)) = outcome(&said(0, &made("queuecast-7-ab"), "")) else { panic!("not reserved") };
        assert_eq!((granted.id, granted.name.as_deref()), (7, Some("queuecast-7-ab")));
    }

    #[test]
    fn a_slot_that_was_refused_is_dropped_with_the_reason() {
        let mut refused = made("x");
        refused["state"] = "refused".into();
        refused["refused"] = json!({"reason": "2 nodes\u{1b}[2J are free", "nearest": null});
        assert_eq!(outcome(&said(1, &refused, "")).unwrap_err(), "2 nodes[2J are free");
        let no = Heard::Said(Said { status: Some(1), output: String::new(), error: "queuecast: not offered\n".to_owned() });
        assert_eq!(outcome(&no).unwrap_err(), "not offered");
    }

    #[test]
    fn a_broken_connection_and_an_answer_that_makes_no_sense_leave_it_unknown() {
        let broken = Heard::Said(Said { status: Some(255), output: String::new(), error: "closed by remote host".to_owned() });
        let mut nameless = made("x");
        nameless["id"] = Value::Null;
        for heard in [broken, Heard::TooLong(PATIENCE), said(0, &made("a b;c/../x"), ""), said(0, &nameless, ""), said(3, &Value::Null, "")]
        {
            assert!(matches!(outcome(&heard), Ok(Outcome::NotKnown(_))), "{heard:?}");
        }
    }

    #[test]
    fn a_name_can_be_typed_as_it_is() {
        assert!(is_plain("queuecast-7-0123abcd"));
        assert!(!["", "-x", "a b", "a;b", "a/b", "a$b"].into_iter().any(is_plain));
    }
}
