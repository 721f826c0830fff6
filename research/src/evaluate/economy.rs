//! `queuecast evaluate economy`: jobs that bid for nodes, and what an auction makes of their waits
//! (Geweke 2000).

mod bidding;
mod picture;
mod run;
mod text;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use command_parts::duration::between;
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions, read_log};
use indicatif::{MultiProgress, ProgressDrawTarget};
use job_types::time::Seconds;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use simulator::economy::Bidders;
use simulator::economy::bids::Reading;
use simulator::economy::year::fit::{Fitted, fit};
use simulator::engine::preemptive::{Job, Milliseconds, Overlap, PriceRule, Retention, Rules, SchedulerName};
use simulator::remarks::Remarks;
use simulator::workload::machine;
use slurm_conf::duration::DAY_SECONDS;

use self::bidding::Bidding;
use self::run::Run;
use super::run::{self as evaluation, CommonArguments, OfLogs};

/// Replay a log whose jobs bid for their nodes, and show whom an auction lets wait.
///
/// A job bids credits per node and minute. With --scheduler vickrey the jobs with the highest bids
/// run, whoever else ran is suspended, and all who run pay the bid of the first that does not fit
/// (Geweke 2000, 5.2.3.4). Each way of bidding is replayed under each scheduler. Jobs run as long
/// as they did in the log, whatever had been requested, and all sizes count nodes.
///
/// A delay is the time until the first start, while the job is suspended, and that it loses to
/// others on its nodes. The centre of mass is the mean bid weighted by delay: the lower it is, the
/// more it is those with low bids who wait.
///
/// Without LOG a year is replayed that is made up after what the thesis tells of its own (7.2.1),
/// whose log was never published, and the published centres of mass stand in brackets. What it does
/// not tell, how jobs come in bursts and how these meet, moves the delays, and is not fitted to its
/// results.
///
/// --plot draws the mean delay of jobs by their bids: a line for each scheduler.
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log or a file of bids that can't
/// be read or lacks what is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, mut_arg("logs", |logs| logs.required(false)))]
pub(super) struct Arguments {
    /// Who runs; several are separated by commas.
    #[arg(long, value_enum, value_name = "SCHEDULER", value_delimiter = ',', default_value = "vickrey,fifo,glunix,vickrey-backfill")]
    scheduler: Vec<SchedulerArgument>,

    /// How users bid: zero, random, constant-total, proportional, categorized, binary-random,
    /// binary-categorized, mixed (6.2.4.2.1), ramp, which doubles the bid of a job that waits each
    /// hour, or a file that --write-bids has written. Several are separated by commas.
    #[arg(long, value_name = "MODULE|FILE", value_delimiter = ',', default_value = bidding::ALL)]
    bids: Vec<Bidding>,

    /// Bid by the text of the thesis where its table of results contradicts it: by run times in
    /// seconds instead of whole minutes, and 1000 with a probability of 0.15 instead of 0.85.
    #[arg(long)]
    as_written: bool,

    /// What those who run pay.
    #[arg(long, value_enum, value_name = "RULE", default_value_t)]
    price: PriceArgument,

    /// What becomes of a suspended job that would go on where another one runs; it never moves.
    #[arg(long, value_enum, value_name = "RULE", default_value_t)]
    overlap: OverlapArgument,

    /// Nobody is suspended so soon after a start.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = between::<0, DAY_SECONDS>)]
    least_run_time: Seconds,

    /// By so many percent of its bid another one has to bid more to displace a running job.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000))]
    margin: u32,

    /// The first job that is replayed, counted from 1 among those that ran, in order of submission.
    #[arg(long, value_name = "N", default_value = "1")]
    from: NonZeroUsize,

    /// The last job that is replayed [default: the log's last].
    #[arg(long, value_name = "N")]
    to: Option<NonZeroUsize>,

    /// How many of the log's processors a node has: sizes count whole nodes.
    #[arg(long, value_name = "N", default_value = "1")]
    node_processors: NonZeroU32,

    /// Write the bids of the jobs into this file, a line for each: with one LOG and one way of
    /// bidding.
    #[arg(long, value_name = "FILE")]
    write_bids: Option<PathBuf>,

    #[command(flatten)]
    common: CommonArguments,
}

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchedulerArgument {
    /// The jobs with the highest bids; nobody behind the first that does not fit.
    Vickrey,
    /// Strictly in the order of submission.
    Fifo,
    /// All jobs at once, each node being shared by those on it.
    Glunix,
    /// The jobs with the highest bids, and behind one that does not fit whoever does.
    VickreyBackfill,
}

