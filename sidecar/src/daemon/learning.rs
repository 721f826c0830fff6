//! The learner as the main thread knows it: how far it has come, and what of it is kept on disk.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use job_types::time::UnixTime;

use crate::clock::now;
use crate::known::checkpoint::{Keeping, Reading, Subject};
use crate::known::cluster::{Ended, QueuedRun};
use crate::learn::learner::LearnerThread;
use crate::publish::publisher::Publisher;

/// How often what was learnt is kept on disk.
const KEEPING_INTERVAL: Duration = Duration::from_secs(1_800);

/// The learner, how far it has come, and when what it has learnt is kept on disk.
pub(super) struct Learning {
    learner: LearnerThread,
    /// Whether the whole history has been read, by this daemon or by the one whose history it goes
    /// on with.
    may_learn: bool,
    /// Whether the learner has answered.
    has_learnt: bool,
    /// What is kept on disk is of.
    subject: Subject,
    /// When it is to be kept again.
    next_keeping: Instant,
}

/// What an answer of the learner is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The answer is worth nothing: its time lies ahead, because the clock has been set back.
    Ahead,
    /// The answer is the first one.
    First,
    /// The answer takes the place of an earlier one.
    Further,
}

impl Learning {
    /// A learner that has not been asked yet. `is_resumed` is whether it goes on from what an
    /// earlier daemon has learnt.
    pub(super) fn new(learner: LearnerThread, subject: Subject, is_resumed: bool) -> Self {
        Self { learner, may_learn: is_resumed, has_learnt: false, subject, next_keeping: Instant::now() }
    }

    /// Sends the learner runs that have ended.
    pub(super) fn ended(&self, jobs: Vec<Ended>, publisher: &mut Publisher) {
        let partitions = publisher.partition_indices(jobs.iter().map(|run| &run.job.submitted.partition));
        self.learner.ended(jobs, partitions);
    }

    /// Asks the learner, once the history and the queue have been read. Returns whether it was
    /// asked.
    pub(super) fn ask(&mut self, history_is_read: bool, publisher: &mut Publisher, confidence: f64) -> bool {
        // Until the whole history has been read, there is nothing that could be gone through in
        // order of time.
        self.may_learn |= history_is_read;
        let Some(cluster) = publisher.cluster().filter(|_| self.may_learn) else { return false };
        let ended = cluster.ended.iter().map(|run| &run.job.submitted.partition);
        let partitions = publisher.partition_indices(cluster.jobs.iter().map(QueuedRun::partition).chain(ended));
        self.learner.ask(cluster, partitions, confidence)
    }

    /// Takes note of an answer. `is_ahead` is whether it is of a clock that has been set back.
    pub(super) fn answered(&mut self, is_ahead: bool) -> Answer {
        self.learner.answered();
        match (is_ahead, self.has_learnt) {
            (true, _) => Answer::Ahead,
            (false, false) => {
                self.has_learnt = true;
                Answer::First
            }
            (false, true) => Answer::Further,
        }
    }

    /// Whether it is time to keep what was learnt.
    pub(super) fn is_to_be_kept(&self, now: Instant) -> bool {
        self.has_learnt && now >= self.next_keeping
    }

    /// Has the learner keep in a file what it has learnt from all that it was sent until now.
    pub(super) fn keep(&mut self, file: PathBuf, reading: &Reading, publisher: &mut Publisher) {
        self.next_keeping = Instant::now() + KEEPING_INTERVAL;
        let now = now();
        let history = publisher.history(UnixTime(now - self.subject.window_seconds));
        match Keeping::begin(file, &self.subject, now, reading, history) {
            Ok(keeping) => self.learner.keep(keeping),
            Err(error) => tracing::warn!(%error, "what was learnt could not be kept; a restart would learn it again"),
        }
    }

    /// Forgets what was read and learnt while the clock was ahead.
    pub(super) fn start_afresh(&mut self) {
        self.learner.start_afresh();
        (self.may_learn, self.has_learnt) = (false, false);
    }

    /// Takes note that the learner will not answer any more.
    pub(super) fn died(&mut self) {
        self.learner.died();
    }

