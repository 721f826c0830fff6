//! `queuecast filter`: tests of rules, and what rules do with a submission.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Said, Site, said};
use job_types::number::JobId;
use job_types::time::UnixTime;
use serde_json::Value;
use site_rules::data::{OwnedValue, SiteData, SiteJob, encode};
use site_rules::field::{FieldNumber, Name};

const RULES: &str = r#"
[[rule]]
name = "route"
when = '!has(job.partition)'
route = [{ partition = "gpu", when = 'job.gpus > 0' }, { partition = "batch" }]

[[rule]]
name = "night"
when = 'now.getHours() < 6'
reject = { code = "E_NIGHT", message = "nobody submits at night" }

[[rule]]
name = "operators"
bypass = ["operators"]
cap = { time_limit = "1-0" }
warn = "at most a day"

[[test]]
name = "jobs with GPUs go to gpu"
command = "sbatch -G2 job.sh"
expect = { partition = "gpu" }
"#;

/// A site with these rules, and what the command says about them.
fn filter(rules: &str, arguments: &[&str]) -> Said {
    let site = Site::empty();
    std::fs::write(site.configuration(), rules).unwrap();
    said(&mut site.command(&[&["filter"], arguments].concat()))
}

fn json(rules: &str, arguments: &[&str]) -> Value {
    let said = filter(rules, arguments);
    serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {} {}", said.output, said.error))
}

#[test]
fn tests_that_pass_are_counted_with_what_they_did_not_reach() {
    let said = filter(RULES, &["test"]);
    assert_eq!(said.status, 0, "{} {}", said.output, said.error);
    assert!(said.output.contains("1 test: 1 passed, 0 failed"), "{}", said.output);
    assert!(said.output.contains("queuecast.toml:7: night matched in no test"), "{}", said.output);
    assert!(said.output.contains("route: never taken: route partition = \"batch\""), "{}", said.output);
    assert_eq!(filter(RULES, &["test", "--require-coverage"]).status, 1);
    let whole = format!(
        "{RULES}\n[[test]]\ncommand = \"sbatch -t 2-0 job.sh\"\nexpect = {{ partition = \"batch\" }}\n\
         [[test]]\ncommand = \"sbatch job.sh\"\nat = \"2026-01-05T03:00:00Z\"\nexpect = {{ reject = \"E_NIGHT\" }}\n"
    );
    let said = filter(&whole, &["test", "--require-coverage"]);
    assert_eq!(said.status, 0, "{}", said.output);
}

#[test]
fn a_test_that_fails_says_what_was_expected_and_which_rules_matched() {
    let rules = RULES.replace("expect = { partition = \"gpu\" }", "expect = { partition = \"long\", warn = false }");
    let said = filter(&rules, &["test"]);
    assert_eq!(said.status, 1, "{}", said.error);
    for line in [
        "queuecast.toml:18: jobs with GPUs go to gpu: failed",
        "  sbatch -G2 job.sh",
        "  expected: partition = \"long\"\n  got:      partition = \"gpu\"",
        "  expected: no warning\n  got:      warnings [\"at most a day\"]",
        "  matched:  route: partition = \"gpu\"",
    ] {
        assert!(said.output.contains(line), "{line}: {}", said.output);
    }
    let report = json(&rules, &["test", "--format=json"]);
    assert_eq!((report["passed"].as_u64(), report["failed"].as_u64()), (Some(0), Some(1)));
    assert_eq!(report["tests"][0]["differences"][1]["got"], "partition = \"gpu\"");
    assert_eq!(report["coverage"]["rules"][1]["matched"], 0);
}

#[test]
fn a_rule_that_is_never_reached_is_told_by_test_and_explain() {
    let rules = "[[rule]]\nname = \"end\"\nstop = true\n[[rule]]\nname = \"behind\"\nset = { qos = \"x\" }\n";
    let said = filter(rules, &["test"]);
    assert!(said.output.contains("behind can never be reached: end before it ends all"), "{}", said.output);
    let report = json(rules, &["explain", "--all", "--format=json", "--", "sbatch", "job.sh"]);
    assert_eq!(report["rules"][1]["reason"], "it can never be reached: end before it ends all");
    assert!(report["problems"][0]["message"].as_str().unwrap().contains("can never be reached"));
}

