//! `queuecast predict`: what is forecast for a described job, and what the filter would do with it.

mod common;

use std::fs;

use common::{Site, USER, Wanted, line, now};
use job_types::options::Mode;
use job_types::policy::{Policy, When};
use job_types::time::UnixTime;
use made_up_site::enforcing;
use serde_json::{Value, json};

const JOB: [&str; 5] = ["predict", "--user=61234", "--partition=batch", "-N4", "-t2:00:00"];

fn described<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&JOB[..], more].concat()
}

#[test]
fn the_wait_rests_on_the_class_of_the_job() {
    let (status, report) = Site::usable().json(&JOB);
    assert_eq!(status, 0);
    // 4 nodes of 4 CPUs, whole: 16 CPUs. Jobs of as many waited 100 s, those of 64 CPUs 5,000 s, so
    // that QBETS makes two classes of them.
    let wait = &report["wait"];
    assert_eq!((&wait["median_s"], &wait["jobs"], &wait["confidence"]), (&100.into(), &200.into(), &0.95.into()));
    assert_eq!(wait["class"], json!({"partition": "batch", "cpus": [1, 16], "limits_s": null}));
    for probability in ["0.25", "0.5", "0.75", "0.9", "0.95"] {
        assert_eq!(wait["bounds_s"][probability], 100);
    }
    // (160 + 48 + 16) / 256.
    assert_eq!(wait["pressure"], 0.875);
    let within = |duration: i64| wait["starts_within"].as_array().unwrap().iter().find(|start| start["duration_s"] == duration).unwrap();
    assert_eq!(within(60)["probability"], 0.0);
    assert!(within(600)["probability"].as_f64().unwrap() >= 0.97);
}

#[test]
fn the_run_time_rests_on_the_users_own_past_or_on_the_limit() {
    let site = Site::usable();
    let (_, report) = site.json(&JOB);
    let run_time = &report["run_time"];
    assert_eq!((&run_time["jobs"], &run_time["unit"], &run_time["point_s"]), (&200.into(), &"nodes".into(), &1_000.into()));
    // 1,000 s with 10 % on either side.
    assert_eq!(run_time["ranges"], json!([{"lower_s": 900, "upper_s": 1_100, "probability": 1.0}]));
    let (_, stranger) = site.json(&["predict", "--user=61235", "-N4", "-t2:00:00"]);
    assert_eq!((&stranger["run_time"]["jobs"], &stranger["run_time"]["point_s"]), (&0.into(), &7_200.into()));
    let said = site.run(&["predict", "--user=61235", "-N4", "-t2:00:00"]);
    assert!(said.output.contains("the time limit, 2 h, is taken"), "{}", said.output);
}

#[test]
fn text_shows_bounds_ranges_and_pictures() {
    let said = Site::usable().run(&described(&["--by", "now+1hour"]));
    assert_eq!(said.status, 0, "{}", said.error);
    assert_eq!(line(&said.output, "job"), "job 4 nodes, 16 CPUs in batch, time limit 2 h, user 61234");
    assert_eq!(line(&said.output, "median"), "median 1 min");
    assert_eq!(line(&said.output, "0.95"), "0.95 1 min");
    assert!(line(&said.output, "10 min 0.").ends_with("███"), "{}", said.output);
    assert!(line(&said.output, "15 min").starts_with("15 min 18 min 1.00 █"), "{}", said.output);
    assert!(line(&said.output, "mode enforce").contains("it asks for nothing"), "{}", said.output);
}

#[test]
fn the_probability_of_being_done_counts_wait_and_run_time() {
    let site = Site::usable();
    let (_, report) = site.json(&described(&["--deadline=now+2hours", "--by=now+1000", "--by=now+1300"]));
    let done: Vec<_> = report["done"].as_array().unwrap().iter().map(|done| done["probability"].as_f64().unwrap()).collect();
    // 100 s of wait and at most 1,100 s of run time: not by 1,000 s, and by 1,300 s as surely as
    // the bounds of the class are. That on its last percentile, which 200 waits are too few for, is
    // the partition's: 5,000 s.
    assert_eq!((done.len(), done[1]), (3, 0.0));
    assert!(done[2] >= 0.97 && done[0] >= done[2], "{done:?}");
    assert_eq!(report["done"][0]["is_deadline"], true);
    // The earliest begin plus the limit lies beyond: Slurm itself refuses such a job.
    let (_, report) = site.json(&described(&["--deadline=now+1hour"]));
    assert!(report["notes"][0].as_str().unwrap().contains("sbatch would refuse"));
}

