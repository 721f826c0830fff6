//! The thread that answers probes, one after the other, with what processors have left over: a plan
//! that is to be published comes first.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use daemon_api::{Answer, LONGER_THAN_LIMIT_S, OrdinaryStart, Preferred, Probe, Refusal, Slot};
use job_types::firm::first_that_holds;
use job_types::number::{JobId, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use job_types::window::{FARTHEST_AHEAD, Window, WindowFault, WindowNeeds};
use predictor_core::decisions::firm::{FirmRefusal, FirmRequest, FirmStanding, RatedSlot, check_slot, firm_window};
use queue_plan::placement::in_queue::{Found, NodesWanted, SlotConflict, SlotInQueue, best, probe};
use queue_plan::placement::{Preference, Probing as Slots, WhatIf};
use queue_plan::{PendingJob, RunTimes};
use rustix::process::setpriority_process;
use tokio::sync::oneshot;

use super::applicant::Named;
use super::callers::Probing;
use super::refused::Refused;
use super::{Latest, Standing};
use crate::clock::now;
use crate::plan::AskedPartition;

/// How many probes may wait, of all users.
const MOST_WAITING: usize = 16;
/// How long a probe may have waited before it is begun.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most names that a refusal lists.
const MOST_NAMES: usize = 32;
/// The lowest priority of a thread (nice(2)).
const LOWEST_PRIORITY: i32 = 19;

/// How much longer a reservation is than the time limit of its job.
const LONGER_THAN_LIMIT: Seconds = Seconds(LONGER_THAN_LIMIT_S);

/// A probe that waits for its answer.
struct Waiting {
    user: UserId,
    wanted: Probe,
    since: Instant,
    /// Held until the answer is given, whoever still waits for it.
    under_way: Probing,
    answer: oneshot::Sender<Result<Answer, Refused>>,
}

/// The asking end of the thread.
#[derive(Debug, Clone)]
pub(super) struct Prober(Sender<Waiting>);

impl Prober {
    /// Starts the thread, which lives as long as the process.
    ///
    /// # Errors
    /// The thread can't be started.
    pub(super) fn start(standing: Latest<Standing>) -> io::Result<Self> {
        let (sender, waiting) = bounded(MOST_WAITING);
        std::thread::Builder::new().name("probes".to_owned()).spawn(move || answer_all(&waiting, &standing))?;
        Ok(Self(sender))
    }

    /// Waits for the answer to a probe.
    pub(super) async fn ask(&self, user: UserId, wanted: Probe, under_way: Probing) -> Result<Answer, Refused> {
        let (answer, answered) = oneshot::channel();
        match self.0.try_send(Waiting { user, wanted, since: Instant::now(), under_way, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(too_many()),
            Err(TrySendError::Disconnected(_)) => return Err(failed()),
        }
        answered.await.unwrap_or_else(|_| Err(failed()))
    }
}

fn too_many() -> Refused {
    Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "too many probes wait for their answers", Duration::from_secs(5))
}

fn failed() -> Refused {
    Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because("the probe has failed; queuecastd has logged why"))
}

fn answer_all(waiting: &Receiver<Waiting>, standing: &Latest<Standing>) {
    // Of the calling thread, as Linux has it.
    if let Err(error) = setpriority_process(None, LOWEST_PRIORITY) {
        tracing::warn!(%error, "probes are as urgent as all else: their priority can't be lowered");
    }
    for Waiting { user, wanted, since, under_way, answer } in waiting {
        if answer.is_closed() {
            // The caller has hung up.
            continue;
        }
        let outcome = if since.elapsed() > PATIENCE {
            Err(too_many())
        } else {
            let standing = standing.lock().clone();
            // A panic costs this probe, not the daemon.
            catch_unwind(AssertUnwindSafe(|| answer_to(standing.as_deref(), user, wanted, UnixTime(now())))).unwrap_or_else(|_panic| {
                tracing::error!("a probe has panicked: it is not answered");
                Err(failed())
            })
        };
        drop(under_way);
        // Whoever has hung up misses the answer.
        let _ = answer.send(outcome);
    }
}

