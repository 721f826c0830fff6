//! The clusters as the reservation service above them meets them.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::time::Duration;

use command_parts::failure::Failure;
use daemon_api::SlotRefused;
use job_types::slot::SlotState;
use job_types::time::UnixTime;
use job_types::window::Window;
use queue_plan::placement::{Conflict, Grid};
use serde::{Deserialize, Serialize};

use crate::grid::{Clusters, GridSlot, Heard, Order, Probed, shown, written};

/// How long a cluster may take to reserve a slot: longer than its own `queuecast` waits for its
/// daemon.
const PATIENCE: Duration = Duration::from_secs(45);
/// Slots of a cluster with starts as near as this are the same one: each probe spreads them anew
/// from the plan that is there then.
const SAME_WITHIN_S: u64 = 60;
/// The longest name of a reservation, in bytes.
const MOST_NAME_BYTES: usize = 256;

/// A slot that was lost.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    pub(super) cluster: String,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Why.
    pub(super) why: String,
}

/// The slot that is asked for.
#[derive(Debug)]
pub(super) struct Reserving {
    pub(super) cluster: String,
    pub(super) partition: Option<String>,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// What ends the search.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A slot was made, or is going to be.
    Reserved(Granted),
    /// It is not known whether one was made: why.
    NotKnown(String),
}

/// A slot that was made, as the `queuecast` of its cluster tells it.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) id: u64,
    pub(super) name: Option<String>,
    pub(super) state: SlotState,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) nodes: u32,
    pub(super) fixed_at: Option<i64>,
    pub(super) charged_node_s: Option<i64>,
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

/// The clusters, and what came of it so far.
pub(super) struct LiveGrid<'a> {
    clusters: &'a Clusters,
    order: Order,
    pub(super) tried: Vec<Tried>,
    pub(super) notes: Vec<String>,
    /// Why the last probe has no answer.
    pub(super) failed: Option<Failure>,
    /// Why the best slot of the last probe is not to be had.
    why_not: Option<String>,
    /// The partition that each cluster would take.
    partitions: Vec<(String, Option<String>)>,
}

impl<'a> LiveGrid<'a> {
    pub(super) fn new(clusters: &'a Clusters, order: Order) -> Self {
        Self { clusters, order, tried: Vec::new(), notes: Vec::new(), failed: None, why_not: None, partitions: Vec::new() }
    }

    /// Why nothing was reserved in so many tries at the most.
    pub(super) fn why_none(&self, most: usize) -> String {
        match (&self.failed, self.tried.last(), &self.why_not) {
            (Some(failed), ..) => format!("the clusters do not answer any more: {}", failed.message()),
            (None, Some(last), _) if self.tried.len() >= most => {
                format!("{most} slots were tried and are not to be had any more, the last: {}", last.why)
            }
            (None, _, Some(why)) => format!("none of the slots is to be had: {why}"),
            (None, ..) => "no slot is to be had in the window".to_owned(),
        }
    }

    /// The clusters that can grant something, with their slots.
    fn take(&mut self, probed: Probed) -> Vec<GridSlot> {
        for note in probed.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let partition = |request: &daemon_api::Probe| request.partition.clone();
        self.partitions = probed.clusters.into_iter().map(|report| (report.cluster, report.request.as_ref().and_then(partition))).collect();
        self.why_not = probed.slots.first().and_then(|slot| Some(format!("{}: {}", slot.cluster, slot.slot.why_not.as_ref()?)));
        probed.slots.into_iter().filter(|slot| slot.slot.allowed && slot.is_to_be_had()).collect()
    }

    /// Has the slot reserved by its cluster, with exactly it as the window.
    fn ask(&self, slot: &GridSlot) -> Option<Heard> {
        let window = Window { earliest: UnixTime(slot.slot.start), latest: UnixTime(slot.slot.end) };
        let mut arguments: Vec<OsString> = vec!["reserve".into(), format!("--between={}", written(window)).into(), "--json".into()];
        arguments.extend(self.clusters.job().iter().map(OsString::from));
        Some(self.clusters.site(&slot.cluster)?.way.ask(&arguments, PATIENCE))
    }
}

impl Grid for LiveGrid<'_> {
    type Slot = GridSlot;
    type Reserved = (Reserving, Outcome);

    fn probe(&mut self) -> Vec<GridSlot> {
        match self.clusters.probe(self.order).answered() {
            Ok(probed) => self.take(probed),
            Err(failed) => {
                self.failed = Some(failed);
                Vec::new()
            }
        }
    }

    fn compare(&self, one: &GridSlot, other: &GridSlot) -> Ordering {
        self.order.compare(one, other)
    }

    fn is_dropped(&self, slot: &GridSlot, dropped: &GridSlot) -> bool {
        slot.cluster == dropped.cluster && slot.slot.start.abs_diff(dropped.slot.start) < SAME_WITHIN_S
    }

    fn reserve(&mut self, slot: &GridSlot) -> Result<(Reserving, Outcome), Conflict> {
        let (start, end) = (slot.slot.start, slot.slot.end);
        match self.ask(slot).map_or_else(|| Err("it is not known how it is asked".to_owned()), |heard| outcome(&heard)) {
            Ok(outcome) => {
                let partition = self.partitions.iter().find(|(cluster, _)| *cluster == slot.cluster);
                let partition = partition.and_then(|(_, partition)| partition.clone());
                Ok((Reserving { cluster: slot.cluster.clone(), partition, start, end }, outcome))
            }
            Err(why) => {
                self.tried.push(Tried { cluster: slot.cluster.clone(), start, end, why });
                Err(Conflict)
            }
        }
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
