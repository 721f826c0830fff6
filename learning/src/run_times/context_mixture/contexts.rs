//! The contexts of past jobs that a run time may be like: from the same request of the same user to
//! all jobs.

use crate::run_times::ArrivingJob;
use arrayvec::ArrayVec;
use job_types::number::{AccountIndex, PartitionIndex, UserId};
use job_types::size::Unit;
use job_types::time::Seconds;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::bins;

/// How many contexts a job has.
pub(super) const CONTEXTS: usize = 11;
/// A context remembers so many run times, the latest.
pub(super) const MEMORY: usize = 32;
/// Contexts that are kept at the most, and those that stay when there were more: the ones that a
/// job ended in last. 100,000 take 60 MB.
const MOST_CONTEXTS: usize = 100_000;
const KEPT_CONTEXTS: usize = MOST_CONTEXTS / 4 * 3;
/// Stands for a run that lasted until the job's own limit.
pub(super) const AT_LIMIT: u8 = u8::MAX;

/// Jobs that share what is named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Context {
    UserSizeLimit(UserId, PartitionIndex, u32, i64),
    UserLimit(UserId, i64),
    UserSize(UserId, PartitionIndex, u32),
    UserPartition(UserId, PartitionIndex),
    User(UserId),
    /// Run times as parts of the limit.
    UserPart(UserId),
    AccountLimit(AccountIndex, i64),
    PartitionLimit(PartitionIndex, i64),
    /// Run times as parts of the limit.
    PartitionPart(PartitionIndex),
    PartitionSize(PartitionIndex, u32),
    All,
}

impl Context {
    fn is_part_of_limit(self) -> bool {
        matches!(self, Context::UserPart(_) | Context::PartitionPart(_))
    }

    /// The contexts of a job, from the narrowest to the widest; those that need a limit are missing
    /// where there is none.
    fn of(job: &ArrivingJob, unit: Unit) -> [Option<Context>; CONTEXTS] {
        let (user, partition, count) = (job.submitted.user, job.submitted.partition, job.submitted.size.count(unit));
        let limit = job.submitted.limit.filter(|limit| limit.0 > 0).map(|limit| limit.0);
        [
            limit.map(|limit| Context::UserSizeLimit(user, partition, count, limit)),
            limit.map(|limit| Context::UserLimit(user, limit)),
            Some(Context::UserSize(user, partition, count)),
            Some(Context::UserPartition(user, partition)),
            Some(Context::User(user)),
            limit.map(|_| Context::UserPart(user)),
            limit.map(|limit| Context::AccountLimit(job.submitted.account, limit)),
            limit.map(|limit| Context::PartitionLimit(partition, limit)),
            limit.map(|_| Context::PartitionPart(partition)),
            Some(Context::PartitionSize(partition, count)),
            Some(Context::All),
        ]
    }
}

/// A run time in seconds with whether it reached the limit, and its part of the limit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Run {
    run_time_s: u32,
    part: f32,
    reached_limit: bool,
}

/// The latest run times of a context.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Latest {
    /// A ring of runs: the next place to write is `count` modulo [`MEMORY`].
    runs: ArrayVec<Run, MEMORY>,
    count: usize,
    /// The number of the job that ended in it last, of all jobs.
    last: u64,
}

impl Latest {
    fn push(&mut self, run: Run) {
        let place = self.count % MEMORY;
        self.count += 1;
        match self.runs.get_mut(place) {
            Some(oldest) => *oldest = run,
            None => self.runs.push(run),
        }
    }

    fn latest_first(&self) -> impl Iterator<Item = &Run> {
        (1..=self.runs.len()).filter_map(|back| self.runs.get((self.count - back) % MEMORY))
    }
}

/// The bins of a context's latest run times, seen from a job that asks, latest first; and of how
/// many they are the latest.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) bins: ArrayVec<u8, MEMORY>,
    pub(super) count: usize,
}

/// All contexts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contexts {
    latest: HashMap<Context, Latest>,
    jobs: u64,
}

