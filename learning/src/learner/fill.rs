//! The first refresh: the whole past in one sweep.
//!
//! Training as often as the past would have done takes too long. The forests are trained on what
//! had started before the last [`REPLAYED`] jobs that wait no more, and these are gone through as
//! if they came now, with a training every so often, so that weights, bounds and scores rest on
//! forecasts that did not know what followed. Jobs that still wait tell little yet of how long, so
//! that a long queue does not take their place.

use super::record::Record;
use super::run::is_sound;
use super::{Learner, NamedJob, Refreshed, Run, RunId};
use crate::sweep::{EventKind, PUBLISHED_FOR, events, rounds};
use job_types::job::Job;
use job_types::time::{Seconds, UnixTime};
use std::collections::{HashMap, HashSet};

/// Jobs that wait no more and are gone through as if they came now: enough for weights and bounds
/// to rest on, until there are more.
pub const REPLAYED: usize = 8_000;

/// Starts between two trainings meanwhile, at the most. A short past is trained on whenever it has
/// grown by half.
const LONGEST_INTERVAL: usize = 4_000;

/// How many jobs of the past, the latest, are forecast a run time as they arrive, so that the
/// levels of these forecasts are corrected by what they came to. More would count for little: the
/// levels forget them.
const MOST_HELD: usize = 6_000;

/// Ended runs that slurmctld may still show, or slurmdbd tell again.
const REMEMBERED: Seconds = Seconds(86_400);

impl Learner {
    pub(super) fn fill<'a>(
        &mut self,
        mut records: Vec<Record>,
        live: impl IntoIterator<Item = Run<NamedJob<'a>>>,
        now: UnixTime,
    ) -> Refreshed {
        let live = self.live_records(live, now);
        let live_ids: HashSet<RunId> = live.iter().map(Record::id).collect();
        // What ended between the two readings is told by both.
        let ended_ids: HashSet<RunId> = records.iter().map(Record::id).filter(|id| live_ids.contains(id)).collect();
        records.extend(live.into_iter().filter(|record| !ended_ids.contains(&record.id())));
        for record in records.iter().filter(|record| record.job().end().is_some_and(|end| now - end < REMEMBERED)) {
            self.tracker.finish(record.id());
        }
        records.sort_unstable_by_key(Record::order);

        let events = events(records.iter().map(Record::job));
        // A run that is not settled is replayed if it is among the latest `REPLAYED` records.
        let newest_from = records.len().saturating_sub(REPLAYED);
        let replayed_from = nth_settled_from_the_end(&records, REPLAYED).unwrap_or(0);
        let taught_from = records.len().saturating_sub(self.settings.most_taught);
        let held_from = records.len().saturating_sub(MOST_HELD).max(taught_from);
        let mut progress = Progress::default();
        for round in rounds(&events, PUBLISHED_FOR) {
            let mut published = self.sweep.seen_in(round, |index| records.get(index as usize).map(|record| *record.job().submitted()));
            for event in round {
                let Some(record) = records.get(event.job as usize) else { continue };
                let job = record.job();
                match event.kind {
                    EventKind::Arrival => {
                        let is_settled = is_settled(&job);
                        let is_replayed = event.job as usize >= if is_settled { replayed_from } else { newest_from };
                        if is_replayed && !progress.is_trained && progress.starts >= self.settings.waits.first_training {
                            self.train(&mut progress);
                        }
                        // Rows are numbered in order of arrival, as the records are.
                        let features = published.remove(&event.job);
                        self.arrive(job.submitted(), event.at, features.as_deref(), is_replayed);
                        if event.job as usize >= held_from {
                            self.run_times.fit(usize::MAX);
                            self.run_times.arrived(event.job, job.submitted());
                        }
                    }
                    EventKind::Start => {
                        if record.is_in_slot {
                            self.start_in_slot(event.job, event.at, job.occupied());
                            continue;
                        }
                        self.start(event.job, event.at, job.occupied(), None);
                        progress.starts += 1;
                        progress.since_training += 1;
                        let interval = (progress.starts / 2).clamp(self.settings.waits.first_training, LONGEST_INTERVAL);
                        if progress.is_trained && progress.since_training >= interval {
                            self.train(&mut progress);
                        }
                    }
                    EventKind::End | EventKind::EndAtOnce => {
                        let Job::Ended(job) = job else { continue };
                        self.end(event.job, &job, event.at, record.is_interrupted, None);
                        if record.is_interrupted {
                            self.run_times.left(event.job);
                            continue;
                        }
                        if event.job as usize >= taught_from {
                            self.run_times.ended(event.job, &job);
                        } else {
                            self.run_times.ended_long_ago(&job);
                        }
                    }
                }
            }
        }
        if !progress.is_trained && progress.starts >= self.settings.waits.first_training {
            self.train(&mut progress);
        }
        self.last = events.last().map_or(now, |event| event.at.min(now));
        for (row, record) in (0u32..).zip(&records) {
            let job = record.job();
            if job.end().is_none() {
                self.tracker.resume(record.id(), job, row);
            }
        }
        Refreshed { events: events.len(), ..Refreshed::default() }
    }

    /// One record for each task of what waits and is eligible, and for each run that goes on.
    fn live_records<'a>(&mut self, live: impl IntoIterator<Item = Run<NamedJob<'a>>>, now: UnixTime) -> Vec<Record> {
        let mut records = Vec::new();
        let mut tasks_of: HashMap<RunId, u32> = HashMap::new();
        for run in live {
            let job = self.indexed(&run.job);
            self.hold_to_its_promise(&run, &job);
            let is_eligible = is_settled(&job) || (!run.is_held && job.submitted().eligible <= now);
            if !is_eligible || !is_sound(&job) {
                continue;
            }
            if is_settled(&job) {
                records.push(Record::new(&run, &job));
                continue;
            }
            let before = tasks_of.entry(run.id_while_waiting()).or_default();
            let tasks = run.tasks.min(super::tracker::MOST_TASKS.saturating_sub(*before));
            *before += tasks;
            let waiting = Run { id: run.id_while_waiting(), ..run };
            records.extend((0..tasks).map(|_| Record::new(&waiting, &job)));
        }
        records
    }

    /// Trains on what is known at this point of the past. Without success everything goes on with
    /// the forests before.
    fn train(&mut self, progress: &mut Progress) {
        if let Some(retrained) = self.retraining().and_then(|retraining| retraining.run().ok()) {
            self.adopt(retrained);
            progress.is_trained = true;
            progress.since_training = 0;
        }
    }
}

/// Whether a job waits no more: it has started, or was cancelled.
fn is_settled(job: &Job) -> bool {
    !matches!(job, Job::Waiting(_))
}

/// Index of the record from which on so many wait no more; `None` where there are fewer.
fn nth_settled_from_the_end(records: &[Record], count: usize) -> Option<usize> {
    let settled = records.iter().enumerate().rev().filter(|(_, record)| is_settled(&record.job()));
    settled.map(|(index, _)| index).nth(count.checked_sub(1)?)
}

/// How far the sweep has come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    starts: usize,
    since_training: usize,
    is_trained: bool,
}
