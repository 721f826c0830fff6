//! Slurm's own reservations as the daemon makes, moves, uses and deletes them, by `slurm-sys`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::process::Command;
use std::time::Duration;

use end_to_end::{Cluster, Job, Options, PATIENCE, now, wait_for};
use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use nix::unistd::{Uid, User, seteuid};
use slurm_sys::bindings::SLURM_VERSION_NUMBER;
use slurm_sys::client::controller::{
    ChangeError, JobUpdate, NewReservation, QueuedJob, Reservation, ReservationError, ReservationFlag, ReservationUpdate,
    create_reservation, delete_reservation, jobs_with_number, reservations, update_job, update_reservation,
};
use slurm_sys::client::{ClientError, JobState};

/// Who may use the reservations.
const USER: &str = "games";
/// Who may not.
const OTHER: &str = "mail";
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
/// The directory of the cluster, in the process that is about it.
const DIRECTORY: &str = "CLUSTER_OF_THIS_PROCESS";

/// Runs a test with a cluster of its own in a process of its own, which has the cluster's
/// slurm.conf in its environment from the beginning: libslurm reads it once.
fn with_cluster(name: &str, test: impl FnOnce(&Cluster)) {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        test(&Cluster::up(&Options::plain().kept_in(directory.as_ref())));
        return;
    }
    let directory = tempfile::Builder::new().prefix("queuecast-").tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--include-ignored", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .env("SLURM_CONF", directory.path().join("etc/slurm.conf"))
        .status();
    assert!(status.unwrap().success());
}

/// A reservation of two nodes for ten minutes, in so many seconds.
fn two_nodes(name: &str, ahead: i64) -> NewReservation {
    NewReservation {
        name: name.to_owned(),
        start: UnixTime(now() + ahead),
        duration: Seconds(10 * MINUTE),
        users: vec![USER.to_owned()],
        accounts: vec!["main".to_owned()],
        nodes: 2,
        no_hold_jobs_after_end: true,
        ..NewReservation::default()
    }
}

fn shown(name: &str) -> Reservation {
    reservations().unwrap().into_iter().find(|reservation| reservation.name == name).unwrap_or_else(|| panic!("{name} is not there"))
}

fn places(reservation: &Reservation) -> Vec<usize> {
    reservation.node_ranges.iter().flat_map(|(first, last)| *first..=*last).collect()
}

fn number(job: &Job<'_>) -> JobId {
    JobId(job.id.parse().unwrap())
}

fn queued(job: &Job<'_>) -> QueuedJob {
    jobs_with_number(number(job)).unwrap().pop().expect("a job that slurmctld knows").job
}

