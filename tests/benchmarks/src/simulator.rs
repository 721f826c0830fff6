//! `ci/bench-simulator`: EASY replayed, against the Python Scheduler Simulator.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ::simulator::swf::decompressed;
use anyhow::{Context, ensure};
use clap::Args;
use end_to_end::built;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Deserialize;

use crate::failure::{Outcome, WrongUsage};
use crate::swf;

/// Replay the logs of the reference under EASY, and compare means and time with those of the Python
/// Scheduler Simulator (PySS, Hebrew University) on the same logs.
///
/// Times are of the whole process, reading the unpacked log included, the best of five. The
/// reference's times were taken on two shared cores like those of our other figures; scale them by
/// a run of PySS on KTH where you have it.
///
/// Exit status: 0 if all means are equal to six digits; 1 if not; 2 for wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "ci/bench-simulator [DIRECTORY]\n       ci/bench-simulator --check")]
pub(crate) struct Arguments {
    /// The directory that has the logs, packed or not; without it, that which QUEUECAST_TRACES
    /// names.
    #[arg(value_name = "DIRECTORY", conflicts_with = "check")]
    logs: Option<PathBuf>,

    /// The small form, for tests: replay six jobs, whose means were reckoned by hand.
    #[arg(long)]
    check: bool,
}

/// A log, and what its replay has to come to.
struct Reference {
    log: &'static str,
    processors: u32,
    jobs: u64,
    /// Means over these jobs: of the wait and the response in minutes, and of the bounded slowdown.
    means: [f64; 3],
    time: Option<Time>,
}

/// What the reference's replay took, and how many times as fast ours is to be.
struct Time {
    reference_s: f64,
    wanted_ratio: f64,
}

const REFERENCES: [Reference; 6] = [
    reference("KTH-SP2-1996-2.1-cln", 100, 28_188, [115.553_486, 264.303_869, 93.189_357], 2.34, 100.0),
    reference("SDSC-SP2-1998-4.2-cln", 128, 53_474, [346.902_124, 469.241_142, 89.246_187], 6.68, 100.0),
    reference("HPC2N-2002-2.2-cln", 240, 200_840, [185.921_917, 470.160_066, 88.660_368], 133.24, 200.0),
    reference("SDSC-BLUE-2000-4.2-cln", 1_152, 221_513, [128.725_387, 201.816_896, 35.859_286], 52.79, 200.0),
    reference("SDSC-DS-2004-2.1-cln", 1_664, 95_103, [78.264_828, 188.739_640, 54.430_432], 29.19, 200.0),
    reference("CEA-Curie-2011-2.1-cln", 93_312, 298_289, [23.283_481, 129.337_927, 18.518_778], 1_860.05, 200.0),
];

const fn reference(log: &'static str, processors: u32, jobs: u64, means: [f64; 3], reference_s: f64, wanted_ratio: f64) -> Reference {
    Reference { log, processors, jobs, means, time: Some(Time { reference_s, wanted_ratio }) }
}

/// Six jobs on four processors, with a run time and an estimate of 100, 100, 50, 200 s, 30 (60) and
/// 10 s.
const BY_HAND_LOG: &str = "\
; MaxProcs: 4
1    0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 1 -1 -1
2   10 -1 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1
3   20 -1  50 4 -1 -1 4  50 -1 1 1 1 1 1 1 -1 -1
4   40 -1 200 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1
5   50 -1  30 1 -1 -1 1  60 -1 1 1 1 1 1 1 -1 -1
6 1000 -1  10 1 -1 -1 1  10 -1 1 1 1 1 1 1 -1 -1
";

/// The second job starts at 100 s. The fourth is backfilled at 40 s: it takes a processor that the
/// second leaves, and the third, which nothing is promised, waits until 240 s for it. The fifth
/// starts at 100 s. The last is submitted when the others have ended, and does not count.
///
/// The means are over five: waits of 0, 90, 220, 0, 50 s, responses of 100, 190, 270, 200, 80 s,
/// slowdowns of 1, 1.9, 5.4, 1, 2.666667.
const BY_HAND: Reference = Reference { log: "by-hand", processors: 4, jobs: 5, means: [1.2, 2.8, 2.393_333], time: None };

/// How often a log is replayed for its time.
const TIMES: usize = 5;

/// What `queuecast simulate` tells of a replay.
#[derive(Debug, Deserialize)]
struct Report {
    jobs_counted: u64,
    mean_wait_s: f64,
    mean_response_s: f64,
    mean_bounded_slowdown: f64,
    all: AllJobs,
    left_out: u64,
}

#[derive(Debug, Deserialize)]
struct AllJobs {
    jobs: u64,
}

impl Report {
    /// Returns the means in the order and units of [`Reference`].
    fn means(&self) -> [f64; 3] {
        [self.mean_wait_s / 60.0, self.mean_response_s / 60.0, self.mean_bounded_slowdown]
    }

    /// Whether it is the reference's to six digits behind the point, of a log of so many records.
    fn is_equal(&self, reference: &Reference, records: u64) -> bool {
        let is_equal = self.means().iter().zip(reference.means).all(|(ours, theirs)| format!("{ours:.6}") == format!("{theirs:.6}"));
        is_equal && self.jobs_counted == reference.jobs && self.all.jobs + self.left_out == records
    }
}

