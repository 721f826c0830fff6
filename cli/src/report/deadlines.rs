//! `queuecast report deadlines`: whether jobs that were admitted with deadlines were done in time.

mod open;
mod promise;
mod refused;
mod tally;
mod text;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use predictor_core::decisions::counters::Counter;
use serde::Serialize;
use slurm_sys::client::controller::{self, QueuedJob};
use slurm_sys::client::site;

use self::open::OpenJob;
use self::promise::{AdmittedJob, AdmittedJobs};
use self::refused::RefusedJobs;
use self::tally::{Counts, Row};
use super::interval::CONFIDENCE;
use super::records::RecordsArguments;
use super::reliability::{Caption, PictureArguments};
use crate::genuine::Genuine;
use crate::installation::{Installation, ReportArguments};
use crate::selection::Selection;

/// Show how often jobs that were admitted with deadlines were done in time, beside the probability
/// that was promised.
///
/// Every job that was admitted carries what it was promised in its admin_comment, and slurmdbd
/// keeps it. A deadline is kept if the job's program came to its end without an error until then;
/// it is missed once it has passed without that, or if the job ran into a time limit that queuecast
/// had written. A job that was cancelled before its deadline, failed by itself or ran into its
/// user's own time limit is withdrawn and counts for nobody. Jobs that are in the queue come from
/// slurmctld: they are open until their deadline has passed, and missed from then on. The interval
/// is that of Clopper and Pearson with 95 % confidence, for the part that was kept of those kept
/// and missed.
///
/// A submission that was refused leaves no record in Slurm. The submit filter counts them and notes
/// whose they were, and the daemon keeps that for 400 days, by whole days of UTC; of a day on which
/// more than a hundred users were refused in one partition, the others are counted together. The
/// report says since when they are counted.
///
/// Exit status: 0 if slurmdbd has answered, also where no job was admitted; 2 for wrong usage; 4
/// where Slurm cannot be asked at all; 5 where slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    records: RecordsArguments,

    /// List the admitted jobs in the queue as well, the next to fall due first.
    #[arg(long)]
    open: bool,

    #[command(flatten)]
    picture: PictureArguments,

    #[command(flatten)]
    report: ReportArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast report deadlines
      of the last thirty days, and what is open
  queuecast report deadlines --me --since now-7days
      of my own jobs
  queuecast report deadlines --open
      with the admitted jobs in the queue, and when they are expected to be done
  queuecast report deadlines --since 2026-01-01 --plot kept.svg
      since then, with a picture
  queuecast report deadlines --json | jq '.by_user[] | select(.upper < .promised)'
      users whose deadlines were kept less often than chance explains

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  cluster, since, until
                what was looked at
  confidence    of the intervals
  all, by_partition, by_user, by_rule
                name (null: all; of the rule edf, libra, libra-risk or probability), admitted,
                refused (submissions; null where not known; the name (others) has those of which
                no more is known), kept, missed, withdrawn, open (these four add up to admitted),
                promised (mean probability of those kept and missed that have one), kept_part (of
                those kept and missed), lower and upper (its interval)
  reliability   those kept and missed that were promised with a probability: list of partition
                (null: all), from and to (the probabilities that are counted together, to excluded),
                deadlines, promised (mean), kept, kept_part, lower, upper
  refused_since from when on refused are counted, by whole days of UTC; null where not known
  submissions   what the submit filter has counted: since, admitted, refused (for their deadline);
                null where the counters can't be read
  open_jobs     with --open: list of job_id, user, user_name, partition, rule, deadline, state
                (waiting, running), promised, started, expected_end, latest_end (at the time limit),
                late_s (how much later than the deadline it is expected to end)
  notes         what else is to be known";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    cluster: String,
    since: i64,
    until: i64,
    confidence: f64,
    all: Counts,
    by_partition: Vec<Counts>,
    by_user: Vec<Counts>,
    by_rule: Vec<Counts>,
    reliability: Vec<Row>,
    refused_since: Option<i64>,
    submissions: Option<Submissions>,
    open_jobs: Option<Vec<OpenJob>>,
    notes: Vec<String>,
}

