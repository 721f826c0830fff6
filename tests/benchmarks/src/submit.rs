//! `ci/bench-submit`: what each of the things that queuecast does adds to the time of a submission.

mod measure;
mod past;
mod prepare;
mod report;
mod row;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, value_parser};
use end_to_end::Options;

use self::report::Report;
use self::row::Row;
use crate::failure::Outcome;
use crate::format::Format;
use crate::private_cluster::{PrivateCluster, own_name};
use crate::submissions::{self, Forecaster, Series};

/// The script that runs this benchmark.
pub(crate) const SCRIPT: &str = "ci/bench-submit";

/// Measure the mean time that slurmctld spends on one submission, side by side on one private
/// cluster: without a job_submit plugin, with a job_submit.lua whose functions are empty, and with
/// queuecast doing each of the things that it does.
///
/// The figure is slurmctld's own: total time over count of REQUEST_SUBMIT_BATCH_JOB, as sdiag tells
/// them (its ave_time is cut to whole microseconds). What a row adds is the median, over the
/// rounds, of its time less that of `none` in the same round; of the two reserving rows less that
/// of `none-later`. So what changes from round to round is in neither: the same row takes up to 100
/// us more or less in one slurmctld than in another that runs the same program. Within a round
/// slurmctld therefore runs on, and loads one plugin in the place of the other when it is told to
/// reconfigure (from 23.11 on it starts afresh then, and these figures are less certain). The rows
/// take turns in coming first. What is shown beside the median are the quartiles.
///
/// Beside it stands the time of the plugin's callback alone, the median of all submissions of the
/// row (ci/lib/stamp.c takes it). It is steadier, because nothing else that slurmctld does is in
/// it, and it leaves out what slurmctld does about what a plugin has written.
///
/// The cluster is the same for all rows: eight nodes of 300 CPUs, filled by 40 running jobs of 60
/// CPUs whose time limits go up by an eighth from one to the next. So the plan has 60 CPUs more
/// every few days, and a job of 64 tasks always starts days later than one of a single task,
/// however many have been decided about since the snapshot. That is what makes a size worth
/// changing for as many submissions as are counted.
///
/// So is the submission: sbatch -n64 -t30 of a script, one after the other, with the caller's
/// environment. It is held, because a molded job would be scheduled otherwise than one that is not,
/// and scheduling takes the locks that a submission waits for. Reserved jobs are not held, but
/// become eligible hours later.
///
/// So is the queue: each round begins from one saved state of slurmctld with the running jobs and Q
/// held ones, and each row's jobs are cancelled before the next row. This favours Lua, whose plugin
/// makes a table of all jobs at the first submission of each second: hundreds of submissions a
/// second share it here, where at a site one or two would pay for it.
///
/// What is not the same: queuecastd, with its history read and at its default interval, runs beside
/// queuecast and is paused beside the others, so that its cost, and that of taking up its
/// snapshots, count.
///
/// As root everything runs before all ordinary processes (chrt --rr 1), so that what else the
/// machine does has little part in the figures. The cluster lies in TMPDIR; without that in
/// /dev/shm, where there is room, so that the disk, whose time varies much more than what is
/// measured, has no part in it; or else in /tmp.
///
/// After each row, what slurmctld has written into each of its jobs is held against the row's name,
/// and a job that is not as it should be ends the benchmark.
///
/// Exit status: 0 if each row measured what it says, nothing-asked adds at most 10 us, the molded
/// rows at most what the empty Lua script adds, and reserve-at and all-three at most 100 us; 1 if
/// not so, or something failed; 2 for wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "\
ci/bench-submit [--submissions N] [--rounds R] [--queued Q,...] [--rows ROW,...] [--format text|json]
       ci/bench-submit --check")]
pub(crate) struct Arguments {
    /// The number of submissions of each row in each round.
    // Each that is decided about between two snapshots takes one CPU of the plan.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(1..=2_000))]
    submissions: u32,

    /// The number of rounds; each starts slurmctld once and runs all rows in it, one after the
    /// other [default: 15, or 1 with --check].
    #[arg(long, value_name = "R", value_parser = value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    /// The number of jobs that are in the queue before the first that counts; each number makes a
    /// table of its own [default: 100,5000, or 20 with --check].
    #[arg(long, value_name = "Q,...", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=49_000))]
    queued: Vec<u32>,

    /// The rows to measure, all by default; `none` and `none-later` are always among them.
    #[arg(long, value_name = "ROW,...", value_delimiter = ',', value_enum)]
    rows: Vec<Row>,

