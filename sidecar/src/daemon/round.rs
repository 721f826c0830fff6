//! A round: readers, learner and planner are asked, and what has come by then is published.

use std::time::{Duration, Instant};

use super::{Daemon, Next};
use crate::failure::Failure;
use crate::known::cluster::QueuedRun;
use crate::read::accounting;

/// How long a round waits for the readers at the most.
const LONGEST_PATIENCE: Duration = Duration::from_secs(10);
/// How long a round waits for the learner, which mostly needs some tens of milliseconds; what it
/// says later goes into the next snapshot.
const LEARNERS_PATIENCE: Duration = Duration::from_millis(250);
/// How long a round waits for the planner; a plan that takes longer is left out.
const PLANNERS_PATIENCE: Duration = Duration::from_secs(2);
/// How long the learner may need for its first answer, which the only snapshot of `--once` waits
/// for.
const LONGEST_FILL: Duration = Duration::from_secs(3_600);
/// How long the first round waits for the history and the queue.
const FIRST_PATIENCE: Duration = Duration::from_secs(30);

/// A round that is under way.
pub(super) struct Round {
    /// When it is published at the latest.
    pub(super) deadline: Instant,
    has_asked_learner: bool,
    has_asked_planner: bool,
}

impl Daemon {
    /// Asks the learner, once the history and the queue have been read. Returns whether it was
    /// asked.
    pub(super) fn ask_learner(&mut self) -> bool {
        // Before the whole history has been read there is nothing that could be gone through in
        // order of time.
        self.may_learn |= self.accounting.is_up == Some(true);
        let Some(cluster) = self.publisher.cluster().filter(|_| self.may_learn) else { return false };
        let ended = cluster.ended.iter().map(|run| &run.job.submitted.partition);
        let partitions = self.publisher.partition_indices(cluster.jobs.iter().map(QueuedRun::partition).chain(ended));
        self.learner.ask(cluster, partitions, self.settings.configuration.wait.confidence)
    }

    /// Asks the planner about the queue as it was read last, unless it was asked before. Returns
    /// whether it was asked.
    pub(super) fn ask_planner(&mut self) -> bool {
        let read_at = self.publisher.cluster().map(|cluster| cluster.read_at);
        if !read_at.is_some_and(|read_at| self.planner.is_ready(read_at)) {
            return false;
        }
        let question = self.publisher.question();
        question.is_some_and(|question| self.planner.ask(Box::new(question)))
    }

    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs(self.settings.configuration.snapshot.interval_seconds.unsigned_abs())
    }

    pub(super) fn begin_round(&mut self) {
        let now = Instant::now();
        let keep = self.has_learnt && now >= self.next_keeping;
        self.accounting.ask(accounting::Request { cluster: self.publisher.cluster(), keep });
        self.controller.ask(());
        if !self.once {
            self.rules.ask(false);
            if self.rules.hangs() {
                self.rules_fail("the rules have been compiling for more than a minute: those before stay in force");
            }
        }
        self.next_round = now + self.interval();
        let mut deadline = now + self.interval().min(LONGEST_PATIENCE);
        let first_deadline = self.started + FIRST_PATIENCE;
        if !self.has_published && now < first_deadline {
            deadline = first_deadline;
        }
        self.round = Some(Round { deadline, has_asked_learner: false, has_asked_planner: false });
    }

    /// Ends the round if both readers have answered or it has taken long enough.
    pub(super) fn end_round(&mut self) -> Result<Next, Failure> {
        let Some(Round { deadline, has_asked_learner, has_asked_planner }) = self.round else { return Ok(Next::GoOn) };
        let all_answered = !self.accounting.is_busy() && !self.controller.is_busy();
        if !has_asked_learner {
            if !all_answered && (self.once || Instant::now() < deadline) {
                return Ok(Next::GoOn);
            }
            let was_asked = self.ask_learner();
            let patience = if self.once { LONGEST_FILL } else { LEARNERS_PATIENCE };
            let deadline = if was_asked { Instant::now() + patience } else { deadline };
            self.round = Some(Round { deadline, has_asked_learner: true, has_asked_planner: false });
            if was_asked {
                return Ok(Next::GoOn);
            }
        } else if !has_asked_planner && self.learner.is_busy() && Instant::now() < deadline {
            return Ok(Next::GoOn);
        }
        if !has_asked_planner {
            let was_asked = self.ask_planner();
            let patience = if self.once { LONGEST_PATIENCE } else { PLANNERS_PATIENCE.min(self.interval()) };
            let deadline = Instant::now() + patience;
            self.round = Some(Round { deadline, has_asked_learner: true, has_asked_planner: true });
            if was_asked {
                return Ok(Next::GoOn);
            }
        } else if self.planner.is_busy() && Instant::now() < deadline {
            return Ok(Next::GoOn);
        }
        self.round = None;
        if self.once {
            let error = self.accounting.last_error.clone().or(self.controller.last_error.clone());
            return error.map_or_else(|| self.publish().map(|()| Next::End), |error| Err(error.into()));
        }
        if self.is_worth_publishing() {
            // A full disk, for one: the snapshot before stays in place, and the next round tries
            // again.
            if let Err(failure) = self.publish() {
                self.metrics.not_published();
                tracing::error!(%failure, "the snapshot was not published");
            }
        }
        Ok(Next::GoOn)
    }
}
