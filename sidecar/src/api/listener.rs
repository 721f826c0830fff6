//! The connections of the API.

use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use job_types::number::UserId;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};

use super::routes::{Answering, router};

/// How long the head of a request may take.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long a connection may last, with its request and its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long nobody is let in after the system has refused a connection, for want of descriptors
/// for one.
const REST: Duration = Duration::from_millis(200);
/// What a caller is told who has too many connections, or whom all others leave no room.
const NO_ROOM: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"error\":\"too many connections are open\",\"retry_after_s\":1}";

/// Answers for as long as the process lives.
pub(super) async fn serve(listener: UnixListener, answering: Answering) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => take(stream, &answering),
            Err(error) => {
                tracing::debug!(%error, "a connection of the API is not taken");
                sleep(REST).await;
            }
        }
    }
}

/// Serves a connection in a task of its own, if there is room for it.
fn take(stream: UnixStream, answering: &Answering) {
    let Ok(user) = stream.peer_cred().map(|caller| UserId(caller.uid())) else { return };
    let Some(place) = answering.callers.connect(user) else {
        // Whoever does not read that at once is told nothing.
        let _ = stream.try_write(NO_ROOM);
        return;
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router(answering.clone(), user)));
    // Whoever is slow or hangs up misses the answer, and nothing else.
    tokio::spawn(async move {
        let _ = timeout(PATIENCE, connection).await;
        drop(place);
    });
}
