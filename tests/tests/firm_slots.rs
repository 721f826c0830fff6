//! Firm slots on a real cluster: nodes that `queuecastd` reserves inside a window for an ordinary
//! user, until nothing of them is left.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::Duration;

use end_to_end::{Cluster, Options, PATIENCE, QUICK, now, wait_for};
use serde_json::Value;

/// Users without any privilege.
const USER: &str = "games";
const OTHER: &str = "man";

/// A site that gives firm slots to everybody, and takes them back soon.
const POLICY: &str =
    "[policy]\nmode = \"enforce\"\n[[firm]]\nahead = \"2d\"\nmost_nodes = 4\nmost_active = { user = 2 }\nidle = \"1m\"\nnotice = \"1m\"\n";

fn site() -> Cluster {
    site_with("")
}

/// The same with more lines of its table.
fn site_with(more: &str) -> Cluster {
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}{POLICY}{more}")));
    let program = cluster.path("queuecast-for-users");
    fs::copy(end_to_end::built().join("queuecast"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    cluster
}

/// Runs `queuecast` as a user, who can't read the directory of the build.
fn queuecast(cluster: &Cluster, user: &str, arguments: &[&str]) -> Output {
    let program = cluster.path("queuecast-for-users");
    let mut command = cluster.prepare("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(&program).args(arguments);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{:?}: {}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Asks for nodes for ten minutes once the daemon has a plan, and returns the slot.
fn reserved(cluster: &Cluster, user: &str, nodes: u32, between: &str) -> Value {
    let nodes = format!("-N{nodes}");
    wait_for("an answer to a request", PATIENCE, || {
        let output = queuecast(cluster, user, &["reserve", "--between", between, &nodes, "-t10", "--json"]);
        if output.status.code() == Some(3) {
            return None;
        }
        Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output))))
    })
}

