//! Virtual reservations that were given, held against what became of them.

use super::RunId;
use job_types::number::PartitionIndex;
use job_types::options::{Key, Mode};
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::was_kept;
use predictor_core::levels::{Levels, nearest_knot};
use predictor_core::promise::{PromiseLevels, classes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// How far one outcome moves a level. Reservations are few beside waits, so that it is farther than
/// for these.
const STEP: f64 = 0.02;

/// How long it takes until a correction counts for a third of what it was. Where so much is asked
/// that nothing is given any more, nothing would ever be learnt again.
const FORGOTTEN_AFTER: Seconds = Seconds(60 * 86_400);

/// What became of a virtual reservation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromiseOutcome {
    /// The probability that was wanted, 0 to 1.
    pub wanted: f64,
    /// How far ahead the reserved time was when it was given.
    pub ahead: Seconds,
    /// Whether the job had its nodes by then.
    pub is_kept: bool,
}

impl PromiseOutcome {
    /// The outcome for a job that has ended, by its `admin_comment`; `None` where it had no
    /// reservation, or left the queue before its time without having started.
    #[must_use]
    pub fn read(admin_comment: &str, start: Option<UnixTime>, end: UnixTime) -> Option<PromiseOutcome> {
        let (wanted, given, at) = promised(admin_comment)?;
        PromiseOutcome::of(wanted, given, at, start, end)
    }

    /// The outcome for a job that waits or runs at `now`, by its `admin_comment`; `None` before its
    /// time has passed.
    #[must_use]
    pub fn read_live(admin_comment: &str, start: Option<UnixTime>, now: UnixTime) -> Option<PromiseOutcome> {
        let (wanted, given, at) = promised(admin_comment)?;
        PromiseOutcome::of_live(wanted, given, at, start, now)
    }

    /// The outcome of a reservation that was given at a time for a job that started, or left the
    /// queue, at others.
    #[must_use]
    pub fn of(wanted: f64, given: UnixTime, at: UnixTime, start: Option<UnixTime>, end: UnixTime) -> Option<PromiseOutcome> {
        was_kept(at, start, end).map(|is_kept| PromiseOutcome { wanted, ahead: at - given, is_kept })
    }

    /// The same for a job that waits or runs at `now`. Until its time has passed the outcome counts
    /// as open, although a job that has its nodes will keep its promise: it would be learnt before
    /// the misses of the same time, and promises look better kept than they are.
    #[must_use]
    pub fn of_live(wanted: f64, given: UnixTime, at: UnixTime, start: Option<UnixTime>, now: UnixTime) -> Option<PromiseOutcome> {
        if now > at { PromiseOutcome::of(wanted, given, at, start, now) } else { None }
    }
}

/// What the record of a job with a reservation promises: the probability that was wanted, when it
/// was given, and the reserved time.
fn promised(admin_comment: &str) -> Option<(f64, UnixTime, UnixTime)> {
    // Most records are of other jobs.
    if !admin_comment.contains("\"reserved_at\"") {
        return None;
    }
    let record = Record::parse(admin_comment).filter(|record| record.mode == Mode::Enforce)?;
    let at = UnixTime(record.written?.reserved_at?);
    let variable = Key::SuccessProbability.option().variable;
    let asked = record.asked.options.iter().find(|(name, _)| name == variable).and_then(|(_, value)| value.parse().ok());
    // Who asked for none got the site's, of which the forecast is not less.
    let wanted = asked.or(record.forecast?.reservation_probability)?;
    Some((wanted, record.at, at))
}

/// How the reservations of all partitions were kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Promises {
    levels: BTreeMap<(PartitionIndex, u8), Levels>,
    relaxed_at: UnixTime,
    /// The runs of which the outcome is known and the end is not, and when it became known.
    known: BTreeMap<RunId, UnixTime>,
}

impl Promises {
    /// What became of the promise to a run that waits or runs at `now`; only the first time counts.
    pub(super) fn observe_live(&mut self, run: RunId, partition: PartitionIndex, cpus: u32, outcome: &PromiseOutcome, now: UnixTime) {
        if let Entry::Vacant(entry) = self.known.entry(run) {
            entry.insert(now);
            self.observe(partition, cpus, outcome);
        }
    }

    /// What became of the promise to a run that has ended, or has left the queue.
    pub(super) fn observe_ended(&mut self, run: RunId, partition: PartitionIndex, cpus: u32, outcome: &PromiseOutcome) {
        if self.known.remove(&run).is_none() {
            self.observe(partition, cpus, outcome);
        }
    }

    /// What became of the promise to a job of so many CPUs.
    fn observe(&mut self, partition: PartitionIndex, cpus: u32, outcome: &PromiseOutcome) {
        let PromiseOutcome { wanted, ahead, is_kept } = *outcome;
        let knot = nearest_knot(wanted);
        for class in classes(cpus, ahead) {
            let levels = self.levels.entry((partition, class)).or_default();
            levels.observe(knot, if is_kept { 1.0 } else { 0.0 }, STEP);
            // What is kept more often than it needs to be is not promised more boldly.
            levels.relax(0.0);
        }
    }

