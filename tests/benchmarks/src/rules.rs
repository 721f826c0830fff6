//! `ci/bench-rules`: ten policies as rules, against the same as a job_submit.lua.

mod report;
mod threads;

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::{Args, value_parser};
use end_to_end::{Options, project};
use nix::unistd::geteuid;

use self::report::Report;
use crate::failure::Outcome;
use crate::format::Format;
use crate::private_cluster::PrivateCluster;
use crate::submissions::{self, Forecaster, NO_PLUGIN, QUEUECAST, Series, WARM_UP};

/// The script that runs this benchmark.
pub(crate) const SCRIPT: &str = "ci/bench-rules";

/// Measure the same ten policies as a job_submit.lua and as rules of queuecast, side by side on one
/// private cluster: the time that slurmctld spends on one submission, and how many jobs a second
/// each plugin lets through from several threads.
///
/// The rows: `none`, no plugin; `lua`, docs/from-lua/job_submit.lua; `queuecast`,
/// docs/from-lua/rules.toml, with queuecastd beside it and nothing asked of the forecasts.
///
/// The submission, of an ordinary user, who asks for no partition and no time limit: sbatch --hold
/// --ntasks=2 --chdir=/projects/cfd/run. Three of the ten policies write into it: it gets the
/// partition `long`, a limit of four hours with a notice to the user, and a licence. In the row
/// `none` the user asks for these, so that slurmctld has the same to do about them. After each row
/// its jobs are held against that, as is the notice, and one that is not so ends the benchmark:
/// only rules and script write them.
///
/// The time of a submission is slurmctld's own, total time over count of REQUEST_SUBMIT_BATCH_JOB
/// by sdiag. Each row's figure is the median of its rounds; what it adds is the median, over the
/// rounds, of its time less that of `none` in the same round. Beside it stands the time of the
/// plugin's callback alone, the median of all submissions (ci/lib/stamp.c).
///
/// The threads run within slurmctld (ci/lib/threads.c) and call each plugin's job_submit directly.
/// slurmctld itself calls its plugins one after the other, so that this says what a plugin would
/// let through and not what slurmctld does. How many processors there are is shown: two threads at
/// once are the most that two processors can run. The best of three turns of each plugin counts.
///
/// It needs root, and runs before all ordinary processes (chrt --rr 1). The cluster lies in TMPDIR;
/// without that in /dev/shm, where there is room, or else in /tmp.
///
/// Exit status: 0 if each row measured what it says, the rules take less time per submission than
/// the script, and five times as many jobs a second go through; 1 if not so, or something failed; 2
/// for wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "\
ci/bench-rules [--submissions N] [--rounds R] [--queued Q] [--threads T] [--jobs J] [--format text|json]
       ci/bench-rules --check")]
pub(crate) struct Arguments {
    /// The number of submissions of each row in each round [default: 100, or 10 with --check].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    submissions: Option<u32>,

    /// The number of rounds; each starts slurmctld once and runs all rows in it, one after the
    /// other [default: 15, or 1 with --check].
    #[arg(long, value_name = "R", value_parser = value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    /// The number of jobs that are in the queue before the first that counts [default: 100, or 20
    /// with --check].
    #[arg(long, value_name = "Q", value_parser = value_parser!(u32).range(1..=49_000))]
    queued: Option<u32>,

    /// The number of threads that call job_submit at once.
    #[arg(long, value_name = "T", default_value_t = 8, value_parser = value_parser!(u32).range(1..=64))]
    threads: u32,

    /// The number of jobs of each thread [default: 2000, or 50 with --check].
    #[arg(long, value_name = "J", value_parser = value_parser!(u32).range(1..=100_000))]
    jobs: Option<u32>,

    /// How the figures are printed; the JSON object has none_us, lua_us, queuecast_us and more.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// The small form, for tests: a few submissions and jobs, once. It looks whether each row still
    /// measures what its name says, as always, and says nothing about times.
    #[arg(long)]
    check: bool,
}

/// What is measured how often.
#[derive(Clone, Copy, Debug)]
struct Extent {
    submissions: usize,
    rounds: usize,
    queued: usize,
    threads: u32,
    jobs: u32,
    /// How often the threads of each plugin run; the best turn counts.
    turns: usize,
}

impl Extent {
    fn new(arguments: &Arguments) -> Extent {
        let choose = |given: Option<u32>, usual: u32, small: u32| given.unwrap_or(if arguments.check { small } else { usual });
        Extent {
            submissions: choose(arguments.submissions, 100, 10) as usize,
            rounds: choose(arguments.rounds, 15, 1) as usize,
            queued: choose(arguments.queued, 100, 20) as usize,
            threads: arguments.threads,
            jobs: choose(arguments.jobs, 2_000, 50),
            turns: if arguments.check { 1 } else { 3 },
        }
    }
}

/// The plugin that runs job_submit.lua.
const LUA: &str = "lua";

/// The rows, by the plugin that slurmctld has loaded.
const ROWS: [&str; 3] = [NO_PLUGIN, LUA, QUEUECAST];

/// The ordinary user whose jobs are measured.
const USER: &str = "games";

/// What queuecast is set to. The port for metrics may be that of a daemon that the machine has
/// already.
const CONFIGURATION: &str = "[policy]\nmode = \"enforce\"\n[metrics]\nlisten = \"off\"\n";

/// What the policies write into the submission, as the user of the row without a plugin asks for
/// it.
const WRITTEN: [&str; 3] = ["--partition=long", "--time=240", "--licenses=fluent:4"];

/// A job of the benchmark.
struct Submitted {
    number: u64,
    /// What its user was told.
    notice: String,
}

