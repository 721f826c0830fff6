//! What people see of the guard: `queuecast report guard`, `status` and `doctor`.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Site, line, now, said};
use job_types::time::{Seconds, UnixTime};
use serde_json::Value;
use simulator::guard::state::{Change, Draw, Finding, Guard, GuardedPolicy, NotKnown, PolicyStanding, Postponed, Replay, Standing, Try};

const DAY: i64 = 86_400;

/// Times with and without the policy whose mean and 95th percentile change by these parts.
fn change(mean: f64, p95: f64) -> Change {
    Change {
        jobs: 1_000,
        mean_without_s: 1_000.0,
        mean_with_s: 1_000.0 * (1.0 + mean),
        p95_without_s: 8_000.0,
        p95_with_s: 8_000.0 * (1.0 + p95),
    }
}

/// A replay so many days ago, of which the draws change the means of those who use the policy and
/// of the others by these parts, one pair for each draw.
fn replay(days_ago: i64, finding: Finding, draws: &[(f64, f64)]) -> Replay {
    let at = now() - Seconds(days_ago * DAY);
    let draw = |(seed, (users, others)): (usize, &(f64, f64))| Draw {
        seed: seed as u64,
        changed: 400,
        all: change(*users, 0.0),
        users: change(*users, users / 2.0),
        others: change(*others, others / 2.0),
    };
    Replay {
        at,
        first: Some(at - Seconds(28 * DAY)),
        last: Some(at),
        days: 27.5,
        jobs: 4_000,
        adoption: 0.25,
        finding,
        why: "as the draws say".to_owned(),
        draws: draws.iter().enumerate().map(draw).collect(),
    }
}

fn standing(partition: &str, policy: GuardedPolicy, standing: Standing, replays: Vec<Replay>) -> PolicyStanding {
    let why = match standing {
        Standing::Good => "it pays",
        Standing::Bad => "jobs of those who don't use it take 12 % longer",
    };
    PolicyStanding {
        partition: partition.to_owned(),
        policy,
        standing,
        since: now() - Seconds(3 * DAY),
        why: why.to_owned(),
        in_a_row: 0,
        replays,
    }
}

/// Molding is held back in `batch` since three days and stands in `debug`, where nothing was said.
fn guard() -> Guard {
    let batch = vec![
        replay(10, Finding::Pays, &[(-0.08, -0.01), (-0.1, -0.03), (-0.12, -0.02)]),
        replay(3, Finding::Harms, &[(-0.02, 0.12), (-0.03, 0.1), (-0.01, 0.14)]),
    ];
    let debug = Replay { adoption: 0.0, draws: Vec::new(), ..replay(3, Finding::CannotBeSaid, &[]) };
    Guard {
        last_try: Some(Try { at: now() - Seconds(3_600), took_s: 41.5, jobs: 8_000, failure: None, postponed: Vec::new() }),
        last_success: Some(now() - Seconds(3_600)),
        policies: vec![
            standing("batch", GuardedPolicy::Molding, Standing::Bad, batch),
            standing("debug", GuardedPolicy::Deferral, Standing::Good, vec![debug]),
        ],
        not_known: vec![NotKnown { about: "admission".to_owned(), why: "No record says what refused jobs would have done.".to_owned() }],
        ..Guard::default()
    }
}

/// A site whose guard has found this.
fn site(guard: &Guard) -> Site {
    let site = Site::usable();
    write(&site, &guard.write().unwrap());
    site
}