#[test]
fn the_filters_decision_is_shown_with_its_line_and_record() {
    let site = Site::usable();
    let job = ["predict", "--user=61234", "-N16", "-n64", "-t1:00:00", "--auto-mold"];
    let (status, report) = site.json(&job);
    let filter = &report["filter"];
    assert_eq!((status, &filter["outcome"], &filter["mode"]), (0, &"changed".into(), &"enforce".into()));
    assert_eq!(
        (&filter["changes"]["nodes"], &filter["changes"]["tasks"], &filter["changes"]["limit_s"]),
        (&4.into(), &16.into(), &7_200.into())
    );
    assert!(filter["line"].as_str().unwrap().starts_with("4 nodes instead of 16"), "{filter}");
    assert_eq!(filter["record"]["asked"]["options"], json!([["QUEUECAST_AUTO_MOLD", "1"]]));
    assert!(line(&site.run(&job).output, "it says").starts_with("it says queuecast: 4 nodes instead of 16"));
}

#[test]
fn a_mode_below_enforce_changes_nothing_and_shows_what_enforcing_would() {
    let site = Site::with(&Wanted { policy: Policy { mode: Mode::Observe, ..enforcing() }, ..Wanted::default() });
    let (_, report) = site.json(&["predict", "--user=61234", "-N16", "-t1:00:00", "--auto-mold"]);
    let filter = &report["filter"];
    assert_eq!(
        (&filter["outcome"], &filter["changes"]["nodes"], &filter["proposed"]["nodes"]),
        (&"observed".into(), &Value::Null, &4.into())
    );
    assert!(filter["line_if_enforced"].as_str().unwrap().starts_with("4 nodes instead of 16"));
}

#[test]
fn a_policy_for_all_jobs_needs_no_option() {
    let site = Site::with(&Wanted { policy: Policy { mold: When::Always, ..enforcing() }, ..Wanted::default() });
    let outcome = |more: &[&str]| site.json(&[&["predict", "--user=61234", "-N16", "-t1:00:00"], more].concat()).1["filter"].clone();
    assert_eq!(outcome(&[])["changes"]["nodes"], 4);
    assert_eq!((&outcome(&["--queuecast=off"])["outcome"]), &json!("left"));
}

#[test]
fn a_reservation_comes_with_its_trajectory() {
    let site = Site::usable();
    let job = described(&["--reserve-at=now+1hour", "--success-probability=0.9"]);
    let (status, report) = site.json(&job);
    assert_eq!((status, &report["filter"]["outcome"]), (0, &"changed".into()));
    let trajectory = report["trajectory"].as_array().unwrap();
    // 120 steps of 30 s, of which every second is shown.
    assert_eq!(trajectory.len(), 60);
    assert_eq!(trajectory[1]["begin"].as_i64().unwrap() - trajectory[0]["begin"].as_i64().unwrap(), 60);
    // With the limit padded to over 2 h and up to 3 h the class is still that of 1 h to 4 h: 100 s
    // of wait.
    assert!(trajectory[0]["probability"].as_f64().unwrap() >= 0.97);
    assert_eq!(trajectory[59]["padded_limit_s"], 7_260);
    let said = site.run(&job);
    assert!(said.output.contains("▕██"), "{}", said.output);
    assert!(line(&said.output, "▲").contains("with a time limit of 2 h"), "{}", said.output);
}

#[test]
fn a_job_that_would_be_refused_is_a_no() {
    let site = Site::usable();
    let (status, report) = site.json(&described(&["--reserve-at=now+50", "--success-probability=0.9"]));
    assert_eq!((status, &report["filter"]["outcome"]), (1, &"refused".into()));
    assert!(report["filter"]["line"].as_str().unwrap().starts_with("no reservation: "));
}

#[test]
fn an_option_is_also_read_from_its_environment_twin() {
    let site = Site::usable();
    let directory = site.path().to_str().unwrap().to_owned();
    let mut command = site.command(&["predict", "--user=61234", "-N16", "-t60", "--state-directory", &directory]);
    let said = common::said(command.env("QUEUECAST_AUTO_MOLD", "1"));
    assert!(line(&said.output, "it says").contains("4 nodes instead of 16"), "{}", said.output);
    let wrong = common::said(command.env("QUEUECAST_MODE", "loud"));
    assert_eq!(wrong.status, 2);
    assert!(wrong.error.contains("QUEUECAST_MODE in the environment"), "{}", wrong.error);
}

