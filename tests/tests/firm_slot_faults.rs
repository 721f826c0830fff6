//! Firm slots among faults: whatever is asked for and whatever happens meanwhile, each slot ends,
//! and nothing of it is left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use end_to_end::{Cluster, Daemon, Options, QUICK, now, wait_at_most};
use serde_json::Value;

/// How many slots are asked for, unless [`REQUESTS_VARIABLE`] says it.
const REQUESTS: u64 = 12;
/// The variable that says how many.
const REQUESTS_VARIABLE: &str = "QUEUECAST_SLOT_REQUESTS";
/// The users who ask, without any privilege.
const USERS: [&str; 3] = ["games", "man", "mail"];
/// A user whom the site gives nothing.
const STRANGER: &str = "news";
/// So many nodes that many slots are to be had, and so few that many are not.
const NODES: &str = "24";
/// The CPUs of each node of the cluster.
const CPUS_OF_A_NODE: i64 = 4;
/// By how many seconds the daemon and slurmdbd may differ about a reservation: each looks at its
/// own clock, and one that slurmctld is too busy to delete is deleted later.
const DIFFER_AT_MOST: i64 = 40;
/// The longest that something of a slot may be left once its window has passed: its time limit, the
/// two minutes beyond, and half a minute of Slurm's.
const LEFT_AT_MOST: Duration = Duration::from_secs(240);

const POLICY: &str = "[policy]\nmode = \"enforce\"\n[changes]\nper_second = 50\n[[firm]]\nusers = [\"games\", \"man\", \"mail\"]\n\
                      ahead = \"1d\"\nmost_nodes = 4\nidle = \"1m\"\nnotice = \"1m\"\n";

/// Numbers that are the same in each run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's constants for a linear congruential generator of 64 bits.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

struct Site {
    cluster: Cluster,
    draws: Draws,
    daemon: Option<Daemon>,
    jobs: Vec<String>,
    /// Jobs that were held here.
    held: Vec<String>,
}

