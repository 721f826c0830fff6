//! What is to be changed in a job that was admitted with a deadline, from what slurmctld and the
//! job's record say of it.
//!
//! Nothing is remembered from one look to the next: the record has the deadline, and what was
//! written and told last. Where the job is not as it was written last, somebody else has changed
//! it, and it is theirs from then on. What was never written, such as the time limit, is not held
//! against the record: what the job has now counts.

use super::deadline_chance::{Present, present_probability};
use super::queued_job::QueuedJob;
use job_types::options::Mode;
use job_types::policy::Admission;
use job_types::promise::{Promise, PromisedDeadline};
use job_types::record::{Changed, EndOfPromise, Record};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::Site;
use predictor_core::decisions::{FARTHEST_DEADLINE, governing};
use predictor_core::forecasts::forecast::{Association, JobShape, RunTimeForecaster, WaitForecaster};
use std::fmt::Write;

/// How far ahead the deadline is set by which Slurm ends a job that is late: slurmctld refuses one
/// that has passed by its own clock.
const END_AHEAD: Seconds = Seconds(10);

/// How far apart the clocks of slurmctld and of whoever looks at its jobs may be: no further than
/// slurmctld takes the deadline that ends a job.
const CLOCKS_WITHIN: Seconds = END_AHEAD;

/// How long Slurm has for ending a job that is late, before it is cancelled. Its scheduler looks at
/// the deadline of a job when its turn comes, which behind a long queue is never.
const END_PATIENCE: Seconds = Seconds(300);

/// A job with less than this part of the probability that was promised is at risk, which its user
/// is told: one that was nearly sure is then more likely late than not.
const AT_RISK: f64 = 0.5;

/// What a note in a job's comment begins with, and what parts it from its user's own text.
const NOTE: &str = "queuecast: ";
const NOTE_END: &str = " | ";

/// The longest comment of its user's own that is kept beside a note, in bytes. Beside a longer one
/// nothing is noted.
const MOST_COMMENT_BYTES: usize = 1024;

/// Whether the clocks are near enough for saying what is late by slurmctld's, which is what users'
/// deadlines are meant by. `controller_ahead` is by how much its clock is ahead, where that is
/// known; where it is not, nothing can be said.
#[must_use]
pub fn clocks_agree(controller_ahead: Option<Seconds>) -> bool {
    controller_ahead.is_some_and(|ahead| (Seconds(-CLOCKS_WITHIN.0)..=CLOCKS_WITHIN).contains(&ahead))
}

/// How an admission stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum AdmissionState {
    /// The job waits.
    Waiting,
    /// The job runs.
    Running,
    /// It waits or runs, and is more likely late than not.
    AtRisk,
    /// It has not started, and could not be done in time any more.
    Late,
    /// The job is held, suspended or waits for others.
    Blocked,
    /// Somebody else has changed the job, which is left alone.
    Stopped,
    /// The record says too little, or what can't be: the job is left alone.
    Unusable,
    /// The site holds no deadlines in this partition, or the user wants none of it.
    NotEnforced,
}

impl AdmissionState {
    /// All of them.
    pub const ALL: &[AdmissionState] = <AdmissionState as strum::VariantArray>::VARIANTS;

    /// The name of the state in metrics and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is wanted of an admitted job.
#[derive(Clone, Copy, Debug, PartialEq, strum::IntoStaticStr, strum::VariantNames)]
pub enum AdmissionWanted {
    /// Another place in the order: this much in the place of what was added to the job's priority.
    #[strum(serialize = "ordered")]
    Place {
        /// What is to be added.
        added: i64,
    },
    /// The job's user is told how likely the deadline is to be kept now.
    #[strum(serialize = "told")]
    Note {
        /// The probability, where it is known.
        probability: Option<f64>,
    },
    /// An end of the job by Slurm, because it is late.
    #[strum(serialize = "ended")]
    End,
    /// A cancellation of the job, because Slurm has not ended it.
    #[strum(serialize = "cancelled")]
    Cancellation,
    /// A note in the job's record that the job is left alone from now on.
    #[strum(serialize = "stopped")]
    NoteOfStop,
    /// An end of the promise, which the job's user is told: the job is an ordinary one from now on,
    /// with its own priority.
    #[strum(serialize = "promise_ended")]
    EndOfPromise(EndOfPromise),
}

impl AdmissionWanted {
    /// All names that they have in metrics and logs.
    pub const NAMES: &[&str] = <AdmissionWanted as strum::VariantNames>::VARIANTS;

