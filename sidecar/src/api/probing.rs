//! The thread that answers probes, one after the other, with what processors have left over: a plan
//! that is to be published comes first.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use daemon_api::{Answer, OrdinaryStart, Preferred, Probe, Refusal, Slot};
use job_types::number::{JobId, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use queue_plan::placement::in_queue::{Found, NodesWanted, SlotConflict, SlotInQueue, best, probe};
use queue_plan::placement::{Preference, Probing as Slots, WhatIf};
use queue_plan::{PendingJob, RunTimes};
use rustix::process::setpriority_process;
use tokio::sync::oneshot;

use super::callers::Probing;
use super::routes::Refused;
use super::{Latest, Standing};
use crate::clock::now;
use crate::plan::AskedPartition;

/// How many probes may wait, of all users.
const MOST_WAITING: usize = 16;
/// How long a probe may have waited before it is begun.
const PATIENCE: Duration = Duration::from_secs(20);
/// The lowest priority of a thread (nice(2)).
const LOWEST_PRIORITY: i32 = 19;

/// How much longer a reservation is than the time limit of its job: a job starts up to a quarter of
/// a minute late, and Slurm ends what runs in a reservation that ends.
const LONGER_THAN_LIMIT: Seconds = Seconds(120);

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
    // Of the calling thread, as Linux has it. Where it can't be changed, probes are as urgent as
    // all else.
    let _ = setpriority_process(None, LOWEST_PRIORITY);
    for Waiting { user, wanted, since, under_way, answer } in waiting {
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
fn answer_to(standing: Option<&Standing>, _user: UserId, mut wanted: Probe, now: UnixTime) -> Result<Answer, Refused> {
    let no_plan =
        || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "there is no plan of the queue at the moment", Duration::from_secs(30));
    let Standing { generation, question } = standing.ok_or_else(no_plan)?;
    let wrong = |key: &str, allowed: String| Refused(StatusCode::BAD_REQUEST, Refusal::of_key(key, allowed));
    let named = |partition: &AskedPartition| match wanted.partition.as_deref() {
        Some(name) => &*partition.name == name,
        None => partition.is_default,
    };
    let Some((place, partition)) = question.partitions.iter().enumerate().find(|(_, partition)| named(partition)) else {
        let names: Vec<&str> = question.partitions.iter().map(|partition| &*partition.name).take(32).collect();
        return Err(wrong("partition", format!("one of {}", names.join(", "))));
    };
    let Some(limit) = wanted.limit().or(partition.default_limit).or(partition.longest_limit) else {
        return Err(wrong("limit_s", "a time limit is needed: the partition has no default one".to_owned()));
    };
    if partition.longest_limit.is_some_and(|longest| limit > longest) {
        return Err(wrong(
            "limit_s",
            format!("at most {}, the partition's longest time limit", partition.longest_limit.unwrap_or_default().0),
        ));
    }
    let most_nodes = partition.nodes.min(partition.most_nodes.unwrap_or(u32::MAX));
    if wanted.nodes > most_nodes {
        return Err(wrong("nodes", format!("at most {most_nodes} in partition {}", partition.name)));
    }
    let earliest = wanted.earliest().max(now);
    if wanted.latest() - earliest < limit {
        let nearest = earliest + limit;
        return Err(wrong("latest", format!("the window has to be as long as the time limit of {} s: at {} or later", limit.0, nearest.0)));
    }
    (wanted.partition, wanted.limit_s) = (Some(partition.name.to_string()), Some(limit.0));
    let partition_place = u16::try_from(place).map_err(|_| no_plan())?;
    let whole_nodes = wanted.cpus.is_none();
    let job = PendingJob {
        id: JobId(u32::MAX),
        partitions: vec![partition_place],
        asks: Size { nodes: wanted.nodes, cpus: wanted.cpus.unwrap_or(wanted.nodes) }.into(),
        tasks: 1,
        whole_nodes,
        eligible: question.state.now,
        limit: Some(limit),
        run_time: RunTimes::of_limit(Some(limit)),
        ..PendingJob::default()
    };
    let asked = NodesWanted {
        partition: partition_place,
        nodes: wanted.nodes,
        duration: limit + LONGER_THAN_LIMIT,
        earliest_start: earliest,
        latest_end: wanted.latest() + LONGER_THAN_LIMIT,
        preference: preference(wanted.prefer),
        job,
    };
    let Found { mut slots, ordinary_start, .. } = probe(&question.state, &asked, Slots::default(), WhatIf::default());
    let answered: Vec<Slot> = slots.iter().map(|slot| self::slot(slot, wanted.nodes)).collect();
    for (slot, answered) in slots.iter_mut().zip(&answered).filter(|(_, answered)| !answered.allowed) {
        slot.availability = 0.0;
        debug_assert_eq!(slot.slot.start.0, answered.start);
    }
    let mut notes = Vec::new();
    if let Err(obstacle) = ordinary_start {
        notes.push(format!("when the job would start that waits as any other is not known: {}", obstacle));
    }
    Ok(Answer {
        generation: *generation,
        planned_at: question.state.now.0,
        request: wanted,
        ordinary_start: ordinary_start.ok().map(|start| OrdinaryStart {
            lower: start.lower.0,
            expected: start.expected.0,
            upper: start.upper.0,
        }),
        best: best(&slots, asked.preference),
        slots: answered,
        notes,
    })
}

fn preference(preferred: Preferred) -> Preference {
    match preferred {
        Preferred::Earliest => Preference::Earliest,
        Preferred::Latest => Preference::Latest,
        Preferred::Nearest(to) => Preference::Nearest(UnixTime(to)),
    }
}

fn slot(found: &SlotInQueue, nodes: u32) -> Slot {
    let why_not = found.conflict.map(|conflict| match conflict {
        SlotConflict::Nodes { free } => {
            format!("{free} nodes are free of running jobs, until their time limits, and of reservations for all of it")
        }
        SlotConflict::Head => "the job at the head of the queue would start later for it".to_owned(),
    });
    Slot {
        start: found.slot.start.0,
        end: (found.slot.end - LONGER_THAN_LIMIT).0,
        availability: found.availability,
        delayed_jobs: found.harm.map(|harm| harm.delayed_jobs),
        total_delay_s: found.harm.map(|harm| harm.total_delay.0),
        most_delay_s: found.harm.map(|harm| harm.most_delay.0),
        idle_node_s: found.harm.map(|harm| harm.idle_node_seconds),
        charged_node_s: found.slot.duration().0.saturating_mul(nodes.into()),
        allowed: why_not.is_none(),
        why_not,
    }
}
