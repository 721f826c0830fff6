//! Tests of the same nodes reserved on two clusters with one slurmdbd, by an ordinary user. One of
//! the two reservations is enough.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Daemon, Job, Options, PATIENCE, Past, QUICK, now, wait_for};
use job_types::record::Record;
use made_up_site::enforcing;
use serde_json::Value;
use std::time::Duration;

const USER: &str = "games";
const SOON: Duration = Duration::from_secs(120);

/// How many seconds after its time a program may begin on a machine that is busy.
const LATE_S: i64 = 10;

/// Two clusters, on each of which jobs of [`USER`] on two nodes are taken to have waited from 0 to
/// 99 s, for as long as no daemon publishes what it knows.
struct Two {
    // The one whose slurmdbd both use stops last.
    west: Cluster,
    east: Cluster,
}

impl Two {
    fn up() -> Two {
        let configuration = format!("{QUICK}[policy]\nmode = \"enforce\"\n");
        let east = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "east"));
        let accounting = east.directory().to_str().unwrap();
        let west = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "west").option("accounting-of", accounting));
        let two = Two { west, east };
        let user = two.east.output("id", &["-u", USER]).parse().unwrap();
        for cluster in two.all() {
            // A daemon without any past would leave a snapshot that has one in its place.
            cluster.run_jobs(1);
            cluster.publish_for(user, enforcing(), &[Past { nodes: 2, wait_s: 0, more_wait_s: 1, run_s: 100 }], &[]);
        }
        // Each daemon withdraws for jobs of clusters that its own configuration names, and no
        // others.
        two.east.configure(&format!("{configuration}[clusters]\nwest = {:?}\n", two.west.state_directory()));
        two.west.configure(&format!("{configuration}[clusters]\neast = {:?}\n", two.east.state_directory()));
        two
    }

    fn all(&self) -> [&Cluster; 2] {
        [&self.east, &self.west]
    }

    /// Asks for two nodes for a minute at a time on either, with a probability that neither has
    /// alone. The program writes a file that is called after the cluster.
    fn reserve(&self, at: i64) -> Value {
        let program = format!("date +%s > {}-$SLURM_CLUSTER_NAME; sleep 5", self.east.path("jobs/ran").display());
        let mut command = self.east.prepare_for(USER, "queuecast");
        command.args(["reserve", "--clusters=east,west", &format!("--at=uts{at}"), "-N2", "-t1", "--exclusive"]);
        command.args(["--probability=0.999", "--format=json", "--", "--output=/dev/null", "--comment=a comment", "--wrap", &program]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Reserves, and returns the two jobs.
    fn reserved(&self, at: i64) -> [Member<'_>; 2] {
        let report = self.reserve(at);
        assert_eq!(report["submitted"], true, "{report}");
        let job = |place: usize| report["clusters"][place]["submission"]["job"].as_u64().unwrap().to_string();
        let members = [Member { cluster: &self.east, id: job(0) }, Member { cluster: &self.west, id: job(1) }];
        for member in &members {
            let together = format!("a comment queuecast-joint=east:{},west:{}", members[0].id, members[1].id);
            assert!(member.shown().contains(&format!(" Comment={together} ")), "{}", member.shown());
            assert_eq!(member.record().written.unwrap().reserved_at, Some(at));
            assert_eq!(member.state(), "PENDING");
        }
        members
    }

    /// The cluster on which the program has run, and when; only one may have.
    fn ran(&self) -> (&'static str, i64) {
        let began = |name| std::fs::read_to_string(self.east.path(&format!("jobs/ran-{name}"))).ok()?.trim().parse().ok();
        let ran: Vec<(&str, i64)> = ["east", "west"].into_iter().filter_map(|name| Some((name, began(name)?))).collect();
        assert_eq!(ran.len(), 1, "{ran:?}");
        ran[0]
    }
}

struct Member<'a> {
    cluster: &'a Cluster,
    id: String,
}

impl Member<'_> {
    fn shown(&self) -> String {
        self.cluster.output("scontrol", &["show", "job", "--oneliner", &self.id])
    }

    fn field(&self, name: &str) -> String {
        let begins = format!("{name}=");
        self.shown().split_whitespace().find_map(|field| field.strip_prefix(&begins)).unwrap_or_default().to_owned()
    }

    fn state(&self) -> String {
        self.field("JobState")
    }

    fn wait_for_state(&self, state: &str, timeout: Duration) {
        wait_for(&format!("the job of {} to be {state}", self.cluster.name()), timeout, || (self.state() == state).then_some(()));
    }

    fn record(&self) -> Record {
        Record::parse(&self.field("AdminComment")).unwrap()
    }

    fn is_withdrawn(&self) -> bool {
        self.record().changed.is_some_and(|changed| changed.withdrawn)
    }
}

