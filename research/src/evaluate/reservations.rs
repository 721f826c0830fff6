//! `queuecast evaluate reservations`: whether virtual reservations are kept, what they cost, and
//! what they do to others (Nurmi, Wolski and Brevik 2008, 4.4 and table 4).

mod joint;
mod picture;
mod published;
mod queue;
mod text;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use command_parts::duration::between;
use command_parts::failure::Failure;
use command_parts::log_file::LogFileOptions;
use job_types::policy::{Others, Policy};
use job_types::time::Seconds;
use serde::Serialize;
use simulator::experiment::{
    ReservationFigures, ReservationMethod, ReservationOptions, ReservationOutcome, ReservationWish, Reviewed, VarqChoice, VarqClasses,
    reservation_figures, reservations,
};
use simulator::remarks::Remarks;
use slurm_conf::duration::{DAY_SECONDS, MINUTE_SECONDS};

use self::published::Published;
use self::queue::Queue;
use super::policies::{OLDEST_STATE, ReplayedJobs, ReplayedLog, USUAL_FIRST_JOB};
use super::run::{self, CellProgress, CommonArguments, OfLogs, first_job, least_first_job};

/// The farthest that the times which are asked for can lie apart, in seconds.
const MOST_APART: i64 = 365 * DAY_SECONDS;

/// Replay a log with some of its jobs asking for their nodes at a time, and show whether they had
/// them by then.
///
/// The log is replayed under EASY backfilling. Jobs before --from are the history; of those from
/// there on the share that --share says, drawn job by job, ask for their nodes at the next of the
/// times that lie --every apart, counted from the log's first submission (Nurmi, Wolski and Brevik
/// 2008, 4.4). Each is decided about when it is submitted, by the decision that the plugin ships
/// with, from the state that the daemon would have published. A job that is given a reservation
/// becomes eligible when the decision says so, with a padded time limit, and waits on its nodes
/// where it has them early. One that is refused runs as it was written and counts for nobody's
/// promise.
///
/// With --method varq the published method decides in its place: from the waits of past jobs alone,
/// as QBETS bounds them, every 30 s of the time until then is looked at (3.1). While a job waits to
/// be submitted, this is done anew as waits are learnt.
///
/// --plot draws, for each log, what was promised against what was kept; the waits of the
/// largest class of jobs over 28 days beside the bounds that QBETS had on them (figure 2); and the
/// probability trajectory of a job of four processors and an hour, twelve hours ahead (figure 4).
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for, such as time limits.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The part of the jobs that ask for a reservation, greater than 0 and at most 1; several are
    /// separated by commas.
    #[arg(long, value_name = "F", value_delimiter = ',', required_unless_present_any = ["own_jobs", "joint"],
        conflicts_with_all = ["own_jobs", "joint"], value_parser = share)]
    share: Vec<f64>,

    /// Instead of the log's jobs, jobs of one's own ask, which are submitted beside them (4.1): of
    /// 1, 4, 8, 16 or 32 nodes and 10 minutes to 4 hours, for the next of the times, from --every
    /// before it on. After a refusal another job asks 15 minutes later; after a promise none does
    /// until the time has come. What is refused does not run.
    #[arg(long)]
    own_jobs: bool,

    /// Replay this log beside LOG, each on its own machine, with jobs of one's own as with
    /// --own-jobs that ask for joint reservations on both (4.6): the cheapest set of which one is
    /// kept with the probability. Once one of its jobs has its nodes the other is withdrawn. After
    /// a refusal another job asks an hour later. The logs are laid side by side so that their jobs
    /// --from come together, and weekdays and hours agree.
    #[arg(long, value_name = "LOG2", conflicts_with_all = ["own_jobs", "queue", "method", "point", "plot"])]
    joint: Option<PathBuf>,

    /// How many weeks later LOG2 of --joint lies than that; fewer than 0 are weeks earlier.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "joint", allow_negative_numbers = true)]
    weeks_later: i32,

    /// How many of the log's processors a node of --own-jobs or --joint has.
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "share")]
    node_processors: NonZeroU32,

    /// With which probability they ask for it, greater than 0 and less than 1; several are
    /// separated by commas.
    #[arg(long, value_name = "P", value_delimiter = ',', required = true, value_parser = probability)]
    probability: Vec<f64>,

    /// Replay the jobs of this queue alone, on the whole machine, as the published experiment does:
    /// its number, or its name in the log's header. Without it all jobs are replayed.
    #[arg(long, value_name = "NAME|NUMBER")]
    queue: Option<String>,

    /// Who decides; several are separated by commas and stand in one table.
    #[arg(long, value_enum, value_name = "METHOD", value_delimiter = ',', default_value = "shipped")]
    method: Vec<MethodName>,

    /// Which point of the probability trajectory a job gets.
    #[arg(long, value_enum, value_name = "POINT", default_value_t)]
    point: PointName,

    /// How far apart the times lie that are asked for, at least a minute.
    #[arg(long, value_name = "DURATION", default_value = "6h", value_parser = between::<MINUTE_SECONDS, MOST_APART>)]
    every: Seconds,

    /// How old the state gets that is decided from: as a snapshot that is published so often, by
    /// the daemon every 30s. With 0 each decision sees the present.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = between::<0, OLDEST_STATE>)]
    refresh: Seconds,

    /// The first job that may ask, counted from 1 among the jobs that ran (of the queue, with
    /// --queue), in order of submission.
    /// Those before it are the history [default: 10001, of a log with fewer than 15000 jobs the one
    /// behind its first third].
    #[arg(long, value_name = "N")]
    from: Option<NonZeroUsize>,

    /// The last job that may ask [default: the log's last].
    #[arg(long, value_name = "N")]
    to: Option<NonZeroUsize>,

    /// What of a reservation follows the queue after it was given. With --method varq the begin
    /// does, with all, and the limit with it.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Follow::All)]
    follow: Follow,

    /// What a reservation may do to others, as the setting of that name: "ignore", "sum" or "not
    /// worse".
    #[arg(long, value_name = "RULE", default_value = Policy::default().others.as_str(), value_parser = run::others)]
    others: Others,

    #[command(flatten)]
    common: CommonArguments,
}

