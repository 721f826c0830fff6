//! `queuecast reservations`: the virtual reservations that exist, and how likely each is to be
//! kept; and the firm slots, which can be given back.

mod cancel;
mod columns;
mod confirm;
mod decision;
mod firm;
mod numbered;
mod state;
mod text;

use forecast_report::note_on_age;
use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use command_parts::failure::Failure;
use command_parts::output;
use job_types::number::{JobId, UserId};
use job_types::promise::{Promise, PromiseState, PromisedReservation};
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Reservable, governing};
use predictor_core::forecasts::forecast::{JobShape, Moment, WaitForecaster};
use predictor_core::snapshot::Snapshot;
use serde::{Serialize, Serializer};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{self, QueuedJob};
use upkeep::present_probability;

use self::firm::FirmReport;
pub(crate) use self::firm::UNKNOWN_FIRM_SLOTS;
use self::state::State;
use crate::columns::Layout;
use crate::expected;
use crate::genuine::Genuine;
use crate::installation::Installation;
use crate::user;
use crate::view::ListArguments;

/// List the virtual reservations and the firm slots, with how far each has come.
///
/// Virtual ones are the jobs that were submitted with --reserve-at and have not ended: when each
/// wants its nodes, when it becomes eligible, its time limit with the padding and without, the
/// probability that was promised, and that which is forecast now. Jobs come from slurmctld, so that
/// everybody sees what `squeue` shows them; forecasts come from the snapshot.
///
/// States: deferred (not eligible yet), waiting (for nodes), early (on its nodes before the time,
/// waiting for it), running, missed (the time has passed without a start).
///
/// Firm slots are reservations of Slurm's inside a window, as queuecast reserve --between and
/// --reserve-window ask for them. queuecastd tells them, on the host where it runs: yours, and
/// everybody's to operators of Slurm.
///
/// States: asked (nothing is reserved yet), movable (reserved, at a time that may still change),
/// fixed (the time changes no more), attached (the job waits for the reservation alone), running;
/// and when it is over used, early (the job has started before it), returned (nobody used it),
/// refused (there was no slot in the window), lost (it was taken away), cancelled.
///
/// Exit status: 0 if slurmctld has answered, also where there are none; 2 for wrong usage; 4 where
/// slurmctld does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    list: ListArguments,
}

#[derive(Debug, Subcommand)]
enum What {
    Cancel(cancel::Arguments),
    Confirm(confirm::Arguments),
    Decision(decision::Arguments),
}

const EXAMPLES: &str = "\
Examples:
  queuecast reservations
      all of them, the next to fall due first
  queuecast reservations --me --iterate 10
      mine, anew every ten seconds until Ctrl-C
  queuecast reservations -S forecast -O jobid,username,reservedat,promised,forecast
      five columns, the least likely to be kept first
  queuecast reservations --json | jq '.reservations[] | select(.forecast < .promised) | .job_id'
      those that are less likely to be kept than was promised
  queuecast reservations cancel 7
      gives back the firm slot with the number 7

Columns of --columns, with squeue's letter for -o and --sort:
  jobid (i), username (u), account (a), partition (P), numnodes (D), reservedat (S), reservedin,
  state (t), eligibletime, timelimit (l), ownlimit, promised, forecast. Without --columns all but
  account; without --sort the next to fall due first. What is not known comes last. They are of
  virtual reservations alone.

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  generation, snapshot_age_s
                the snapshot that is forecast from; null without one
  reservations  list, with the kind of each:
    virtual     job_id, user, user_name, account, partition, nodes, reserved_at, state (deferred,
                waiting, early, running, missed), kept (true or false once the time has passed;
                null also of a job that was requeued since), begin (when the job becomes or became
                eligible), started, expected_start (by the plan of the queue, of a job that waits),
                limit_s, own_limit_s (as its user wrote it), promised (the probability at the
                submission), forecast (the probability now; null once the job has its nodes)
    firm        id, name (of the reservation), job_id, user, user_name, account, partition, nodes,
                limit_s, state (asked, movable, fixed, attached, running, used, early, returned,
                refused, lost, cancelled), start, end (by the job's time limit), window (earliest,
                latest), fixed_at (when it stops moving), moved (how many times), refused (null, or
                reason and nearest, the nearest window in which there may be one), together (what
                the parts of several clusters are known by, of which it is one), confirm_by (when
                it is given back, or asked about, unless it is confirmed)
  notes         what else is to be known";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    generation: Option<u64>,
    snapshot_age_s: Option<i64>,
    reservations: Listed,
    notes: Vec<String>,
    #[serde(skip)]
    now: UnixTime,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    layout: Layout<ReservationReport>,
}

