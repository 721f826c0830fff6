//! A state directory with a snapshot of a known past, and the command line over it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use job_types::number::{JobId, PartitionIndex, UserId};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use job_types::policy::Policy;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, batch, ended_job, enforcing, running_job};
use predictor_core::forecasts::price::PriceStep;
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle, PlannedJob, PlannedPartition, QueuePlan};
use serde_json::Value;
use simulator::{lublin, swf};
use snapshot_writer::PartitionState;

pub const USER: u32 = 61_234;

pub fn now() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64)
}

/// What a test wants of its snapshot.
pub struct Wanted {
    pub policy: Policy,
    pub published_at: UnixTime,
    pub configuration_error: String,
    pub plan: Option<QueuePlan>,
    pub cluster: &'static str,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { policy: enforcing(), published_at: now(), configuration_error: String::new(), plan: None, cluster: "test" }
    }
}

impl Wanted {
    /// Two partitions of 64 nodes with 4 CPUs. In `batch` 200 jobs on 16 nodes waited 5,000 s and
    /// ran 500 s, and 200 on 4 nodes waited 100 s and ran 1,000 s; 40 nodes are busy. `debug` has
    /// no past.
    pub fn bytes(&self) -> Vec<u8> {
        let past = (0..200).flat_map(|n| {
            let eligible = self.published_at - Seconds(900_000 - n * 600);
            let sizes = [(16, 3_600, 5_000, 500), (4, 7_200, 100, 1_000)];
            sizes.map(|(nodes, limit, wait, run_time)| ended_job(UserId(USER), eligible, nodes, limit, wait, run_time))
        });
        let running = |ends_in: i64| running_job(20, self.published_at - Seconds(100), self.published_at + Seconds(ends_in));
        let (policy, running) = (self.policy, vec![running(700), running(5_000)]);
        let batch = PartitionState { running, pending_jobs: 3, pending_cpus: 48, ..batch(policy) };
        let debug = PartitionState { name: "debug".into(), is_default: false, running: Vec::new(), ..batch.clone() };
        let site = MadeUpSite::new(self.published_at).partition(batch).partition(debug).ended_jobs(past).origin(|origin| {
            origin.configuration_error.clone_from(&self.configuration_error);
            origin.cluster = self.cluster.to_owned();
            origin.site_policy = policy;
            origin.controller_read_at = Some(self.published_at);
            origin.configuration_loaded_at = self.published_at;
        });
        match &self.plan {
            Some(plan) => site.queue(plan).bytes(),
            None => site.bytes(),
        }
    }
}

/// A plan of the cluster above as of `at`: three jobs wait in `batch`, of which one is held, and an
/// array in `debug`. A job that is submitted to `batch` now starts at once on up to 16 CPUs for up
/// to an hour, in 1,000 s for up to two days, in 5,000 s on all CPUs.
pub fn plan(at: UnixTime) -> QueuePlan {
    let after = |seconds: i64| ExpectedStart {
        lower: at + Seconds(seconds / 2),
        expected: at + Seconds(seconds),
        upper: at + Seconds(2 * seconds),
    };
    let job = |job, user, partition, nodes: u32, start| PlannedJob {
        job,
        user,
        partition,
        size: Size { nodes, cpus: 4 * nodes },
        tasks: 1,
        limit: Some(Seconds(3_600)),
        priority: 100,
        start,
    };
    let jobs = vec![
        job(JobId(11), UserId(USER), PartitionIndex(0), 16, Ok(after(1_200))),
        PlannedJob { tasks: 20, limit: None, ..job(JobId(14), UserId(0), PartitionIndex(1), 1, Ok(after(0))) },
        job(JobId(12), UserId(0), PartitionIndex(0), 64, Ok(after(7_200))),
        job(JobId(13), UserId(USER), PartitionIndex(0), 1, Err(PlanObstacle::Held)),
    ];
    let batch = PlannedPartition {
        index: PartitionIndex(0),
        cpus_per_node: 4,
        free: vec![(at, 16), (at + Seconds(9_000), 256)],
        cpus: vec![4, 8, 16, 256],
        limits: vec![Seconds(3_600), Seconds(2 * 86_400)],
        starts: [0, 1_000, 0, 1_000, 0, 1_000, 5_000, 5_000].map(|seconds| Some(after(seconds))).to_vec(),
        prices: Some((at, vec![PriceStep { until: Seconds(900), waited: 1.5 }, PriceStep { until: Seconds(57_600), waited: 0.25 }])),
    };
    QueuePlan { at, pending_jobs: 4, is_complete: true, jobs, partitions: vec![batch], promised: Vec::new() }
}

