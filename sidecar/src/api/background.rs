//! Answers that take a while are made beside the thread that serves all connections, with what
//! processors have left over.

use axum::http::StatusCode;
use daemon_api::Refusal;
use rustix::process::setpriority_process;

use super::refused::Refused;

/// How many threads make answers: each may have a user's copy of the snapshot.
pub(super) const MOST_THREADS: usize = 2;
/// The lowest priority of a thread (nice(2)).
const LOWEST_PRIORITY: i32 = 19;

/// Makes the calling thread one of the lowest priority.
pub(super) fn lower_priority() {
    // Of the calling thread, as Linux has it.
    if let Err(error) = setpriority_process(None, LOWEST_PRIORITY) {
        tracing::warn!(%error, "answers of the API are as urgent as all else: their priority can't be lowered");
    }
}

/// Makes an answer. A panic costs what is asked, not the daemon.
pub(super) async fn made<A: Send + 'static>(make: impl FnOnce() -> Result<A, Refused> + Send + 'static) -> Result<A, Refused> {
    tokio::task::spawn_blocking(make).await.unwrap_or_else(|_panic| {
        tracing::error!("an answer of the API has panicked: it is not given");
        Err(failed())
    })
}

/// What was asked has failed by a fault of ours.
pub(super) fn failed() -> Refused {
    Refused(StatusCode::INTERNAL_SERVER_ERROR, Refusal::because("the answer has failed; queuecastd has logged why"))
}
