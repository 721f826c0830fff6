//! The thread that plans the queue.
//!
//! The main thread puts the question, which takes the history to forecast run times from, and never
//! waits longer for the answer than a round allows: a plan that comes too late, or fails, leaves
//! the snapshot without one.

#[cfg(test)]
mod against_replays;
mod answer;
mod arrived;
mod prices;
mod promised;
mod state;
#[cfg(test)]
pub(crate) mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender};
use job_types::time::UnixTime;

use crate::message::{Message, Planned};
use crate::worker::Worker;

use prices::Pricer;
pub(crate) use state::{AskedPartition, Question};

/// What its thread is called.
pub(crate) const NAME: &str = "planner";

/// The planner, as the main thread knows it.
pub(crate) struct PlannerThread {
    worker: Worker<Arc<Question>>,
    /// The question that it owes an answer to.
    asked: Option<Arc<Question>>,
    /// When slurmctld was read for the queue that the planner was asked about last.
    told: Option<UnixTime>,
}

impl PlannerThread {
    /// The main thread's end of a new channel, and the planner's.
    pub(crate) fn new() -> (Self, Receiver<Arc<Question>>) {
        let (worker, received) = Worker::new();
        (Self { worker, asked: None, told: None }, received)
    }

    /// Whether the planner can be asked about a queue that was read then: it has answered the
    /// question before, and was not asked about this queue.
    pub(crate) fn is_ready(&self, read_at: UnixTime) -> bool {
        !self.worker.is_busy() && self.told < Some(read_at)
    }

    /// Asks the planner. Returns whether there will be an answer.
    pub(crate) fn ask(&mut self, question: Question) -> bool {
        self.told = Some(question.state.now);
        let question = Arc::new(question);
        let is_asked = self.worker.ask(Arc::clone(&question));
        self.asked = is_asked.then_some(question).or(self.asked.take());
        is_asked
    }

    /// Takes note that the planner has answered. Returns what it was asked.
    pub(crate) fn answered(&mut self) -> Option<Arc<Question>> {
        self.worker.answered();
        self.asked.take()
    }

    /// Whether an answer is to come.
    pub(crate) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }
}

/// Plans and answers until the main thread has dropped its end.
pub(crate) fn run(questions: &Receiver<Arc<Question>>, sender: &Sender<Message>) {
    let mut pricer = Pricer::default();
    for question in questions {
        let begin = Instant::now();
        // A panic costs this plan, not the daemon.
        let plan = catch_unwind(AssertUnwindSafe(|| {
            pricer.look(&question);
            answer::published(&question, &queue_plan::plan(&question.state), &pricer)
        }));
        let planned = Planned { plan: plan.ok(), took: begin.elapsed() };
        if sender.send(Message::Planned(Box::new(planned))).is_err() {
            return;
        }
        // Nobody waits for these, which go with the next plan.
        pricer.renew(&question);
    }
}