#[test]
fn rules_with_errors_run_no_test_and_explain_nothing() {
    let rules = "[[rule]]\nname = \"x\"\nset = { qo = \"x\" }\n[[test]]\ncommand = \"sbatch j\"\nexpect = { accept = true }\n";
    let said = filter(rules, &["test"]);
    assert_eq!(said.status, 1);
    assert!(said.output.contains("unknown field qo") && said.output.contains("no test was run"), "{}", said.output);
    let said = filter(rules, &["explain", "--", "sbatch", "job.sh"]);
    assert!(said.status == 1 && said.error.contains("unknown field qo"), "{}", said.error);
    assert!(!said.error.contains('\u{1b}'), "no colours go into a pipe: {:?}", said.error);
}

#[test]
fn explain_says_what_rules_do_with_a_modification_of_a_job_as_it_is() {
    let rules = "[[rule]]\nname = \"longer\"\non = [\"modify\"]\n\
        when = 'has(job.time_limit) && has(current.time_limit) && job.time_limit > current.time_limit'\n\
        reject = { code = \"E_LONGER\", message = \"no longer than {current.time_limit}\" }\n\
        [[rule]]\nname = \"submitted\"\nreject = \"no\"\n";
    let change = |limit: &str, more: &[&str]| {
        let limit = format!("TimeLimit={limit}");
        filter(rules, &[&["explain", "--user", "4321"], more, &["--", "scontrol", "update", "JobId=12", &limit]].concat())
    };
    let longer = change("2:00:00", &["--current", "sbatch -t 60 job.sh"]);
    assert!(longer.status == 1 && longer.output.contains("refused by longer: E_LONGER: no longer than 01:00:00"), "{}", longer.output);
    let shorter = change("30", &["--current", "sbatch -t 60 job.sh", "--all"]);
    assert!(shorter.status == 0 && shorter.output.contains("accepted as it is"), "{} {}", shorter.output, shorter.error);
    assert!(shorter.output.contains("submitted not asked: it is for submissions"), "{}", shorter.output);
    // Without the job as it is the rule can't tell yet.
    assert!(change("30", &[]).output.contains("E_NOT_KNOWN_YET"));
    let wrong = filter(rules, &["explain", "--", "scontrol", "update", "JobId=12", "Partitions=a"]);
    assert!(
        wrong.status == 2 && wrong.error.contains("the key Partitions is not evaluated here; did you mean Partition?"),
        "{}",
        wrong.error
    );
    let current = filter(rules, &["explain", "--current", "sbatch job.sh", "--", "sbatch", "job.sh"]);
    assert!(current.status == 2 && current.error.contains("--current is the job that scontrol update is to change"), "{}", current.error);
}

#[test]
fn explain_knows_the_job_that_is_changed_as_the_daemon_read_it() {
    let site = Site::empty();
    let when = "has(current.partition) && current.partition == \"gpu\" && current.gpus == 2";
    let rule = format!("[[rule]]\nname = \"known\"\non = [\"modify\"]\nwhen = '{when}'\nreject = \"known\"\n");
    std::fs::write(site.configuration(), rule).unwrap();
    let fields =
        [(Name::Partition, OwnedValue::Text("gpu".to_owned())), (Name::TresPerNode, OwnedValue::Resources("gres/gpu:2".to_owned()))];
    let fields = fields.map(|(name, value)| (FieldNumber::from(name), value)).to_vec();
    let job = SiteJob { number: JobId(15), task: Some((JobId(12), 3)), read_at: UnixTime(900), fields };
    let data = SiteData { jobs: vec![job], ..SiteData::default() };
    std::fs::write(site.path().join("rules-data"), encode(&data).bytes).unwrap();
    let directory = site.path().to_str().unwrap();
    // Each as slurmctld reads it.
    for job in ["JobId=15", "JobId=12_3", "JobId= 15", "JobId=12_[3]", "JobId=12+3"] {
        let told =
            said(&mut site.command(&["filter", "explain", "--state-directory", directory, "--", "scontrol", "update", job, "Comment=x"]));
        assert!(told.status == 1 && told.output.contains("refused by known: known"), "{} {}", told.output, told.error);
    }
}

