//! The thread that answers probes and ranks the windows of firm slots, one after the other, with
//! what processors have left over: a plan that is to be published comes first. What is told and
//! what is reserved is the same ranking.

use std::borrow::Cow;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use daemon_api::{Answer, FirmSlot, OrdinaryStart, Preferred, Probe, Refusal, Reserve, Slot};
use job_types::firm::{FirmPolicy, first_that_holds};
use job_types::number::{JobId, UserId};
use job_types::size::Size;
use job_types::slot::LONGER_THAN_LIMIT;
use job_types::time::{Seconds, UnixTime};
use job_types::window::{FARTHEST_AHEAD, Window, WindowFault, WindowNeeds};
use predictor_core::decisions::firm::{FirmRefusal, FirmRequest, RatedSlot, check_slot, firm_window};
use queue_plan::placement::in_queue::{Found, NodesWanted, SlotConflict, SlotInQueue, best, harm_of_granted, probe};
use queue_plan::placement::{Preference, Probing as Slots, WhatIf};
use queue_plan::{PendingJob, RunTimes, State};
use tokio::sync::oneshot;

use super::active::{firm_standing, reserved_nodes};
use super::applicant::Named;
use super::background::lower_priority;
use super::callers::UnderWay;
use super::refused::{Refused, one_of};
use super::{Latest, Standing};
use crate::clock::now;
use crate::plan::{AskedPartition, Question};

/// How long before a slot its nodes have to be free in the plan, so that a job which could just end
/// before it still starts: as long as a snapshot and a pass of backfill may take, each 30 s unless
/// the site has it otherwise.
const LEAD: Seconds = Seconds(60);
/// How many probes may wait, of all users.
const MOST_WAITING: usize = 16;
/// How long a probe may have waited before it is begun.
const PATIENCE: Duration = Duration::from_secs(20);

/// A probe that waits for its answer.
struct Waiting {
    user: UserId,
    wanted: Probe,
    since: Instant,
    /// Held until the answer is given, whoever still waits for it.
    under_way: UnderWay,
    answer: oneshot::Sender<Result<Answer, Refused>>,
}

/// What there is already of a slot that is ranked: it stands in its own way nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Own<'a> {
    /// Its number.
    pub(crate) id: Option<u64>,
    /// The name of its reservation.
    pub(crate) reservation: Option<&'a str>,
    /// When that begins.
    pub(crate) start: Option<UnixTime>,
    /// The job that it is for.
    pub(crate) job: Option<JobId>,
}

/// The slots of a window as they are ranked for a firm slot.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// As a probe is answered.
    pub(crate) answer: Answer,
    /// How long before its start the slot moves no more.
    pub(crate) notice: Seconds,
    /// After how long it is given back that nobody uses.
    pub(crate) idle: Seconds,
    /// The nearest window in which one could be had, where the window is what is wrong.
    pub(crate) nearest: Option<String>,
    /// By how much all jobs together are delayed by the reservation that there is already; `None`
    /// where there is none, or jobs that run or other reservations are in its way.
    pub(crate) present_delay: Option<Seconds>,
}

/// What the thread is asked.
enum Work {
    Probe(Waiting),
    Rank(Rank),
}

/// Ranks a window by the plan that stands, with all that it holds, and sends the answer.
type Rank = Box<dyn FnOnce(Option<&Standing>) + Send>;

/// The asking end of the thread.
#[derive(Debug, Clone)]
pub(crate) struct Prober {
    work: Sender<Work>,
    slots: Latest<Vec<FirmSlot>>,
}

impl Prober {
    /// Starts the thread, which lives as long as the process. `slots` are the firm slots that there
    /// are.
    ///
    /// # Errors
    /// The thread can't be started.
    pub(super) fn start(standing: Latest<Standing>, slots: Latest<Vec<FirmSlot>>) -> io::Result<Self> {
        let (work, received) = bounded(MOST_WAITING);
        let of_thread = Arc::clone(&slots);
        std::thread::Builder::new().name("probes".to_owned()).spawn(move || work_on(&received, &standing, &of_thread))?;
        Ok(Self { work, slots })
    }

