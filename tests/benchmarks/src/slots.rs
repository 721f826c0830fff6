//! `ci/bench-slots`: what firm slots cost the daemon, slurmctld, and those who ask.

mod cycles;
mod figures;
mod probes;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, value_parser};
use end_to_end::{Options, built};

use self::figures::Figures;
use crate::failure::Outcome;
use crate::format::Format;
use crate::private_cluster::PrivateCluster;
use crate::waiting_jobs::jobs_that_wait;

/// The script that runs this benchmark.
pub(crate) const SCRIPT: &str = "ci/bench-slots";

/// Measure what firm slots cost: how long `queuecast probe` takes, how much memory the daemon needs
/// for it, whether a snapshot is late for it, and how long slurmctld's scheduling takes with slots.
///
/// The private cluster has 16 nodes of one CPU, which one job holds, and N jobs that wait, each a
/// record of its own in slurmctld: of five users, of 1 to 16 nodes and 30 minutes to 4.5 hours.
/// Each pass of backfill looks at all of them. The figures, by their keys in JSON:
///
/// probe: the times of `probes` whole commands of ordinary users, one after the other, each with
/// 100 starts in a window of two days: `median_s`, `p99_s`, and of how many slots the answers tell.
/// What each probe tells has to be the plan with N jobs.
///
/// memory: resident_before_mib, the most memory that queuecastd had had resident before the first
/// probe, and resident_after_mib, that after the last.
///
/// refresh: from the demand for a snapshot (SIGUSR1) to the snapshot: alone_ms, and
/// beside_probes_ms, while ten probes are under way that have begun before it (the medians of R
/// each, in turn), and ratio.
///
/// slurmctld: with each number of firm slots (a day of one node each, within a week), how
/// long slurmctld's main and backfill passes take in the mean, by sdiag, and how many there were.
///
/// It needs root, because several users ask.
///
/// Exit status: 0 if each row measured what it says and the targets hold that the table shows; 1 if
/// not so, or something failed; 2 for wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "\
ci/bench-slots [--waiting N] [--probes N] [--rounds R] [--slots S,...] [--format text|json]
       ci/bench-slots --check")]
pub(crate) struct Arguments {
    /// Jobs that wait, a multiple of 20 [default: 1000, or 40 with --check].
    #[arg(long, value_name = "N", value_parser = jobs_that_wait)]
    waiting: Option<u64>,

    /// Probes that are timed one after the other [default: 100, or 2 with --check].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000))]
    probes: Option<u32>,

    /// Refreshes that are timed alone, and as many beside probes [default: 5, or 1 with --check].
    #[arg(long, value_name = "R", value_parser = value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,

    /// The numbers of firm slots with which slurmctld's passes are timed, in ascending order
    /// [default: 0,16,64, or 0,2 with --check].
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = value_parser!(u32).range(0..=64))]
    slots: Vec<u32>,

    /// How the figures are printed: as a table with the targets, or as one object with the keys
    /// above.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// The small form, for tests. It looks, as always, whether each row measures what it says, and
    /// says nothing about times and memory.
    #[arg(long)]
    check: bool,
}

/// What is measured how often.
#[derive(Debug)]
struct Extent {
    waiting: u64,
    probes: usize,
    rounds: usize,
    slots: Vec<usize>,
    /// The passes of slurmctld's that are timed of each kind.
    passes: u64,
}

impl Extent {
    fn new(arguments: &Arguments) -> Extent {
        let or = |default: u32, small: u32| if arguments.check { small } else { default };
        let slots: &[u32] = match &arguments.slots[..] {
            [] if arguments.check => &[0, 2],
            [] => &[0, 16, 64],
            given => given,
        };
        Extent {
            waiting: arguments.waiting.unwrap_or(or(1_000, 40).into()),
            probes: arguments.probes.unwrap_or(or(100, 2)) as usize,
            rounds: arguments.rounds.unwrap_or(or(5, 1)) as usize,
            slots: slots.iter().map(|slots| *slots as usize).collect(),
            passes: or(20, 1).into(),
        }
    }
}

/// The nodes, each of one CPU, so that every job has whole nodes.
const NODES: u64 = 16;
const PARTITION: &str = "main";

