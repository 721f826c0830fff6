//! All clusters asked for slots at the same time.

use std::ffi::OsString;
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::{Answer, OrdinaryStart, Probe, Slot};
use job_types::time::Seconds;
use job_types::window::Window;
use serde::Serialize;

use super::asking::Heard;
use super::slot::{GridSlot, Order, shown};
use super::{Clusters, NoCluster, Site};
use elsewhere::process::Said;

/// How long a cluster may take to answer a probe.
const PATIENCE: Duration = Duration::from_secs(5);
/// More slots than `slots` of `[[firm]]` allows, with the one of the ordinary start.
const MOST_SLOTS: usize = 128;
/// The most notes of a cluster that are handed on.
const MOST_NOTES: usize = 16;
/// The longest that a cluster can be reserved for: more than a year is not planned.
const LONGEST_S: i64 = 366 * 86_400;
/// How much later than now a slot begins at the earliest: it takes some seconds until the cluster
/// has reserved it, which grants none that has begun.
pub(crate) const LEAST_AHEAD: Seconds = Seconds::MINUTE;

/// What a cluster has answered.
#[derive(Debug, Serialize)]
pub(crate) struct ClusterReport {
    pub(crate) cluster: String,
    /// Why it is left out; the other keys are null then.
    pub(crate) left_out: Option<String>,
    pub(crate) generation: Option<u64>,
    pub(crate) planned_at: Option<i64>,
    pub(crate) request: Option<Probe>,
    pub(crate) ordinary_start: Option<OrdinaryStart>,
}

/// What all clusters have answered.
#[derive(Debug)]
pub(crate) struct Probed {
    pub(crate) clusters: Vec<ClusterReport>,
    /// In the order that is preferred.
    pub(crate) slots: Vec<GridSlot>,
    pub(crate) notes: Vec<String>,
    /// Whether each cluster says that the request is wrong.
    is_wrong_usage: bool,
}

/// Why a cluster is left out.
struct LeftOut {
    why: String,
    /// Whether it says that the request is wrong.
    is_wrong_usage: bool,
}

impl Clusters {
    /// Asks all clusters for slots. Those that do not answer are named on standard error.
    pub(crate) fn probe(&self, order: Order) -> Probed {
        let asked_for = |site: &Site| {
            let asked: [OsString; 3] = ["probe".into(), format!("--between={}", written(self.window)).into(), "--json".into()];
            asked.into_iter().chain(site.job.iter().map(OsString::from)).collect::<Vec<_>>()
        };
        let heard: Vec<Heard> = thread::scope(|scope| {
            let asked: Vec<_> = self.sites.iter().map(|site| scope.spawn(move || site.way.ask(&asked_for(site), PATIENCE))).collect();
            let failed = |_| Heard::NotStarted("it could not be asked".to_owned());
            asked.into_iter().map(|asked| asked.join().unwrap_or_else(failed)).collect()
        });
        let answers = heard.iter().map(|heard| answer(heard, self.window));
        let probed = Probed::of(self.sites.iter().zip(answers), order);
        probed.clusters.iter().filter_map(ClusterReport::complaint).for_each(|complaint| output::warn(&complaint));
        probed
    }

    /// The site of that name.
    pub(crate) fn site(&self, name: &str) -> Option<&Site> {
        self.sites.iter().find(|site| site.name == name)
    }
}

/// A window as options take it, which is the same in every time zone.
pub(crate) fn written(window: Window) -> String {
    format!("uts{},uts{}", window.earliest.0, window.latest.0)
}

/// The answer of a cluster, with texts that a terminal may be given.
fn answer(heard: &Heard, window: Window) -> Result<Answer, LeftOut> {
    let left_out = |is_wrong_usage| LeftOut { why: heard.why(), is_wrong_usage };
    let Heard::Said(Said { status, output, .. }) = heard else { return Err(left_out(false)) };
    if !matches!(status, Some(0 | 1)) {
        return Err(left_out(*status == Some(2)));
    }
    let mut answer: Answer = serde_json::from_str(output).map_err(|_| match heard.refusal() {
        Some(why) => LeftOut { why, is_wrong_usage: false },
        None => left_out(false),
    })?;
    let makes_sense = answer.slots.len() <= MOST_SLOTS && answer.slots.iter().all(|slot| is_possible(slot, window));
    if !makes_sense {
        return Err(LeftOut { why: "its answer has slots that can't be".to_owned(), is_wrong_usage: false });
    }
    answer.notes.truncate(MOST_NOTES);
    let texts = answer.notes.iter_mut().chain(answer.slots.iter_mut().filter_map(|slot| slot.why_not.as_mut()));
    let request = &mut answer.request;
    let names = [&mut request.partition, &mut request.account, &mut request.qos].into_iter().flatten();
    texts.chain(names).for_each(|text| *text = shown(text));
    Ok(answer)
}

/// Whether a slot lies in the window, and its numbers are in their ranges.
fn is_possible(slot: &Slot, window: Window) -> bool {
    let is_inside = slot.start >= window.earliest.0 && slot.end <= window.latest.0 && slot.end > slot.start;
    let has_numbers = (0.0..=1.0).contains(&slot.availability) && slot.charged_node_s >= 0 && slot.end - slot.start <= LONGEST_S;
    let delays = [slot.total_delay_s, slot.most_delay_s, slot.idle_node_s];
    is_inside && has_numbers && delays.into_iter().flatten().all(|number| number >= 0)
}