#[test]
fn explain_says_what_each_rule_did_and_what_comes_of_it() {
    let day = ["explain", "--user", "4321", "--at", "2026-01-05T12:00", "--", "sbatch", "-G2", "-t", "3-0", "job.sh"];
    let said = filter(RULES, &day);
    assert_eq!(said.status, 0, "{}", said.error);
    for line in [
        "queuecast.toml:2: route matches\n    partition = \"gpu\"",
        "operators matches\n    time_limit = \"1-00:00:00\"\n    tells the user: at most a day",
        "1 of 3 rules are not asked or do not match; --all shows them",
        "accepted, with partition = \"gpu\", time_limit = \"1-00:00:00\"",
    ] {
        assert!(said.output.contains(line), "{line}: {}", said.output);
    }
    let night = ["explain", "--user", "4321", "--at", "2026-01-05T03:00", "--format", "json", "--", "sbatch", "job.sh"];
    let report = json(RULES, &night);
    assert_eq!((report["accepted"].as_bool(), report["refusal"]["code"].as_str()), (Some(false), Some("E_NIGHT")));
    assert_eq!(report["rules"][2]["reason"], "a rule before it ended");
    assert_eq!(filter(RULES, &night).status, 1);
    let exempt = ["explain", "--operator", "--at", "2026-01-05T12:00", "--format", "json", "--", "sbatch", "job.sh"];
    assert_eq!(json(RULES, &exempt)["rules"][2]["reason"], "the user is exempt");
}

#[test]
fn explain_reads_the_options_in_the_script_and_refuses_what_it_does_not_know() {
    let site = Site::empty();
    std::fs::write(site.configuration(), RULES).unwrap();
    std::fs::write(site.path().join("job.sh"), "#!/bin/sh\n#SBATCH --gres=gpu:1\nsrun true\n").unwrap();
    let mut command = site.command(&["filter", "explain", "--at", "2026-01-05T12:00", "--", "sbatch", "job.sh"]);
    let told = said(command.current_dir(site.path()));
    assert!(told.output.contains("partition = \"gpu\""), "{} {}", told.output, told.error);
    let unknown = filter(RULES, &["explain", "--", "sbatch", "--gress=gpu:1", "job.sh"]);
    assert!(unknown.status == 2 && unknown.error.contains("the option --gress is not known"), "{}", unknown.error);
}

#[test]
fn shadow_tells_what_would_differ_from_the_rules_in_force() {
    let site = Site::empty();
    let write = |name: &str, text: &str| std::fs::write(site.path().join(name), text).unwrap();
    let directory = site.path().to_str().unwrap();
    // Neither the clock nor who runs the test decides.
    let rules = RULES.replace("bypass = [\"operators\"]\n", "").replace("now.getHours() < 6", "now.getHours() < 0");
    write("queuecast.toml", &format!("state_directory = {directory:?}\n{rules}"));
    write("new.toml", &rules.replace("cap = { time_limit = \"1-0\" }", "cap = { time_limit = \"2-0\" }"));
    let commands = "# the week's submissions\nsbatch -t 5-0 job.sh\n\nsbatch -p debug -t 60 job.sh\nsalloc -t 5-0\nsbatch --gress=1 j\n";
    write("commands.txt", commands);
    let shadow = |arguments: &[&str]| {
        let all = [&["filter", "shadow", "--commands", "commands.txt"], arguments].concat();
        said(site.command(&all).current_dir(site.path()))
    };
    let none = shadow(&[]);
    assert!(none.status == 1 && none.output.contains("no rules are in force"), "{} {}", none.output, none.error);
    let loaded = said(&mut site.command(&["filter", "load"]));
    assert_eq!(loaded.status, 0, "{} {}", loaded.output, loaded.error);
    let same = shadow(&[]);
    assert!(same.status == 0 && same.output.contains("4 submissions held against the rules in force"), "{} {}", same.output, same.error);
    let other = shadow(&["--rules", "new.toml", "--format", "json", "--jobs", "1"]);
    assert_eq!(other.status, 1, "{}", other.error);
    let report: Value = serde_json::from_str(&other.output).unwrap();
    let counts = ["looked_at", "different", "same", "not_understood", "left_out"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts, [4, 2, 1, 1, 1], "{report}");
    let difference = &report["differences"][0];
    assert_eq!(difference["line"], 2);
    assert_eq!(difference["before"], "accepted with partition = \"batch\", time_limit = \"1-00:00:00\"; told: at most a day");
    assert_eq!(difference["after"], "accepted with partition = \"batch\", time_limit = \"2-00:00:00\"; told: at most a day");
    assert!(report["reasons"][0]["reason"].as_str().unwrap().contains("--gress"), "{report}");
    assert_eq!(shadow(&["--against", "records"]).status, 2);
    // sbatch has had --tres-bind since 23.11.
    write("commands.txt", "sbatch -p debug -t 60 --tres-bind=gres/gpu:closest job.sh\n");
    let not_understood = |release: &str| {
        let told = shadow(&["--slurm", release, "--format", "json"]);
        serde_json::from_str::<Value>(&told.output).unwrap_or_else(|error| panic!("{error}: {}", told.error))["not_understood"].clone()
    };
    assert_eq!((not_understood("22.05"), not_understood("24.11")), (1.into(), 0.into()));
}
