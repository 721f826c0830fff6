//! One submission, from the job description to the answer.

use crate::request;
use crate::rewrite::Rewrite;
use crate::snapshot::Current;
pub use crate::state::State;
use crate::state::{self, Located};
use crate::uptake::Fault;
use predictor_core::counters::Counter;
use predictor_core::decision::{Bounds, Decision, Situation, Submission, decide, is_in_question, mode_of};
use predictor_core::forecast::Claims;
use predictor_core::options::{Asked, Mode, OptionError};
use predictor_core::policy::Policy;
use predictor_core::record::Record;
use predictor_core::site::Partition;
use predictor_core::snapshot::{Snapshot, Timeliness};
use predictor_core::time::{Seconds, UnixTime};
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::memory::Memory;

/// The plugin's answer to slurmctld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The submission goes on.
    Accepted,
    /// It asked for what can't be given.
    Refused,
}

/// The snapshot as the decisions are given it.
pub type Forecasts = Snapshot<Memory>;

/// Filters a submission at the present time by the decisions of `predictor_core`.
pub fn submission(state: &State, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>) -> Answer {
    let now = state::now();
    let asked = request::asked(description);
    let nothing_asked = asked.as_ref().is_ok_and(Asked::is_empty) && description.deadline().is_none();
    let Some(located) = state.locate(now.0) else { return without_forecast(&asked, message, "queuecast is not set up on this cluster") };
    state.count(Counter::Submissions);
    let is_off = state.look(located, now);
    if nothing_asked && !located.snapshots.has_transparent_policy() {
        state.count(Counter::NothingAsked);
        return Answer::Accepted;
    }
    if description.is_cron() {
        // A scrontab entry is submitted once and run many times, at its own times.
        state.count(Counter::NothingAsked);
        return Answer::Accepted;
    }
    if is_off {
        state.count(Counter::Off);
        if asked.as_ref().is_ok_and(asks_for_something) {
            message.add("queuecast: switched off by the administrator: the job was submitted as you wrote it");
        }
        return Answer::Accepted;
    }
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => {
            state.count(Counter::OptionsMalformed);
            message.add(&format!("queuecast: the job is left as it is: {error}"));
            return Answer::Accepted;
        }
    };
    let current = match usable(located, now) {
        Ok(current) => current,
        Err((counter, why)) => {
            state.count(counter);
            return refuse_or_leave(state, asked, message, why);
        }
    };
    decided(state, &current, description, message, asked, now)
}

fn usable(located: &Located, now: UnixTime) -> Result<std::sync::Arc<Current>, (Counter, &'static str)> {
    let current = located.snapshots.current();
    let timeliness = current.as_ref().map(|current| current.snapshot.timeliness(now));
    match (current, timeliness, located.snapshots.fault()) {
        (Some(current), Some(Timeliness::Current), _) => Ok(current),
        (.., Fault::Damaged) => Err((Counter::SnapshotDamaged, "the forecast is damaged")),
        (.., Fault::Ahead) | (_, Some(Timeliness::Ahead), _) => {
            Err((Counter::SnapshotAhead, "the forecast is dated ahead of slurmctld's clock"))
        }
        (Some(_), ..) => Err((Counter::SnapshotTooOld, "the forecast is too old to rely on")),
        (None, ..) => Err((Counter::SnapshotAbsent, "there is no forecast yet")),
    }
}

fn asks_for_something(asked: &Asked) -> bool {
    asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some()
}

/// The answer where there is no forecast: a promise can't be given, so that it is refused; a wish is left.
fn without_forecast(asked: &Result<Asked, OptionError>, message: &mut UserMessage<'_>, why: &str) -> Answer {
    let Ok(asked) = asked else { return Answer::Accepted };
    if asked.mode == Some(Mode::Off) || !asks_for_something(asked) {
        return Answer::Accepted;
    }
    if asked.reserve_at.is_some() && asked.mode.is_none_or(|mode| mode == Mode::Enforce) {
        message.add(&format!("queuecast: no reservation: {why}; submit without --reserve-at, or try again later"));
        return Answer::Refused;
    }
    message.add(&format!("queuecast: the job was submitted as you wrote it: {why}"));
    Answer::Accepted
}

/// As [`without_forecast`] of options that could be read; a refusal is counted.
fn refuse_or_leave(state: &State, asked: Asked, message: &mut UserMessage<'_>, why: &str) -> Answer {
    let answer = without_forecast(&Ok(asked), message, why);
    if answer == Answer::Refused {
        state.count(Counter::Refused);
    }
    answer
}

