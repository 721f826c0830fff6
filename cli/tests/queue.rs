//! `queuecast queue`: the jobs that wait, with expected starts; and what `predict` shows of the
//! same plan.

mod common;

use std::fs;

use common::{Site, USER, Wanted, line, now, plan};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::QueuePlan;
use serde_json::{Value, json};

fn planned() -> (Site, UnixTime) {
    let at = now();
    (Site::with(&Wanted { published_at: at, plan: Some(plan(at)), ..Wanted::default() }), at)
}

#[test]
fn jobs_are_listed_in_the_order_in_which_they_are_served() {
    let (site, at) = planned();
    let (status, report) = site.json(&["queue"]);
    assert_eq!(status, 0);
    assert_eq!((&report["plan_at"], &report["is_complete"], &report["pending_jobs"]), (&at.0.into(), &true.into(), &4.into()));
    let jobs = report["jobs"].as_array().unwrap();
    let numbers: Vec<&Value> = jobs.iter().map(|job| &job["job_id"]).collect();
    assert_eq!(numbers, [11, 14, 12, 13]);
    let expected = json!({
        "job_id": 11, "name": null, "user": USER, "user_name": null, "account": null, "qos": null, "submitted": null, "partition": "batch", "nodes": 16, "cpus": 64, "tasks": 1, "limit_s": 3_600,
        "priority": 100, "expected_start": at.0 + 1_200, "earliest_start": at.0 + 600, "latest_start": at.0 + 2_400, "obstacle": null,
    });
    let mut first = jobs[0].clone();
    first.as_object_mut().unwrap().retain(|key, _| !key.ends_with("_text"));
    assert_eq!(first, expected);
    assert_eq!((&jobs[3]["expected_start"], &jobs[3]["obstacle"]), (&Value::Null, &"held".into()));
    assert_eq!((&jobs[1]["tasks"], &jobs[1]["limit_s"]), (&20.into(), &Value::Null));
}

