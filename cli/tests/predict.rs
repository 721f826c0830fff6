//! `queuecast predict`: what is forecast for a described job, and what the filter would do with it.
#![allow(clippy::unwrap_used)]

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
    let range = json!({"lower_s": 900, "lower_text": "15:00", "upper_s": 1_100, "upper_text": "18:20", "probability": 1.0});
    assert_eq!(run_time["ranges"], json!([range]));
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
    assert_eq!(line(&said.output, "median"), "median 1:40");
    assert_eq!(line(&said.output, "0.95"), "0.95 1:40");
    assert!(line(&said.output, "10:00 0.").ends_with("███"), "{}", said.output);
    assert!(line(&said.output, "15:00").starts_with("15:00 18:20 1.00 █"), "{}", said.output);
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
        (vec!["predict", "-t", "1x"], "--time does not take \"1x\": it takes a time such as 90 (minutes)"),
        (vec!["predict", "--partiton=batch"], "a similar argument exists: '--partition'"),
        (vec!["predict", "--nodefile=hosts"], "name its nodes by --nodelist"),
        (vec!["predict", "--uid=1"], "--user says here"),
        (vec!["predict", "--clusters=west"], "this snapshot is of cluster test"),
        (vec!["predict", "--clusters=test,west"], "name one"),
        (vec!["predict", "-n2", ":", "-n4"], "heterogeneous"),
        (vec!["predict", "--mem=1G", "--mem-per-cpu=1G"], "exclude each other"),
        (vec!["predict", "no-such-script.sh"], "no-such-script.sh: No such file"),
        (vec!["predict", "--begin=now+2hours", "--deadline=now+1hour"], "sbatch refuses that"),
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
    assert_eq!(none.status, 3);
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

