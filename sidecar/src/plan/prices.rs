//! What the machine's time costs those who wait and those who come, from what the planner has seen
//! come within the last day.
//!
//! What comes is known by the queue as it is read: a job that comes and has ended before the next
//! reading is not seen, and neither is one that came before the daemon was started. So prices are
//! too low for the first day, and rise as it passes.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use job_types::number::{JobId, PartitionIndex};
use job_types::time::UnixTime;
use predictor_core::forecasts::price::PriceStep;
use queue_plan::{Assumption, PRICED_EVERY, Pass, PendingJob, REPEATED, State};

use super::arrived::Arrived;
use super::state::Question;

/// The most jobs of the last day that are kept, some 10 MB; what comes beyond them is left out.
const MOST_SEEN: usize = 100_000;

/// The most partitions that are priced, which takes about as long as so many plans.
const MOST_PRICED: usize = 32;

/// The prices of a partition, and when they were made.
pub(super) type Priced = (UnixTime, Vec<PriceStep>);

/// What the planner keeps to work out prices.
#[derive(Debug, Default)]
pub(super) struct Pricer {
    /// The numbers in the queue as it was read last; `None` before the first.
    known: Option<HashSet<JobId>>,
    /// What came since, and when it could start at the earliest.
    seen: VecDeque<(UnixTime, Arrived)>,
    priced: BTreeMap<PartitionIndex, Priced>,
    priced_at: Option<UnixTime>,
}

impl Pricer {
    /// Takes note of what has come since the last question.
    pub(super) fn look(&mut self, question: &Question) {
        let now = question.state.now;
        let numbers: HashSet<JobId> = question.arrived.iter().map(|(_, arrived)| arrived.number).collect();
        if let Some(known) = &self.known {
            let new = question.arrived.iter().filter(|(_, arrived)| !known.contains(&arrived.number));
            let left = MOST_SEEN.saturating_sub(self.seen.len());
            self.seen.extend(new.take(left).map(|(eligible, arrived)| (now.max(*eligible), arrived.clone())));
        }
        self.known = Some(numbers);
        self.seen.retain(|(at, _)| *at > now - REPEATED);
    }

    /// What was worked out last for a partition.
    pub(super) fn of(&self, partition: PartitionIndex) -> Option<Priced> {
        self.priced.get(&partition).cloned()
    }

    /// Works out prices where they are asked for and those before are old. A panic costs the prices
    /// alone.
    pub(super) fn renew(&mut self, question: &Question) {
        let now = question.state.now;
        let is_new = self.priced_at.is_some_and(|at| at <= now && now - at < PRICED_EVERY);
        if question.priced.is_empty() {
            (self.priced, self.priced_at) = (BTreeMap::new(), None);
        } else if !is_new || self.priced.is_empty() {
            self.priced_at = Some(now);
            self.priced = catch_unwind(AssertUnwindSafe(|| self.work_out(question))).unwrap_or_default();
        }
    }

    fn work_out(&self, question: &Question) -> BTreeMap<PartitionIndex, Priced> {
        let state = self.with_coming(question);
        let pass = Pass::of_state(&state, Assumption::Expected);
        let places = question.partition_indices.iter().enumerate();
        let asked = places.filter_map(|(place, index)| Some((place, index.filter(|index| question.priced.contains(index))?)));
        asked.take(MOST_PRICED).map(|(place, index)| (index, (state.now, pass.prices(place)))).collect()
    }

