//! Parts on two real clusters that are had together or not at all, whatever happens on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use end_to_end::{Cluster, PATIENCE, SCENARIO, TwoClusters, now, wait_for};
use serde_json::Value;

/// Users without any privilege; each has ten probes and reservations a minute.
const USERS: [&str; 4] = ["games", "man", "mail", "news"];

/// Sites that give firm slots to everybody.
const POLICY: &str = "[policy]\nmode = \"enforce\"\n[changes]\nper_second = 20\n[[firm]]\nahead = \"2d\"\nmost_nodes = 4\nshare = 1.0\n\
                      most_active = { user = 40 }\n";

/// Longer than a part is kept that is not confirmed, and until the cluster that decides is asked.
const SETTLED_WITHIN: Duration = Duration::from_secs(120 + 60);

/// What is asked for: a part on each cluster, in twenty minutes that are so many half hours away.
fn asked(place: i64) -> Vec<String> {
    let earliest = now() + 3_600 + place * 1_800;
    let window = format!("--between=uts{earliest},uts{}", earliest + 1_200);
    let words = ["reserve", &window, "--parts=east:2,west:3", "--together", "-t10", "--exclusive", "--json"];
    words.map(str::to_owned).into()
}

fn run(two: &TwoClusters, user: &str, arguments: &[String]) -> Output {
    two.command(user, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// All that is reserved on a cluster.
fn reserved(cluster: &Cluster) -> String {
    String::from_utf8_lossy(&cluster.run("scontrol", &["-o", "show", "reservations"]).stdout).into_owned()
}

/// The slots of all users that are not over, with what they are known by.
fn parts(two: &TwoClusters, cluster: &Cluster) -> Vec<Value> {
    let mut command = cluster.prepare(two.east.path("queuecast-for-users").to_str().unwrap());
    let listed = report(&command.args(["--here", "reservations", "--json"]).output().unwrap());
    let of_list = listed["reservations"].as_array().cloned().unwrap_or_default();
    let is_over = |slot: &Value| ["used", "early", "returned", "refused", "lost", "cancelled"].contains(&slot["state"].as_str().unwrap());
    of_list.into_iter().filter(|slot| slot["kind"] == "firm" && !is_over(slot)).collect()
}

/// Whether the part of a token is reserved on a cluster, as its daemon lists it and as Slurm has
/// it. A daemon that has just been started knows no names yet.
fn stands(two: &TwoClusters, cluster: &Cluster, token: &str) -> bool {
    wait_for("what is listed to be what is reserved", PATIENCE, || {
        let slot = parts(two, cluster).into_iter().find(|slot| slot["together"] == token);
        let name = slot.as_ref().and_then(|slot| slot["name"].as_str());
        let is_there = name.is_some_and(|name| reserved(cluster).contains(name));
        (slot.is_some() == is_there).then_some(is_there)
    })
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn parts_are_reserved_for_the_same_start_or_nothing_stays_reserved() {
    let two = TwoClusters::up(POLICY);
    let output = run(&two, USERS[0], &asked(0));
    let kept = report(&output);
    assert!(output.status.success(), "{kept} {output:?}");
    assert_eq!((&kept["nodes"], &kept["refused"], &kept["not_known"]), (&5.into(), &Value::Null, &Value::Null), "{kept}");
    let parts_of = kept["parts"].as_array().unwrap();
    assert_eq!(parts_of.len(), 2, "{kept}");
    for (part, cluster, nodes) in [(&parts_of[0], &two.east, 2), (&parts_of[1], &two.west, 3)] {
        assert_eq!((&part["nodes"], &part["confirmed"], &part["start"]), (&nodes.into(), &true.into(), &kept["start"]), "{kept}");
        let there = reserved(cluster);
        let line = there.lines().find(|line| line.contains(part["name"].as_str().unwrap())).unwrap();
        assert!(line.contains(&format!("NodeCnt={nodes}")), "{line}");
        let begins = cluster.output("date", &["-d", &format!("@{}", part["start"]), "+StartTime=%Y-%m-%dT%H:%M:%S"]);
        assert!(line.contains(begins.trim()), "{line}");
        // They are given back as the answer says.
        let cancel = format!("{} reservations cancel {}", part["command"].as_str().unwrap(), part["id"]);
        let cancelled = two.east.prepare_for(USERS[0], "sh").args(["-c", &cancel]).output().unwrap();
        assert!(cancelled.status.success(), "{cancelled:?}");
        assert!(!reserved(cluster).contains(part["name"].as_str().unwrap()));
    }

    let of_people: Vec<String> = asked(1).into_iter().filter(|word| word != "--json").collect();
    let shown = String::from_utf8(run(&two, USERS[1], &of_people).stdout).unwrap();
    assert!(shown.contains("Cluster east") && shown.contains("Cluster west") && shown.contains("srun --reservation="), "{shown}");

    // Nodes lack on west: what east has reserved is given back.
    let begins = now() + 3_600 + 2 * 1_800;
    let start = two.west.output("date", &["-d", &format!("@{begins}"), "+starttime=%Y-%m-%dT%H:%M:%S"]);
    two.hook(
        "lost",
        r#"if [ "$cluster $verb" = "west reserve" ]; then touch $signs/asking; while [ ! -e $signs/taken ]; do sleep 0.1; done; fi"#,
    );
    let words = asked(2);
    let mut command = two.command(USERS[2], &words.iter().map(String::as_str).collect::<Vec<_>>());
    command.env(SCENARIO, "lost");
    let asking = thread::spawn(move || command.output().unwrap());
    wait_for("west to be asked", PATIENCE, || two.sign("asking").exists().then_some(()));
    assert_eq!(reserved(&two.east).matches("ReservationName=queuecast-").count(), 2, "{}", reserved(&two.east));
    let taken = ["create", "reservation", "reservationname=taken", start.trim(), "duration=60", "nodes=ALL", "users=root"];
    assert!(two.west.run("scontrol", &taken).status.success());
    fs::write(two.sign("taken"), "").unwrap();
    let output = asking.join().unwrap();
    let lost = report(&output);
    assert_eq!((output.status.code(), &lost["parts"]), (Some(1), &Value::Array(Vec::new())), "{lost}");
    assert!(lost["tried"].as_array().is_some_and(|tried| !tried.is_empty()), "{lost}");
    for cluster in [&two.east, &two.west] {
        assert_eq!(reserved(cluster).matches("ReservationName=queuecast-").count(), 1, "of the parts before: {}", reserved(cluster));
    }

    for (more, said) in [
        (&["--parts=east:2", "--together"][..], "one part alone"),
        (&["--parts=east:2,west:3", "--together", "-N2"][..], "--parts says how many nodes"),
        (&["--parts=east:2,south:3", "--together"][..], "it is not known how south is asked"),
        (&["--parts=east:2,west:3"][..], "--together"),
        (&["--parts=east:2,east:3", "--together"][..], "named twice"),
    ] {
        let output = two.command(USERS[3], &[&["reserve", "--between=now+1hour,now+2hours", "-t10"], more].concat()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(said), "{error}");
    }
}

/// What happens to a request, and where.
struct Fault {
    name: String,
    lines: String,
    is_kept: bool,
}

/// At each step the client is killed once the cluster has done it, which is before the next one; or
/// the path to the cluster is cut before or after, for the client and for the daemon of the other
/// cluster.
fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (step, decided) in [("east reserve", false), ("west reserve", false), ("east confirm", true), ("west confirm", true)] {
        for (when, what) in [("after", "killed"), ("before", "cut"), ("after", "cut")] {
            let name = format!("{}-{when}-{what}", step.replace(' ', "-"));
            let done = if when == "after" { "answer \"$@\" >/dev/null; " } else { "" };
            let fault = if what == "killed" { "kill -9 $PPID".to_owned() } else { format!("touch $signs/cut-{name}-$cluster") };
            let lines = format!("if [ \"$cluster $verb\" = \"{step}\" ]; then {done}touch $signs/hit-{name}; {fault}; exit 255; fi\n");
            let is_kept = decided && (step == "west confirm" || when == "after");
            faults.push(Fault { name, lines, is_kept });
        }
    }
    faults
}

fn begin(two: &TwoClusters, place: usize, scenario: &str) -> Child {
    let words = asked(place.try_into().unwrap());
    let mut command = two.command(USERS[place % USERS.len()], &words.iter().map(String::as_str).collect::<Vec<_>>());
    command.env(SCENARIO, scenario).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn whoever_is_killed_or_cut_off_at_any_step_all_parts_are_kept_or_none() {
    let mut two = TwoClusters::up(POLICY);
    let faults = faults();
    let mut clients = Vec::new();
    for (place, fault) in faults.iter().enumerate() {
        two.hook(&fault.name, &fault.lines);
        clients.push(begin(&two, place, &fault.name));
        // A user has ten probes, reservations and cancellations a minute.
        thread::sleep(Duration::from_secs(5));
    }
    for fault in &faults {
        wait_for(&fault.name, PATIENCE, || two.sign(&format!("hit-{}", fault.name)).exists().then_some(()));
    }
    // The daemon of the cluster that decides is killed before it could, and stays away until its
    // time is over; so that the other one has nobody to ask.
    let waits = |step: &str, name: &str| {
        format!(
            "if [ \"$cluster $verb\" = \"{step}\" ]; then touch $signs/hit-{name}; while [ ! -e $signs/go-{name} ]; do sleep 0.1; done; fi\n"
        )
    };
    two.hook("away", &waits("east confirm", "away"));
    clients.push(begin(&two, faults.len(), "away"));
    wait_for("the parts to stand", PATIENCE, || two.sign("hit-away").exists().then_some(()));
    two.east_daemon = None;
    fs::write(two.sign("go-away"), "").unwrap();
    let until = now() + 125;
    wait_for("the time of all parts to be over", SETTLED_WITHIN, || (now() >= until).then_some(()));
    assert!(stands(&two, &two.west, &two.tokens("away")[0]), "west can't know what east has decided");
    // Whoever is cut off now reaches the clusters again.
    for fault in &faults {
        for cluster in ["east", "west"] {
            let _ = fs::remove_file(two.sign(&format!("cut-{}-{cluster}", fault.name)));
        }
        let _ = fs::remove_file(two.sign(&format!("hook-{}", fault.name)));
    }
    two.east_daemon = Some(two.east.start_queuecastd());
    for mut client in clients {
        wait_for("the clients to end", SETTLED_WITHIN, || client.try_wait().unwrap());
    }
    let is_settled = |cluster: &Cluster| parts(&two, cluster).iter().all(|slot| slot["confirm_by"].is_null());
    wait_for("all to be decided", SETTLED_WITHIN, || (is_settled(&two.east) && is_settled(&two.west)).then_some(()));
    let expected = faults.iter().map(|fault| (&*fault.name, fault.is_kept)).chain([("away", false)]);
    let mut wrong = Vec::new();
    for (scenario, is_kept) in expected {
        for (attempt, token) in two.tokens(scenario).iter().enumerate() {
            let found = [&two.east, &two.west].map(|cluster| stands(&two, cluster, token));
            // One that finds the path back may try another start, and have it.
            let is_right = if attempt == 0 { found == [is_kept; 2] } else { found[0] == found[1] };
            if !is_right {
                wrong.push(format!("{scenario}, attempt {attempt}: east and west have {found:?}, kept should be {is_kept}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\neast: {}\nwest: {}", two.east.log("queuecastd"), two.west.log("queuecastd"));

    // A daemon that is killed between two steps goes on where it was.
    for (place, (step, is_west)) in [("east confirm", true), ("east confirm", false), ("west confirm", false)].into_iter().enumerate() {
        let name = format!("restarted-{place}");
        two.hook(&name, &waits(step, &name));
        let client = begin(&two, faults.len() + 1 + place, &name);
        wait_for("the parts to stand", PATIENCE, || two.sign(&format!("hit-{name}")).exists().then_some(()));
        if is_west {
            two.west_daemon = None
        } else {
            two.east_daemon = None
        }
        fs::write(two.sign(&format!("go-{name}")), "").unwrap();
        thread::sleep(Duration::from_secs(2));
        if is_west {
            two.west_daemon = Some(two.west.start_queuecastd());
        } else {
            two.east_daemon = Some(two.east.start_queuecastd());
        }
        let output = client.wait_with_output().unwrap();
        let tokens = two.tokens(&name);
        assert!(output.status.success(), "{name}: {} {}", report(&output), two.east.log("queuecastd"));
        // A daemon that is only just starting lists nothing.
        let stand = || [&two.east, &two.west].into_iter().all(|cluster| stands(&two, cluster, &tokens[0]));
        wait_for(&name, PATIENCE, || stand().then_some(()));
    }
}