fn write(site: &Site, text: &[u8]) {
    let path = site.path().join("guard.json");
    fs::write(&path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

fn report(site: &Site) -> Value {
    let (status, report) = site.json(&["report", "guard"]);
    assert_eq!(status, 0);
    report
}

/// Outcome, finding and advice of a check of the guard by doctor.
fn check(site: &Site, name: &str) -> [String; 3] {
    let (_, report) = site.json(&["doctor", "--role", "controller"]);
    let is_it = |check: &&Value| check["subject"] == "Guard" && check["name"] == name;
    let check = report["checks"].as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("no {name} in {report:#}"));
    ["outcome", "found", "advice"].map(|key| check[key].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_verdict_comes_first_and_says_which_policy_stands_where_since_when_and_why() {
    let said = site(&guard()).run(&["report", "guard"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert_eq!(said.output.lines().next(), Some("guard          holds back molding in batch"));
    let held_back = line(&said.output, "batch molding held back");
    assert!(held_back.ends_with("3 d ago jobs of those who don't use it take 12 % longer"), "{held_back}");
    assert!(line(&said.output, "debug deferral stands").ends_with("3 d ago it pays"));
    assert_eq!(line(&said.output, "admission:"), "admission: No record says what refused jobs would have done.");
    assert!(line(&said.output, "replayed").contains("1 h ago: 8,000 jobs of the last 28 d; every 1 d"), "{}", said.output);
    assert!(!said.output.contains('\u{1b}'), "colours where there is no terminal");
}

#[test]
fn each_replay_has_its_figures_over_the_draws_the_latest_first() {
    let said = site(&guard()).run(&["report", "guard"]);
    let rows: Vec<String> = said.output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let rows: Vec<&String> = rows.iter().filter(|row| row.contains(" 4,000 27.5 ")).collect();
    // By hand: the mean of -0.02, -0.03 and -0.01, half of it, and of 0.12, 0.1 and 0.14.
    assert!(rows[0].ends_with("25 % -2.0 % -1.0 % -3.0 to -1.0 % +12 % +6.0 % +10 to +14 % harms others"), "{rows:#?}");
    assert!(rows[1].ends_with("25 % -10 % -5.0 % -12 to -8.0 % -2.0 % -1.0 % -3.0 to -1.0 % pays"), "{rows:#?}");
    assert!(rows[2].ends_with("0.0 % - - - - - - can't be said"), "{rows:#?}");
    assert_eq!(rows.len(), 3);
}

#[test]
fn the_json_report_has_the_figures_under_its_documented_keys() {
    let site = site(&guard());
    let report = report(&site);
    assert_eq!((&report["act"], &report["has_run"]), (&"observe".into(), &true.into()));
    let molding = &report["policies"][0];
    assert_eq!((&molding["policy"], &molding["held_back"], &molding["is_bad"]), (&"molding".into(), &true.into(), &true.into()));
    let latest = &molding["replays"][1];
    assert_eq!((&latest["finding"], &latest["draws"], &latest["adoption"]), (&"harms".into(), &3.into(), &0.25.into()));
    let near = |value: &Value, wanted: f64| assert!((value.as_f64().unwrap() - wanted).abs() < 1e-9, "{value} is not {wanted}");
    for (key, wanted) in [("change", 0.12), ("least", 0.1), ("greatest", 0.14), ("p95_change", 0.06), ("mean_with_s", 1_120.0)] {
        near(&latest["others"][key], wanted);
    }
    assert!(report["policies"][1]["replays"][0]["users"].is_null());
    // Each key that is told is in the help.
    let help = said(&mut site.command(&["report", "guard", "--help"])).output;
    let keys = help.split_once("Keys of --json").unwrap().1;
    let objects = [&report, &report["last_try"], molding, latest, &latest["others"], &report["not_known"][0]];
    for key in objects.iter().flat_map(|object| object.as_object().unwrap().keys()).filter(|key| !key.ends_with("_text")) {
        assert!(keys.contains(key.as_str()), "{key} is not in the help");
    }
}

#[test]
fn what_there_was_no_time_for_is_told_in_the_report() {
    let mut guard = guard();
    let postponed = [("batch", GuardedPolicy::Deferral), ("debug", GuardedPolicy::Molding)];
    let postponed = postponed.map(|(partition, policy)| Postponed { partition: partition.to_owned(), policy });
    guard.last_try.as_mut().unwrap().postponed = postponed.to_vec();
    let site = site(&guard);
    let said = site.run(&["report", "guard"]).output;
    assert!(said.contains("deferral in batch, molding in debug: first in the next replay"), "{said}");
    assert_eq!(report(&site)["last_try"]["postponed"][1]["partition"], "debug");
}

#[test]
fn only_the_partitions_that_are_named_are_shown() {
    let said = site(&guard()).run(&["report", "guard", "--partition", "debug"]);
    assert!(said.output.contains("debug") && !said.output.contains("\nbatch"), "{}", said.output);
}

#[test]
fn where_no_guard_has_run_it_is_said_when_one_will() {
    let site = Site::usable();
    let said = site.run(&["report", "guard"]);
    assert_eq!((said.status, said.output.lines().count()), (0, 1));
    assert!(said.output.contains("has not replayed anything yet"), "{}", said.output);
    assert_eq!(report(&site)["has_run"], false);
    assert!(line(&site.run(&["status"]).output, "guard").contains("has not replayed anything yet"));
    assert_eq!(check(&site, "replays")[..2], ["ok", "none yet"]);
}

#[test]
fn a_guard_that_only_warns_holds_nothing_back() {
    let site = site(&Guard { act: simulator::guard::state::Act::Warn, ..guard() });
    let said = site.run(&["report", "guard"]);
    assert_eq!(said.output.lines().next(), Some("guard          warns of molding in batch, and lets it stand ([guard] act)"));
    assert!(line(&said.output, "batch molding warned of").contains("take 12 % longer"));
    assert_eq!(report(&site)["policies"][0]["held_back"], false);
    assert!(check(&site, "policies")[1].starts_with("molding in batch is warned of since"));
}

#[test]
fn a_guard_that_is_off_shows_nothing_of_what_it_found_before() {
    let site = site(&Guard { act: simulator::guard::state::Act::Off, ..guard() });
    let said = site.run(&["report", "guard"]);
    assert!(said.output.starts_with("guard          off: [guard] act in queuecast.toml"), "{}", said.output);
    assert_eq!(report(&site)["policies"], Value::Array(Vec::new()));
    assert_eq!(check(&site, "replays")[..2], ["ok", "switched off ([guard] act)"]);
}

#[test]
fn a_failed_replay_is_told_and_doctor_warns_of_it() {
    let failed = Try {
        at: now() - Seconds(60),
        took_s: 600.0,
        jobs: 0,
        failure: Some("it took more than 600 s of CPU".to_owned()),
        postponed: Vec::new(),
    };
    let site = site(&Guard { last_try: Some(failed), ..guard() });
    let said = site.run(&["report", "guard"]);
    assert!(line(&said.output, "without an answer").ends_with("it took more than 600 s of CPU"));
    assert!(line(&said.output, "last answer").contains("1 h ago"));
    assert!(site.run(&["status"]).output.contains("the last replay gave no answer: it took more than 600 s of CPU"));
    let [outcome, found, advice] = check(&site, "replays");
    assert!(outcome == "warning" && found.contains("gave no answer: it took more than") && !advice.is_empty(), "{outcome} {found}");
    // What was found before still stands.
    assert!(check(&site, "policies")[1].starts_with("molding in batch is held back"));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_says_what_to_do() {
    let site = site(&guard());
    write(&site, b"{\"version\": 1, ");
    let said = site.run(&["report", "guard"]);
    assert_eq!((said.status, said.output.as_str()), (2, ""));
    assert!(said.error.contains("guard.json") && said.error.contains("restart queuecastd"), "{}", said.error);
    assert!(line(&site.run(&["status"]).output, "guard").starts_with("guard can't be read: "));
    assert!(site.json(&["status"]).1["guard"]["error"].as_str().unwrap().contains("damaged"));
    let [outcome, found, advice] = check(&site, "what it found");
    assert!(outcome == "failed" && found.contains("damaged") && advice.contains("restart queuecastd"), "{outcome} {found} {advice}");
    write(&site, b"{\"version\": 99}");
    assert!(site.run(&["report", "guard"]).error.contains("version 99"));
}

#[test]
fn a_file_that_others_could_have_written_is_not_read() {
    let site = site(&guard());
    fs::set_permissions(site.path().join("guard.json"), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(site.run(&["report", "guard"]).status, 2);
    assert_eq!(check(&site, "what it found")[0], "failed");
}

#[test]
fn status_has_a_line_and_doctor_a_remark_of_what_is_held_back() {
    let site = site(&guard());
    let said = site.run(&["status"]);
    assert_eq!((said.status, line(&said.output, "guard").as_str()), (0, "guard holds back molding in batch"));
    assert!(said.output.contains("3 d ago: jobs of those who don't use it take 12 % longer"), "{}", said.output);
    let guard = site.json(&["status"]).1["guard"].clone();
    assert_eq!((&guard["act"], &guard["against"][0]["partition"]), (&"observe".into(), &"batch".into()));
    let [outcome, found, advice] = check(&site, "policies");
    assert_eq!((outcome.as_str(), advice.as_str()), ("ok", ""));
    assert!(found.starts_with("molding in batch is held back since") && found.ends_with("see `queuecast report guard`"), "{found}");
    assert_eq!(check(&site, "replays")[0], "ok");
}

#[test]
fn the_picture_has_a_diagram_for_each_policy_that_was_replayed_and_marks_what_was_held_back() {
    let site = site(&guard());
    let picture = site.path().join("guard.svg");
    let said = site.run(&["report", "guard", "--plot", picture.to_str().unwrap()]);
    assert_eq!(said.status, 0, "{}", said.error);
    let svg = fs::read_to_string(&picture).unwrap();
    for text in ["batch: molding", "jobs of those who use it", "jobs of the others", "held back", "change of the mean response (%)"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("debug"), "a diagram without figures");
    let png = site.path().join("guard.png");
    assert_eq!(site.run(&["report", "guard", "--plot", png.to_str().unwrap()]).status, 0);
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn times_at_which_a_policy_was_held_back_before_are_told_and_marked() {
    let (gains, harms) = ([(-0.1, 0.0); 3], [(0.0, 0.1); 3]);
    let replays = vec![replay(20, Finding::Harms, &harms), replay(10, Finding::Pays, &gains), replay(9, Finding::Pays, &gains)];
    let (began, ended) = (replays[0].at, replays[2].at);
    let standing = PolicyStanding { since: ended, ..standing("batch", GuardedPolicy::Molding, Standing::Good, replays) };
    let site = site(&Guard { policies: vec![standing], ..guard() });
    let stood_badly = &report(&site)["policies"][0]["stood_badly"];
    assert_eq!((&stood_badly[0]["since"], &stood_badly[0]["until"]), (&began.0.into(), &ended.0.into()));
    assert_eq!(stood_badly.as_array().unwrap().len(), 1);
    let picture = site.path().join("guard.svg");
    assert_eq!(site.run(&["report", "guard", "--plot", picture.to_str().unwrap()]).status, 0);
    assert!(fs::read_to_string(&picture).unwrap().contains("held back"));
}

#[test]
fn a_configuration_that_switches_the_guard_off_counts_before_the_daemon_has_taken_it_up() {
    let site = site(&guard());
    fs::write(site.configuration(), "[guard]\nact = \"off\"\n").unwrap();
    assert!(site.run(&["report", "guard"]).output.starts_with("guard          off: [guard] act in queuecast.toml"));
}

#[test]
fn a_picture_of_nothing_is_refused_with_the_reason() {
    let site = site(&guard());
    let picture = site.path().join("guard.svg");
    let said = site.run(&["report", "guard", "--partition", "debug", "--plot", picture.to_str().unwrap()]);
    assert!(said.status == 2 && said.error.contains("nothing to draw") && !picture.exists(), "{}", said.error);
}

#[test]
fn a_guard_in_whose_reach_nothing_is_enforced_says_so() {
    let said = site(&Guard { policies: Vec::new(), ..guard() }).run(&["report", "guard"]);
    assert!(said.output.starts_with("guard          judges nothing: neither molding nor deferral is enforced"), "{}", said.output);
    let before = Guard {
        last_try: Some(Try { at: UnixTime(1), took_s: 0.0, jobs: 0, failure: None, postponed: Vec::new() }),
        last_success: None,
        ..guard()
    };
    assert!(site(&before).run(&["report", "guard"]).output.starts_with("guard          no replay has given an answer yet"));
}
