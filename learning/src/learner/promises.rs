//! Virtual reservations and deadlines that were promised, held against what became of them.

use super::deadlines::Deadlines;
use super::{AdmissionOutcome, DeadlineLearner, DeadlineOutcome, PromiseOutcome, ReservedTimes, RunId};
use job_types::job::EndedJob;
use job_types::number::{JobId, PartitionIndex};
use job_types::promise::PromiseState;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::levels::{Levels, nearest_knot};
use predictor_core::forecasts::promise::{PromiseKind, PromiseLevels, Shortfalls, classes, forecast_of_what_was_told};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far one outcome moves a level. Reservations are few beside waits, so that it is farther than
/// for these.
const STEP: f64 = 0.02;

/// How long it takes until a correction counts for a third of what it was. Where so much is asked
/// that nothing is given any more, nothing would ever be learnt again.
const FORGOTTEN_AFTER: Seconds = Seconds(60 * 86_400);

/// Up to so long after a decision slurmctld dates the submission that it was about.
const SUBMISSION: Seconds = Seconds(60);

/// How the promises of one class in a partition were kept.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Class {
    levels: Levels,
    shortfalls: Shortfalls,
}

/// How the promises of all partitions were kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Promises {
    classes: BTreeMap<(PartitionIndex, u8), Class>,
    relaxed_at: UnixTime,
    /// The reservations of which something is known, each with its partition and its CPUs.
    reservations: ReservedTimes<(PartitionIndex, u32)>,
    deadlines: Deadlines,
    /// What jobs with deadlines teach besides.
    of_deadlines: DeadlineLearner,
}

impl Promises {
    /// What a run of a job says of its reservation, which is learnt once its time has passed.
    pub(super) fn observe_reservation(&mut self, job: JobId, partition: PartitionIndex, cpus: u32, outcome: &PromiseOutcome) {
        self.reservations.observe(job, outcome, (partition, cpus));
    }

    /// What is known of the deadline of an admitted job, which is learnt once that has passed.
    pub(super) fn observe_deadline(&mut self, job: JobId, partition: PartitionIndex, cpus: u32, outcome: &AdmissionOutcome) {
        self.deadlines.observe(job, partition, cpus, outcome);
    }

    /// How long a job waited and ran that was admitted by its probability. A run that follows a
    /// requeue has waited for another reason than the first, and one that was interrupted or cut
    /// off has not run for as long as it would have.
    pub(super) fn observe_run(&mut self, run: RunId, job: &EndedJob, outcome: &AdmissionOutcome, is_interrupted: bool) {
        let (Some(_), Some(start)) = (outcome.wanted, job.start) else { return };
        let (partition, given) = (job.submitted.partition, outcome.given);
        if run.submitted <= given.0 + SUBMISSION.0 && start >= given {
            self.of_deadlines.started(partition, start - given, outcome.planned - given);
        }
        if !is_interrupted && outcome.state.is_kept().is_some() {
            let run_time = (job.end - start - job.suspended).max(Seconds(1));
            self.of_deadlines.ran(partition, outcome.ahead(), run_time);
        }
    }

    /// What jobs with deadlines have taught, for the snapshot.
    pub(super) fn deadline_histories(&self) -> Vec<(PartitionIndex, DeadlineHistory)> {
        self.of_deadlines.histories().map(|(partition, history)| (partition, *history)).collect()
    }

    /// Learns of the reserved times and the deadlines that have passed.
    pub(super) fn settle(&mut self, now: UnixTime) {
        for (outcome, (partition, cpus)) in self.reservations.due(now) {
            let is_kept = outcome.state == PromiseState::Kept;
            let classes = classes(PromiseKind::Reservation, cpus, outcome.ahead());
            self.observe_told(partition, classes, &outcome, is_kept);
            self.observe(partition, classes, outcome.wanted, is_kept);
        }
        for known in self.deadlines.due(now) {
            self.observe(known.partition, classes(PromiseKind::Deadline, known.cpus, known.ahead), known.wanted, known.is_kept);
            if let Some(promised) = known.promised {
                let outcome = DeadlineOutcome { promised, wanted: known.wanted, is_kept: known.is_kept };
                self.of_deadlines.came_to(known.partition, &outcome);
            }
        }
    }