/// A job on all nodes.
fn blocker(cluster: &Cluster) -> Job<'_> {
    let job = cluster.submit(&["-N8", "-t30", "--exclusive"], "sleep 1200").job();
    assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
    job
}

fn stop(mut daemon: Daemon) {
    daemon.signal("TERM");
    assert!(daemon.end(SOON).success());
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn once_one_has_its_nodes_the_other_is_withdrawn_by_a_daemon_that_was_not_there() {
    let two = Two::up();
    // If one cluster refuses its job and the other alone does not suffice, nothing stays.
    let _ = two.west.output("scontrol", &["update", "PartitionName=main", "State=DRAIN"]);
    let refused = two.reserve(now() + 600);
    assert_eq!((&refused["given"], &refused["submitted"]), (&true.into(), &false.into()), "{refused}");
    let submission = |place: usize| &refused["clusters"][place]["submission"];
    assert_eq!((&submission(0)["taken_back"], &submission(1)["job"]), (&true.into(), &Value::Null), "{refused}");
    assert!(submission(1)["said"].as_str().unwrap().contains("partition"), "{refused}");
    assert_eq!(two.east.output("squeue", &["--noheader", "-M", "east,west", "-u", USER, "-o", "%i"]).matches(char::is_numeric).count(), 0);
    let _ = two.west.output("scontrol", &["update", "PartitionName=main", "State=UP"]);

    let blockers = two.all().map(blocker);
    let at = now() + 180;
    let [on_east, on_west] = two.reserved(at);
    let _east = two.east.start_queuecastd();
    let west = two.west.start_queuecastd();
    for cluster in two.all() {
        cluster.snapshot_with("the daemon's own snapshot", |snapshot| snapshot.provenance().controller_read_at.is_some());
    }
    stop(west);
    blockers[0].cancel();
    on_east.wait_for_state("RUNNING", PATIENCE);
    // Nobody else touches the other.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!((on_west.state().as_str(), on_west.is_withdrawn()), ("PENDING", false));

    // While the kill switch is on, the daemon does not either.
    let off = two.west.state_directory().join("off");
    std::fs::write(&off, "").unwrap();
    let _west = two.west.start_queuecastd();
    let generation = two.west.snapshot().unwrap().generation();
    two.west.snapshot_with("five more snapshots", |snapshot| snapshot.generation() >= generation + 5);
    assert_eq!((on_west.state().as_str(), on_west.is_withdrawn()), ("PENDING", false));
    std::fs::remove_file(&off).unwrap();
    on_west.wait_for_state("CANCELLED", SOON);
    assert!(now() < at, "{}", on_west.shown());
    wait_for("the record to say so", SOON, || on_west.is_withdrawn().then_some(()));
    let why = "a job that it belongs together with has its nodes";
    wait_for("the log to say why", SOON, || two.west.log("queuecastd").contains(why).then_some(()));
    let explained = || two.west.output("queuecast", &["explain", &on_west.id]);
    let why = "withdrawn because a job that it belongs together with had its nodes";
    wait_for("explain to say why", SOON, || explained().contains(why).then_some(()));

    on_east.wait_for_state("COMPLETED", PATIENCE * 2);
    assert!(!on_east.is_withdrawn(), "{}", on_east.shown());
    let (cluster, began) = two.ran();
    assert!(cluster == "east" && (0..=LATE_S).contains(&(began - at)), "{cluster} began {} s after the time", began - at);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn of_two_that_have_their_nodes_one_is_withdrawn_while_it_waits_on_them() {
    let two = Two::up();
    let at = now() + 200;
    let members = two.reserved(at);
    // Nobody looks until both have started.
    for member in &members {
        member.wait_for_state("RUNNING", PATIENCE);
    }
    let start = |member: &Member<'_>| (member.field("StartTime"), member.cluster.name());
    let place = usize::from(start(&members[0]) < start(&members[1]));
    let (later, earlier) = (&members[place], &members[1 - place]);
    let _daemons = two.all().map(Cluster::start_queuecastd);
    later.wait_for_state("CANCELLED", SOON);
    assert!(now() < at, "{}", later.shown());
    wait_for("the record to say so", SOON, || later.is_withdrawn().then_some(()));
    earlier.wait_for_state("COMPLETED", PATIENCE * 2);
    assert!(!earlier.is_withdrawn(), "{}", earlier.shown());
    let (cluster, began) = two.ran();
    assert!(cluster == earlier.cluster.name() && (0..=LATE_S).contains(&(began - at)), "{cluster} began {} s after the time", began - at);
}
