//! The connections on which metrics are asked for: few at once, and none for long.

use std::collections::VecDeque;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// How many connections are open at once. Of more, the oldest is closed: whoever scrapes asks at
/// once and has the answer within milliseconds.
pub(crate) const MOST_CONNECTIONS: usize = 32;
/// How long the head of a request may take.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long nobody is let in after the system has refused a connection, for want of descriptors
/// for one.
const REST: Duration = Duration::from_millis(200);

/// Answers for as long as the process lives.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection for metrics is not taken");
                sleep(REST).await;
                continue;
            }
        };
        open.retain(|connection| !connection.is_finished());
        while open.len() >= MOST_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        // Whoever is slow or hangs up misses the answer, and nothing else.
        let answered = tokio::spawn(async move {
            let _ = timeout(PATIENCE, connection).await;
        });
        open.push_back(answered.abort_handle());
    }
}