impl Contexts {
    /// What each context says to a job. A run time of its limit or more is [`AT_LIMIT`].
    pub(super) fn seen_by(&self, job: &ArrivingJob, unit: Unit) -> [Seen; CONTEXTS] {
        let limit_s = job.submitted.limit.filter(|limit| limit.0 > 0).map(Seconds::clamped_u32);
        Context::of(job, unit).map(|context| {
            let Some((context, latest)) = context.and_then(|context| Some((context, self.latest.get(&context)?))) else {
                return Seen::default();
            };
            let bin = |run: &Run| {
                let part = context.is_part_of_limit();
                let run_time_s = match limit_s {
                    Some(limit_s) if part => (f64::from(run.part) * f64::from(limit_s)) as u32,
                    _ => run.run_time_s,
                };
                let reached = limit_s.is_some_and(|limit_s| run_time_s >= limit_s || (part && run.reached_limit));
                if reached { AT_LIMIT } else { bins::of(run_time_s) as u8 }
            };
            Seen { bins: latest.latest_first().map(bin).collect(), count: latest.count }
        })
    }

    /// Adds the run time of a job to all its contexts.
    pub(super) fn push(&mut self, job: &ArrivingJob, unit: Unit, run_time: Seconds) {
        let part = job.submitted.limit.map_or(0.0, |limit| run_time.0 as f64 / limit.0.max(1) as f64);
        let reached_limit = job.submitted.limit.is_some_and(|limit| limit.0 > 0 && run_time >= limit);
        let run = Run { run_time_s: run_time.clamped_u32(), part: part as f32, reached_limit };
        self.jobs += 1;
        for context in Context::of(job, unit).into_iter().flatten() {
            let latest = self.latest.entry(context).or_default();
            latest.last = self.jobs;
            latest.push(run);
        }
        if self.latest.len() > MOST_CONTEXTS {
            let mut last: Vec<u64> = self.latest.values().map(|latest| latest.last).collect();
            let first_kept = last.len().saturating_sub(KEPT_CONTEXTS);
            let (_, first_kept, _) = last.select_nth_unstable(first_kept);
            self.latest.retain(|_, latest| latest.last >= *first_kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::job;
    use super::*;

    #[test]
    fn the_latest_run_comes_first_and_the_oldest_is_forgotten() {
        let mut contexts = Contexts::default();
        for run_time_s in 1..=40 {
            contexts.push(&job(0, UserId(1), None), Unit::Cpus, Seconds(run_time_s));
        }
        let [.., all] = contexts.seen_by(&job(1, UserId(2), None), Unit::Cpus);
        assert_eq!((all.bins.len(), all.count), (MEMORY, 40));
        assert_eq!(all.bins.first().copied(), Some(bins::of(40) as u8));
        assert_eq!(all.bins.last().copied(), Some(bins::of(9) as u8));
    }

    #[test]
    fn contexts_in_which_no_job_has_ended_for_long_are_let_go_of() {
        let mut contexts = Contexts::default();
        for user in 0..60_000 {
            contexts.push(&job(user, UserId(user), None), Unit::Cpus, Seconds(10));
        }
        assert!((KEPT_CONTEXTS..=MOST_CONTEXTS).contains(&contexts.latest.len()), "{}", contexts.latest.len());
        let knows = |user| contexts.latest.contains_key(&Context::UserSize(UserId(user), PartitionIndex(0), 1));
        assert!(!knows(0) && knows(59_999));
        let [.., all] = contexts.seen_by(&job(1, UserId(2), None), Unit::Cpus);
        assert_eq!(all.count, 60_000);
    }

    #[test]
    fn a_part_of_the_limit_scales_and_a_run_into_the_limit_stays_one() {
        let mut contexts = Contexts::default();
        contexts.push(&job(0, UserId(1), Some(1_000)), Unit::Cpus, Seconds(500));
        contexts.push(&job(1, UserId(1), Some(1_000)), Unit::Cpus, Seconds(1_003));
        let [_, same_limit, .., user_part, _, _, _, _, _] = contexts.seen_by(&job(2, UserId(1), Some(4_000)), Unit::Cpus);
        assert!(same_limit.bins.is_empty(), "the limit is another one");
        assert_eq!(user_part.bins.as_slice(), [AT_LIMIT, bins::of(2_000) as u8]);
    }
}
