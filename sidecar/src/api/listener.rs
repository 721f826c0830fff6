//! The connections of the API over its socket, and what a connection may take over any.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use daemon_api::MOST_REQUEST_BYTES;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use job_types::number::UserId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::places::Places;
use super::routes::{Answering, no_room, router};

/// How many connections are open at once, of all callers together.
const MOST_CONNECTIONS: usize = 64;
/// How many of them may be one user's, so that idle ones of one user delay nobody else.
pub(super) const MOST_CONNECTIONS_OF_A_USER: usize = 8;
/// How long a request may take to arrive.
pub(super) const ARRIVAL: Duration = Duration::from_secs(5);
/// How long a connection may last, with its request and its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How long nobody is let in after the system has refused a connection, for want of descriptors
/// for one.
pub(super) const REST: Duration = Duration::from_millis(200);
/// How many callers at once are told that there is no room for them; further ones are told nothing.
pub(super) const MOST_TURNED_AWAY: usize = 16;
/// How long telling them may take.
const TURNING_AWAY: Duration = Duration::from_secs(1);

/// Answers for as long as the process lives.
pub(super) async fn serve(listener: UnixListener, answering: Answering) {
    let places = Places::new(MOST_CONNECTIONS, MOST_CONNECTIONS_OF_A_USER);
    let turned_away = Arc::new(Semaphore::new(MOST_TURNED_AWAY));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => take(stream, &answering, &places, &turned_away),
            Err(error) => {
                tracing::debug!(%error, "a connection of the API is not taken");
                sleep(REST).await;
            }
        }
    }
}

/// Serves a connection in a task of its own, if there is room for it.
fn take(stream: UnixStream, answering: &Answering, places: &Places<UserId>, turned_away: &Arc<Semaphore>) {
    let Ok(user) = stream.peer_cred().map(|caller| UserId(caller.uid())) else { return };
    if let Some(place) = places.take(answering.counted_as(user)) {
        let arrived_by = Instant::now() + ARRIVAL;
        answer(stream, router(answering.clone(), user, arrived_by), PATIENCE, place);
    } else {
        turn_away(stream, turned_away);
    }
}

/// Tells a caller that there is no place, where not too many are being told.
pub(super) fn turn_away(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, turned_away: &Arc<Semaphore>) {
    if let Ok(place) = Arc::clone(turned_away).try_acquire_owned() {
        answer(stream, Router::new().fallback(no_room), TURNING_AWAY, place);
    }
}

/// Serves a connection in a task that holds its place until it is answered.
pub(super) fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    patience: Duration,
    place: impl Send + 'static,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .max_buf_size(MOST_REQUEST_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // Whoever is slow or hangs up misses the answer, and nothing else.
    tokio::spawn(async move {
        let _ = timeout(patience, connection).await;
        drop(place);
    });
}
