//! A reader of accounting or of slurmctld, as the main thread knows it.

use slurm_sys::client;

use crate::metrics::{Metrics, Source};
use crate::worker::Worker;

/// A reader, and how it has answered.
pub(super) struct Reader<R> {
    pub(super) source: Source,
    worker: Worker<R>,
    /// Whether its last answer was one; nothing before the first.
    pub(super) is_up: Option<bool>,
    pub(super) last_error: Option<client::ClientError>,
}

impl<R> Reader<R> {
    pub(super) fn new(source: Source, worker: Worker<R>) -> Self {
        Self { source, worker, is_up: None, last_error: None }
    }

    /// Asks the reader, unless it has not answered yet.
    pub(super) fn ask(&mut self, request: R) {
        self.worker.ask(request);
    }

    /// Whether it has been asked and has not answered.
    pub(super) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }

    /// Notes an answer; what changes is logged, what stays so is not.
    pub(super) fn answered(&mut self, metrics: &Metrics, error: Option<client::ClientError>) {
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
}
