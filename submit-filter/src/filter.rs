//! One submission, from the job description to the answer.

use crate::admitted::{AdmittedTable, Turn};
use crate::request;
use crate::rewrite::Rewrite;
use crate::snapshot::Current;
pub use crate::state::State;
use crate::state::{self, Located};
use crate::uptake::Fault;
use job_types::number::UserId;
use job_types::options::{Asked, Mode};
use job_types::policy::{Admission, Policy};
use job_types::time::UnixTime;
use predictor_core::counters::Counter;
use predictor_core::decision::{
    Arrival, Bounds, Decision, Gate, NoState, Refusal, Situation, Standing, Submission, Timeliness, decide, gate,
    governing as governing_partition,
};
use predictor_core::forecast::{Claimed, Claims};
use predictor_core::refusals::NotedRefusal;
use predictor_core::shared_nodes::SharedNode;
use predictor_core::site::Partition;
use predictor_core::snapshot::Snapshot;
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::memory::Memory;

/// The plugin's answer to slurmctld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The submission goes on.
    Accepted,
    /// It asked for what can't be given.
    Refused,
    /// Its deadline can't be kept.
    NotAdmitted,
}

/// The snapshot as the decisions are given it.
pub type Forecasts = Snapshot<Memory>;

/// Filters a submission at the present time by the gate and the decisions of `predictor_core`.
pub fn submission(state: &State, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>) -> Answer {
    let now = state::now();
    let asked = request::asked(description);
    let located = state.locate(now.0);
    let standing = located.map(|located| {
        state.count(Counter::Submissions);
        Standing { is_off: state.look(located, now), is_transparent: located.snapshots.has_transparent_policy() }
    });
    let arrival = Arrival {
        asked: asked.as_ref(),
        has_deadline: description.deadline().is_some(),
        is_cron: description.is_cron(),
        is_sibling_copy: description.is_sibling_copy(),
        chooses_clusters: description.chooses_clusters(),
        configured: located.filter(|_| description.deadline().is_some()).map(|located| located.configured(description.partition())),
    };
    let (mut current, mut governing) = (None, None);
    let (current_slot, governing_slot) = (&mut current, &mut governing);
    let verdict = gate(&arrival, standing, || {
        let located = located.ok_or(NoState::NotSetUp)?;
        let current = &**current_slot.insert(usable(located, now)?);
        let (partition, policy) = governing_partition(description.partition(), &current.snapshot).ok_or(NoState::UnknownPartition)?;
        *governing_slot = Some((located, current, partition, policy));
        Ok(policy)
    });
    for counter in verdict.counters() {
        match located.filter(|_| counter == Counter::NotAdmitted) {
            Some(located) => state.refused(&located.refusal(description.partition(), description.user(), now)),
            None => state.count(counter),
        }
    }
    if let Some(line) = verdict.message() {
        message.add(&format!("queuecast: {line}"));
    }
    match (verdict, governing, asked) {
        (Gate::Decide(_), Some((located, current, partition, policy)), Ok(asked)) => {
            let governing = Governing { admitted: &located.admitted, current, partition, policy, now };
            decided(state, &governing, description, message, asked)
        }
        (Gate::Refuse(..), ..) => Answer::Refused,
        (Gate::NotAdmitted(..), ..) => Answer::NotAdmitted,
        _ => Answer::Accepted,
    }
}

fn usable(located: &Located, now: UnixTime) -> Result<std::sync::Arc<Current>, NoState> {
    let current = located.snapshots.current();
    let timeliness = current.as_ref().map(|current| current.snapshot.timeliness(now));
    match (current, timeliness, located.snapshots.fault()) {
        (Some(current), Some(Timeliness::Current), _) => Ok(current),
        (.., Fault::Damaged) => Err(NoState::Damaged),
        (.., Fault::Ahead) | (_, Some(Timeliness::Ahead), _) => Err(NoState::Ahead),
        (Some(_), ..) => Err(NoState::TooOld),
        (None, ..) => Err(NoState::Absent),
    }
}

