//! `queuecast evaluate reservations`: whether virtual reservations are kept, what they cost, and
//! what they do to others (Nurmi, Wolski and Brevik 2008, 4.4 and table 4).

mod picture;
mod text;

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use indicatif::{MultiProgress, ProgressDrawTarget};
use jiff::SignedDuration;
use job_types::time::Seconds;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use simulator::experiment::{ReservationOptions, ReservationOutcome, ReservationWish, reservations};

use super::policies::ReplayedLog;
use super::run::{CommonArguments, bar};
use crate::failure::Failure;

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
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for, such as time limits.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The part of the jobs that ask for a reservation, greater than 0 and at most 1; several are
    /// separated by commas.
    #[arg(long, value_name = "F", value_delimiter = ',', required = true, value_parser = share)]
    share: Vec<f64>,

    /// With which probability they ask for it, greater than 0 and less than 1; several are
    /// separated by commas.
    #[arg(long, value_name = "P", value_delimiter = ',', required = true, value_parser = probability)]
    probability: Vec<f64>,

    /// How far apart the times lie that are asked for: 6h, 90m, 1h30m.
    #[arg(long, value_name = "DURATION", default_value = "6h", value_parser = duration)]
    every: Seconds,

    /// How old the state gets that is decided from, in seconds: as a snapshot that is published so
    /// often, by the daemon every 30. With 0 each decision sees the present.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    refresh: u32,

    /// The first job that may ask, counted from 1 among the jobs that ran, in order of submission.
    /// Those before it are the history.
    #[arg(long, value_name = "N", default_value = "10001")]
    from: NonZeroUsize,

    /// The last job that may ask [default: the log's last].
    #[arg(long, value_name = "N")]
    to: Option<NonZeroUsize>,

    #[command(flatten)]
    common: CommonArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate reservations SDSC-SP2-1998-4.2-cln.swf.gz --share 0.1 --probability 0.95
      one job in ten asks for its nodes at the next of the times six hours apart
  queuecast evaluate reservations LOG --share 0.1,0.5,0.95 --probability 0.5,0.75,0.95 --plot kept.svg
      all cells of table 4 of Nurmi, Wolski and Brevik 2008, and how often promises were kept
  queuecast evaluate reservations LOG --share 0.5 --probability 0.75 --format json | jq '.kept / .accepted'

Keys of --format json (one object for one LOG, one share and one probability; for more {\"logs\": [...]}):
  log, file, jobs, processors
                     the log; jobs are those that ran
  from, to           which jobs may ask
  share, probability, every_s, refresh_s
                     how
  requested, accepted, kept
                     reservations that were asked for, that were given, and of these those whose job
                     had its nodes by the reserved time
  mean_predicted     mean probability that was forecast for those given
  kept_part, kept_standard_error
                     kept over accepted
  required_processor_hours, used_processor_hours, cost_ratio
                     of the jobs with reservations: what they ran, what they had their processors
                     for, and the second over the first (table 3)
  refused            why: unlikely (the probability was not to be had), beyond_limit (the padded time
                     limit would be longer than any of the log's), no_waits (nothing was known of
                     waits yet), other
  by_size, by_time_ahead
                     lists of class, and the figures from requested to cost_ratio; sizes in processors,
                     times from the submission to the reserved time
  others             jobs that may have asked and did not
  others_mean_wait_s, others_mean_wait_without_s, others_p95_wait_s, others_p95_wait_without_s
                     their waits, with the reservations and without any
  utilisation, work_utilisation, utilisation_without
                     processor time of all jobs: with their waits on the nodes, without these, and
                     where nobody asks for a reservation";

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

fn duration(text: &str) -> Result<Seconds, String> {
    let seconds = text.parse::<SignedDuration>().ok().map(|duration| duration.as_secs());
    seconds.filter(|seconds| *seconds >= 60).map(Seconds).ok_or_else(|| "at least a minute, as in 6h, 90m or 1h30m".to_owned())
}

/// What was found on one log with one share and one probability.
#[derive(Debug, Serialize)]
struct ReservationReport {
    log: String,
    file: String,
    /// Jobs that ran.
    jobs: usize,
    processors: u32,
    from: usize,
    to: usize,
    share: f64,
    probability: f64,
    every_s: i64,
    refresh_s: u32,
    #[serde(flatten)]
    found: ReservationOutcome,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let reports = reports(arguments).map_err(Failure::Input)?;
    arguments.common.report(reports, picture::draw, |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments) -> anyhow::Result<Vec<ReservationReport>> {
    let pool = arguments.common.threads(arguments.from.get(), arguments.to.map(NonZeroUsize::get))?;
    let logs = arguments.common.logs.iter().map(|path| ReplayedLog::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut cells = Vec::new();
    for log in &logs {
        for share in &arguments.share {
            cells.extend(arguments.probability.iter().map(|probability| (log, *share, *probability)));
        }
    }
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    let progress = bar(&bars, "replays");
    progress.set_length(cells.len() as u64);
    progress.enable_steady_tick(Duration::from_millis(500));
    let one = |(log, share, probability): &(&ReplayedLog, f64, f64)| {
        let report = report(arguments, log, *share, *probability).with_context(|| log.source.clone());
        progress.inc(1);
        report
    };
    let reports: Vec<anyhow::Result<ReservationReport>> = pool.install(|| cells.par_iter().with_max_len(1).map(one).collect());
    progress.finish_and_clear();
    reports.into_iter().collect()
}

fn report(arguments: &Arguments, log: &ReplayedLog, share: f64, probability: f64) -> anyhow::Result<ReservationReport> {
    let (jobs, processors) = (&log.workload.jobs, log.workload.processors);
    let options = ReservationOptions {
        share,
        wish: ReservationWish { every: arguments.every, probability },
        from: arguments.from.get(),
        to: arguments.to.map_or(jobs.len(), NonZeroUsize::get),
        refresh: Seconds(i64::from(arguments.refresh)),
        seed: arguments.common.seed,
    };
    Ok(ReservationReport {
        log: log.name.clone(),
        file: log.source.clone(),
        jobs: jobs.len(),
        processors,
        from: options.from,
        to: options.to.min(jobs.len()),
        share,
        probability,
        every_s: arguments.every.0,
        refresh_s: arguments.refresh,
        found: reservations(jobs, processors, &options)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_probabilities_and_distances_are_checked() {
        assert_eq!(
            (share("1"), probability("0.95"), duration("6h"), duration("1h30m")),
            (Ok(1.0), Ok(0.95), Ok(Seconds(21_600)), Ok(Seconds(5_400)))
        );
        assert!(["0", "1.1", "NaN", "some"].iter().all(|text| share(text).is_err()));
        assert!(["0", "1", "NaN"].iter().all(|text| probability(text).is_err()));
        assert!(["0h", "-6h", "30s", "six"].iter().all(|text| duration(text).is_err()));
    }
}
