//! Firm slots over the API's socket, with a made-up room behind it.

use axum::http::StatusCode;
use daemon_api::{Decided, FirmSlot, FirmSlots, Refusal, SlotWindow};
use job_types::slot::SlotState;
use job_types::together::{Decision, Token};

use super::super::callers::MOST_PROBES;
use super::{Served, served};
use crate::api::{Asked, Refused};

const RESERVE: &[u8] = br#"{"nodes": 2, "limit_s": 600, "earliest": 4000, "latest": 9000, "notice_s": 300}"#;

/// A granted slot of two nodes.
pub(in crate::api) fn slot(id: u64, user: u32) -> FirmSlot {
    FirmSlot {
        id,
        name: Some(format!("queuecast_{id}")),
        job_id: None,
        user,
        account: None,
        partition: "main".to_owned(),
        nodes: 2,
        limit_s: 600,
        state: SlotState::Movable,
        start: Some(5_000),
        end: Some(5_600),
        window: SlotWindow { earliest: 4_000, latest: 9_000 },
        fixed_at: Some(4_700),
        moved: 0,
        charged_node_s: 0,
        refused: None,
        together: None,
        confirm_by: None,
    }
}

/// A room that grants what is asked for, as slot 7, and gives back slot 7 and no other.
fn open_room(served: &Served) {
    let asked = served.api.firm_room().asked().clone();
    std::thread::spawn(move || {
        for asked in asked {
            match asked {
                Asked::Reserve { user, wanted, answer } => {
                    let granted = FirmSlot { nodes: wanted.probe.nodes, ..slot(7, user.0) };
                    let fixed_at = granted.start.zip(wanted.notice_s).map(|(start, notice)| start - notice);
                    let _ = answer.send(Ok(FirmSlot { fixed_at, ..granted }));
                }
                Asked::Cancel { user, id: 7, answer } => {
                    let _ = answer.send(Ok(FirmSlot { state: SlotState::Cancelled, ..slot(7, user.0) }));
                }
                Asked::Confirm { user, id: 7, answer } => {
                    let together = Some(Token::from(7));
                    let _ = answer.send(Ok(FirmSlot { together, ..slot(7, user.0) }));
                }
                Asked::Decision { answer, .. } => {
                    let _ = answer.send(Ok(Decided { decision: Decision::Open }));
                }
                Asked::Cancel { answer, .. } | Asked::Confirm { answer, .. } => {
                    let _ = answer.send(Err(Refused(StatusCode::NOT_FOUND, Refusal::because("you have no such firm slot"))));
                }
            }
        }
    });
}

#[test]
fn what_is_asked_for_reaches_the_room_with_who_asks_and_its_answer_comes_back() {
    let served = served();
    open_room(&served);
    let (status, body) = served.post("/v1/reserve", RESERVE);
    assert_eq!(status, 200, "{body}");
    let granted: FirmSlot = serde_json::from_str(&body).unwrap();
    assert_eq!(granted, slot(7, nix::unistd::geteuid().as_raw()));
    let (status, body) = served.post("/v1/cancel", br#"{"id": 7}"#);
    assert_eq!(status, 200, "{body}");
    assert_eq!(serde_json::from_str::<FirmSlot>(&body).unwrap().state, SlotState::Cancelled);
    let (status, body) = served.post("/v1/cancel", br#"{"id": 8}"#);
    assert!(status == 404 && body.contains("no such firm slot"), "{body}");
    let (status, body) = served.post("/v1/confirm", br#"{"id": 7}"#);
    assert!(status == 200 && body.contains("00000000000000000000000000000007"), "{body}");
    let (status, body) = served.post("/v1/decision", br#"{"together": "00000000000000000000000000000007"}"#);
    assert_eq!((status, body.as_str()), (200, r#"{"decision":"open"}"#));
}

#[test]
fn what_is_malformed_or_out_of_range_does_not_reach_the_room() {
    let served = served();
    for (path, body, key) in [
        ("/v1/reserve", &br#"{"nodes": 2, "earliest": 5, "latest": 6, "notice_s": -1}"#[..], "notice_s"),
        ("/v1/reserve", br#"{"nodes": 2, "earliest": 5, "latest": 6, "user": 0}"#, "user"),
        ("/v1/reserve", br#"{"nodes": 0, "earliest": 5, "latest": 6}"#, "nodes"),
        ("/v1/confirm", br#"{"id": -7}"#, "id"),
        ("/v1/decision", br#"{"together": 7}"#, "together"),
        ("/v1/cancel", br#"{"id": -7}"#, "id"),
        ("/v1/cancel", br#"{"id": 7, "force": true}"#, "force"),
        ("/v1/cancel", b"{}", "id"),
    ] {
        let (status, body) = served.post(path, body);
        assert!(status == 400 && body.contains(&format!("\"key\":\"{key}\"")), "{path}: {body}");
    }
    for path in ["/v1/reserve", "/v1/cancel"] {
        assert_eq!(served.post(path, b"{").0, 400);
        assert!(served.sent(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).starts_with("HTTP/1.1 405"));
    }
    assert_eq!(served.post("/v1/reservations", b"{}").0, 405);
    assert!(served.api.firm_room().asked().clone().is_empty());
}

#[test]
fn reservations_and_cancellations_count_as_probes_do() {
    let served = served();
    open_room(&served);
    let ask = |n: usize| if n.is_multiple_of(2) { served.post("/v1/reserve", RESERVE) } else { served.post("/v1/cancel", br#"{"id": 7}"#) };
    let statuses: Vec<u16> = (0..MOST_PROBES).map(|n| ask(n).0).collect();
    assert_eq!(statuses, [200; MOST_PROBES]);
    for path in ["/v1/reserve", "/v1/probe"] {
        let (status, body) = served.post(path, br#"{"nodes": 2, "earliest": 5, "latest": 6}"#);
        assert!(status == 429 && body.contains("retry_after_s"), "{path}: {body}");
    }
}

#[test]
fn the_slots_that_are_known_are_listed() {
    let served = served();
    let get: &[u8] = b"GET /v1/reservations HTTP/1.1\r\nhost: x\r\n\r\n";
    let not_yet = served.sent(get);
    assert!(not_yet.starts_with("HTTP/1.1 503") && not_yet.contains("retry_after_s"), "{not_yet}");
    let own = nix::unistd::geteuid().as_raw();
    for slots in [vec![], vec![slot(7, own), slot(8, own)]] {
        served.api.firm_room().list(slots.clone());
        let answer = served.sent(get);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let listed: FirmSlots = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(listed.slots, slots);
    }
}