/// What the submit filter has counted of jobs with deadlines.
#[derive(Debug, Serialize)]
struct Submissions {
    since: i64,
    admitted: u64,
    refused: u64,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let whose = arguments.records.selection()?;
    let report = report(arguments, &whose).map_err(Failure::Input)?;
    let caption = Caption {
        title: format!("{}: deadlines of admitted jobs", report.cluster),
        observed: "part of the deadlines that were kept",
        nothing: "there were no deadlines that were promised with a probability and are decided",
    };
    arguments.picture.draw(caption, report.reliability.iter().map(|row| &row.kept)).map_err(Failure::Input)?;
    output::tell(arguments.report.format, &report, text::text)?.print()?;
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &Arguments, whose: &Selection) -> anyhow::Result<Report> {
    arguments.picture.check_folder()?;
    let past = arguments.records.past.past()?;
    let cluster = site()?.cluster;
    let installation = arguments.report.installation();
    let mut notes = Vec::new();

    let genuine = Genuine::at(&installation);
    let mut found = AdmittedJobs::default();
    let note_on_unbelieved =
        arguments.records.read(&cluster, past, whose, &genuine, |record, partition| found.add_ended(record, partition))?;
    let queued = controller::jobs().unwrap_or_else(|error| {
        notes.push(format!("{error}; nothing is known here of jobs in the queue"));
        Vec::new()
    });
    notes.extend(note_on_unbelieved);
    let is_meant =
        |job: &&QueuedJob| genuine.believes_queued(job) && whose.means_user(job.user_id) && whose.means_account(job.account.as_deref());
    let queued: Vec<(&QueuedJob, &str)> =
        queued.iter().filter(is_meant).filter_map(|job| Some((job, arguments.records.past.wanted(job.partition.as_deref())?))).collect();
    queued.iter().for_each(|(job, partition)| found.add_queued(job, partition));

    let now = past.until;
    let refused = RefusedJobs::of(&installation, past, &arguments.records.past, whose, &mut notes);
    let by =
        |refused: Option<BTreeMap<String, u64>>, name: fn(&AdmittedJob) -> String| tally::by(found.iter(), refused.as_ref(), now, name);
    Ok(Report {
        all: tally::all(found.iter(), refused.as_ref().map(RefusedJobs::all), now),
        by_partition: by(refused.as_ref().map(RefusedJobs::by_partition), |job| job.partition.clone()),
        by_user: by(refused.as_ref().map(RefusedJobs::by_user), AdmittedJob::user),
        by_rule: by(refused.as_ref().map(RefusedJobs::by_rule), |job| job.rule().as_str().to_owned()),
        reliability: tally::reliability(found.iter(), now),
        refused_since: refused.as_ref().map(|refused| refused.since.0),
        submissions: submissions(&installation, &mut notes),
        open_jobs: arguments.open.then(|| open::open_jobs(&queued, &installation, now, &mut notes)),
        cluster,
        since: past.since.0,
        until: past.until.0,
        confidence: CONFIDENCE,
        notes,
    })
}

/// What the filter has counted, where that can be read.
fn submissions(installation: &Installation, notes: &mut Vec<String>) -> Option<Submissions> {
    let path = installation.counters_path();
    match installation.counted() {
        Ok(Some(counted)) => Some(Submissions {
            since: counted.since().0,
            admitted: counted.sum(Counter::Admitted),
            refused: counted.sum(Counter::NotAdmitted),
        }),
        Ok(None) => {
            notes.push(format!("{}: damaged, or of another release; how many were refused is not known", path.display()));
            None
        }
        Err(error) => {
            notes.push(format!("{}: {error}; how many were refused is not known", path.display()));
            None
        }
    }
}
