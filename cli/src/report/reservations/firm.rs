//! What became of firm slots: those of jobs by their records, and by slurmdbd's records of
//! reservations how long nodes stood idle for all of them.

use std::collections::BTreeMap;

use job_types::number::JobId;
use job_types::promise::SlotAsked;
use job_types::record::Record;
use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};
use serde::Serialize;
use slurm_sys::client::controller::QueuedJob;
use slurm_sys::client::{EndedJobRecord, JobState, RecordedReservation};
use upkeep::ObservedSlots;

use crate::report::class::rounded;

/// How long after the end of a reservation slurmdbd says for certain how long it was idle: it adds
/// to that once an hour.
const ROLLED_UP_AFTER: Seconds = Seconds(2 * 3_600);

/// How many firm slots jobs asked for, by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct FirmSlots {
    /// Those that were asked for where the mode makes some.
    pub(super) slots: u64,
    /// The job started in its slot, inside its window.
    pub(super) kept: u64,
    /// Of all: those that were moved or replaced at least once.
    pub(super) moved: u64,
    /// The job started before it needed its slot.
    pub(super) early: u64,
    pub(super) returned: u64,
    pub(super) refused: u64,
    pub(super) lost: u64,
    pub(super) cancelled: u64,
    /// It is not known yet.
    pub(super) open: u64,
    /// Those that were asked for in a mode that makes none.
    pub(super) observed: u64,
    /// Of these: those for which a slot was to be had; `None` where the daemon's file is not known.
    pub(super) would_reserve: Option<u64>,
    /// Of these: those for which there was none, likewise.
    pub(super) would_refuse: Option<u64>,
}

/// What slurmdbd has of the reservations of firm slots, those without jobs among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct FirmReservations {
    /// How many have begun, and ended long enough ago.
    pub(super) reservations: u64,
    /// How many of them nobody used.
    pub(super) unused: u64,
    pub(super) node_hours: f64,
    /// For how much of these the nodes stood idle.
    pub(super) idle_node_hours: f64,
}

/// What is known of the slot of one job.
#[derive(Debug, Clone, PartialEq)]
struct JobSlot {
    is_observed: bool,
    /// How many changes the record has that was read last.
    changes: u32,
    state: SlotState,
    moved: u32,
    has_started: bool,
    has_ended: bool,
}

impl JobSlot {
    /// What became of it. A record is written no more once its job has ended, so that what it says
    /// last is how the slot stood when the job started, or was cancelled.
    fn outcome(&self) -> SlotState {
        match self.state {
            SlotState::Running | SlotState::Used => SlotState::Used,
            SlotState::Attached if self.has_started => SlotState::Used,
            SlotState::Asked | SlotState::Movable | SlotState::Fixed if self.has_started => SlotState::Early,
            state if !state.is_over() && self.has_ended => SlotState::Cancelled,
            state => state,
        }
    }
}

/// The slots that were found, one for each job and decision: a requeued job has several runs.
#[derive(Debug, Default)]
pub(super) struct ReportedSlots(BTreeMap<(JobId, UnixTime), JobSlot>);

impl ReportedSlots {
    /// Takes a run of a job into account that has ended, if it asked for a slot.
    pub(super) fn add_ended(&mut self, run: &EndedJobRecord<'_>) {
        self.add(run.job_id, run.admin_comment.as_deref(), run.started.is_some(), true);
    }

    /// Takes the run of a job of the queue into account, if it asked for a slot.
    pub(super) fn add_queued(&mut self, job: &QueuedJob) {
        let has_ended = job.ended.is_some() && !matches!(job.state, JobState::Pending | JobState::Requeued);
        self.add(job.job_id, job.admin_comment.as_deref(), job.started.is_some(), has_ended);
    }

