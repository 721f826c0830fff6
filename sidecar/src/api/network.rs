//! The API for other hosts: HTTP by TCP, where each request carries a credential of munge.
//!
//! It has a thread of its own, and places of its own for its connections, so that whatever comes
//! over the network takes nothing from callers on the socket. Who asks is known only once a request
//! has arrived whole; until then a connection counts for the address that it comes from.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use slurm_conf::configuration::HostPort;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::background;
use super::credentials::{Credentials, MOST_AT_ONCE};
use super::listener::{ARRIVAL, MOST_TURNED_AWAY, PATIENCE, REST, answer, turn_away};
use super::places::Places;
use super::refused::Refused;
use super::routes::{Answering, read, router};

/// How many connections are open at once, from all hosts together.
pub(super) const MOST_CONNECTIONS: usize = 64;
/// How many of them may come from one host, so that idle ones of one host delay no other one.
pub(super) const MOST_CONNECTIONS_OF_A_HOST: usize = 16;

/// Listens in a thread of its own, which lives as long as the process. The thread also looks the
/// host up, which may take long; where nobody can listen there, it says so and ends.
///
/// # Errors
/// Where the thread can't be made.
pub(super) fn start(address: HostPort, answering: Answering, credentials: Credentials) -> io::Result<()> {
    let body = move || {
        let serving = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .max_blocking_threads(MOST_AT_ONCE + background::MOST_THREADS)
                .on_thread_start(background::lower_priority)
                .build()?;
            let listener = std::net::TcpListener::bind((address.host.as_str(), address.port))?;
            listener.set_nonblocking(true)?;
            tracing::info!(%address, "the API is served to other hosts");
            runtime.block_on(async { serve(TcpListener::from_std(listener)?, answering, credentials).await })
        };
        if let Err(error) = serving() {
            tracing::error!(%address, %error, "the API can't be served to other hosts");
        }
    };
    std::thread::Builder::new().name("api-network".to_owned()).spawn(body).map(drop)
}

/// Answers for as long as the process lives.
async fn serve(listener: TcpListener, answering: Answering, credentials: Credentials) -> io::Result<()> {
    let places = Places::new(MOST_CONNECTIONS, MOST_CONNECTIONS_OF_A_HOST);
    let turned_away = Arc::new(Semaphore::new(MOST_TURNED_AWAY));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection of the API from another host is not taken");
                sleep(REST).await;
                continue;
            }
        };
        if let Some(place) = places.take(host_of(peer)) {
            let arrived_by = Instant::now() + ARRIVAL;
            answer(stream, asked(answering.clone(), credentials.clone(), arrived_by), PATIENCE, place);
        } else {
            turn_away(stream, &turned_away);
        }
    }
}

/// By what a host is counted: its address, or of IPv6 its network, of which a host may have all
/// addresses (RFC 4291, section 2.5.4).
fn host_of(peer: SocketAddr) -> IpAddr {
    match peer.ip().to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

/// What answers the request of one connection, whatever its path.
fn asked(answering: Answering, credentials: Credentials, arrived_by: Instant) -> Router {
    let handler = move |request: Request| async move {
        admitted(answering, &credentials, request, arrived_by).await.unwrap_or_else(Refused::into_response)
    };
    Router::new().fallback(handler)
}

/// Answers a request once it is known whose it is.
async fn admitted(answering: Answering, credentials: &Credentials, request: Request, arrived_by: Instant) -> Result<Response, Refused> {
    let (parts, body) = request.into_parts();
    let credential = Credentials::carried(&parts)?;
    let body = read(Request::from_parts(parts.clone(), body), arrived_by).await?;
    let user = credentials.user(credential, &parts, &body).await?;
    let routes = TowerToHyperService::new(router(answering, user, arrived_by));
    let Ok(response) = routes.call(Request::from_parts(parts, Body::from(body))).await;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_one_host_may_have_count_as_one() {
        let host = |text: &str| host_of(text.parse().unwrap());
        assert_eq!(host("[2001:db8:0:1::1]:5"), host("[2001:db8:0:1:ffff::2]:6"));
        assert_ne!(host("[2001:db8:0:1::1]:5"), host("[2001:db8:0:2::1]:5"));
        assert_eq!(host("[::ffff:10.0.0.1]:5"), host("10.0.0.1:6"));
        assert_ne!(host("10.0.0.1:5"), host("10.0.0.2:5"));
    }
}
