//! Tracks which runs wait and run, and what has happened to them since the last look at the queue.

use super::{RecordedForecast, Run, RunId};
use crate::sweep::EventKind;
use job_types::job::{EndedJob, Job, RunningJob, WaitingJob};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};

/// Tasks of one array that wait at the most, as far as the state of the queue is concerned; the
/// others arrive when they start.
pub(super) const MOST_TASKS: u32 = 10_000;

/// How long a run that neither waits nor runs any more is kept for its record to come.
const LONGEST_MISSING: Seconds = Seconds(900);

/// How many ended runs are remembered at the most.
const MOST_DONE: usize = 400_000;

/// A run that waits or runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    /// The run's row among the arrivals of the learner's sweep, once it has arrived there.
    pub(super) row: Option<u32>,
    pub(super) id: RunId,
    /// The job, with what is known of its start and end.
    pub(super) job: Job,
    pub(super) is_in_slot: bool,
    pub(super) is_interrupted: bool,
    /// The forecast of its wait that the submit filter gave.
    pub(super) recorded_forecast: Option<RecordedForecast>,
    /// The last look at the queue that showed it.
    seen: u64,
    missing_since: Option<UnixTime>,
}

/// An event of a run. Their order is that of [`Event`](crate::sweep::Event)s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunEvent {
    pub(super) at: UnixTime,
    pub(super) kind: EventKind,
    eligible: UnixTime,
    id: RunId,
    /// What the tracker knows the run by.
    pub(super) serial: u64,
}

/// The runs that wait and run, by what they are known by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tracker {
    next: u64,
    look: u64,
    open: HashMap<u64, Open>,
    running: HashMap<RunId, u64>,
    /// The runs that wait, by what tasks of one array share, in order of arrival.
    waiting: HashMap<RunId, VecDeque<u64>>,
    done: HashSet<RunId>,
    done_in_order: VecDeque<RunId>,
    /// The events since the last refresh; empty between two refreshes.
    #[serde(skip)]
    events: Vec<RunEvent>,
}

impl Tracker {
    /// A run of the past that still waits or runs, whose row is known.
    pub(super) fn resume(&mut self, id: RunId, job: Job, row: u32) {
        let serial = self.open(id, job, Some(row));
        if job.start().is_some() {
            self.running.insert(id, serial);
        } else {
            self.waiting.entry(id).or_default().push_back(serial);
        }
    }

    /// A run has ended, and is not to be taken again.
    pub(super) fn finish(&mut self, id: RunId) {
        if self.done.insert(id) {
            self.done_in_order.push_back(id);
        }
        if self.done_in_order.len() > MOST_DONE
            && let Some(oldest) = self.done_in_order.pop_front()
        {
            self.done.remove(&oldest);
        }
    }

