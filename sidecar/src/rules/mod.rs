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
    /// Whether the site has rules in force, as it answered last.
    has_rules: bool,
}

impl RulesThread {
    /// The thread's two ends.
    pub(crate) fn new() -> (Self, Receiver<Request>) {
        let (worker, requests) = Worker::new();
        (Self { worker, must: false, is_told: false, has_rules: false }, requests)
    }

    /// Has the thread look for changes, and compile if it must.
    pub(crate) fn ask(&mut self, must: bool) {
        self.must |= must;
        if self.worker.ask(Request { must: self.must }) {
            self.must = false;
        }
    }

    /// It has answered, and says whether rules are in force. Returns whether they are and were not
    /// before.
    pub(crate) fn answered(&mut self, has_rules: bool) -> bool {
        self.worker.answered();
        self.is_told = false;
        if self.must {
            self.ask(true);
        }
        !std::mem::replace(&mut self.has_rules, has_rules) && has_rules
    }

    /// Whether it has not answered for so long that somebody has to be told; once for each time.
    pub(crate) fn hangs(&mut self) -> bool {
        let hangs = !self.is_told && self.worker.busy_since().is_some_and(|since| since.elapsed() > PATIENCE);
        self.is_told |= hangs;
        hangs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each request that has come says that it must compile.
    fn asked(requests: &Receiver<Request>) -> Vec<bool> {
        requests.try_iter().map(|request| request.must).collect()
    }

    #[test]
    fn rules_are_compiled_once_more_where_that_was_asked_for_while_they_were_compiled() {
        let (mut rules, requests) = RulesThread::new();
        rules.ask(true);
        rules.ask(false);
        assert_eq!(asked(&requests), [true], "it has not answered");
        rules.ask(true);
        rules.answered(true);
        assert_eq!(asked(&requests), [true]);
        rules.answered(true);
        rules.ask(false);
        assert_eq!(asked(&requests), [false]);
    }

    #[test]
    fn the_first_rules_in_force_are_told_from_those_that_follow() {
        let (mut rules, _requests) = RulesThread::new();
        assert!(!rules.answered(false));
        assert!(rules.answered(true));
        assert!(!rules.answered(true));
        assert!(!rules.answered(false));
        assert!(rules.answered(true), "there were none for a while");
    }
}
