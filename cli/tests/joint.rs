//! `queuecast reserve --clusters`: the cheapest set of reservations over several clusters.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{Said, Site, Wanted, line, said};
use job_types::options::Mode;
use job_types::policy::Policy;
use made_up_site::enforcing;
use serde_json::{Value, json};

/// Jobs like it waited 100 s on each cluster, whatever the time limit.
const JOB: [&str; 6] = ["reserve", "--user=61234", "--partition=batch", "--nodes=4", "--time=2:00:00", "--at=now+1hour"];

fn site(cluster: &'static str) -> Site {
    Site::with(&Wanted { cluster, ..Wanted::default() })
}

/// The two clusters, and what `--clusters` says of them.
fn two() -> (Site, Site, String) {
    let (east, west) = (site("east"), site("west"));
    let clusters = format!("--clusters=east={},west={}", east.path().display(), west.path().display());
    (east, west, clusters)
}

fn ask(site: &Site, arguments: &[&str]) -> Said {
    said(&mut site.command(arguments))
}

fn json_of(site: &Site, arguments: &[&str]) -> (i32, Value) {
    let said = ask(site, &[arguments, &["--format=json"]].concat());
    (said.status, serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {} {}", said.output, said.error)))
}

#[test]
fn one_cluster_is_taken_where_it_suffices_and_two_where_one_does_not() {
    let (east, _west, clusters) = two();
    let of = |probability: &str| json_of(&east, &[&JOB[..], &[&clusters, probability]].concat());
    let (status, one) = of("--probability=0.9");
    assert_eq!((status, &one["given"], &one["submitted"]), (0, &json!(true), &json!(false)), "{one}");
    let chosen = |report: &Value| report["clusters"].as_array().unwrap().iter().filter(|cluster| !cluster["chosen"].is_null()).count();
    assert_eq!(chosen(&one), 1, "{one}");
    let best = one["clusters"][0]["best"].as_f64().unwrap();
    assert!((0.95..1.0).contains(&best), "{one}");

    let (status, both) = of("--probability=0.999");
    assert_eq!((status, chosen(&both)), (0, 2), "{both}");
    // The joint probability is that of what is asked for on each.
    let asked: Vec<f64> = (0..2).map(|place| both["clusters"][place]["chosen"]["ask"].as_f64().unwrap()).collect();
    let joint = 1.0 - asked.iter().map(|ask| 1.0 - ask).product::<f64>();
    assert!((both["probability"].as_f64().unwrap() - joint).abs() < 1e-9 && joint >= 0.999, "{both}");
    assert!(asked.iter().all(|ask| *ask <= best), "{both}");
    for cluster in both["clusters"].as_array().unwrap() {
        let chosen = &cluster["chosen"];
        assert!(chosen["probability"].as_f64() >= chosen["ask"].as_f64(), "{cluster}");
        let options = chosen["options"].as_str().unwrap();
        let name = cluster["cluster"].as_str().unwrap();
        assert!(options.starts_with(&format!("-M {name} --reserve-at=")) && options.contains("--success-probability=0.9"), "{options}");
    }
    let sum: f64 = (0..2).map(|place| both["clusters"][place]["chosen"]["expected_node_hours"].as_f64().unwrap()).sum();
    assert!((both["expected_node_hours"].as_f64().unwrap() - sum).abs() < 1e-9, "{both}");
    assert!(both["notes"].to_string().contains("do not depend on each other"), "{both}");
}

#[test]
fn what_can_not_be_had_is_answered_with_the_best_and_status_1() {
    let (east, _west, clusters) = two();
    // Jobs of that size waited 5,000 s.
    let soon = ["reserve", "--user=61234", "-N16", "-t1:00:00", "--at=now+10minutes", "--probability=0.9", &clusters];
    let (status, report) = json_of(&east, &soon);
    assert_eq!((status, &report["given"]), (1, &json!(false)), "{report}");
    assert!(report["refused"].as_str().unwrap().contains("at best"), "{report}");
    let text = ask(&east, &soon);
    assert!(text.status == 1 && text.output.contains("not to be had: one of them would be kept with probability 0."), "{}", text.output);

    let (status, best) = json_of(&east, &[&JOB[..], &[&clusters, "--probability=best"]].concat());
    assert_eq!((status, &best["given"], &best["asked"]), (0, &json!(true), &json!("best")), "{best}");
    assert!(best["probability"].as_f64() > Some(0.999), "{best}");
}

#[test]
fn a_cluster_that_would_reserve_nothing_is_left_out_with_the_reason() {
    let east = site("east");
    let west = Site::with(&Wanted { cluster: "west", policy: Policy { mode: Mode::Observe, ..enforcing() }, ..Wanted::default() });
    let clusters = format!("--clusters=west={},east={}", west.path().display(), east.path().display());
    let (status, report) = json_of(&east, &[&JOB[..], &[&clusters, "--probability=0.9"]].concat());
    assert_eq!((status, &report["clusters"][0]["chosen"], &report["clusters"][0]["best"]), (0, &Value::Null, &Value::Null), "{report}");
    assert!(report["clusters"][0]["refused"].as_str().unwrap().contains("the mode for this job is observe"), "{report}");
    assert!(report["clusters"][1]["chosen"]["ask"].as_f64() >= Some(0.9), "{report}");
    fs::write(east.path().join("off"), "").unwrap();
    let (status, report) = json_of(&east, &[&JOB[..], &[&clusters, "--probability=0.9"]].concat());
    assert_eq!((status, &report["given"]), (1, &json!(false)), "{report}");
    assert!(report["clusters"][1]["refused"].as_str().unwrap().contains("switched off"), "{report}");
}

#[test]
fn the_state_directories_of_other_clusters_are_those_of_the_configuration_file() {
    let (east, west, _) = two();
    let configured = format!("state_directory = {:?}\n[clusters]\nwest = {:?}\n", east.path(), west.path());
    fs::write(east.configuration(), configured).unwrap();
    let arguments = [&JOB[..], &["--clusters=east,west", "--probability=0.999"]].concat();
    let found = ask(&east, &arguments);
    assert_eq!(found.status, 0, "{}", found.error);
    assert!(line(&found.output, "probability").contains("that one of them is kept"), "{}", found.output);
    assert!(found.output.contains("of cluster east,") && found.output.contains("of cluster west,"), "{}", found.output);
    assert_eq!(found.output.matches("ask sbatch").count(), 2, "{}", found.output);
    assert!(found.output.contains("nothing was submitted"), "{}", found.output);

    fs::write(east.configuration(), format!("state_directory = {:?}\n", east.path())).unwrap();
    let unknown = ask(&east, &arguments);
    assert!(unknown.status == 2 && unknown.error.contains("write west=DIR, or set it under [clusters]"), "{}", unknown.error);
    let swapped = format!("--clusters=west={}", east.path().display());
    let wrong = ask(&east, &[&JOB[..], &[&swapped]].concat());
    assert!(wrong.status == 2 && wrong.error.contains("is of cluster east, not west"), "{}", wrong.error);
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let (east, _west, clusters) = two();
    for (more, named) in [
        (vec!["--clusters=east=/a,east=/b"], "named twice"),
        (vec!["--clusters=ea;st"], "use the name of a cluster"),
        (vec!["--clusters=east="], "use the name of a cluster"),
        (vec![&clusters, "--plot=reserve.svg"], "cannot be used with"),
        (vec![&clusters, "--", "--wrap=true"], "jobs are submitted as yours"),
        (vec!["--", "--wrap=true"], "--clusters"),
    ] {
        let said = ask(&east, &[&JOB[..], &more].concat());
        assert!(said.status == 2 && said.error.contains(named), "{more:?}: {}", said.error);
    }
}

#[test]
fn standard_input_is_the_script_where_nothing_else_describes_the_job_and_is_told_otherwise() {
    let (east, _west, clusters) = two();
    let piped = |more: &[&str]| {
        let arguments = [&["reserve", "--user=61234", "--at=now+1hour", "--probability=0.9", "--format=json", &clusters], more].concat();
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"#!/bin/sh\n#SBATCH -p batch -N 4\n#SBATCH -t 2:00:00\n").unwrap();
        drop(writer);
        let said = said(east.command(&arguments).stdin(reader));
        let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
        (report["clusters"][0]["job"]["nodes"].clone(), report["notes"].to_string())
    };
    let (nodes, notes) = piped(&[]);
    assert_eq!(nodes, 4, "{notes}");
    assert!(!notes.contains("standard input"), "{notes}");
    let (nodes, notes) = piped(&["-N2", "-t60"]);
    assert_eq!(nodes, 2, "{notes}");
    assert!(notes.contains("standard input was not read"), "{notes}");
}
