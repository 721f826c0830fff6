//! What the main thread does for a round: it asks readers, learner and planner, and publishes what
//! has come by then.

use std::time::{Duration, Instant};

use job_types::policy::Others;
use job_types::time::UnixTime;

use super::rounds::{Owing, Step};
use super::{Daemon, Next};
use crate::clock::now;
use crate::failure::Failure;

impl Daemon {
    /// Asks the planner about the queue as it was read last, unless it was asked before. Returns
    /// whether it was asked.
    fn ask_planner(&mut self) -> bool {
        let publisher = &mut self.publication.publisher;
        let read_at = publisher.cluster().map(|cluster| cluster.read_at);
        if !read_at.is_some_and(|read_at| self.planner.is_ready(read_at)) {
            return false;
        }
        let policies = &self.settings.configuration.policy;
        let question = publisher.question(|partition| policies.of(partition).others != Others::Ignore);
        question.is_some_and(|question| self.planner.ask(question))
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(self.settings.configuration.snapshot.interval_seconds.unsigned_abs())
    }

    pub(super) fn begin_round(&mut self) {
        let now = Instant::now();
        self.readers.ask(self.publication.publisher.cluster(), self.learning.is_to_be_kept(now));
        if !self.rounds.are_once() {
            self.rules.ask(false);
            let cluster = self.publication.publisher.cluster();
            let partitions = cluster.as_deref().map(|cluster| cluster.partitions.as_slice());
            self.guarding.look(&self.settings, partitions, self.publication.directory.record_key(), UnixTime(crate::clock::now()));
            if self.rules.hangs() {
                self.rules_fail("the rules have been compiling for more than a minute: those before stay in force");
            }
        }
        self.rounds.begin(now, self.interval(), self.publication.has_published());
    }

    /// Takes the round that is under way as far as it goes without another answer.
    pub(super) fn go_on(&mut self) -> Result<Next, Failure> {
        loop {
            let owing = Owing { readers: self.readers.owe_answers(), learner: self.learning.is_busy(), planner: self.planner.is_busy() };
            match self.rounds.step(Instant::now(), owing) {
                Step::Wait => return Ok(Next::GoOn),
                Step::AskLearner => {
                    let history_is_read = self.readers.accounting.is_up();
                    let confidence = self.settings.configuration.wait.confidence;
                    let was_asked = self.learning.ask(history_is_read, &mut self.publication.publisher, confidence);
                    self.rounds.asked_learner(Instant::now(), was_asked);
                }
                Step::AskPlanner => {
                    let was_asked = self.ask_planner();
                    self.rounds.asked_planner(Instant::now(), self.interval(), was_asked);
                }
                Step::Publish => return self.end_round(),
            }
        }
    }

    /// Publishes at the end of a round.
    fn end_round(&mut self) -> Result<Next, Failure> {
        if self.rounds.are_once() {
            let error = self.readers.error();
            return error.map_or_else(|| self.publish().map(|()| Next::End), |error| Err(error.into()));
        }
        let maximum_age = self.settings.configuration.snapshot.maximum_age_seconds;
        if !self.publication.is_worth_publishing(UnixTime(now()), maximum_age, self.learning.is_complete()) {
            // The snapshot of an earlier daemon is in place.
            self.notification.ready();
        } else if let Err(failure) = self.publish() {
            // A full disk, for one: the snapshot before stays in place, and the next round tries
            // again.
            self.metrics.not_published();
            tracing::error!(%failure, "the snapshot was not published");
        }
        Ok(Next::GoOn)
    }
}