    /// The name of what is wanted in metrics and logs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Whether it holds by slurmctld's clock, which is ahead by so much: nothing that ends a job or
    /// says how likely its deadline is does while the clocks do not agree.
    #[must_use]
    pub fn is_certain(&self, controller_ahead: Option<Seconds>) -> bool {
        match self {
            AdmissionWanted::Place { .. } | AdmissionWanted::NoteOfStop | AdmissionWanted::EndOfPromise(_) => true,
            AdmissionWanted::Note { .. } | AdmissionWanted::End | AdmissionWanted::Cancellation => clocks_agree(controller_ahead),
        }
    }
}

/// What a look at an admitted job found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionUpkeep {
    /// How the admission stands.
    pub state: AdmissionState,
    /// The job's deadline, where the job takes part in the order of its partition.
    pub ordered_by: Option<UnixTime>,
    /// What is to be changed, and by when that has to be done to be of use.
    pub wanted: Option<(AdmissionWanted, UnixTime)>,
}

/// An update of an admitted job, with the record that goes with it. What is `None` stays.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmissionUpdate {
    /// Slurm's own deadline.
    pub deadline: Option<UnixTime>,
    /// The shortest time limit.
    pub shortest_limit: Option<Seconds>,
    /// The factor of the site.
    pub site_factor: Option<i64>,
    /// What is noted in front of its user's comment ([`noted`]).
    pub note: Option<String>,
    /// The record.
    pub record: Box<Record>,
}

/// One step of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum AdmissionStep {
    /// An update of the job.
    Update(AdmissionUpdate),
    /// The job's cancellation.
    Cancel,
}

impl QueuedJob {
    /// The deadline that it was admitted with; `None` where something is missing, or is what no
    /// filter writes.
    fn promised_deadline(&self, now: UnixTime) -> Option<PromisedDeadline> {
        let promise = Promise::given(&self.record)?.deadline().filter(|promise| promise.by != Admission::Off)?;
        let is_possible = (Seconds(-FARTHEST_DEADLINE.0)..=FARTHEST_DEADLINE).contains(&(promise.deadline - now));
        is_possible.then_some(promise)
    }

    /// What was added to its priority for its place in the order.
    #[must_use]
    pub fn added(&self) -> i64 {
        self.changed().and_then(|changed| changed.added).unwrap_or(0)
    }

    /// Whether somebody else has given it a deadline of Slurm's or another factor of the site.
    fn is_somebody_elses(&self) -> bool {
        let late = self.changed().and_then(|changed| changed.late).map(UnixTime);
        let site_factor = self.changed().and_then(|changed| changed.site_factor);
        self.slurm_deadline.is_some_and(|deadline| Some(deadline) != late) || site_factor.is_some_and(|last| last != self.site_factor)
    }

    /// Whether its priority has stayed to the last digit although its factor of the site was
    /// changed: an operator has given it a priority of its own, which factors do not touch. It is
    /// changed again once its priority moves.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.changed().and_then(|changed| changed.priority) == Some(self.priority)
    }

    /// The priority that it has by itself, without what was added for the order: at least 1, as no
    /// sum is lower.
    #[must_use]
    pub fn own_priority(&self) -> i64 {
        (i64::from(self.priority) - self.added()).max(1)
    }
}

/// The time that a job needs at the least to count as done by its deadline, before it starts.
///
/// By the order by deadline of Yeo and Buyya 2006 (section 4) a job is rejected before its
/// execution if its deadline can't be met by its estimate, which is its time limit or what its user
/// calls enough (`--time-min`). By the other rules a limit is no forecast: only what its user calls
/// enough counts, and otherwise the job waits until the deadline itself.
fn least_time(by: Admission, job: &QueuedJob) -> Seconds {
    let estimate = if by == Admission::Edf { job.limit } else { None };
    job.shortest_limit.or(estimate).unwrap_or(Seconds::ZERO)
}

