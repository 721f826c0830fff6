//! Forecasts are held against the past of a log, and wrong questions are answered as such.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use common::{Said, Site, said};
use serde_json::Value;
use simulator::lublin::{self, Options};
use simulator::swf::{self, Record};

/// A folder with a made-up log of 120 jobs.
struct Logs(Site);

impl Logs {
    fn new() -> Self {
        let logs = Self(Site::empty());
        logs.write("model.swf", |_| ());
        logs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the log again under another name, with each job changed.
    fn write(&self, name: &str, change: impl Fn(&mut Record)) {
        let mut log = lublin::workload(&Options { jobs: 120, processors: 64, users: 8, ..Options::default() }).unwrap();
        log.records.iter_mut().for_each(change);
        swf::write(fs::File::create(self.path(name)).unwrap(), &log.header, &log.records).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(self.0.command(&[&["evaluate"], arguments].concat()).current_dir(self.0.path()))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[arguments, &["--format=json"]].concat());
        assert_eq!(said.status, 0, "{}", said.error);
        serde_json::from_str(&said.output).unwrap()
    }
}

/// The jobs that are forecast.
const PART: [&str; 2] = ["--from=101", "--to=120"];

fn error(said: &Said) -> &str {
    assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
    &said.error
}

#[test]
fn a_log_without_waits_is_no_ground_for_forecasts_of_waits() {
    let logs = Logs::new();
    logs.write("nowaits.swf", |job| job.wait_time_seconds = None);
    for question in ["waits", "runtimes"] {
        let said = logs.run(&[question, "nowaits.swf", PART[0], PART[1]]);
        assert!(error(&said).contains("nowaits.swf: none of its 120 jobs says how long it waited"), "{}", said.error);
    }
}

#[test]
fn a_log_that_cannot_be_read_is_named() {
    let logs = Logs::new();
    assert!(error(&logs.run(&["waits", "absent.swf"])).contains("absent.swf"));
    fs::write(logs.path("text.swf"), "these are words\n").unwrap();
    assert!(error(&logs.run(&["waits", "text.swf"])).contains("text.swf: the first line is no part of a log"));
    fs::write(logs.path("empty.swf"), "; no jobs\n").unwrap();
    assert!(error(&logs.run(&["waits", "empty.swf"])).contains("there are no jobs in it"));
}

#[test]
fn wrong_usage_is_said_before_the_work() {
    let logs = Logs::new();
    error(&logs.run(&[]));
    error(&logs.run(&["waits"]));
    error(&logs.run(&["waits", "model.swf", "--from=0"]));
    assert!(error(&logs.run(&["waits", "model.swf", "--from=9", "--to=8"])).contains("--from 9 lies behind --to 8"));
    assert!(error(&logs.run(&["waits", "model.swf", "--from=50000"])).contains("--from asks for job 50,000, and "));
    assert!(error(&logs.run(&["waits", "model.swf", "--plot=waits.pdf"])).contains(".svg"));
    let said = logs.run(&["waits", "model.swf", PART[0], "--plot=absent/waits.svg"]);
    assert!(error(&said).contains("there is no folder absent"), "{}", said.error);
}

#[test]
fn a_log_without_a_header_is_evaluated_on_the_machine_that_is_said_and_its_defects_are_told_once() {
    let logs = Logs::new();
    logs.write("known.swf", |_| ());
    let with_header = fs::read_to_string(logs.path("known.swf")).unwrap();
    let jobs = with_header.lines().filter(|line| !line.starts_with(';')).enumerate().map(|(place, line)| {
        let mut fields: Vec<&str> = line.split(' ').collect();
        if place % 4 == 0 {
            fields[10] = "265";
        }
        fields.join(" ")
    });
    fs::write(logs.path("bare.swf"), jobs.collect::<Vec<_>>().join("\n")).unwrap();
    let molding = ["molding", "bare.swf", "--from=50", "--to=60"];
    let said = logs.run(&molding);
    assert!(error(&said).contains("--processors"), "{}", said.error);
    let said = logs.run(&[&molding[..], &["--processors=64", "--format=json"]].concat());
    // Two protocols are two reports on a log that was read once.
    assert_eq!((said.status, said.error.as_str()), (0, "queuecast: bare.swf: 30 records with an undefined status\n"));
    let report: Value = serde_json::from_str(&said.output).unwrap();
    for part in report["logs"].as_array().unwrap() {
        assert_eq!((&part["processors"], &part["remarks"][0]["records"]), (&64.into(), &30.into()));
    }
    let waits = logs.json(&["waits", "bare.swf", PART[0], PART[1], "--processors=128"]);
    assert_eq!((&waits["processors"], &waits["remarks"][0]["what"]), (&128.into(), &"with an undefined status".into()));
}

/// The keys of an object that others rely on.
fn assert_keys(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some(), "no {key} in {object}");
    }
}

