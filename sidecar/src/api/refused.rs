//! Why a request has no answer, and how answers are written.

use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use daemon_api::Refusal;
use daemon_api::credential::SCHEME;
use serde::Serialize;

/// The most names that a refusal lists.
const MOST_NAMES: usize = 32;

/// Why there is no answer, with its status.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) StatusCode, pub(crate) Refusal);

impl Refused {
    /// The caller may ask again in a while, which is whole seconds and at least one.
    pub(crate) fn for_now(status: StatusCode, error: &str, after: Duration) -> Self {
        let retry_after_s = Some(after.as_secs_f64().ceil().max(1.0) as u64);
        Self(status, Refusal { retry_after_s, ..Refusal::because(error) })
    }

    /// A key has a value that is not allowed.
    pub(super) fn wrong(key: &str, allowed: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, Refusal::of_key(key, allowed))
    }

    /// The response.
    pub(super) fn into_response(self) -> Response {
        let retry = self.1.retry_after_s.and_then(|seconds| HeaderValue::from_str(&seconds.to_string()).ok());
        let mut response = json(self.0, &self.1);
        if let Some(retry) = retry {
            response.headers_mut().insert(RETRY_AFTER, retry);
        }
        if self.0 == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(SCHEME));
        }
        response
    }
}

/// The names that are allowed.
pub(super) fn one_of(names: &[&str]) -> String {
    let (listed, more) = names.split_at(names.len().min(MOST_NAMES));
    let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    format!("one of {}{more}", listed.join(", "))
}

/// A body in JSON.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let Ok(body) = serde_json::to_vec(body) else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}
