//! The SPANK plugin on a real cluster: what users type arrives at slurmctld as control variables,
//! and jobs wait on their nodes.
//!
//! slurmctld runs a job_submit.lua that logs the control environment of each submission, and that
//! takes a record for the job's `admin_comment` from its comment, as the submit filter would write
//! one.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

use std::io::{Read, Write};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use end_to_end::{Began, Cluster, Job, Options, Shared, TELLS_BEGIN, built, wait_for};
use object::{Object, ObjectSymbol};

const SOON: Duration = Duration::from_secs(120);

/// The line of a submission comes last, so that all of it is in the log once that line is.
const JOB_SUBMIT: &str = r#"
function slurm_job_submit(job_desc, part_list, submit_uid)
   for _, entry in pairs(job_desc.spank_job_env or {}) do
      slurm.log_info("control of %s: %s", tostring(job_desc.name), tostring(entry))
   end
   slurm.log_info("submission of %s", tostring(job_desc.name))
   if string.find(job_desc.comment or "", "queuecast", 1, true) then
      job_desc.admin_comment = job_desc.comment
   end
   return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   return slurm.SUCCESS
end
"#;

/// The cluster that the tests of this file share.
fn cluster() -> Arc<Cluster> {
    static SHARED: Shared = Shared::new();
    SHARED.get(|| cluster_with(&[]))
}

