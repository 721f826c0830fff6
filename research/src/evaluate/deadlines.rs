//! `queuecast evaluate deadlines`: the published methods of admission by deadline, replayed (Yeo
//! and Buyya 2006, figures 1 to 4).

mod admission;
mod picture;
mod report;
mod text;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use command_parts::duration::between;
use command_parts::failure::Failure;
use command_parts::log_file::{self, read_log};
use indicatif::{MultiProgress, ProgressDrawTarget};
use job_types::time::Seconds;
use predictor_core::decisions::deadline_methods::SparePower;
use rayon::ThreadPool;
use serde::Serialize;
use simulator::deadlines::{self, BaseJob, Choices, LastJobs, Projection, Settings, Urgencies};
use simulator::engine::shared::{Late, Sharing};
use simulator::remarks::Remarks;
use simulator::workload::BadRecords;

use self::report::DeadlineReport;
use super::policies::OLDEST_STATE;
use super::run::{self as evaluation, CommonArguments};

/// Replay the last jobs of a log with deadlines, admitted by EDF, Libra and LibraRisk, and hold the
/// published statements about them against the figures.
///
/// The replays are those of Yeo and Buyya 2006 ("Managing Risk of Inaccurate Runtime Estimates for
/// Deadline Constrained Job Admission Control in Clusters"): the last 3,000 jobs of SDSC-SP2, each
/// with a deadline that is drawn as a multiple of its run time; a fifth of the jobs are of high
/// urgency, with a mean of 4, and the others have a mean of 16. EDF has a queue and nodes with one
/// job each. Libra and LibraRisk share nodes in time and decide at once.
///
/// The tables have, over the arrival delay factor, the deadline high:low ratio, the part of the
/// jobs of high urgency and the inaccuracy of the estimates, the per cent of the submitted jobs
/// that were done by their deadlines and the mean slowdown of these, as means over --seeds with 95
/// % intervals. Below them stands what the publication states, and whether it holds here.
///
/// What the publication leaves open are options: --deviation, --spare, --late, --projection,
/// --bad-records and --overruns. The page "Deadlines" of the documentation says what each is worth.
///
/// Exit status: 0 if there is an answer, whatever holds; 2 for wrong usage or a log that can't be
/// read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// How many jobs are replayed, counted from the last of the log.
    #[arg(long, value_name = "N", default_value = "3000")]
    last: NonZeroUsize,

    /// How many nodes the machine has, one for each processor of a job [default: the processors of
    /// the log's machine].
    #[arg(long, value_name = "N")]
    nodes: Option<NonZeroU32>,

    /// How often each point is replayed, with other classes and deadlines each time.
    #[arg(long, value_name = "N", default_value = "10")]
    seeds: NonZeroUsize,

    /// The standard deviation of deadline over run time, over its mean.
    #[arg(long, value_name = "PART", default_value_t = 0.25, value_parser = deviation)]
    deviation: f64,

    /// What becomes of the power of a node that the shares of its jobs leave over.
    #[arg(long, value_enum, default_value_t)]
    spare: SpareName,

    /// What becomes of a job that still runs when its deadline has passed.
    #[arg(long, value_enum, default_value_t)]
    late: LateName,

    /// How LibraRisk projects the delays of the jobs of a node.
    #[arg(long, value_enum, default_value_t)]
    projection: ProjectionName,

    /// What becomes of records without a run time or processors.
    #[arg(long, value_enum, default_value_t)]
    bad_records: BadRecordsName,

    /// What becomes of jobs that ran longer than was asked for.
    #[arg(long, value_enum, default_value_t)]
    overruns: OverrunsName,

    /// Instead of the published figures, show admission by probability, on nodes that jobs share in
    /// time as by the published methods and on nodes that they have to themselves, in the order of
    /// the deadlines, beside the published methods on the same jobs and deadlines; with one seed.
    #[arg(long, conflicts_with_all = ["seeds", "bad_records"])]
    admission: bool,

    /// With --admission: the probabilities with which deadlines are to be kept, greater than 0 and
    /// less than 1.
    #[arg(long, value_name = "P", value_delimiter = ',', default_value = "0.8,0.9,0.95", requires = "admission", value_parser = probability)]
    probability: Vec<f64>,

    /// With --admission: how many jobs before the last are replayed as well, so that there is
    /// something to learn from.
    #[arg(long, value_name = "N", default_value_t = 20_000, requires = "admission")]
    history: usize,

    /// With --admission: how old the state gets that is decided from: as a snapshot that is
    /// published so often, by the daemon every 30s.
    #[arg(long, value_name = "DURATION", default_value = "30s", requires = "admission", value_parser = between::<0, OLDEST_STATE>)]
    refresh: Seconds,

    /// With --admission: replay each probability once more with the jobs that are not likely enough
    /// to be in time running as others do, and hold what was forecast for them against what
    /// happened, beside the jobs that are admitted.
    #[arg(long, requires = "admission")]
    shadow: bool,

    #[command(flatten)]
    common: CommonArguments,
}

