//! Who is asked at which path, and how answers look.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use daemon_api::{MOST_REQUEST_BYTES, PROBE, Probe, Refusal, SNAPSHOT, VERSION};
use http_body_util::{BodyExt, Full, LengthLimitError};
use job_types::number::UserId;
use predictor_core::snapshot::Snapshot;
use serde::Serialize;
use snapshot_writer::for_reader;
use tokio::time::{Instant, timeout_at};

use super::callers::Callers;
use super::probing::Prober;
use super::refused::{Refused, json};
use super::{Latest, Standing};

/// What answers are made from.
#[derive(Debug, Clone)]
pub(super) struct Answering {
    pub(super) snapshot: Latest<Snapshot<Vec<u8>>>,
    pub(super) standing: Latest<Standing>,
    pub(super) prober: Prober,
    pub(super) callers: Callers,
}

impl Answering {
    /// By whom a caller is counted.
    pub(super) fn counted_as(&self, user: UserId) -> UserId {
        self.standing.lock().as_ref().map_or(user, |standing| standing.counted_as(user))
    }
}

/// The paths, for one caller whose request has to have arrived by then.
pub(super) fn router(answering: Answering, user: UserId, arrived_by: Instant) -> Router {
    let of_snapshot = answering.clone();
    let probe = move |request: Request| async move { answered(self::probe(&answering, user, request, arrived_by).await) };
    let snapshot = move || async move { self::snapshot(&of_snapshot, user).await.unwrap_or_else(Refused::into_response) };
    Router::new().route(PROBE, post(probe)).route(SNAPSHOT, get(snapshot)).fallback(not_known)
}

fn answered<A: Serialize>(answer: Result<A, Refused>) -> Response {
    answer.map_or_else(Refused::into_response, |answer| json(StatusCode::OK, &answer))
}

/// What a caller is told who has too many connections, or whom all others leave no room.
pub(super) async fn no_room() -> Response {
    Refused::for_now(StatusCode::TOO_MANY_REQUESTS, "too many connections are open", Duration::from_secs(1)).into_response()
}

async fn not_known(uri: Uri) -> Response {
    let path = uri.path();
    let is_another_version =
        !path.starts_with(VERSION) && path.strip_prefix("/v").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if is_another_version {
        let refusal = Refusal::of_key("version", format!("this version of the API is not known; known is {VERSION}"));
        return json(StatusCode::BAD_REQUEST, &refusal);
    }
    json(StatusCode::NOT_FOUND, &Refusal::because(format!("there is nothing at this path; known are {PROBE} and {SNAPSHOT}")))
}

/// Reads the body of a request.
async fn read(request: Request, arrived_by: Instant) -> Result<Vec<u8>, Refused> {
    let too_large =
        || Refused(StatusCode::PAYLOAD_TOO_LARGE, Refusal::because(format!("a request has at most {MOST_REQUEST_BYTES} bytes")));
    let told = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if told.is_some_and(|told| told > MOST_REQUEST_BYTES as u64) {
        return Err(too_large());
    }
    match timeout_at(arrived_by, to_bytes(request.into_body(), MOST_REQUEST_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Ok(Err(error)) if error.source().is_some_and(|source| source.is::<LengthLimitError>()) => Err(too_large()),
        Ok(Err(_)) => Err(Refused(StatusCode::BAD_REQUEST, Refusal::because("the request has not arrived whole"))),
        Err(_) => Err(Refused(StatusCode::REQUEST_TIMEOUT, Refusal::because("a request has to arrive within 5 s"))),
    }
}

async fn probe(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<daemon_api::Answer, Refused> {
    let bytes = read(request, arrived_by).await?;
    let wanted = Probe::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let probing = answering
        .callers
        .probe(answering.counted_as(user), std::time::Instant::now())
        .map_err(|after| Refused::for_now(StatusCode::TOO_MANY_REQUESTS, "a user has one probe at a time and ten a minute", after))?;
    answering.prober.ask(user, wanted, probing).await
}

/// Gives the caller's place for a snapshot back once all of it is sent, or nobody takes it any
/// more.
async fn snapshot(answering: &Answering, user: UserId) -> Result<Response, Refused> {
    let nothing = || {
        Refused(
            StatusCode::NOT_FOUND,
            Refusal::because("users' jobs are not private, or nothing is published yet: read the snapshot's file"),
        )
    };
    let snapshot = answering.snapshot.lock().clone().ok_or_else(nothing)?;
    let taking = answering.callers.take_snapshot(answering.counted_as(user)).ok_or_else(|| {
        Refused::for_now(
            StatusCode::TOO_MANY_REQUESTS,
            "a user takes one snapshot at a time, and few users at once",
            Duration::from_secs(1),
        )
    })?;
    let made = tokio::task::spawn_blocking(move || (for_reader(&snapshot, Some(user)), taking));
    let (bytes, taking) = made.await.map_err(|_| nothing())?;
    let body = Full::new(Bytes::from(bytes)).map_frame(move |frame| {
        let _held_until_sent = &taking;
        frame
    });
    Ok((StatusCode::OK, [(CONTENT_TYPE, "application/octet-stream")], Body::new(body)).into_response())
}
