//! `queuecast status`: whether the filter can act, and what it acts on.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Site, Wanted, line, now, plan, said};
use job_types::options::Mode;
use job_types::policy::{Admission, Others, Policy};
use job_types::time::UnixTime;
use made_up_site::enforcing;
use predictor_core::decisions::counters::{COUNTERS, Counted, Counter};

#[test]
fn a_fresh_snapshot_is_shown_with_what_is_in_it() {
    let site = Site::usable();
    let said = site.run(&["status"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert_eq!(line(&said.output, "submit filter"), "submit filter can act on the snapshot");
    assert_eq!(line(&said.output, "generation").split(',').next(), Some("generation 7"));
    assert_eq!(line(&said.output, "cluster"), "cluster test");
    assert!(line(&said.output, "history").starts_with("history 400 ended jobs over "));
    assert_eq!(line(&said.output, "slurmdbd read"), "slurmdbd read not to the end of the history yet");
    // 160 CPUs run and 48 are asked for, of 256.
    assert_eq!(line(&said.output, "batch*"), "batch* 64 256 2 160 3 48 0.81 2-00:00:00");
    assert_eq!(line(&said.output, "batch "), "batch enforce asked asked asked wait 0.95 0.3 12:00:00 5 % and 1 min ignore off");
    assert!(!said.output.contains('\u{1b}'), "colours where there is no terminal");
}

#[test]
fn the_json_report_has_its_documented_keys() {
    let site = Site::usable();
    let (status, report) = site.json(&["status"]);
    assert_eq!((status, &report["acts"], &report["problem"]), (0, &true.into(), &serde_json::Value::Null));
    let snapshot = &report["snapshot"];
    assert_eq!((&snapshot["state"], &snapshot["generation"], &snapshot["ended_jobs"]), (&"usable".into(), &7.into(), &400.into()));
    assert_eq!((&snapshot["confidence"], &snapshot["maximum_age_s"]), (&0.95.into(), &600.into()));
    let batch = &report["partitions"][0];
    assert_eq!((&batch["name"], &batch["is_default"], &batch["running_cpus"]), (&"batch".into(), &true.into(), &160.into()));
    assert_eq!((&batch["mode"], &batch["mold"], &batch["max_defer_s"]), (&"enforce".into(), &"asked".into(), &43_200.into()));
    // Each key that the help promises is there.
    let help = said(&mut site.command(&["status", "--help"])).output;
    let keys = help.split_once("Keys of --json").unwrap().1;
    for key in snapshot.as_object().unwrap().keys().chain(report.as_object().unwrap().keys()).filter(|key| !key.ends_with("_text")) {
        assert!(keys.contains(key.as_str()), "{key} is not in the help");
    }
}

#[test]
fn an_absent_snapshot_says_how_to_get_one() {
    let site = Site::empty();
    let said = site.run(&["status"]);
    assert_eq!(said.status, 3);
    assert!(said.output.contains("systemctl start queuecastd"), "{}", said.output);
    assert_eq!(site.json(&["status"]).1["snapshot"]["state"], "absent");
}

#[test]
fn a_damaged_snapshot_is_told_from_a_foreign_file_and_another_version() {
    let site = Site::empty();
    let good = Wanted::default().bytes();
    let shown = |bytes: &[u8]| {
        site.publish(bytes);
        let (status, report) = site.json(&["status"]);
        assert_eq!((status, &report["acts"], &report["snapshot"]["state"]), (3, &false.into(), &"damaged".into()));
        report["problem"].as_str().unwrap().to_owned()
    };
    assert!(shown(&good[..good.len() / 2]).contains("cut short"));
    assert!(shown(&[b'x'; 100]).contains("not a snapshot of queuecast"));
    let (mut flipped, mut other) = (good.clone(), good.clone());
    *flipped.last_mut().unwrap() ^= 1;
    assert!(shown(&flipped).contains("checksum"));
    other[8] += 1;
    assert!(shown(&other).contains(&format!("layout version {}", other[8])));
}

#[test]
fn a_snapshot_that_others_could_have_written_is_not_used() {
    let site = Site::usable();
    fs::set_permissions(site.path().join("snapshot"), fs::Permissions::from_mode(0o666)).unwrap();
    let (status, report) = site.json(&["status"]);
    assert_eq!((status, &report["snapshot"]["state"]), (3, &"untrusted".into()));
}

#[test]
fn an_old_snapshot_is_shown_and_the_answer_is_no() {
    let site = Site::with(&Wanted { published_at: UnixTime(now().0 - 3_600), ..Wanted::default() });
    let said = site.run(&["status"]);
    assert_eq!(said.status, 1);
    assert!(line(&said.output, "submit filter").contains("1 h old and counts for 10 min only"), "{}", said.output);
    assert_eq!(line(&said.output, "cluster"), "cluster test");
}

#[test]
fn the_kill_switch_and_a_mode_that_is_off_everywhere_are_a_no() {
    let site = Site::usable();
    fs::write(site.path().join("off"), "").unwrap();
    let said = site.run(&["status"]);
    assert_eq!((said.status, line(&said.output, "kill switch").as_str()), (1, "kill switch on"));
    let off = Site::with(&Wanted { policy: Policy { mode: Mode::Off, ..enforcing() }, ..Wanted::default() });
    let (status, report) = off.json(&["status"]);
    assert_eq!(status, 1);
    assert!(report["problem"].as_str().unwrap().contains("off everywhere"));
}

#[test]
fn counters_are_shown_with_their_share_of_submissions() {
    let site = Site::usable();
    assert!(site.run(&["status"]).output.contains("JobSubmitPlugins=queuecast"));
    let mut numbers = [0; COUNTERS.len()];
    for (counter, count) in [(Counter::Submissions, 8), (Counter::Molded, 2), (Counter::Reserved, 1)] {
        numbers[counter.index()] = count;
    }
    let mut counted = Counted::default();
    counted.take(1, &numbers);
    fs::write(site.path().join("filter-counters"), slurm_conf::state_directory::COUNTERS_ENVELOPE.sealed(&counted.to_bytes()).unwrap())
        .unwrap();
    let said = site.run(&["status"]);
    assert_eq!(line(&said.output, "2 "), "2 25.0 % molded");
    assert_eq!(line(&said.output, "rewritten"), "rewritten: at least 2 25.0 %");
    let (_, report) = site.json(&["status"]);
    assert_eq!((&report["counters"]["submissions"], &report["counters"]["molded"]), (&8.into(), &2.into()));
    fs::write(site.path().join("filter-counters"), "x").unwrap();
    let (_, report) = site.json(&["status"]);
    assert!(report["counters"].is_null() && report["counters_error"].as_str().unwrap().contains("not the counters"));
}

#[test]
fn a_broken_configuration_is_named_and_the_snapshot_still_found() {
    let site = Site::usable();
    let directory = site.path().to_str().unwrap();
    fs::write(site.configuration(), format!("state_directory = {directory:?}\n[policy]\nmode = \"enf")).unwrap();
    // Without --state-directory: the place stands before the fault.
    let said = said(&mut site.command(&["status"]));
    assert_eq!(said.status, 0, "{}", said.output);
    assert!(line(&said.output, "the file can't be used").contains("queuecast.toml:3: "), "{}", said.output);
    assert!(said.output.contains("what was loaded before stays in force"), "{}", said.output);
}

#[test]
fn what_the_daemon_found_wrong_is_shown_until_it_loads_a_good_file() {
    let error = "queuecast.toml:3: unknown mode; the last good configuration is in force".to_owned();
    let site = Site::with(&Wanted { configuration_error: error, ..Wanted::default() });
    fs::write(site.configuration(), "[policy]\nmode = \"enforce\"\n").unwrap();
    let said = site.run(&["status"]);
    assert!(line(&said.output, "when it was last loaded").contains("unknown mode"));
    assert!(said.output.contains("systemctl reload queuecastd"), "{}", said.output);
}

#[test]
fn a_missing_configuration_is_not_a_fault() {
    let error = |site: &Site| format!("{}: no such file; the defaults are in force", site.configuration().display());
    let site = Site::empty();
    site.publish(&Wanted { configuration_error: error(&site), ..Wanted::default() }.bytes());
    let said = site.run(&["status"]);
    assert_eq!((said.status, line(&said.output, "there is no such").as_str()), (0, "there is no such file"));
    assert_eq!(line(&said.output, "the defaults"), "the defaults are in force");
}

#[test]
fn a_wrong_option_is_wrong_usage() {
    let said = Site::usable().run(&["status", "--colour"]);
    assert_eq!((said.status, said.output.as_str()), (2, ""));
    assert!(said.error.contains("--colour"));
}

#[test]
fn a_rule_of_shared_nodes_in_a_partition_that_shares_none_is_told() {
    let site = Site::empty();
    let policy = Policy { admission: Admission::Libra, ..enforcing() };
    site.publish(&Wanted { policy, ..Wanted::default() }.bytes());
    let said = site.run(&["status"]);
    assert!(said.output.contains("batch: libra admits nobody: no node takes jobs that share its CPUs"), "{}", said.output);
    assert_eq!(site.json(&["status"]).1["partitions"][0]["shared_nodes"], 0);
    site.publish(&Wanted::default().bytes());
    assert!(!site.run(&["status"]).output.contains("admits nobody"));
}

#[test]
fn what_the_machines_time_costs_is_told_where_it_is_weighed() {
    let site = Site::empty();
    let publish = |others, is_planned: bool| {
        let plan = is_planned.then(|| plan(now()));
        let policy = Policy { others, ..enforcing() };
        site.publish(&Wanted { policy, plan, ..Wanted::default() }.bytes());
        site.run(&["status"]).output
    };
    let told = publish(Others::NotWorse, true);
    let row = told.lines().find(|line| line.contains("1.50")).unwrap();
    assert!(row.contains("batch") && row.contains("0.25") && told.contains("all others together wait longer"), "{told}");
    let steps = &site.json(&["status"]).1["partitions"][0]["prices"]["steps"];
    assert_eq!((steps[0]["until_s"].as_i64(), steps[0]["waited_s"].as_f64()), (Some(900), Some(1.5)));
    assert!(publish(Others::Sum, false).contains("not worked out yet"));
    assert!(!publish(Others::Ignore, true).contains("costs others"));
}
