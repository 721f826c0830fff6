//! The one place from which changes of jobs go to slurmctld.
//!
//! Whoever wants a job changed hands over a [`Change`]: which job, what was seen of it, and steps.
//! Right before the first step the job is read once more, and nothing is done where it is not as it
//! was seen, or where the kill switch is on. A note goes in front of the comment that is read then.
//! A step is done only if the one before has succeeded. What was not done is left: whoever wants it
//! finds out when they look at the job anew.

use std::collections::HashMap;
use std::path::PathBuf;

use job_types::number::{JobId, UserId};
use job_types::record::{Record, SealKey};
use job_types::time::UnixTime;
use slurm_sys::client::ClientError;
use slurm_sys::client::controller::{self, ChangeError, JobUpdate, QueuedJob, ReservationError};
use upkeep::{AdmissionStep, AdmissionUpdate, AdmissionWanted, Step, UPDATE_DELAY, Wanted, noted};

use crate::clock::now;
use crate::known::promised_job::{PromisedJob, Seen};
use crate::metrics::changes::{ChangeMetrics, ChangeOutcome};
use crate::read::queue_reader;

/// One step of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Update {
        update: JobUpdate,
        /// What is noted in front of the comment that the job has right before the update.
        note: Option<String>,
    },
    Cancel,
}

/// A change of one job.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    job: JobId,
    /// When it is of no use any more.
    due: UnixTime,
    seen: Seen,
    /// Whether it is a withdrawal, which is not done any more once it is due.
    is_withdrawal: bool,
    /// Whether it only notes that somebody else has changed the job.
    is_note: bool,
    /// Whether it holds a time limit that the daemon has written to what is allowed, which is done
    /// whatever else has become of the job.
    is_cut: bool,
    /// What of the job it is about, as logs have it.
    subject: &'static str,
    /// Why the job is cancelled, where it is.
    why_cancelled: &'static str,
    /// What is wanted of an admitted job, by its name in metrics.
    of_deadline: Option<&'static str>,
    /// `None` where what is to be noted with a step finds no room.
    actions: Option<Vec<Action>>,
}

impl Change {
    /// What is wanted of a job with a reservation, as of `now`; its records are sealed by `key`.
    pub(super) fn new(reserved: &PromisedJob, wanted: &Wanted, due: UnixTime, now: UnixTime, key: Option<SealKey>) -> Self {
        let action = |step: Step| match step {
            Step::Cancel => Some(Action::Cancel),
            Step::Update { begin, limit, shortest_limit, record } => {
                let admin_comment = Some(sealed(&record, key, reserved.job.user, reserved.job.id, &reserved.rest)?);
                let update = JobUpdate { begin, limit, shortest_limit, admin_comment, ..JobUpdate::default() };
                Some(Action::Update { update, note: None })
            }
        };
        let why_cancelled = if *wanted == Wanted::Withdrawal {
            "a job that it belongs together with has its nodes"
        } else {
            "its reserved time has passed, as its user asked"
        };
        Self {
            job: reserved.job.id,
            due,
            seen: reserved.seen.clone(),
            is_withdrawal: *wanted == Wanted::Withdrawal,
            is_note: *wanted == Wanted::NoteOfStop,
            is_cut: matches!(wanted, Wanted::CutBack(_)),
            subject: "reservation",
            why_cancelled,
            of_deadline: None,
            actions: wanted.steps(&reserved.job, now, UPDATE_DELAY).into_iter().map(action).collect(),
        }
    }

    /// What is wanted of a job that was admitted with a deadline, as of `now`.
    pub(super) fn of_admitted(admitted: &PromisedJob, wanted: AdmissionWanted, due: UnixTime, now: UnixTime, key: Option<SealKey>) -> Self {
        let action = match wanted.step(&admitted.job, now) {
            AdmissionStep::Cancel => Some(Action::Cancel),
            AdmissionStep::Update(AdmissionUpdate { deadline, shortest_limit, site_factor, note, record }) => {
                let admin_comment = sealed(&record, key, admitted.job.user, admitted.job.id, &admitted.rest);
                admin_comment.map(|admin_comment| {
                    let admin_comment = Some(admin_comment);
                    let update = JobUpdate { deadline, shortest_limit, site_factor, admin_comment, ..JobUpdate::default() };
                    Action::Update { update, note }
                })
            }
        };
        Self {
            job: admitted.job.id,
            due,
            seen: admitted.seen.clone(),
            is_withdrawal: false,
            is_note: wanted == AdmissionWanted::NoteOfStop,
            is_cut: false,
            subject: "deadline",
            why_cancelled: "it could not be done by its deadline any more, and Slurm has not ended it for that",
            of_deadline: Some(wanted.name()),
            actions: action.map(|action| vec![action]),
        }
    }