/// Users without any privilege who ask, each ten times a minute at the most.
const USERS: [&str; 14] =
    ["daemon", "bin", "sys", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data", "backup", "list", "irc"];

const CONFIGURATION: &str = "[policy]\nmode = \"enforce\"\n[changes]\nper_second = 50\n[snapshot]\ninterval = \"1h\"\n\
     maximum_age = \"2h\"\n[log]\nlevel = \"debug\"\nformat = \"json\"\n\
     [[firm]]\nslots = 100\ngap = \"1m\"\nahead = \"14d\"\n";

/// How long a snapshot, and the plan of all jobs, are waited for.
const SOON: Duration = Duration::from_secs(300);

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let extent = Extent::new(arguments);
    let site = up()?;
    site.fill(&extent)?;
    let figures = Figures::measure(&site, &extent)?;
    if arguments.check {
        eprintln!("{SCRIPT}: still measures what it says");
        return Ok(Vec::new());
    }
    match arguments.format {
        Format::Text => figures.print(),
        Format::Json => println!("{}", figures.json()?),
    }
    Ok(figures.missed_targets())
}

fn up() -> anyhow::Result<PrivateCluster> {
    // Jobs of which a pass of backfill finds that they can't start before the window's end are not
    // looked at further.
    let parameters = "SchedulerParameters=bf_interval=2,sched_interval=2,bf_max_job_test=50000,default_queue_depth=50000,bf_window=20160,\
                      bf_resolution=300,bf_max_time=60";
    let options = Options::plain()
        .any_caller()
        .option("nodes", &NODES.to_string())
        .option("cpus", "1")
        .option("partition", &format!("{PARTITION} MaxTime=UNLIMITED"))
        .option("conf-line", parameters)
        .option("conf-line", "MaxJobCount=60000")
        .option("conf-line", "MaxArraySize=10001");
    let site = PrivateCluster::up(&options)?;
    site.ask("sacctmgr", &["--immediate", "--quiet", "add", "user", &USERS.join(","), "account=main"])?;
    site.cluster.configure(CONFIGURATION);
    // Users can't read the directory of the build.
    fs::copy(built().join("queuecast"), site.program())?;
    fs::set_permissions(site.program(), Permissions::from_mode(0o755))?;
    Ok(site)
}

impl PrivateCluster {
    /// The command line, where every user may run it.
    fn program(&self) -> std::path::PathBuf {
        self.cluster.path("queuecast-for-users")
    }

    /// Submits the job that holds all nodes, and those that wait.
    fn fill(&self, extent: &Extent) -> anyhow::Result<()> {
        let nodes = format!("-N{NODES}");
        let mut sbatch = self.cluster.prepare("sbatch");
        sbatch.current_dir(self.cluster.path("jobs")).args([&nodes, "-t1-00:00:00", "-o/dev/null", "--wrap", "sleep 86400"]);
        self.run(&mut sbatch)?;
        let runs = self.wait(SOON, || Ok((!self.ask("squeue", &["-h", "-t", "R"])?.is_empty()).then_some(())))?;
        runs.context("the job that holds the nodes does not start")?;
        self.submit_waiting_jobs(extent.waiting, NODES, &[PARTITION])
    }

    /// Runs `queuecast` as one of the users, and returns the JSON that it prints.
    fn asked_by(&self, place: usize, arguments: &[&str]) -> anyhow::Result<serde_json::Value> {
        let user = USERS[place % USERS.len()];
        let output = self.run(self.asking(user).args(arguments))?;
        serde_json::from_slice(&output.stdout).with_context(|| format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stdout)))
    }

    /// The command line as a user runs it, to be completed.
    fn asking(&self, user: &str) -> std::process::Command {
        let mut command = self.cluster.prepare("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(self.program());
        command
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn extent(options: &[&str]) -> Option<Extent> {
        Some(Extent::new(&Program::try_parse_from([&["bench-slots"], options].concat()).ok()?.arguments))
    }

    #[test]
    fn the_small_form_is_small_unless_more_is_asked_for() {
        let small = extent(&["--check", "--probes", "7"]).unwrap();
        assert_eq!((small.waiting, small.probes, small.rounds, &small.slots[..]), (40, 7, 1, &[0, 2][..]));
        let whole = extent(&[]).unwrap();
        assert_eq!((whole.waiting, whole.probes, whole.rounds, &whole.slots[..]), (1_000, 100, 5, &[0, 16, 64][..]));
    }

    #[test]
    fn numbers_that_make_no_sense_are_wrong_usage() {
        for options in [["--waiting", "50"], ["--probes", "0"], ["--rounds", "0"], ["--slots", "65"], ["--format", "csv"]] {
            assert!(extent(&options).is_none(), "{options:?}");
        }
    }
}