#[test]
fn the_report_on_waits_has_the_keys_of_the_contract() {
    let logs = Logs::new();
    let arguments = ["waits", "model.swf", PART[0], PART[1], "--plot=waits.svg"];
    let report = logs.json(&arguments);
    assert_keys(&report, &["test_jobs", "aae_hours", "median_ae_hours", "coverage", "within_factor_2", "prediction_us"]);
    assert_keys(&report["aae_hours"], &["zero", "knn", "qbets", "ibl", "apq", "best"]);
    assert_keys(&report["jobs_without_bounds"], &["best", "qbets", "in_force"]);
    assert_keys(&report, &["in_force", "in_force_coverage"]);
    // Too few jobs for the default to have bounds: nothing is said of how often they hold.
    assert_eq!((&report["jobs_without_bounds"]["best"], &report["coverage"]), (&20.into(), &serde_json::json!({})));
    assert_keys(&report["prediction_us"], &["p50", "p99"]);
    assert_eq!((&report["log"], &report["test_jobs"], &report["published"]), (&"model".into(), &20.into(), &Value::Null));
    assert!(fs::read_to_string(logs.path("waits.svg")).unwrap().contains("model: waits, reliability"));
    let text = logs.run(&arguments);
    assert_eq!((text.status, text.output.contains("published")), (0, false), "{}", text.error);
}

#[test]
fn the_coverage_of_the_report_can_be_counted_from_the_forecasts_that_are_written() {
    let logs = Logs::new();
    let report = logs.json(&["waits", "model.swf", PART[0], PART[1], "--write-forecasts=forecasts.csv"]);
    let mut lines = csv::Reader::from_path(logs.path("forecasts.csv")).unwrap();
    let columns = "log,job,submit,queue,processors,limit_s,point_s,q50_s,q75_s,q90_s,q95_s,wait_s,pit,in_force,in_force_point_s,\
                   qbets_q50_s,qbets_q75_s,qbets_q90_s,qbets_q95_s";
    assert_eq!(lines.headers().unwrap().iter().collect::<Vec<_>>().join(","), columns);
    let jobs: Vec<HashMap<String, String>> = lines.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!((jobs.len(), jobs[0]["job"].as_str(), jobs[19]["job"].as_str()), (20, "101", "120"));
    let number = |job: &HashMap<String, String>, column: &str| job[column].parse::<f64>().ok();
    let error = |job| (number(job, "point_s").unwrap() - number(job, "wait_s").unwrap()).abs() / 3_600.0;
    let mean_error = jobs.iter().map(error).sum::<f64>() / 20.0;
    assert!((mean_error - report["aae_hours"]["best"].as_f64().unwrap()).abs() < 1e-5, "{mean_error}");
    let bounded = jobs.iter().filter(|job| number(job, "qbets_q50_s").is_some());
    let held = bounded.clone().filter(|job| number(job, "wait_s") <= number(job, "qbets_q50_s")).count();
    let share = held as f64 / bounded.count() as f64;
    assert!((share - report["qbets_coverage"]["0.5"].as_f64().unwrap()).abs() < 1e-9, "{share}");
    for list in ["by_queue", "by_size"] {
        let parts = report[list].as_array().unwrap();
        assert_eq!(parts.iter().map(|part| part["jobs"].as_u64().unwrap()).sum::<u64>(), 20, "{list}");
        assert!(parts.iter().all(|part| part["jobs_without_bounds"] == part["jobs"]), "{list}");
    }
    // Too few jobs for the default to have been tried on.
    assert!(jobs.iter().all(|job| ["qbets", "none"].contains(&job["in_force"].as_str())));
    let said = logs.run(&["waits", "model.swf", PART[0], "--write-forecasts=absent/forecasts.csv"]);
    assert!(self::error(&said).contains("there is no folder absent"), "{}", said.error);
}

#[test]
fn the_report_on_run_times_has_the_keys_of_the_contract() {
    let logs = Logs::new();
    let report = logs.json(&["runtimes", "model.swf", PART[0], PART[1], "--plot=runtimes.svg"]);
    assert_keys(&report, &["test_jobs", "success_rate", "coverage_percent", "aae_minutes"]);
    for by_method in ["success_rate", "coverage_percent", "aae_minutes"] {
        assert_keys(&report[by_method], &["baseline", "smith", "li", "range_sets", "best"]);
    }
    assert_eq!((&report["log"], &report["test_jobs"]), (&"model".into(), &20.into()));
    assert!(fs::read_to_string(logs.path("runtimes.svg")).unwrap().contains("model: run times, reliability"));
}

#[test]
fn a_log_of_the_paper_stands_beside_its_figures_in_a_table_of_several() {
    let logs = Logs::new();
    logs.write("SDSC-SP2-1998.swf", |_| ());
    let arguments = ["runtimes", "SDSC-SP2-1998.swf", "model.swf", "--from=111", "--threads=1"];
    let report = logs.json(&arguments);
    assert_eq!(report["logs"][0]["published"]["success_rate"]["range_sets"], 0.81);
    assert_eq!(report["logs"][1]["log"], "model");
    assert_eq!(report["logs"][0]["aae_minutes"], report["logs"][1]["aae_minutes"], "the same jobs under two names");
    let text = logs.run(&arguments).output;
    assert!(text.contains("(81 %)") && text.contains("tables VI and VII"), "{text}");
}

#[test]
fn the_first_job_of_a_short_log_is_behind_its_first_third() {
    let logs = Logs::new();
    let jobs = logs.json(&["waits", "model.swf", PART[0]])["to"].as_u64().unwrap();
    for command in ["waits", "runtimes"] {
        assert_eq!(logs.json(&[command, "model.swf"])["from"], jobs / 3 + 1, "{command}");
    }
    assert_eq!(logs.json(&["waits", "model.swf", "--to=90"])["from"], 31);
}