/// A state directory of its own, and no configuration.
pub struct Site {
    pub directory: tempfile::TempDir,
}

/// What the command said.
pub struct Said {
    pub status: i32,
    pub output: String,
    pub error: String,
}

impl Site {
    pub fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn with(wanted: &Wanted) -> Self {
        let site = Self::empty();
        site.publish(&wanted.bytes());
        site
    }

    pub fn usable() -> Self {
        Self::with(&Wanted::default())
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn configuration(&self) -> PathBuf {
        self.path().join("queuecast.toml")
    }

    /// Puts it in place whole, as the daemon does: a live view may look at any moment.
    pub fn publish(&self, bytes: &[u8]) {
        let new = self.path().join("snapshot.new");
        fs::write(&new, bytes).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o644)).unwrap();
        fs::rename(new, self.path().join("snapshot")).unwrap();
    }

    /// The command line, which finds its place by the configuration beside the snapshot, or by
    /// nothing where there is none.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_queuecast"));
        command.args(arguments).env("QUEUECAST_CONF", self.configuration()).env("TZ", "UTC");
        for name in ["SLURM_CONF", "SLURM_CLUSTERS", "SLURM_TIME_FORMAT"] {
            command.env_remove(name);
        }
        let is_read = |name: &str| ["QUEUECAST_", "SBATCH_", "SLURM_"].iter().any(|prefix| name.starts_with(prefix));
        for (name, _) in std::env::vars().filter(|(name, _)| is_read(name) && name != "QUEUECAST_CONF") {
            command.env_remove(name);
        }
        command
    }

    /// Runs it over this directory.
    pub fn run(&self, arguments: &[&str]) -> Said {
        let directory = self.path().to_str().unwrap();
        said(&mut self.command(&[arguments, &["--state-directory", directory]].concat()))
    }

    /// Runs it over this directory for JSON; returns the exit status as well.
    pub fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let said = self.run(&[arguments, &["--format", "json"]].concat());
        let value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {:?} {:?}", said.output, said.error));
        (said.status, value)
    }
}

/// A folder with a made-up log of 400 jobs under that name.
pub fn site_with_log(name: &str) -> Site {
    let site = Site::empty();
    let log = lublin::workload(&lublin::Options { jobs: 400, processors: 64, users: 6, ..Default::default() }).unwrap();
    swf::write(fs::File::create(site.path().join(name)).unwrap(), &log.header, &log.records).unwrap();
    site
}

/// What `evaluate` says in that folder.
pub fn evaluated(site: &Site, arguments: &[&str]) -> Said {
    said(site.command(&[&["evaluate"], arguments].concat()).current_dir(site.path()))
}

/// What it says as JSON of the jobs from the 151st on.
pub fn evaluated_json(site: &Site, arguments: &[&str]) -> Value {
    let said = evaluated(site, &[arguments, &["--from=151", "--format=json"]].concat());
    assert_eq!(said.status, 0, "{}", said.error);
    serde_json::from_str(&said.output).unwrap()
}

pub fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { status: status.code().unwrap(), output: text(stdout), error: text(stderr) }
}

/// The line that begins with `label`, blanks made single.
pub fn line(said: &str, label: &str) -> String {
    let single = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = said.lines().map(single).find(|line| format!("{line} ").starts_with(label));
    found.unwrap_or_else(|| panic!("no line {label:?} in:\n{said}"))
}
