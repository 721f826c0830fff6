//! A thread that is asked through a channel, as the thread that asks it knows it.

use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

/// The asking end of a thread's channel. Nothing here waits for the thread.
#[derive(Debug)]
pub(crate) struct Worker<R> {
    requests: Sender<R>,
    /// Since when the thread owes an answer.
    busy_since: Option<Instant>,
    is_alive: bool,
}

impl<R> Worker<R> {
    /// Returns both ends of a channel with room for one request.
    pub(crate) fn new() -> (Self, Receiver<R>) {
        Self::on(bounded(1))
    }

    /// Returns both ends of a channel without a bound, for requests that must not be left out.
    pub(crate) fn with_all_requests() -> (Self, Receiver<R>) {
        Self::on(unbounded())
    }

    fn on((requests, received): (Sender<R>, Receiver<R>)) -> (Self, Receiver<R>) {
        (Self { requests, busy_since: None, is_alive: true }, received)
    }

    /// Sends a request that the thread answers, unless it has not answered the one before. Returns
    /// whether there will be an answer.
    pub(crate) fn ask(&mut self, request: R) -> bool {
        let is_asked = !self.is_busy() && self.tell(request);
        if is_asked {
            self.busy_since = Some(Instant::now());
        }
        is_asked
    }

    /// Sends a request that the thread does not answer. Returns whether it was sent.
    pub(crate) fn tell(&self, request: R) -> bool {
        self.is_alive && self.requests.try_send(request).is_ok()
    }

    /// Whether the channel has room for a request.
    pub(crate) fn has_room(&self) -> bool {
        !self.requests.is_full()
    }

    /// Notes that the thread has answered.
    pub(crate) fn answered(&mut self) {
        self.busy_since = None;
    }

    /// Notes that the thread has ended: it will not answer any more, and is sent nothing.
    pub(crate) fn died(&mut self) {
        (self.busy_since, self.is_alive) = (None, false);
    }

    /// Whether the thread is still there to answer.
    pub(crate) fn is_alive(&self) -> bool {
        self.is_alive
    }

    /// Whether the thread owes an answer.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy_since.is_some()
    }

    /// Since when the thread owes an answer; `None` where it owes none.
    pub(crate) fn busy_since(&self) -> Option<Instant> {
        self.busy_since
    }
}

#[cfg(test)]
mod tests {
    use super::Worker;

    #[test]
    fn a_second_question_is_not_sent_before_the_first_is_answered() {
        let (mut worker, received) = Worker::new();
        assert!(worker.ask(1));
        assert_eq!(received.try_recv(), Ok(1));
        assert!(!worker.ask(2));
        assert!(received.is_empty());
        worker.answered();
        assert!(worker.ask(3));
        assert_eq!(received.try_recv(), Ok(3));
    }

    #[test]
    fn a_request_beyond_the_channels_room_is_left_out_and_nothing_waits() {
        let (worker, received) = Worker::new();
        assert!(worker.has_room() && worker.tell(1));
        assert!(!worker.has_room() && !worker.tell(2));
        assert_eq!(received.try_iter().collect::<Vec<_>>(), [1]);
        let (worker, received) = Worker::with_all_requests();
        assert!((0..1_000).all(|request| worker.tell(request)));
        assert_eq!(received.len(), 1_000);
    }

    #[test]
    fn a_thread_that_has_ended_is_sent_nothing_and_owes_nothing() {
        let (mut worker, received) = Worker::new();
        assert!(worker.ask(1));
        worker.died();
        assert!(!worker.is_busy() && !worker.is_alive() && worker.busy_since().is_none());
        assert_eq!(received.try_recv(), Ok(1));
        assert!(!worker.ask(2) && !worker.tell(3));
        assert!(received.is_empty());
        let (mut worker, received) = Worker::new();
        drop(received);
        assert!(!worker.ask(1), "whoever asked would wait for ever");
        assert!(!worker.is_busy());
    }
}
