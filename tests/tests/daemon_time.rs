//! `queuecastd` over a restart, over a clock that is set, and over days in which slurmctld can't
//! reach slurmdbd.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use end_to_end::{Cluster, PATIENCE, QUICK, now, wait_for};
use job_types::record::WaitSource;
use predictor_core::decisions::site::Site;
use predictor_core::snapshot::Snapshot;

/// The forecasts in force in the default partition, and on how many outcomes they rest.
fn in_force(snapshot: &Snapshot<Vec<u8>>) -> Option<(WaitSource, u32)> {
    snapshot.score(snapshot.default_partition()?.index).map(|score| (score.source, score.jobs))
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn over_restarts_no_partial_history_takes_the_place_of_what_was_learnt() {
    let cluster = Cluster::up_for_queuecastd(&format!("{QUICK}[history]\nwindow = \"20d\"\n"));
    cluster.import_model(50, 3000, 0.2);
    let learnt = cluster.state_directory().join("learnt");
    let mut daemon = cluster.start_queuecastd();
    let trained = |snapshot: &Snapshot<Vec<u8>>| in_force(snapshot).is_some_and(|(_, jobs)| jobs >= 200);
    let before = cluster.snapshot_with("a trained model", trained);
    wait_for("what was learnt to be kept", PATIENCE, || learnt.exists().then_some(()));
    let jobs = before.provenance().ended_jobs;

    for kept in [true, true, false] {
        daemon.signal("TERM");
        assert!(daemon.end(PATIENCE).success());
        if !kept {
            // As after a disk that lost something.
            let mut bytes = std::fs::read(&learnt).unwrap();
            bytes[25] ^= 1;
            std::fs::write(&learnt, bytes).unwrap();
        }
        let from = cluster.log("queuecastd").len();
        let (generation, source) = (cluster.snapshot().unwrap().generation(), in_force(&cluster.snapshot().unwrap()).unwrap().0);
        daemon = cluster.start_queuecastd();
        // Every snapshot on the way to the third of the new daemon is looked at.
        wait_for("snapshots of the new daemon", PATIENCE, || {
            let snapshot = cluster.snapshot()?;
            let seen = in_force(&snapshot);
            assert!(seen.is_some_and(|(now, jobs)| now == source && jobs >= 200), "generation {}: {seen:?}", snapshot.generation());
            assert!(snapshot.provenance().ended_jobs >= jobs, "{} of {jobs} jobs", snapshot.provenance().ended_jobs);
            (snapshot.generation() >= generation + 3).then_some(())
        });
        let log = cluster.log("queuecastd")[from..].to_owned();
        assert_eq!(log.contains("what was learnt before is taken up"), kept, "{log}");
        assert_eq!(log.contains("it is kept aside, and begun anew"), !kept, "{log}");
        assert_eq!(log.contains("the history of ended jobs is read"), !kept, "{log}");
    }
    // What ends from now on is counted, once.
    cluster.run_jobs(1);
    cluster.snapshot_with("one more job", |snapshot| snapshot.provenance().ended_jobs == jobs + 1);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_clock_that_was_ahead_and_is_set_back_makes_it_start_afresh() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let clock = cluster.shifted_clock();
    cluster.run_jobs(1);
    let _daemon = cluster.start_queuecastd_with(&clock.variables());
    cluster.snapshot_with("a first job", |snapshot| snapshot.provenance().ended_jobs == 1);
    for (ended, ahead) in (2..).zip([86_400, 2 * 86_400, 365 * 86_400]) {
        clock.set_ahead(ahead);
        cluster.snapshot_with("a snapshot that is dated ahead", |snapshot| {
            let read_at = snapshot.provenance().accounting_read_at;
            snapshot.published_at().0 >= now() + ahead - 60 && read_at.is_some_and(|read_at| read_at.0 >= now() + ahead - 60)
        });
        clock.set_ahead(0);
        cluster.run_jobs(1);
        cluster.snapshot_with("what ended after the clock was set back", |snapshot| {
            let provenance = snapshot.provenance();
            let (accounting, controller) = (provenance.accounting_read_at, provenance.controller_read_at);
            let is_present = |moment: i64| (now() - 30..=now() + 1).contains(&moment);
            provenance.ended_jobs == ended
                && [accounting, controller].into_iter().all(|read_at| read_at.is_some_and(|read_at| is_present(read_at.0)))
        });
    }
    assert_eq!(cluster.log("queuecastd").matches("the clock was set back").count(), 3);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn records_that_slurmctld_could_not_hand_over_for_more_than_a_day_are_read_when_they_come() {
    let cluster = Cluster::up_for_queuecastd(QUICK);
    let clock = cluster.shifted_clock();
    // Only slurmctld is cut off: the daemon has a configuration of its own, with the right port.
    let configuration = cluster.path("etc/slurm.conf");
    let (own, whole) = (cluster.path("own/slurm.conf"), std::fs::read_to_string(&configuration).unwrap());
    std::fs::create_dir(cluster.path("own")).unwrap();
    std::fs::copy(cluster.path("etc/queuecast.toml"), cluster.path("own/queuecast.toml")).unwrap();
    std::fs::write(&own, &whole).unwrap();
    cluster.run_jobs(1);
    let _daemon = cluster.start_queuecastd_with(&[&clock.variables()[..], &[("SLURM_CONF", &own)]].concat());
    cluster.snapshot_with("a first job", |snapshot| snapshot.provenance().ended_jobs == 1);

    let line = whole.lines().find(|line| line.starts_with("AccountingStoragePort=")).expect("a port");
    std::fs::write(&configuration, whole.replace(line, "AccountingStoragePort=1")).unwrap();
    cluster.daemon("restart", "slurmctld");
    cluster.run_jobs(1);
    let ran_at = now();
    cluster.snapshot_with("slurmctld to have shown it", |snapshot| {
        snapshot.provenance().controller_read_at.is_some_and(|read_at| read_at.0 >= ran_at + 3)
    });
    let ahead = 26 * 3_600;
    clock.set_ahead(ahead);
    let cut_off = cluster.snapshot_with("a day later", |snapshot| {
        snapshot.provenance().accounting_read_at.is_some_and(|read_at| read_at.0 >= now() + ahead - 30)
    });
    assert_eq!(cut_off.provenance().ended_jobs, 1, "its record is with slurmctld");

    std::fs::write(&configuration, whole).unwrap();
    cluster.daemon("restart", "slurmctld");
    cluster.snapshot_with("the late record", |snapshot| snapshot.provenance().ended_jobs == 2);
}