struct Benchmark<'a> {
    site: &'a PrivateCluster,
    forecaster: Forecaster<'a>,
    extent: Extent,
    series: BTreeMap<&'static str, Series>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    ensure!(geteuid().is_root(), "jobs are submitted for another user, which needs root");
    let site = submissions::up(options())?;
    let mut benchmark = Benchmark::prepare(&site, Extent::new(arguments))?;
    benchmark.measure_rows()?;
    let jobs_per_second = benchmark.measure_threads()?;
    if arguments.check {
        eprintln!("{SCRIPT}: each of {} rows measured what it says, and the threads as well", ROWS.len());
        return Ok(Vec::new());
    }
    let report = Report::new(&benchmark, jobs_per_second)?;
    report.print(arguments.format);
    Ok(report.missed)
}

fn options() -> Options {
    let script = project().join("docs/from-lua/job_submit.lua");
    Options::plain()
        .option("nodes", "4")
        .option("partition", "long MaxTime=UNLIMITED")
        .option("partition", "short MaxTime=60")
        .option("partition", "gpu MaxTime=UNLIMITED")
        .option("partition", "bigmem MaxTime=UNLIMITED")
        .option("conf-line", "Licenses=fluent:1000000,matlab:1000000")
        .option("lua-script", &script.display().to_string())
}

/// Submits so many held jobs, at least one, and returns the last.
fn submit(site: &PrivateCluster, user: Option<&str>, count: usize, options: &[&str]) -> anyhow::Result<Submitted> {
    let mut said = None;
    for _ in 0..count {
        let mut sbatch = match user {
            Some(user) => site.cluster.prepare_for(user, "sbatch"),
            None => site.cluster.prepare("sbatch"),
        };
        sbatch.args(["--hold", "--ntasks=2", "--chdir=/projects/cfd/run"]).args(options).arg(site.jobs().join("job.sh"));
        said = Some(site.submit(&mut sbatch)?);
    }
    let said = said.context("no job was submitted")?;
    let printed = String::from_utf8_lossy(&said.stdout).into_owned();
    let number = printed.split_whitespace().last().and_then(|word| word.parse().ok());
    let notice = String::from_utf8_lossy(&said.stderr).into_owned();
    Ok(Submitted { number: number.with_context(|| format!("sbatch told no job's number: {printed}"))?, notice })
}

impl<'a> Benchmark<'a> {
    /// Puts the rules in force, fills the queue, and starts queuecastd, which is paused then.
    fn prepare(site: &'a PrivateCluster, extent: Extent) -> anyhow::Result<Benchmark<'a>> {
        let rules = site.cluster.path("etc/rules.d");
        site.compile_plugin("threads", "threads.c", &[])?;
        site.cluster.configure(CONFIGURATION);
        fs::create_dir_all(&rules)?;
        fs::copy(project().join("docs/from-lua/rules.toml"), rules.join("ten.toml"))?;
        site.ask("queuecast", &["filter", "load"]).context("the rules do not compile")?;
        submit(site, None, extent.queued, &["--job-name=queued", "--partition=long", "--time=240"])?;
        site.save_state(extent.queued)?;
        site.cluster.daemon("start", "slurmctld");
        let mut forecaster = site.start_forecaster();
        forecaster.await_files(&["snapshot", "rules"])?;
        forecaster.pause();
        Ok(Benchmark { site, forecaster, extent, series: BTreeMap::new() })
    }

    fn measure_rows(&mut self) -> anyhow::Result<()> {
        let Extent { rounds, queued, .. } = self.extent;
        for round in 1..=rounds {
            self.site.start_from_state(queued)?;
            self.site.require_waiting(queued)?;
            let mut told = Vec::new();
            // Each row comes first in one round, second in the next but one, and so on.
            for place in 0..ROWS.len() {
                let row = ROWS[(place + round) % ROWS.len()];
                told.push(format!("{row} {:.2}", self.measure(row)?));
            }
            eprintln!("{SCRIPT}: round {round} of {rounds} behind {queued} jobs, us: {}", told.join(", "));
        }
        Ok(())
    }

    /// Measures one row of a round, and returns the mean time of its submissions in microseconds.
    fn measure(&mut self, row: &'static str) -> anyhow::Result<f64> {
        let Extent { submissions, queued, .. } = self.extent;
        self.site.use_plugin(row)?;
        let options: &[&str] = if row == NO_PLUGIN { &WRITTEN } else { &[] };
        if row == QUEUECAST {
            self.forecaster.go_on();
            // What queuecastd has missed while it was paused is read before the first submission
            // that counts. The first snapshot may have been under way before.
            self.forecaster.demand_snapshot("USR1")?;
            self.forecaster.demand_snapshot("USR1")?;
            thread::sleep(Duration::from_millis(200));
        }
        let first = submit(self.site, Some(USER), WARM_UP, options)?.number + 1 - WARM_UP as u64;
        self.site.reset_statistics()?;
        let last = submit(self.site, Some(USER), submissions, options)?;
        let mean_us = self.site.end_round(self.series.entry(row).or_default(), submissions)?;
        self.site.require_as_named(row, first, WARM_UP + submissions, |job| {
            let is = |field, value| job.field(field) == Some(value);
            is("Partition", "long") && is("TimeLimit", "04:00:00") && is("Licenses", "fluent:4")
        })?;
        let is_told = row == NO_PLUGIN || last.notice.contains("no time limit was given");
        ensure!(is_told, "{row}: the user was not told of the limit: {}", last.notice.trim_end());
        if row == QUEUECAST {
            self.forecaster.require()?;
            self.forecaster.pause();
        }
        self.site.cancel(USER, "job.sh")?;
        self.site.require_waiting(queued)?;
        Ok(mean_us)
    }
}
