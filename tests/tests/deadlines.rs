//! Deadlines of an ordinary user on a real cluster, as they are admitted or refused at the
//! submission.
//!
//! The filter knows a past in which jobs on four nodes waited for hours and smaller ones did not,
//! and no daemon runs but where one is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, Past, Shared, Submitted, now, wait_for};
use job_types::options::Mode;
use job_types::policy::{Admission, Policy, WithoutForecast};
use job_types::record::{Record, Written};
use made_up_site::enforcing;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(90);

const PAST: [Past; 3] = [
    Past { nodes: 1, wait_s: 0, more_wait_s: 0, run_s: 100 },
    Past { nodes: 2, wait_s: 0, more_wait_s: 0, run_s: 100 },
    Past { nodes: 4, wait_s: 7_000, more_wait_s: 10, run_s: 100 },
];

fn admitting_by(admission: Admission) -> Policy {
    Policy { admission, ..enforcing() }
}

fn user_number(cluster: &Cluster) -> u32 {
    cluster.output("id", &["-u", USER]).parse().unwrap()
}

fn publish(cluster: &Cluster, policy: Policy) {
    cluster.publish_for(user_number(cluster), policy, &PAST, &[]);
}

/// The cluster that the tests of this file share, one of them at a time.
fn cluster() -> Arc<Cluster> {
    static SHARED: Shared = Shared::new();
    SHARED.get(|| Cluster::up(&Options::with_plugins("")))
}

fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn submit<'a>(cluster: &'a Cluster, arguments: &[&str]) -> Submitted<'a> {
    cluster.submit_for(USER, arguments, "true")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the filter has written of a job.
fn written(job: &Job<'_>) -> Written {
    Record::parse(&job.field("AdminComment")).and_then(|record| record.written).unwrap_or_else(|| panic!("{}", job.said))
}

/// Waits for the end of an admitted job, and says that its deadline was kept.
fn assert_kept(job: &Job<'_>) {
    let written = written(job);
    let deadline = written.deadline.unwrap();
    assert!(written.admitted_by.is_some() && job.said.contains("queuecast: admitted"), "{}", job.said);
    assert!(["", "N/A"].contains(&job.field("Deadline").as_str()), "Slurm's own is cleared: {}", job.field("Deadline"));
    let explained = job.explained();
    assert!(explained.contains(&format!("admitted by {} to be done by ", written.admitted_by.unwrap().as_str())), "{explained}");
    assert_eq!(job.end(SOON), "COMPLETED", "{}", job.printed());
    assert!(now() <= deadline, "due at {deadline}, done before {}", now());
}

