//! The published methods of admission by deadline are replayed on a made-up log, and wrong
//! questions are answered as such.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Site, evaluated, site_with_log};
use serde_json::Value;

const LOG: &str = "model.swf";

fn json(site: &Site, arguments: &[&str]) -> Value {
    let said = evaluated(site, &[&["deadlines", LOG, "--last=120", "--format=json"], arguments].concat());
    assert_eq!(said.status, 0, "{}", said.error);
    serde_json::from_str(&said.output).unwrap()
}

fn points(report: &Value, figure: u64, policy: &str) -> Vec<Value> {
    let all = report["points"].as_array().unwrap();
    all.iter().filter(|point| point["figure"] == figure && point["policy"] == policy).cloned().collect()
}

#[test]
fn the_report_has_the_keys_of_the_contract_whatever_the_threads() {
    let site = site_with_log(LOG);
    let report = json(&site, &["--seeds=2", "--threads=1"]);
    assert_eq!((&report["log"], &report["jobs"], &report["nodes"]), (&"model".into(), &120.into(), &64.into()));
    for (figure, count) in [(1, 22), (2, 20), (3, 22), (4, 22)] {
        for policy in ["edf", "edf-without-admission", "libra", "libra-risk"] {
            let points = points(&report, figure, policy);
            assert_eq!(points.len(), count, "figure {figure}, {policy}");
            for point in &points {
                assert!(["accurate", "actual"].contains(&point["estimates"].as_str().unwrap()));
                let [fulfilled, accepted, late] = ["fulfilled_percent", "accepted", "late"].map(|key| point[key].as_f64().unwrap());
                assert!((fulfilled / 100.0 * 120.0 - (accepted - late)).abs() < 1e-6, "{point}");
                assert!(point["mean_slowdown"].as_f64().is_none_or(|slowdown| slowdown >= 1.0), "{point}");
                let ends = point["fulfilled_percent_interval"].as_array().unwrap();
                assert!(ends[0].as_f64().unwrap() <= fulfilled && fulfilled <= ends[1].as_f64().unwrap());
            }
        }
    }
    let statements = report["statements"].as_array().unwrap();
    assert!(statements.len() >= 15 && statements.iter().all(|statement| statement["holds"].is_boolean()));
    assert_eq!(report, json(&site, &["--seeds=2", "--threads=2"]));
}

/// With its own run times as estimates no job that is admitted is late, because what Libra takes
/// fits, and EDF starts nothing that would be late.
#[test]
fn with_accurate_estimates_whoever_is_admitted_is_in_time() {
    let site = site_with_log(LOG);
    for spare in ["--spare=given", "--spare=kept"] {
        let report = json(&site, &["--seeds=1", spare]);
        for policy in ["edf", "libra", "libra-risk"] {
            let points: Vec<Value> = (1..4).flat_map(|figure| points(&report, figure, policy)).collect();
            let accurate: Vec<&Value> = points.iter().filter(|point| point["estimates"] == "accurate").collect();
            assert!(accurate.iter().any(|point| point["accepted"].as_f64().unwrap() > 60.0));
            assert!(accurate.iter().all(|point| point["late"] == 0.0), "{policy} {spare}");
        }
    }
}

#[test]
fn admission_by_probability_is_replayed_on_shared_nodes_and_on_own_ones() {
    let site = site_with_log(LOG);
    let report = json(&site, &["--admission", "--history=80", "--probability=0.8,0.9"]);
    let rows = report["rows"].as_array().unwrap();
    let of = |scheduler: &'static str| rows.iter().filter(move |row| row["policy"] == "probability" && row["scheduler"] == scheduler);
    let wanted: Vec<f64> = of("shared nodes").map(|row| row["wanted"].as_f64().unwrap()).collect();
    assert_eq!((wanted, of("easy").count()), (vec![0.8, 0.9], 4));
    for row in of("shared nodes") {
        let figure = |key: &str| row[key].as_f64().unwrap_or_default();
        let fulfilled = figure("accepted") - figure("late") - figure("withdrawn");
        assert!((figure("fulfilled_percent") - 100.0 * fulfilled / figure("completing")).abs() < 1e-9 && fulfilled > 0.0, "{row}");
        assert!((figure("kept") - fulfilled / (fulfilled + figure("late"))).abs() < 1e-9, "{row}");
        assert!(figure("withdrawn") > 0.0 && figure("completing") < 120.0, "the made-up log has jobs that fail: {row}");
        assert!(row["kept_standard_error"].is_number() && row["refused_in_time"].is_null(), "{row}");
    }
}

#[test]
fn people_get_tables_statements_and_a_picture() {
    let site = site_with_log(LOG);
    let said = evaluated(&site, &["deadlines", LOG, "--last=100", "--seeds=2", "--plot=figures.svg"]);
    assert_eq!(said.status, 0, "{}", said.error);
    for text in [
        "figure 1, accurate estimates",
        "figure 4, 80 % of the jobs of high urgency",
        "slowdown libra-risk",
        "what Yeo and Buyya 2006 state",
    ] {
        assert!(said.output.contains(text), "{text}: {}", said.output);
    }
    let verdicts = said.output.lines().filter(|line| line.starts_with("holds: ") || line.starts_with("does not: ")).count();
    assert!(verdicts >= 15, "{}", said.output);
    let svg = fs::read_to_string(site.path().join("figures.svg")).unwrap();
    assert!(svg.contains("model: figure 3, actual estimates") && svg.contains("edf-without-admission"));
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let site = site_with_log(LOG);
    let error = |arguments: &[&str]| {
        let said = evaluated(&site, &[&["deadlines"], arguments].concat());
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    };
    assert!(error(&["absent.swf"]).contains("absent.swf"));
    assert!(error(&[LOG, "--deviation=2"]).contains("between 0 and 1"));
    fs::write(site.path().join("unknown.swf"), "1 0 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").unwrap();
    assert!(error(&["unknown.swf"]).contains("--nodes"));
    fs::write(site.path().join("empty.swf"), "; MaxProcs: 4\n").unwrap();
    assert!(error(&["empty.swf"]).contains("there are no jobs in it"));
}