/// Answers a probe from the plan that stands.
fn answer_to(standing: Option<&Standing>, user: UserId, mut wanted: Probe, now: UnixTime) -> Result<Answer, Refused> {
    let no_plan =
        || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "there is no plan of the queue at the moment", Duration::from_secs(30));
    let standing = standing.filter(|standing| !standing.is_outdated(now)).ok_or_else(no_plan)?;
    let state = &standing.question.state;
    let (place, partition) = partition(&standing.question.partitions, wanted.partition.as_deref())?;
    let limit = limit(partition, wanted.limit())?;
    let most_nodes = partition.nodes.min(partition.most_nodes.unwrap_or(u32::MAX));
    if wanted.nodes > most_nodes {
        return Err(wrong("nodes", format!("at most {most_nodes} in partition {}", partition.name)));
    }
    let window = Window { earliest: wanted.earliest(), latest: wanted.latest() };
    let needs = WindowNeeds { duration: limit, notice: None, ahead: FARTHEST_AHEAD };
    let mut window = window.open(&needs, now).map_err(|refused| {
        let key = if matches!(refused.fault, WindowFault::TooFar { .. }) { "earliest" } else { "latest" };
        wrong(key, refused.to_string())
    })?;
    let applicant = Named::of(user, &wanted, standing)?;
    let policy = first_that_holds(&standing.policies, &applicant.on(&partition.name));
    let request = FirmRequest { nodes: wanted.nodes, duration: limit, window, notice: None };
    let offered = firm_window(policy, &request, &partition.standing(), now);
    window = *offered.as_ref().unwrap_or(&window);
    let probing = policy.map_or_else(Slots::default, |policy| Slots { slots: policy.slots as usize, gap: policy.gap });
    let asked = nodes_wanted(place, &wanted, limit, window, state.now);
    let Found { mut slots, ordinary_start, .. } = probe(state, &asked, probing, WhatIf::default());
    let judge = |slot: &SlotInQueue| -> Result<(), String> {
        if let Some(conflict) = slot.conflict {
            return Err(in_words(conflict));
        }
        let policy = policy.ok_or(FirmRefusal::NotOffered).map_err(|refusal| refusal.to_string())?;
        offered.map_err(|refusal| refusal.to_string())?;
        let rated = rated(slot, wanted.nodes);
        check_slot(policy, &rated, partition.nodes, now).map_err(|refusal| refusal.to_string())
    };
    let answered: Vec<Slot> = slots.iter().map(|slot| self::slot(slot, wanted.nodes, judge(slot))).collect();
    let best_of_all = best(&slots, asked.preference);
    for (slot, _) in slots.iter_mut().zip(&answered).filter(|(_, answered)| !answered.allowed) {
        slot.availability = 0.0;
    }
    let mut notes = Vec::new();
    if let Err(obstacle) = ordinary_start {
        notes.push(format!("when the job would start that waits as any other is not known: {obstacle}"));
    }
    if standing.question.has_recurring_reservations {
        notes.push("of reservations that recur the next occurrence alone is known: slots behind it may not be to be had".to_owned());
    }
    (wanted.partition, wanted.limit_s) = (Some(partition.name.to_string()), Some(limit.0));
    (wanted.account, wanted.qos) = (applicant.account, applicant.qos);
    Ok(Answer {
        generation: standing.generation,
        planned_at: state.now.0,
        request: wanted,
        ordinary_start: ordinary_start.ok().map(|start| OrdinaryStart {
            lower: start.lower.0,
            expected: start.expected.0,
            upper: start.upper.0,
        }),
        best: best(&slots, asked.preference).or(best_of_all),
        slots: answered,
        notes,
    })
}

fn wrong(key: &str, allowed: String) -> Refused {
    Refused(StatusCode::BAD_REQUEST, Refusal::of_key(key, allowed))
}