#[test]
fn the_job_is_read_as_sbatch_would_submit_it() {
    let (_, tasks) = Site::usable().json(&["predict", "--user=61234", "-n", "6", "-c", "2"]);
    // Twelve CPUs on whole nodes of four; the partition's default limit.
    assert_eq!((&tasks["job"]["nodes"], &tasks["job"]["cpus"], &tasks["job"]["limit_s"]), (&3.into(), &12.into(), &3_600.into()));
    assert_eq!(tasks["run_time"]["unit"], "cpus");
    let (_, per_node) = Site::usable().json(&["predict", "--user=61234", "-N", "4", "--ntasks-per-node", "2"]);
    assert_eq!((&per_node["job"]["tasks"], &per_node["run_time"]["unit"]), (&8.into(), &"nodes".into()));
}

#[test]
fn nothing_known_of_waits_is_said() {
    let said = Site::usable().run(&["predict", "--user=61234", "--partition=debug", "--by=now+1hour"]);
    assert_eq!(said.status, 0);
    assert!(said.output.contains("no past waits are known"), "{}", said.output);
    assert!(!said.output.contains("Done by"));
}

#[test]
fn an_old_snapshot_or_the_kill_switch_leave_the_job() {
    let site = Site::with(&Wanted { published_at: UnixTime(now().0 - 3_600), ..Wanted::default() });
    let (status, report) = site.json(&described(&["--auto-mold"]));
    assert_eq!((status, &report["filter"]["outcome"]), (0, &"left".into()));
    assert!(report["notes"][0].as_str().unwrap().contains("old"));
    let (status, _) = site.json(&described(&["--reserve-at=now+1hour"]));
    assert_eq!(status, 1, "a promise that can't be given is refused");
    let off = Site::usable();
    fs::write(off.path().join("off"), "").unwrap();
    let (status, report) = off.json(&described(&["--reserve-at=now+1hour"]));
    assert_eq!((status, &report["filter"]["outcome"]), (0, &"left".into()));
}

#[test]
fn what_cannot_be_read_is_named_with_status_2() {
    let site = Site::usable();
    for (arguments, named) in [
        (vec!["predict", "-p", "nowhere"], "there are: batch, debug"),
        (vec!["predict", "-N", "0"], "--nodes"),
        (vec!["predict", "-t", "1x"], "hours:minutes:seconds"),
        (vec!["predict", "--deadline", "soon"], "--deadline"),
        (vec!["predict", "--deadline", "now-1hour"], "passed"),
        (vec!["predict", "--user", "no-such-user-here"], "no user"),
        (vec!["predict", "--by", "soon"], "--by"),
        (vec!["predict", "--mold-sizes", "2"], "needs --auto-mold"),
        (vec!["predict", "--success-probability", "2", "--reserve-at", "now+1hour"], "less than 1"),
    ] {
        let said = site.run(&arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{arguments:?}: {}", said.error);
        assert!(said.error.contains(named), "{arguments:?}: {}", said.error);
    }
    let none = Site::empty().run(&JOB);
    assert_eq!(none.status, 2);
    assert!(none.error.contains("systemctl start queuecastd"), "{}", none.error);
}

#[test]
fn the_user_is_the_caller_unless_named() {
    let (_, report) = Site::usable().json(&["predict"]);
    assert_eq!(report["job"]["user"], nix::unistd::Uid::current().as_raw());
    assert_ne!(report["job"]["user"], USER);
}

#[test]
fn the_forecasts_are_drawn_with_their_units() {
    let site = Site::usable();
    let path = site.path().join("forecast.svg");
    let said = site.run(&described(&["--plot", path.to_str().unwrap()]));
    assert_eq!(said.status, 0, "{}", said.error);
    let svg = std::fs::read_to_string(path).unwrap();
    for text in ["Wait of 4 nodes in batch", "probability of having started", "Run time of 4 nodes in batch", "1.00", "30 min"] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(site.run(&described(&["--plot", "forecast.pdf"])).status, 2);
}
