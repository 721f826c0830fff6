//! The readers of accounting and of slurmctld, as the main thread knows them.

use std::sync::Arc;

use job_types::time::Seconds;
use slurm_sys::client::ClientError;

use crate::clock::ControllerClock;
use crate::known::cluster::Cluster;
use crate::metrics::{Metrics, Source};
use crate::read::accounting;
use crate::worker::Worker;

/// A reader, and how it has answered.
pub(super) struct Reader<R> {
    source: Source,
    worker: Worker<R>,
    /// Whether its last answer was one; nothing before the first.
    is_up: Option<bool>,
    last_error: Option<ClientError>,
}

impl<R> Reader<R> {
    fn new(source: Source, worker: Worker<R>) -> Self {
        Self { source, worker, is_up: None, last_error: None }
    }

    /// Asks the reader, unless it has not answered yet.
    pub(super) fn ask(&mut self, request: R) {
        self.worker.ask(request);
    }

    /// Notes an answer; what changes is logged, what stays so is not.
    pub(super) fn answered(&mut self, metrics: &Metrics, error: Option<ClientError>) {
        self.worker.answered();
        let (is_up, source) = (error.is_none(), self.source.name());
        metrics.source(self.source, is_up);
        match &error {
            None if self.is_up != Some(true) => tracing::info!(source, "answers"),
            Some(error) if self.last_error.as_ref() != Some(error) => tracing::warn!(source, %error, "does not answer"),
            Some(error) => tracing::debug!(source, %error, "still does not answer"),
            None => {}
        }
        self.is_up = Some(is_up);
        self.last_error = error;
    }

    /// Whether the reader has answered, with records or with an error.
    pub(super) fn has_answered(&self) -> bool {
        self.is_up.is_some()
    }

    /// Whether the reader's last answer was no error.
    pub(super) fn is_up(&self) -> bool {
        self.is_up == Some(true)
    }

    /// Takes the reader for one that has not answered yet.
    pub(super) fn start_afresh(&mut self) {
        self.is_up = None;
    }
}

/// The readers of slurmdbd and of slurmctld, and whether slurmctld's clock is this machine's.
pub(super) struct Readers {
    pub(super) accounting: Reader<accounting::Request>,
    pub(super) controller: Reader<()>,
    controller_clock: ControllerClock,
}

impl Readers {
    /// Readers that have not been asked yet.
    pub(super) fn new(accounting: Worker<accounting::Request>, controller: Worker<()>) -> Self {
        Self {
            accounting: Reader::new(Source::Accounting, accounting),
            controller: Reader::new(Source::Controller, controller),
            controller_clock: ControllerClock::new(),
        }
    }

    /// Asks those readers that owe no answer. `cluster` is what slurmctld said last. With `keep`
    /// the answer of accounting says how far it has read.
    pub(super) fn ask(&mut self, cluster: Option<Arc<Cluster>>, keep: bool) {
        self.accounting.ask(accounting::Request { cluster, keep });
        self.controller.ask(());
    }

    /// Whether an answer is still to come.
    pub(super) fn owe_answers(&self) -> bool {
        self.accounting.worker.is_busy() || self.controller.worker.is_busy()
    }

    /// Takes by how much slurmctld's clock is ahead of this machine's.
    pub(super) fn look_at_clock(&mut self, controller_ahead: Option<Seconds>) {
        self.controller_clock.look(controller_ahead);
    }

    /// The error of the last answers; that of accounting where both have one.
    pub(super) fn error(&self) -> Option<ClientError> {
        self.accounting.last_error.clone().or(self.controller.last_error.clone())
    }

    /// Which sources have not answered yet or answered with an error, as the end of a line for
    /// people; empty where there is none.
    pub(super) fn away(&self) -> String {
        let sources = [(self.accounting.is_up(), self.accounting.source), (self.controller.is_up(), self.controller.source)];
        let away: Vec<&str> = sources.into_iter().filter(|(is_up, _)| !is_up).map(|(_, source)| source.name()).collect();
        if away.is_empty() { String::new() } else { format!("; {} away", away.join(" and ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam::channel::Receiver;

    fn readers() -> (Readers, Receiver<accounting::Request>, Receiver<()>, Metrics) {
        let (accounting, of_accounting) = Worker::new();
        let (controller, of_controller) = Worker::new();
        let (metrics, _registry) = Metrics::new("filter-counters".into(), "rule-counters".into());
        (Readers::new(accounting, controller), of_accounting, of_controller, metrics)
    }

    fn error(reason: &str) -> Option<ClientError> {
        Some(ClientError::Reader { reason: reason.to_owned() })
    }

    #[test]
    fn a_reader_that_owes_an_answer_is_not_asked_again_and_the_other_one_is() {
        let (mut readers, of_accounting, of_controller, metrics) = readers();
        readers.ask(None, false);
        assert!(readers.owe_answers());
        readers.controller.answered(&metrics, None);
        assert!(readers.owe_answers(), "slurmdbd has not answered");
        readers.ask(None, true);
        assert_eq!((of_accounting.try_iter().count(), of_controller.try_iter().count()), (1, 1));
        readers.controller.answered(&metrics, None);
        readers.ask(None, true);
        assert_eq!((of_accounting.try_iter().count(), of_controller.try_iter().count()), (0, 1));
        readers.accounting.answered(&metrics, None);
        readers.controller.answered(&metrics, None);
        assert!(!readers.owe_answers());
    }

    #[test]
    fn a_source_is_away_until_it_has_answered_and_while_it_answers_with_errors() {
        let (mut readers, _of_accounting, _of_controller, metrics) = readers();
        assert_eq!(readers.away(), "; slurmdbd and slurmctld away");
        readers.accounting.answered(&metrics, None);
        assert_eq!(readers.away(), "; slurmctld away");
        readers.controller.answered(&metrics, None);
        assert_eq!(readers.away(), "");
        readers.accounting.answered(&metrics, error("refused"));
        assert_eq!(readers.away(), "; slurmdbd away");
        assert!(readers.accounting.has_answered() && !readers.accounting.is_up());
        readers.accounting.answered(&metrics, None);
        readers.accounting.start_afresh();
        assert!(!readers.accounting.has_answered());
    }

    #[test]
    fn the_error_of_accounting_is_told_before_slurmctlds_and_ends_with_an_answer() {
        let (mut readers, _of_accounting, _of_controller, metrics) = readers();
        assert_eq!(readers.error(), None);
        readers.controller.answered(&metrics, error("of slurmctld"));
        assert_eq!(readers.error(), error("of slurmctld"));
        readers.accounting.answered(&metrics, error("of slurmdbd"));
        assert_eq!(readers.error(), error("of slurmdbd"));
        readers.accounting.answered(&metrics, None);
        readers.controller.answered(&metrics, None);
        assert_eq!(readers.error(), None);
    }
}