/// The partition of that name, or the default one, with its place.
fn partition<'a>(partitions: &'a [AskedPartition], name: Option<&str>) -> Result<(u16, &'a AskedPartition), Refused> {
    let is_named = |partition: &AskedPartition| name.map_or(partition.is_default, |name| &*partition.name == name);
    let (place, found) = (0u16..).zip(partitions).find(|(_, partition)| is_named(partition)).ok_or_else(|| {
        let names: Vec<&str> = partitions.iter().map(|partition| &*partition.name).take(MOST_NAMES).collect();
        let more = partitions.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        wrong("partition", format!("one of {}{more}", names.join(", ")))
    })?;
    if found.is_up { Ok((place, found)) } else { Err(wrong("partition", format!("one that starts jobs, which {} does not", found.name))) }
}

/// The time limit that holds for a job in a partition.
fn limit(partition: &AskedPartition, asked: Option<Seconds>) -> Result<Seconds, Refused> {
    match asked.or(partition.default_limit).or(partition.longest_limit) {
        None => Err(wrong("limit_s", "a time limit is needed: the partition has none of its own".to_owned())),
        Some(limit) => match partition.longest_limit {
            Some(longest) if limit > longest => {
                Err(wrong("limit_s", format!("at most {} s ({longest}), the partition's longest time limit", longest.0)))
            }
            _ => Ok(limit),
        },
    }
}

impl AskedPartition {
    /// What stands there when a slot is asked for.
    fn standing(&self) -> FirmStanding {
        FirmStanding {
            of_user: 0,
            of_account: 0,
            of_site: 0,
            charged_node_seconds: 0,
            partition_nodes: self.nodes,
            partition_longest: self.longest_limit,
        }
    }
}

/// The reservation that is looked for, and the job that would wait without it.
fn nodes_wanted(partition: u16, wanted: &Probe, limit: Seconds, window: Window, now: UnixTime) -> NodesWanted {
    let job = PendingJob {
        id: JobId(u32::MAX),
        partitions: vec![partition],
        asks: Size { nodes: wanted.nodes, cpus: wanted.cpus.unwrap_or(wanted.nodes) }.into(),
        tasks: 1,
        whole_nodes: wanted.cpus.is_none(),
        eligible: now,
        limit: Some(limit),
        run_time: RunTimes::of_limit(Some(limit)),
        ..PendingJob::default()
    };
    NodesWanted {
        partition,
        nodes: wanted.nodes,
        duration: limit + LONGER_THAN_LIMIT,
        earliest_start: window.earliest,
        latest_end: window.latest + LONGER_THAN_LIMIT,
        preference: preference(wanted.prefer),
        job,
    }
}

fn preference(preferred: Preferred) -> Preference {
    match preferred {
        Preferred::Earliest => Preference::Earliest,
        Preferred::Latest => Preference::Latest,
        Preferred::Nearest(to) => Preference::Nearest(UnixTime(to)),
    }
}

fn in_words(conflict: SlotConflict) -> String {
    match conflict {
        SlotConflict::Nodes { free } => {
            let nodes = if free == 1 { "node is" } else { "nodes are" };
            format!("{free} {nodes} free: jobs may run until their time limits, and reservations are kept")
        }
        SlotConflict::Head => "the job at the head of the queue would start later for it".to_owned(),
    }
}

/// The slot as the site's policy judges it.
fn rated(slot: &SlotInQueue, nodes: u32) -> RatedSlot {
    let harm = slot.harm.unwrap_or_default();
    RatedSlot {
        start: slot.slot.start,
        nodes,
        availability: slot.availability,
        delayed_jobs: u32::try_from(harm.delayed_jobs).unwrap_or(u32::MAX),
        most_delay: harm.most_delay,
        reserved_nodes: 0,
    }
}

fn slot(found: &SlotInQueue, nodes: u32, judged: Result<(), String>) -> Slot {
    Slot {
        start: found.slot.start.0,
        end: (found.slot.end - LONGER_THAN_LIMIT).0,
        availability: found.availability,
        delayed_jobs: found.harm.map(|harm| harm.delayed_jobs),
        total_delay_s: found.harm.map(|harm| harm.total_delay.0),
        most_delay_s: found.harm.map(|harm| harm.most_delay.0),
        idle_node_s: found.harm.map(|harm| harm.idle_node_seconds),
        charged_node_s: found.slot.duration().0.saturating_mul(nodes.into()),
        allowed: judged.is_ok(),
        why_not: judged.err(),
    }
}
