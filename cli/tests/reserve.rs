//! `queuecast reserve`: what nodes at a time would cost, and how likely they would be there.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Site, Wanted, line, now};
use job_types::options::Mode;
use job_types::policy::Policy;
use job_types::time::UnixTime;
use made_up_site::enforcing;
use serde_json::{Value, json};

/// Jobs like it waited 100 s, whatever the time limit.
const JOB: [&str; 6] = ["reserve", "--user=61234", "--partition=batch", "--nodes=4", "--time=2:00:00", "--at=now+1hour"];

fn described<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&JOB[..], more].concat()
}

fn offer<'a>(report: &'a Value, wanted: &Value) -> &'a Value {
    report["offers"].as_array().unwrap().iter().find(|offer| &offer["wanted"] == wanted).unwrap()
}

#[test]
fn a_reservation_says_when_it_begins_and_what_it_costs() {
    let (status, report) = Site::usable().json(&described(&["--probability=0.9"]));
    assert_eq!((status, &report["given"], &report["asked"]), (0, &true.into(), &json!(0.9)));
    let given = &report["reservation"];
    // 100 s of wait need four steps of 30 s: four nodes for 120 s are 0.133 node-hours at the most,
    // and 20 s of them are expected.
    let at = report["job"]["reserve_at"].as_i64().unwrap();
    assert_eq!((&given["begin"], &given["padded_limit_s"]), (&(at - 120).into(), &7_320.into()));
    assert_eq!(given["most_node_hours"], json!(0.133));
    assert!((0.02..=0.023).contains(&given["expected_node_hours"].as_f64().unwrap()), "{given}");
    assert!(report["options"].as_str().unwrap().ends_with(" --success-probability=0.9"), "{report}");
    let trajectory = report["trajectory"].as_array().unwrap();
    assert_eq!((trajectory.len(), &trajectory[0]["most_node_hours"]), (60, &json!(4.0)));
    // The filter decides the same of the same job.
    let (_, predicted) = Site::usable().json(&[
        "predict",
        "--user=61234",
        "--partition=batch",
        "-N4",
        "-t2:00:00",
        "--reserve-at=now+1hour",
        "--success-probability=0.9",
    ]);
    let changes = &predicted["filter"]["changes"];
    assert_eq!(
        (&changes["limit_s"], predicted["job"]["reserve_at"].as_i64().unwrap() - changes["begin"].as_i64().unwrap()),
        (&7_320.into(), 120)
    );
}

#[test]
fn standard_input_is_the_script_where_nothing_else_describes_the_job_and_is_told_otherwise() {
    let site = Site::usable();
    let directory = site.path().to_str().unwrap().to_owned();
    let piped = |more: &[&str]| {
        let arguments = [&["reserve", "--user=61234", "--at=now+1hour", "--format=json", "--state-directory", &directory], more].concat();
        // As a shell does with `<<EOF`: the text is in the pipe before the command begins.
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"#!/bin/sh\n#SBATCH -p batch -N 8\n#SBATCH -t 2:00:00\nsrun true\n").unwrap();
        drop(writer);
        let said = common::said(site.command(&arguments).stdin(reader));
        let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
        (report["job"]["nodes"].clone(), report["job"]["limit_s"].clone(), report["notes"].to_string())
    };
    let (nodes, limit, notes) = piped(&[]);
    assert_eq!((nodes, limit), (8.into(), 7_200.into()));
    assert!(!notes.contains("standard input"), "{notes}");
    let (nodes, _, notes) = piped(&["-N2", "-t60"]);
    assert_eq!(nodes, 2);
    assert!(notes.contains("standard input was not read"), "{notes}");
}

#[test]
fn each_probability_has_its_cost_and_the_best_is_the_highest_that_is_to_be_had() {
    let (status, report) = Site::usable().json(&described(&["--probability=0.8"]));
    assert_eq!(status, 0);
    let wanted: Vec<Value> = report["offers"].as_array().unwrap().iter().map(|offer| offer["wanted"].clone()).collect();
    assert_eq!(wanted, [json!(0.5), json!(0.75), json!(0.8), json!(0.9), json!(0.95), json!(0.99), json!("best")]);
    let best = offer(&report, &"best".into())["probability"].as_f64().unwrap();
    let highest = report["trajectory"].as_array().unwrap().iter().filter_map(|point| point["probability"].as_f64()).fold(0.0, f64::max);
    assert_eq!(best, highest);
    let (status, report) = Site::usable().json(&described(&["--probability=best"]));
    assert_eq!((status, &report["asked"], &report["reservation"]["probability"]), (0, &"best".into(), &json!(best)));
}

