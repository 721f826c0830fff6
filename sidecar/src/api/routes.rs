//! Who is asked at which path, and how answers look.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use daemon_api::{
    CANCEL, CONFIRM, Cancel, Confirm, DECISION, Decided, FirmSlot, FirmSlots, MOST_REQUEST_BYTES, PREDICT, PROBE, Predict, Probe, QUEUE,
    Question, RESERVATIONS, RESERVE, Refusal, Reserve, SNAPSHOT, VERSION,
};
use forecast_report::Prediction;
use http_body_util::{BodyExt, Full, LengthLimitError};
use job_types::number::UserId;
use job_types::time::UnixTime;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::applicant::is_operator;
use super::background::{failed, made};
use super::callers::{Callers, Kind, LargeAnswer, UnderWay};
use super::desk::Desk;
use super::probing::Prober;
use super::published::Published;
use super::refused::{Refused, json};
use super::{Latest, Standing};
use crate::clock::now;

/// What answers are made from.
#[derive(Debug, Clone)]
pub(super) struct Answering {
    pub(super) published: Latest<Published>,
    /// Whether callers see the file of the snapshot, which they then read themselves where it is
    /// for everybody.
    pub(super) sees_file: bool,
    /// The file that switches the submit filter off while it is there.
    pub(super) switch: Arc<Path>,
    pub(super) standing: Latest<Standing>,
    pub(super) firm_slots: Latest<Vec<FirmSlot>>,
    pub(super) prober: Prober,
    pub(super) desk: Desk,
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
    let [of_reserve, of_confirm, of_decision, of_cancel] = [(); 4].map(|()| answering.clone());
    let [of_reservations, of_queue, of_predict, of_snapshot] = [(); 4].map(|()| answering.clone());
    let probe = move |request: Request| async move { answered(self::probe(&answering, user, request, arrived_by).await) };
    let reserve = move |request: Request| async move { answered(self::reserve(&of_reserve, user, request, arrived_by).await) };
    let confirm = move |request: Request| async move { answered(self::confirm(&of_confirm, user, request, arrived_by).await) };
    let decision = move |request: Request| async move { answered(self::decision(&of_decision, user, request, arrived_by).await) };
    let cancel = move |request: Request| async move { answered(self::cancel(&of_cancel, user, request, arrived_by).await) };
    let reservations = move || async move { answered(self::reservations(&of_reservations, user)) };
    let queue = move || async move { self::queue(&of_queue, user).await.unwrap_or_else(Refused::into_response) };
    let predict = move |request: Request| async move { answered(self::predict(&of_predict, user, request, arrived_by).await) };
    let snapshot = move || async move { self::snapshot(&of_snapshot, user).await.unwrap_or_else(Refused::into_response) };
    Router::new()
        .route(PROBE, post(probe))
        .route(RESERVE, post(reserve))
        .route(CONFIRM, post(confirm))
        .route(DECISION, post(decision))
        .route(CANCEL, post(cancel))
        .route(RESERVATIONS, get(reservations))
        .route(QUEUE, get(queue))
        .route(PREDICT, post(predict))
        .route(SNAPSHOT, get(snapshot))
        .fallback(not_known)
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
    let known = [PROBE, RESERVE, CONFIRM, DECISION, CANCEL, RESERVATIONS, QUEUE, PREDICT, SNAPSHOT].join(", ");
    json(StatusCode::NOT_FOUND, &Refusal::because(format!("there is nothing at this path; known are {known}")))
}

/// Reads the body of a request.
pub(super) async fn read(request: Request, arrived_by: Instant) -> Result<Vec<u8>, Refused> {
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
    let under_way = begin(answering, user)?;
    answering.prober.ask(user, wanted, under_way).await
}

/// Lets a user begin what takes a plan or a change of Slurm's, as seldom as a user may.
fn begin(answering: &Answering, user: UserId) -> Result<UnderWay, Refused> {
    let too_often = "a user has one probe, reservation or cancellation at a time, and ten of them a minute";
    let begun = answering.callers.begin(Kind::Probe, answering.counted_as(user), std::time::Instant::now());
    begun.map_err(|after| Refused::for_now(StatusCode::TOO_MANY_REQUESTS, too_often, after))
}

