//! Where users ask for firm slots and give them back. The room that makes reservations takes what
//! is asked here from the other end, one after the other, and answers it; nothing is decided here.

use std::time::Duration;

use axum::http::StatusCode;
use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use daemon_api::{Decided, FirmSlot, Refusal, Reserve};
use job_types::number::UserId;
use job_types::together::Token;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::refused::Refused;

/// How many requests may wait, of all users.
const MOST_WAITING: usize = 16;
/// How long an answer is waited for: with the 5 s that a request may take to arrive it is less than
/// a connection may last, so that the caller is told what has become of the request.
const PATIENCE: Duration = Duration::from_secs(20);

/// The end of an answer that the room has. It is closed once nobody waits for the answer any more.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, Refused>>;

/// What a user asks of the room.
#[derive(Debug)]
pub(crate) enum Asked {
    /// A firm slot, without a job.
    Reserve {
        /// Who asks.
        user: UserId,
        /// What is asked for. Nothing but its form has been checked.
        wanted: Reserve,
        /// Where the answer goes.
        answer: Answer<FirmSlot>,
    },
    /// That a firm slot is given back.
    Cancel {
        /// Who asks; whether the slot is this user's has not been checked.
        user: UserId,
        /// The number of the slot.
        id: u64,
        /// Where the answer goes.
        answer: Answer<FirmSlot>,
    },
    /// That a part is kept together with the others.
    Confirm {
        /// Who asks; whether the slot is this user's has not been checked.
        user: UserId,
        /// The number of the slot.
        id: u64,
        /// Where the answer goes.
        answer: Answer<FirmSlot>,
    },
    /// What was decided about parts.
    Decision {
        /// What they are known by, which who asks has been told.
        token: Token,
        /// Where the answer goes.
        answer: Answer<Decided>,
    },
}

/// The asking end. Copies are of one.
#[derive(Debug, Clone)]
pub(super) struct Desk(Sender<Asked>);

impl Desk {
    /// A desk, and the end from which the room takes what is asked.
    pub(super) fn new() -> (Self, Receiver<Asked>) {
        let (sender, asked) = bounded(MOST_WAITING);
        (Self(sender), asked)
    }

    /// Asks for a firm slot.
    ///
    /// # Errors
    /// Why there is none: what the room says, or that it does not answer now.
    pub(super) async fn reserve(&self, user: UserId, wanted: Reserve) -> Result<FirmSlot, Refused> {
        let late = "the firm slot is asked for, and it has not been found out yet whether it is to be had: \
                    `queuecast reservations` shows what becomes of it";
        self.ask(|answer| Asked::Reserve { user, wanted, answer }, late, PATIENCE).await
    }

    /// Gives a firm slot back.
    ///
    /// # Errors
    /// Why it stays: what the room says, or that it does not answer now.
    pub(super) async fn cancel(&self, user: UserId, id: u64) -> Result<FirmSlot, Refused> {
        let late = "the firm slot has not been given back yet: `queuecast reservations` shows what becomes of it";
        self.ask(|answer| Asked::Cancel { user, id, answer }, late, PATIENCE).await
    }

    /// Keeps a part together with the others.
    ///
    /// # Errors
    /// Why it is not certain that it is kept: what the room says, or that it does not answer now.
    pub(super) async fn confirm(&self, user: UserId, id: u64) -> Result<FirmSlot, Refused> {
        let late = "it is not known yet whether the firm slot is confirmed: ask which decision was taken";
        self.ask(|answer| Asked::Confirm { user, id, answer }, late, PATIENCE).await
    }

    /// Says what was decided about parts.
    ///
    /// # Errors
    /// The room does not answer now.
    pub(super) async fn decision(&self, token: Token) -> Result<Decided, Refused> {
        let late = "it is not known yet what was decided: ask again";
        self.ask(|answer| Asked::Decision { token, answer }, late, PATIENCE).await
    }

    async fn ask<T>(&self, asked: impl FnOnce(Answer<T>) -> Asked, late: &str, patience: Duration) -> Result<T, Refused> {
        let (answer, answered) = oneshot::channel();
        match self.0.try_send(asked(answer)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                let too_many = "too many requests for firm slots wait for their answers";
                return Err(Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, too_many, Duration::from_secs(5)));
            }
            Err(TrySendError::Disconnected(_)) => return Err(failed()),
        }
        match timeout(patience, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(failed())),
            // Whoever asked again would have two slots, so nobody is told to.
            Err(_) => Err(Refused(StatusCode::SERVICE_UNAVAILABLE, Refusal::because(late))),
        }
    }
}

fn failed() -> Refused {
    let error = "the request has failed, and queuecastd has logged why: `queuecast reservations` shows which firm slots there are";
    Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancel(answer: Answer<FirmSlot>) -> Asked {
        Asked::Cancel { user: UserId(1), id: 7, answer }
    }

    /// Why there is no answer to a request that is waited for a moment.
    fn refused(desk: &Desk) -> Refused {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(desk.ask(cancel, "later", Duration::from_millis(10))).unwrap_err()
    }

    #[test]
    fn who_is_not_answered_in_time_is_not_told_to_ask_again() {
        let (desk, asked) = Desk::new();
        let Refused(status, refusal) = refused(&desk);
        assert_eq!((status, refusal), (StatusCode::SERVICE_UNAVAILABLE, Refusal::because("later")));
        let Asked::Cancel { answer, .. } = asked.try_recv().unwrap() else { panic!("another request was made") };
        assert!(answer.is_closed(), "the room can tell that nobody waits any more");
    }

    #[test]
    fn so_many_requests_wait_and_further_ones_are_refused_for_now() {
        let (desk, asked) = Desk::new();
        for _ in 0..MOST_WAITING {
            assert_eq!(refused(&desk).1.error, "later");
        }
        let Refused(status, refusal) = refused(&desk);
        assert!(status == StatusCode::SERVICE_UNAVAILABLE && refusal.retry_after_s == Some(5), "{refusal:?}");
        assert_eq!(asked.len(), MOST_WAITING);
    }

    #[test]
    fn a_room_that_is_gone_is_not_waited_for() {
        let (desk, asked) = Desk::new();
        drop(asked);
        assert_eq!(refused(&desk).0, StatusCode::INTERNAL_SERVER_ERROR);
    }
}