/// Attaches a job to a reservation, or detaches it where the name is empty.
fn attach(job: &Job<'_>, reservation: &str) -> Result<(), ChangeError> {
    update_job(number(job), &JobUpdate { reservation: Some(reservation.to_owned()), ..JobUpdate::default() })
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_reservation_is_read_as_it_was_made_until_it_is_deleted() {
    with_cluster("a_reservation_is_read_as_it_was_made_until_it_is_deleted", |cluster| {
        let partition = cluster.output("sinfo", &["--noheader", "--format=%R"]);
        // Slurm takes any name.
        let name = "a b;c/../x";
        let new = NewReservation {
            duration: Seconds(MINUTE + 1),
            users: vec![USER.to_owned(), "man".to_owned()],
            partition: Some(partition.clone()),
            nodes: 3,
            purge_after: Some(Seconds(90)),
            replace_down: true,
            comment: Some("what it is for".to_owned()),
            ..two_nodes(name, HOUR)
        };
        assert_eq!(create_reservation(&new).as_deref(), Ok(name));
        let read = shown(name);
        assert_eq!(places(&read).len(), 3, "{read:?}");
        let has_comment = SLURM_VERSION_NUMBER >= 0x17_02_00;
        let expected = Reservation {
            name: name.to_owned(),
            start: new.start.0,
            end: Some(new.start.0 + 2 * MINUTE),
            cpus: Some(12),
            node_ranges: read.node_ranges.clone(),
            nodes: 3,
            users: Some(format!("{USER},man")),
            accounts: Some("main".to_owned()),
            partition: Some(partition),
            flags: [ReservationFlag::PurgeComp, ReservationFlag::NoHoldJobsAfterEnd, ReservationFlag::ReplaceDown].into_iter().collect(),
            purge_after: Some(Seconds(90)),
            comment: new.comment.clone().filter(|_| has_comment),
        };
        assert_eq!(read, expected);

        assert_eq!(create_reservation(&new), Err(ReservationError::NameTaken));
        assert_eq!(delete_reservation(name), Ok(()));
        assert_eq!(delete_reservation(name), Err(ReservationError::NotThere));
        assert_eq!(update_reservation(name, &ReservationUpdate::default()), Err(ReservationError::NotThere));
        assert_eq!(reservations(), Ok(Vec::new()));

        // slurmctld names one without a name, and what is not asked for is not there.
        let named = create_reservation(&NewReservation { no_hold_jobs_after_end: false, ..two_nodes("", HOUR) }).unwrap();
        let read = shown(&named);
        assert!(!named.is_empty() && read.flags == [].into_iter().collect() && read.purge_after.is_none(), "{read:?}");
        assert_eq!(delete_reservation(&named), Ok(()));

        // What an operator makes.
        let made = cluster.run(
            "scontrol",
            &["create", "reservation=fair", "start=now+2hours", "duration=60", "nodes=n1", "accounts=main", "flags=daily,flex"],
        );
        assert!(made.status.success(), "{made:?}");
        let read = shown("fair");
        use ReservationFlag::{Flex, Recurring, SpecificNodes};
        assert_eq!(read.flags, [SpecificNodes, Flex, Recurring].into_iter().collect());
        assert_eq!((read.users, read.accounts.as_deref(), read.nodes), (None, Some("main"), 1));
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_keeps_a_reservation_from_being_made_is_told_apart() {
    with_cluster("what_keeps_a_reservation_from_being_made_is_told_apart", |cluster| {
        let blocker = cluster.submit(&["-N7", "-t30", "--exclusive"], "sleep 1200").job();
        assert_eq!(blocker.wait(&["RUNNING"], PATIENCE), "RUNNING");
        assert_eq!(create_reservation(&two_nodes("busy", MINUTE)), Err(ReservationError::NodesBusy));
        assert_eq!(create_reservation(&two_nodes("later", HOUR)).as_deref(), Ok("later"));
        // 22.05 makes both with fewer nodes, which are then given back: with those that no other
        // reservation has, and with those that there are.
        for (nodes, ahead) in [(7, HOUR), (9, 2 * HOUR)] {
            let larger = NewReservation { nodes, ..two_nodes("larger", ahead) };
            assert_eq!(create_reservation(&larger), Err(ReservationError::NodesBusy), "{nodes} nodes");
        }
        assert_eq!(reservations().unwrap().len(), 1);

        for wrong in [
            NewReservation { partition: Some("none".to_owned()), ..two_nodes("partition", HOUR) },
            NewReservation { users: Vec::new(), accounts: Vec::new(), ..two_nodes("for nobody", HOUR) },
            two_nodes("past", -HOUR),
        ] {
            let error = create_reservation(&wrong).unwrap_err();
            assert!(matches!(error, ReservationError::Refused { .. }), "{wrong:?}: {error}");
        }
        // For this the releases have different numbers, none of them its own.
        let of_nobody = NewReservation { users: vec!["nobody-of-this-name".to_owned()], ..two_nodes("user", HOUR) };
        assert!(create_reservation(&of_nobody).is_err());
        let error = create_reservation(&two_nodes("null\0byte", HOUR)).unwrap_err();
        assert!(matches!(error, ReservationError::Away(ClientError::Text { .. })), "{error}");

        // As an ordinary user, by whom munge knows the process.
        seteuid(User::from_name(USER).unwrap().unwrap().uid).unwrap();
        let denied = [
            create_reservation(&two_nodes("theirs", 2 * HOUR)).map(drop),
            update_reservation("later", &ReservationUpdate { start: Some(UnixTime(now() + 2 * HOUR)), ..ReservationUpdate::default() }),
        ];
        seteuid(Uid::from_raw(0)).unwrap();
        for outcome in denied {
            assert!(matches!(outcome, Err(ReservationError::Denied { .. })), "{outcome:?}");
        }
        assert_eq!(reservations().unwrap().len(), 1);

        cluster.daemon("stop", "slurmctld");
        let error = create_reservation(&two_nodes("away", HOUR)).unwrap_err();
        assert!(matches!(error, ReservationError::Away(ClientError::Controller { .. })), "{error}");
        cluster.daemon("start", "slurmctld");
        assert_eq!(delete_reservation("later"), Ok(()), "it was kept");
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_start_moves_with_its_end_where_nodes_are_free_and_not_once_it_has_passed() {
    with_cluster("a_start_moves_with_its_end_where_nodes_are_free_and_not_once_it_has_passed", |cluster| {
        let half = |name: &str, ahead| NewReservation { nodes: 4, ..two_nodes(name, ahead) };
        let (first, second) = (half("first", HOUR), half("second", 2 * HOUR));
        create_reservation(&first).unwrap();
        create_reservation(&second).unwrap();
        let times = |name: &str| {
            let read = shown(name);
            (read.start, read.end.unwrap())
        };
        let moved = |start: i64| ReservationUpdate { start: Some(UnixTime(start)), ..ReservationUpdate::default() };
        let start = second.start.0 + HOUR;
        assert_eq!(update_reservation("second", &moved(start)), Ok(()));
        assert_eq!(times("second"), (start, start + 10 * MINUTE));

        // Both were given the first nodes, as they were free. Where they are not, the update fails
        // as a whole, unless slurmctld may choose others.
        let of_second = places(&shown("second"));
        assert_eq!(places(&shown("first")), of_second);
        let beside = first.start.0 + 5 * MINUTE;
        assert_eq!(update_reservation("second", &moved(beside)), Err(ReservationError::Overlaps));
        assert_eq!(times("second"), (start, start + 10 * MINUTE));
        assert_eq!(update_reservation("second", &ReservationUpdate { nodes: Some(4), ..moved(beside) }), Ok(()));
        assert_eq!(times("second"), (beside, beside + 10 * MINUTE));
        let chosen = shown("second");
        assert!(chosen.nodes == 4 && places(&chosen).iter().all(|place| !of_second.contains(place)), "{chosen:?}");

        // Where there are none, and where there are some, with which 22.05 makes do.
        create_reservation(&NewReservation { nodes: 6, ..two_nodes("most", 2 * HOUR) }).unwrap();
        create_reservation(&half("third", 3 * HOUR)).unwrap();
        let before = shown("third");
        for start in [beside, shown("most").start] {
            let update = ReservationUpdate { nodes: Some(4), ..moved(start) };
            assert_eq!(update_reservation("third", &update), Err(ReservationError::NodesBusy));
            let after = shown("third");
            assert_eq!((after.nodes, after.start, after.end), (4, before.start, before.end));
        }
        let larger = ReservationUpdate { nodes: Some(5), ..ReservationUpdate::default() };
        assert_eq!(update_reservation("third", &larger), Ok(()));
        assert_eq!(places(&shown("third")).len(), 5);

        // Onto a job that runs until its limit.
        let blocker = cluster.submit(&["-N8", "-t20", "--exclusive"], "sleep 1200").job();
        assert_eq!(blocker.wait(&["RUNNING"], PATIENCE), "RUNNING");
        assert_eq!(update_reservation("third", &moved(now() + MINUTE)), Err(ReservationError::NodesBusy));
        blocker.cancel();
        let _ = blocker.end(PATIENCE);

        // An end that somebody has set stays, unless the length is told as well.
        let (start, end) = times("third");
        let set = format!("EndTime={}", cluster.output("date", &["-d", &format!("@{}", end + HOUR), "+%Y-%m-%dT%H:%M:%S"]));
        let _ = cluster.output("scontrol", &["update", "reservation=third", &set]);
        assert_eq!(update_reservation("third", &moved(start + MINUTE)), Ok(()));
        assert_eq!(times("third"), (start + MINUTE, end + HOUR));
        let update = ReservationUpdate { duration: Some(Seconds(20 * MINUTE)), ..moved(start) };
        assert_eq!(update_reservation("third", &update), Ok(()));
        assert_eq!(times("third"), (start, start + 20 * MINUTE));

        let begins = now() + 3;
        assert_eq!(update_reservation("third", &moved(begins)), Ok(()));
        wait_for("its start", PATIENCE, || (now() > begins).then_some(()));
        assert_eq!(update_reservation("third", &moved(now() + HOUR)), Err(ReservationError::Started));
        assert_eq!(delete_reservation("third"), Ok(()), "one that is not used can be deleted at any time");
    });
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_waiting_job_starts_in_the_reservation_that_it_is_attached_to_and_outside_once_it_is_not() {
    with_cluster("a_waiting_job_starts_in_the_reservation_that_it_is_attached_to_and_outside_once_it_is_not", |cluster| {
        let submit =
            |user, options: &[&str]| cluster.submit_for(user, &[&["-N2", "-t2", "--exclusive"], options].concat(), "sleep 20").job();
        // Kept from starting outside: other jobs have the other nodes for longer.
        let blocker = cluster.submit(&["-N6", "-t60", "--exclusive"], "sleep 1200").job();
        assert_eq!(blocker.wait(&["RUNNING"], PATIENCE), "RUNNING");
        let slot = two_nodes("slot", 25);
        create_reservation(&slot).unwrap();
        let (job, others) = (submit(USER, &[]), submit(OTHER, &[]));
        assert_eq!(attach(&job, "gone"), Err(ChangeError::NoReservation));
        let error = attach(&others, "slot").unwrap_err();
        assert!(matches!(error, ChangeError::Refused { .. }), "{error}");
        assert_eq!(attach(&job, "slot"), Ok(()));
        assert_eq!(queued(&job).reservation.as_deref(), Some("slot"));

        assert_eq!(job.wait(&["RUNNING"], PATIENCE), "RUNNING");
        let running = queued(&job);
        let late = running.started.unwrap() - slot.start.0;
        assert!((0..=20).contains(&late), "{late} s after the start of the reservation");
        assert_eq!((running.reservation.as_deref(), &running.node_ranges), (Some("slot"), &shown("slot").node_ranges));
        assert_eq!(delete_reservation("slot"), Err(ReservationError::InUse));
        assert_eq!(attach(&job, "gone"), Err(ChangeError::NoReservation));
        assert_eq!(job.end(PATIENCE), "COMPLETED");
        assert_eq!(delete_reservation("slot"), Ok(()));
        assert_eq!(attach(&job, "slot"), Err(ChangeError::Ended));
        // Its nodes are everybody's again.
        assert_eq!(others.wait(&["RUNNING"], PATIENCE), "RUNNING");
        others.cancel();
        let _ = others.end(PATIENCE);

        // A job that waits for a reservation does not take what is free until it is detached, and
        // the reservation can't be deleted until then.
        create_reservation(&two_nodes("a b;c/../x", 2 * HOUR)).unwrap();
        let job = submit(USER, &["--hold"]);
        assert_eq!(attach(&job, "a b;c/../x"), Ok(()));
        let _ = cluster.output("scontrol", &["release", &job.id]);
        wait_for("the reason for which it waits", PATIENCE, || (job.field("Reason") == "Reservation").then_some(()));
        std::thread::sleep(Duration::from_secs(5));
        let waiting = queued(&job);
        assert_eq!((waiting.state, waiting.eligible), (JobState::Pending, None));
        assert_eq!(delete_reservation("a b;c/../x"), Err(ReservationError::InUse));
        assert_eq!(attach(&job, ""), Ok(()));
        assert_eq!(attach(&job, ""), Ok(()), "once more changes nothing");
        assert_eq!(queued(&job).reservation, None);
        assert_eq!(delete_reservation("a b;c/../x"), Ok(()));
        assert_eq!(job.end(PATIENCE), "COMPLETED");
    });
}
