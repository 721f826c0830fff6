//! A reader of accounting or of slurmctld, as the main thread knows it.

use crossbeam::channel::Sender;
use slurm_sys::client;

use crate::metrics::{Metrics, Source};

/// A reader, and how it has answered.
pub(super) struct Asked<R> {
    pub(super) source: Source,
    requests: Sender<R>,
    /// It has been asked and has not answered.
    pub(super) is_busy: bool,
    /// Whether its last answer was one; nothing before the first.
    pub(super) is_up: Option<bool>,
    pub(super) last_error: Option<client::ClientError>,
}

impl<R> Asked<R> {
    pub(super) fn new(source: Source, requests: Sender<R>) -> Self {
        Self { source, requests, is_busy: false, is_up: None, last_error: None }
    }

    pub(super) fn ask(&mut self, request: R) {
        if !self.is_busy {
            self.is_busy = self.requests.try_send(request).is_ok();
        }
    }

    /// Notes an answer; what changes is logged, what stays so is not.
    pub(super) fn answered(&mut self, metrics: &Metrics, error: Option<client::ClientError>) {
        self.is_busy = false;
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
