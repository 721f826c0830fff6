//! Virtual reservations are replayed on a made-up log, and wrong questions are answered as such.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Said, Site, evaluated, evaluated_json, site_with_log};
use serde_json::Value;

fn run(site: &Site, arguments: &[&str]) -> Said {
    evaluated(site, &[&["reservations"], arguments].concat())
}

#[test]
fn the_report_has_the_keys_of_the_contract_whatever_the_threads() {
    let site = site_with_log("log.swf");
    let report = evaluated_json(&site, &["reservations", "log.swf", "--share=0.5", "--probability=0.5", "--threads=1"]);
    for key in ["requested", "accepted", "kept", "mean_predicted", "cost_ratio", "others_mean_wait_s", "others_mean_wait_without_s"] {
        assert!(report[key].is_number(), "no {key} in {report}");
    }
    let number = |value: &Value| value.as_u64().unwrap();
    let refused: u64 = report["refused"].as_object().unwrap().values().map(number).sum();
    assert_eq!(number(&report["accepted"]) + refused, number(&report["requested"]));
    assert_eq!(number(&report["requested"]) + number(&report["others"]), 250);
    for classes in ["by_size", "by_time_ahead"] {
        let requested: u64 = report[classes].as_array().unwrap().iter().map(|class| number(&class["requested"])).sum();
        assert_eq!(requested, number(&report["requested"]), "{classes}");
    }
    assert_eq!((&report["from"], &report["to"], &report["every_s"]), (&151.into(), &400.into(), &21_600.into()));
    assert_eq!(report, evaluated_json(&site, &["reservations", "log.swf", "--share=0.5", "--probability=0.5", "--threads=2"]));
}

#[test]
fn each_share_and_each_probability_is_a_row_with_a_picture() {
    let site = site_with_log("log.swf");
    let arguments = ["log.swf", "--from=151", "--share=0.1,0.9", "--probability=0.5,0.75", "--every=90m", "--plot=kept.svg"];
    let said = run(&site, &arguments);
    assert_eq!(said.status, 0, "{}", said.error);
    for text in
        ["asked for, given and kept", "Those who did not ask", "of it work", "By size of the job", "By time from the submission", "±"]
    {
        assert!(said.output.contains(text), "{text}: {}", said.output);
    }
    let picture = fs::read_to_string(site.path().join("kept.svg")).unwrap();
    for text in
        ["95th percentile", "12 h ahead", "virtual reservations", "0.1 of the jobs, shipped", "0.9 of the jobs, shipped", "that were kept"]
    {
        assert!(picture.contains(text), "{text}");
    }
}

#[test]
fn the_published_method_stands_beside_the_one_that_ships_on_one_queue() {
    let site = site_with_log("log.swf");
    let text = fs::read_to_string(site.path().join("log.swf")).unwrap();
    // Of the made-up jobs those with an odd number are of another queue.
    let moved = |line: &str| {
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        let is_odd = fields.first().and_then(|number| number.parse().ok()).is_some_and(|number: u32| number % 2 == 1);
        if line.starts_with(';') || !is_odd {
            return line.to_owned();
        }
        fields[14] = "7";
        fields.join(" ")
    };
    let header = "; Installation: SDSC DataStar\n; Queue: 7 normal (made up)\n";
    let log: Vec<String> = text.lines().map(moved).collect();
    fs::write(site.path().join("queues.swf"), format!("{header}{}\n", log.join("\n"))).unwrap();
    let question = ["--share=0.5", "--probability=0.5", "--from=51", "--method=varq,shipped", "--format=json"];
    let report = |queue: &str| {
        let said = run(&site, &[&["queues.swf", queue], &question[..]].concat());
        assert_eq!(said.status, 0, "{}", said.error);
        serde_json::from_str::<Value>(&said.output).unwrap()
    };
    let both = report("--queue=normal");
    let [varq, shipped] = [&both["logs"][0], &both["logs"][1]];
    assert_eq!((&varq["method"], &shipped["method"]), (&"varq".into(), &"shipped".into()));
    assert_eq!((&varq["jobs"], &varq["queue"]["number"], &varq["queue"]["name"]), (&200.into(), &7.into(), &"normal".into()));
    assert_eq!(varq["requested"], shipped["requested"]);
    assert_eq!((&varq["published"]["accepted"], &varq["published"]["kept_part"]), (&1_869.into(), &0.6.into()));
    assert_eq!(both, report("--queue=7"));
    let said = run(&site, &["queues.swf", "--queue=none", "--share=0.5", "--probability=0.5"]);
    assert_eq!(said.status, 2);
    assert!(said.error.contains("normal (7)"), "{}", said.error);
}

#[test]
fn jobs_of_ones_own_ask_beside_the_logs() {
    let site = site_with_log("log.swf");
    let report = evaluated_json(&site, &["reservations", "log.swf", "--own-jobs", "--probability=0.5", "--method=varq"]);
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!((&report["share"], number("others")), (&Value::Null, 250));
    assert!(number("accepted") > 0 && number("accepted") <= number("requested"), "{report}");
    assert_eq!((&report["published"]["accepted"], &report["published"]["kept_part"]), (&290.into(), &0.79.into()));
    let said = run(&site, &["log.swf", "--from=151", "--own-jobs", "--probability=0.5", "--method=varq"]);
    assert!(said.output.contains("tables 2 and 3") && said.output.contains("(290)"), "{}", said.output);
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let site = site_with_log("log.swf");
    let error = |arguments: &[&str]| {
        let said = run(&site, arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    };
    let asked = ["--share=0.1", "--probability=0.5"];
    assert!(error(&["log.swf", "--share=0.1"]).contains("--probability"));
    assert!(error(&["log.swf", "--own-jobs", "--share=0.1", "--probability=0.5"]).contains("--share"));
    assert!(error(&["log.swf", "--share=1.5", "--probability=0.5"]).contains("at most 1"));
    assert!(error(&["log.swf", "--share=0.1", "--probability=1"]).contains("less than 1"));
    assert!(error(&[&["log.swf", "--every=0"], &asked[..]].concat()).contains("from 1m to 365d"));
    assert!(error(&[&["log.swf", "--from=20001"], &asked[..]].concat()).contains("choose a smaller --from"));
    let without_limits = "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 -1 -1 1 3 1 -1 1 -1 -1 -1\n";
    fs::write(site.path().join("without.swf"), without_limits).unwrap();
    assert!(error(&[&["without.swf", "--from=1"], &asked[..]].concat()).contains("field 9"));
}
