//! The API for other hosts, where no munged answers.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use slurm_conf::configuration::HostPort;
use slurm_sys::munge::Munge;

use super::super::network::MOST_CONNECTIONS_OF_A_HOST;
use super::{Served, served};

/// The API, and the port at which it answers other hosts.
fn served_to_others() -> (Served, SocketAddr) {
    let served = served();
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let munge = Munge::new(Some(&served.path.with_file_name("no-munge-socket"))).unwrap();
    let address = HostPort { host: free.ip().to_string(), port: free.port() };
    served.api.serve_other_hosts(address, munge, "east").unwrap();
    while TcpStream::connect(free).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
    (served, free)
}

fn sent(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(path: &str, authorization: &str) -> Vec<u8> {
    format!("POST {path} HTTP/1.1\r\nhost: x\r\n{authorization}content-length: 2\r\n\r\n{{}}").into_bytes()
}

#[test]
fn without_a_credential_nothing_is_told_whatever_the_path() {
    let (_served, address) = served_to_others();
    for path in [daemon_api::PROBE, daemon_api::RESERVATIONS, "/v1/none", "/"] {
        for authorization in ["", "authorization: Basic AA==\r\n", "authorization: Munge AA\r\n"] {
            let answer = sent(address, &request(path, authorization));
            assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("www-authenticate: Munge"), "{answer}");
            assert!(answer.contains("carries a credential of munge"), "{answer}");
        }
    }
}

#[test]
fn a_credential_that_nobody_can_check_is_refused_for_now() {
    let (_served, address) = served_to_others();
    let answer = sent(address, &request(daemon_api::PROBE, "authorization: Munge MUNGE:AwQ=:\r\n"));
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("munged does not answer"), "{answer}");
}

#[test]
fn where_nobody_can_listen_the_socket_answers_all_the_same() {
    let served = served();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    for host in ["127.0.0.1", "no-such-host.invalid"] {
        let munge = Munge::new(None).unwrap();
        let address = HostPort { host: host.to_owned(), port };
        served.api.serve_other_hosts(address, munge, "east").unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(served.post("/v1/none", b"{}").0, 404);
}

#[test]
fn idle_connections_of_a_host_take_no_place_of_the_socket_and_are_let_go() {
    let (served, address) = served_to_others();
    let idle: Vec<TcpStream> = (0..MOST_CONNECTIONS_OF_A_HOST).map(|_| TcpStream::connect(address).unwrap()).collect();
    assert!(sent(address, &request("/", "")).starts_with("HTTP/1.1 429"));
    assert_eq!(served.post("/v1/none", b"{}").0, 404, "callers on the socket are served");
    // The head of a request has to arrive in five seconds.
    let begin = std::time::Instant::now();
    while !sent(address, &request("/", "")).starts_with("HTTP/1.1 401") {
        assert!(begin.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(idle);
}