/// What a submission is decided by.
struct Governing<'a> {
    admitted: &'a AdmittedTable,
    current: &'a Current,
    partition: Partition<'a>,
    policy: Policy,
    now: UnixTime,
}

fn decided(
    state: &State,
    governing: &Governing<'_>,
    description: &mut JobDescription<'_>,
    message: &mut UserMessage<'_>,
    asked: Asked,
) -> Answer {
    let Governing { admitted, current, partition, policy, now } = *governing;
    // Held until what is decided is written and claimed.
    let has_turn = policy.admission != Admission::Off && description.deadline().is_some();
    let mut turn = has_turn.then(|| admitted.turn(current.snapshot.provenance().controller_read_at, now));
    let prepared = {
        let submission = request::submission(description, asked);
        let admitted = turn.as_mut().map(|turn| turn.of(partition.name)).unwrap_or_default();
        let claimed = Claimed { admitted, ..current.claims.of(submission.user, partition.index) };
        let bounds = Bounds::of(&submission, &partition, &current.snapshot);
        let shared_nodes = turn.as_mut().map_or(partition.shared_nodes, |turn| turn.shared_nodes(&partition, &current.snapshot));
        let with_claims = Partition { shared_nodes, ..partition };
        let situation =
            Situation { forecasts: &current.snapshot, partition: with_claims, policy, submission: &submission, bounds, now, claimed };
        let decision = decide(&situation);
        if let Some(refusal) = decision.refusal() {
            state.count(Counter::Refused);
            tell(message, &decision, &submission, &policy, now);
            return match refusal {
                Refusal::NotReserved(_) => Answer::Refused,
                Refusal::NotAdmitted(_) => {
                    state.refused(&NotedRefusal::new(now, submission.user, partition.name, policy.admission));
                    Answer::NotAdmitted
                }
            };
        }
        let record = decision.record(&situation, current.snapshot.generation()).to_json();
        let before = submission.size(&partition);
        let given = decision.given_share.as_ref().filter(|_| decision.mode == Mode::Enforce);
        let given: Vec<&SharedNode> =
            given.iter().flat_map(|given| &given.nodes).filter_map(|place| partition.shared_nodes.get(*place as usize)).collect();
        let names: Vec<&str> = given.into_iter().map(|node| current.snapshot.shared_node_name(node)).collect();
        // Of a deadline that is taken out of Slurm's field nothing would be left without a record.
        let is_writable = record.is_some() || !decision.changes().clears_deadline;
        let prepare = || Rewrite::prepare(description, before, submission.unit(), decision.changes(), &names, record.as_deref());
        let rewrite = is_writable.then(prepare).flatten();
        let line = decision.line(&submission, &policy, now).map(|line| format!("queuecast: {line}"));
        // Only a job that is really submitted, as it was decided here, will take anything.
        let claims = decision.claims(&situation).filter(|_| !description.is_only_tested());
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
    written(state, current, turn, description, message, prepared)
}

/// A decision that is ready to be written into the job, with all that this takes; it borrows
/// nothing of the job's description.
struct PreparedDecision<'a> {
    decision: Decision,
    rewrite: Option<Rewrite>,
    line: Option<String>,
    unit: job_types::size::Unit,
    reserves: bool,
    user: UserId,
    partition: Partition<'a>,
    /// What the job takes from those that are decided about after it.
    claims: Option<Claims>,
}

fn written(
    state: &State,
    current: &Current,
    turn: Option<Turn<'_>>,
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
        if prepared.decision.changes().clears_deadline {
            message.add("queuecast: the deadline is left to Slurm: what was decided could not be written into the job");
        }
        return Answer::Accepted;
    }
    if let Some(claims) = &prepared.claims {
        current.claims.add(prepared.user, &prepared.partition, claims);
        if let (Some(mut turn), Some(Ok(_))) = (turn, prepared.decision.admission) {
            turn.add(prepared.partition.name, claims);
            if let Some(given) = &prepared.decision.given_share {
                turn.add_to_nodes(&prepared.partition, &current.snapshot, given);
            }
        }
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
    if matches!(decision.admission, Some(Ok(_))) {
        state.count(Counter::Admitted);
    }
}
