//! The site's own rules as they are put in force, and what `queuecast status` and `doctor` tell of
//! them.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Said, Site, line, now, said};
use rules_compiler::counted::CountedRules;
use rules_compiler::in_force;
use serde_json::json;
use site_rules::data::{self, SiteData, SiteJob};

/// A site whose configuration names its state directory, and has these rules.
fn site(rules: &str) -> Site {
    let site = Site::usable();
    fs::create_dir(site.path().join("rules.d")).unwrap();
    configure(&site, rules);
    site
}

fn configure(site: &Site, rules: &str) {
    let directory = site.path().to_str().unwrap();
    fs::write(site.configuration(), format!("state_directory = {directory:?}\n{rules}")).unwrap();
}

fn rule(name: &str, rest: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\n{rest}\n")
}

fn load(site: &Site, arguments: &[&str]) -> Said {
    said(&mut site.command(&[&["filter", "load"], arguments].concat()))
}

/// The names of the rules that are in force.
fn rules(site: &Site) -> Vec<String> {
    let rules = in_force::read(site.path()).unwrap();
    rules.map_or_else(Vec::new, |(rules, _)| rules.rules.iter().map(|rule| rule.name.to_string()).collect())
}

#[test]
fn rules_are_put_in_force_without_a_daemon_and_what_changes_is_printed() {
    let site = site(&(rule("time", "cap = { time_limit = \"1-0\" }") + &rule("old", "set = { qos = \"a\" }")));
    let first = load(&site, &[]);
    assert_eq!((first.status, first.output.as_str()), (0, "added: time, old\n2 rules in force\n"), "{}", first.error);
    assert_eq!(load(&site, &[]).output, "2 rules in force, the same as before\n");
    configure(&site, &(rule("time", "cap = { time_limit = \"2-0\" }") + &rule("new", "set = { qos = \"a\" }")));
    let changes = "added: new\nchanged: time\nremoved: old\n";
    assert_eq!(load(&site, &["--dry-run"]).output, format!("{changes}2 rules would be in force; nothing was changed\n"));
    assert_eq!(rules(&site), ["time", "old"]);
    assert_eq!(load(&site, &[]).output, format!("{changes}2 rules in force\n"));
    assert_eq!(rules(&site), ["time", "new"]);
    configure(&site, "");
    assert!(load(&site, &[]).output.ends_with("the site has no rules: there are none in force\n"));
    assert!(!site.path().join("rules").exists());
}

#[test]
fn rules_of_a_file_that_is_named_take_the_place_of_all_others() {
    let site = site(&rule("time", "cap = { time_limit = \"1-0\" }"));
    load(&site, &[]);
    let file = site.path().join("maintenance.toml");
    fs::write(&file, rule("maintenance", "reject = \"maintenance until noon\"")).unwrap();
    let (status, report) = site.json(&["filter", "load", file.to_str().unwrap()]);
    assert_eq!((status, &report["added"], &report["removed"]), (0, &json!(["maintenance"]), &json!(["time"])));
    assert_eq!(rules(&site), ["maintenance"]);
    fs::write(&file, "").unwrap();
    assert_eq!(load(&site, &[file.to_str().unwrap()]).status, 1, "a file without rules is hardly meant");
    assert_eq!(rules(&site), ["maintenance"]);
}

#[test]
fn what_does_not_compile_is_refused_with_its_place() {
    let site = site(&rule("time", "cap = { time_limit = \"1-0\" }"));
    load(&site, &[]);
    configure(&site, &rule("time", "cap = { time_limt = \"1-0\" }"));
    let refused = load(&site, &[]);
    assert_eq!(refused.status, 1);
    assert!(refused.output.contains("queuecast.toml:4:9: error: ") && refused.output.contains("time_limit"), "{}", refused.output);
    assert_eq!(rules(&site), ["time"]);
}

