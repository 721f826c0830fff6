//! One start tried on all clusters: reserved everywhere, and then confirmed.

use std::thread;
use std::time::{Duration, Instant};

use daemon_api::{Decided, FirmSlot};
use elsewhere::process::Said;
use job_types::time::UnixTime;
use job_types::together::{CONFIRMED_WITHIN, Decision, Token};
use job_types::window::Window;
use serde::de::DeserializeOwned;

use super::PartReport;
use crate::grid::{Clusters, Granted, Heard, Outcome, Probed, Site};

/// After how long the first part is confirmed no more, so that it is before its cluster gives it
/// back.
const CONFIRMED_BEFORE: Duration = Duration::from_secs(CONFIRMED_WITHIN.0.unsigned_abs() - 30);
/// How long it is asked for that it is known what the first cluster has decided: it decides by
/// itself once its time is over.
const KNOWN_WITHIN: Duration = Duration::from_secs(CONFIRMED_WITHIN.0.unsigned_abs() + 30);
/// How often that is asked.
const ASKED_EVERY: Duration = Duration::from_secs(5);
/// How long a cluster may take to confirm a part, to give one back or to say what it has decided.
const PATIENCE: Duration = Duration::from_secs(40);

/// How an attempt has ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// All parts are kept.
    Kept(Vec<PartReport>),
    /// None is kept.
    Lost {
        cluster: String,
        why: String,
        /// Whether the cluster does not answer, so that nothing else is worth a try.
        is_silent: bool,
    },
    /// All are kept, or none: the clusters settle that by themselves.
    NotKnown { cluster: String, why: String, parts: Vec<PartReport> },
}

/// A start that is tried.
pub(super) struct Attempt<'a> {
    clusters: &'a Clusters,
    probed: &'a Probed,
    start: i64,
    token: Token,
    granted: Vec<(&'a Site, Granted)>,
    /// When the first part was asked for.
    begun: Instant,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(clusters: &'a Clusters, probed: &'a Probed, start: i64) -> Self {
        let token = Token::from(rand::random::<u128>());
        Self { clusters, probed, start, token, granted: Vec::new(), begun: Instant::now() }
    }

    pub(super) fn token(&self) -> &Token {
        &self.token
    }

    /// Reserves all parts, and confirms them where all stand.
    pub(super) fn run(&mut self) -> Ended {
        for site in self.clusters.sites() {
            let (why, is_silent) = match site.reserve(self.window(site), &self.together()) {
                Ok(Outcome::Reserved(granted)) if granted.name.is_some() => {
                    self.granted.push((site, granted));
                    continue;
                }
                // What nobody confirms is not kept, whether it was made or not.
                Ok(Outcome::Reserved(granted)) => {
                    self.granted.push((site, granted));
                    ("nothing was reserved at once".to_owned(), false)
                }
                Ok(Outcome::NotKnown(why)) => (why, true),
                Err(why) => (why, false),
            };
            return self.lost(site, why, is_silent);
        }
        let Some(first) = self.clusters.sites().first() else { return self.lost_without("there are no clusters") };
        if self.begun.elapsed() > CONFIRMED_BEFORE {
            return self.lost(first, "the clusters took too long to reserve all parts".to_owned(), true);
        }
        match self.decide(first) {
            Ok(Decision::Confirmed) => Ended::Kept(self.confirmed()),
            Ok(_) => self.lost(first, "it has given its part back".to_owned(), false),
            Err(why) => Ended::NotKnown { cluster: first.name.clone(), why, parts: self.parts(|_| false) },
        }
    }

    /// The window of a cluster's part: exactly the slot.
    fn window(&self, site: &Site) -> Window {
        let slot = self.probed.slots.iter().find(|slot| slot.cluster == site.name);
        let length = slot.map_or(0, |slot| slot.slot.end - slot.slot.start);
        Window { earliest: UnixTime(self.start), latest: UnixTime(self.start.saturating_add(length)) }
    }

    /// The options that make a slot a part. The first cluster decides about all.
    fn together(&self) -> Vec<String> {
        let decided_by = self.granted.first().map(|(first, _)| format!("--decided-by={}", first.name));
        [format!("--part-of={}", self.token)].into_iter().chain(decided_by).collect()
    }

    /// Has the first cluster confirm its part, until it is known what it has decided.
    ///
    /// # Errors
    /// It does not say: the last reason.
    fn decide(&self, first: &Site) -> Result<Decision, String> {
        let Some((_, granted)) = self.granted.first() else { return Ok(Decision::GivenUp) };
        loop {
            let why = match confirm(first, granted.id) {
                Ok(()) => return Ok(Decision::Confirmed),
                Err(why) => why,
            };
            // The answer may have been lost, so that a refusal alone does not tell.
            let asked = first.way.ask(&["reservations", "decision", &self.token.to_string(), "--json"].map(Into::into), PATIENCE);
            if let Ok(Decided { decision: decision @ (Decision::Confirmed | Decision::GivenUp) }) = answer(&asked) {
                return Ok(decision);
            }
            if self.begun.elapsed() > KNOWN_WITHIN {
                return Err(why);
            }
            thread::sleep(ASKED_EVERY);
        }
    }

    /// Tells the other clusters that their parts are kept.
    fn confirmed(&self) -> Vec<PartReport> {
        let others = self.granted.iter().skip(1).map(|(site, granted)| confirm(site, granted.id).is_ok());
        let told: Vec<bool> = [true].into_iter().chain(others).collect();
        self.parts(|place| told.get(place).copied().unwrap_or(false))
    }

    fn parts(&self, is_told: impl Fn(usize) -> bool) -> Vec<PartReport> {
        let part = |(place, (site, granted)): (usize, &(&Site, Granted))| {
            let of = self.probed.clusters.iter().find(|report| report.cluster == site.name);
            PartReport {
                cluster: site.name.clone(),
                partition: of.and_then(|report| report.request.as_ref()?.partition.clone()),
                id: granted.id,
                name: granted.name.clone(),
                state: granted.state,
                start: granted.start,
                end: granted.end,
                nodes: granted.nodes,
                charged_node_s: granted.charged_node_s,
                confirmed: is_told(place),
                command: site.way.typed(),
            }
        };
        self.granted.iter().enumerate().map(part).collect()
    }

    /// Gives back what stands, which the clusters do by themselves where they can't be told.
    fn lost(&self, site: &Site, why: String, is_silent: bool) -> Ended {
        for (site, granted) in &self.granted {
            let _ = site.way.ask(&["reservations".into(), "cancel".into(), granted.id.to_string().into(), "--json".into()], PATIENCE);
        }
        Ended::Lost { cluster: site.name.clone(), why, is_silent }
    }

    fn lost_without(&self, why: &str) -> Ended {
        Ended::Lost { cluster: String::new(), why: why.to_owned(), is_silent: true }
    }
}

/// Has a cluster confirm its part.
fn confirm(site: &Site, id: u64) -> Result<(), String> {
    let heard = site.way.ask(&["reservations".into(), "confirm".into(), id.to_string().into(), "--json".into()], PATIENCE);
    let slot: FirmSlot = answer(&heard)?;
    if slot.id == id && slot.confirm_by.is_none() { Ok(()) } else { Err("it has not confirmed its part".to_owned()) }
}

/// What `queuecast` there has answered.
fn answer<A: DeserializeOwned>(heard: &Heard) -> Result<A, String> {
    match heard {
        Heard::Said(Said { status: Some(0), output, .. }) => serde_json::from_str(output).map_err(|_| heard.why()),
        _ => Err(heard.why()),
    }
}