impl SchedulerArgument {
    fn name(self) -> SchedulerName {
        match self {
            Self::Vickrey => SchedulerName::Vickrey,
            Self::Fifo => SchedulerName::Fifo,
            Self::Glunix => SchedulerName::Glunix,
            Self::VickreyBackfill => SchedulerName::VickreyBackfill,
        }
    }
}

/// What those who run pay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PriceArgument {
    /// All the bid of the first that does not fit; who runs behind that one, as with externality.
    #[default]
    Uniform,
    /// Each what the others would have bid for the room that it takes.
    Externality,
}

/// What becomes of a suspended job that would go on where another one runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OverlapArgument {
    /// Both run, each more slowly.
    #[default]
    Share,
    /// The one that comes first in the order has the nodes.
    Wait,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate economy
      the made-up year under all schedulers, for all ways of bidding, beside the published figures
  queuecast evaluate economy SDSC-SP2-1998-4.2-cln.swf.gz --bids random
      does a higher bid shorten the wait, and by how much, under each scheduler
  queuecast evaluate economy SDSC-BLUE-2000-4.2-cln.swf.gz --node-processors 8 --scheduler vickrey,vickrey-backfill
      what it costs to let nobody run behind the first job that does not fit
  queuecast evaluate economy LOG --bids mixed --least-run-time 5m --margin 20 --plot delays.svg
  queuecast evaluate economy LOG --bids random --write-bids bids.csv
  queuecast evaluate economy LOG --bids bids.csv --scheduler vickrey --format json | jq '.runs[].centre_delay'

Keys of --format json (one object for one LOG; for more {\"logs\": [...]}):
  log                 name and file; jobs that are replayed, and ineligible ones, which never ran or
                      want more than the machine has; users, null where the log does not say whose
                      each job is; nodes of the machine; node_seconds that the jobs need; fit, null,
                      or of the made-up year a list: what, published and ours
  remarks             what was left out of the log, or taken as not known
  runs                a list: module, scheduler, price_rule, overlap, seed; jobs, ineligible, cycles,
                      wall_s (of a clock, for the replay), suspensions; in minutes mean_delay_min, p95_delay_min,
                      max_delay_min, and the means dq_min until the first start, ds_min suspended and
                      dl_min lost to others on the same nodes; mean_dilation and
                      centre_dilation with run times in whole minutes, mean_exact_dilation and
                      centre_exact_dilation; utilisation, as a part; revenue and weighted_delay (the
                      sum of bid, nodes and delay in minutes) in credits; centre_delay, and by the
                      text of the thesis centre_delay_as_written and centre_dilation_as_written;
                      mean_delay_by_bid_min, of tenths of the jobs from the lowest bids to the
                      highest; published_centre_delay and published_centre_dilation, null but for
                      the made-up year";

/// What the year is called that is replayed without a log.
const MADE_UP: &str = "the made-up year";

/// A log, as it is reported.
#[derive(Debug, Serialize)]
struct LogOfJobs {
    name: String,
    file: String,
    jobs: usize,
    ineligible: usize,
    users: Option<usize>,
    nodes: u32,
    node_seconds: f64,
    fit: Option<Vec<Fitted>>,
}

/// What was found on one log.
#[derive(Debug, Serialize)]
struct EconomyReport {
    log: LogOfJobs,
    runs: Vec<Run>,
    /// Ways of bidding that are left out, because the log does not say whose each job is.
    #[serde(skip)]
    left_out: Vec<String>,
    remarks: Remarks,
}

impl OfLogs for EconomyReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![(&self.log.file, &self.remarks)]
    }
}

/// A log that is replayed.
struct Replayed {
    name: String,
    source: String,
    bidders: Bidders,
    /// Whether it is the year of the thesis, made up.
    is_made_up: bool,
    remarks: Remarks,
}

impl Arguments {
    fn reading(&self) -> Reading {
        if self.as_written { Reading::AsWritten } else { Reading::AsTabled }
    }

    fn rules(&self, scheduler: SchedulerArgument) -> Rules {
        Rules {
            scheduler: scheduler.name(),
            overlap: match self.overlap {
                OverlapArgument::Share => Overlap::Share,
                OverlapArgument::Wait => Overlap::Wait,
            },
            price: match self.price {
                PriceArgument::Uniform => PriceRule::Uniform,
                PriceArgument::Externality => PriceRule::Externality,
            },
            retention: Retention {
                least_run_time: Milliseconds(self.least_run_time.0.unsigned_abs().saturating_mul(1_000)),
                margin: f64::from(self.margin) / 100.0,
            },
            ..Rules::default()
        }
    }