/// Runs a command, and writes how much memory it had resident at most into a file: of the processes
/// that another has run, the kernel tells the largest alone.
#[derive(Debug, Args)]
pub(crate) struct Resident {
    /// Where the bytes are written.
    file: PathBuf,
    #[arg(trailing_var_arg = true, required = true)]
    command: Vec<String>,
}

impl Resident {
    pub(crate) fn run(&self) -> Outcome {
        let [program, arguments @ ..] = &self.command[..] else { return Ok(Vec::new()) };
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().context(program.clone())?;
        ensure!(status.success(), "{program} failed");
        let kibibytes = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
        fs::write(&self.file, (kibibytes * 1024).to_string())?;
        Ok(Vec::new())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let unpacked = scratch.path().join("log.swf");
    let heads = format!("{:<26} {:>9} {:>14} {:>14} {:>14} {:>9}", "log", "jobs", "wait (min)", "response (min)", "slowdown", "equal");
    let mut missed = Vec::new();
    if arguments.check {
        println!("{heads}");
        fs::write(&unpacked, BY_HAND_LOG)?;
        missed.extend(replay(&BY_HAND, &unpacked)?);
        return Ok(missed);
    }
    let logs = arguments.logs.clone().or_else(|| std::env::var_os("QUEUECAST_TRACES").map(PathBuf::from)).unwrap_or_default();
    ensure!(logs.is_dir(), WrongUsage("name a directory of logs, or set QUEUECAST_TRACES to one".to_owned()));
    println!("{heads} {:>9} {:>8} {:>7} {:>6}", "PySS (s)", "ours (s)", "ratio", "MiB");
    for reference in &REFERENCES {
        let Some(packed) = find(&logs, reference.log)? else {
            println!("{}: not there, left out", reference.log);
            continue;
        };
        io::copy(&mut decompressed(File::open(packed)?)?, &mut File::create(&unpacked)?)?;
        missed.extend(replay(reference, &unpacked)?);
    }
    Ok(missed)
}

/// The first file of a directory whose name begins with a log's.
fn find(directory: &Path, log: &str) -> anyhow::Result<Option<PathBuf>> {
    let begins = format!("{log}.swf");
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&begins) {
            found.push(entry.path());
        }
    }
    Ok(found.into_iter().min())
}

/// Replays a log and prints its row. The sentence that it returns says that its means are not the
/// reference's.
fn replay(reference: &Reference, log: &Path) -> anyhow::Result<Option<String>> {
    let mut best = Duration::MAX;
    let mut report = None;
    for _ in 0..reference.time.as_ref().map_or(1, |_| TIMES) {
        let started = Instant::now();
        let simulated = simulate(reference, log).stderr(Stdio::inherit()).output().context("queuecast simulate")?;
        best = best.min(started.elapsed());
        ensure!(simulated.status.success(), "{}: queuecast simulate failed", reference.log);
        report = Some(serde_json::from_slice::<Report>(&simulated.stdout)?);
    }
    let report = report.context("no report")?;
    // Logs have users' names in any encoding.
    let text = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    let is_equal = report.is_equal(reference, swf::records(&text).count() as u64);
    let [wait, response, slowdown] = report.means();
    print!("{:<26} {:>9} {wait:>14.6} {response:>14.6} {slowdown:>14.6}", reference.log, report.jobs_counted);
    print!(" {:>9}", if is_equal { "yes" } else { "NO" });
    if let Some(Time { reference_s, wanted_ratio }) = reference.time {
        let seconds = best.as_secs_f64();
        let ratio = reference_s / seconds;
        print!(" {reference_s:>9} {seconds:>8.3} {ratio:>7.0} {:>6.0}", resident_mib(reference, log)?);
        if ratio < wanted_ratio {
            print!(" of {wanted_ratio} wanted");
        }
    }
    println!();
    Ok((!is_equal).then(|| format!("{}: the means are not the reference's", reference.log)))
}

fn simulate(reference: &Reference, log: &Path) -> Command {
    let mut command = Command::new(built().join("queuecast"));
    command.arg("simulate").arg(log).args(["--processors", &reference.processors.to_string()]);
    command.args(["--scheduler", "easy", "--format", "json"]);
    command
}

/// The most memory that the replay has resident, of one more replay.
fn resident_mib(reference: &Reference, log: &Path) -> anyhow::Result<f64> {
    let file = log.with_extension("resident");
    let replay = simulate(reference, log);
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("resident").arg(&file).arg("--").arg(replay.get_program()).args(replay.get_args());
    ensure!(command.status()?.success(), "{}: {command:?} failed", reference.log);
    Ok(fs::read_to_string(&file)?.parse::<f64>()? / (1 << 20) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(jobs: u64) -> Report {
        let [wait, response, slowdown] = BY_HAND.means;
        Report {
            jobs_counted: jobs,
            mean_wait_s: 60.0 * wait,
            mean_response_s: 60.0 * response,
            mean_bounded_slowdown: slowdown,
            all: AllJobs { jobs: 6 },
            left_out: 0,
        }
    }

    #[test]
    fn means_counts_and_records_have_to_be_equal() {
        assert!(report(5).is_equal(&BY_HAND, 6));
        assert!(!report(4).is_equal(&BY_HAND, 6), "of other jobs");
        assert!(!report(5).is_equal(&BY_HAND, 7), "a record was lost");
        assert!(!Report { mean_wait_s: 72.0001, ..report(5) }.is_equal(&BY_HAND, 6), "another mean");
    }
}