/// What becomes of spare power.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SpareName {
    /// It is given to the jobs in proportion to their shares.
    #[default]
    Given,
    /// Nobody gets it: each job has its share, and is done at its deadline.
    Kept,
}

/// What becomes of late jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LateName {
    /// It asks for the whole node, so that the others there are stretched.
    #[default]
    Claims,
    /// It gets what the jobs that are in time leave over.
    Yields,
}

/// How delays are projected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ProjectionName {
    /// Shares are dealt anew whenever a job ends.
    #[default]
    DealtAnew,
    /// Shares beyond the node are stretched once: then no node has a risk, unless a job there is
    /// late already.
    StretchedOnce,
}

/// What becomes of bad records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BadRecordsName {
    /// They become jobs of one second with the log's estimate.
    #[default]
    OneSecond,
    /// They are left out, and earlier jobs are replayed in their place.
    LeaveOut,
}

/// What becomes of jobs that ran too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum OverrunsName {
    /// They run as long as they did, and outlive their estimates.
    #[default]
    AsRun,
    /// They run as long as was asked for, as where jobs are ended at their limit.
    Cut,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate deadlines SDSC-SP2-1998-4.2-cln.swf.gz
      figures 1 to 4 of Yeo and Buyya 2006 as tables, and which of their statements hold
  queuecast evaluate deadlines SDSC-SP2-1998-4.2-cln.swf.gz --plot figures.svg
  queuecast evaluate deadlines LOG --spare kept --seeds 3
      with each job held to its share
  queuecast evaluate deadlines SDSC-SP2-1998-4.2-cln.swf.gz --admission --last 20000
      admission by probability, under EASY and Slurm's schedulers, beside EDF, Libra and LibraRisk
  queuecast evaluate deadlines LOG --admission --probability 0.8 --shadow
      whether the forecasts hold, for the jobs that are refused as well
  queuecast evaluate deadlines LOG --format json | jq '.statements[] | select(.holds | not)'

Keys of --format json (one object for one LOG, for more {\"logs\": [...]}):
  log, file, jobs, nodes
                     the log, the jobs that were replayed and the machine
  remarks            what was left out of the log, or taken as not known: list of records (how many; null
                     where it is about the log as a whole) and what
  seed, seeds, deviation, spare, late, projection, bad_records, overruns
                     how
  points             a list of figure (1 to 4), varies, x, policy (edf, edf-without-admission, libra,
                     libra-risk), estimates (accurate, actual), high_urgency_percent, and means over
                     the seeds: fulfilled_percent, mean_slowdown (null where a replay fulfilled
                     none), accepted, late; fulfilled_percent_interval and mean_slowdown_interval are
                     the ends of 95 % intervals; the estimates of figure 4 are actual as far as x
                     says
  statements         a list of statement, source (section and figure), holds, because
With --admission instead of points and statements:
  history            how many jobs were replayed before those that count
  rows               a list of policy (the above, all, probability), scheduler, wanted, molding,
                     fulfilled_percent (of completing, the jobs that came to their own end by the
                     log), completing, mean_slowdown, accepted, late, withdrawn (failed or was
                     cancelled before its deadline: it counts for nobody), fulfilled_standard_error,
                     kept, kept_standard_error, refused_in_time, molded, admitted_work
  calibration        with --shadow, a list of scheduler, wanted, and groups of jobs: all, and the lists
                     by_forecast, by_queue and by_size, of name, admitted and refused, each with jobs
                     that were kept or missed, forecast (the mean probability) and kept (the part)";

fn deviation(text: &str) -> Result<f64, String> {
    let deviation = text.parse().ok().filter(|deviation| (0.0..=1.0).contains(deviation));
    deviation.ok_or_else(|| "a part of the mean between 0 and 1".to_owned())
}

fn probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|probability| *probability > 0.0 && *probability < 1.0);
    probability.ok_or_else(|| "a probability between 0 and 1".to_owned())
}

