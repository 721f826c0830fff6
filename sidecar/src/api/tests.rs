//! The API over its socket.

pub(super) mod firm_slots;
pub(super) mod from_snapshot;
mod network;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use daemon_api::{Answer, Preferred, Probe};
use job_types::firm::FirmPolicy;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, NOW as SITE_NOW, batch, enforcing, large_model};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

use super::callers::MOST_PROBES;
use super::listener::MOST_CONNECTIONS_OF_A_USER;
use super::*;
use crate::clock::now;
use crate::known::made_up::{cluster, job, running};
use crate::known::names::PartitionIndices;
use crate::plan::Question;

struct Served {
    _directory: tempfile::TempDir,
    path: PathBuf,
    api: Api,
}

fn served() -> Served {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("api-socket");
    let api = Api::start(&path).unwrap();
    Served { _directory: directory, path, api }
}

/// A cluster as it is now, with a job that runs and one that waits for all of its nodes; everybody
/// may have any slot.
fn standing() -> Standing {
    standing_under(vec![FirmPolicy::default()])
}

fn standing_under(policies: Vec<FirmPolicy>) -> Standing {
    let waits = QueuedJob { eligible: Some(now() - 100), ..job(2, JobState::Pending, 4) };
    let runs = QueuedJob { started: Some(now() - 600), ..running(1, 0, 2, 600) };
    let jobs = [runs, waits];
    let mut cluster = cluster(&jobs, Vec::new());
    cluster.read_at = UnixTime(now());
    let question = Question::new(&cluster, &PartitionIndices::new(), true, |_, _, _, _| None, &[]);
    Standing::new(7, Arc::new(question), Arc::default(), policies, Seconds(600))
}

fn probe() -> Probe {
    Probe {
        partition: None,
        account: None,
        qos: None,
        nodes: 2,
        cpus: None,
        limit_s: Some(600),
        earliest: now(),
        latest: now() + 6 * 3_600,
        prefer: Preferred::Earliest,
    }
}

impl Served {
    /// Sends bytes and returns all of the answer.
    fn sent(&self, bytes: &[u8]) -> String {
        let mut stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        // Whoever is refused before all has been read is not listened to any more.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, path: &str, body: &[u8]) -> (u16, String) {
        let head = format!("POST {path} HTTP/1.1\r\nhost: queuecastd\r\ncontent-length: {}\r\n\r\n", body.len());
        let answer = self.sent(&[head.as_bytes(), body].concat());
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    fn probed(&self, probe: &Probe) -> (u16, String) {
        self.post("/v1/probe", &serde_json::to_vec(probe).unwrap())
    }
}

#[test]
fn a_probe_is_answered_from_the_plan_that_stands() {
    let served = served();
    assert_eq!(served.probed(&probe()).0, 503, "there is no plan yet");
    served.api.set_standing(Some(standing()));
    let (status, body) = served.probed(&probe());
    assert_eq!(status, 200, "{body}");
    let answer: Answer = serde_json::from_str(&body).unwrap();
    assert_eq!((answer.generation, answer.request.partition.as_deref(), answer.request.limit_s), (7, Some("main"), Some(600)));
    assert!(answer.slots.len() >= 20, "{body}");
    let best = answer.chosen().unwrap();
    assert!(best.allowed && best.availability > 0.0 && best.end - best.start == 600, "{best:?}");
    assert_eq!(best.charged_node_s, 2 * 720);
    // The job at the head waits for all nodes, and has its place kept.
    assert!(answer.slots.iter().any(|slot| !slot.allowed && slot.why_not.as_deref().is_some_and(|why| why.contains("head of the queue"))));
    served.api.set_standing(None);
    assert_eq!(served.probed(&probe()).0, 503);
}

#[test]
fn what_the_policy_does_not_allow_is_told_with_its_reason() {
    let served = served();
    let answered = |policies: Vec<FirmPolicy>| -> Answer {
        served.api.set_standing(Some(standing_under(policies)));
        serde_json::from_str(&served.probed(&probe()).1).unwrap()
    };
    let ahead = FirmPolicy { ahead: Seconds(3_600), ..FirmPolicy::default() };
    let near = answered(vec![ahead.clone()]);
    assert!(near.slots.iter().all(|slot| slot.start <= near.planned_at + 3_700), "the window ends where the policy does");
    assert!(near.chosen().unwrap().allowed);
    for (policies, why) in [
        (Vec::new(), "gives no firm slots"),
        (vec![FirmPolicy { most_nodes: Some(1), ..ahead.clone() }], "too many"),
        (vec![FirmPolicy { users: Some(vec!["nobody else".to_owned()]), ..ahead }], "gives no firm slots"),
    ] {
        let answer = answered(policies);
        // What it does to others is told all the same.
        let best = answer.chosen().unwrap();
        assert!(!best.allowed && best.availability > 0.0, "{best:?}");
        assert!(answer.slots.iter().all(|slot| !slot.allowed && slot.why_not.is_some()));
        assert!(best.why_not.as_deref().is_some_and(|reason| reason.contains(why)), "{best:?}");
    }
    let choosy = FirmPolicy { least_availability: 2.0, ..FirmPolicy::default() };
    assert!(answered(vec![choosy]).chosen().unwrap().why_not.as_deref().unwrap().contains("availability"));
}

#[test]
fn what_cannot_be_had_is_refused_with_its_key() {
    let served = served();
    served.api.set_standing(Some(standing()));
    for (wrong, key) in [
        (Probe { partition: Some("none".to_owned()), ..probe() }, "partition"),
        (Probe { nodes: 1_000, ..probe() }, "nodes"),
        (Probe { limit_s: Some(86_400), ..probe() }, "latest"),
        (Probe { limit_s: Some(86_401), ..probe() }, "limit_s"),
        (Probe { earliest: 5, latest: 6, ..probe() }, "latest"),
    ] {
        let (status, body) = served.probed(&wrong);
        assert_eq!(status, 400, "{body}");
        assert!(body.contains(&format!("\"key\":\"{key}\"")), "{body}");
    }
    let (status, body) = served.post("/v1/probe", b"{\"nodes\": 1, \"users\": []}");
    assert!(status == 400 && body.contains("\"key\":\"users\""), "{body}");
    let (status, body) = served.post("/v2/probe", b"{}");
    assert!(status == 400 && body.contains("version"), "{body}");
    assert_eq!(served.post("/v1/none", b"{}").0, 404);
    assert!(served.sent(b"GET /v1/probe HTTP/1.1\r\nhost: x\r\n\r\n").starts_with("HTTP/1.1 405"));
}

#[test]
fn requests_that_are_too_large_or_too_often_are_refused_and_others_served() {
    let served = served();
    served.api.set_standing(Some(standing()));
    let large = vec![b' '; daemon_api::MOST_REQUEST_BYTES + 1];
    assert_eq!(served.post("/v1/probe", &large).0, 413);
    // One that does not say how large it is.
    let chunk = format!("{:x}\r\n", large.len());
    let chunked =
        [b"POST /v1/probe HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", chunk.as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();
    assert!(served.sent(&chunked).starts_with("HTTP/1.1 413"));
    let statuses: Vec<u16> = (0..MOST_PROBES + 2).map(|_| served.probed(&probe()).0).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), MOST_PROBES, "{statuses:?}");
    let (status, body) = served.probed(&probe());
    assert!(status == 429 && body.contains("retry_after_s"), "{body}");
    assert!(served.post("/v1/none", b"{}").0 == 404, "other requests are answered");
}