/// Who decides about reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum MethodName {
    /// The decision that ships.
    Shipped,
    /// VARQ, as Nurmi, Wolski and Brevik 2008 have it.
    Varq,
    /// The same with classes by size alone, four ranges of processor counts (after Brevik, Nurmi
    /// and Wolski 2006): then a longer limit never looks like a shorter wait.
    VarqBySize,
}

/// Which point of the trajectory a job gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum PointName {
    /// The latest that reaches the probability, which costs least.
    #[default]
    Latest,
    /// The most probable, as with --success-probability=best, where that reaches the probability.
    MostProbable,
}

impl MethodName {
    fn name(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Varq => "varq",
            Self::VarqBySize => "varq-by-size",
        }
    }

    fn method(self) -> ReservationMethod {
        match self {
            Self::Shipped => ReservationMethod::Shipped,
            Self::Varq => ReservationMethod::Varq(VarqClasses::Found),
            Self::VarqBySize => ReservationMethod::Varq(VarqClasses::BySize),
        }
    }
}

impl PointName {
    fn point(self) -> VarqChoice {
        match self {
            Self::Latest => VarqChoice::Latest,
            Self::MostProbable => VarqChoice::MostProbable,
        }
    }
}

/// What of a reservation follows the queue, to see what each part is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Follow {
    /// Nothing: it stays as it was given.
    Nothing,
    /// The padding of the time limit, which shrinks.
    Limit,
    /// The begin as well.
    All,
}

impl Follow {
    fn reviewed(self) -> Reviewed {
        Reviewed { begin: self == Self::All, limit: self != Self::Nothing }
    }
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate reservations SDSC-SP2-1998-4.2-cln.swf.gz --share 0.1 --probability 0.95
      one job in ten asks for its nodes at the next of the times six hours apart
  queuecast evaluate reservations LOG --share 0.1,0.5,0.95 --probability 0.5,0.75,0.95 --plot kept.svg
      nine cells, and how often promises were kept
  queuecast evaluate reservations SDSC-DS-2004-2.1-cln.swf.gz --queue normal --method varq,shipped \
      --share 0.1,0.5,0.95 --probability 0.5,0.75,0.95
      table 4 of Nurmi, Wolski and Brevik 2008 by their own method and by ours, with the published
      figures in brackets
  queuecast evaluate reservations LOG --share 0.5 --probability 0.75 --format json | jq '.kept / .accepted'