    fn add(&mut self, job: JobId, comment: Option<&str>, has_started: bool, has_ended: bool) {
        let Some(record) = comment.filter(|comment| SlotAsked::may_be_in(comment)).and_then(Record::parse) else { return };
        if SlotAsked::decided(&record).is_none() {
            return;
        }
        let is_observed = SlotAsked::of(&record).is_none();
        let at = record.at;
        let (changes, told) = record.changed.map_or((0, None), |changed| (changed.count, changed.slot));
        let (state, moved) = told.map_or((SlotState::Asked, 0), |told| (told.state, told.moved));
        let found = JobSlot { is_observed, changes, state, moved, has_started, has_ended };
        let known = self.0.entry((job, at)).or_insert_with(|| found.clone());
        if found.changes > known.changes {
            *known = found;
        } else if found.changes == known.changes {
            known.has_started |= has_started;
            // A run that was requeued has ended, and its job has not.
            known.has_ended &= has_ended;
        }
    }

    /// How many there are, by what became of them, or would have become of them.
    pub(super) fn counted(&self, observed: Option<&ObservedSlots>) -> FirmSlots {
        let mut counted = FirmSlots { would_reserve: observed.map(|_| 0), would_refuse: observed.map(|_| 0), ..FirmSlots::default() };
        for ((job, decided_at), slot) in &self.0 {
            if slot.is_observed {
                counted.observed += 1;
                if let Some(found) = observed.and_then(|observed| observed.find(*job, *decided_at)) {
                    let place = if found.start.is_some() { &mut counted.would_reserve } else { &mut counted.would_refuse };
                    *place = place.map(|count| count + 1);
                }
                continue;
            }
            counted.slots += 1;
            counted.moved += u64::from(slot.moved > 0);
            let place = match slot.outcome() {
                SlotState::Used => &mut counted.kept,
                SlotState::Early => &mut counted.early,
                SlotState::Returned => &mut counted.returned,
                SlotState::Refused => &mut counted.refused,
                SlotState::Lost => &mut counted.lost,
                SlotState::Cancelled => &mut counted.cancelled,
                SlotState::Asked | SlotState::Movable | SlotState::Fixed | SlotState::Attached | SlotState::Running => &mut counted.open,
            };
            *place += 1;
        }
        counted
    }
}

impl FirmReservations {
    /// Counts the reservations whose name `is_ours` takes for that of a slot, and that ended inside
    /// a stretch of which slurmdbd says by now how much of it was idle. One that was changed has
    /// several records.
    pub(super) fn counted(records: &[RecordedReservation], since: UnixTime, now: UnixTime, is_ours: impl Fn(&str) -> bool) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&RecordedReservation>> = BTreeMap::new();
        for record in records.iter().filter(|record| is_ours(&record.name)) {
            by_name.entry(&record.name).or_default().push(record);
        }
        let is_told = |of_one: &&Vec<&RecordedReservation>| {
            let end = of_one.iter().map(|record| record.end).max();
            end.is_some_and(|end| end >= since && end <= now - ROLLED_UP_AFTER)
        };
        let node_seconds = |record: &RecordedReservation, time: Seconds| time.0.max(0) as f64 * f64::from(record.nodes);
        let mut counted = Self::default();
        let (mut all, mut idle) = (0.0, 0.0);
        for of_one in by_name.values().filter(is_told) {
            let [of_all, of_idle]: [f64; 2] = [
                of_one.iter().map(|record| node_seconds(record, record.end - record.start)).sum(),
                of_one.iter().map(|record| node_seconds(record, record.unused.min(record.end - record.start))).sum(),
            ];
            counted.reservations += 1;
            counted.unused += u64::from(of_idle >= of_all);
            (all, idle) = (all + of_all, idle + of_idle);
        }
        (counted.node_hours, counted.idle_node_hours) = (rounded(all / 3_600.0), rounded(idle / 3_600.0));
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upkeep::ObservedSlot;