impl Arguments {
    fn choices(&self) -> Choices {
        let spare = match self.spare {
            SpareName::Given => SparePower::Given,
            SpareName::Kept => SparePower::Kept,
        };
        let late = match self.late {
            LateName::Claims => Late::Claims,
            LateName::Yields => Late::Yields,
        };
        let projection = match self.projection {
            ProjectionName::DealtAnew => Projection::DealtAnew,
            ProjectionName::StretchedOnce => Projection::StretchedOnce,
        };
        Choices { sharing: Sharing { spare, late, is_capped: false }, projection }
    }
}

/// The jobs of a log that are replayed.
struct Replayed {
    name: String,
    source: String,
    nodes: u32,
    jobs: Vec<BaseJob>,
    /// What was left out of the log, or taken as not known.
    remarks: Remarks,
}

impl Replayed {
    fn read(path: &Path, arguments: &Arguments) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let (read, remarks) = read_log(path, &arguments.common.log_file)?;
        let stated = || read.header.max_processors().and_then(|stated| u32::try_from(stated).ok()).filter(|stated| *stated > 0);
        let nodes = arguments.nodes.map(NonZeroU32::get).or_else(stated);
        let nodes = nodes
            .with_context(|| format!("{source}: the log does not say how large its machine is; name it with --nodes or --processors"))?;
        let bad_records = match arguments.bad_records {
            BadRecordsName::OneSecond => BadRecords::OneSecond,
            BadRecordsName::LeaveOut => BadRecords::LeaveOut,
        };
        let jobs = deadlines::base_jobs(
            &read.records,
            &LastJobs { count: arguments.last.get(), nodes, bad_records, cuts_overruns: arguments.overruns == OverrunsName::Cut },
        );
        ensure!(!jobs.is_empty(), "{source}: there are no jobs in it");
        Ok(Self { name: log_file::name(path), source, nodes, jobs, remarks })
    }

    fn report(&self, arguments: &Arguments, pool: &ThreadPool) -> DeadlineReport {
        let bar = evaluation::bar(&MultiProgress::with_draw_target(ProgressDrawTarget::stderr()), &self.name);
        bar.enable_steady_tick(Duration::from_millis(500));
        let settings = Settings {
            nodes: self.nodes as usize,
            urgencies: Urgencies { deviation: arguments.deviation, ..Urgencies::default() },
            choices: arguments.choices(),
            first_seed: arguments.common.seed,
            seeds: arguments.seeds.get(),
        };
        let progress = |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        let points = pool.install(|| deadlines::points(&self.jobs, &settings, &progress));
        bar.finish_and_clear();
        DeadlineReport::of(self, arguments, &points)
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.admission {
        let reports = admission::reports(arguments).map_err(Failure::Input)?;
        return arguments.common.report(reports, |_, _| Ok(()), |reports| admission::text(reports.logs()));
    }
    let reports = reports(arguments).map_err(Failure::Input)?;
    arguments.common.report(reports, picture::draw, |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments) -> anyhow::Result<Vec<DeadlineReport>> {
    let pool = arguments.common.threads(1, None)?;
    let logs = arguments.common.read_each(|path| Replayed::read(path, arguments))?;
    Ok(logs.iter().map(|log| log.report(arguments, &pool)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_is_a_part_of_the_mean() {
        assert_eq!(deviation("0.5"), Ok(0.5));
        assert!(["-0.1", "1.5", "NaN", "some"].iter().all(|text| deviation(text).is_err()));
    }
}