    /// Whether an answer is to come.
    pub(super) fn is_busy(&self) -> bool {
        self.learner.is_busy()
    }

    /// Whether nothing is missing that is still to come: the whole history has been read, and the
    /// learner has answered or never will.
    pub(super) fn is_complete(&self) -> bool {
        self.may_learn && (self.has_learnt || !self.learner.is_alive())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::awaited::Awaited;
    use crate::known::made_up::cluster;
    use crate::known::seen::Seen;
    use crate::learn::learner::Task;
    use crossbeam::channel::Receiver;
    use slurm_conf::Configuration;
    use std::sync::Arc;

    fn learning(is_resumed: bool) -> (Learning, Receiver<Task>, Publisher) {
        let (learner, tasks) = LearnerThread::new();
        let subject = Subject::new("c".to_owned(), &Configuration::default().history);
        let mut publisher = Publisher::new("c".to_owned(), false, None, 1, None, None);
        publisher.set_cluster(Arc::new(cluster(&[], Vec::new())));
        (Learning::new(learner, subject, is_resumed), tasks, publisher)
    }

    #[test]
    fn the_learner_is_asked_once_the_whole_history_and_the_queue_are_read() {
        let (mut learning, tasks, mut publisher) = learning(false);
        assert!(!learning.ask(false, &mut publisher, 0.9), "the history is not read");
        let mut of_no_queue = Publisher::new("c".to_owned(), false, None, 1, None, None);
        assert!(!learning.ask(true, &mut of_no_queue, 0.9));
        assert!(learning.ask(false, &mut publisher, 0.9), "the history was read before");
        assert!(matches!(tasks.try_recv(), Ok(Task::Refresh(..))));
        assert!(learning.is_busy());
    }

    #[test]
    fn the_history_of_an_earlier_daemon_is_one_that_was_read() {
        let (mut learning, _tasks, mut publisher) = learning(true);
        assert!(learning.ask(false, &mut publisher, 0.9));
    }

    #[test]
    fn everything_is_there_once_the_learner_has_answered_or_never_will() {
        let (mut learning, _tasks, mut publisher) = learning(false);
        learning.ask(true, &mut publisher, 0.9);
        assert!(!learning.is_complete());
        assert_eq!(learning.answered(true), Answer::Ahead);
        assert!(!learning.is_complete() && !learning.is_busy());
        assert_eq!(learning.answered(false), Answer::First);
        assert_eq!(learning.answered(false), Answer::Further);
        assert!(learning.is_complete());
        learning.start_afresh();
        assert!(!learning.is_complete());
        learning.died();
        assert!(!learning.is_complete(), "the history has to be read again");
        learning.ask(true, &mut publisher, 0.9);
        assert!(learning.is_complete());
    }

    #[test]
    fn what_was_learnt_is_kept_now_and_then_once_there_is_something() {
        let (mut learning, tasks, mut publisher) = learning(true);
        let directory = tempfile::tempdir().unwrap();
        let begin = Instant::now();
        assert!(!learning.is_to_be_kept(begin), "the learner has not answered");
        learning.answered(false);
        assert!(learning.is_to_be_kept(begin));
        let reading = Reading { until: 7, seen: Seen::new(0, 10), awaited: Awaited::default() };
        learning.keep(directory.path().join("learnt"), &reading, &mut publisher);
        assert!(matches!(tasks.try_recv(), Ok(Task::Keep(_))));
        assert!(!learning.is_to_be_kept(begin + KEEPING_INTERVAL / 2));
        assert!(learning.is_to_be_kept(Instant::now() + KEEPING_INTERVAL));
    }

    #[test]
    fn a_file_that_cant_be_written_is_tried_again_at_the_next_time_only() {
        let (mut learning, tasks, mut publisher) = learning(true);
        learning.answered(false);
        let directory = tempfile::tempdir().unwrap();
        let reading = Reading { until: 7, seen: Seen::new(0, 10), awaited: Awaited::default() };
        learning.keep(directory.path().join("absent/learnt"), &reading, &mut publisher);
        assert!(tasks.is_empty() && !learning.is_to_be_kept(Instant::now()));
    }
}