    fn read(&self, path: &Path, options: &LogFileOptions) -> anyhow::Result<Replayed> {
        let source = path.display().to_string();
        let (log, remarks) = read_log(path, options)?;
        let processors = machine(&log.header, None).with_context(|| source.clone())?;
        let bidders = Bidders::of(&log, processors, self.node_processors.get(), self.part()).with_context(|| source.clone())?;
        Ok(Replayed { name: log_file::name(path), source, bidders, is_made_up: false, remarks })
    }

    fn part(&self) -> (usize, usize) {
        (self.from.get(), self.to.map_or(usize::MAX, NonZeroUsize::get))
    }

    fn logs(&self) -> anyhow::Result<Vec<Replayed>> {
        if !self.common.logs.is_empty() {
            return self.common.read_each(|path| self.read(path, &self.common.log_file));
        }
        let bidders = Bidders::of_year(self.common.seed, self.part()).context(MADE_UP)?;
        Ok(vec![Replayed { name: MADE_UP.to_owned(), source: MADE_UP.to_owned(), bidders, is_made_up: true, remarks: Remarks::default() }])
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let reports = reports(arguments).map_err(Failure::Input)?;
    arguments.common.report(reports, picture::draw, |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments) -> anyhow::Result<Vec<EconomyReport>> {
    let pool = arguments.common.threads(arguments.from.get(), arguments.to.map(NonZeroUsize::get))?;
    if arguments.write_bids.is_some() {
        let is_one = arguments.common.logs.len() <= 1 && arguments.bids.len() == 1;
        ensure!(is_one, "--write-bids keeps the bids of one LOG and one way of bidding; name one of each");
        ensure!(arguments.bids.iter().all(|bidding| *bidding != Bidding::Ramp), "bids that rise while jobs wait can't be kept in a file");
    }
    let logs = arguments.logs()?;
    let (reading, seed) = (arguments.reading(), arguments.common.seed);
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    let bar = evaluation::bar(&bars, "runs");
    bar.set_length((logs.len() * arguments.bids.len() * arguments.scheduler.len()) as u64);
    bar.enable_steady_tick(Duration::from_millis(500));
    let mut reports = Vec::with_capacity(logs.len());
    for log in logs {
        let (biddings, left_out): (Vec<&Bidding>, Vec<&Bidding>) =
            arguments.bids.iter().partition(|bidding| log.bidders.has_users || !bidding.needs_users());
        ensure!(!biddings.is_empty(), "{}: the log does not say whose each job is (field 12), which --bids mixed needs", log.source);
        let mut tasks = Vec::new();
        for bidding in &biddings {
            let bids = bidding.bids(&log.bidders, reading, seed)?;
            if let Some(path) = &arguments.write_bids {
                bidding::write(path, &log.bidders, &bids)?;
            }
            tasks.push((*bidding, bids));
        }
        let tasks: Vec<_> = tasks
            .iter()
            .flat_map(|(bidding, bids)| arguments.scheduler.iter().map(move |scheduler| (*bidding, bids, *scheduler)))
            .collect();
        let one = |(bidding, bids, scheduler): &(&Bidding, &Vec<f64>, SchedulerArgument)| {
            let mut run = Run::of(&log.bidders, bidding, bids, &arguments.rules(*scheduler), seed);
            if log.is_made_up {
                run.put_published(bidding);
            }
            bar.inc(1);
            run
        };
        let runs = pool.install(|| tasks.par_iter().with_max_len(1).map(one).collect());
        reports.push(report(log, runs, &left_out));
    }
    bar.finish_and_clear();
    Ok(reports)
}

fn report(log: Replayed, runs: Vec<Run>, left_out: &[&Bidding]) -> EconomyReport {
    let bidders = &log.bidders;
    let mut users: Vec<u32> = bidders.jobs.iter().map(|job| job.user).collect();
    users.sort_unstable();
    users.dedup();
    let described = LogOfJobs {
        name: log.name,
        file: log.source,
        jobs: bidders.jobs.len(),
        ineligible: bidders.ineligible,
        users: bidders.has_users.then_some(users.len()),
        nodes: bidders.nodes,
        node_seconds: bidders.jobs.iter().map(Job::node_seconds).sum(),
        fit: log.is_made_up.then(|| fit(&bidders.jobs)),
    };
    EconomyReport { log: described, runs, left_out: left_out.iter().map(ToString::to_string).collect(), remarks: log.remarks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::picture::drawn;
    use crate::evaluate::tables::line;

    /// Two jobs for each of 40 minutes, of one and of three of four nodes.
    fn bidders(has_users: bool) -> Bidders {
        let job = |place: u64| Job {
            user: (place % 3) as u32,
            submit: Milliseconds(place / 2 * 60_000),
            run_time: Milliseconds(60_000 * (1 + place % 5)),
            nodes: if place.is_multiple_of(2) { 1 } else { 3 },
            is_io_bound: false,
        };
        Bidders { jobs: (0..80).map(job).collect(), numbers: (1..=80).collect(), nodes: 4, ineligible: 2, has_users }
    }

    fn sample(has_users: bool) -> EconomyReport {
        let bidders = bidders(has_users);
        let mut runs = Vec::new();
        for bidding in [Bidding::Module(simulator::economy::bids::UserModule::Random), Bidding::Ramp] {
            let bids = bidding.bids(&bidders, Reading::AsTabled, 1).unwrap();
            for scheduler in SchedulerArgument::value_variants() {
                let rules = Rules { scheduler: scheduler.name(), ..Rules::default() };
                runs.push(Run::of(&bidders, &bidding, &bids, &rules, 1));
            }
        }
        let mixed = Bidding::Module(simulator::economy::bids::UserModule::Mixed);
        let left_out = if has_users { vec![] } else { vec![&mixed] };
        let (name, source) = ("a-log".to_owned(), "a-log.swf".to_owned());
        report(Replayed { name, source, bidders, is_made_up: false, remarks: Remarks::default() }, runs, &left_out)
    }

    #[test]
    fn json_has_the_keys_that_are_promised() {
        let json = serde_json::to_value(sample(true)).unwrap();
        for key in ["name", "file", "jobs", "ineligible", "users", "nodes", "node_seconds"] {
            assert!(!json["log"][key].is_null(), "{key} in {json}");
        }
        assert!(json["log"].get("fit").is_some_and(serde_json::Value::is_null) && !json["remarks"].is_null(), "{json}");
        for key in [
            "module",
            "scheduler",
            "price_rule",
            "overlap",
            "seed",
            "jobs",
            "ineligible",
            "cycles",
            "wall_s",
            "suspensions",
            "mean_delay_min",
            "p95_delay_min",
            "max_delay_min",
            "dq_min",
            "ds_min",
            "dl_min",
            "utilisation",
            "revenue",
            "weighted_delay",
            "centre_delay",
            "centre_dilation",
            "centre_delay_as_written",
            "centre_dilation_as_written",
            "mean_delay_by_bid_min",
        ] {
            assert!(!json["runs"][0][key].is_null(), "{key} in {}", json["runs"][0]);
        }
        assert_eq!((&json["runs"][3]["scheduler"], &json["runs"][3]["overlap"]), (&"vickrey-backfill".into(), &"share".into()));
        assert!(json["runs"][1]["price_rule"].is_null(), "strict order knows no price");
        assert!(serde_json::to_value(sample(false)).unwrap()["log"]["users"].is_null());
    }

    #[test]
    fn the_report_has_a_line_for_each_scheduler_and_says_what_is_left_out() {
        let text = text::report(&[sample(false)]);
        assert!(text.contains("Jobs that bid: random") && text.contains("Jobs that bid: ramp"), "{text}");
        assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("vickrey-backfill")).count(), 2, "{text}");
        assert!(line(&text, "left out").contains("mixed"), "{text}");
        assert!(line(&text, "ineligible").contains('2'), "{text}");
    }

    #[test]
    fn published_centres_stand_beside_those_of_the_made_up_year() {
        let mut report = sample(true);
        report.runs[0].put_published(&Bidding::Module(simulator::economy::bids::UserModule::Random));
        let text = text::report(&[report]);
        assert!(text.contains("(9.08)") && text.contains("(8.98)"), "{text}");
    }

    #[test]
    fn the_picture_has_a_diagram_for_each_way_of_bidding() {
        let svg = drawn(|path| picture::draw(path, &[sample(true)]));
        assert!(svg.contains("a-log, random") && svg.contains("a-log, ramp"));
        assert!(svg.matches("glunix").count() >= 2);
    }
}