#[test]
fn text_has_aligned_columns_and_says_why_there_is_no_start() {
    let (site, _) = planned();
    let said = site.run(&["queue"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert!(said.output.starts_with("4 jobs wait on cluster test, planned as of "), "{}", said.output);
    let table: Vec<&str> = said.output.lines().skip_while(|line| !line.contains("START_TIME")).collect();
    let column = table[0].find("START_TIME").unwrap();
    assert_eq!(table.len(), 5, "{}", said.output);
    for line in &table[1..] {
        assert!(line.is_char_boundary(column) && line[..column].ends_with("  ") && !line[column..].starts_with(' '), "{}", said.output);
    }
    assert!(line(&said.output, "11 batch 61234 16 64 1 1:00:00 2").split(' ').count() == 11, "{}", said.output);
    assert!(line(&said.output, "14 debug root 1 4 20 UNLIMITED").ends_with("now now now"), "{}", said.output);
    assert_eq!(line(&said.output, "13 batch"), "13 batch 61234 1 4 1 1:00:00 N/A held");
}

#[test]
fn users_and_partitions_can_be_chosen() {
    let (site, _) = planned();
    let numbers = |arguments: &[&str]| {
        let (status, report) = site.json(&[&["queue"], arguments].concat());
        assert_eq!(status, 0);
        report["jobs"].as_array().unwrap().iter().map(|job| job["job_id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--user=61234"]), [11, 13]);
    assert_eq!(numbers(&["--user=root"]), [14, 12]);
    assert_eq!(numbers(&["--partition=debug"]), [14]);
    assert_eq!(numbers(&["-p", "debug,batch", "-u", "root"]), [14, 12]);
    assert_eq!(numbers(&["-u", "4711"]), [0_u64; 0]);
    let said = site.run(&["queue", "-u", "4711"]);
    assert!(said.output.starts_with("none of the jobs asked for; 4 jobs wait"), "{}", said.output);
    let said = site.run(&["queue", "--partition=bath"]);
    assert_eq!(said.status, 2);
    assert!(said.error.contains("no partition \"bath\"") && said.error.contains("batch, debug"), "{}", said.error);
    let said = site.run(&["queue", "--user=nobody-of-that-name"]);
    assert!(said.status == 2 && said.error.contains("knows no user"), "{}", said.error);
}

#[test]
fn no_snapshot_no_plan_and_no_jobs_are_told_apart() {
    let said = Site::empty().run(&["queue"]);
    assert!(said.status == 3 && said.error.contains("no snapshot"), "{}", said.error);

    let site = Site::usable();
    let said = site.run(&["queue"]);
    assert!(said.status == 1 && said.output.contains("no plan of the queue"), "{}", said.output);
    let (status, report) = site.json(&["queue"]);
    assert_eq!((status, &report["plan_at"], &report["jobs"]), (1, &Value::Null, &json!([])));
    let said = site.run(&["predict", "--user=61234", "-N4", "-t1:00:00"]);
    assert!(said.status == 0 && said.output.contains("Plan of the queue\nthe snapshot has none"), "{}", said.output);

    let idle = QueuePlan { at: now(), is_complete: true, ..QueuePlan::default() };
    let said = Site::with(&Wanted { plan: Some(idle), ..Wanted::default() }).run(&["queue"]);
    assert!(said.status == 0 && said.output.starts_with("no jobs wait on cluster test"), "{}", said.output);
}

#[test]
fn what_is_missing_or_old_is_noted() {
    let at = now();
    let mut plan = plan(at + Seconds(-200));
    (plan.pending_jobs, plan.is_complete) = (12_000, false);
    let site = Site::with(&Wanted { plan: Some(plan), ..Wanted::default() });
    let (_, report) = site.json(&["queue"]);
    let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (note, holds) in
        notes.iter().zip(["read 3 min ago", "more jobs wait than are planned", "12000 jobs that wait, the snapshot has the first 4"])
    {
        assert!(note.contains(holds), "{note}");
    }
    assert_eq!(notes.len(), 3);
}

#[test]
fn predict_shows_the_plan_beside_the_forecast() {
    let (site, at) = planned();
    let job = ["predict", "--user=61234", "--partition=batch", "-t1:00:00"];
    let (status, report) = site.json(&[&job[..], &["-N4"]].concat());
    assert_eq!((status, report["plan"]["expected_start"].as_i64().unwrap() - at.0 <= 60), (0, true), "{report}");
    assert_eq!(report["plan"]["expected_wait_s"], 0);
    // Five whole nodes are 20 CPUs, for which the next larger size of the plan is all of them.
    let (_, report) = site.json(&[&job[..], &["-N5"]].concat());
    let plan = &report["plan"];
    assert_eq!(
        (&plan["expected_start"], &plan["earliest_start"], &plan["latest_start"]),
        (&(at.0 + 5_000).into(), &(at.0 + 2_500).into(), &(at.0 + 10_000).into())
    );
    // A begin time beyond that is kept.
    let (_, report) = site.json(&[&job[..], &["-N5", "--begin=now+3hours"]].concat());
    assert!(report["plan"]["expected_start"].as_i64().unwrap() >= at.0 + 10_800);
    assert_eq!(report["plan"]["expected_wait_s"], 0);
    let said = site.run(&[&job[..], &["-N5"]].concat());
    assert!(line(&said.output, "expected start").contains("in 1 h 2"), "{}", said.output);
    // There are 64 nodes, and nothing was planned for debug.
    let (_, report) = site.json(&[&job[..], &["-N65"]].concat());
    assert_eq!((&report["plan"]["plan_at"], report["plan"].get("expected_start")), (&at.0.into(), None));
}

#[test]
fn the_words_of_squeue_are_understood() {
    let (site, _) = planned();
    let numbers = |arguments: &[&str]| {
        let said = site.run(&[&["queue", "-n", "-O", "jobid"], arguments].concat());
        assert_eq!(said.status, 0, "{arguments:?}: {}", said.error);
        said.output.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--jobs=12,13"]), ["12", "13"]);
    assert_eq!(numbers(&["-j", "14_7"]), ["14"]);
    assert_eq!(numbers(&["--users=61234,root", "--partitions", "debug"]), ["14"]);
    assert_eq!(numbers(&["-M", "test"]).len(), 4);
    let said = site.run(&["queue", "-n", "--Format=jobid:.8", "-u61234"]);
    assert_eq!(said.output, "      11\n      13\n");
    // --me is whoever runs the test.
    let me = nix::unistd::Uid::current().to_string();
    assert_eq!(numbers(&["--me"]), numbers(&["-u", &me]));
    let said = site.run(&["queue", "--me", "-u", "root"]);
    assert!(said.status == 2 && said.error.contains("cannot be used with"), "{}", said.error);
}

#[test]
fn jobs_are_sorted_by_names_and_by_squeues_letters() {
    let (site, _) = planned();
    let numbers = |sort: &str| {
        let said = site.run(&["queue", "-n", "--columns=jobid", "-S", sort]);
        assert_eq!(said.status, 0, "{sort}: {}", said.error);
        said.output.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(numbers("i"), ["11", "12", "13", "14"]);
    assert_eq!(numbers("-numnodes,jobid"), ["12", "11", "13", "14"]);
    assert_eq!(numbers("P,-i"), ["13", "12", "11", "14"]);
    // That without an expected start comes last, whichever way.
    assert_eq!(
        (numbers("S"), numbers("-S")),
        (vec!["14".into(), "11".into(), "12".into(), "13".into()], ["12", "11", "14", "13"].map(str::to_owned).to_vec())
    );
    // In JSON as well.
    let (_, report) = site.json(&["queue", "-S", "-jobid"]);
    assert_eq!(report["jobs"][0]["job_id"], 14);
    let said = site.run(&["queue", "-S", "size"]);
    assert!(said.status == 2 && said.error.contains("there are: jobid (i), partition (P)"), "{}", said.error);
}

#[test]
fn columns_are_chosen_and_sized_as_with_squeue() {
    let (site, _) = planned();
    let said = site.run(&["queue", "-j", "11,13", "-O", "JobID:6,UserName:.10,TimeLimit,Reason:3"]);
    let table: Vec<&str> = said.output.lines().skip(2).collect();
    assert_eq!(table, ["JOBID         USER  TIME_LIMIT  REA", "11           61234     1:00:00", "13           61234     1:00:00  hel"]);
    let said = site.run(&["queue", "-j", "11,13", "-o", "%.6i %.2t %10M|%R"]);
    let table: Vec<&str> = said.output.lines().skip(2).collect();
    assert_eq!(table, [" JOBID ST TIME      |NODELIST(REASON)", "    11 PD 0:00      |", "    13 PD 0:00      |(held)"]);
    let said = site.run(&["queue", "-o", "%i", "-O", "jobid"]);
    assert!(said.status == 2 && said.error.contains("cannot be used with"), "{}", said.error);
    let said = site.run(&["queue", "-O", "nodelist"]);
    assert!(said.status == 2 && said.error.contains("--columns: there is no column \"nodelist\""), "{}", said.error);
}

#[test]
fn noheader_leaves_only_rows() {
    let (site, _) = planned();
    let said = site.run(&["queue", "--noheader"]);
    assert_eq!((said.output.lines().count(), said.error.as_str()), (4, ""));
    let said = site.run(&["queue", "-n", "-u", "4711"]);
    assert_eq!((said.status, said.output.as_str()), (0, ""));
}

#[test]
fn another_cluster_is_told_of_where_its_state_directory_is_known_and_refused_elsewhere() {
    let (site, _) = planned();
    let said = site.run(&["queue", "-M", "west"]);
    assert!(said.status == 2 && said.error.contains("is of cluster test") && said.error.contains("[clusters]"), "{}", said.error);
    let west = Site::with(&Wanted { cluster: "west", ..Wanted::default() });
    fs::write(site.configuration(), format!("[clusters]\nwest = {:?}\n", west.path())).unwrap();
    let said = site.run(&["queue", "-M", "west", "--json"]);
    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!((said.status, &report["cluster"]), (1, &"west".into()));
    for several in ["west,test", "all"] {
        let said = site.run(&["status", "--clusters", several]);
        assert!(said.status == 2 && said.error.contains("one cluster at a time"), "{}", said.error);
    }
    // As Slurm's commands do, they take the cluster from the environment where none is named.
    let directory = site.path().to_str().unwrap();
    let said = common::said(site.command(&["queue", "--state-directory", directory]).env("SLURM_CLUSTERS", "east"));
    assert!(said.status == 2 && said.error.contains("SLURM_CLUSTERS east"), "{}", said.error);
}

#[test]
fn times_are_written_in_the_form_that_slurm_is_asked_for() {
    let (site, at) = planned();
    let directory = site.path().to_str().unwrap();
    let with = |format: &str| {
        let arguments = ["queue", "-n", "-j", "12", "-O", "starttime", "--state-directory", directory];
        common::said(site.command(&arguments).env("SLURM_TIME_FORMAT", format))
    };
    assert_eq!(with("%s").output.trim(), (at.0 + 7_200).to_string());
    assert!(with("standard").output.trim().contains('T'), "{}", with("standard").output);
    let wrong = with("never");
    assert!(wrong.status == 0 && wrong.error.contains("SLURM_TIME_FORMAT: \"never\""), "{}", wrong.error);
    let (_, report) = site.json(&["queue"]);
    let job = &report["jobs"][0];
    assert_eq!((&job["limit_s"], &job["limit_text"]), (&3_600.into(), &"1:00:00".into()));
    assert_eq!(job["expected_start_text"].as_str().unwrap().len(), "2026-03-27T14:30:20".len());
}