/// What a reservation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Nodes at a time with a probability.
    Virtual,
    /// A reservation of Slurm's.
    Firm,
}

/// The reservations of both kinds, which are one list for programs.
#[derive(Debug)]
struct Listed {
    with_probability: Vec<ReservationReport>,
    firm: Vec<FirmReport>,
}

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Either<'a> {
            Virtual(&'a ReservationReport),
            Firm(&'a FirmReport),
        }
        let firm = self.firm.iter().map(Either::Firm);
        serializer.collect_seq(self.with_probability.iter().map(Either::Virtual).chain(firm))
    }
}

/// A job with a virtual reservation.
#[derive(Debug, Serialize)]
struct ReservationReport {
    kind: Kind,
    job_id: JobId,
    user: UserId,
    user_name: Option<String>,
    account: Option<String>,
    partition: String,
    nodes: u32,
    reserved_at: i64,
    state: State,
    kept: Option<bool>,
    begin: Option<i64>,
    started: Option<i64>,
    expected_start: Option<i64>,
    limit_s: Option<i64>,
    own_limit_s: Option<i64>,
    promised: Option<f64>,
    forecast: Option<f64>,
}

impl Arguments {
    /// The installation whose daemon is asked.
    pub(crate) fn asked(&self) -> Installation {
        match &self.what {
            Some(What::Cancel(arguments)) => arguments.slot.installation(),
            Some(What::Confirm(arguments)) => arguments.slot.installation(),
            Some(What::Decision(arguments)) => arguments.installation(),
            None => self.list.view.installation_here(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.what {
        Some(What::Cancel(arguments)) => return cancel::run(arguments),
        Some(What::Confirm(arguments)) => return confirm::run(arguments),
        Some(What::Decision(arguments)) => return decision::run(arguments),
        None => {}
    }
    let ListArguments { view, .. } = &arguments.list;
    view.cluster.is_of_slurm_here()?;
    view.show(|| {
        let written = output::tell(view.format(), &report(arguments)?, text::text)?;
        Ok((arguments.list.written(written), ExitCode::SUCCESS))
    })
}

fn report(arguments: &Arguments) -> Result<Report, Failure> {
    let now = output::now();
    let wanted = arguments.list.selection()?;
    let layout = arguments.list.layout(&columns::COLUMNS, columns::DEFAULT)?;
    let jobs = controller::jobs().map_err(|error| Failure::Input(error.into()))?;
    let installation = arguments.list.view.installation_here();
    let snapshot = installation.snapshot();
    let known = snapshot.as_ref().ok();
    let expected = expected::starts(known);
    let genuine = Genuine::at(&installation);
    let is_meant = |job: &&QueuedJob| {
        genuine.believes_queued(job)
            && wanted.means_user(job.user_id)
            && wanted.means_account(job.account.as_deref())
            && wanted.means_partition(job.partition.as_deref().unwrap_or_default())
            && wanted.means_job(job.job_id, job.array_job_id)
    };
    let mut reservations: Vec<_> =
        jobs.iter().filter(is_meant).filter_map(|job| ReservationReport::of(job, known, &expected, now)).collect();
    reservations.sort_by_key(|reservation| (reservation.reserved_at, reservation.job_id));
    layout.sort(&mut reservations);
    let (firm, why_no_firm) = firm::listed(&installation, &wanted);
    let mut notes: Vec<String> = installation.privacy_note().into_iter().collect();
    match &snapshot {
        Err(error) => notes.push(format!("nothing is forecast: {error}")),
        Ok(snapshot) => notes.extend(note_on_age(snapshot, now)),
    }
    notes.extend(why_no_firm);
    Ok(Report {
        generation: known.map(Snapshot::generation),
        snapshot_age_s: known.map(|snapshot| snapshot.age(now).0),
        reservations: Listed { with_probability: reservations, firm },
        notes,
        now,
        is_filtered: !wanted.is_all(),
        layout,
    })
}

impl ReservationReport {
    /// Reports on the reservation of a job that has not ended; `None` if it has no reservation or
    /// has ended.
    fn of(job: &QueuedJob, snapshot: Option<&Snapshot<Vec<u8>>>, expected: &BTreeMap<JobId, i64>, now: UnixTime) -> Option<Self> {
        if !matches!(job.state, JobState::Pending | JobState::Requeued | JobState::Running | JobState::Suspended | JobState::Completing) {
            return None;
        }
        let record = Record::parse(job.admin_comment.as_deref()?)?;
        let promise = Promise::standing(&record)?.reservation()?;
        let (reserved, size) = (promise.at, promise.size);
        let started = job.started.map(UnixTime);
        // slurmctld has no eligible time of a job that is held.
        let begin = job.eligible.map(UnixTime).or(promise.begin);
        let own_limit = promise.limit_without_padding();
        let program_begins = started.map(|started| started + record.wait_on_nodes(started, job.time_limit_seconds.map(Seconds)));
        let outcome = promise.state(&job.reserved_run(), now);
        let state = State::of(outcome == Some(PromiseState::Missed), begin, program_begins, now);
        let forecast = match started {
            Some(_) => None,
            None => snapshot.zip(begin).and_then(|(snapshot, begin)| forecast(job, &promise, snapshot, begin, now)),
        };
        Some(Self {
            kind: Kind::Virtual,
            job_id: job.job_id,
            user: job.user_id,
            user_name: job.user.clone().or_else(|| user::name(job.user_id)),
            account: job.account.clone(),
            partition: job.partition.clone().unwrap_or_default(),
            nodes: size.nodes,
            reserved_at: reserved.0,
            state,
            kept: outcome.and_then(PromiseState::is_kept),
            begin: begin.map(|begin| begin.0),
            started: job.started,
            expected_start: expected.get(&job.job_id).copied().filter(|_| state == State::Waiting || state == State::Missed),
            limit_s: job.time_limit_seconds,
            own_limit_s: own_limit.map(|limit| limit.0),
            promised: promise.promised,
            forecast: forecast.map(|probability| (probability * 100.0).round() / 100.0),
        })
    }
}

/// The probability that a job which has not started does so by its time.
fn forecast(job: &QueuedJob, promise: &PromisedReservation, snapshot: &Snapshot<Vec<u8>>, begin: UnixTime, now: UnixTime) -> Option<f64> {
    let (partition, _) = governing(job.partition.as_deref(), snapshot)?;
    let is_deferred = begin > now;
    // Waits are forecast for the limit that the job waits with, and a trajectory pads by itself.
    let limit = if is_deferred { promise.limit_without_padding() } else { job.time_limit_seconds.map(Seconds) };
    let shape = JobShape {
        user: job.user_id,
        association: snapshot.association(job.user_id, job.account.as_deref(), job.qos.as_deref()),
        partition: partition.index,
        size: promise.size,
        limit,
    };
    let job = Reservable { forecasts: snapshot, shape, now: Moment::present(now), longest_limit: None };
    present_probability(&job, promise.at, begin, promise.wanted().unwrap_or(1.0))
}
