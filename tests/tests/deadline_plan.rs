//! Admission by probability from the plan that the daemon makes of a real cluster's queue.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Options, QUICK, now};
use job_types::record::{Record, Written};
use predictor_core::decisions::site::Site;
use predictor_core::forecasts::forecast::QueueForecaster;
use std::time::Duration;

const USER: &str = "games";

/// A snapshot whose plan knows that all 32 CPUs are busy, and so many admitted jobs that could give
/// way.
fn planned(cluster: &Cluster, promised: usize) {
    cluster.snapshot_with("a plan", |snapshot| {
        let Some(partition) = snapshot.default_partition() else { return false };
        let free_now = snapshot.queue_plan(partition.index).and_then(|plan| Some(plan.steps.first()?.1));
        free_now == Some(0)
            && snapshot.deadline_history(partition.index).is_some()
            && snapshot.promised_jobs(partition.index).len() == promised
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_is_admitted_to_where_the_plan_has_room_and_refused_where_it_has_none() {
    let configuration = format!("{QUICK}[policy]\nmode = \"enforce\"\nadmission = \"probability\"\n");
    let cluster = Cluster::up(&Options::with_plugins(&configuration));
    cluster.run_jobs(1);
    let _daemon = cluster.start_queuecastd();
    let blocker = cluster.submit(&["-N8", "-t30", "--exclusive"], "sleep 1200").job();
    assert_eq!(blocker.wait(&["RUNNING"], Duration::from_secs(60)), "RUNNING");
    planned(&cluster, 0);

    // Nothing is known of its run times or of waits: the plan alone says when there is room.
    let submit = |deadline: &str, shell: &str| {
        let arguments = ["-N8", "-t5", "--exclusive", &format!("--deadline=now+{deadline}")];
        cluster.submit_for(USER, &arguments, shell)
    };
    let refused = submit("20minutes", "true").refusal();
    assert!(refused.contains("not admitted: done by the deadline with probability 0."), "{refused}");
    let offered = refused.split("--deadline=now+").nth(1).unwrap_or_else(|| panic!("no alternative in {refused}"));
    let offered: String = offered.chars().take_while(char::is_ascii_alphanumeric).collect();

    let job = submit(&offered, "true").job();
    let written: Written = Record::parse(&job.field("AdminComment")).unwrap().written.unwrap();
    assert_eq!((job.field("Deadline").as_str(), written.wanted), ("N/A", Some(0.9)));
    // It begins when the blocker has to have ended.
    let begin = written.begin.unwrap() - now();
    assert!((25 * 60..=31 * 60).contains(&begin), "begins in {begin} s: {}", job.said);
    job.cancel();

    // Somebody who waits at a terminal is given no begin, so that the job waits in the queue, and
    // the next plan knows that it could give way.
    let mut salloc = cluster.prepare_for(USER, "salloc");
    let salloc = salloc.args(["-N8", "-t5", "--exclusive", "--deadline=now+120minutes", "--no-shell"]).spawn();
    planned(&cluster, 1);
    let mut salloc = salloc.unwrap();
    salloc.kill().unwrap();
    salloc.wait().unwrap();
    blocker.cancel();
}