    /// Waits for the answer to a probe.
    pub(super) async fn ask(&self, user: UserId, wanted: Probe, under_way: UnderWay) -> Result<Answer, Refused> {
        let (answer, answered) = oneshot::channel();
        match self.work.try_send(Work::Probe(Waiting { user, wanted, since: Instant::now(), under_way, answer })) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(too_many()),
            Err(TrySendError::Disconnected(_)) => return Err(failed()),
        }
        answered.await.unwrap_or_else(|_| Err(failed()))
    }

    /// Ranks the window of a firm slot, and waits for that.
    ///
    /// # Errors
    /// As a probe that is refused.
    pub(crate) fn rank(&self, user: UserId, wanted: Reserve, own: Own<'_>) -> Result<Ranked, Refused> {
        let (answer, answered) = bounded(1);
        let (id, start, job) = (own.id, own.start, own.job);
        let (reservation, slots) = (own.reservation.map(str::to_owned), self.slots.lock().clone());
        let rank = move |standing: Option<&Standing>| {
            let own = Own { id, reservation: reservation.as_deref(), start, job };
            let outcome = guarded(|| ranked(standing, slots.as_deref().map_or(&[], Vec::as_slice), user, wanted, own, UnixTime(now())));
            // Whoever has given up waiting asks again.
            let _ = answer.send(outcome);
        };
        if self.work.send_timeout(Work::Rank(Box::new(rank)), PATIENCE).is_err() {
            return Err(too_many());
        }
        answered.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(too_many()))
    }
}

fn too_many() -> Refused {
    Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "too many probes wait for their answers", Duration::from_secs(5))
}

fn failed() -> Refused {
    Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because("the probe has failed; queuecastd has logged why"))
}

/// A panic costs what is asked, not the daemon.
fn guarded<A>(answer: impl FnOnce() -> Result<A, Refused>) -> Result<A, Refused> {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_panic| {
        tracing::error!("a probe has panicked: it is not answered");
        Err(failed())
    })
}

fn work_on(work: &Receiver<Work>, standing: &Latest<Standing>, slots: &Latest<Vec<FirmSlot>>) {
    lower_priority();
    for work in work {
        let present = standing.lock().clone();
        match work {
            Work::Rank(rank) => rank(present.as_deref()),
            // The caller has hung up.
            Work::Probe(Waiting { answer, .. }) if answer.is_closed() => {}
            Work::Probe(Waiting { user, wanted, since, under_way, answer }) => {
                let outcome = if since.elapsed() > PATIENCE {
                    Err(too_many())
                } else {
                    let slots = slots.lock().clone();
                    let slots = slots.as_deref().map_or(&[][..], Vec::as_slice);
                    let wanted = Reserve { probe: wanted, notice_s: None, together: None };
                    guarded(|| ranked(present.as_deref(), slots, user, wanted, Own::default(), UnixTime(now()))).map(|ranked| ranked.answer)
                };
                drop(under_way);
                // Whoever has hung up misses the answer.
                let _ = answer.send(outcome);
            }
        }
    }
}