    fn comment(mode: &str, changed: &str) -> String {
        let decided = format!(r#""version":1,"generation":7,"at":10,"mode":"{mode}","asked":{{"nodes":1,"cpus":1}}"#);
        format!(r#"{{"queuecast":{{{decided},"written":{{"window":[50,900]}},"changed":{changed}}}}}"#)
    }

    fn told(count: u32, state: &str, moved: u32) -> String {
        comment("enforce", &format!(r#"{{"count":{count},"at":20,"slot":{{"state":"{state}","moved":{moved}}}}}"#))
    }

    fn counted(runs: &[(u32, String, bool, bool)]) -> FirmSlots {
        let mut slots = ReportedSlots::default();
        for (job, comment, has_started, has_ended) in runs {
            slots.add(JobId(*job), Some(comment), *has_started, *has_ended);
        }
        slots.counted(None)
    }

    #[test]
    fn slots_are_counted_by_what_the_record_says_last_and_whether_the_job_started() {
        let found = counted(&[
            (1, told(4, "running", 2), true, true),
            (2, told(3, "attached", 0), true, true),
            (3, told(3, "attached", 0), false, true),
            (4, told(2, "movable", 1), true, true),
            (5, told(2, "movable", 0), false, true),
            (6, told(2, "fixed", 0), false, false),
            (7, comment("enforce", "null"), false, false),
            (8, told(3, "early", 0), true, false),
            (9, told(1, "refused", 0), true, true),
            (10, told(5, "lost", 3), false, true),
            (11, told(2, "returned", 0), true, true),
            (12, comment("observe", "null"), true, true),
            (13, comment("advise", "null"), false, false),
            (14, r#"{"queuecast":{"version":1}}"#.to_owned(), true, true),
        ]);
        let expected = FirmSlots {
            slots: 11,
            kept: 2,
            moved: 3,
            early: 2,
            returned: 1,
            refused: 1,
            lost: 1,
            cancelled: 2,
            open: 2,
            observed: 2,
            would_reserve: None,
            would_refuse: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn of_those_that_were_only_observed_it_is_told_which_would_have_been_reserved_and_of_no_others() {
        let mut slots = ReportedSlots::default();
        for (job, mode) in [(1, "observe"), (2, "observe"), (3, "advise"), (4, "enforce")] {
            slots.add(JobId(job), Some(&comment(mode, "null")), true, true);
        }
        let mut observed = ObservedSlots::default();
        let found = [(1, 10, Some(60)), (2, 10, None), (3, 9, Some(60)), (4, 10, Some(60)), (5, 10, None)];
        for (job, decided_at, start) in found {
            observed.add(ObservedSlot { job: JobId(job), decided_at: UnixTime(decided_at), start: start.map(UnixTime) });
        }
        let counted = slots.counted(Some(&observed));
        assert_eq!((counted.slots, counted.observed), (1, 3));
        assert_eq!((counted.would_reserve, counted.would_refuse), (Some(1), Some(1)));
    }

    #[test]
    fn a_requeued_job_has_one_slot_whichever_run_is_told_first() {
        let first = (1, told(4, "running", 0), true, true);
        let second = (1, told(6, "lost", 1), true, true);
        for runs in [[first.clone(), second.clone()], [second, first]] {
            assert_eq!(counted(&runs), FirmSlots { slots: 1, moved: 1, lost: 1, ..FirmSlots::default() });
        }
        let waits_again = [(1, told(2, "movable", 0), false, true), (1, told(2, "movable", 0), false, false)];
        assert_eq!(counted(&waits_again), FirmSlots { slots: 1, open: 1, ..FirmSlots::default() });
    }

    #[test]
    fn node_hours_are_those_of_reservations_that_have_begun_and_are_rolled_up() {
        let now = UnixTime(100_000);
        let record = |name: &str, start, end, unused| RecordedReservation {
            name: name.to_owned(),
            nodes: 2,
            start: UnixTime(start),
            end: UnixTime(end),
            unused: Seconds(unused),
        };
        let records = [
            record("queuecast-1", 50_000, 53_600, 600),
            record("queuecast-2", 60_000, 61_800, 1_800),
            record("queuecast-2", 61_800, 63_600, 1_900),
            record("queuecast-3", 90_000, 93_600, 0),
            record("queuecast-4", 1_000, 2_000, 0),
            record("maintenance", 50_000, 53_600, 3_600),
        ];
        let found = FirmReservations::counted(&records, UnixTime(40_000), now, |name| name.starts_with("queuecast"));
        let expected = FirmReservations { reservations: 2, unused: 1, node_hours: 4.0, idle_node_hours: 2.3333 };
        assert_eq!(found, expected);
    }
}
