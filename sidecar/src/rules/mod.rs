//! The thread that compiles the site's own rules and puts them in force.
//!
//! It is asked at the start, when the configuration is read again, and at each round, when it looks
//! whether a file was changed. Whatever becomes of it, the rules that are in force stay so: the
//! main thread only notices that it does not answer.

mod loader;
pub(crate) mod site_data;
pub(crate) mod site_tables;

use std::time::Duration;

use crossbeam::channel::{Receiver, Sender};
use job_types::time::UnixTime;

use crate::clock::now;
use crate::known::rule_load_report::RuleLoadReport;
use crate::message::Message;
use crate::worker::Worker;

pub(crate) use loader::Loader;

/// The name of the thread.
pub(crate) const NAME: &str = "rules";

/// How long the largest set of rules may take to compile; one of fifty takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the thread is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Whether it compiles also where no file has changed.
    must: bool,
}

/// Looks after the rules at each request, until the main thread has dropped its end.
pub(crate) fn run(mut loader: Loader, requests: &Receiver<Request>, sender: &Sender<Message>) {
    for Request { must } in requests {
        let state = loader.look(must, UnixTime(now()));
        let in_force = loader.in_force();
        if sender.send(Message::Rules(Box::new(RuleLoadReport { state, in_force }))).is_err() {
            return;
        }
    }
}

/// The thread, as the main thread knows it.
pub(crate) struct RulesThread {
    worker: Worker<Request>,
    /// Whether it is to compile once it has answered.
    must: bool,
    /// Whether it was told that it does not answer.
    is_told: bool,
}

impl RulesThread {
    /// The thread's two ends.
    pub(crate) fn new() -> (Self, Receiver<Request>) {
        let (worker, requests) = Worker::new();
        (Self { worker, must: false, is_told: false }, requests)
    }

    /// Has the thread look for changes, and compile if it must.
    pub(crate) fn ask(&mut self, must: bool) {
        self.must |= must;
        if self.worker.ask(Request { must: self.must }) {
            self.must = false;
        }
    }

    /// It has answered.
    pub(crate) fn answered(&mut self) {
        self.worker.answered();
        self.is_told = false;
        if self.must {
            self.ask(true);
        }
    }

    /// Whether it has not answered for so long that somebody has to be told; once for each time.
    pub(crate) fn hangs(&mut self) -> bool {
        let hangs = !self.is_told && self.worker.busy_since().is_some_and(|since| since.elapsed() > PATIENCE);
        self.is_told |= hangs;
        hangs
    }
}