#[test]
fn a_request_that_does_not_arrive_is_not_waited_for() {
    let served = served();
    let begin = std::time::Instant::now();
    let answer = served.sent(b"POST /v1/probe HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let answer = served.sent(b"POST /v1/probe HTT");
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn idle_connections_of_a_user_are_bounded_and_let_go() {
    let served = served();
    let mut idle: Vec<UnixStream> = (0..MOST_CONNECTIONS_OF_A_USER).map(|_| UnixStream::connect(&served.path).unwrap()).collect();
    // They are taken in their order.
    assert!(served.sent(b"GET /v1/none HTTP/1.1\r\nhost: x\r\n\r\n").starts_with("HTTP/1.1 429"));
    drop(idle.pop());
    let served_again = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        served.sent(b"GET /v1/none HTTP/1.1\r\nhost: x\r\n\r\n").starts_with("HTTP/1.1 404")
    });
    assert!(served_again);
}

#[test]
fn a_user_whose_jobs_are_private_is_given_the_snapshot_with_them() {
    let served = served();
    let get: &[u8] = b"GET /v1/snapshot HTTP/1.1\r\nhost: x\r\n\r\n";
    assert!(served.sent(get).starts_with("HTTP/1.1 404"));
    let snapshot = MadeUpSite::new(SITE_NOW).partition(batch(enforcing())).learnt(&large_model(SITE_NOW, 2_000)).bytes();
    served.api.set_snapshot(snapshot.clone(), true);
    let answer = served.sent(get);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.len() > 1 << 18, "{}", answer.len());
    served.api.set_snapshot(vec![1, 2, 3], true);
    assert!(served.sent(get).starts_with("HTTP/1.1 200"), "bytes that are no snapshot are left");
    served.api.set_snapshot(snapshot, false);
    assert!(served.sent(get).starts_with("HTTP/1.1 404"));
}

#[test]
fn ten_thousand_malformed_requests_leave_nothing_behind() {
    let served = served();
    served.api.set_standing(Some(standing()));
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u8
    };
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    for round in 0..10_000_usize {
        let mut stream = UnixStream::connect(&served.path).unwrap();
        let body: Vec<u8> = (0..round % 64).map(|_| next()).collect();
        let head = [
            "POST /v1/probe HTTP/1.1\r\nhost: x\r\n\r\n",
            "",
            "GET \0 HTTP/9\r\n",
            "POST /v1/probe HTTP/1.1\r\ncontent-length: 8\r\n\r\n{\"a\":",
        ];
        let _ = stream.write_all(&[head[round % head.len()].as_bytes(), &body].concat());
    }
    let served_again = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        served.probed(&probe()).0 == 200
    });
    assert!(served_again && descriptors() < before + 20, "{} descriptors, {before} before", descriptors());
}
