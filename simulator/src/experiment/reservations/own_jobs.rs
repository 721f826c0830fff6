//! Jobs of the experimenter's own beside those of a log, which ask for nothing (Nurmi, Wolski and
//! Brevik 2008, 4.1).
//!
//! One process makes up a job of a random size and run time and asks for its nodes at the next of
//! the times that lie a fixed while apart. Refused, it makes up another one and asks again, for the
//! same time; given a reservation, it begins anew when that time has come. What is refused never
//! runs.

use std::collections::{BTreeMap, BTreeSet};

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use rand::seq::IndexedRandom;

use super::super::parts::ReservationWish;
use super::super::{Decider, NEVER, stream};
use super::{Answer, Answers};
use crate::engine::{Cluster, Job, JobIndex, Record, Revised, Submitted};

/// Sizes of the jobs, in nodes.
pub const OWN_NODES: [u32; 5] = [1, 4, 8, 16, 32];

/// The run times of the experimenter's own jobs, which are their time limits as well.
pub const OWN_RUN_TIMES: [Seconds; 5] = [Seconds(600), Seconds(1_800), Seconds(3_600), Seconds(7_200), Seconds(14_400)];

/// How long after a refusal the process asks again. In the published experiment it does after 15 s,
/// which in a replay takes sixty times as long and asks for nearly the same.
pub const RETRY: Seconds = Seconds(900);

/// A log's jobs with those that may be asked for beside them, one for each time at which the
/// process may ask, and which these are; in order of submission.
///
/// They reach from the submission of the log's job in place `first` to its last. A node has so many
/// of the machine's processors; sizes beyond the machine are left out. The jobs are of the queue
/// that has most jobs, and of a user that the log does not know.
pub(super) fn beside(jobs: &[Job], first: usize, wish: ReservationWish, node: u32, processors: u32, seed: u64) -> (Vec<Job>, Vec<bool>) {
    let begin = jobs.get(first).map_or(UnixTime(0), |job| wish.next(job.submit));
    let end = jobs.last().map_or(UnixTime(0), |job| job.submit);
    merged(jobs, &made_up(begin, end, RETRY, node, processors, seed))
}

/// Jobs that may be asked for from `begin` to `end`, one each `retry`.
pub(super) fn made_up(begin: UnixTime, end: UnixTime, retry: Seconds, node: u32, processors: u32, seed: u64) -> Vec<Job> {
    let sizes: Vec<u32> = OWN_NODES.iter().map(|nodes| nodes.saturating_mul(node)).filter(|size| *size <= processors).collect();
    let mut random = stream(seed, 4);
    let times = (0..).map(|place| begin + Seconds(place * retry.0)).take_while(|at| *at <= end);
    let own = |submit: UnixTime| {
        let processors = sizes.choose(&mut random).copied().unwrap_or(1);
        let run_time = OWN_RUN_TIMES.choose(&mut random).copied().unwrap_or(Seconds(600));
        Job { submit, run_time, estimate: run_time, processors, group: u32::MAX, ..Job::default() }
    };
    times.map(own).collect()
}

/// A log's jobs with these beside them, in its largest queue and of a user that it does not know,
/// and which these are; in order of submission.
pub(super) fn merged(jobs: &[Job], own: &[Job]) -> (Vec<Job>, Vec<bool>) {
    let users: BTreeSet<UserId> = jobs.iter().map(|job| job.user).collect();
    let user = (0..u32::MAX).map(UserId).find(|user| !users.contains(user)).unwrap_or(UserId(u32::MAX));
    let mut queues: BTreeMap<u32, usize> = BTreeMap::new();
    jobs.iter().for_each(|job| *queues.entry(job.queue).or_default() += 1);
    let queue = queues.into_iter().max_by_key(|(_, jobs)| *jobs).map_or(0, |(queue, _)| queue);
    let own = own.iter().map(|job| (Job { user, queue, ..*job }, true));
    let mut all: Vec<(Job, bool)> = jobs.iter().map(|job| (*job, false)).chain(own).collect();
    all.sort_by_key(|(job, _)| job.submit);
    all.into_iter().unzip()
}

/// The process that asks, in front of whoever decides.
pub(super) struct Process<D> {
    decider: D,
    /// It has a reservation for this time, and asks for none before.
    reserved: UnixTime,
    withdrawn: BTreeSet<JobIndex>,
}

impl<D: Answers> Process<D> {
    /// Creates a process that has not asked for anything yet.
    pub(super) fn new(decider: D) -> Self {
        Self { decider, reserved: UnixTime(i64::MIN), withdrawn: BTreeSet::new() }
    }

    /// The job is not submitted: it leaves when nothing else runs any more, one after the other.
    fn withdraw(&mut self, index: JobIndex, asked: &Job) -> Submitted {
        let longest = OWN_RUN_TIMES.iter().max().map_or(1, |longest| longest.0);
        let eligible = NEVER + Seconds(self.withdrawn.len() as i64 * longest);
        self.withdrawn.insert(index);
        Submitted { job: *asked, eligible, hold_until: None }
    }
}

impl<D: Answers> Answers for Process<D> {
    fn answers(&self) -> Vec<Answer> {
        self.decider.answers()
    }

    fn given(&self, job: JobIndex) -> Option<UnixTime> {
        self.decider.given(job)
    }
}

impl<D: Answers> Decider for Process<D> {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        if cluster.now() < self.reserved {
            return self.withdraw(index, asked);
        }
        let submitted = self.decider.decide(index, asked, cluster);
        match self.decider.given(index) {
            Some(at) => {
                self.reserved = at;
                submitted
            }
            None => self.withdraw(index, asked),
        }
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        if !self.withdrawn.contains(&index) {
            self.decider.passed(index, asked, submitted, cluster);
        }
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        if !self.withdrawn.contains(&index) {
            self.decider.started(index, job, record);
        }
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        if !self.withdrawn.contains(&index) {
            self.decider.ended(index, job, record);
        }
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.decider.wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        self.decider.revise(cluster)
    }
}

#[cfg(test)]
mod tests {
    use published_methods::varq::Choice;

    use super::super::super::tests::jobs;
    use super::*;

    #[test]
    fn the_process_may_ask_every_quarter_of_an_hour_for_a_job_of_the_published_sizes() {
        let log = jobs();
        let wish = ReservationWish { every: Seconds(21_600), probability: 0.5, names_probability: true, point: Choice::Latest };
        let (jobs, is_own) = beside(&log, 300, wish, 2, 64, 1);
        assert!(jobs.is_sorted_by_key(|job| job.submit));
        let own: Vec<&Job> = jobs.iter().zip(&is_own).filter(|(_, own)| **own).map(|(job, _)| job).collect();
        assert_eq!(jobs.len(), log.len() + own.len());
        assert!(own.windows(2).all(|two| two[1].submit - two[0].submit == RETRY));
        assert_eq!(own[0].submit.0 % 21_600, 0);
        let sizes: BTreeSet<u32> = own.iter().map(|job| job.processors).collect();
        assert_eq!(sizes, BTreeSet::from([2, 8, 16, 32, 64]));
        let run_times: BTreeSet<Seconds> = own.iter().map(|job| job.run_time).collect();
        assert_eq!(run_times, BTreeSet::from(OWN_RUN_TIMES));
        assert!(log.iter().all(|job| job.user != own[0].user));
    }
}