    /// What the firm slot of a job wants of it, which was just read: an update, or with `None` that
    /// it is cancelled because there is no slot.
    pub(crate) fn of_slot(job: &QueuedJob, update: Option<JobUpdate>, due: UnixTime) -> Self {
        let action = update.map_or(Action::Cancel, |update| Action::Update { update, note: None });
        Self {
            job: job.job_id,
            due,
            seen: Seen::from(job),
            is_withdrawal: false,
            is_note: false,
            is_cut: false,
            subject: "firm slot",
            why_cancelled: "there is no firm slot for it, as its user asked",
            of_deadline: None,
            actions: Some(vec![action]),
        }
    }

    pub(super) fn due(&self) -> UnixTime {
        self.due
    }

    #[cfg(test)]
    pub(super) fn job(&self) -> JobId {
        self.job
    }
}

/// Sends changes to slurmctld, and remembers what need not be told twice.
pub(crate) struct Issuer {
    /// The kill switch.
    off: PathBuf,
    metrics: ChangeMetrics,
    /// Whether slurmctld took the last change, or refused it for that job alone.
    is_up: bool,
    /// Jobs that are somebody else's, or that slurmctld refused to change. They are left alone also
    /// where their records could not be made to say so.
    left_alone: HashMap<JobId, LeftAlone>,
}

/// A job that is left alone.
#[derive(Debug, Clone, Copy)]
struct LeftAlone {
    /// When it was submitted, as a job's number may be given again.
    submitted: Option<i64>,
    /// Whether its record says so, as far as it can be made to.
    is_noted: bool,
}

impl Issuer {
    pub(crate) fn new(off: PathBuf, metrics: ChangeMetrics) -> Self {
        Self { off, metrics, is_up: true, left_alone: HashMap::new() }
    }

