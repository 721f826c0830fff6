//! Submissions to a real slurmctld with the plugins loaded.

use end_to_end::{Began, Cluster, LARGE_WAIT, Options, PATIENCE, Past, TELLS_BEGIN, now, wait_for};
use job_types::options::Mode;
use job_types::policy::{Policy, When};
use job_types::record::Record;
use made_up_site::enforcing;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(90);

/// A cluster with the plugins and a snapshot of a known past.
fn cluster(policy: Policy, past: &[Past]) -> Cluster {
    let cluster = Cluster::up(&Options::with_plugins(""));
    cluster.publish(policy, past, &[]);
    cluster
}

/// Waits of up to 99 s in even steps.
const SHORT_WAITS: [Past; 1] = [Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }];

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn srun_runs_all_tasks_inside_a_molded_job() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let arguments = ["-N8", "-n16", "--ntasks-per-node=2", "-t10", "--exclusive", "--auto-mold"];
    let script = "echo ntasks $SLURM_NTASKS nprocs $SLURM_NPROCS nodes $SLURM_JOB_NUM_NODES\nsrun hostname";
    let job = cluster.submit(&arguments, script).job();
    assert!(job.said.contains("queuecast: 2 nodes instead of 8, 4 tasks, time limit 40 min: forecast to be done in about"), "{}", job.said);
    assert_eq!(job.end(SOON), "COMPLETED", "{}", job.printed());
    let printed = job.printed();
    assert_eq!(printed.lines().next(), Some("ntasks 4 nprocs 4 nodes 2"));
    assert_eq!(printed.lines().count(), 5);
    assert_eq!((job.field("NumNodes").as_str(), job.field("NumTasks").as_str()), ("2", "4"));
    let record = Record::parse(&job.field("AdminComment")).unwrap();
    assert_eq!((record.asked.nodes, record.asked.tasks, record.written.unwrap().nodes), (8, Some(16), Some(2)));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn directives_and_environment_twins_mold_as_well() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let nodes = |variables: &[(&str, &str)], arguments: &[&str], script: &str| {
        let arguments = [&["-N8", "-t10", "--exclusive", "--hold"], arguments].concat();
        cluster.submit_as(Some(variables), &arguments, script).job().field("NumNodes")
    };
    assert_eq!(nodes(&[], &[], "#SBATCH --auto-mold\ntrue"), "2-2");
    assert_eq!(nodes(&[("QUEUECAST_AUTO_MOLD", "1")], &[], "true"), "2-2");
    assert_eq!(nodes(&[("QUEUECAST_AUTO_MOLD", "0")], &[], "true"), "8-8");
    assert_eq!(nodes(&[], &["--auto-mold", "--queuecast=off"], "true"), "8-8");
    assert_eq!(nodes(&[], &["--auto-mold", "--queuecast=advise"], "true"), "8-8");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_transparent_policy_molds_whoever_asks_for_nothing() {
    let cluster = cluster(Policy { mold: When::Always, ..enforcing() }, &LARGE_WAIT);
    let arguments = ["-N8", "-t10", "--exclusive", "--hold"];
    assert_eq!(cluster.submit(&arguments, "true").job().field("NumNodes"), "2-2");
    cluster.publish(Policy { mode: Mode::Observe, mold: When::Always, ..enforcing() }, &LARGE_WAIT, &[]);
    let observed = cluster.submit(&arguments, "true").job();
    assert_eq!((observed.field("NumNodes").as_str(), observed.said.as_str()), ("8-8", ""));
    assert_eq!(Record::parse(&observed.field("AdminComment")).unwrap().written.unwrap().nodes, Some(2));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_cant_be_molded_runs_as_written_and_the_reason_is_told() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    for (arguments, reason) in [
        (&["-N8", "--nodelist=n[1-8]"][..], "it names its nodes"),
        (&["-N8", "-n14"], "no other size that you have run or named fits its tasks"),
        (&["-N3"], "you have no past jobs on 3 nodes here"),
    ] {
        let arguments = [&["-t10", "--exclusive", "--auto-mold"], arguments].concat();
        let job = cluster.submit(&arguments, "true").job();
        assert!(job.said.contains(&format!("queuecast: not molded: {reason}")), "{arguments:?}: {}", job.said);
        assert_eq!(job.end(SOON), "COMPLETED");
        assert!(["3", "8"].contains(&job.field("NumNodes").as_str()), "{arguments:?}");
    }
    let salloc = cluster.run("salloc", &["-N8", "-t10", "--exclusive", "--auto-mold", "sh", "-c", "srun hostname | wc -l"]);
    let said = String::from_utf8_lossy(&salloc.stderr).into_owned();
    assert!(said.contains("only batch jobs can be molded"), "{said}");
    assert_eq!(String::from_utf8_lossy(&salloc.stdout).trim(), "8");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_reservation_holds_its_nodes_until_the_time_and_lets_steps_through() {
    let cluster = cluster(enforcing(), &SHORT_WAITS);
    let reserved = now() + 75;
    let at = format!("--reserve-at=uts{reserved}");
    // P(Binomial(100, 0.5) <= 57) = 0.933, (<= 58) = 0.956: the 59th wait, 58 s, bounds the median
    // at 95 %. Of the steps, 75, 45 and 15 s ahead, the first reaches that.
    let script = format!("{TELLS_BEGIN}\nsrun hostname");
    let job = cluster.submit(&["-N2", "-t1", "--exclusive", &at, "--success-probability=0.5"], &script).job();
    assert!(job.said.contains("with probability 0.") && job.said.contains("waits on its nodes"), "{}", job.said);
    let record = Record::parse(&job.field("AdminComment")).unwrap();
    let written = record.written.unwrap();
    assert_eq!((written.reserved_at, written.hold_until, written.limit_s), (Some(reserved), Some(reserved), Some(180)));
    assert_eq!(job.field("TimeLimit"), "00:03:00");
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    assert!(now() < reserved - 20, "the nodes were there late");
    assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    let printed = job.printed();
    let began = Began::of(&printed);
    let late_s = began.at - reserved as f64;
    assert!((0.0..3.0 + began.start_takes_s).contains(&late_s), "reserved for {reserved}: {began}");
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_held_reservation_is_cancelled_at_once_and_leaves_its_nodes_in_order() {
    let cluster = cluster(enforcing(), &SHORT_WAITS);
    let at = format!("--reserve-at=uts{}", now() + 100);
    let job = cluster.submit(&["-N2", "-t1", "--exclusive", &at, "--success-probability=0.8"], "echo began").job();
    let _ = job.wait(&["RUNNING"], SOON);
    std::thread::sleep(Duration::from_secs(1));
    let cancelled = std::time::Instant::now();
    job.cancel();
    assert_eq!(job.end(SOON), "CANCELLED");
    wait_for("the nodes to be idle", SOON, || cluster.output("sinfo", &["-h", "-o", "%T"]).eq("idle").then_some(()));
    // Else they would be held until the time.
    assert!(cancelled.elapsed() < Duration::from_secs(60));
    assert!(!job.printed().contains("began"));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn an_early_start_may_run_at_once() {
    let cluster = cluster(enforcing(), &SHORT_WAITS);
    let reserved = now() + 80;
    let at = format!("--reserve-at=uts{reserved}");
    let job = cluster.submit(&["-N2", "-t1", "--exclusive", &at, "--success-probability=0.5", "--early-start=run"], "true").job();
    assert_eq!(job.end(SOON), "COMPLETED");
    assert!(now() < reserved);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_promise_that_cant_be_given_is_refused_with_what_could_be() {
    let cluster = cluster(enforcing(), &SHORT_WAITS);
    let refusal = cluster.submit(&["-N2", "-t10", "--exclusive", "--reserve-at=now+30"], "true").refusal();
    assert!(refusal.contains("queuecast: no reservation: it would be kept with probability"), "{refusal}");
    assert!(refusal.contains("0.95 can be had in ") && refusal.contains("(--reserve-at=now+"), "{refusal}");
    let array = cluster.submit(&["-N2", "-t10", "--array=0-3", "--reserve-at=now+3hours"], "true").refusal();
    assert!(array.contains("an array of jobs can't be reserved"), "{array}");
    // Without any snapshot the configuration says whether promises are given.
    std::fs::remove_file(cluster.state_directory().join("snapshot")).unwrap();
    cluster.configure("[policy]\nmode = \"enforce\"\n");
    cluster.daemon("restart", "slurmctld");
    let absent = cluster.submit(&["-N2", "-t10", "--reserve-at=now+3hours"], "true").refusal();
    assert!(absent.contains("no reservation: there is no forecast yet"), "{absent}");
    let wish = cluster.submit(&["-N2", "-t10", "--auto-mold"], "true").job();
    assert!(wish.said.contains("the job was submitted as you wrote it: there is no forecast yet"), "{}", wish.said);
    assert_eq!(wish.end(SOON), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_deferred_job_begins_when_running_jobs_are_expected_to_have_ended() {
    let cluster = cluster(enforcing(), &[]);
    cluster.publish_pressed(enforcing(), 45);
    let ends = now() + 45;
    // Slurm refuses these only after the plugin has seen them; they change nothing for those who
    // come after.
    for _ in 0..20 {
        let enormous = cluster.run("sbatch", &["-n", "2000000000", "-t10", "--test-only", "--auto-mold", "--wrap", "true"]);
        assert!(!enormous.status.success());
    }
    let job = cluster.submit(&["-N2", "-t10", "--exclusive", "--auto-defer"], "date +%s").job();
    assert!(job.said.contains("queuecast: begin deferred by"), "{}", job.said);
    let record = Record::parse(&job.field("AdminComment")).unwrap();
    let begin = record.written.unwrap().begin.expect("a begin time was written");
    assert!((ends - 5..=ends).contains(&begin), "expected to end at {ends}, to begin at {begin}");
    assert_eq!((job.field("JobState").as_str(), job.field("Reason").as_str()), ("PENDING", "BeginTime"));
    assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    let began: i64 = job.printed().trim().parse().expect("the script printed the time");
    assert!(began >= begin, "began at {began}, before {begin}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_deadline_is_forecast_told_recorded_and_kept() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let job = cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--deadline=now+2hours"], "true").job();
    assert!(job.said.contains("done by the deadline in "), "{}", job.said);
    assert!(job.said.contains("; a deadline in "), "{}", job.said);
    let molded = cluster.submit(&["-N8", "-t10", "--exclusive", "--auto-mold", "--deadline=now+2hours"], "true").job();
    assert_eq!(molded.field("NumNodes"), "2-2", "{}", molded.said);
    let record = Record::parse(&molded.field("AdminComment")).unwrap();
    assert!(record.forecast.unwrap().deadline_probability > record.instead_of.unwrap().deadline_probability);
    assert_eq!(molded.end(SOON), "COMPLETED");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn tests_arrays_heterogeneous_jobs_and_scrontab_go_on() {
    let cluster = Cluster::up(&Options::with_plugins("").option("conf-line", "ScronParameters=enable"));
    cluster.publish(Policy { mold: When::Always, ..enforcing() }, &LARGE_WAIT, &[]);
    let tested = cluster.run("sbatch", &["-N8", "-t10", "--exclusive", "--test-only", "--auto-mold", "--wrap", "true"]);
    let said = String::from_utf8_lossy(&tested.stderr).into_owned();
    assert!(tested.status.success() && said.contains("to start at"), "{said}");
    // What is told is what would be written, and what Slurm says of the start is of the job as it
    // would be.
    assert!(said.contains("queuecast: 2 nodes instead of 8, time limit 40 min"), "{said}");
    assert!(said.contains("on nodes n[1-2] in partition main"), "{said}");
    assert_eq!(cluster.output("squeue", &["-h", "-t", "all"]), "", "nothing was submitted");
    let enormous = cluster.run("sbatch", &["-n", "2000000000", "-t10", "--test-only", "--auto-mold", "--wrap", "true"]);
    assert!(!enormous.status.success());

    let array = cluster.submit(&["-N8", "-n16", "-t10", "--exclusive", "--array=0-2"], "srun hostname").job();
    wait_for("the array to end", SOON, || cluster.output("squeue", &["-h", "-j", &array.id]).is_empty().then_some(()));
    wait_for("the array's tasks in sacct, each on two nodes", SOON, || {
        let tasks = cluster.output("sacct", &["-X", "-n", "-P", "-j", &array.id, "-o", "NNodes,State"]);
        (tasks == ["2|COMPLETED"; 3].join("\n")).then_some(())
    });

    let components = cluster.submit(&["-N6", "-t10", "--auto-mold", ":", "-N2", "-t10"], "srun --het-group=0,1 hostname").job();
    assert!(components.said.contains("it is part of a heterogeneous job"), "{}", components.said);
    assert_eq!(components.end(SOON), "COMPLETED", "{}", components.printed());
    assert_eq!(components.printed().lines().count(), 8);

    if cluster.prepare("scrontab").arg("--version").output().is_err() {
        println!("skipped: scrontab, which this Slurm was built without; the plugin's own tests have an entry of it");
        return;
    }
    let table = cluster.path("log/crontab");
    std::fs::write(&table, "#SCRON -N8 -t 10\n0 0 1 1 * /bin/true\n").unwrap();
    let scrontab = cluster.run("scrontab", &[table.to_str().unwrap()]);
    assert!(scrontab.status.success(), "{}", String::from_utf8_lossy(&scrontab.stderr));
    assert!(cluster.output("squeue", &["-h", "-o", "%D"]).lines().any(|nodes| nodes == "8"));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_users_own_change_is_not_fought() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let job = cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job();
    let record = job.field("AdminComment");
    assert_eq!(job.field("NumNodes"), "2-2");
    let _ = cluster.output("scontrol", &["update", &format!("JobId={}", job.id), "TimeLimit=5", "StartTime=now+1hour"]);
    assert_eq!((job.field("NumNodes").as_str(), job.field("TimeLimit").as_str()), ("2-2", "00:05:00"));
    assert_eq!(job.field("AdminComment"), record);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn slurmctld_is_reconfigured_and_restarted_with_the_plugin_loaded() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let molded = || cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job().field("NumNodes");
    assert_eq!(molded(), "2-2");
    let _ = cluster.output("scontrol", &["reconfigure"]);
    wait_for("slurmctld to answer", SOON, || {
        String::from_utf8_lossy(&cluster.run("scontrol", &["ping"]).stdout).contains("is UP").then_some(())
    });
    assert_eq!(molded(), "2-2");
    cluster.daemon("restart", "slurmctld");
    assert_eq!(molded(), "2-2");
    assert_eq!(cluster.output("squeue", &["-h", "-o", "%D"]).lines().count(), 3);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_broken_configuration_leaves_jobs_until_it_is_mended() {
    let cluster = Cluster::up(&Options::with_plugins("[policy\n"));
    cluster.publish(enforcing(), &LARGE_WAIT, &[]);
    let submit = || cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job();
    let left = submit();
    assert_eq!(left.field("NumNodes"), "8-8");
    assert!(left.said.contains("queuecast is not set up on this cluster"), "{}", left.said);
    assert!(cluster.log("slurmctld").contains("job_submit/queuecast: jobs are left as they are, but for the site's own rules:"));
    cluster.configure("");
    wait_for("the configuration to be looked at again", SOON, || (submit().field("NumNodes") == "2-2").then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_kill_switch_is_one_file() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let submit = || cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job();
    std::fs::write(cluster.state_directory().join("off"), "").unwrap();
    let left = submit();
    assert_eq!(left.field("NumNodes"), "8-8");
    assert!(left.said.contains("switched off by the administrator"), "{}", left.said);
    std::fs::remove_file(cluster.state_directory().join("off")).unwrap();
    assert_eq!(submit().field("NumNodes"), "2-2");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_new_plugin_is_installed_by_rename_under_a_running_slurmctld() {
    let cluster = cluster(enforcing(), &LARGE_WAIT);
    let submit = || cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job().field("NumNodes");
    assert_eq!(submit(), "2-2");
    let install = end_to_end::install_plugins(&cluster.path("plugins")).status();
    assert!(install.unwrap().success());
    assert_eq!(submit(), "2-2");
    cluster.daemon("restart", "slurmctld");
    assert_eq!(submit(), "2-2");
}