impl Probed {
    fn of<'a>(answers: impl Iterator<Item = (&'a Site, Result<Answer, LeftOut>)>, order: Order) -> Self {
        let mut probed = Self { clusters: Vec::new(), slots: Vec::new(), notes: Vec::new(), is_wrong_usage: true };
        for (site, answer) in answers {
            let cluster = site.name.clone();
            match answer {
                Ok(answer) => {
                    probed.slots.extend(answer.slots.into_iter().map(|slot| GridSlot { cluster: cluster.clone(), slot }));
                    probed.notes.extend(answer.notes.iter().map(|note| format!("{cluster}: {note}")));
                    probed.clusters.push(ClusterReport {
                        cluster,
                        left_out: None,
                        generation: Some(answer.generation),
                        planned_at: Some(answer.planned_at),
                        request: Some(answer.request),
                        ordinary_start: answer.ordinary_start,
                    });
                    probed.is_wrong_usage = false;
                }
                Err(LeftOut { why, is_wrong_usage }) => {
                    let (generation, planned_at, request, ordinary_start) = (None, None, None, None);
                    let report = ClusterReport { cluster, left_out: Some(why), generation, planned_at, request, ordinary_start };
                    probed.notes.extend(report.complaint());
                    probed.clusters.push(report);
                    probed.is_wrong_usage &= is_wrong_usage;
                }
            }
        }
        probed.slots.sort_by(|one, other| order.compare(one, other));
        probed
    }

    /// The probe, where a cluster has answered.
    ///
    /// # Errors
    /// None has.
    pub(crate) fn answered(self) -> Result<Self, Failure> {
        if self.clusters.iter().any(|cluster| cluster.left_out.is_none()) {
            return Ok(self);
        }
        let reasons = self.notes.join("; ");
        Err(Failure::Input(if self.is_wrong_usage { anyhow!(reasons) } else { NoCluster(reasons).into() }))
    }
}

impl ClusterReport {
    /// What is to be said of a cluster that is left out.
    fn complaint(&self) -> Option<String> {
        Some(format!("{} is left out: {}", self.cluster, self.left_out.as_deref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::asking::Way;
    use super::*;
    use job_types::time::UnixTime;
    use serde_json::{Value, json};

    const WINDOW: Window = Window { earliest: UnixTime(1_000), latest: UnixTime(9_000) };

    impl Probed {
        /// A probe with these slots.
        pub(crate) fn made_up(slots: Vec<GridSlot>) -> Self {
            Self { clusters: Vec::new(), slots, notes: Vec::new(), is_wrong_usage: false }
        }
    }

    fn said(status: i32, output: &str, error: &str) -> Heard {
        Heard::Said(Said { status: Some(status), output: output.to_owned(), error: error.to_owned() })
    }

    fn with_slot(change: impl FnOnce(&mut Value)) -> Heard {
        let mut slot = json!({
            "start": 2_000, "end": 5_600, "availability": 1.0, "delayed_jobs": 0, "total_delay_s": 0, "most_delay_s": 0,
            "idle_node_s": 0, "charged_node_s": 7_440, "allowed": true, "why_not": null,
        });
        change(&mut slot);
        let request = json!({"partition": "a\u{1b}b", "nodes": 2, "earliest": 1_000, "latest": 9_000, "prefer": "earliest"});
        let answer = json!({
            "generation": 1, "planned_at": 900, "request": request, "ordinary_start": null, "slots": [slot], "best": 0,
            "notes": vec!["x".repeat(1_000); 100],
        });
        said(0, &answer.to_string(), "")
    }

    fn why(heard: &Heard) -> String {
        answer(heard, WINDOW).err().map(|left_out| left_out.why).unwrap_or_default()
    }

    #[test]
    fn an_answer_is_taken_with_its_texts_cut() {
        let answer = answer(&with_slot(|_| {}), WINDOW).ok().unwrap();
        assert_eq!((answer.slots.len(), answer.request.partition.as_deref()), (1, Some("ab")));
        assert!(answer.notes.len() == MOST_NOTES && answer.notes[0].len() == 300);
    }

    #[test]
    fn slots_that_can_not_be_are_not_believed() {
        let impossible = [
            ("start", json!(900)),
            ("end", json!(9_001)),
            ("end", json!(2_000)),
            ("availability", json!(1.5)),
            ("charged_node_s", json!(-1)),
        ];
        for (key, value) in impossible {
            assert!(why(&with_slot(|slot| slot[key] = value.clone())).contains("can't be"), "{key} {value}");
        }
        assert_eq!(why(&with_slot(|slot| slot["start"] = json!("soon"))), "its answer can't be read");
    }

    #[test]
    fn a_cluster_that_does_not_answer_is_named_with_the_reason() {
        assert_eq!(why(&said(255, "", "ssh: no route\n")), "ssh: no route");
        assert_eq!(why(&said(3, "", "queuecast: no snapshot\n")), "no snapshot");
        assert_eq!(why(&Heard::TooLong(PATIENCE)), "no answer within 5 s");
        let site = |name: &str| Site { name: name.to_owned(), way: Way::Command(Vec::new()), job: Vec::new() };
        let (east, west) = (site("east"), site("west"));
        let of = |heard: [Heard; 2]| {
            let answers = heard.map(|heard| answer(&heard, WINDOW));
            Probed::of([&east, &west].into_iter().zip(answers), Order::Availability)
        };
        let one = of([with_slot(|_| {}), said(255, "", "ssh: no route\n")]).answered().ok().unwrap();
        assert_eq!((one.slots.len(), one.notes.last().map(String::as_str)), (1, Some("west is left out: ssh: no route")));
        let none = of([said(2, "", "queuecast: wrong\n"), said(255, "", "")]).answered().unwrap_err();
        assert!(matches!(&none, Failure::Input(error) if error.is::<NoCluster>()));
        let wrong = of([said(2, "", "queuecast: wrong\n"), said(2, "", "queuecast: wrong\n")]).answered().unwrap_err();
        assert!(matches!(&wrong, Failure::Input(error) if !error.is::<NoCluster>()));
    }
}