    /// Forgets jobs that are not in the queue any more, of which these are.
    pub(super) fn forget_others<'a>(&mut self, present: impl Iterator<Item = (JobId, &'a Seen)>) {
        if !self.left_alone.is_empty() {
            let present: HashMap<JobId, Option<i64>> = present.map(|(job, seen)| (job, seen.submitted())).collect();
            self.left_alone.retain(|job, left| present.get(job) == Some(&left.submitted));
        }
    }

    /// Carries a change out. Returns whether others are worth trying now: not while the kill switch
    /// is on or slurmctld is away.
    pub(super) fn issue(&mut self, change: &Change) -> bool {
        if self.is_off() {
            return false;
        }
        match self.left_alone.get(&change.job) {
            Some(left) if (left.is_noted || !change.is_note) && !change.is_cut => return true,
            Some(_) => {}
            None if change.is_note => {
                self.leave_alone(change, false);
                self.metrics.change(ChangeOutcome::Stopped);
                tracing::info!(job = change.job.0, "somebody else has changed the job: its {} is left alone from now on", change.subject);
            }
            None => {}
        }
        match self.carry_out(change) {
            Ok(outcome) => {
                self.note_up();
                if let Some(what) = change.of_deadline.filter(|_| outcome == ChangeOutcome::Made) {
                    self.metrics.deadline_change(what);
                }
                if !change.is_note {
                    self.metrics.change(outcome);
                } else if outcome == ChangeOutcome::Made {
                    self.leave_alone(change, true);
                }
                true
            }
            Err(ChangeError::Ended | ChangeError::Started) => {
                self.note_up();
                self.metrics.change(ChangeOutcome::Overtaken);
                true
            }
            Err(error @ (ChangeError::Refused { .. } | ChangeError::NoReservation)) => {
                self.note_up();
                self.leave_alone(change, true);
                self.metrics.change(ChangeOutcome::Failed);
                tracing::warn!(job = change.job.0, %error, "the job is left as it is");
                true
            }
            Err(error @ (ChangeError::Denied { .. } | ChangeError::Away(_))) => {
                self.metrics.change(ChangeOutcome::Failed);
                self.note_down(&error);
                false
            }
        }
    }

    /// Whether the kill switch is on; what can't be looked up is taken to be on.
    pub(crate) fn is_off(&self) -> bool {
        self.off.try_exists().unwrap_or(true)
    }

    /// Carries out a change of a job for whoever sees to it again in any case: nothing is
    /// remembered of it. Returns whether it is made.
    pub(crate) fn change(&mut self, change: &Change) -> bool {
        if self.is_off() {
            return false;
        }
        match self.carry_out(change) {
            Ok(outcome) => {
                self.note_up();
                self.metrics.change(outcome);
                outcome == ChangeOutcome::Made
            }
            Err(ChangeError::Ended | ChangeError::Started) => {
                self.note_up();
                self.metrics.change(ChangeOutcome::Overtaken);
                false
            }
            Err(error @ (ChangeError::Refused { .. } | ChangeError::NoReservation)) => {
                self.note_up();
                self.metrics.change(ChangeOutcome::Failed);
                tracing::warn!(job = change.job.0, %error, "the job is left as it is");
                false
            }
            Err(error @ (ChangeError::Denied { .. } | ChangeError::Away(_))) => {
                self.metrics.change(ChangeOutcome::Failed);
                self.note_down(&error);
                false
            }
        }
    }

    /// Makes, changes or deletes a reservation of Slurm's, unless the kill switch is on.
    pub(crate) fn reservation<T>(&mut self, ask: impl FnOnce() -> Result<T, ReservationError>) -> Option<Result<T, ReservationError>> {
        if self.is_off() {
            return None;
        }
        let outcome = ask();
        match &outcome {
            Err(error @ (ReservationError::Denied { .. } | ReservationError::Away(_))) => self.note_down(error),
            _ => self.note_up(),
        }
        Some(outcome)
    }

    fn note_down(&mut self, error: &dyn std::fmt::Display) {
        if self.is_up {
            self.is_up = false;
            tracing::warn!(%error, "jobs can't be changed at present; each round tries again");
        }
    }

    fn carry_out(&self, change: &Change) -> Result<ChangeOutcome, ChangeError> {
        let Some(actions) = &change.actions else {
            let reason = "the record would be too long, or can't be sealed".to_owned();
            return Err(ChangeError::Refused { code: -1, reason });
        };
        // The program of a job that has its nodes begins then.
        let is_late = change.is_withdrawal && change.seen.has_started() && UnixTime(now()) >= change.due;
        let present = present(change)?.filter(|_| !is_late);
        let Some(QueuedJob { comment, .. }) = present else { return Ok(ChangeOutcome::Overtaken) };
        for action in actions {
            match action {
                Action::Update { update, note } => {
                    // The user may have written another comment since the queue was read.
                    let comment = note.as_ref().and_then(|note| noted(comment.as_deref(), note));
                    let update = &JobUpdate { comment, ..update.clone() };
                    controller::update_job(change.job, update)?;
                    let JobUpdate { begin, limit, deadline, site_factor, reservation, .. } = update;
                    let (begin, limit_s, deadline) =
                        (begin.map(|begin| begin.0), limit.map(|limit| limit.0), deadline.map(|deadline| deadline.0));
                    tracing::info!(job = change.job.0, begin, limit_s, deadline, site_factor, reservation, "changed the job");
                }
                Action::Cancel => {
                    controller::cancel_job(change.job)?;
                    tracing::info!(job = change.job.0, why = change.why_cancelled, "cancelled the job");
                }
            }
        }
        Ok(ChangeOutcome::Made)
    }

    fn leave_alone(&mut self, change: &Change, is_noted: bool) {
        self.left_alone.insert(change.job, LeftAlone { submitted: change.seen.submitted(), is_noted });
    }

    fn note_up(&mut self) {
        if !self.is_up {
            self.is_up = true;
            tracing::info!("jobs can be changed again");
        }
    }
}

/// A record as it is written into a job, before what somebody else has written behind it.
fn sealed(record: &Record, key: Option<SealKey>, user: UserId, job: JobId, rest: &str) -> Option<String> {
    Some(format!("{}{rest}", record.sealed(&key?, user, Some(job))?))
}

/// The job as it is now, if it is still as it was when the change was found to be wanted.
fn present(change: &Change) -> Result<Option<QueuedJob>, ClientError> {
    let mut known = queue_reader::jobs_with_number(change.job)?;
    let only = if known.len() == 1 { known.pop() } else { None };
    Ok(only.map(|one| one.job).filter(|job| Seen::from(job) == change.seen))
}
