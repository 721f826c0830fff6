//! The daemon's API, asked over its socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use daemon_api::Refusal;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long an answer may take: longer than the daemon takes for any.
const PATIENCE: Duration = Duration::from_secs(35);
/// How long is waited for what the daemon has at hand, as its snapshot, without which there is the
/// file for everybody.
const AT_HAND_PATIENCE: Duration = Duration::from_secs(5);
/// More than any answer has, in bytes.
const MOST_ANSWER_BYTES: usize = 16 << 20;

/// Why the daemon has not answered.
#[derive(Debug, Error)]
pub(crate) enum NotAnswered {
    /// Nobody listens at the socket.
    #[error(
        "queuecastd does not answer at {}: {source}; it runs on the host of slurmctld, where this command has to be run as well, \
         and an administrator starts it with `systemctl start queuecastd`",
        path.display()
    )]
    Away { path: PathBuf, source: io::Error },
    /// It has hung up, or needs too long.
    #[error("queuecastd has not answered: {0}")]
    Broken(String),
    /// It cannot answer for now.
    #[error("queuecastd does not answer for now: {}{}", .0.error, again(.0))]
    Busy(Refusal),
    /// It refuses the request.
    #[error("{}", .0.error)]
    Refused(Refusal),
}

fn again(refusal: &Refusal) -> String {
    refusal.retry_after_s.map(|seconds| format!("; ask again in {seconds} s")).unwrap_or_default()
}

/// Sends a request to the socket, and waits for the answer.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn post<A: DeserializeOwned>(socket: &Path, path: &str, request: &impl Serialize) -> Result<A, NotAnswered> {
    let body = serde_json::to_vec(request).map_err(|error| NotAnswered::Broken(error.to_string()))?;
    answer_in(ask(socket, Method::POST, path, body, (MOST_ANSWER_BYTES, PATIENCE))?)
}

/// Asks for what the daemon has at hand at a path.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn get<A: DeserializeOwned>(socket: &Path, path: &str) -> Result<A, NotAnswered> {
    answer_in(ask(socket, Method::GET, path, Vec::new(), (MOST_ANSWER_BYTES, AT_HAND_PATIENCE))?)
}

/// Reads an answer, or why there is none.
fn answer_in<A: DeserializeOwned>((status, body): (StatusCode, Bytes)) -> Result<A, NotAnswered> {
    if status == StatusCode::OK {
        return serde_json::from_slice(&body).map_err(|error| NotAnswered::Broken(error.to_string()));
    }
    let refusal = serde_json::from_slice(&body).unwrap_or_else(|_| Refusal::because(format!("status {status}")));
    Err(if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::REQUEST_TIMEOUT) {
        NotAnswered::Busy(refusal)
    } else {
        NotAnswered::Refused(refusal)
    })
}

/// The snapshot with what is this user's of it, of at most so many bytes.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn snapshot(socket: &Path, most_bytes: usize) -> Result<Vec<u8>, NotAnswered> {
    let (status, body) = ask(socket, Method::GET, daemon_api::SNAPSHOT, Vec::new(), (most_bytes, AT_HAND_PATIENCE))?;
    if status == StatusCode::OK { Ok(body.into()) } else { Err(NotAnswered::Broken(format!("status {status}"))) }
}

fn ask(
    socket: &Path,
    method: Method,
    path: &str,
    body: Vec<u8>,
    (most, patience): (usize, Duration),
) -> Result<(StatusCode, Bytes), NotAnswered> {
    let away = |source| NotAnswered::Away { path: socket.to_owned(), source };
    let broken = |error: &dyn std::fmt::Display| NotAnswered::Broken(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(away)?;
    runtime.block_on(async {
        let asked = async {
            let stream = UnixStream::connect(socket).await.map_err(|error| match error.kind() {
                // More callers wait than the system keeps.
                io::ErrorKind::WouldBlock => NotAnswered::Busy(Refusal::because("too many ask at once")),
                _ => away(error),
            })?;
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
            let connection = tokio::spawn(connection);
            let request = Request::builder().method(method).uri(path).header(HOST, "queuecastd").header(CONTENT_TYPE, "application/json");
            let request = request.body(Full::new(Bytes::from(body))).map_err(|error| broken(&error))?;
            let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), most).collect().await.map_err(|error| broken(&error))?;
            connection.abort();
            Ok((status, body.to_bytes()))
        };
        timeout(patience, asked).await.unwrap_or_else(|_| Err(NotAnswered::Broken(format!("nothing has come in {} s", patience.as_secs()))))
    })
}