  queuecast evaluate reservations LOG --own-jobs --probability 0.5,0.75,0.95 --method varq,shipped
      tables 2 and 3, with the published figures in brackets
  queuecast evaluate reservations SDSC-SP2-1998-4.2-cln.swf.gz --joint SDSC-BLUE-2000-4.2-cln.swf.gz \
      --probability 0.75,0.95,0.99
      nodes on either of two machines, and how far these depend on each other

Keys of --format json (one object for one LOG, one share and one probability; for more {\"logs\": [...]}):
  log, file, queue, jobs, processors
                     the log; queue is null for all, or has number and name; jobs are those that ran
  remarks            what was left out of the log, or taken as not known: list of records (how many; null
                     where it is about the log as a whole) and what
  from, to           which jobs may ask
  method, point, share, probability, every_s, refresh_s, follow
                     how; share is null with --own-jobs
  policy_others      the rule of --others
  requested, accepted, kept
                     reservations that were asked for, that were given, and of these those whose job
                     had its nodes by the reserved time
  mean_predicted     mean probability that was forecast for those given
  kept_part, reserved_times, kept_standard_error
                     kept over accepted; for how many different times they were; and the standard error of
                     that part, which clusters by reserved time (null where all are for one)
  required_processor_hours, used_processor_hours, cost_ratio
                     of the jobs with reservations: what they ran, what they had their processors
                     for, and the second over the first (table 3)
  refused            why: unlikely (the probability was not to be had), beyond_limit (the padded time
                     limit would be longer than any of the log's), no_waits (nothing was known of
                     waits yet), others_wait (they would wait longer than --others allows), other
  by_size, by_time_ahead
                     lists of class, and the figures from requested to cost_ratio; sizes in processors,
                     times from the submission to the reserved time
  others             jobs that may have asked and did not
  others_mean_wait_s, others_mean_wait_without_s, others_p95_wait_s, others_p95_wait_without_s
                     their waits, with the reservations and without any
  utilisation, work_utilisation, utilisation_without
                     processor time of all jobs: with their waits on the nodes, without these, and
                     where nobody asks for a reservation
  published          null, or what was published of the same question: mean_predicted, kept_part,
                     accepted, cost_ratio, source

Keys with --joint:
  log, file, jobs, processors, from, to
                     the log; beside has the first four of LOG2
  weeks_later, probability, every_s, refresh_s, follow, node_processors
                     how
  joint, alone       what was found: joint on both machines, and a list of what was on each alone;
                     keys requested to cost_ratio as above, and on_several: given on both
  also_alone, expected_over_alone
                     joint reservations that one machine alone would have given, and their expected
                     cost over that of the cheapest such
  dependence         where both always have a job, each with the same probability to miss, and
                     nothing is withdrawn: pairs, first_kept, second_kept, either_kept,
                     either_if_independent (from these two), correlation (of the misses)";

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn share(text: &str) -> Result<f64, String> {
    number(text).filter(|share| *share > 0.0 && *share <= 1.0).ok_or_else(|| "a share is greater than 0 and at most 1".to_owned())
}

fn probability(text: &str) -> Result<f64, String> {
    let probability = number(text).filter(|probability| *probability > 0.0 && *probability < 1.0);
    probability.ok_or_else(|| "a probability is greater than 0 and less than 1".to_owned())
}

/// What was found on one log with one share and one probability.
#[derive(Debug, Serialize)]
struct ReservationReport {
    #[serde(flatten)]
    replayed: ReplayedJobs,
    queue: Option<Queue>,
    method: MethodName,
    /// Which point a job gets.
    point: PointName,
    share: Option<f64>,
    probability: f64,
    every_s: i64,
    refresh_s: i64,
    follow: Follow,
    policy_others: Others,
    #[serde(flatten)]
    found: ReservationOutcome,
    published: Option<Published>,
    /// The figures for the picture alone.
    #[serde(skip)]
    figures: Option<Arc<ReservationFigures>>,
}

impl OfLogs for ReservationReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![self.replayed.read_log()]
    }
}

/// A log that is replayed, whole or one queue of it.
struct Replayed {
    log: ReplayedLog,
    queue: Option<Queue>,
    /// What is drawn of the log itself, where a picture is asked for.
    figures: Option<Arc<ReservationFigures>>,
}

impl Replayed {
    fn read(path: &Path, queue: Option<&str>, options: &LogFileOptions) -> anyhow::Result<Self> {
        let mut log = ReplayedLog::read(path, options)?;
        let queue = queue.map(|queue| Queue::keep(queue, &mut log.workload)).transpose().with_context(|| log.source.clone())?;
        Ok(Self { log, queue, figures: None })
    }