/// Such a cluster with more options of `ci/cluster up`.
fn cluster_with(more: &[(&str, &str)]) -> Cluster {
    let script = tempfile::Builder::new().suffix(".lua").tempfile().unwrap();
    std::fs::write(script.path(), JOB_SUBMIT).unwrap();
    let plugin = built().join("libspank_queuecast.so");
    assert!(plugin.is_file(), "{} is not built: run cargo build", plugin.display());
    let options = Options::plain()
        .option("job-submit-plugin", "lua")
        // What does not end by itself at a signal is seen to be ended late.
        .option("conf-line", "KillWait=60")
        .option("lua-script", script.path().to_str().unwrap())
        .option("plugstack-line", &format!("optional {}", plugin.display()));
    Cluster::up(&more.iter().fold(options, |options, (name, value)| options.option(name, value)))
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The control variables of queuecast in the submission of a job by that name, sorted.
fn control_variables(cluster: &Cluster, name: &str) -> Vec<String> {
    let submission = format!("submission of {name}");
    let log = wait_for(&submission, SOON, || {
        let log = cluster.log("slurmctld");
        log.lines().any(|line| line.ends_with(&submission)).then_some(log)
    });
    let entry = format!("control of {name}: ");
    let mut entries: Vec<String> = log
        .lines()
        .filter_map(|line| Some(line.split_once(&entry)?.1.to_owned()))
        .filter(|entry| entry.starts_with("QUEUECAST_"))
        .collect();
    entries.sort();
    entries
}

fn was_submitted(cluster: &Cluster, name: &str) -> bool {
    cluster.log("slurmctld").lines().any(|line| line.ends_with(&format!("submission of {name}")))
}

/// Malformed or lonely options, and a part of what is said about each.
const MALFORMED: [(&[&str], &str); 15] = [
    (&["--mold-sizes=0", "--auto-mold"], "from 1 to"),
    (&["--mold-sizes=a,b", "--auto-mold"], "as 1,2,4"),
    (&["--reserve-at=soon"], "YYYY-MM-DD"),
    (&["--reserve-at=2020-01-01"], "lies in the past"),
    (&["--reserve-at=now+1hour", "--success-probability=1"], "less than 1"),
    (&["--reserve-at=now+1hour", "--early-start=maybe"], "wait or run"),
    (&["--reserve-at=now+1hour", "--if-missed=maybe"], "run or cancel"),
    (&["--if-missed=cancel"], "--reserve-at"),
    (&["--reserve-window=18:00"], "use EARLIEST,LATEST"),
    (&["--reserve-window=2020-01-01,2020-01-02"], "the nearest window that is possible is now,now+24hours"),
    (&["--reserve-window=now,now+1hour", "--reserve-notice=2h"], "give a shorter --reserve-notice"),
    (&["--reserve-window=now,now+1hour", "--if-refused=maybe"], "run or cancel"),
    (&["--auto-defer", "--max-defer=2x"], "hours:minutes:seconds"),
    (&["--queuecast=on"], "observe, advise or enforce"),
    (&["--max-defer=2h"], "--auto-defer"),
];

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_help_of_each_command_shows_the_options() {
    let cluster = cluster();
    for command in ["sbatch", "salloc", "srun"] {
        let help = cluster.output(command, &["--help"]);
        for option in [
            "--auto-mold ",
            "--mold-sizes=LIST|MIN-MAX",
            "--reserve-at=TIME",
            "--success-probability=P|best",
            "--early-start=wait|run",
            "--if-missed=run|cancel",
            "--shell-at-once ",
            "--reserve-window=EARLIEST,LATEST",
            "--reserve-notice=DURATION",
            "--if-refused=run|cancel",
            "--auto-defer ",
            "--max-defer=DURATION",
            "--queuecast=off|observe|advise|enforce",
        ] {
            assert!(help.contains(option), "{command} --help lacks {option}:\n{help}");
        }
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_malformed_value_is_refused_before_anything_is_sent() {
    let cluster = cluster();
    for (options, part) in MALFORMED {
        let refusal = cluster.submit(&[options, &["--job-name=malformed"]].concat(), "true").refusal();
        assert!(refusal.contains("queuecast: --") && refusal.contains(part), "{options:?}: {refusal}");
    }
    for command in ["salloc", "srun"] {
        let refused = cluster.run(command, &["--job-name=malformed", "--queuecast=on", "true"]);
        assert!(!refused.status.success() && said(&refused).contains("observe"), "{command}: {}", said(&refused));
    }
    assert!(!was_submitted(&cluster, "malformed"));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_malformed_twin_is_refused_by_its_name() {
    let cluster = cluster();
    for (variable, value) in [("QUEUECAST_MODE", "on"), ("QUEUECAST_AUTO_MOLD", "maybe"), ("QUEUECAST_RESERVE_AT", "soon")] {
        let refusal = cluster.submit_as(Some(&[(variable, value)]), &["--job-name=twin"], "true").refusal();
        assert!(refusal.contains(variable) && refusal.contains(value), "{refusal}");
        let refused = cluster.prepare("srun").args(["--job-name=twin", "true"]).env(variable, value).output().unwrap();
        assert!(!refused.status.success() && said(&refused).contains(variable), "{}", said(&refused));
    }
    assert!(!was_submitted(&cluster, "twin"));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_the_user_asks_for_arrives_in_canonical_form() {
    let cluster = cluster();
    let before = now();
    let script = "#SBATCH --auto-mold --mold-sizes=4,1,2,4 --job-name=canonical\ntrue";
    let options = [
        "--hold",
        "--reserve-at=now+1hour",
        "--success-probability=.9",
        "--early-start=RUN",
        "--if-missed=Cancel",
        "--auto-defer",
        "--max-defer=1-12",
        "--queuecast=advise",
    ];
    cluster.submit(&options, script).job().cancel();
    let arrived = control_variables(&cluster, "canonical");
    let reserve_at = arrived.iter().find_map(|entry| entry.strip_prefix("QUEUECAST_RESERVE_AT=")).unwrap().to_owned();
    assert!((before + 3_600..=now() + 3_600).contains(&reserve_at.parse::<i64>().unwrap()), "{reserve_at}");
    let expected = [
        "QUEUECAST_AUTO_DEFER=1".to_owned(),
        "QUEUECAST_AUTO_MOLD=1".to_owned(),
        "QUEUECAST_EARLY_START=run".to_owned(),
        "QUEUECAST_IF_MISSED=cancel".to_owned(),
        "QUEUECAST_MAX_DEFER=129600".to_owned(),
        "QUEUECAST_MODE=advise".to_owned(),
        "QUEUECAST_MOLD_SIZES=1,2,4".to_owned(),
        format!("QUEUECAST_RESERVE_AT={reserve_at}"),
        "QUEUECAST_SUCCESS_PROBABILITY=0.9".to_owned(),
    ];
    assert_eq!(arrived, expected);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn salloc_and_srun_send_the_same_control_variables() {
    let cluster = cluster();
    for command in ["salloc", "srun"] {
        let name = format!("by-{command}");
        let _ = cluster.output(command, &["--auto-mold", "--mold-sizes=2-16", "--job-name", &name, "true"]);
        assert_eq!(control_variables(&cluster, &name), ["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_MOLD_SIZES=2-16"]);
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_twin_serves_where_the_option_is_not_given() {
    let cluster = cluster();
    let twins =
        [("QUEUECAST_AUTO_DEFER", "1"), ("QUEUECAST_MAX_DEFER", "10m"), ("QUEUECAST_AUTO_MOLD", "0"), ("QUEUECAST_MOLD_SIZES", "1,2")];
    cluster.submit_as(Some(&twins), &["--hold", "--job-name=twins"], "true").job().cancel();
    assert_eq!(control_variables(&cluster, "twins"), ["QUEUECAST_AUTO_DEFER=1", "QUEUECAST_MAX_DEFER=600"]);
    cluster.submit_as(Some(&twins), &["--hold", "--max-defer=1h", "--job-name=option-wins"], "true").job().cancel();
    assert_eq!(control_variables(&cluster, "option-wins"), ["QUEUECAST_AUTO_DEFER=1", "QUEUECAST_MAX_DEFER=3600"]);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_plain_job_is_left_alone() {
    let cluster = cluster();
    let job = cluster.submit(&["--job-name=plain"], "env | grep -i queuecast_; trap 'echo trapped; exit 3' TERM; kill -TERM $$").job();
    assert_eq!(job.end(SOON), "FAILED");
    assert_eq!(job.printed(), "trapped\n");
    assert_eq!(job.field("ExitCode"), "3:0");
    assert!(control_variables(&cluster, "plain").is_empty());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_does_not_pass_its_reservation_on_to_what_it_submits() {
    let cluster = cluster();
    let script = "sbatch --hold --job-name=inner --wrap true\n\
                  QUEUECAST_MAX_DEFER=1m QUEUECAST_AUTO_DEFER=1 sbatch --hold --job-name=inner-with-twin --wrap true\n\
                  env -u SLURM_JOB_ID -u SLURM_JOBID srun --job-name=inner-srun true\n\
                  env | grep -E 'SPANK.*(QUEUECAST|queuecast)'";
    let job = cluster.submit(&["--reserve-at=now+1hour", "--auto-mold", "--job-name=outer"], script).job();
    let _ = job.end(SOON);
    assert_eq!(control_variables(&cluster, "outer").len(), 2);
    assert!(control_variables(&cluster, "inner").is_empty());
    assert!(control_variables(&cluster, "inner-srun").is_empty());
    assert_eq!(control_variables(&cluster, "inner-with-twin"), ["QUEUECAST_AUTO_DEFER=1", "QUEUECAST_MAX_DEFER=60"]);
    assert!(!job.printed().contains("SPANK"), "{}", job.printed());

    let arguments =
        ["--reserve-at=now+1hour", "--job-name=outer-salloc", "sbatch", "--hold", "--job-name=inner-of-salloc", "--wrap", "true"];
    let _ = cluster.output("salloc", &arguments);
    assert_eq!(control_variables(&cluster, "outer-salloc").len(), 1);
    assert!(control_variables(&cluster, "inner-of-salloc").is_empty());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_batch_script_waits_and_steps_go_through() {
    let cluster = cluster();
    let until = now() + 40;
    let hold = [("QUEUECAST_HOLD_UNTIL", until.to_string())];
    let hold: Vec<(&str, &str)> = hold.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let script = format!("{TELLS_BEGIN}\nenv | grep QUEUECAST\nsrun echo a step");
    let job = cluster.submit_as(Some(&hold), &["--time=5"], &script).job();
    wait_for("the announcement", SOON, || job.printed().contains("waiting until").then_some(()));
    assert_eq!(job.field("JobState"), "RUNNING");

    assert_eq!(cluster.output("srun", &["--overlap", "--jobid", &job.id, "echo", "from outside"]), "from outside");
    assert!(now() < until, "the step waited as well");
    assert!(!job.printed().contains("began"), "{}", job.printed());

    assert_eq!(job.end(SOON), "COMPLETED");
    let printed = job.printed();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("queuecast: nodes are here; waiting until"), "{printed}");
    let began = Began::of(&printed);
    assert!(is_on_time(&began, until), "held until {until}: {began}");
    assert!(lines[1].starts_with("began at ") && lines[2].starts_with("control at "), "{printed}");
    assert_eq!(lines[3..], ["a step"]);
}

/// A job that waits on its nodes for so many seconds, once it does.
fn waiting_job(cluster: &Cluster, seconds: i64) -> (Job<'_>, i64) {
    let until = now() + seconds;
    let job = cluster.submit_as(Some(&[("QUEUECAST_HOLD_UNTIL", &until.to_string())]), &["--time=5"], TELLS_BEGIN).job();
    wait_for("the announcement", SOON, || job.printed().contains("waiting until").then_some(()));
    (job, until)
}

/// Whether it began at a time in Unix seconds or a second later; what a busy machine needs to start
/// a program comes on top.
fn is_on_time(began: &Began, until: i64) -> bool {
    (0.0..2.0 + began.start_takes_s).contains(&(began.at - until as f64))
}

/// When a job's script began, once the job has ended.
fn began(job: &Job<'_>) -> Began {
    assert_eq!(job.end(SOON), "COMPLETED", "{}", job.printed());
    Began::of(&job.printed())
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_that_is_suspended_while_it_waits_keeps_to_its_time_or_begins_when_it_is_resumed() {
    let cluster = cluster();
    let (soon, until) = waiting_job(&cluster, 50);
    let (late, passes) = waiting_job(&cluster, 30);
    for job in [&soon, &late] {
        let _ = cluster.output("scontrol", &["suspend", &job.id]);
    }
    std::thread::sleep(Duration::from_secs(2));
    let _ = cluster.output("scontrol", &["resume", &soon.id]);
    let on_time = began(&soon);
    assert!(is_on_time(&on_time, until), "held until {until}: {on_time}");
    wait_for("the time of the other to pass", SOON, || (now() > passes + 1).then_some(()));
    assert!(!late.printed().contains("began"), "{}", late.printed());
    let resumed = now();
    let _ = cluster.output("scontrol", &["resume", &late.id]);
    let begun = began(&late);
    assert!(!begun.is_before(resumed), "resumed at {resumed}: {begun}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_that_waits_is_preempted_as_any_other_and_each_node_goes_by_its_own_clock() {
    let cluster = cluster_with(&[
        ("nodes", "4"),
        ("conf-line", "PreemptType=preempt/partition_prio"),
        ("conf-line", "PreemptMode=SUSPEND,GANG"),
        ("conf-line", "SchedulerTimeSlice=5"),
        ("partition", "clocks Nodes=n[3-4]"),
        ("partition", "requeued PriorityTier=1 PreemptMode=REQUEUE Nodes=n1"),
        ("partition", "suspended PriorityTier=1 PreemptMode=SUSPEND OverSubscribe=FORCE:1 Nodes=n2"),
        ("partition", "urgent PriorityTier=9 PreemptMode=OFF OverSubscribe=FORCE:1 Nodes=n[1-2]"),
    ]);
    preemption_of_jobs_that_wait(&cluster);
    clocks_that_differ(&cluster);
}

/// A job that waits on its node gives it to a more urgent one, requeued or suspended, and begins
/// once, not before its time.
fn preemption_of_jobs_that_wait(cluster: &Cluster) {
    let until = now() + 100;
    let waits = |partition: &str| {
        let hold = [("QUEUECAST_HOLD_UNTIL", until.to_string())];
        let hold: Vec<(&str, &str)> = hold.iter().map(|(name, value)| (*name, value.as_str())).collect();
        cluster.submit_as(Some(&hold), &["--partition", partition, "--ntasks=4", "--requeue", "--time=10"], TELLS_BEGIN).job()
    };
    let [requeued, suspended] = ["requeued", "suspended"].map(waits);
    for job in [&requeued, &suspended] {
        wait_for("the announcement", SOON, || job.printed().contains("waiting until").then_some(()));
    }
    let urgent = ["n1", "n2"].map(|node| {
        let shape = ["--partition=urgent", "--nodelist", node, "--ntasks=4", "--time=5"];
        cluster.submit(&shape, "until [ -e preempted ]; do sleep 0.2; done").job()
    });
    for job in &urgent {
        assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    }
    assert_eq!(requeued.wait(&["PENDING"], SOON), "PENDING");
    assert_eq!(suspended.wait(&["SUSPENDED"], SOON), "SUSPENDED");
    std::fs::write(cluster.path("log/preempted"), "").unwrap();
    for job in &urgent {
        assert_eq!(job.end(SOON), "COMPLETED");
    }
    // slurmctld puts a requeued job off. slurmd takes one that comes back within the second in
    // which it was killed for the killed one, and the job fails.
    std::thread::sleep(Duration::from_secs(3));
    wait_for("the requeued job to run again", Duration::from_secs(180), || {
        let _ = cluster.run("scontrol", &["update", &format!("JobId={}", requeued.id), "StartTime=now"]);
        (requeued.field("JobState") != "PENDING").then_some(())
    });
    let _ = suspended.wait(&["RUNNING", "COMPLETED"], SOON);
    let are_in_time = now() < until - 5;
    for job in [&requeued, &suspended] {
        let begun = began(job);
        assert!(!begun.is_before(until), "held until {until}: {begun}");
        assert!(!are_in_time || is_on_time(&begun, until), "held until {until}: {begun}");
    }
}

/// The tasks of a job on two nodes whose clocks differ by five seconds each begin when their own
/// node's clock has the time.
fn clocks_that_differ(cluster: &Cluster) {
    const AHEAD_S: i64 = 5;
    let clock = cluster.shifted_clock();
    let _slurmd = cluster.restart_node_with("n3", &clock.variables());
    clock.set_ahead(AHEAD_S);
    let until = now() + 35;
    let mut begun = begun_by_srun(cluster, "enforce", until, &["--reserve-at=now+39"]);
    begun.sort_by(|one, other| one.at.total_cmp(&other.at));
    let are_on_time = matches!(&begun[..], [ahead, right] if is_on_time(ahead, until - AHEAD_S) && is_on_time(right, until));
    assert!(are_on_time, "held until {until}: {begun:?}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_waits_on_while_its_slurmd_is_restarted() {
    let cluster = cluster();
    let (job, until) = waiting_job(&cluster, 60);
    let node = job.field("BatchHost");
    cluster.daemon("restart", &node);
    assert_eq!(job.field("JobState"), "RUNNING");
    let on_time = began(&job);
    assert!(is_on_time(&on_time, until), "held until {until}: {on_time}");
}

/// Runs [`TELLS_BEGIN`] in an allocation of salloc's with a record that holds until `until`;
/// returns what it prints on both its outputs.
fn said_by_salloc(cluster: &Cluster, until: i64, options: &[&str]) -> (Began, String) {
    let record = record("enforce", until);
    let salloc = cluster.run("salloc", &[options, &[&record, "sh", "-c", TELLS_BEGIN]].concat());
    let errors = said(&salloc);
    assert!(salloc.status.success(), "{errors}");
    (Began::of(&String::from_utf8_lossy(&salloc.stdout)), errors)
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_salloc_runs_waits_unless_its_user_wants_it_at_once() {
    let cluster = cluster();
    let until = now() + 25;
    let (began, errors) = said_by_salloc(&cluster, until, &["--reserve-at=now+27"]);
    assert!(is_on_time(&began, until), "held until {until}: {began}");
    assert!(errors.contains("queuecast: nodes are here; waiting until"), "{errors}");
    let until = now() + 600;
    for options in [&["--reserve-at=now+1hour", "--shell-at-once"][..], &["--reserve-at=now+1hour", "--early-start=run"], &[]] {
        let (began, errors) = said_by_salloc(&cluster, until, options);
        assert!(began.is_before(until) && !errors.contains("waiting until"), "{options:?}: {errors}");
    }
    let options = ["--reserve-at=now+1hour", "--shell-at-once"];
    let by_sbatch = cluster.submit(&options, "true").refusal();
    let by_srun = said(&cluster.run("srun", &[&options[..], &["true"]].concat()));
    for refusal in [by_sbatch, by_srun] {
        assert!(refusal.contains("queuecast: --shell-at-once: only salloc has a shell"), "{refusal}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn ctrl_c_at_a_terminal_ends_the_wait_and_not_the_allocation() {
    let cluster = cluster();
    let probe = cluster.prepare("script").args(["--quiet", "--return", "--command", "true", "/dev/null"]).output().unwrap();
    if !probe.status.success() {
        println!("skipped: there are no terminals here: {}", String::from_utf8_lossy(&probe.stderr));
        return;
    }
    let record = record("enforce", now() + 600);
    // The shell tells that it began, and how slurmctld sees its job then.
    let shell = "sh -c 'echo began; squeue --noheader --format=%T --job $SLURM_JOB_ID'";
    let line = format!("salloc --job-name=at-terminal --reserve-at=now+1hour '{record}' {shell}");
    let mut script = cluster.prepare("script");
    script.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
    let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = script.stdout.take().unwrap();
    let printed = Arc::new(Mutex::new(Vec::new()));
    let reader = std::thread::spawn({
        let printed = Arc::clone(&printed);
        move || {
            let mut part = [0; 4_096];
            while let Ok(read @ 1..) = output.read(&mut part) {
                printed.lock().unwrap().extend_from_slice(&part[..read]);
            }
        }
    });
    let shown = || String::from_utf8_lossy(&printed.lock().unwrap()).into_owned();
    // It counts down second by second.
    wait_for("the count-down", SOON, || (shown().matches("(Ctrl-C: begin now)").count() >= 3).then_some(()));
    assert!(!shown().contains("began"), "{}", shown());
    script.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let status = wait_for("salloc to end", SOON, || script.try_wait().unwrap());
    reader.join().unwrap();
    assert!(status.success() && shown().contains("began") && shown().contains("RUNNING"), "{}", shown());
    assert!(shown().contains("Relinquishing job allocation"), "{}", shown());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_salloc_that_waits_ends_when_its_allocation_is_cancelled() {
    let cluster = cluster();
    let record = record("enforce", now() + 600);
    let mut salloc = cluster.prepare("salloc");
    salloc.args(["--job-name=taken-away", "--reserve-at=now+1hour", &record, "date"]);
    // It waits some time after its job has begun to run, and says so.
    let path = cluster.path("log/taken-away.err");
    let salloc = salloc.stdout(Stdio::piped()).stderr(std::fs::File::create(&path).unwrap()).spawn().unwrap();
    let errors = || std::fs::read_to_string(&path).unwrap();
    wait_for("the announcement", SOON, || errors().contains("waiting until").then_some(()));
    let begin = Instant::now();
    let _ = cluster.output("scancel", &["--name=taken-away"]);
    let ended = salloc.wait_with_output().unwrap();
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert!(!ended.status.success() && ended.stdout.is_empty(), "{}", errors());
    assert!(errors().contains("the allocation has ended before the reserved time"), "{}", errors());
}

/// What users write for `--begin`, and so for `--reserve-at`: the same moment.
const MOMENTS: [&str; 8] = ["now+1hour", "16:00", "4:30pm", "tomorrow", "teatime", "noon", "2036-03-27T14:30", "12/24"];

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_time_is_the_one_that_begin_takes_it_for() {
    let cluster = cluster();
    let of_unix_seconds = |text: &str| cluster.output("date", &["--date", text, "+%s"]).parse::<i64>().unwrap();
    for (index, moment) in MOMENTS.iter().enumerate() {
        let begins = cluster.submit(&["--hold", &format!("--begin={moment}")], "true").job();
        let expected = of_unix_seconds(&begins.field("StartTime"));
        begins.cancel();
        let option = format!("--reserve-at={moment}");
        for command in ["sbatch", "salloc", "srun"] {
            let name = format!("moment-{index}-{command}");
            let arguments = [&option, "--hold", "--job-name", &name];
            let cancelled = if command == "sbatch" {
                cluster.submit(&arguments, "true").job().cancel();
                None
            } else {
                let mut waits = cluster.prepare(command);
                Some(waits.args(arguments).arg("true").stderr(Stdio::null()).spawn().unwrap())
            };
            let arrived = control_variables(&cluster, &name);
            let arrived: i64 = arrived[0].strip_prefix("QUEUECAST_RESERVE_AT=").unwrap().parse().unwrap();
            // Those that count from now were typed some seconds later.
            assert!((expected..=expected + 120).contains(&arrived), "{command} {moment}: {arrived}, --begin has {expected}");
            if let Some(mut cancelled) = cancelled {
                // slurmctld logs the submission before it makes the job that can be cancelled.
                wait_for("the command to end", SOON, || {
                    let _ = cluster.output("scancel", &["--name", &name]);
                    cancelled.try_wait().unwrap()
                });
            }
        }
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn scancel_ends_the_wait_at_once() {
    let cluster = cluster();
    let until = (now() + 600).to_string();
    for (signal, state) in [(None, "CANCELLED"), (Some("KILL"), "CANCELLED"), (Some("TERM"), "FAILED"), (Some("USR1"), "FAILED")] {
        let job = cluster.submit_as(Some(&[("QUEUECAST_HOLD_UNTIL", &until)]), &[], "echo began").job();
        wait_for("the announcement", SOON, || job.printed().contains("waiting until").then_some(()));
        let begin = Instant::now();
        match signal {
            None => job.cancel(),
            Some("KILL") => drop(cluster.output("scancel", &["--full", "--signal=KILL", &job.id])),
            Some(signal) => drop(cluster.output("scancel", &["--batch", "--signal", signal, &job.id])),
        }
        assert_eq!(job.end(SOON), state, "{signal:?}");
        // Slurm would kill it after a minute.
        assert!(begin.elapsed() < Duration::from_secs(40), "{signal:?}: {:?}", begin.elapsed());
        assert!(!job.printed().contains("began"), "{}", job.printed());

        let node = job.field("BatchHost");
        let shown = wait_for("the node to be free of the job", SOON, || {
            let shown = cluster.output("scontrol", &["show", "node", &node]);
            (!shown.contains("COMPLETING")).then_some(shown)
        });
        assert!(!shown.contains("DRAIN") && !shown.contains("DOWN"), "{shown}");
        let log = cluster.log(&node);
        assert!(!log.to_lowercase().contains("panic") && !log.contains("queuecast: "), "{log}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_value_that_makes_no_sense_makes_no_wait() {
    let cluster = cluster();
    let next_year = (now() + 370 * 86_400).to_string();
    for value in ["soon", "-1", "1", next_year.as_str(), "99999999999999999999"] {
        let job = cluster.submit_as(Some(&[("QUEUECAST_HOLD_UNTIL", value)]), &[], "echo began").job();
        assert_eq!(job.end(SOON), "COMPLETED", "{value}");
        assert!(job.printed().ends_with("began\n") && !job.printed().contains("waiting until"), "{value}: {}", job.printed());
    }
}

/// Runs [`TELLS_BEGIN`] on two nodes by an srun that allocates them, with a record that holds until
/// `until`; returns what the two have printed.
fn begun_by_srun(cluster: &Cluster, mode: &str, until: i64, options: &[&str]) -> Vec<Began> {
    let record = record(mode, until);
    let arguments = [options, &["--nodes=2", &record, "sh", "-c", TELLS_BEGIN]].concat();
    Began::all_of(&cluster.output("srun", &arguments))
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_step_whose_srun_made_the_allocation_waits_where_that_was_granted() {
    let cluster = cluster();
    let until = now() + 25;
    let begun = begun_by_srun(&cluster, "enforce", until, &["--reserve-at=now+29"]);
    assert!(begun.len() == 2 && begun.iter().all(|began| is_on_time(began, until)), "held until {until}: {begun:?}");
    let until = now() + 600;
    for (mode, options) in
        [("observe", &["--reserve-at=now+1hour"][..]), ("enforce", &["--reserve-at=now+1hour", "--early-start=run"]), ("enforce", &[])]
    {
        let begun = begun_by_srun(&cluster, mode, until, options);
        assert!(begun.len() == 2 && begun.iter().all(|began| began.is_before(until)), "{mode} {options:?}: {begun:?}");
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn scancel_ends_the_wait_of_such_a_step() {
    let cluster = cluster();
    let record = record("enforce", now() + 600);
    let mut srun = cluster.prepare("srun");
    srun.args(["--job-name=granted", "--nodes=2", "--reserve-at=now+1hour", &record, "date"]);
    let mut srun = srun.stderr(Stdio::null()).spawn().unwrap();
    wait_for("the job to run", SOON, || {
        let state = cluster.output("squeue", &["--noheader", "--name=granted", "--states=RUNNING", "--format=%i"]);
        (!state.is_empty()).then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    assert!(srun.try_wait().unwrap().is_none());
    let _ = cluster.output("scancel", &["--name=granted"]);
    let status = wait_for("srun to end", SOON, || srun.try_wait().unwrap());
    assert!(!status.success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn an_srun_inside_an_allocation_never_waits() {
    let cluster = cluster();
    let script = format!("export QUEUECAST_HOLD_UNTIL={}\nsrun --reserve-at=now+1hour echo a step", now() + 600);
    let job = cluster.submit(&[], &script).job();
    assert_eq!(job.end(SOON), "COMPLETED");
    assert!(job.printed().contains("a step") && !job.printed().contains("waiting until"), "{}", job.printed());
}

#[test]
fn the_plugin_exports_its_callbacks_and_no_prolog_or_epilog() {
    let bytes = std::fs::read(built().join("libspank_queuecast.so")).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let mut symbols: Vec<&str> = exported.map(|symbol| symbol.name().unwrap()).collect();
    symbols.sort_unstable();
    let expected = [
        "plugin_name",
        "plugin_type",
        "plugin_version",
        "slurm_spank_exit",
        "slurm_spank_init",
        "slurm_spank_init_post_opt",
        "slurm_spank_local_user_init",
        "slurm_spank_task_init",
        "slurm_spank_task_post_fork",
        // The crate slurm-spank marks it so.
        "spank_option_callback",
    ];
    assert_eq!(symbols, expected);
}

/// The option that makes the script above write the filter's record of a reservation.
fn record(mode: &str, hold_until: i64) -> String {
    let asked = r#"{"nodes":1,"cpus":1}"#;
    format!(
        r#"--comment={{"queuecast":{{"version":1,"generation":1,"at":1,"mode":"{mode}","asked":{asked},"written":{{"hold_until":{hold_until}}}}}}}"#
    )
}