/// Looks at an admitted job, with what forecasts say at `now`, a moment at which the job had not
/// started if it is said not to have.
pub fn admission_upkeep<S: Site + WaitForecaster + RunTimeForecaster>(job: &QueuedJob, site: &S, now: UnixTime) -> AdmissionUpkeep {
    let keep = |state| AdmissionUpkeep { state, ordered_by: None, wanted: None };
    let governing = governing(job.partition.as_deref(), site);
    let is_enforced = |mode: Mode| mode.min(job.record.mode) == Mode::Enforce;
    let Some((partition, _)) = governing.filter(|(_, policy)| policy.admission != Admission::Off && is_enforced(policy.mode)) else {
        return keep(AdmissionState::NotEnforced);
    };
    if job.changed().is_some_and(|changed| changed.stopped) {
        return keep(AdmissionState::Stopped);
    }
    let Some(promise) = job.promised_deadline(now) else { return keep(AdmissionState::Unusable) };
    let PromisedDeadline { by, deadline, shared_estimate, .. } = promise;
    if job.is_somebody_elses() {
        // It has all the time: without the note, the job's state says the same.
        let wanted = Some((AdmissionWanted::NoteOfStop, now + FARTHEST_DEADLINE));
        return AdmissionUpkeep { wanted, ..keep(AdmissionState::Stopped) };
    }
    let waits = job.started.is_none();
    if job.is_larger_than_promised() {
        let wanted = Some((AdmissionWanted::EndOfPromise(EndOfPromise::MadeLarger), now));
        return AdmissionUpkeep { wanted, ..keep(AdmissionState::Waiting) };
    }
    if job.is_blocked || (waits && job.eligible.is_none()) {
        return keep(AdmissionState::Blocked);
    }
    let ended_by = job.changed().and_then(|changed| changed.late).map(UnixTime);
    if waits && (job.slurm_deadline.is_some() || now + least_time(by, job) > deadline) {
        let wanted = match ended_by.filter(|_| job.slurm_deadline.is_some()) {
            None => Some(AdmissionWanted::End),
            Some(ended_by) if now > ended_by + END_PATIENCE => Some(AdmissionWanted::Cancellation),
            Some(_) => None,
        };
        return AdmissionUpkeep { wanted: wanted.map(|wanted| (wanted, deadline)), ..keep(AdmissionState::Late) };
    }
    // The limit of a job that has a share reaches to its deadline: its estimate counts.
    let limit = shared_estimate.or(job.limit);
    let shape = JobShape { user: job.user, association: association(job, site), partition: partition.index, size: job.size, limit };
    let present = Present {
        shape,
        has_share: shared_estimate.is_some(),
        is_forecast: by == Admission::Probability,
        eligible: job.eligible.unwrap_or(now),
        started: job.started,
        suspended: job.suspended,
        now,
    };
    let probability = present_probability(&present, deadline, site);
    let at_risk = AT_RISK * promise.promised().unwrap_or(1.0);
    let is_at_risk = probability.is_some_and(|probability| probability < at_risk);
    let told_restarts = job.changed().and_then(|changed| changed.told_restarts);
    let is_to_be_told = told_restarts.unwrap_or(0) < job.restarts || (is_at_risk && told_restarts.is_none());
    let state = match (is_at_risk, waits) {
        (true, _) => AdmissionState::AtRisk,
        (false, true) => AdmissionState::Waiting,
        (false, false) => AdmissionState::Running,
    };
    // A job that is not eligible yet, or waits in several queues, would take a place from others
    // that it does not use.
    let is_one_queue = job.partition.as_deref().is_none_or(|partitions| !partitions.contains(','));
    let is_in_order = waits && is_one_queue && job.eligible.is_some_and(|eligible| eligible <= now) && !job.is_fixed();
    AdmissionUpkeep {
        state,
        ordered_by: is_in_order.then_some(deadline),
        wanted: is_to_be_told.then_some((AdmissionWanted::Note { probability }, deadline)),
    }
}

fn association<S: WaitForecaster>(job: &QueuedJob, site: &S) -> Association {
    site.association(job.user, job.account.as_deref(), job.qos.as_deref())
}