#[test]
fn what_can_not_be_had_is_refused_with_status_1_and_a_later_time() {
    let soon = ["reserve", "--user=61234", "-N16", "-t1:00:00", "--at=now+10minutes", "--probability=0.9"];
    let site = Site::usable();
    let (status, report) = site.json(&soon);
    assert_eq!((status, &report["given"], &report["reservation"], &report["options"]), (1, &false.into(), &Value::Null, &Value::Null));
    let why = report["refused"].as_str().unwrap();
    assert!(why.contains("at best, 0.9 is wanted"), "{why}");
    // Jobs of that size waited 5,000 s.
    let later_at = offer(&report, &json!(0.9))["later_at"].as_i64().unwrap();
    assert!((4_990..5_100).contains(&(later_at - now().0)), "{later_at}");
    let said = site.run(&soon);
    assert_eq!(said.status, 1);
    assert!(said.output.contains("not to be had: it would be kept") && said.output.contains("nodes can be had at "), "{}", said.output);
    let said = site.run(&["reserve", "--user=61234", "-p", "debug", "-N4", "-t60", "--at=now+1hour"]);
    assert!(said.status == 1 && said.output.contains("no past waits are known"), "{}", said.output);
    let said = site.run(&["reserve", "--user=61234", "-N4", "-t60", "--at=now-1hour"]);
    assert!(said.status == 1 && said.output.contains("the time has already passed"), "{}", said.output);
    let said = site.run(&described(&["--begin=now+10minutes"]));
    assert!(said.status == 1 && said.output.contains("--begin and --reserve-at contradict"), "{}", said.output);
}

#[test]
fn text_shows_the_price_and_the_options_to_ask_for_it() {
    let said = Site::usable().run(&described(&["--probability=0.9"]));
    assert_eq!(said.status, 0, "{}", said.error);
    assert_eq!(line(&said.output, "job"), "job 4 nodes, 16 CPUs in batch, time limit 2 h, user 61234");
    assert!(line(&said.output, "nodes wanted").ends_with("in 1 h, with probability 0.9"), "{}", said.output);
    assert_eq!(line(&said.output, "cost"), "cost at most 0.13 node-hours beyond the job itself, 0.02 expected");
    assert!(line(&said.output, "ask sbatch").contains("--reserve-at=20"), "{}", said.output);
    assert!(line(&said.output, "0.95 ").ends_with("0.13 0.02"), "{}", said.output);
    assert!(said.output.contains("▕██"), "{}", said.output);
}

#[test]
fn who_runs_at_once_pays_nothing() {
    let (status, report) = Site::usable().json(&described(&["--early-start=run"]));
    assert_eq!((status, &report["reservation"]["most_node_hours"]), (0, &json!(0.0)));
    assert!(report["options"].as_str().unwrap().contains("--early-start=run"));
}

#[test]
fn where_nothing_would_be_reserved_it_says_so_and_offers_no_options() {
    let site = Site::with(&Wanted { policy: Policy { mode: Mode::Observe, ..enforcing() }, ..Wanted::default() });
    let (status, report) = site.json(&described(&[]));
    assert_eq!((status, &report["given"], &report["options"]), (0, &true.into(), &Value::Null));
    assert!(report["notes"][0].as_str().unwrap().contains("the mode for this job is observe"), "{report}");
    let old = Site::with(&Wanted { published_at: UnixTime(now().0 - 3_600), ..Wanted::default() });
    let (_, report) = old.json(&described(&[]));
    assert!(report["notes"].to_string().contains("would reserve nothing now"), "{report}");
    assert_eq!(report["options"], Value::Null);
}

#[test]
fn the_picture_shows_probability_and_cost() {
    let site = Site::usable();
    let path = site.path().join("reserve.svg");
    let said = site.run(&described(&["--plot", path.to_str().unwrap()]));
    assert_eq!(said.status, 0, "{}", said.error);
    let picture = fs::read_to_string(path).unwrap();
    for text in ["4 nodes in batch", "probability of having the nodes", "node-hours", "at most", "expected", "chosen"] {
        assert!(picture.contains(text), "{text}");
    }
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let site = Site::usable();
    for (arguments, named) in [
        (vec!["reserve", "-N4", "-t60"], "--at"),
        (vec!["reserve", "-N4", "-t60", "--at=soon"], "--at"),
        (vec!["reserve", "-N4", "-t60", "--at=now+1hour", "--probability=2"], "less than 1"),
        (vec!["reserve", "-N4", "-t60", "--at=now+1hour", "--early-start=never"], "wait or run"),
        (vec!["reserve", "-N4", "-t60", "--at=now+1hour", "-p", "nowhere"], "there are: batch, debug"),
    ] {
        let said = site.run(&arguments);
        assert!(said.status == 2 && said.error.contains(named), "{arguments:?}: {}", said.error);
    }
}

#[test]
fn the_nodes_of_a_script_are_reserved() {
    let site = Site::usable();
    let path = site.path().join("job.sh");
    fs::write(&path, "#!/bin/sh\n#SBATCH -p batch -N4 -t 2:00:00 --gres=gpu:1 --if-missed=cancel --reserve-at=midnight\n").unwrap();
    let (status, report) = site.json(&["reserve", "--user=61234", "--at=now+1hour", "--probability=0.9", "--wrap=true"]);
    assert_eq!((status, &report["job"]["nodes"]), (0, &1.into()));
    let directory = site.path().to_str().unwrap();
    let arguments = ["reserve", "--user=61234", "--at=now+1hour", "--probability=0.9", "--format=json", "--state-directory", directory];
    let said = common::said(&mut site.command(&[&arguments[..], &[path.to_str().unwrap()]].concat()));
    let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
    assert_eq!((said.status, &report["job"]["nodes"], &report["job"]["limit_s"]), (0, &4.into(), &7_200.into()));
    assert!((3_590..=3_600).contains(&(report["job"]["reserve_at"].as_i64().unwrap() - now().0)), "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("--gres=gpu:1: forecasts count") && notes.contains("--if-missed, --reserve-at of the script"), "{notes}");
}