    fn with_coming(&self, question: &Question) -> State {
        let place_of = |index: &PartitionIndex| question.partition_indices.iter().position(|other| *other == Some(*index));
        let again = |(eligible, arrived): &(UnixTime, Arrived)| PendingJob {
            partitions: arrived.partitions.iter().filter_map(|index| u16::try_from(place_of(index)?).ok()).collect(),
            asks: arrived.asks,
            tasks: arrived.tasks,
            whole_nodes: arrived.whole_nodes,
            limit: arrived.limit,
            eligible: *eligible,
            run_time: arrived.run_time,
            ..PendingJob::default()
        };
        question.state.clone().with_coming(self.seen.iter().map(again))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use job_types::time::Seconds;
    use slurm_sys::client::JobState;
    use slurm_sys::client::controller::QueuedJob;

    use super::*;
    use crate::known::cluster::Cluster;
    use crate::known::made_up::{NOW, cluster, job, running};
    use crate::known::names::PartitionIndices;

    const MAIN: PartitionIndex = PartitionIndex(3);

    fn question(jobs: &[QueuedJob], after_s: i64, is_asked: bool) -> Question {
        let read = Cluster { read_at: UnixTime(NOW + after_s), ..cluster(jobs, Vec::new()) };
        let indices: PartitionIndices = [(Arc::from("main"), MAIN)].into();
        let question = Question::new(&read, &indices, false, |_, _, _, _| None, &[]);
        if is_asked { question.priced([MAIN]) } else { question }
    }

    fn waiting(number: u32) -> QueuedJob {
        job(number, JobState::Pending, 4)
    }

    #[test]
    fn a_job_is_seen_once_when_it_comes_and_those_of_the_first_reading_are_not() {
        let mut pricer = Pricer::default();
        let started = running(8, 0, 1, 5);
        let seen = |pricer: &Pricer| pricer.seen.iter().map(|(_, arrived)| arrived.number.0).collect::<Vec<_>>();
        pricer.look(&question(&[waiting(5)], 0, true));
        assert!(seen(&pricer).is_empty(), "nobody knows when it came");
        let queue = [waiting(5), waiting(6), started];
        pricer.look(&question(&queue, 30, true));
        pricer.look(&question(&queue, 60, true));
        assert_eq!(seen(&pricer), [6, 8]);
        // The tasks of an array are one, when they come and when each of them starts.
        let array = QueuedJob { array_job_id: Some(JobId(9)), task_count: 3, ..waiting(9) };
        let task = QueuedJob { array_job_id: Some(JobId(9)), ..running(10, 2, 2, 5) };
        pricer.look(&question(std::slice::from_ref(&array), 90, true));
        pricer.look(&question(&[array, task], 120, true));
        assert_eq!((seen(&pricer), pricer.seen.back().unwrap().1.tasks), (vec![6, 8, 9], 3));
        pricer.look(&question(&[], REPEATED.0 + 30, true));
        assert_eq!(seen(&pricer), [9], "a day later");
    }

    #[test]
    fn prices_are_worked_out_where_they_are_asked_for_and_again_after_a_while() {
        let mut pricer = Pricer::default();
        let mut ask = |after_s, is_asked| {
            pricer.look(&question(&[waiting(5)], after_s, is_asked));
            pricer.renew(&question(&[waiting(5)], after_s, is_asked));
            pricer.of(MAIN).map(|(at, steps)| (at - UnixTime(NOW), steps.len()))
        };
        let windows = queue_plan::WINDOW_ENDS.len();
        assert_eq!(ask(0, false), None);
        assert_eq!(ask(30, true), Some((Seconds(30), windows)));
        assert_eq!(ask(PRICED_EVERY.0, true), Some((Seconds(30), windows)));
        assert_eq!(ask(PRICED_EVERY.0 + 30, true), Some((PRICED_EVERY + Seconds(30), windows)));
        assert_eq!(ask(PRICED_EVERY.0 + 60, false), None, "nobody asks any more");
    }

    #[test]
    fn what_came_yesterday_at_this_time_makes_the_time_dear() {
        let mut pricer = Pricer::default();
        pricer.look(&question(&[], 0, true));
        // A job of all nodes comes every minute of an hour.
        for minute in 1..=60 {
            pricer.look(&question(&[waiting(minute)], i64::from(minute) * 60, true));
        }
        let dearest = |pricer: &mut Pricer, after_s| {
            pricer.renew(&question(&[], after_s, true));
            let (_, steps) = pricer.of(MAIN).unwrap();
            steps.iter().fold(0.0, |dearest: f32, step| dearest.max(step.waited))
        };
        assert!(dearest(&mut pricer, REPEATED.0) > 0.0);
        assert_eq!(dearest(&mut Pricer::default(), REPEATED.0), 0.0);
    }
}