    /// How the figures are printed: as a table for each queue, or as one object whose `rows` have
    /// queued, row, median_us, adds_us and more.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// The small form, for tests: one round behind a short queue, with as many submissions of each
    /// row as by default, because what one row has submitted already decides about what is left for
    /// its next. It looks whether each row still measures what its name says, as always, and says
    /// nothing about times.
    #[arg(long)]
    check: bool,
}

/// What is measured how often.
#[derive(Clone, Debug)]
struct Extent {
    submissions: usize,
    rounds: usize,
    /// The numbers of held jobs in the queue, each once.
    queues: Vec<usize>,
    /// The rows in the order of the tables, each once.
    rows: Vec<Row>,
}

impl Extent {
    fn new(arguments: &Arguments) -> Extent {
        let queues: &[u32] = match &arguments.queued[..] {
            [] if arguments.check => &[20],
            [] => &[100, 5_000],
            given => given,
        };
        let rows: Vec<Row> = match &arguments.rows[..] {
            [] => Row::ALL.to_vec(),
            given => [Row::None, Row::NoneLater].iter().chain(given).copied().collect(),
        };
        Extent {
            submissions: arguments.submissions as usize,
            rounds: arguments.rounds.unwrap_or(if arguments.check { 1 } else { 15 }) as usize,
            queues: each_once(queues.iter().map(|queued| *queued as usize)),
            rows: each_once(rows.into_iter()),
        }
    }
}

/// Values without those that have come before.
fn each_once<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The CPUs of the cluster's eight nodes, and how many of them a running job has. A submission asks
/// for more tasks than that, and is molded to one.
const NODES: u32 = 8;
const CPUS_OF_A_NODE: u32 = 300;
const RUNNING_CPUS: u32 = 60;
const TASKS: u32 = 64;

/// The time limit of a submission in minutes, and as slurmctld shows it.
const LIMIT_MINUTES: &str = "30";
const LIMIT_SHOWN: &str = "00:30:00";

/// How long the snapshot is waited for that has a certain plan or count.
const PATIENCE: Duration = Duration::from_secs(60);

struct Benchmark<'a> {
    site: &'a PrivateCluster,
    forecaster: Forecaster<'a>,
    extent: Extent,
    /// The user whose jobs are measured: who runs this.
    user: String,
    /// What was measured of each row behind each queue.
    series: BTreeMap<(usize, Row), Series>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let extent = Extent::new(arguments);
    let user = own_name()?;
    let site = submissions::up(options())?;
    let mut benchmark = Benchmark::prepare(&site, extent, user)?;
    benchmark.measure_rows()?;
    if arguments.check {
        eprintln!("{SCRIPT}: each of {} rows measured what it says", benchmark.extent.rows.len());
        return Ok(Vec::new());
    }
    let report = Report::new(&benchmark)?;
    report.print(arguments.format);
    Ok(report.missed())
}

fn options() -> Options {
    Options::plain()
        .any_caller()
        .option("nodes", &NODES.to_string())
        .option("cpus", &CPUS_OF_A_NODE.to_string())
        .option("partition", "main MaxTime=UNLIMITED")
        .option("conf-line", "MaxArraySize=2001")
        .option("plugstack-line", "optional spank_queuecast.so")
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

    fn extent(options: &[&str]) -> Extent {
        Extent::new(&Program::try_parse_from([&["bench-submit"], options].concat()).unwrap().arguments)
    }

    #[test]
    fn rows_that_are_named_come_behind_those_that_others_are_held_against() {
        let rows = extent(&["--rows", "lua,none-later,reserve-at,lua"]).rows;
        assert_eq!(rows, [Row::None, Row::NoneLater, Row::Lua, Row::ReserveAt]);
    }

    #[test]
    fn the_small_form_is_one_round_behind_a_short_queue_unless_more_is_asked_for() {
        let Extent { submissions, rounds, queues, rows } = extent(&["--check"]);
        assert_eq!((submissions, rounds, &queues[..], rows.len()), (100, 1, &[20][..], 8));
        assert_eq!(extent(&["--check", "--rounds", "2", "--queued", "10,30,10"]).queues, [10, 30]);
    }

    #[test]
    fn numbers_and_rows_that_make_no_sense_are_wrong_usage() {
        for options in [["--submissions", "2001"], ["--rounds", "0"], ["--queued", "100,"], ["--rows", "nothing"], ["--format", "csv"]] {
            let error = Program::try_parse_from([&["bench-submit"], &options[..]].concat()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{options:?}");
        }
    }
}