#[test]
fn rules_are_not_put_where_others_can_write() {
    let site = site(&rule("time", "cap = { time_limit = \"1-0\" }"));
    fs::set_permissions(site.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = load(&site, &[]);
    assert!(refused.status == 1 && refused.error.contains("others than its owner may write"), "{}", refused.error);
    assert!(rules(&site).is_empty());
}

#[test]
fn rules_take_the_place_of_what_no_program_of_queuecast_has_put_there() {
    let site = site(&rule("time", "cap = { time_limit = \"1-0\" }"));
    let path = site.path().join("rules");
    let put: [(&str, &dyn Fn()); 3] = [
        ("no rules", &|| fs::write(&path, "x").unwrap()),
        ("a pipe", &|| assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success())),
        ("too large", &|| fs::File::create(&path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for (what, put) in put {
        put();
        let loaded = load(&site, &[]);
        assert_eq!(loaded.status, 0, "{what}: {}", loaded.error);
        assert!(loaded.error.contains("the rules that were in force can't be compared"), "{what}: {}", loaded.error);
        assert_eq!(rules(&site), ["time"], "{what}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn status_shows_the_rules_in_force_and_what_is_wrong_with_their_files() {
    let site = site("");
    assert!(!site.run(&["status"]).output.contains("own rules"), "a site without rules is told nothing of them");
    configure(&site, &rule("time", "cap = { time_limit = \"1-0\" }"));
    load(&site, &[]);
    let shown = site.run(&["status"]).output;
    let in_force = line(&shown, "in force");
    assert!(in_force.starts_with("in force 1, since ") && in_force.ends_with(", by queuecast filter load"), "{in_force}");
    let (_, report) = site.json(&["status"]);
    let told = &report["rules"];
    assert_eq!((&told["in_force"], &told["broken"], &told["by"]), (&json!(1), &json!(false), &json!("queuecast filter load")));
    let number = told["number"].clone();

    let mut counted = CountedRules::begun(now().0);
    counted.take(1, &["time".to_owned()], &[[8, 2, 0, 1, 0, 0, 40, 16_000]]);
    fs::write(site.path().join("rule-counters"), slurm_conf::state_directory::RULE_COUNTERS_ENVELOPE.sealed(&counted.to_bytes()).unwrap())
        .unwrap();
    let jobs = vec![SiteJob::default()];
    fs::write(site.path().join("rules-data"), data::encode(&SiteData { written_at: now(), jobs, ..SiteData::default() }).bytes).unwrap();
    let shown = site.run(&["status"]).output;
    assert_eq!(line(&shown, "time "), "time 8 2 1 0 0 0 5.00 2.00");
    assert!(line(&shown, "they know").starts_with("they know 0 users with groups, 1 jobs"), "{shown}");
    let (_, report) = site.json(&["status"]);
    let rule = &report["rules"]["counted"]["rules"][0];
    assert_eq!((&rule["name"], &rule["matched"], &report["rules"]["data"]["jobs"]), (&json!("time"), &json!(2), &json!(1)));

    // As the daemon leaves it.
    let mut state = in_force::state(site.path()).unwrap().unwrap();
    state.errors = vec!["rules.d/10.toml:3:7: error: unknown key set_qos".to_owned()];
    in_force::put_state(site.path(), &state).unwrap();
    let broken = site.run(&["status"]).output;
    assert!(broken.contains("the rules before stay in force") && broken.contains("rules.d/10.toml:3:7: error"), "{broken}");
    let (_, report) = site.json(&["status"]);
    assert_eq!((&report["rules"]["broken"], &report["rules"]["number"]), (&json!(true), &number));

    fs::write(site.path().join("rules-off"), "").unwrap();
    assert!(site.run(&["status"]).output.contains("no rule is asked"));
    fs::write(site.path().join("rules"), "spoilt").unwrap();
    let (_, report) = site.json(&["status"]);
    assert!(report["rules"]["in_force"].is_null() && report["rules"]["error"].as_str().unwrap().contains("compiled rules"));
}

#[test]
fn doctor_finds_rules_that_are_broken_or_open_to_others() {
    let site = site(&rule("time", "cap = { time_limit = \"1-0\" }"));
    load(&site, &[]);
    let check = |name: &str| {
        let (_, report) = site.json(&["doctor", "--role", "controller"]);
        let checks = report["checks"].as_array().unwrap().clone();
        let found = checks.into_iter().find(|check| check["subject"] == "Rules" && check["name"] == name).unwrap();
        (found["outcome"].as_str().unwrap().to_owned(), found["found"].as_str().unwrap().to_owned())
    };
    let (outcome, found) = check("in force");
    assert!(outcome == "ok" && found.starts_with("1 rules, since "), "{found}");
    assert_eq!(check("their files").0, "ok");
    let mut state = in_force::state(site.path()).unwrap().unwrap();
    state.errors = vec!["rules.d/10.toml:3:7: error: unknown key set_qos".to_owned()];
    in_force::put_state(site.path(), &state).unwrap();
    let (outcome, found) = check("their files");
    assert!(outcome == "failed" && found.contains("rules.d/10.toml:3:7"), "{found}");
    let file = site.path().join("rules.d/10.toml");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(check("their permissions").0, "failed");
    fs::set_permissions(site.path().join("rules"), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(check("in force").0, "failed");
    fs::remove_file(site.path().join("rules")).unwrap();
    assert_eq!(check("in force").0, "ok");
    fs::write(site.path().join("rules"), "spoilt").unwrap();
    assert_eq!(check("in force").0, "failed");
}