/// Ranks a window by the plan that stands.
fn ranked(
    standing: Option<&Standing>,
    firm_slots: &[FirmSlot],
    user: UserId,
    wanted: Reserve,
    own: Own<'_>,
    now: UnixTime,
) -> Result<Ranked, Refused> {
    let no_plan =
        || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "there is no plan of the queue at the moment", Duration::from_secs(30));
    let (notice, mut wanted) = (wanted.notice(), wanted.probe);
    let standing = standing.filter(|standing| !standing.is_outdated(now)).ok_or_else(no_plan)?;
    let state = &*without(&standing.question, own);
    let (place, partition) = partition(&standing.question.partitions, wanted.partition.as_deref())?;
    let limit = limit(partition, wanted.limit())?;
    let most_nodes = partition.nodes.min(partition.most_nodes.unwrap_or(u32::MAX));
    if wanted.nodes > most_nodes {
        return Err(Refused::wrong("nodes", format!("at most {most_nodes} in partition {}", partition.name)));
    }
    let window = Window { earliest: wanted.earliest(), latest: wanted.latest() };
    let needs = WindowNeeds { duration: limit, notice, ahead: FARTHEST_AHEAD };
    let mut window = window.open(&needs, now).map_err(|refused| {
        let key = if matches!(refused.fault, WindowFault::TooFar { .. }) { "earliest" } else { "latest" };
        Refused::wrong(key, refused.to_string())
    })?;
    let applicant = Named::of(user, &wanted, &partition.name, standing)?;
    let policy = first_that_holds(&standing.policies, &applicant.on(&partition.name));
    let request = FirmRequest { nodes: wanted.nodes, duration: limit, window, notice };
    let stands = firm_standing(firm_slots, own.id, user, applicant.account.as_deref(), partition, now);
    let offered = firm_window(policy, &request, &stands, now);
    window = *offered.as_ref().unwrap_or(&window);
    let probing = policy.map_or_else(Slots::default, |policy| Slots { slots: policy.slots as usize, gap: policy.gap });
    let asked = nodes_wanted(place, &wanted, limit, window, state.now);
    let Found { mut slots, ordinary_start, .. } = probe(state, &asked, probing, WhatIf::default());
    let judge = |slot: &SlotInQueue| -> Result<(), String> {
        if let Some(conflict) = slot.conflict {
            return Err(in_words(conflict));
        }
        let policy = policy.ok_or(FirmRefusal::NotOffered).map_err(|refusal| refusal.to_string())?;
        offered.as_ref().map_err(|refusal| refusal.to_string())?;
        let reserved = reserved_nodes(firm_slots, own.id, &partition.name, slot.slot);
        check_slot(policy, &rated(slot, wanted.nodes, reserved), partition.nodes, now).map_err(|refusal| refusal.to_string())
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
    let present_delay = own.start.and_then(|start| harm_of_granted(state, &asked, start)).map(|harm| harm.total_delay);
    (wanted.partition, wanted.limit_s) = (Some(partition.name.to_string()), Some(limit.0));
    (wanted.account, wanted.qos) = (applicant.account, applicant.qos);
    let defaults = FirmPolicy::default();
    let policy = policy.unwrap_or(&defaults);
    let answer = Answer {
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
    };
    let nearest = offered.err().and_then(|refusal| Some(refusal.nearest()?.to_string()));
    Ok(Ranked { answer, notice: policy.notice_of(notice), idle: policy.idle, nearest, present_delay })
}

/// The state of a plan, without what there is of a slot already.
fn without<'a>(question: &'a Question, own: Own<'_>) -> Cow<'a, State> {
    let place = own.reservation.and_then(|name| question.reservation_names.iter().position(|other| other == name));
    if place.is_none() && own.job.is_none() {
        return Cow::Borrowed(&question.state);
    }
    let mut state = question.state.clone();
    // It stays in its place, because jobs name reservations by these.
    if let Some(reservation) = place.and_then(|place| state.reservations.get_mut(place)) {
        reservation.nodes.clear();
    }
    state.pending.retain(|job| Some(job.id) != own.job);
    Cow::Owned(state)
}

/// The partition of that name, or the default one, with its place.
fn partition<'a>(partitions: &'a [AskedPartition], name: Option<&str>) -> Result<(u16, &'a AskedPartition), Refused> {
    let is_named = |partition: &AskedPartition| name.map_or(partition.is_default, |name| &*partition.name == name);
    let (place, found) = (0u16..).zip(partitions).find(|(_, partition)| is_named(partition)).ok_or_else(|| {
        let names: Vec<&str> = partitions.iter().map(|partition| &*partition.name).collect();
        Refused::wrong("partition", one_of(&names))
    })?;
    if found.is_up {
        Ok((place, found))
    } else {
        Err(Refused::wrong("partition", format!("one that starts jobs, which {} does not", found.name)))
    }
}

/// The time limit that holds for a job in a partition.
fn limit(partition: &AskedPartition, asked: Option<Seconds>) -> Result<Seconds, Refused> {
    match asked.or(partition.default_limit).or(partition.longest_limit) {
        None => Err(Refused::wrong("limit_s", "a time limit is needed: the partition has none of its own".to_owned())),
        Some(limit) => match partition.longest_limit {
            Some(longest) if limit > longest => {
                Err(Refused::wrong("limit_s", format!("at most {} s ({longest}), the partition's longest time limit", longest.0)))
            }
            _ => Ok(limit),
        },
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
        lead: LEAD,
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
fn rated(slot: &SlotInQueue, nodes: u32, reserved_nodes: u32) -> RatedSlot {
    let harm = slot.harm.unwrap_or_default();
    RatedSlot {
        start: slot.slot.start,
        nodes,
        availability: slot.availability,
        delayed_jobs: u32::try_from(harm.delayed_jobs).unwrap_or(u32::MAX),
        most_delay: harm.most_delay,
        reserved_nodes,
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
