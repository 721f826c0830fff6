//! `queuecast reserve --between` and `queuecast reservations cancel`, with a made-up daemon and a
//! made-up sbatch.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};

use common::{Said, Site, line, now, said};
use serde_json::{Value, json};

const JOB: [&str; 7] =
    ["reserve", "--partition=batch", "--nodes=4", "--time=2:00:00", "--exclusive", "--account=physics", "--between=now+1hour,now+9hours"];

/// A daemon that answers one request; the handle gives its path and body.
fn daemon(site: &Site, status: u16, answer: &Value) -> JoinHandle<(String, Value)> {
    let listener = UnixListener::bind(site.path().join("api-socket")).unwrap();
    let answer = answer.to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let length = |text: &str| text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let (head, body) = loop {
            let mut some = [0; 4_096];
            let read = stream.read(&mut some).unwrap();
            request.extend_from_slice(&some[..read]);
            let text = String::from_utf8(request.clone()).unwrap();
            match text.split_once("\r\n\r\n") {
                Some((head, body)) if body.len() >= length(head) => break (head.to_owned(), body.to_owned()),
                _ => assert!(read > 0, "the request has not arrived whole: {text}"),
            }
        };
        let head_of_answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
        stream.write_all(format!("{head_of_answer}{answer}").as_bytes()).unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), serde_json::from_str(&body).unwrap())
    })
}

/// A slot of four nodes for two hours that begins in two hours.
fn granted() -> Value {
    let start = now().0 + 7_200;
    json!({
        "id": 7, "name": "queuecast_7", "job_id": null, "user": 1_000, "account": "physics", "partition": "batch", "nodes": 4,
        "limit_s": 7_200, "state": "movable", "start": start, "end": start + 7_200,
        "window": {"earliest": start - 3_600, "latest": start + 25_200}, "fixed_at": start - 600, "moved": 0, "charged_node_s": 4 * 7_320,
        "refused": null,
    })
}

fn refused() -> Value {
    let mut slot = granted();
    for key in ["name", "start", "end", "fixed_at"] {
        slot[key] = Value::Null;
    }
    slot["state"] = "refused".into();
    slot["refused"] = json!({"reason": "no slot is free", "nearest": "now+2hours,now+30hours"});
    slot
}

/// An sbatch that writes its arguments into a file, one a line, and does this.
fn with_sbatch(site: &Site, then: &str, arguments: &[&str]) -> (Said, String) {
    let directory = site.path().to_str().unwrap();
    let (program, written) = (site.path().join("sbatch"), site.path().join("arguments"));
    fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\n{then}\n", written.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = site.command(&[&JOB[..], &["--state-directory", directory], arguments].concat());
    let said = said(command.env("PATH", format!("{directory}:/usr/bin:/bin")));
    (said, fs::read_to_string(written).unwrap_or_default())
}

#[test]
fn a_slot_is_asked_of_the_daemon_and_told_with_what_it_takes_to_use_it() {
    let site = Site::usable();
    let asked = daemon(&site, 200, &granted());
    let said = site.run(&[&JOB[..], &["--notice=1h", "--prefer=latest"]].concat());
    assert_eq!(said.status, 0, "{}", said.error);
    let (path, body) = asked.join().unwrap();
    assert_eq!(path, "/v1/reserve");
    for (key, value) in [
        ("partition", json!("batch")),
        ("account", json!("physics")),
        ("nodes", json!(4)),
        ("cpus", Value::Null),
        ("limit_s", json!(7_200)),
        ("prefer", json!("latest")),
        ("notice_s", json!(3_600)),
    ] {
        assert_eq!(body[key], value, "{key}: {body}");
    }
    assert_eq!(body["latest"].as_i64().unwrap() - body["earliest"].as_i64().unwrap(), 8 * 3_600);
    assert!(line(&said.output, "number").ends_with(" 7") && line(&said.output, "reservation").ends_with("queuecast_7"), "{}", said.output);
    assert!(line(&said.output, "may move").contains("until"), "{}", said.output);
    // Four nodes for two hours and two minutes.
    assert!(line(&said.output, "charged").contains("8.13 node-hours to physics"), "{}", said.output);
    for command in [
        "srun --reservation=queuecast_7 --partition=batch --account=physics ...",
        "sbatch --reservation=queuecast_7",
        "queuecast reservations cancel 7",
    ] {
        assert!(said.output.contains(command), "{command}: {}", said.output);
    }
}

#[test]
fn the_keys_of_json_are_those_of_the_contract() {
    let site = Site::usable();
    let asked = daemon(&site, 200, &granted());
    let (status, report) = site.json(&JOB);
    asked.join().unwrap();
    assert_eq!(status, 0, "{report}");
    for key in ["id", "name", "job_id", "state", "start", "end", "nodes", "window", "fixed_at", "refused", "parts"] {
        assert!(report.get(key).is_some(), "no {key} in {report}");
    }
    assert_eq!((&report["id"], &report["state"], &report["parts"]), (&json!(7), &json!("movable"), &json!([])), "{report}");
    assert_eq!(report["charged_node_s"], 4 * 7_320);
}

#[test]
fn without_a_slot_the_status_is_1_with_the_reason_and_the_nearest_window() {
    let site = Site::usable();
    let asked = daemon(&site, 200, &refused());
    let said = site.run(&JOB);
    asked.join().unwrap();
    assert_eq!(said.status, 1, "{}", said.error);
    assert!(said.output.contains("not to be had: no slot is free"), "{}", said.output);
    assert!(said.output.contains("--between now+2hours,now+30hours") && !said.output.contains("srun"), "{}", said.output);
}