/// What a refusal proposes, each as the options that it consists of.
fn proposed(refusal: &str) -> Vec<Vec<&str>> {
    let line = refusal.lines().find(|line| line.contains("queuecast: not admitted: ")).unwrap();
    let option = |word: &&str| word.trim_start_matches('(').starts_with("--");
    line.split("; ")
        .map(|part| part.split_whitespace().filter(option).map(|word| word.trim_matches(['(', ')'])).collect::<Vec<_>>())
        .filter(|options| !options.is_empty())
        .collect()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_is_admitted_is_kept_and_what_is_refused_can_be_had_as_it_is_told() {
    let cluster = cluster();
    let _turn = turn();
    for (rule, asked, alternatives) in [
        (Admission::Edf, &["-N2", "-t10", "--exclusive", "--deadline=now+6minutes"][..], 2),
        (Admission::Probability, &["-N4", "-t10", "--exclusive", "--deadline=now+20minutes"], 2),
    ] {
        publish(&cluster, admitting_by(rule));
        assert_kept(&submit(&cluster, &["-N1", "-t10", "--exclusive", "--deadline=now+20minutes"]).job());
        let refusal = submit(&cluster, asked).refusal();
        assert!(refusal.contains("Requested time limit is invalid"), "Slurm's own word: {refusal}");
        let proposed = proposed(&refusal);
        assert!(proposed.len() >= alternatives, "{refusal}");
        for options in &proposed {
            let arguments = [asked, options].concat();
            let job = submit(&cluster, &arguments).job();
            assert_eq!(written(&job).admitted_by, Some(rule), "{arguments:?} of {refusal}");
            // What can be had in some hours is not waited for here, where nobody else waits.
            assert_kept(&job);
        }
        // The command line says the same of the same job.
        let described: Vec<&str> = asked.iter().map(|option| option.trim_start_matches("--deadline=")).collect();
        let predicted = cluster
            .prepare_for(USER, "queuecast")
            .args(["predict", "--format=json"])
            .args(&described[..described.len() - 1])
            .args(["--deadline", described[described.len() - 1]])
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&predicted.stdout).unwrap_or_else(|_| panic!("{}", said(&predicted)));
        let line = report["filter"]["line"].as_str().unwrap();
        let first = |line: &str| line.split_once("; ").unwrap().0.to_owned();
        assert!(refusal.contains(&first(line)), "{line}\n{refusal}");
        assert_eq!((predicted.status.code(), report["filter"]["outcome"].as_str()), (Some(1), Some("refused")));
        // salloc and srun are refused with the same reason, and run nothing.
        for command in ["salloc", "srun"] {
            let refused = cluster.prepare_for(USER, command).args(asked).args(["echo", "ran"]).output().unwrap();
            let reason = |text: &str| {
                text.lines().find_map(|line| line.split_once("; ")).map(|(first, _)| first.split_once("queuecast: ").unwrap().1.to_owned())
            };
            assert!(!refused.status.success() && refused.stdout.is_empty(), "{command}: {}", said(&refused));
            assert_eq!(reason(&said(&refused)), reason(&refusal), "{command}");
        }
    }
    // Both are admitted by what they ask for, and told so.
    for command in ["salloc", "srun"] {
        let ran = cluster.prepare_for(USER, command).args(["-N1", "-t5", "--deadline=now+20minutes", "echo", "ran"]).output().unwrap();
        assert!(ran.status.success() && said(&ran).contains("queuecast: admitted: done by the deadline"), "{}", said(&ran));
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "ran", "{command}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn every_form_of_deadline_that_sbatch_reads_is_admitted_or_refused() {
    let cluster = cluster();
    let _turn = turn();
    publish(&cluster, admitting_by(Admission::Edf));
    let at = now() + 7_200;
    let date = cluster.output("date", &["-d", &format!("@{at}"), "+%Y-%m-%dT%H:%M:%S"]);
    for (form, expected) in
        [("now+2hours".to_owned(), None), (date, Some(at)), (format!("uts{at}"), Some(at)), ("now+7200".to_owned(), None)]
    {
        let before = now();
        let job = submit(&cluster, &["-N1", "-t5", &format!("--deadline={form}")]).job();
        let deadline = written(&job).deadline.unwrap();
        let range = expected.map_or(before + 7_200..=now() + 7_200, |at| at..=at);
        assert!(range.contains(&deadline), "{form}: {deadline}");
        assert_eq!(job.end(SOON), "COMPLETED");
    }
    let far = submit(&cluster, &["-N1", "-t5", "--deadline=now+400days"]).refusal();
    assert!(far.contains("queuecast: not admitted: the deadline is more than a year ahead"), "{far}");
    // sbatch passes on one that has passed.
    let past = submit(&cluster, &["-N1", "-t5", &format!("--deadline=uts{}", now() - 60)]).refusal();
    assert!(past.contains("queuecast: not admitted: the deadline has already passed"), "{past}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn slurm_does_not_cancel_an_admitted_job_for_an_estimate() {
    let cluster = cluster();
    let _turn = turn();
    publish(&cluster, admitting_by(Admission::Edf));
    // The cluster is full for an hour by its time limit, and for twenty seconds in truth.
    let full = cluster.submit_for(USER, &["-N8", "-t60", "--exclusive"], "until [ -e is-pending ]; do sleep 0.2; done; sleep 20").job();
    assert_eq!(full.wait(&["RUNNING"], SOON), "RUNNING");
    let job = submit(&cluster, &["-N8", "-t5", "--exclusive", "--deadline=now+8minutes"]).job();
    assert_eq!(job.field("JobState"), "PENDING");
    std::fs::write(cluster.path("jobs/is-pending"), "").unwrap();
    assert_eq!(full.end(SOON), "COMPLETED");
    assert_kept(&job);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn modes_below_enforce_leave_the_deadline_to_slurm() {
    let cluster = cluster();
    let _turn = turn();
    for (mode, tells) in [(Mode::Observe, ""), (Mode::Advise, "queuecast: ")] {
        publish(&cluster, Policy { mode, ..admitting_by(Admission::Probability) });
        let late = submit(&cluster, &["-N4", "-t10", "--exclusive", "--deadline=now+30minutes"]).job();
        assert_eq!(late.said.contains("not admitted: done by the deadline with probability"), !tells.is_empty(), "{}", late.said);
        let record = Record::parse(&late.field("AdminComment")).unwrap();
        assert_eq!((record.mode, record.written, record.left[0].starts_with("not admitted: ")), (mode, None, true));
        assert!(record.asked.deadline.is_some() && late.field("Deadline").contains('T'), "{}", late.field("Deadline"));
        let early = submit(&cluster, &["-N1", "-t10", "--deadline=now+30minutes"]).job();
        assert_eq!(early.said.contains("advice, nothing was changed: admitted"), !tells.is_empty(), "{}", early.said);
        assert!(early.field("Deadline").contains('T'));
        for job in [late, early] {
            assert_eq!(job.end(SOON), "COMPLETED");
        }
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_without_a_deadline_is_as_it_would_be_without_admission() {
    let cluster = cluster();
    let _turn = turn();
    let shown = |admission| {
        publish(&cluster, admitting_by(admission));
        let job = submit(&cluster, &["-N2", "-t5", "--hold", "--job-name=same"]).job();
        let shown = cluster.output("scontrol", &["show", "job", &job.id]);
        job.cancel();
        // But for what differs from one submission to the next.
        let differs = ["JobId=", "SubmitTime=", "EligibleTime=", "AccrueTime=", "LastSchedEval=", "StdOut=", "StdErr=", "Power="];
        (
            job.said,
            shown
                .split_whitespace()
                .filter(|field| !differs.iter().any(|name| field.starts_with(name)))
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    };
    let without = shown(Admission::Off);
    for rule in [Admission::Edf, Admission::Probability] {
        assert_eq!(shown(rule), without, "{rule:?}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_is_only_tested_is_told_and_takes_nothing_and_what_belongs_together_is_left() {
    let cluster = cluster();
    let _turn = turn();
    publish(&cluster, admitting_by(Admission::Edf));
    // Those of the tests before it that were cancelled, or ran at a terminal, may still complete.
    wait_for("the queue to be empty", SOON, || cluster.output("squeue", &["-h"]).is_empty().then_some(()));
    let tested = |deadline: &str| {
        cluster.prepare_for(USER, "sbatch").args(["--test-only", "-N1", "-t5", deadline, "--wrap", "true"]).output().unwrap()
    };
    let admitted = tested("--deadline=now+20minutes");
    assert!(admitted.status.success() && said(&admitted).contains("queuecast: admitted with the deadline in "), "{}", said(&admitted));
    let refused = tested("--deadline=now+3minutes");
    assert!(!refused.status.success() && said(&refused).contains("queuecast: not admitted: "), "{}", said(&refused));
    assert_eq!(cluster.output("squeue", &["-h"]), "");

    let components =
        cluster.submit_for(USER, &["-N1", "-t5", "--deadline=now+20minutes", ":", "-N1", "-t5"], "srun --het-group=0,1 hostname").job();
    assert!(components.said.contains("the deadline is left to Slurm: it is part of a heterogeneous job"), "{}", components.said);
    assert!(components.field("Deadline").contains('T'));
    assert_eq!(components.end(SOON), "COMPLETED", "{}", components.printed());

    let array = submit(&cluster, &["-N1", "-t5", "--array=0-2", "--deadline=now+20minutes"]).job();
    assert!(array.said.contains("queuecast: admitted with the deadline"), "{}", array.said);
    wait_for("the array to end", SOON, || cluster.output("squeue", &["-h", "-j", &array.id]).is_empty().then_some(()));
    wait_for("the array's tasks in sacct", SOON, || {
        (cluster.output("sacct", &["-X", "-n", "-P", "-j", &array.id, "-o", "State"]) == ["COMPLETED"; 3].join("\n")).then_some(())
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_deadline_that_is_changed_later_and_a_requeue_leave_the_promise_as_it_was_recorded() {
    let cluster = cluster();
    let _turn = turn();
    publish(&cluster, admitting_by(Admission::Edf));
    let full = cluster.submit_for(USER, &["-N8", "-t60", "--exclusive"], "until [ -e is-changed ]; do sleep 0.2; done").job();
    assert_eq!(full.wait(&["RUNNING"], SOON), "RUNNING");
    // It runs until it is requeued.
    let job = cluster.submit_for(USER, &["-N8", "-t5", "--exclusive", "--requeue", "--deadline=now+20minutes"], "sleep 1000").job();
    let record = job.field("AdminComment");
    let id = format!("JobId={}", job.id);
    // Slurm lets only operators set a deadline, so that no user gains one past the filter.
    let by_user = cluster.prepare_for(USER, "scontrol").args(["update", &id, "Deadline=now+2hours"]).output().unwrap();
    assert!(!by_user.status.success() && said(&by_user).contains("Access/permission denied"), "{}", said(&by_user));
    let forged = cluster.prepare_for(USER, "scontrol").args(["update", &id, "AdminComment=forged"]).output().unwrap();
    assert!(!forged.status.success() && job.field("AdminComment") == record, "{}", said(&forged));
    // What an operator wants is not fought: both stand, and the job is Slurm's to end as well.
    let _ = cluster.output("scontrol", &["update", &id, "Deadline=now+2hours"]);
    assert!(job.field("Deadline").contains('T') && job.field("AdminComment") == record);
    std::fs::write(cluster.path("jobs/is-changed"), "").unwrap();

    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    let requeued = cluster.prepare_for(USER, "scontrol").args(["requeue", &job.id]).output().unwrap();
    assert!(requeued.status.success(), "{}", said(&requeued));
    wait_for("the job to be requeued", SOON, || (job.field("Restarts") == "1").then_some(()));
    assert_eq!(job.field("AdminComment"), record, "a requeue goes past the filter");
    job.cancel();
    assert_eq!(full.end(SOON), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn without_a_forecast_a_deadline_passes_or_is_refused_as_the_site_says() {
    let configured =
        |without: &str| format!("[policy]\nmode = \"enforce\"\nadmission = \"edf\"\nadmission_without_forecast = \"{without}\"\n");
    let cluster = Cluster::up(&Options::with_plugins(&configured("refuse")));
    let asked = ["-N1", "-t5", "--deadline=now+20minutes"];
    let refusal = submit(&cluster, &asked).refusal();
    assert!(
        refusal.contains("queuecast: not admitted: there is no forecast yet; submit without --deadline, or try again later"),
        "{refusal}"
    );
    assert_eq!(submit(&cluster, &asked[..2]).job().end(SOON), "COMPLETED");
    // slurmctld reads the configuration when it starts.
    cluster.configure(&configured("pass"));
    cluster.daemon("restart", "slurmctld");
    let passed = submit(&cluster, &asked).job();
    assert!(passed.said.contains("queuecast: the deadline is left to Slurm: there is no forecast yet"), "{}", passed.said);
    assert!(passed.field("Deadline").contains('T') && passed.field("AdminComment").is_empty());
    assert_eq!(passed.end(SOON), "COMPLETED");
    // From the first snapshot on what it says holds.
    publish(&cluster, Policy { admission_without_forecast: WithoutForecast::Refuse, ..admitting_by(Admission::Edf) });
    assert_kept(&submit(&cluster, &asked).job());
}