fn decided(
    state: &State,
    current: &Current,
    description: &mut JobDescription<'_>,
    message: &mut UserMessage<'_>,
    asked: Asked,
    now: UnixTime,
) -> Answer {
    let prepared = {
        let submission = request::submission(description, asked);
        let Some((partition, policy)) = submission.governed_by(&current.snapshot) else {
            state.count(Counter::PartitionUnknown);
            return refuse_or_leave(state, submission.asked, message, "nothing is known of its partition");
        };
        if mode_of(&submission, &policy) == Mode::Off {
            state.count(Counter::Off);
            if asks_for_something(&submission.asked) && submission.asked.mode != Some(Mode::Off) {
                message.add("queuecast: switched off in this partition: the job was submitted as you wrote it");
            }
            return Answer::Accepted;
        }
        if !is_in_question(&submission, &policy) {
            state.count(Counter::NothingAsked);
            return Answer::Accepted;
        }
        let promises = submission.asked.reserve_at.is_some() && mode_of(&submission, &policy) == Mode::Enforce;
        if description.is_sibling_copy() {
            // The cluster of a federation that took the job has decided about it already, and its
            // user was told what. A promise is kept there: were the copy to start here, as it was
            // written, it would be broken.
            state.count(if promises { Counter::Refused } else { Counter::Unchanged });
            return if promises { Answer::Refused } else { Answer::Accepted };
        }
        if promises && description.chooses_clusters() {
            state.count(Counter::Refused);
            message.add("queuecast: no reservation: --cluster-constraint may send the job to another cluster; leave one of the two out");
            return Answer::Refused;
        }
        let claimed = current.claims.of(submission.user, partition.index);
        let bounds = Bounds::of(&submission, &partition, &current.snapshot);
        let situation = Situation { forecasts: &current.snapshot, partition, policy, submission: &submission, bounds, now, claimed };
        let decision = decide(&situation);
        if decision.refusal().is_some() {
            state.count(Counter::Refused);
            tell(message, &decision, &submission, &policy, now);
            return Answer::Refused;
        }
        let record = Record::of(&decision, &situation, current.snapshot.generation()).to_json();
        let before = submission.size(&partition);
        let rewrite = Rewrite::prepare(description, before, submission.unit(), decision.changes(), record.as_deref());
        let line = decision.line(&submission, &policy, now).map(|line| format!("queuecast: {line}"));
        // Only a job that is really submitted, as it was decided here, will take anything.
        let claims = if decision.mode == Mode::Enforce && !description.is_only_tested() {
            let (size, limit, run_time) = match &decision.decided {
                Some(decided) => (decided.size, decided.limit, decided.run_time),
                None => (before, submission.limit_in(&partition), Seconds::ZERO),
            };
            partition.could_run(size, limit).then(|| Claims::of(size.cpus, limit, run_time))
        } else {
            None
        };
        PreparedDecision {
            reserves: submission.asked.reserve_at.is_some(),
            unit: submission.unit(),
            user: submission.user,
            partition,
            claims,
            decision,
            rewrite,
            line,
        }
    };
    #[cfg(panics_when_told)]
    assert!(description.name() != Some("queuecast-panics"));
    written(state, current, description, message, prepared)
}

/// A decision that is ready to be written into the job, with all that this takes; it borrows nothing of the job's description.
struct PreparedDecision<'a> {
    decision: Decision,
    rewrite: Option<Rewrite>,
    line: Option<String>,
    unit: predictor_core::size::Unit,
    reserves: bool,
    user: u32,
    partition: Partition<'a>,
    /// What the job takes from those that are decided about after it.
    claims: Option<Claims>,
}

fn written(
    state: &State,
    current: &Current,
    description: &mut JobDescription<'_>,
    message: &mut UserMessage<'_>,
    prepared: PreparedDecision<'_>,
) -> Answer {
    let done = prepared.rewrite.is_some_and(|rewrite| rewrite.write(description, prepared.unit));
    if !done {
        state.count(Counter::RewriteFailed);
        if prepared.reserves && prepared.decision.mode == Mode::Enforce {
            message.add("queuecast: no reservation: it could not be written into the job; submit without --reserve-at, or try again later");
            return Answer::Refused;
        }
        return Answer::Accepted;
    }
    if let Some(claims) = &prepared.claims {
        current.claims.add(prepared.user, &prepared.partition, claims);
    }
    if let Some(line) = &prepared.line {
        message.add(line);
    }
    count(state, &prepared.decision);
    Answer::Accepted
}

fn tell(message: &mut UserMessage<'_>, decision: &Decision, submission: &Submission<'_>, policy: &Policy, now: UnixTime) {
    if let Some(line) = decision.line(submission, policy, now) {
        message.add(&format!("queuecast: {line}"));
    }
}

fn count(state: &State, decision: &Decision) {
    if decision.mode < Mode::Enforce {
        state.count(Counter::Observed);
        return;
    }
    let changes = decision.changes();
    if changes.is_empty() {
        state.count(Counter::Unchanged);
    }
    if changes.size.is_some() {
        state.count(Counter::Molded);
    }
    if matches!(decision.deferral, Some(Ok(_))) {
        state.count(Counter::Deferred);
    }
    if matches!(decision.reservation, Some(Ok(_))) {
        state.count(Counter::Reserved);
    }
}