#[test]
fn the_exit_status_says_who_refused() {
    for (status, answer, expected, named) in [
        (400, json!({"error": "limit_s: at most 60", "key": "limit_s", "allowed": "at most 60"}), 2, "--time: at most 60"),
        (400, json!({"error": "x", "key": "notice_s", "allowed": "shorter"}), 2, "--notice: shorter"),
        (403, json!({"error": "the site gives none"}), 1, "the site gives none"),
        (429, json!({"error": "too often", "retry_after_s": 5}), 3, "ask again in 5 s"),
        (503, json!({"error": "see `queuecast reservations`"}), 3, "see `queuecast reservations`"),
    ] {
        let site = Site::usable();
        let asked = daemon(&site, status, &answer);
        let said = site.run(&JOB);
        asked.join().unwrap();
        assert!(said.status == expected && said.error.contains(named), "{status}: {} {}", said.status, said.error);
    }
    let away = Site::usable().run(&JOB);
    assert!(away.status == 3 && away.error.contains("queuecastd does not answer"), "{}", away.error);
}

#[test]
fn a_window_takes_the_place_of_a_time_and_of_what_belongs_to_it() {
    let site = Site::usable();
    for (more, named) in [
        (&["--at=18:00"][..], "cannot be used with"),
        (&["--probability=0.9"], "cannot be used with"),
        (&["--early-start=run"], "cannot be used with"),
        (&["--clusters=east"], "it is not known how east is asked"),
        (&["--clusters=east", "--notice=1h"], "cannot be used with"),
        (&["--clusters=east=/e"], "leave out its state directory"),
        (&["--clusters=east,east"], "named twice"),
        (&["--prefer=cheapest"], "name several with --clusters"),
        (&["--plot=slot.svg"], "cannot be used with"),
        (&["--notice=367d"], "use a duration from"),
        (&["--prefer=soon"], "--prefer"),
        (&["--user=0"], "--user"),
        (&["--array=1-3"], "--array"),
        (&["--begin=now+1hour"], "--begin"),
    ] {
        let said = site.run(&[&JOB[..], more].concat());
        assert!(said.status == 2 && said.error.contains(named), "{more:?}: {} {}", said.status, said.error);
    }
    let described = ["reserve", "--nodes=4", "--time=60"];
    for (more, named) in
        [(&[][..], "--at <TIME>"), (&["--at=18:00", "--notice=1h"], "--notice"), (&["--at=18:00", "--prefer=latest"], "--prefer")]
    {
        let said = site.run(&[&described[..], more].concat());
        assert!(said.status == 2 && said.error.contains(named), "{more:?}: {} {}", said.status, said.error);
    }
    let backwards = site.run(&["reserve", "-N4", "-t60", "--between=now+2hours,now+1hour"]);
    assert!(backwards.status == 2 && backwards.error.contains("does not end after it begins"), "{}", backwards.error);
}

#[test]
fn with_arguments_of_sbatch_the_job_is_submitted_with_the_window() {
    let site = Site::usable();
    let (said, arguments) =
        with_sbatch(&site, "echo '12;test'; echo 'queuecast: asked' >&2", &["--notice=10m", "--", "--wrap", "srun true"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert!(said.output.contains("job 12") && said.output.contains("queuecast: asked"), "{}", said.output);
    let arguments: Vec<&str> = arguments.lines().collect();
    let (own, given) = arguments.split_at(3);
    assert_eq!((own[0], own[2]), ("--parsable", "--reserve-notice=600s"), "{arguments:?}");
    let window = own[1].strip_prefix("--reserve-window=uts").unwrap().split_once(",uts").unwrap();
    assert_eq!(window.1.parse::<i64>().unwrap() - window.0.parse::<i64>().unwrap(), 8 * 3_600);
    let expected = ["--partition=batch", "--nodes=4", "--time=2:00:00", "--exclusive", "--account=physics", "--wrap", "srun true"];
    assert_eq!(given, expected);

    let (said, _) = with_sbatch(&site, "echo 'sbatch: error: refused' >&2; exit 1", &["--json", "--", "--wrap=true"]);
    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!((said.status, &report["job_id"], &report["state"]), (1, &Value::Null, &json!("refused")), "{report}");
    assert!(report["refused"]["reason"].as_str().unwrap().contains("error: refused"), "{report}");

    let (said, arguments) = with_sbatch(&site, "echo 12", &["--prefer=latest", "--", "--wrap=true"]);
    assert!(said.status == 2 && said.error.contains("--prefer"), "{}", said.error);
    assert!(arguments.contains("--wrap=true"), "sbatch was run again: {arguments}");
}

#[test]
fn a_slot_is_given_back_by_its_number() {
    let site = Site::empty();
    let mut slot = granted();
    slot["state"] = "cancelled".into();
    let asked = daemon(&site, 200, &slot);
    let said = site.run(&["reservations", "cancel", "7"]);
    assert_eq!((said.status, said.output.as_str()), (0, "firm slot 7 (queuecast_7): cancelled\n"), "{}", said.error);
    assert_eq!(asked.join().unwrap(), ("/v1/cancel".to_owned(), json!({"id": 7})));

    let site = Site::empty();
    let asked = daemon(&site, 404, &json!({"error": "you have no such firm slot"}));
    let said = site.run(&["reservations", "cancel", "8"]);
    asked.join().unwrap();
    assert!(said.status == 1 && said.error.contains("you have no such firm slot"), "{}", said.error);

    let site = Site::empty();
    assert_eq!(site.run(&["reservations", "cancel", "8"]).status, 3, "nobody listens");
    for wrong in [&["reservations", "cancel"][..], &["reservations", "cancel", "queuecast_7"], &["reservations", "--me", "cancel", "7"]] {
        assert_eq!(site.run(wrong).status, 2, "{wrong:?}");
    }
}