    /// Forgets by and by.
    pub(super) fn relax(&mut self, now: UnixTime) {
        let part = (now - self.relaxed_at).0 as f64 / FORGOTTEN_AFTER.0 as f64;
        // Not at each refresh: what is forgotten in half an hour changes no decision.
        if part < 0.002 {
            return;
        }
        self.relaxed_at = now;
        self.levels.values_mut().for_each(|levels| levels.relax(1.0 - (-part).exp()));
        // The end of some is never told; where it is after all, what counts twice is old by then.
        self.known.retain(|_, since| now - *since <= FORGOTTEN_AFTER);
    }

    /// For the snapshot.
    pub(super) fn published(&self) -> Vec<PromiseLevels> {
        let levels = |((partition, class), levels): (&(PartitionIndex, u8), &Levels)| PromiseLevels {
            partition: *partition,
            class: *class,
            levels: *levels,
        };
        self.levels.iter().map(levels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::JobId;

    const PARTITION: PartitionIndex = PartitionIndex(0);

    fn comment(mode: &str) -> String {
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"{mode}","asked":{{"nodes":1,"cpus":4,
            "options":[["QUEUECAST_SUCCESS_PROBABILITY","0.9"]]}},"written":{{"begin":4000,"reserved_at":8200}},
            "forecast":{{"wait_jobs":10,"run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}}}}"#
        )
    }

    #[test]
    fn what_became_of_a_reservation_is_read_from_the_jobs_record() {
        let read = |mode, start: Option<i64>, end| PromiseOutcome::read(&comment(mode), start.map(UnixTime), UnixTime(end));
        let outcome = |is_kept| Some(PromiseOutcome { wanted: 0.9, ahead: Seconds(7_200), is_kept });
        assert_eq!(read("enforce", Some(8_200), 9_000), outcome(true));
        assert_eq!(read("enforce", Some(8_201), 9_000), outcome(false));
        assert_eq!(read("enforce", None, 8_201), outcome(false), "cancelled after its time");
        assert_eq!(read("enforce", None, 8_200), None, "cancelled before its time");
        assert_eq!(read("advise", Some(8_200), 9_000), None, "nothing was promised");
    }

    #[test]
    fn the_outcome_is_known_as_soon_as_the_time_has_passed_and_not_before() {
        let read = |start: Option<i64>, now| PromiseOutcome::read_live(&comment("enforce"), start.map(UnixTime), UnixTime(now));
        let is_kept = |start, now| read(start, now).map(|outcome| outcome.is_kept);
        assert_eq!((is_kept(None, 8_200), is_kept(Some(8_000), 8_200)), (None, None));
        assert_eq!(
            (is_kept(None, 8_201), is_kept(Some(8_000), 8_201), is_kept(Some(8_201), 8_300)),
            (Some(false), Some(true), Some(false))
        );
    }

    #[test]
    fn an_outcome_that_was_known_before_the_end_counts_once() {
        let outcome = PromiseOutcome { wanted: 0.75, ahead: Seconds(3_600), is_kept: false };
        let run = |job| RunId { submitted: 1_000, job: JobId(job) };
        let (mut early, mut late) = (Promises::default(), Promises::default());
        for job in 0..3 {
            for seen_at in [5_000, 5_030] {
                early.observe_live(run(job), PARTITION, 4, &outcome, UnixTime(seen_at));
            }
            early.observe_ended(run(job), PARTITION, 4, &outcome);
            late.observe_ended(run(job), PARTITION, 4, &outcome);
        }
        assert_eq!(early.published(), late.published());
        assert!(early.known.is_empty());
    }

    #[test]
    fn promises_that_are_not_kept_raise_what_is_asked_until_they_are_forgotten() {
        let mut promises = Promises::default();
        let outcome = |is_kept| PromiseOutcome { wanted: 0.75, ahead: Seconds(3_600), is_kept };
        let asked = |promises: &Promises| promises.published().iter().map(|levels| levels.levels.corrected(0.75)).fold(0.0, f64::max);
        (0..100).for_each(|_| promises.observe(PARTITION, 4, &outcome(true)));
        assert_eq!(asked(&promises), 0.75, "never less than is wanted");
        (0..10).for_each(|_| promises.observe(PARTITION, 4, &outcome(false)));
        let raised = asked(&promises);
        assert!(raised > 0.85, "{raised}");
        promises.relax(UnixTime(1_000));
        promises.relax(UnixTime(1_000) + FORGOTTEN_AFTER);
        assert!((asked(&promises) - 0.75) < 0.4 * (raised - 0.75));
    }
}
