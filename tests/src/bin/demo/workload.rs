//! The workload log of the demonstration, and the user of it in whose name jobs are submitted.

use crate::NODES;
use simulator::swf::{Log, Reader};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Largest job of the demonstration in processors: it really starts so many tasks on this machine.
const MOST_PROCESSORS: u64 = 64;

/// Longest run of a job of the demonstration in seconds.
const LONGEST_RUN_S: i64 = 60;

/// Shortest median run time at a size of which jobs are submitted, in seconds: what runs no longer
/// gains nothing by another size.
const SHORTEST_RUN_S: f64 = 5.0;

/// A log, and what is taken from it.
#[derive(Debug)]
pub(crate) struct Workload {
    name: String,
    /// Jobs that ran.
    pub(crate) jobs: u64,
    /// Processors of the machine.
    pub(crate) processors: u32,
    /// Number of the user whose history becomes that of root.
    pub(crate) user: u64,
    /// The user's sizes in processors, most used first, with the median run time here in seconds.
    pub(crate) sizes: Vec<(u32, i64)>,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(|(size, _)| size.to_string()).collect();
        let Workload { name, jobs, processors, user, .. } = self;
        write!(
            f,
            "{name}: {jobs} jobs that ran on {processors} processors; root takes the place of user {user}, who ran on {}",
            sizes.join(", ")
        )
    }
}

impl Workload {
    /// The largest of the user's sizes.
    pub(crate) fn largest(&self) -> u32 {
        self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(1)
    }

    /// CPUs of the cluster, which are as many as the log's machine has or a few more.
    pub(crate) fn cpus(&self) -> u32 {
        self.cpus_per_node() * NODES
    }

    /// CPUs of each node.
    pub(crate) fn cpus_per_node(&self) -> u32 {
        self.processors.div_ceil(NODES)
    }

    /// What there is in a log of this name. The user is the one with most jobs among those with the
    /// most sizes, up to four, that can be run here and take some seconds.
    pub(crate) fn of(name: String, log: &Log, time_scale: f64) -> Result<Workload, String> {
        let mut runs: HashMap<u64, BTreeMap<u64, Vec<u64>>> = HashMap::new();
        let (mut jobs, mut largest) = (0, 0);
        for record in &log.records {
            let (Some(processors), Some(run_time)) = (record.processors(), record.run_time_seconds.filter(|run_time| *run_time > 0)) else {
                continue;
            };
            if record.wait_time_seconds.is_none() {
                continue;
            }
            jobs += 1;
            largest = largest.max(processors);
            if let Some(user) = record.user.filter(|_| processors <= MOST_PROCESSORS) {
                runs.entry(user).or_default().entry(processors).or_default().push(run_time);
            }
        }
        let processors = log.header.max_processors().unwrap_or(largest);
        for size in runs.values_mut().flat_map(BTreeMap::values_mut) {
            size.sort_unstable();
        }
        let median = |runs: &[u64]| runs.get(runs.len() / 2).copied().unwrap_or_default() as f64 * time_scale;
        let is_usable = |runs: &Vec<u64>| runs.len() >= 20 && median(runs) >= SHORTEST_RUN_S;
        let used_often = |sizes: &BTreeMap<u64, Vec<u64>>| sizes.values().filter(|runs| is_usable(runs)).count().min(4);
        let total = |sizes: &BTreeMap<u64, Vec<u64>>| sizes.values().map(Vec::len).sum::<usize>();
        let (user, sizes) = runs
            .into_iter()
            .max_by_key(|(user, sizes)| (used_often(sizes), total(sizes), std::cmp::Reverse(*user)))
            .filter(|(_, sizes)| used_often(sizes) >= 2)
            .ok_or("no user of the log ran twenty jobs of some seconds at each of two sizes of at most 64 processors")?;
        let mut sizes: Vec<(u64, Vec<u64>)> = sizes.into_iter().filter(|(_, runs)| is_usable(runs)).collect();
        sizes.sort_by_key(|(size, runs)| (std::cmp::Reverse(runs.len()), *size));
        sizes.truncate(4);
        let sizes = sizes.into_iter().map(|(size, runs)| (size as u32, (median(&runs).round() as i64).clamp(1, LONGEST_RUN_S)));
        Ok(Workload { name, jobs, processors: u32::try_from(processors).map_err(|_| "too many processors")?, user, sizes: sizes.collect() })
    }
}

/// Reads a log, plain or packed.
pub(crate) fn read(path: &Path) -> Result<Log, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let reader = Reader::detecting_compression(file).map_err(|error| error.to_string())?;
    reader.into_log().map_err(|error| error.to_string())
}

/// Writes the embedded workload into a directory: one whose jobs run for hours, so that there is a
/// queue, and not for seconds.
pub(crate) fn embedded(directory: &Path) -> PathBuf {
    let path = directory.join("lublin-feitelson.swf");
    let file = File::create(&path).expect("the directory is ours");
    let queuecast = end_to_end::built().join("queuecast");
    let status = std::process::Command::new(queuecast)
        .args([
            "import-swf",
            "--embedded",
            "--mix",
            "typeless",
            "--load",
            "0.5",
            "--model-jobs",
            "5000",
            "--processors",
            "32",
            "--into",
            "swf",
        ])
        .stdout(file)
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()), "queuecast import-swf --embedded --into swf failed");
    path
}
