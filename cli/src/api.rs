//! The daemon's API, asked over its socket, or from another host over the network.

mod reach;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use daemon_api::Refusal;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::http::request::Builder;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use slurm_conf::configuration::HostPort;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use self::reach::Connection;
pub(crate) use self::reach::{Reach, is_here};

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
    /// Nobody listens on another host.
    #[error(
        "queuecastd does not answer at {place}: {source}; an administrator sees on that host whether it runs and serves other hosts \
         (`journalctl -u queuecastd`)"
    )]
    Unreachable { place: HostPort, source: io::Error },
    /// It can't be told who asks.
    #[error("no credential can be made for queuecastd on another host: {0}")]
    NoCredential(String),
    /// It doesn't take the credential.
    #[error("queuecastd does not take the credential: {}", .0.error)]
    NotTaken(Refusal),
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

/// Sends a request, and waits for the answer.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn post<A: DeserializeOwned>(reach: &Reach, path: &str, request: &impl Serialize) -> Result<A, NotAnswered> {
    let body = serde_json::to_vec(request).map_err(|error| NotAnswered::Broken(error.to_string()))?;
    answer_in(ask(reach, Method::POST, path, body, (MOST_ANSWER_BYTES, PATIENCE))?)
}

/// Asks for what the daemon has at hand at a path.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn get<A: DeserializeOwned>(reach: &Reach, path: &str) -> Result<A, NotAnswered> {
    answer_in(ask(reach, Method::GET, path, Vec::new(), (MOST_ANSWER_BYTES, AT_HAND_PATIENCE))?)
}

/// Reads an answer, or why there is none.
fn answer_in<A: DeserializeOwned>((status, body): (StatusCode, Bytes)) -> Result<A, NotAnswered> {
    if status == StatusCode::OK {
        return serde_json::from_slice(&body).map_err(|error| NotAnswered::Broken(error.to_string()));
    }
    Err(refused(status, &body))
}

/// Why there is no answer, by the status and what else was said.
fn refused(status: StatusCode, body: &[u8]) -> NotAnswered {
    let refusal = serde_json::from_slice(body).unwrap_or_else(|_| Refusal::because(format!("status {status}")));
    if status == StatusCode::UNAUTHORIZED {
        NotAnswered::NotTaken(refusal)
    } else if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::REQUEST_TIMEOUT) {
        NotAnswered::Busy(refusal)
    } else {
        NotAnswered::Refused(refusal)
    }
}

/// The snapshot with what is this user's of it, of at most so many bytes.
///
/// # Errors
/// [`NotAnswered`].
pub(crate) fn snapshot(reach: &Reach, most_bytes: usize) -> Result<Vec<u8>, NotAnswered> {
    let patience = if matches!(reach, Reach::Socket(_)) { AT_HAND_PATIENCE } else { PATIENCE };
    let (status, body) = ask(reach, Method::GET, daemon_api::SNAPSHOT, Vec::new(), (most_bytes, patience))?;
    if status == StatusCode::OK { Ok(body.into()) } else { Err(refused(status, &body)) }
}

fn ask(
    reach: &Reach,
    method: Method,
    path: &str,
    body: Vec<u8>,
    (most, patience): (usize, Duration),
) -> Result<(StatusCode, Bytes), NotAnswered> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(|error| broken(&error))?;
    runtime.block_on(async {
        let asked = async {
            let request = Request::builder().uri(path).header(HOST, "queuecastd").header(CONTENT_TYPE, "application/json");
            match reach.connect().await? {
                Connection::Here(stream) => exchange(stream, request.method(method), body, most).await,
                Connection::There(stream, signer) => {
                    let authorization = signer.authorization(method.as_str(), path, &body)?;
                    exchange(stream, request.method(method).header(AUTHORIZATION, authorization), body, most).await
                }
            }
        };
        timeout(patience, asked).await.unwrap_or_else(|_| Err(NotAnswered::Broken(format!("nothing has come in {} s", patience.as_secs()))))
    })
}

/// Sends a request on a connection, and takes an answer of at most so many bytes.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Builder,
    body: Vec<u8>,
    most: usize,
) -> Result<(StatusCode, Bytes), NotAnswered> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
    let connection = tokio::spawn(connection);
    let request = request.body(Full::new(Bytes::from(body))).map_err(|error| broken(&error))?;
    let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), most).collect().await.map_err(|error| broken(&error))?;
    connection.abort();
    Ok((status, body.to_bytes()))
}

fn broken(error: &dyn std::fmt::Display) -> NotAnswered {
    NotAnswered::Broken(error.to_string())
}