impl Site {
    fn api(&self, user: &str, path: &str, body: Option<&str>) -> Value {
        let socket = self.cluster.state_directory().join("api-socket");
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "curl", "-s", "--max-time", "40", "--unix-socket"]).arg(socket);
        command.arg(format!("http://localhost{path}"));
        if let Some(body) = body {
            command.args(["-d", body]);
        }
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap_or(Value::Null)
    }

    fn slots(&self) -> Vec<Value> {
        self.api("root", "/v1/reservations", None)["slots"].as_array().cloned().unwrap_or_default()
    }

    fn scontrol(&self, arguments: &[&str]) -> Output {
        self.cluster.run("scontrol", arguments)
    }

    /// Asks for a slot of up to four nodes for a minute, with a job or without.
    fn ask(&mut self) {
        let user = USERS[self.draws.below(3) as usize];
        let nodes = 1 + self.draws.below(4);
        let earliest = now() + self.draws.below(60) as i64;
        let latest = earliest + 70 + self.draws.below(160) as i64;
        if self.draws.below(3) == 0 {
            let body = format!(r#"{{"nodes":{nodes},"limit_s":60,"earliest":{earliest},"latest":{latest},"notice_s":30}}"#);
            self.api(user, "/v1/reserve", Some(&body));
        } else {
            let window = format!("--reserve-window=uts{earliest},uts{latest}");
            let if_refused = if self.draws.below(2) == 0 { "--if-refused=cancel" } else { "--if-refused=run" };
            let nodes = format!("-N{nodes}");
            let arguments = [&*nodes, "-t1", "--exclusive", &window, "--reserve-notice=20s", if_refused];
            let mut sbatch = self.cluster.prepare_for(user, "sbatch");
            sbatch.args(["--parsable", "-o/dev/null"]).args(arguments).args(["--wrap", "sleep 20"]);
            let output = sbatch.output().unwrap();
            if output.status.success() {
                self.jobs.push(String::from_utf8(output.stdout).unwrap().trim().to_owned());
            }
        }
    }

    /// A job that asks for nothing, so that the queue is never the same.
    fn submit_another(&mut self) {
        let (nodes, run) = (1 + self.draws.below(4), 5 + self.draws.below(40));
        let wrapped = format!("--wrap=sleep {run}");
        let _ = self.cluster.run("sbatch", &[&format!("-N{nodes}"), "-t1", "--exclusive", "-o/dev/null", "-Jother", &wrapped]);
    }

    /// The node-seconds of slots' reservations in slurmdbd, by the number of the slot. One that was
    /// changed has several records.
    fn recorded_node_seconds(&self) -> BTreeMap<i64, i64> {
        let listed = self.cluster.output("sacctmgr", &["-nP", "show", "reservation", "format=name,start,end,tres"]);
        let at = |time: &str| self.cluster.output("date", &["-d", time, "+%s"]).parse::<i64>().unwrap();
        let mut recorded = BTreeMap::new();
        for line in listed.lines().filter(|line| line.starts_with("queuecast-")) {
            let mut fields = line.split('|');
            let slot: i64 = fields.next().unwrap().split('-').nth(1).unwrap().parse().unwrap();
            let (start, end, cpus) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
            let cpus: i64 = cpus.strip_prefix("cpu=").and_then(|cpus| cpus.parse().ok()).unwrap_or_else(|| panic!("{listed}"));
            *recorded.entry(slot).or_default() += (at(end) - at(start)).max(0) * cpus / CPUS_OF_A_NODE;
        }
        recorded
    }

    /// Something goes wrong, or somebody changes something.
    fn fault(&mut self) {
        let job = self.jobs.last().cloned().unwrap_or_else(|| "1".to_owned());
        let slot = self.slots().into_iter().rev().find(|slot| !slot["name"].is_null());
        let name = slot.and_then(|slot| slot["name"].as_str().map(str::to_owned)).unwrap_or_default();
        match self.draws.below(9) {
            0 => drop(self.scontrol(&["delete", &format!("reservationname={name}")])),
            1 => drop(self.scontrol(&["update", &format!("reservationname={name}"), "duration=1"])),
            2 => drop(self.cluster.run("scancel", &[&job])),
            3 => {
                let _ = self.scontrol(&["hold", &job]);
                self.held.push(job);
            }
            4 => drop(self.scontrol(&["update", &format!("jobid={job}"), "timelimit=2"])),
            5 => drop(self.scontrol(&["requeue", &job])),
            6 => {
                // The daemon is killed at whatever step it is.
                self.daemon = None;
                self.daemon = Some(self.cluster.start_queuecastd());
            }
            7 => {
                self.cluster.kill("slurmctld");
                self.cluster.daemon("start", "slurmctld");
            }
            _ => {
                let _ = self.scontrol(&["update", "nodename=n2", "state=down", "reason=tried"]);
                std::thread::sleep(Duration::from_secs(3));
                let _ = self.scontrol(&["update", "nodename=n2", "state=resume"]);
            }
        }
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn whatever_happens_each_slot_ends_and_nothing_of_it_is_left() {
    let requests = std::env::var(REQUESTS_VARIABLE).map_or(REQUESTS, |requests| requests.parse().unwrap());
    let cluster = Cluster::up(&Options::with_plugins(&format!("{QUICK}{POLICY}")).option("nodes", NODES));
    let daemon = Some(cluster.start_queuecastd());
    cluster.wait_for_snapshot();
    let mut site = Site { cluster, draws: Draws(20_261_128), daemon, jobs: Vec::new(), held: Vec::new() };
    for request in 0..requests {
        site.ask();
        match request % 3 {
            0 => site.submit_another(),
            1 => {}
            _ => site.fault(),
        }
        std::thread::sleep(Duration::from_millis(500 + site.draws.below(2_500)));
    }
    let stranger = format!(r#"{{"nodes":1,"limit_s":60,"earliest":{},"latest":{}}}"#, now(), now() + 600);
    let refused = wait_at_most(Duration::from_secs(30), || {
        let answer = site.api(STRANGER, "/v1/reserve", Some(&stranger));
        (answer["state"] == "refused").then_some(answer)
    });
    assert!(refused.is_some_and(|refused| refused["name"].is_null()), "who may not gets none");
    let _ = site.cluster.run("scancel", &["-n", "other"]);
    let open = |site: &Site| -> Vec<String> {
        let is_open = |slot: &&Value| {
            let state = slot["state"].as_str().unwrap_or_default();
            !["used", "early", "returned", "refused", "lost", "cancelled"].contains(&state)
        };
        let mut open: Vec<String> = site.slots().iter().filter(is_open).map(ToString::to_string).collect();
        let reserved = String::from_utf8(site.scontrol(&["-o", "show", "reservations"]).stdout).unwrap();
        open.extend(reserved.lines().filter(|line| line.contains("queuecast-")).map(str::to_owned));
        open
    };
    let patience = Duration::from_secs(60 + 230) + LEFT_AT_MOST;
    if wait_at_most(patience, || open(&site).is_empty().then_some(())).is_none() {
        panic!("left behind: {:#?}\n{}", open(&site), site.cluster.log("queuecastd"));
    }
    // No job waits for a reservation that is gone, and none is held that nobody held.
    let waiting = |site: &Site| -> Vec<String> {
        let waiting = site.cluster.output("squeue", &["-h", "-t", "PD", "-o", "%i|%v|%r"]);
        let is_held_here = |job: &str| site.held.iter().any(|held| held == job);
        let strange = waiting.lines().find(|line| {
            let mut parts = line.split('|');
            let (job, reservation, reason) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
            reservation.starts_with("queuecast-") || (reason.to_lowercase().contains("held") && !is_held_here(job))
        });
        assert_eq!(strange, None, "{waiting}");
        waiting.lines().map(|line| line.split('|').next().unwrap().to_owned()).filter(|job| !is_held_here(job)).collect()
    };
    if wait_at_most(Duration::from_secs(600), || waiting(&site).is_empty().then_some(())).is_none() {
        let jobs: Vec<String> = waiting(&site).iter().map(|job| site.cluster.output("scontrol", &["show", "job", job])).collect();
        panic!("these jobs wait for ever:\n{}\n{}", jobs.join("\n"), site.cluster.output("sinfo", &["-N", "-l"]));
    }
    let slots = site.slots();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for slot in &slots {
        let why = slot["refused"]["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
        *ends.entry(format!("{}{why}", slot["state"].as_str().unwrap_or_default())).or_default() += 1;
    }
    println!("{requests} requests: {} slots, which ended {ends:#?}", slots.len());
    assert!(!slots.is_empty(), "slots were asked for");
    for slot in slots.iter().filter(|slot| ["refused", "lost"].contains(&slot["state"].as_str().unwrap())) {
        assert!(slot["refused"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{slot}");
    }
    let recorded = site.recorded_node_seconds();
    let charged: BTreeMap<i64, i64> =
        slots.iter().filter_map(|slot| Some((slot["id"].as_i64()?, slot["charged_node_s"].as_i64()?))).filter(|slot| slot.1 > 0).collect();
    println!(
        "charged are {} node-seconds; slurmdbd has {} of {} slots",
        charged.values().sum::<i64>(),
        recorded.values().sum::<i64>(),
        recorded.len()
    );
    for slot in &slots {
        let id = slot["id"].as_i64().unwrap();
        let (ours, theirs) = (charged.get(&id).copied().unwrap_or(0), recorded.get(&id).copied().unwrap_or(0));
        // slurmdbd keeps what slurmctld forgot when it was killed before it had saved its state;
        // the slot is then given another reservation, or lost.
        let may_be_forgotten = slot["moved"].as_i64() > Some(0);
        let differ_at_most = DIFFER_AT_MOST * slot["nodes"].as_i64().unwrap();
        assert!(ours - theirs <= differ_at_most, "{ours} and {theirs}: {slot}");
        assert!(may_be_forgotten || theirs - ours <= differ_at_most, "{ours} and {theirs}: {slot}");
    }
    assert!(fs::read_to_string(site.cluster.path("log/queuecastd.log")).is_ok_and(|log| !log.contains("panicked")));
}