/// The firm slots that a user sees.
fn slots(cluster: &Cluster, user: &str) -> Vec<Value> {
    let output = queuecast(cluster, user, &["reservations", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    let listed = report["reservations"].as_array().unwrap();
    listed.iter().filter(|one| one["kind"] == "firm").cloned().collect()
}

fn state_of(cluster: &Cluster, user: &str, id: &Value) -> String {
    let slots = slots(cluster, user);
    let slot = slots.iter().find(|slot| slot["id"] == *id);
    slot.and_then(|slot| slot["state"].as_str()).unwrap_or("none").to_owned()
}

/// What slurmctld has under a name; `None` where it has nothing.
fn reservation(cluster: &Cluster, name: &str) -> Option<String> {
    let output = cluster.run("scontrol", &["-o", "show", "reservation", name]);
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All that is reserved.
fn reservations(cluster: &Cluster) -> String {
    String::from_utf8_lossy(&cluster.run("scontrol", &["-o", "show", "reservations"]).stdout).into_owned()
}

/// What the report says of firm slots once slurmdbd has the records of so many jobs that asked for
/// one and are over.
fn reported(cluster: &Cluster, over: u64) -> Value {
    wait_for("a report on firm slots", PATIENCE, || {
        let report: Value = serde_json::from_str(&cluster.output("queuecast", &["report", "reservations", "--json"])).unwrap();
        assert!(report["firm_reservations"]["reservations"].is_u64(), "{report}");
        let firm = &report["firm"];
        (firm["slots"].as_u64()? == over && firm["open"] == 0).then(|| firm.clone())
    })
}

fn is_free(cluster: &Cluster) -> Option<()> {
    (!reservations(cluster).contains("queuecast-")).then_some(())
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_without_a_job_is_used_by_its_user_alone_and_given_back_once_it_is_idle() {
    let cluster = site();
    let _daemon = cluster.start_queuecastd();
    let slot = reserved(&cluster, USER, 2, "now,now+30minutes");
    let name = slot["name"].as_str().unwrap_or_else(|| panic!("{slot}")).to_owned();
    let made = reservation(&cluster, &name).unwrap();
    for field in ["NodeCnt=2", "Users=games", "Accounts=main", "PURGE_COMP", "NO_HOLD_JOBS_AFTER_END", "REPLACE_DOWN"] {
        assert!(made.contains(field), "{field}: {made}");
    }
    let in_it = format!("--reservation={name}");
    let job = cluster.submit_for(USER, &["-N2", "-t5", &in_it], "sleep 3").job();
    assert!(cluster.submit_for(OTHER, &["-N1", "-t5", &in_it], "true").refusal().contains("denied"), "another user's job");
    assert_eq!(job.end(PATIENCE), "COMPLETED");
    wait_for("the slot to be over", Duration::from_secs(90), || (state_of(&cluster, USER, &slot["id"]) == "used").then_some(()));
    wait_for("nothing to be reserved", PATIENCE, || is_free(&cluster));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_is_cancelled_by_its_user_and_seen_by_nobody_else() {
    let cluster = site();
    let _daemon = cluster.start_queuecastd();
    let slot = reserved(&cluster, USER, 1, "now+1hour,now+3hours");
    let id = slot["id"].to_string();
    assert_eq!(slot["state"], "movable", "{slot}");
    assert!(slots(&cluster, OTHER).is_empty());
    let by_another = queuecast(&cluster, OTHER, &["reservations", "cancel", &id]);
    assert_eq!(by_another.status.code(), Some(1), "{}", said(&by_another));
    assert!(reservation(&cluster, slot["name"].as_str().unwrap()).is_some());
    // The site gives a user two at a time.
    let second = reserved(&cluster, USER, 1, "now+1hour,now+3hours");
    let third = reserved(&cluster, USER, 1, "now+1hour,now+3hours");
    assert!(third["refused"]["reason"].as_str().unwrap().contains("a user may have 2 firm slots"), "{third}");
    for slot in [&slot, &second] {
        let cancelled = queuecast(&cluster, USER, &["reservations", "cancel", &slot["id"].to_string()]);
        assert!(cancelled.status.success(), "{}", said(&cancelled));
        assert_eq!(reservation(&cluster, slot["name"].as_str().unwrap()), None);
    }
    assert!(is_free(&cluster).is_some(), "{}", reservations(&cluster));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_outlives_a_daemon_that_is_killed_and_is_replaced_where_somebody_deletes_its_reservation() {
    let cluster = site();
    let daemon = cluster.start_queuecastd();
    let slot = reserved(&cluster, USER, 1, "now+1hour,now+4hours");
    let name = slot["name"].as_str().unwrap().to_owned();
    drop(daemon);
    let _ = cluster.output("scontrol", &["delete", &format!("reservationname={name}")]);
    let _daemon = cluster.start_queuecastd();
    wait_for("another reservation", PATIENCE, || reservation(&cluster, &name));
    let again = wait_for("the slot to be listed", PATIENCE, || slots(&cluster, USER).into_iter().find(|listed| listed["moved"] == 1));
    assert_eq!((&again["id"], &again["state"]), (&slot["id"], &Value::from("movable")));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_with_a_window_starts_in_its_slot_before_those_that_stand_ahead_of_it() {
    let cluster = site();
    // Two of eight nodes become free, and six jobs of a minute wait for them one after the other.
    let _running = cluster.submit(&["-N6", "-t60", "--exclusive"], "sleep 3000").job();
    let _last = cluster.submit(&["-N2", "-t1", "--exclusive"], "sleep 40").job();
    let waiting = [(); 6].map(|()| cluster.submit(&["-N2", "-t1", "--exclusive"], "sleep 50").job());
    let _daemon = cluster.start_queuecastd();
    cluster.snapshot_with("one with the waiting jobs", |snapshot| snapshot.plan().is_some_and(|plan| plan.pending_jobs == 6));
    // The first that waits may run until two minutes from now, and a slot has a minute of lead.
    let begin = now() + 200;
    let window = format!("--reserve-window=uts{begin},uts{}", begin + 150);
    let job = cluster.submit_for(USER, &["-N2", "-t1", "--exclusive", &window, "--reserve-notice=10s"], "sleep 5").job();
    let mut seen = Vec::new();
    let slot = wait_for("the slot to be used", Duration::from_secs(360), || {
        let slot = slots(&cluster, USER).pop()?;
        let state = slot["state"].as_str()?.to_owned();
        if seen.last() != Some(&state) {
            seen.push(state.clone());
        }
        matches!(&*state, "used" | "early" | "returned" | "lost" | "refused").then_some(slot)
    });
    let record = job.field("AdminComment");
    assert_eq!(slot["state"], "used", "{seen:?} {slot} {record}");
    assert!(seen.contains(&"attached".to_owned()) || seen.contains(&"running".to_owned()), "{seen:?}");
    let start: i64 = cluster.output("date", &["-d", &job.field("StartTime"), "+%s"]).parse().unwrap();
    let reserved = slot["start"].as_i64().unwrap();
    assert!((reserved..reserved + 60).contains(&start) && reserved >= begin, "{start} {slot}");
    let states = waiting.map(|job| job.field("JobState"));
    assert!(states.contains(&"PENDING".to_owned()), "{states:?}");
    wait_for("nothing to be reserved", PATIENCE, || is_free(&cluster));
    assert!(job.explained().contains("firm slot"), "{}", job.explained());
    assert_eq!(reported(&cluster, 1)["kept"], 1);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_is_reserved_for_a_job_goes_with_it_and_a_job_that_is_held_keeps_none() {
    let cluster = site();
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let submit = || {
        let job = cluster.submit_for(USER, &["-N2", "-t10", "--exclusive", "--reserve-window=now+1hour,now+3hours"], "sleep 5").job();
        wait_for("nodes to be reserved", PATIENCE, || {
            let slots = slots(&cluster, USER);
            let slot = slots.iter().find(|slot| slot["job_id"] == job.id.parse::<u64>().unwrap())?;
            reservation(&cluster, slot["name"].as_str()?).map(drop)
        });
        job
    };
    let cancelled = submit();
    cancelled.cancel();
    wait_for("nothing to be reserved after a cancellation", PATIENCE, || is_free(&cluster));
    let held = submit();
    let _ = cluster.output("scontrol", &["hold", &held.id]);
    wait_for("nothing to be reserved for a held job", PATIENCE, || is_free(&cluster));
    wait_for("the record to say so", PATIENCE, || held.field("AdminComment").contains("\"returned\"").then_some(()));
    held.cancel();
    let firm = reported(&cluster, 2);
    assert_eq!((&firm["returned"], &firm["cancelled"]), (&1.into(), &1.into()), "{firm}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_job_that_is_put_back_into_the_queue_while_it_runs_in_its_slot_gets_another_and_runs_again() {
    let cluster = site_with("gap = \"1m\"\n");
    // slurmctld puts a requeued job off by so long, which is two minutes by default
    // (`batch_requeue_fini` in src/slurmctld/job_mgr.c).
    let munge = cluster.path("run/munge.socket");
    cluster.reconfigure(&["--conf-line", &format!("AuthInfo=socket={},cred_expire=5", munge.display())]);
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    // Two of eight nodes are free, and from the begin of the window on jobs of a minute wait for
    // them one after the other.
    let _running = cluster.submit(&["-N6", "-t60", "--exclusive"], "sleep 3000").job();
    let begin = now() + 90;
    let begins = format!("--begin=uts{begin}");
    let waiting = [(); 6].map(|()| cluster.submit(&["-N2", "-t1", "--exclusive", &begins], "sleep 50").job());
    cluster.snapshot_with("one with the waiting jobs", |snapshot| snapshot.plan().is_some_and(|plan| plan.pending_jobs == 6));
    // After the requeue the first two of them may run for two minutes, and a slot has a minute of
    // lead.
    let window = format!("--reserve-window=uts{begin},uts{}", begin + 300);
    let script = "[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 50; sleep 2";
    let job = cluster.submit_for(USER, &["-N2", "-t1", "--exclusive", &window, "--reserve-notice=10s"], script).job();
    let slot_in = |state: &'static str| {
        wait_for(state, Duration::from_secs(360), || {
            let slot = slots(&cluster, USER).pop()?;
            let found = slot["state"].as_str()?;
            assert!(found == state || !["used", "early", "returned", "lost", "refused", "cancelled"].contains(&found), "{slot}");
            (found == state).then_some(slot)
        })
    };
    let given = wait_for("nodes to be reserved", PATIENCE, || slots(&cluster, USER).pop().filter(|slot| !slot["name"].is_null()));
    // The first one is to be early in the window, which an operator sees to.
    let early = cluster.output("date", &["-d", &format!("@{begin}"), "+starttime=%Y-%m-%dT%H:%M:%S"]);
    let _ = cluster.output("scontrol", &["update", &format!("reservationname={}", given["name"].as_str().unwrap()), &early]);
    let first = slot_in("running");
    assert_eq!(first["start"], begin, "{first}");
    let _ = cluster.output("scontrol", &["requeue", &job.id]);
    let another =
        wait_for("another slot", PATIENCE, || slots(&cluster, USER).pop().filter(|slot| slot["moved"] == 1 && !slot["name"].is_null()));
    assert!(another["start"].as_i64() > first["start"].as_i64(), "{another} {first}");
    let second = slot_in("used");
    assert_eq!((job.field("JobState").as_str(), job.field("Restarts").as_str()), ("COMPLETED", "1"));
    let start: i64 = cluster.output("date", &["-d", &job.field("StartTime"), "+%s"]).parse().unwrap();
    let reserved = second["start"].as_i64().unwrap();
    assert!((reserved..reserved + 60).contains(&start) && reserved >= begin, "{start} {second}");
    let states = waiting.map(|job| job.field("JobState"));
    assert!(states.contains(&"PENDING".to_owned()), "it ran before those that stood ahead of it: {states:?}");
    wait_for("nothing to be reserved", PATIENCE, || is_free(&cluster));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn whoever_wants_mail_of_failures_is_told_of_a_slot_that_somebody_takes_away_and_nobody_else_is() {
    let cluster = site();
    let (program, sent) = (cluster.path("log/mail-program"), cluster.path("log/mails"));
    fs::write(&program, format!("#!/bin/sh\n(printf '%s|' \"$@\"; echo) >> '{}'\n", sent.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    cluster.reconfigure(&["--conf-line", &format!("MailProg={}", program.display())]);
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let of = |job: &str| {
        let slots = [slots(&cluster, USER), slots(&cluster, OTHER)].concat();
        slots.into_iter().find(|slot| slot["job_id"] == job.parse::<u64>().unwrap())
    };
    let submit = |user: &str, mail: &[&str]| {
        let arguments = ["-N2", "-t10", "--exclusive", "--reserve-window=now+1hour,now+3hours"];
        let job = cluster.submit_for(user, &[&arguments, mail].concat(), "sleep 5").job();
        wait_for("nodes to be reserved", PATIENCE, || of(&job.id).filter(|slot| !slot["name"].is_null()));
        job
    };
    let take_away = |job: &str| {
        let name = of(job).unwrap()["name"].as_str().unwrap().to_owned();
        let _ = cluster.output("scontrol", &["delete", &format!("reservationname={name}")]);
        wait_for("another slot", PATIENCE, || of(job).filter(|slot| slot["moved"] == 1 && !slot["name"].is_null()));
    };
    let silent = submit(USER, &["--mail-type=BEGIN"]);
    let hostile = submit(OTHER, &["--mail-type=ALL", "--mail-user=|touch /tmp/x"]);
    let told = submit(USER, &["--mail-type=FAIL"]);
    for job in [&silent, &hostile, &told] {
        take_away(&job.id);
    }
    let mails = |count: usize| {
        wait_for("mail", PATIENCE, || {
            let mails = fs::read_to_string(&sent).ok()?;
            (mails.lines().count() >= count).then_some(mails)
        })
    };
    let subject = format!("Slurm Job_id={}", told.id);
    let first = format!("-s|{subject} Firm slot replaced by another: its reservation is not there any more|{USER}|\n");
    assert_eq!(mails(1), first, "those before it would have been sent first");
    let _ = cluster.output("scontrol", &["hold", &told.id]);
    let second = format!("-s|{subject} Firm slot returned: the job is held; or waits for other jobs|{USER}|\n");
    assert_eq!(mails(2), first + &second);
    for job in [silent, hostile, told] {
        job.cancel();
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn in_observe_log_and_report_have_the_slot_that_would_have_been_reserved_and_nothing_is_made() {
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}{}", POLICY.replace("enforce", "observe"))));
    // The job is to wait: in this mode its begin time stays as it is.
    let _running = cluster.submit(&["-N8", "-t30", "--exclusive"], "sleep 1500").job();
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let job = cluster.submit_for(USER, &["-N2", "-t10", "--exclusive", "--reserve-window=now+1hour,now+3hours"], "sleep 5").job();
    let line = wait_for("the slot to be logged", PATIENCE, || {
        cluster.log("queuecastd").lines().find(|line| line.contains("would reserve a firm slot")).map(str::to_owned)
    });
    assert!(line.contains(&job.id), "{line}");
    assert_eq!(is_free(&cluster), Some(()), "{}", reservations(&cluster));
    let report: Value = serde_json::from_str(&cluster.output("queuecast", &["report", "reservations", "--json"])).unwrap();
    assert_eq!((&report["firm"]["observed"], &report["firm"]["slots"]), (&1.into(), &0.into()), "{report}");
    assert_eq!((&report["firm"]["would_reserve"], &report["firm"]["would_refuse"]), (&1.into(), &0.into()), "{report}");
    let record = job.field("AdminComment");
    assert!(!record.contains("\"changed\""), "the job is as it was submitted: {record}");
    job.cancel();
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_slot_moves_out_of_the_way_once_a_job_has_ended_far_before_its_time_limit() {
    let cluster = site();
    let ends_early = cluster.submit(&["-N1", "-t180", "--exclusive"], "sleep 3000").job();
    wait_for("the job to run", PATIENCE, || (ends_early.field("JobState") == "RUNNING").then_some(()));
    let _daemon = cluster.start_queuecastd();
    // Four of the other seven nodes. The job that comes then needs all of them, and the one that
    // runs keeps it longer than the slot does.
    let slot = reserved(&cluster, USER, 4, "now+2hours,now+10hours");
    assert_eq!(slot["state"], "movable", "{slot}");
    let of_all = cluster.submit(&["-N8", "-t240", "--exclusive"], "sleep 3000").job();
    cluster.snapshot_with("one with the waiting job", |snapshot| snapshot.plan().is_some_and(|plan| plan.pending_jobs == 1));
    ends_early.cancel();
    let moved = wait_for("the slot to move", PATIENCE, || slots(&cluster, USER).into_iter().find(|slot| slot["moved"] == 1));
    assert!(moved["start"].as_i64() >= Some(now() + 4 * 3_600 - 120), "{moved}");
    assert!(moved["end"].as_i64() <= moved["window"]["latest"].as_i64(), "{moved}");
    let there = reservation(&cluster, moved["name"].as_str().unwrap()).unwrap();
    let begins = cluster.output("date", &["-d", &format!("@{}", moved["start"]), "+StartTime=%Y-%m-%dT%H:%M:%S"]);
    assert!(there.contains(&begins), "{begins}: {there}");
    wait_for("the job of all nodes to run", PATIENCE, || (of_all.field("JobState") == "RUNNING").then_some(()));
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn another_reservation_takes_the_place_of_one_whose_nodes_are_to_be_maintained_and_nothing_is_made_while_off() {
    let cluster = site();
    let _daemon = cluster.start_queuecastd();
    let slot = reserved(&cluster, USER, 2, "now+1hour,now+4hours");
    let name = slot["name"].as_str().unwrap();
    let nodes_of = |reservation: &str| {
        let nodes = reservation.split_whitespace().find_map(|field| field.strip_prefix("Nodes="));
        nodes.unwrap_or_else(|| panic!("{reservation}")).to_owned()
    };
    let nodes = nodes_of(&reservation(&cluster, name).unwrap());
    let starts = cluster.output("date", &["-d", &format!("@{}", slot["start"]), "+starttime=%Y-%m-%dT%H:%M:%S"]);
    let of_repair = ["create", "reservation", "reservationname=repair", &starts, "duration=5", "user=root", "flags=maint,ignore_jobs"];
    let off = cluster.state_directory().join("off");
    fs::write(&off, "").unwrap();
    let refused = queuecast(&cluster, USER, &["reserve", "--between", "now+1hour,now+4hours", "-N1", "-t10"]);
    assert!(!refused.status.success() && said(&refused).contains("switched off"), "{}", said(&refused));
    let _ = cluster.output("scontrol", &[&of_repair[..], &[&format!("nodes={nodes}")]].concat());
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(slots(&cluster, USER)[0]["moved"], 0, "nothing is moved while off");
    fs::remove_file(off).unwrap();
    let another = wait_for("another reservation", PATIENCE, || slots(&cluster, USER).into_iter().find(|slot| slot["moved"] == 1));
    let there = reservation(&cluster, name).unwrap();
    assert!(nodes_of(&there) != nodes || another["start"] != slot["start"], "{there} {another}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn nodes_that_fail_are_replaced_while_others_are_free_and_otherwise_the_slot_is_lost_and_its_job_as_was_asked() {
    let cluster = site();
    let _daemon = cluster.start_queuecastd();
    cluster.wait_for_snapshot();
    let begin = now() + 100;
    let window = format!("--reserve-window=uts{begin},uts{}", begin + 150);
    let arguments = ["-N4", "-t1", "--exclusive", &window, "--reserve-notice=10s", "--if-refused=cancel"];
    // All nodes are taken, so that the job waits for its slot.
    let _running = cluster.submit(&["-N8", "-t1", "--exclusive"], "sleep 55").job();
    let _next = cluster.submit(&["-N8", "-t1", "--exclusive"], "sleep 50").job();
    let job = cluster.submit_for(USER, &arguments, "sleep 5").job();
    let slot_with_nodes = || slots(&cluster, USER).pop().filter(|slot| !slot["name"].is_null());
    let slot = wait_for("nodes to be reserved", PATIENCE, slot_with_nodes);
    let name = slot["name"].as_str().unwrap();
    let first = cluster.output(
        "bash",
        &[
            "-c",
            &format!(
                "scontrol -o show reservation {name} | grep -o ' Nodes=[^ ]*' | cut -d= -f2 | xargs scontrol show hostnames | head -n1"
            ),
        ],
    );
    let drain = |node: &str| cluster.output("scontrol", &["update", &format!("nodename={node}"), "state=drain", "reason=tried"]);
    let _ = drain(&first);
    wait_for("slurmctld to replace a node", PATIENCE, || {
        let there = reservation(&cluster, name)?;
        let nodes = cluster.output(
            "bash",
            &["-c", &format!("scontrol show hostnames $(scontrol -o show reservation {name} | grep -o ' Nodes=[^ ]*' | cut -d= -f2)")],
        );
        (there.contains("NodeCnt=4") && !nodes.lines().any(|node| node == first)).then_some(())
    });
    assert_eq!(slots(&cluster, USER)[0]["moved"], 0, "it is the same slot");
    for node in ["n1", "n2", "n3", "n4", "n5"] {
        let _ = drain(node);
    }
    let lost = wait_for("the slot to be lost", Duration::from_secs(240), || {
        slots(&cluster, USER).into_iter().find(|slot| slot["state"] == "lost")
    });
    assert!(lost["refused"]["reason"].as_str().is_some_and(|reason| reason.contains("are down")), "{lost}");
    wait_for("the job to be cancelled", PATIENCE, || (job.field("JobState") == "CANCELLED").then_some(()));
    assert!(is_free(&cluster).is_some(), "{}", reservations(&cluster));
}