async fn reserve(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<FirmSlot, Refused> {
    let bytes = read(request, arrived_by).await?;
    let wanted = Reserve::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let _under_way = begin(answering, user)?;
    answering.desk.reserve(user, wanted).await
}

/// Confirming is no probe: who has reserved all parts can say so, however often they have asked.
async fn confirm(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<FirmSlot, Refused> {
    let bytes = read(request, arrived_by).await?;
    let Confirm { id } = Confirm::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let _under_way = question(answering, user)?;
    answering.desk.confirm(user, id).await
}

async fn decision(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<Decided, Refused> {
    let bytes = read(request, arrived_by).await?;
    let Question { token } = Question::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let _under_way = question(answering, user)?;
    answering.desk.decision(token).await
}

async fn cancel(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<FirmSlot, Refused> {
    let bytes = read(request, arrived_by).await?;
    let Cancel { id } = Cancel::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let _under_way = begin(answering, user)?;
    answering.desk.cancel(user, id).await
}

/// The firm slots that a caller may see.
fn reservations(answering: &Answering, user: UserId) -> Result<FirmSlots, Refused> {
    let not_yet = "queuecastd has not found out yet which firm slots there are";
    let slots = answering.firm_slots.lock().clone();
    let slots = slots.ok_or_else(|| Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, not_yet, Duration::from_secs(5)))?;
    Ok(visible_to(user, &slots))
}

/// The slots that are a user's; an operator's are all of them.
fn visible_to(user: UserId, slots: &[FirmSlot]) -> FirmSlots {
    FirmSlots { slots: slots.iter().filter(|slot| is_operator(user) || slot.user == user.0).cloned().collect() }
}

/// The jobs that wait, as far as the caller may see them.
async fn queue(answering: &Answering, user: UserId) -> Result<Response, Refused> {
    let published = published(answering)?;
    let under_way = question(answering, user)?;
    let place = large_answer(answering, user)?;
    let make = move || serde_json::to_vec(&published.queue(user, UnixTime(now()))?).map_err(|_| failed());
    let bytes = made(make).await?;
    Ok(large(bytes, "application/json", (under_way, place)))
}

/// What is forecast of a job that the caller would submit.
async fn predict(answering: &Answering, user: UserId, request: Request, arrived_by: Instant) -> Result<Prediction, Refused> {
    let bytes = read(request, arrived_by).await?;
    let wanted = Predict::read(&bytes).map_err(|refusal| Refused(StatusCode::BAD_REQUEST, refusal))?;
    let published = published(answering)?;
    let under_way = question(answering, user)?;
    let switch = Arc::clone(&answering.switch);
    let make = move || {
        let _until_it_is_made = under_way;
        let off = switch.symlink_metadata().is_ok().then_some(&*switch);
        published.predict(user, &wanted, off, UnixTime(now()))
    };
    made(make).await
}

/// The snapshot that is published.
fn published(answering: &Answering) -> Result<Arc<Published>, Refused> {
    let not_yet = || Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "queuecastd has published no snapshot yet", Duration::from_secs(30));
    answering.published.lock().clone().ok_or_else(not_yet)
}

/// Lets a user ask what the snapshot answers, as seldom as a user may.
fn question(answering: &Answering, user: UserId) -> Result<UnderWay, Refused> {
    let too_often = "a user asks for one forecast, decision or the queue at a time, and sixty times a minute";
    let begun = answering.callers.begin(Kind::Question, answering.counted_as(user), std::time::Instant::now());
    begun.map_err(|after| Refused::for_now(StatusCode::TOO_MANY_REQUESTS, too_often, after))
}

/// The snapshot with what is the caller's, where users' jobs are private.
async fn snapshot(answering: &Answering, user: UserId) -> Result<Response, Refused> {
    let nothing = || {
        Refused(
            StatusCode::NOT_FOUND,
            Refusal::because("users' jobs are not private, or nothing is published yet: read the snapshot's file"),
        )
    };
    let published =
        answering.published.lock().clone().filter(|published| published.hides_jobs() || !answering.sees_file).ok_or_else(nothing)?;
    let place = large_answer(answering, user)?;
    let bytes = made(move || Ok(published.bytes_of(user))).await?;
    Ok(large(bytes, "application/octet-stream", place))
}

/// A place for an answer that is large.
fn large_answer(answering: &Answering, user: UserId) -> Result<LargeAnswer, Refused> {
    let too_many = "a user takes one snapshot or queue at a time, and few users at once";
    let place = answering.callers.take_large_answer(answering.counted_as(user));
    place.ok_or_else(|| Refused::for_now(StatusCode::TOO_MANY_REQUESTS, too_many, Duration::from_secs(1)))
}

/// A response that gives the caller's places back once all of it is sent, or nobody takes it any
/// more.
fn large(bytes: Vec<u8>, content_type: &'static str, places: impl Send + 'static) -> Response {
    let length = bytes.len();
    let body = Full::new(Bytes::from(bytes)).map_frame(move |frame| {
        let _held_until_sent = &places;
        frame
    });
    // The body that holds the places does not say its length.
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(content_type)), (CONTENT_LENGTH, HeaderValue::from(length))];
    (StatusCode::OK, headers, Body::new(body)).into_response()
}

#[cfg(test)]
mod tests {
    use nix::unistd::geteuid;

    use super::super::tests::firm_slots::slot;
    use super::*;

    #[test]
    fn a_user_sees_no_slot_of_others_and_operators_see_all() {
        let own = geteuid().as_raw();
        let [mine, theirs] = [own.wrapping_add(1), own.wrapping_add(2)].map(|user| user.max(1));
        let slots = [slot(1, mine), slot(2, theirs), slot(3, mine)];
        let seen = |user: u32| -> Vec<u64> { visible_to(UserId(user), &slots).slots.iter().map(|slot| slot.id).collect() };
        assert_eq!([seen(mine), seen(theirs), seen(own.wrapping_add(3))], [vec![1, 3], vec![2], vec![]]);
        assert_eq!([seen(0), seen(own)], [[1, 2, 3], [1, 2, 3]]);
    }
}