    /// Whether it is the queue of the published replays.
    fn is_published(&self) -> bool {
        let header = &self.log.workload.header;
        let is_datastar = header.values("Installation").any(|value| value.to_lowercase().contains("datastar"));
        is_datastar && self.queue.as_ref().is_some_and(|queue| queue.name == "normal")
    }
}

impl Arguments {
    /// The first job that may ask, of a log with so many.
    fn first_job(&self, jobs: usize) -> usize {
        first_job(self.from, USUAL_FIRST_JOB, jobs, self.to.map(NonZeroUsize::get))
    }
}

/// A question about a log.
struct Cell<'a> {
    replayed: &'a Replayed,
    method: MethodName,
    /// The part of the log's jobs that asks; `None` where jobs of one's own do.
    share: Option<f64>,
    probability: f64,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(beside) = &arguments.joint {
        return joint::run(arguments, beside);
    }
    let reports = reports(arguments).map_err(Failure::Input)?;
    arguments.common.report(reports, picture::draw, |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments) -> anyhow::Result<Vec<ReservationReport>> {
    let pool = arguments.common.threads(least_first_job(arguments.from), arguments.to.map(NonZeroUsize::get))?;
    let read = |path: &Path| Replayed::read(path, arguments.queue.as_deref(), &arguments.common.log_file);
    let mut logs = arguments.common.read_each(read)?;
    if arguments.common.has_picture() {
        for replayed in &mut logs {
            let (jobs, processors) = (&replayed.log.workload.jobs, replayed.log.workload.processors);
            let figures =
                reservation_figures(jobs, processors, arguments.first_job(jobs.len())).with_context(|| replayed.log.source.clone())?;
            replayed.figures = Some(Arc::new(figures));
        }
    }
    let shares = if arguments.own_jobs { vec![None] } else { arguments.share.iter().copied().map(Some).collect() };
    let mut cells = Vec::new();
    for replayed in &logs {
        for &method in &arguments.method {
            for &share in &shares {
                cells.extend(arguments.probability.iter().map(|&probability| Cell { replayed, method, share, probability }));
            }
        }
    }
    ReplayedLog::replay_all(&pool, &cells, |cell| &cell.replayed.log, |cell, progress| report(arguments, cell, progress))
}

fn report(arguments: &Arguments, cell: &Cell<'_>, progress: &CellProgress) -> anyhow::Result<ReservationReport> {
    let Cell { replayed, method, share, probability } = *cell;
    let log = &replayed.log;
    let (jobs, processors) = (&log.workload.jobs, log.workload.processors);
    let options = ReservationOptions {
        share: share.unwrap_or(0.0),
        own_jobs: share.is_none().then_some(arguments.node_processors.get()),
        wish: ReservationWish { every: arguments.every, probability, names_probability: true, point: arguments.point.point() },
        method: method.method(),
        from: arguments.first_job(jobs.len()),
        to: arguments.to.map_or(jobs.len(), NonZeroUsize::get),
        refresh: arguments.refresh,
        reviewed: arguments.follow.reviewed(),
        others: arguments.others,
        seed: arguments.common.seed,
    };
    Ok(ReservationReport {
        replayed: log.replayed(options.from, options.to),
        queue: replayed.queue.clone(),
        method,
        point: arguments.point,
        share,
        probability,
        every_s: arguments.every.0,
        refresh_s: arguments.refresh.0,
        follow: arguments.follow,
        policy_others: arguments.others,
        found: reservations(jobs, processors, &options, &|done, all| progress.show(done, all))?,
        published: match share {
            Some(share) => replayed.is_published().then(|| Published::of_share(share, probability)).flatten(),
            None => Published::of_own_jobs(probability),
        },
        figures: replayed.figures.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(text: &str) -> Result<Seconds, String> {
        between::<MINUTE_SECONDS, MOST_APART>(text)
    }

    #[test]
    fn shares_probabilities_and_distances_are_checked() {
        assert_eq!(
            (share("1"), probability("0.95"), apart("6h"), apart("1h30m")),
            (Ok(1.0), Ok(0.95), Ok(Seconds(21_600)), Ok(Seconds(5_400)))
        );
        assert!(["0", "1.1", "NaN", "some"].iter().all(|text| share(text).is_err()));
        assert!(["0", "1", "NaN"].iter().all(|text| probability(text).is_err()));
        assert!(["0h", "-6h", "30s", "six"].iter().all(|text| apart(text).is_err()));
    }
}