    /// How many runs wait or run.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn get_mut(&mut self, serial: u64) -> Option<&mut Open> {
        self.open.get_mut(&serial)
    }

    pub(super) fn remove(&mut self, serial: u64) -> Option<Open> {
        self.open.remove(&serial)
    }

    /// The events since the last call, in order of time.
    pub(super) fn take_events(&mut self) -> Vec<RunEvent> {
        self.events.sort_unstable();
        std::mem::take(&mut self.events)
    }

    /// A run that has ended.
    pub(super) fn ended(&mut self, run: &Run<EndedJob>) {
        let job = &run.job;
        if self.done.contains(&run.id) {
            return;
        }
        self.finish(run.id);
        let running = self.running.remove(&run.id);
        let was_running = running.is_some();
        if job.start.is_none() && run.array == Some(run.id.job) {
            self.cancelled_together(run);
        }
        let serial = running
            .or_else(|| self.claim(run.id_while_waiting(), job.submitted.eligible))
            .unwrap_or_else(|| self.arrival(run.id, job.submitted));
        let Some(open) = self.open.get_mut(&serial) else { return };
        let start = open.job.start().filter(|_| was_running).or(job.start);
        // What it asked for is what was seen while it waited: slurmctld may tell it otherwise
        // later.
        let allocated = job.allocated.or(open.job.allocated());
        let submitted = *open.job.submitted();
        open.job = Job::Ended(EndedJob { submitted, allocated, start, ..*job });
        open.is_interrupted = run.is_interrupted;
        open.is_in_slot |= run.is_in_slot;
        open.recorded_forecast = run.recorded_forecast.or(open.recorded_forecast);
        let begin = start.unwrap_or(submitted.eligible).max(submitted.eligible);
        if !was_running && start.is_some() {
            self.push_event(begin, EventKind::Start, serial);
        }
        let end = job.end.max(begin);
        self.push_event(end, if end == begin { EventKind::EndAtOnce } else { EventKind::End }, serial);
    }

    /// What still waits of an array has one record, so that its tasks are cancelled together by it;
    /// all but one, which the record itself is then told of.
    fn cancelled_together(&mut self, run: &Run<EndedJob>) {
        let others = self.waiting.get_mut(&run.id_while_waiting()).map(|rows| rows.split_off(rows.len().min(1))).unwrap_or_default();
        for serial in others {
            let Some(open) = self.open.get_mut(&serial) else { continue };
            open.recorded_forecast = run.recorded_forecast;
            open.job = open.job.ended(run.job.end, Seconds::ZERO);
            let eligible = open.job.submitted().eligible;
            let end = run.job.end.max(eligible);
            let at_once = end == eligible;
            self.push_event(end, if at_once { EventKind::EndAtOnce } else { EventKind::End }, serial);
        }
    }

    /// Begins a look at the queue.
    pub(super) fn begin_look(&mut self) {
        self.look += 1;
    }

    /// A run that has its nodes.
    pub(super) fn runs(&mut self, run: &Run<RunningJob>) {
        if self.done.contains(&run.id) {
            return;
        }
        let look = self.look;
        let serial = match self.running.get(&run.id) {
            Some(serial) => *serial,
            None => {
                let RunningJob { submitted, allocated, start } = run.job;
                let serial = self.claim(run.id_while_waiting(), submitted.eligible).unwrap_or_else(|| self.arrival(run.id, submitted));
                self.running.insert(run.id, serial);
                if let Some(open) = self.open.get_mut(&serial) {
                    open.id = run.id;
                    (open.recorded_forecast, open.is_in_slot) = (run.recorded_forecast, run.is_in_slot);
                    open.job = open.job.started(start, allocated);
                    let begin = start.max(submitted.eligible);
                    self.push_event(begin, EventKind::Start, serial);
                }
                serial
            }
        };
        if let Some(open) = self.open.get_mut(&serial) {
            (open.seen, open.missing_since) = (look, None);
        }
    }

    /// Records `count` identical eligible waiting runs; 0 means that they wait for something other
    /// than resources and priority.
    pub(super) fn waits(&mut self, id: RunId, job: WaitingJob, count: u32, now: UnixTime) {
        // The queue may have been read before the record of its end.
        if self.done.contains(&id) {
            return;
        }
        let mut rows = self.waiting.remove(&id).unwrap_or_default();
        // Held, released or put off since it was last seen: the earlier arrival comes to nothing.
        let eligible = if count > 0 { Some(job.eligible) } else { None };
        rows.retain(|serial| {
            let stays = self.open.get(serial).is_some_and(|open| Some(open.job.submitted().eligible) == eligible);
            if !stays {
                self.withdraw(*serial, now);
            }
            stays
        });
        let count = count.min(MOST_TASKS) as usize;
        while rows.len() < count {
            rows.push_back(self.arrival(id, job));
        }
        // The first have most likely started, and their records are still to come.
        let missing = rows.len() - count;
        for serial in rows.iter().skip(missing) {
            if let Some(open) = self.open.get_mut(serial) {
                (open.seen, open.missing_since) = (self.look, None);
            }
        }
        if !rows.is_empty() {
            self.waiting.insert(id, rows);
        }
    }

    /// Ends a look at the queue: what it did not show has ended, and its record is waited for; but
    /// not for ever.
    pub(super) fn end_look(&mut self, now: UnixTime) {
        let look = self.look;
        let mut lost = HashSet::new();
        for (serial, open) in &mut self.open {
            // What has ended but was not told yet is not in the maps any more.
            if open.seen == look || open.job.end().is_some() {
                continue;
            }
            let since = *open.missing_since.get_or_insert(now);
            if now - since > LONGEST_MISSING {
                lost.insert(*serial);
            }
        }
        if lost.is_empty() {
            return;
        }
        self.running.retain(|_, serial| !lost.contains(serial));
        self.waiting.retain(|_, rows| {
            rows.retain(|serial| !lost.contains(serial));
            !rows.is_empty()
        });
        for serial in lost {
            self.withdraw(serial, now);
        }
    }

    /// The run comes to nothing that could be learnt from.
    fn withdraw(&mut self, serial: u64, now: UnixTime) {
        if let Some(open) = self.open.get_mut(&serial) {
            open.is_interrupted = true;
            open.job = open.job.ended(now, Seconds::ZERO);
            self.push_event(now, EventKind::End, serial);
        }
    }

    /// The first run that waits under this id and became eligible then.
    fn claim(&mut self, id: RunId, eligible: UnixTime) -> Option<u64> {
        let rows = self.waiting.get_mut(&id)?;
        let place = rows.iter().position(|serial| self.open.get(serial).is_some_and(|open| open.job.submitted().eligible == eligible))?;
        let serial = rows.remove(place);
        if rows.is_empty() {
            self.waiting.remove(&id);
        }
        serial
    }

    fn arrival(&mut self, id: RunId, job: WaitingJob) -> u64 {
        let serial = self.open(id, Job::Waiting(job), None);
        self.push_event(job.eligible, EventKind::Arrival, serial);
        serial
    }

    fn open(&mut self, id: RunId, job: Job, row: Option<u32>) -> u64 {
        let serial = self.next;
        self.next += 1;
        self.open.insert(
            serial,
            Open { row, id, job, is_in_slot: false, is_interrupted: false, recorded_forecast: None, seen: self.look, missing_since: None },
        );
        serial
    }

    fn push_event(&mut self, at: UnixTime, kind: EventKind, serial: u64) {
        if let Some(open) = self.open.get(&serial) {
            self.events.push(RunEvent { at, kind, eligible: open.job.submitted().eligible, id: open.id, serial });
        }
    }
}
