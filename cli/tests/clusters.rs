//! `queuecast probe` and `queuecast reserve --between` with `--clusters`, with made-up commands of
//! the clusters.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use common::{Said, Site, now, said};
use serde_json::{Value, json};

const JOB: [&str; 4] = ["--partition=batch", "--nodes=4", "--time=2:00:00", "--exclusive"];

/// Clusters by name, each with the script that runs in the place of ssh.
fn site(clusters: &[(&str, String)]) -> Site {
    let site = Site::usable();
    let mut configuration = format!("state_directory = \"{}\"\n", site.path().display());
    for (name, script) in clusters {
        let program = site.path().join(format!("to-{name}"));
        let asked = site.path().join(format!("asked-{name}"));
        fs::write(&program, format!("#!/bin/sh\necho \"$*\" >> {}\n{script}\n", asked.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        configuration += &format!("[clusters.{name}]\ncommand = \"{} queuecast\"\n", program.display());
    }
    fs::write(site.configuration(), configuration).unwrap();
    site
}

fn run(site: &Site, command: &str, more: &[&str]) -> Said {
    let between = format!("--between=uts{},uts{}", now().0 + 600, now().0 + 40_000);
    let arguments = [&[command][..], &JOB, &[&between, "--clusters=east,west"], more].concat();
    said(&mut site.command(&arguments))
}

/// What a cluster was asked, line by line.
fn asked(site: &Site, name: &str) -> Vec<String> {
    let lines = fs::read_to_string(site.path().join(format!("asked-{name}"))).unwrap_or_default();
    lines.lines().map(str::to_owned).collect()
}

/// An answer to a probe, with a slot that begins so many seconds from now.
fn slots(ahead: i64, availability: f64) -> Value {
    let start = now().0 + ahead;
    json!({
        "generation": 3, "planned_at": now().0, "ordinary_start": null, "best": 0, "notes": [],
        "request": {"partition": "batch", "account": "physics", "qos": null, "nodes": 4, "cpus": null, "limit_s": 7_200,
                    "earliest": start, "latest": start + 9_000, "prefer": "earliest"},
        "slots": [{"start": start, "end": start + 7_200, "availability": availability, "delayed_jobs": 1, "total_delay_s": 60,
                   "most_delay_s": 60, "idle_node_s": 0, "charged_node_s": 29_280, "allowed": true, "why_not": null}],
    })
}

fn granted() -> Value {
    let start = now().0 + 7_200;
    json!({
        "id": 7, "name": "queuecast-7-ab", "job_id": null, "state": "movable", "start": start, "end": start + 7_200, "nodes": 4,
        "window": {"earliest": start, "latest": start + 7_200}, "fixed_at": start, "refused": null, "parts": [],
        "charged_node_s": 29_280, "notes": [],
    })
}

/// A script that answers a probe, and does something else when a slot is to be reserved.
fn script(probed: &Value, reserve: &str) -> String {
    format!("case \"$*\" in *\" probe \"*) cat <<'END'\n{probed}\nEND\n;; *)\n{reserve}\n;; esac")
}

#[test]
fn slots_of_all_clusters_are_in_the_order_that_is_preferred() {
    let site = site(&[("east", script(&slots(2_000, 0.5), "")), ("west", script(&slots(9_000, 1.0), ""))]);
    let order = |prefer: &[&str]| -> Vec<String> {
        let said = run(&site, "probe", &[prefer, &["--json"]].concat());
        let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
        assert_eq!((said.status, &report["best"]), (0, &json!(0)), "{report}");
        report["slots"].as_array().unwrap().iter().map(|slot| slot["cluster"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order(&[]), ["west", "east"]);
    assert_eq!(order(&["--prefer=earliest"]), ["east", "west"]);
    assert_eq!(order(&["--prefer=latest"]), ["west", "east"]);
    // The job is described in words of sbatch, and nothing of it is this cluster's.
    let line = asked(&site, "east").pop().unwrap();
    assert!(line.contains("--nodes=4") && line.contains("--time=2:00:00") && line.contains("--json"), "{line}");
    assert!(!line.contains("clusters") && !line.contains("prefer"), "{line}");
}

#[test]
fn a_cluster_that_does_not_answer_is_named_and_left_out_within_seconds() {
    let site = site(&[("east", "exec sleep 60".to_owned()), ("west", script(&slots(9_000, 1.0), ""))]);
    let begin = Instant::now();
    let said = run(&site, "probe", &[]);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(said.status == 0 && said.error.contains("east is left out: no answer within 5 s"), "{}", said.error);
    assert!(said.output.contains("west") && said.output.contains("east is left out"), "{}", said.output);
}

#[test]
fn where_no_cluster_answers_that_is_an_error() {
    let broken = || "echo 'ssh: no route' >&2; exit 255".to_owned();
    for (command, scripts, status, named) in [
        ("probe", [broken(), broken()], 3, "west is left out: ssh: no route"),
        ("reserve", [broken(), broken()], 3, "none of the clusters answers"),
        ("probe", [script(&json!({"slots": "all"}), ""), "yes | head -c 9000000".to_owned()], 3, "its answer can't be read"),
    ] {
        let [east, west] = scripts;
        let said = run(&site(&[("east", east), ("west", west)]), command, &[]);
        assert!(said.status == status && said.error.contains(named), "{}: {}", said.status, said.error);
    }
}

#[test]
fn a_lost_slot_is_dropped_and_the_next_is_reserved() {
    let mut refused = granted();
    refused["state"] = "refused".into();
    refused["refused"] = json!({"reason": "2 nodes are free", "nearest": null});
    let lost = script(&slots(2_000, 1.0), &format!("cat <<'END'\n{refused}\nEND\nexit 1"));
    let site = site(&[("east", lost), ("west", script(&slots(7_200, 0.5), &format!("cat <<'END'\n{}\nEND", granted())))]);
    let said = run(&site, "reserve", &["--json"]);
    let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
    assert_eq!((said.status, &report["cluster"], &report["name"]), (0, &json!("west"), &json!("queuecast-7-ab")), "{report}");
    assert_eq!(report["tried"][0]["why"], "2 nodes are free", "{report}");
    assert_eq!(report["tried"].as_array().unwrap().len(), 1, "{report}");
    for key in ["id", "name", "job_id", "state", "start", "end", "nodes", "window", "fixed_at", "refused", "parts"] {
        assert!(report.get(key).is_some(), "no {key} in {report}");
    }
    let east = asked(&site, "east");
    let kinds: Vec<&str> = east.iter().map(|line| if line.contains(" probe ") { "probe" } else { "reserve" }).collect();
    assert_eq!(kinds, ["probe", "reserve", "probe"], "{east:?}");
    // The slot is the window.
    let asked = east[1].replace('\'', "");
    let window = asked.split_whitespace().find_map(|word| word.strip_prefix("--between=")).unwrap().to_owned();
    let ends: Vec<i64> = window.split(',').map(|end| end.trim_start_matches("uts").parse().unwrap()).collect();
    assert_eq!(ends[1] - ends[0], 7_200, "{window}");
    let shown = run(&site, "reserve", &[]).output;
    for line in ["lost", "to-west queuecast reservations cancel 7", "srun --reservation=queuecast-7-ab --partition=batch"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn after_a_broken_connection_no_other_cluster_is_asked() {
    let breaks = script(&slots(2_000, 1.0), "echo 'closed by remote host' >&2; exit 255");
    let site = site(&[("east", breaks), ("west", script(&slots(7_200, 0.5), "exit 0"))]);
    let said = run(&site, "reserve", &[]);
    assert_eq!(said.status, 3, "{}", said.output);
    assert!(said.output.contains("it is not known whether a slot was made on east: closed by remote host"), "{}", said.output);
    assert!(said.output.contains("to-east queuecast reservations"), "{}", said.output);
    assert!(asked(&site, "west").iter().all(|line| line.contains(" probe ")), "{:?}", asked(&site, "west"));
}

#[test]
fn a_job_is_not_submitted_with_the_slot() {
    let site = site(&[("east", String::new()), ("west", String::new())]);
    let said = run(&site, "reserve", &["--", "--wrap", "true"]);
    assert!(said.status == 2 && said.error.contains("sbatch --reservation"), "{}", said.error);
    assert!(asked(&site, "east").is_empty());
}