/// Writes a script beside the snapshot.
fn script(site: &Site, text: &str) -> String {
    let path = site.path().join("job.sh");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs `predict` for JSON with variables in the environment and with options before a script.
fn of_script(site: &Site, variables: &[(&str, &str)], arguments: &[&str]) -> (i32, Value, String) {
    let directory = site.path().display().to_string();
    let mut command = site.command(&[&["predict", "--user=61234", "--format=json", "--state-directory", &directory], arguments].concat());
    let said = common::said(command.envs(variables.iter().copied()));
    (said.status, serde_json::from_str(&said.output).unwrap_or_default(), said.error)
}

const SCRIPT: &str = "#!/bin/sh\n#SBATCH --partition=batch -N 8\n#SBATCH --time=1:00:00 # an hour\n#SBATCH --mem=4G --mail-type=END\n\
                      #SBATCH --auto-mold --mold-sizes=4,8\nsrun ./program\n#SBATCH -N 64\n";

#[test]
fn a_script_is_read_with_the_environment_over_it_and_the_command_line_over_both() {
    let site = Site::usable();
    let path = script(&site, SCRIPT);
    let job = |variables: &[(&str, &str)], arguments: &[&str]| {
        let (status, report, error) = of_script(&site, variables, arguments);
        assert_eq!(status, 0, "{error}");
        (report["job"]["nodes"].as_i64().unwrap(), report["job"]["limit_s"].as_i64().unwrap(), report)
    };
    let (nodes, limit, report) = job(&[], &[&path]);
    assert_eq!((nodes, limit), (8, 3_600));
    let places: Vec<_> = report["sbatch_options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| json!([option["option"], option["line"], option["effect"]]))
        .collect();
    let expected = json!([
        ["partition", 2, "counted"],
        ["nodes", 2, "counted"],
        ["time", 3, "counted"],
        ["mem", 4, "not counted"],
        ["mail-type", 4, "no effect"],
        ["auto-mold", 5, "queuecast"],
        ["mold-sizes", 5, "queuecast"]
    ]);
    assert_eq!(json!(places), expected);
    // What the script asks of queuecast is asked.
    assert_eq!(report["filter"]["record"]["asked"]["options"], json!([["QUEUECAST_AUTO_MOLD", "1"], ["QUEUECAST_MOLD_SIZES", "4,8"]]));
    let (nodes, limit, report) =
        job(&[("SBATCH_TIMELIMIT", "2:00:00"), ("SBATCH_PARTITION", "debug")], &["-N16", "-p", "batch", &path, "--time=5"]);
    assert_eq!((nodes, limit, &report["job"]["partition"]), (16, 7_200, &"batch".into()));
    let time = report["sbatch_options"].as_array().unwrap().iter().find(|option| option["option"] == "time").unwrap();
    assert_eq!((&time["origin"], &time["variable"]), (&"environment".into(), &"SBATCH_TIMELIMIT".into()));
}

#[test]
fn what_the_forecast_does_not_count_is_told_and_what_changes_nothing_of_it() {
    let site = Site::usable();
    let path = script(&site, SCRIPT);
    let said = site.run(&["predict", "--user=61234", "--gres=gpu:2", "--dependency=afterok:7", "-J", "x", &path]);
    assert_ne!(said.status, 0, "what stands behind the script is the script's, so that the state directory is another");
    let said = common::said(&mut site.command(&[
        "predict",
        "--user=61234",
        "--state-directory",
        site.path().to_str().unwrap(),
        "--gres=gpu:2",
        "--dependency=afterok:7",
        "-J",
        "x",
        &path,
        "--by",
        "midnight",
        "--its-own",
        "--nodes=4",
    ]));
    assert_eq!(said.status, 0, "{}", said.error);
    for told in [
        "--mem=4G, --gres=gpu:2: forecasts count nodes, CPUs and time limit",
        "--dependency=afterok:7: the wait is counted as if nothing had to end before",
        "--mail-type, --job-name change nothing of the forecast",
        "--by, --nodes stand behind the script and are its arguments",
    ] {
        assert!(said.output.contains(told), "{told}: {}", said.output);
    }
    assert!(line(&said.output, "read").contains("--nodes=8 (line 2), --time=1:00:00 (line 3)"), "{}", said.output);
}

#[test]
fn a_job_that_not_every_node_can_run_is_not_made_larger() {
    let site = Site::with(&Wanted { policy: Policy { mold: When::Always, ..enforcing() }, ..Wanted::default() });
    let record = |more: &[&str]| {
        site.json(&[&["predict", "--user=61234", "-N16", "-n64", "-t1:00:00", "--auto-mold"], more].concat()).1["filter"].clone()
    };
    // As the plugin, which ties such a job to its size.
    assert_eq!(record(&[])["changes"]["nodes"], 4);
    for tied in ["--nodelist=n[1-16]", "--licenses=matlab", "--gpus=16", "--constraint=[a*8&b*8]"] {
        assert_eq!(record(&[tied])["changes"]["nodes"], Value::Null, "{tied}");
    }
}

#[test]
fn what_is_wrong_in_a_script_is_told_with_its_line_and_the_nearest() {
    let site = Site::usable();
    let wrong = |text: &str| {
        let (status, _, error) = of_script(&site, &[], &[&script(&site, text)]);
        assert_eq!(status, 2, "{error}");
        error
    };
    let error = wrong("#!/bin/sh\n#SBATCH --nodes=4\n#SBATCH --tme=1:00:00\n");
    assert!(error.contains("job.sh: line 3 of the script: the option --tme is not known; did you mean --time?"), "{error}");
    assert!(wrong("#!/bin/sh\n#SBATCH --hepl\n").contains("did you mean --help?"));
    assert!(wrong("#!/bin/sh\n#SBATCH --help\n").contains("line 2 of the script: --help: sbatch prints something"));
    assert!(wrong("#!/bin/sh\n#SBATCH --max-defer=2h\n").contains("--max-defer needs --auto-defer"));
    assert!(wrong("#!/bin/sh\n#SBATCH --mold-sizes=x --auto-mold\n").contains("--mold-sizes"));
    let (status, _, error) = of_script(&site, &[("SBATCH_TIMELIMIT", "soon")], &["-N4"]);
    assert!(status == 2 && error.contains("SBATCH_TIMELIMIT in the environment"), "{error}");
}

#[test]
fn a_script_comes_from_standard_input_or_from_an_option_too() {
    let site = Site::usable();
    let path = script(&site, SCRIPT);
    let directory = site.path().to_str().unwrap().to_owned();
    let mut command = site.command(&["predict", "--user=61234", "--format=json", "--state-directory", &directory, "-"]);
    let said = common::said(command.stdin(fs::File::open(&path).unwrap()));
    let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
    assert_eq!(report["job"]["nodes"], 8);
    let (_, wrapped) = site.json(&["predict", "--user=61234", "-N2", "--wrap=hostname"]);
    assert_eq!(wrapped["job"]["nodes"], 2);
}

#[test]
fn standard_input_is_the_script_where_nothing_else_describes_the_job_and_is_told_otherwise() {
    let site = Site::usable();
    let path = script(&site, SCRIPT);
    let directory = site.path().to_str().unwrap().to_owned();
    let piped = |more: &[&str]| {
        let arguments = [&["predict", "--user=61234", "--format=json", "--state-directory", &directory], more].concat();
        // As a shell does with `<<EOF`: the text is in the pipe before the command begins.
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, &fs::read(&path).unwrap()).unwrap();
        drop(writer);
        let said = common::said(site.command(&arguments).stdin(reader));
        let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.error));
        (report["job"]["nodes"].clone(), report["notes"].to_string())
    };
    let (nodes, notes) = piped(&[]);
    assert_eq!(nodes, 8);
    assert!(!notes.contains("standard input"), "{notes}");
    let (nodes, notes) = piped(&["-N2"]);
    assert_eq!(nodes, 2);
    assert!(notes.contains("standard input was not read"), "{notes}");
    assert!(!piped(&["-N2", "--wrap=hostname"]).1.contains("standard input"));
    let empty = common::said(site.command(&["predict", "--user=61234", "--state-directory", &directory]).stdin(std::io::pipe().unwrap().0));
    assert_eq!(empty.status, 0, "{}", empty.error);
}

#[test]
fn what_sbatch_does_not_read_of_a_script_is_told_and_what_is_refused_is_refused() {
    let site = Site::usable();
    let behind = script(&site, "#!/bin/bash\nset -euo pipefail\n#SBATCH -N 4\n#SBATCH -t 5\nsleep 1\n");
    let (status, report, error) = of_script(&site, &[], &[&behind]);
    assert_eq!((status, &report["job"]["nodes"]), (0, &1.into()), "{error}");
    let told = "2 #SBATCH lines behind line 2 are not read, by sbatch neither";
    assert!(report["notes"].to_string().contains(told), "{}", report["notes"]);
    let empty = script(&site, "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=\n#SBATCH -t 10\nsleep 1\n");
    let (status, _, error) = of_script(&site, &[], &[&empty]);
    assert!(status == 2 && error.contains("line 3 of the script: the option --gres does not take \"\""), "{error}");
}