    /// What became of a promise that belongs to these classes.
    fn observe(&mut self, partition: PartitionIndex, classes: [u8; 3], wanted: f64, is_kept: bool) {
        let knot = nearest_knot(wanted);
        for class in classes {
            let levels = &mut self.classes.entry((partition, class)).or_default().levels;
            levels.observe(knot, if is_kept { 1.0 } else { 0.0 }, STEP);
            // What is kept more often than it needs to be is not promised more boldly.
            levels.relax(0.0);
        }
    }

    /// What became of a promise that belongs to these classes, held against what was told of it.
    fn observe_told(&mut self, partition: PartitionIndex, classes: [u8; 3], outcome: &PromiseOutcome, is_kept: bool) {
        let shortfalls = classes.map(|class| self.classes.get(&(partition, class)).copied().unwrap_or_default().shortfalls);
        let forecast = forecast_of_what_was_told(outcome.told, outcome.wanted, &shortfalls);
        for class in classes {
            self.classes.entry((partition, class)).or_default().shortfalls.observe(forecast, outcome.told, is_kept);
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
        let forgotten = 1.0 - (-part).exp();
        // What is told needs no forgetting: it keeps nothing from being given.
        self.classes.values_mut().for_each(|class| class.levels.relax(forgotten));
    }

    /// Returns the levels that the snapshot publishes.
    pub(super) fn published(&self) -> Vec<PromiseLevels> {
        let levels = |((partition, class), known): (&(PartitionIndex, u8), &Class)| PromiseLevels {
            partition: *partition,
            class: *class,
            levels: known.levels,
            shortfalls: known.shortfalls,
        };
        self.classes.iter().map(levels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::job::Ending;
    use job_types::promise::ReservedRun;
    use predictor_core::forecasts::promise::{PromiseShape, level_to_ask, probability_to_tell};

    const PARTITION: PartitionIndex = PartitionIndex(0);

    /// A promise to a job of four CPUs for a time so many seconds ahead.
    fn promise(kind: PromiseKind, ahead_s: i64) -> PromiseShape {
        PromiseShape { kind, partition: PARTITION, cpus: 4, ahead: Seconds(ahead_s) }
    }

    /// A reservation for 8,200 that was given at 4,600.
    fn outcome(state: PromiseState) -> PromiseOutcome {
        PromiseOutcome { wanted: 0.75, told: 0.78, given: UnixTime(4_600), at: UnixTime(8_200), state }
    }

    #[test]
    fn a_job_that_had_its_nodes_early_was_requeued_and_ran_late_is_learnt_once_as_missed() {
        let learnt = |runs: &[PromiseState]| {
            let mut promises = Promises::default();
            for state in runs {
                promises.observe_reservation(JobId(1), PARTITION, 4, &outcome(*state));
                promises.settle(UnixTime(8_300));
            }
            promises.published()
        };
        let missed = learnt(&[PromiseState::Missed]);
        assert_ne!(missed, []);
        assert_eq!(learnt(&[PromiseState::Open, PromiseState::Missed, PromiseState::Missed]), missed);
    }

    #[test]
    fn promises_that_are_not_kept_raise_what_is_asked_until_they_are_forgotten() {
        let mut promises = Promises::default();
        let mut job = 0..;
        let mut learn = |promises: &mut Promises, state| {
            promises.observe_reservation(JobId(job.next().unwrap()), PARTITION, 4, &outcome(state));
            promises.settle(UnixTime(8_201));
        };
        let asked = |promises: &Promises| promises.published().iter().map(|levels| levels.levels.corrected(0.75)).fold(0.0, f64::max);
        (0..100).for_each(|_| learn(&mut promises, PromiseState::Kept));
        assert_eq!(asked(&promises), 0.75, "never less than is wanted");
        (0..10).for_each(|_| learn(&mut promises, PromiseState::Missed));
        let raised = asked(&promises);
        assert!(raised > 0.85, "{raised}");
        promises.relax(UnixTime(1_000));
        promises.relax(UnixTime(1_000) + FORGOTTEN_AFTER);
        assert!((asked(&promises) - 0.75) < 0.4 * (raised - 0.75));
    }

    /// What is asked of a reservation for 0.75 and for 0.9, after 400 whose users named no
    /// probability: the site wants 0.75, and each was promised with the 0.93 that were forecast. Of
    /// each `of` one was missed.
    fn asked_after_a_miss_in(of: u32) -> [f64; 2] {
        let comment = r#"{"queuecast":{"version":1,"generation":7,"at":1000,"mode":"enforce","asked":{"nodes":1,"cpus":4},
            "written":{"begin":4000,"reserved_at":8200,"wanted":0.75},
            "forecast":{"wait_jobs":10,"run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}"#;
        let mut promises = Promises::default();
        for job in 0..400 {
            let start = UnixTime(if job % of == 0 { 8_201 } else { 8_000 });
            let run =
                ReservedRun { submitted: UnixTime(1_000), started: Some(start), ended: Some((UnixTime(9_000), Some(Ending::Completed))) };
            promises.observe_reservation(JobId(job), PARTITION, 4, &PromiseOutcome::read(comment, &run).unwrap());
            promises.settle(UnixTime(9_000));
        }
        let published = promises.published();
        let levels_of = |class| published.iter().find(|levels| levels.class == class).map(|levels| levels.levels);
        [0.75, 0.9].map(|wanted| level_to_ask(&promise(PromiseKind::Reservation, 7_200), wanted, levels_of))
    }

    #[test]
    fn levels_are_corrected_against_what_was_wanted_and_not_against_what_was_forecast() {
        assert_eq!(asked_after_a_miss_in(4), [0.75, 0.9], "three of four were kept, as the site wants it");
        let [asked, _] = asked_after_a_miss_in(2);
        assert!(asked > 0.95, "one of two was kept, and {asked} is asked");
    }

    #[test]
    fn what_is_told_of_a_forecast_comes_down_to_what_such_forecasts_were_kept_with() {
        let mut promises = Promises::default();
        let tell = |promises: &Promises| {
            let published = promises.published();
            let class_of = |class| {
                let found = published.iter().find(|levels| levels.class == class);
                found.map(|levels| (Levels::default(), levels.shortfalls))
            };
            probability_to_tell(&promise(PromiseKind::Reservation, 3_600), 0.75, 0.78, class_of)
        };
        for job in 0..2_000 {
            let state = if job % 5 < 3 { PromiseState::Kept } else { PromiseState::Missed };
            promises.observe_reservation(JobId(job), PARTITION, 4, &PromiseOutcome { told: tell(&promises), ..outcome(state) });
            promises.settle(UnixTime(8_201));
        }
        let told = tell(&promises);
        assert!((told - 0.6).abs() < 0.03, "{told}");
        promises.relax(UnixTime(1_000));
        promises.relax(UnixTime(1_000) + FORGOTTEN_AFTER);
        assert_eq!(tell(&promises), told);
    }

    #[test]
    fn deadlines_that_are_missed_raise_what_is_asked_of_deadlines_and_not_of_reservations() {
        let mut promises = Promises::default();
        for job in 0..20 {
            let (given, deadline) = (UnixTime(1_000), UnixTime(4_600));
            let outcome =
                AdmissionOutcome { wanted: Some(0.9), promised: None, planned: given, given, deadline, state: PromiseState::Missed };
            promises.observe_deadline(JobId(job), PARTITION, 4, &outcome);
        }
        assert_eq!(promises.published(), []);
        promises.settle(UnixTime(4_601));
        let published = promises.published();
        let levels_of = |class| published.iter().find(|levels| levels.class == class).map(|levels| levels.levels);
        let asked = |kind| level_to_ask(&promise(kind, 3_600), 0.9, levels_of);
        assert_eq!(asked(PromiseKind::Reservation), 0.9);
        assert!(asked(PromiseKind::Deadline) > 0.95, "{}", asked(PromiseKind::Deadline));
    }
}