impl AdmissionWanted {
    /// The step that brings a job to what is wanted at `now`.
    ///
    /// An end is Slurm's own: with a deadline that can't be met any more slurmctld ends a job that
    /// waits, in the state that its user knows of deadlines, and a job that has started in the
    /// meantime keeps running, because slurmctld does not take a deadline for it.
    #[must_use]
    pub fn step(&self, job: &QueuedJob, now: UnixTime) -> AdmissionStep {
        let before = job.changed().cloned().unwrap_or_default();
        let update = |change: &dyn Fn(&mut Changed)| {
            let mut changed = Changed { count: before.count.saturating_add(1), at: now, ..before.clone() };
            change(&mut changed);
            let record = Box::new(Record { changed: Some(changed), affiliation: Some(job.affiliation()), ..job.record.clone() });
            AdmissionUpdate { deadline: None, shortest_limit: None, site_factor: None, note: None, record }
        };
        AdmissionStep::Update(match *self {
            AdmissionWanted::Cancellation => return AdmissionStep::Cancel,
            AdmissionWanted::Place { added } => {
                let site_factor = job.site_factor.saturating_add(added).saturating_sub(job.added());
                let change = |changed: &mut Changed| {
                    (changed.site_factor, changed.added) = (Some(site_factor), Some(added));
                    changed.priority = Some(job.priority);
                };
                AdmissionUpdate { site_factor: Some(site_factor), ..update(&change) }
            }
            AdmissionWanted::Note { probability } => {
                let probability = probability.map(hundredths);
                let change = |changed: &mut Changed| {
                    (changed.deadline_probability, changed.told_restarts) = (probability, Some(job.restarts));
                };
                AdmissionUpdate { note: Some(present_note(job, probability)), ..update(&change) }
            }
            AdmissionWanted::End => {
                let end = now + END_AHEAD;
                let note = Some("ended because it could not be done by its deadline any more".to_owned());
                // Without a time limit Slurm takes any deadline to be met.
                let shortest_limit = if job.limit.is_none() { Some(Seconds::MINUTE) } else { None };
                let change = |changed: &mut Changed| changed.late = Some(end.0);
                AdmissionUpdate { deadline: Some(end), shortest_limit, note, ..update(&change) }
            }
            AdmissionWanted::EndOfPromise(why) => {
                let site_factor = job.site_factor.saturating_sub(job.added());
                let change = |changed: &mut Changed| {
                    (changed.stopped, changed.ended) = (true, Some(why));
                    if changed.added.is_some() {
                        (changed.site_factor, changed.added) = (Some(site_factor), Some(0));
                    }
                };
                let site_factor = (job.added() != 0).then_some(site_factor);
                AdmissionUpdate { site_factor, note: Some(format!("its deadline is not promised any more: {why}")), ..update(&change) }
            }
            AdmissionWanted::NoteOfStop => {
                let changed = Changed { at: now, stopped: true, ..before.clone() };
                let record = Box::new(Record { changed: Some(changed), ..job.record.clone() });
                AdmissionUpdate { record, ..update(&|_| {}) }
            }
        })
    }
}

/// What a user is told of the present probability.
fn present_note(job: &QueuedJob, probability: Option<f64>) -> String {
    let mut text = match job.restarts {
        0 => "its deadline is at risk".to_owned(),
        _ => "put back into the queue, which puts its deadline at risk".to_owned(),
    };
    match probability {
        Some(probability) => {
            let _ = write!(text, ": done in time with probability {probability:.2}");
        }
        None => text.push_str(", and nothing is known of waits here"),
    }
    let promise = Promise::given(&job.record).and_then(Promise::deadline);
    if let Some(promised) = promise.and_then(|promise| promise.promised()) {
        let _ = write!(text, ", promised {promised:.2}");
    }
    text
}

/// A comment with a note in front of what its user wrote, in the place of an earlier one; `None`
/// where the user's own text is too long to be written anew.
#[must_use]
pub fn noted(comment: Option<&str>, note: &str) -> Option<String> {
    let own = users_comment(comment.unwrap_or_default());
    if own.len() > MOST_COMMENT_BYTES {
        return None;
    }
    Some(if own.is_empty() { format!("{NOTE}{note}") } else { format!("{NOTE}{note}{NOTE_END}{own}") })
}

/// What a job's user wrote into its comment, without a note in front of it.
fn users_comment(comment: &str) -> &str {
    match comment.strip_prefix(NOTE) {
        Some(noted) => noted.split_once(NOTE_END).map_or("", |(_, own)| own),
        None => comment,
    }
}

fn hundredths(probability: f64) -> f64 {
    (probability * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stands_in_front_of_the_users_comment_and_in_the_place_of_an_earlier_one() {
        assert_eq!(noted(None, "late").as_deref(), Some("queuecast: late"));
        assert_eq!(noted(Some("queuecast: late"), "later").as_deref(), Some("queuecast: later"));
        let first = noted(Some("for the paper | v2"), "late").unwrap();
        assert_eq!(first, "queuecast: late | for the paper | v2");
        assert_eq!(noted(Some(&first), "later").as_deref(), Some("queuecast: later | for the paper | v2"));
        assert_eq!(noted(Some(&"x".repeat(2_000)), "late"), None);
    }
}
