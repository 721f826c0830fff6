//! Which user a request from another host comes from, as munge says it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use daemon_api::Refusal;
use daemon_api::credential::{SCHEME, Signed, credential_in};
use job_types::number::UserId;
use slurm_sys::munge::{Decoded, Munge, MungeError};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::refused::Refused;

/// How many credentials are shown to munged at a time: each takes it less than a millisecond.
pub(super) const MOST_AT_ONCE: usize = 4;
/// How long munged may take, with the wait for those before. libmunge itself tries for longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks credentials. Copies are of one.
#[derive(Debug, Clone)]
pub(super) struct Credentials {
    munge: Munge,
    /// `ClusterName`, for which credentials have to be made.
    cluster: Arc<str>,
    room: Arc<Semaphore>,
}

impl Credentials {
    /// Those of a cluster, by this munged.
    pub(super) fn new(munge: Munge, cluster: &str) -> Self {
        Self { munge, cluster: Arc::from(cluster), room: Arc::new(Semaphore::new(MOST_AT_ONCE)) }
    }

    /// The credential that a request carries.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn carried(parts: &Parts) -> Result<&str, Refused> {
        let header = parts.headers.get(AUTHORIZATION);
        header.and_then(|header| credential_in(header.as_bytes())).ok_or_else(|| {
            refused(format!(
                "from another host a request carries a credential of munge, in the header `Authorization: {SCHEME} CREDENTIAL`; \
                 `queuecast` makes one for each of its requests, and docs/api.md says how others do"
            ))
        })
    }

    /// The user who has made the credential for this request, which is used then.
    ///
    /// # Errors
    /// It was made for something else, munge refuses it, or munged does not answer.
    pub(super) async fn user(&self, credential: &str, parts: &Parts, body: &[u8]) -> Result<UserId, Refused> {
        let decoded = self.decoded(credential.to_owned()).await?;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let signed = Signed { cluster: &self.cluster, method: parts.method.as_str(), path, body };
        if decoded.payload != signed.digest().as_bytes() {
            return Err(refused(
                "the credential was made for something else: it has to contain the hash of this request and of this cluster's name",
            ));
        }
        Ok(decoded.user)
    }

    /// What munged says of a credential. A munged that hangs keeps a few threads busy, and callers
    /// from other hosts waiting for as long as they are patient, and nobody else.
    async fn decoded(&self, credential: String) -> Result<Decoded, Refused> {
        let away = |reason: &str| {
            tracing::debug!(reason, "the credential of a caller of the API is not checked");
            let error = format!("the credential can't be checked, because munged does not answer on the daemon's host: {reason}");
            Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, &error, PATIENCE)
        };
        let asked = async {
            let place = Arc::clone(&self.room).acquire_owned().await.ok()?;
            let munge = self.munge.clone();
            let decoding = move || {
                // The place is that of the thread, which goes on where nobody waits any more.
                let _place = place;
                munge.decode(&credential)
            };
            tokio::task::spawn_blocking(decoding).await.ok()
        };
        match timeout(PATIENCE, asked).await {
            Err(_) => Err(away("it takes too long")),
            Ok(None) => Err(away("it was not asked")),
            Ok(Some(Ok(decoded))) => Ok(decoded),
            Ok(Some(Err(MungeError::Away { reason }))) => Err(away(&reason)),
            Ok(Some(Err(error))) => Err(refused(format!("{error}; make a new credential for each request"))),
        }
    }
}

/// A request whose user is not known.
fn refused(error: impl Into<String>) -> Refused {
    Refused(StatusCode::UNAUTHORIZED, Refusal::because(error))
}
