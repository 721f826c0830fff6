//! `queuecast explain`: what was asked, written and forecast for a job, and what happened.

mod deadline;
mod outcome;
mod slot;
mod source;
mod text;

use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, Written};
use job_types::record::Record;
use job_types::time::UnixTime;
use serde::Serialize;

use self::deadline::DeadlineReport;
use self::outcome::{Change, JobOutcome};
use self::source::Job;
use crate::expected;
use crate::genuine::Genuine;
use crate::job_name::JobName;
use crate::view::ViewArguments;

/// Show what queuecast decided about a job and why, and hold the forecast against what happened.
///
/// The job carries its record in its admin_comment, so the answer comes from slurmctld or, once the
/// job has left it, from slurmdbd.
///
/// Exit status: 0 if there is an answer; 1 if the job is not known or carries no record; 2 for
/// wrong usage; 4 where slurmctld does not answer and slurmdbd does not know the job either; 5
/// where slurmctld does not know the job and slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The job's number; of an array's task its number, as 1234_5, or its own.
    #[arg(value_name = "JOBID")]
    job: JobName,

    #[command(flatten)]
    view: ViewArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast explain 1234
  queuecast explain 1234_5
  queuecast explain 1234 --iterate 10
      anew every ten seconds, until Ctrl-C
  queuecast explain 1234 --json | jq .outcome.reservation_kept

Keys of --json (times in Unix seconds and *_s in seconds, each but those of the record with a
*_text beside it as Slurm prints it; null where not known or not yet):
  job            id, array_task, source (slurmctld or slurmdbd), state, user, user_id, partition,
                 nodes, cpus, limit_s (null: unlimited), submitted, eligible, started,
                 expected_start, ended, suspended_s, runs
  record         what the job carries: version, generation, at, mode, asked, written, forecast,
                 instead_of, left, changed (by the daemon); null if it carries none
  forecast       the forecast that holds for the job as it ran: of the job as written in the
                 mode `enforce`, else of the job as submitted
  outcome        wait_s (from the decision on; so far, where it still waits), run_s (so far,
                 where it still runs), held_s (of waiting on its nodes), and, true, false, or
                 null where open or not asked: wait_within_bound, run_time_in_range,
                 reservation_kept, deadline_met
  deadline       of a job that was admitted with one (else null): rule (edf, libra, libra-risk or
                 probability), deadline, wanted, promised, state (open, kept, missed, withdrawn),
                 spare_s (from its end to the deadline, negative where it was late), expected_end
                 (of one that has not ended), reasons (of one that is late: list of what and by,
                 where what is waited or ran (longer than forecast), suspended, requeued (by: how
                 often), changed, ended_as_late (by queuecastd), limit (that queuecast had
                 written), cancelled, failed, slurms_deadline, no_room (for what was
                 forecast))
  changed_since  where the job is not any more what was written last: list of what, written, now
  problem        why there is no record";

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    job: Job,
    record: Option<Record>,
    forecast: Option<job_types::record::Forecast>,
    outcome: Option<JobOutcome>,
    deadline: Option<DeadlineReport>,
    changed_since: Vec<Change>,
    problem: Option<String>,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.view.cluster.is_of_slurm_here()?;
    arguments.view.show(|| told(arguments))
}

/// The job as it is now. A job that carries no record is shown as well, before the reason is told.
fn told(arguments: &Arguments) -> Result<(Written, ExitCode), Failure> {
    let name = arguments.job;
    let job = source::find(name, &Genuine::at(&arguments.view.installation_here()))?.ok_or_else(|| {
        Failure::No(anyhow!(
            "neither slurmctld nor slurmdbd knows a job {name}; `sacct --starttime=2000-01-01 --jobs={name}` would show it"
        ))
    })?;
    let expected_start = if job.started.is_none() { expected_start(&job, arguments) } else { None };
    let report = Report::of(job, expected_start, output::now());
    let written = output::tell(arguments.view.format(), &report, text::text)?;
    match report.problem {
        Some(problem) => {
            written.print()?;
            Err(Failure::No(anyhow!("job {name}: {problem}")))
        }
        None => Ok((written, ExitCode::SUCCESS)),
    }
}

/// When a job that waits is expected to start, by the plan of the queue; `None` where that is not
/// known.
fn expected_start(job: &Job, arguments: &Arguments) -> Option<i64> {
    let snapshot = arguments.view.installation_here().snapshot().ok()?;
    expected::starts(Some(&snapshot)).get(&job.id).copied()
}

impl Report {
    fn of(job: Job, expected_start: Option<i64>, now: UnixTime) -> Self {
        let record = job.admin_comment.as_deref().filter(|_| job.is_believed).and_then(Record::parse);
        let problem = record.is_none().then(|| no_record(&job));
        let forecast = record.as_ref().and_then(outcome::forecast_that_holds).cloned();
        let changed_since = record.as_ref().map_or_else(Vec::new, |record| outcome::changes(&job, record));
        let outcome = record.as_ref().map(|record| JobOutcome::of(&job, record, now));
        let deadline = record
            .as_ref()
            .zip(outcome.as_ref())
            .and_then(|(record, outcome)| DeadlineReport::of(&job, record, outcome, &changed_since, expected_start, now));
        Self { outcome, deadline, changed_since, problem, forecast, record, job, now }
    }
}

/// Why a job carries no record, as far as that can be told, and what it takes to get one.
fn no_record(job: &Job) -> String {
    match &job.admin_comment {
        Some(_) if !job.is_believed => {
            "it carries a record that queuecast did not write for this job, or one of a version before records were sealed; it is not believed"
                .to_owned()
        }
        Some(comment) if comment.contains("\"queuecast\"") => {
            "it carries a record that this release can't read; it was cut short, or is of another release".to_owned()
        }
        _ => "it carries no record of queuecast: nothing was asked for it, or the submit filter was off or not there when it was submitted. A \
              job gets one if it is submitted with an option such as --auto-mold, --reserve-at or --reserve-window, or with --deadline, to a \
              partition whose mode is at least `observe`; `queuecast status` says whether the filter acts"
            .to_owned(),
    }
}
