//! The filter of one submission or modification, from the job description to the answer.
//!
//! The site's own rules come first: what they refuse is not looked at any further, and forecasts
//! and decisions are about the job as they have written it. A decision that would go past what they
//! allow is not carried out.

use crate::fields::DirectFields;
use crate::heterogeneous;
use crate::record_key;
use crate::request;
use crate::rewrite::Rewrite;
use crate::rules::InForce;
use crate::ruling::{Applied, Judged, Refused};
use crate::snapshot::Current;
pub use crate::state::State;
use crate::state::{self, Located};
use crate::unconfirmed::Unconfirmed;
use crate::unconfirmed::promises::{Allowed, PromisedJob, Turn, Whose};
use crate::unconfirmed::submissions::Answered;
use crate::watch::DirectoryState;
use job_types::number::UserId;
use job_types::options::{Mode, UserOptions};
use job_types::policy::{Admission, Policy};
use job_types::record::{Record, SealKey};
use job_types::size::Size;
use job_types::time::UnixTime;
use predictor_core::decisions::counters::Counter;
use predictor_core::decisions::refusals::NotedRefusal;
use predictor_core::decisions::shared_nodes::SharedNode;
use predictor_core::decisions::site::Partition;
use predictor_core::decisions::{
    Arrival, Bounds, Decision, DecisionInputs, FilterState, Gate, NoState, Refusal, Submission, decide, gate,
    governing as governing_partition,
};
use predictor_core::forecasts::forecast::Claims;
use predictor_core::snapshot::Snapshot;
use site_rules::submission::Request;
use slurm_sys::bindings::ESLURM_PATHNAME_TOO_LONG;
use slurm_sys::job_description::{JobDescription, ListField, UserMessage};
use slurm_sys::job_lengths::{LONGEST_WITHOUT_LIMIT, MOST_ENTRIES, TooLong};
use slurm_sys::memory::Memory;
use std::ffi::c_int;

/// The most variables of a job's environment that is rewritten: each time that one is, all are
/// looked at.
const MOST_VARIABLES: usize = 1 << 14;

/// The plugin's answer to slurmctld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The submission goes on.
    Accepted,
    /// The submission asks for what can't be given.
    Refused,
    /// The deadline of the submission can't be kept.
    NotAdmitted,
    /// Whether the submission can be promised what it asks for is known once the queue has been
    /// read again.
    Undecided,
    /// The site's own rules refuse the submission, with this error number of Slurm's.
    RefusedByRules(c_int),
}

/// The snapshot as the decisions are given it.
pub type Forecasts = Snapshot<Memory>;

/// Filters a submission of `submitter` at the present time: by the site's own rules, and then by
/// the gate and the decisions of `predictor_core`.
pub fn submission(state: &State, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>, submitter: UserId) -> Answer {
    let too_long = description.too_long();
    description.lower_names();
    heterogeneous::note(description);
    let now = state::now();
    let located = state.locate(now.0);
    let store = state.rules(located);
    let directory = store.directory_state(now);
    let in_force = store.look(directory).filter(InForce::has_rules);
    // Rules may ask for forecasts, so that a new snapshot is taken up before them.
    let is_off = located.is_some_and(|located| state.look(located, directory, now));
    let judged =
        in_force.as_ref().map(|in_force| Judged { state, store, in_force, request: Request::Submit, asker: submitter, now, located });
    if let Some(too_long) = too_long {
        return judged.map_or(Answer::Accepted, |judged| left_or_refused(too_long, &judged, message));
    }
    if judged.is_none() && !may_be_decided(located, description) {
        let arrived = Arrived { state, located, is_off, directory, judged: None, now };
        record_key::disarm(description);
        // Nobody asks for it before the next reading of the queue: it is only counted, for rules
        // that the site may have later.
        let answer = forecast(&arrived, description, message);
        if answer == Answer::Accepted {
            store.throttle.lock().note(submitter, now);
        }
        return answer;
    }
    let unconfirmed = state.unconfirmed();
    if let Some(current) = located.and_then(|located| located.snapshots.current()) {
        unconfirmed.submissions.settle(&current.snapshot, &store.throttle, judged.map(|judged| judged.read_at()));
    }
    let mut arrival = unconfirmed.submissions.arrival(submitter, description);
    message.leave_out(std::mem::take(&mut arrival.told));
    let after = match judged.map(|judged| judged.apply(description, message)).transpose() {
        Ok(after) => after.unwrap_or_default(),
        Err(Refused(number)) => return Answer::RefusedByRules(number),
    };
    record_key::disarm(description);
    let arrived = Arrived { state, located, is_off, directory, judged: judged.map(|judged| (judged, &after)), now };
    let answer = forecast(&arrived, description, message);
    if matches!(answer, Answer::Accepted | Answer::Undecided) {
        let is_let_through = answer == Answer::Accepted;
        let fields = judged.filter(|_| is_let_through).and_then(|judged| judged.submitted_fields(description));
        let (owner, told) = (description.user(), message.take_said());
        let answered = Answered { asker: submitter, owner, is_let_through, told, fields };
        unconfirmed.submissions.answered(arrival, answered, now, &store.throttle);
        if let Some(judged) = judged.filter(|_| is_let_through) {
            judged.note_let_through(description);
        }
    }
    answer
}

/// Whether anything is asked for, or a policy may decide about a job that asks for nothing.
fn may_be_decided(located: Option<&Located>, description: &JobDescription<'_>) -> bool {
    description.deadline().is_some()
        || located.is_some_and(|located| located.snapshots.has_transparent_policy())
        || description.has_long_control()
        || request::asks(description)
}

/// What becomes of a request with a text or list that is too long to be looked at, where there are
/// rules: as it can't be judged it is refused, unless all rules are only observed or only warn, and
/// is left as it is then. So is one that slurmctld itself refuses for its length, with the same
/// error and without other words: it looks at lengths behind all plugins, of which one behind this
/// may have put a shorter text there.
fn left_or_refused(too_long: TooLong, judged: &Judged<'_>, message: &mut UserMessage<'_>) -> Answer {
    let what = match too_long {
        TooLong::ForSlurm(field) => format!("its {} is longer than Slurm takes", field.name()),
        TooLong::Text(field) => format!("its {} is longer than {LONGEST_WITHOUT_LIMIT} bytes", field.name()),
        TooLong::List(ListField::Argv) => format!("its script has more than {MOST_ENTRIES} arguments"),
        TooLong::List(ListField::Environment) => format!("its environment has more than {MOST_ENTRIES} variables"),
        TooLong::List(ListField::SpankJobEnv) => format!("it has more than {MOST_ENTRIES} variables for prolog and epilog"),
    };
    let refusal = format!("E_TOO_LONG: the site's rules can't judge this job: {what}");
    let told = Some(message).filter(|_| !matches!(too_long, TooLong::ForSlurm(_)));
    match judged.not_judged(ESLURM_PATHNAME_TOO_LONG as c_int, refusal, told) {
        Ok(()) => Answer::Accepted,
        Err(Refused(number)) => Answer::RefusedByRules(number),
    }
}

/// Filters a modification that `asker` wants, by the site's own rules alone: what users and
/// operators want now is not fought by forecasts.
pub fn modification(state: &State, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>, asker: UserId) -> Answer {
    let too_long = description.too_long();
    description.lower_names();
    let now = state::now();
    state.count(Counter::Modifications);
    let located = state.locate(now.0);
    let store = state.rules(located);
    let Some(in_force) = store.look(store.directory_state(now)).filter(InForce::has_rules) else { return Answer::Accepted };
    let judged = Judged { state, store, in_force: &in_force, request: Request::Modify, asker, now, located };
    if let Some(too_long) = too_long {
        return left_or_refused(too_long, &judged, message);
    }
    let had_record = has_record(description);
    match judged.apply(description, message).and_then(|_| judged.keep_change(description, message)) {
        Ok(()) => {
            // What an operator, or the daemon, writes is left; what rules have made of it is not.
            if !had_record {
                record_key::disarm(description);
            }
            Answer::Accepted
        }
        Err(Refused(number)) => Answer::RefusedByRules(number),
    }
}

fn has_record(description: &JobDescription<'_>) -> bool {
    description.admin_comment().is_some_and(|comment| Record::parse(comment).is_some())
}

/// What a submission meets.
#[derive(Clone, Copy)]
struct Arrived<'a> {
    state: &'a State,
    located: Option<&'a Located>,
    /// Whether the kill switch of forecasts is on.
    is_off: bool,
    /// The state of the directory before it was looked into.
    directory: Option<DirectoryState>,
    /// The site's own rules, if there are some, and what they have done.
    judged: Option<(Judged<'a>, &'a Applied)>,
    now: UnixTime,
}

/// Filters a submission that the site's own rules let through.
fn forecast(arrived: &Arrived<'_>, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>) -> Answer {
    let Arrived { state, located, is_off, directory, judged, now } = *arrived;
    let left = if description.has_long_control() {
        Some("what is set for its prolog and epilog is too long to be looked at")
    } else {
        (description.entries(ListField::Environment) > MOST_VARIABLES)
            .then_some("its environment has too many variables to be gone through")
    };
    if let Some(left) = left {
        message.add(&format!("queuecast: the job is left as it is: {left}"));
        return Answer::Accepted;
    }
    let asked = request::asked(description);
    let is_promised =
        description.deadline().is_some() || asked.as_ref().is_ok_and(|asked| asked.reserve_at.is_some() || asked.reserve_window.is_some());
    let standing = located.map(|located| {
        state.count(Counter::Submissions);
        FilterState { is_off, is_transparent: located.snapshots.has_transparent_policy() }
    });
    let arrival = Arrival {
        asked: asked.as_ref(),
        has_deadline: description.deadline().is_some(),
        is_cron: description.is_cron(),
        is_sibling_copy: description.is_sibling_copy(),
        chooses_clusters: description.chooses_clusters(),
        configured: located.filter(|_| is_promised).map(|located| located.configured(description.partition())),
    };
    let (mut current, mut governing) = (None, None);
    let (current_slot, governing_slot) = (&mut current, &mut governing);
    let verdict = gate(&arrival, standing, || {
        let located = located.ok_or(NoState::NotSetUp)?;
        let current = &**current_slot.insert(located.usable(now)?);
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
            // It may have to be read, and nobody is to wait for that.
            let record_key = located.record_key.current(directory);
            let governing = Governing { unconfirmed: state.unconfirmed(), record_key, current, partition, policy, judged, now };
            decided(state, &governing, description, message, asked)
        }
        (Gate::Refuse(..), ..) => Answer::Refused,
        (Gate::NotAdmitted(..), ..) => Answer::NotAdmitted,
        _ => Answer::Accepted,
    }
}

/// What a submission is decided by.
struct Governing<'a> {
    unconfirmed: &'a Unconfirmed,
    record_key: Option<SealKey>,
    current: &'a Current,
    partition: Partition<'a>,
    policy: Policy,
    judged: Option<(Judged<'a>, &'a Applied)>,
    now: UnixTime,
}

/// Why a decision is not carried out.
enum NotCarriedOut {
    /// It can't be written into the job.
    NotWritable,
    /// The job would not keep to the site's rule of this name.
    AgainstRule(String),
}

fn decided(
    state: &State,
    governing: &Governing<'_>,
    description: &mut JobDescription<'_>,
    message: &mut UserMessage<'_>,
    asked: UserOptions,
) -> Answer {
    let Governing { unconfirmed, record_key, current, partition, policy, judged, now } = *governing;
    // Held until what is decided is written and claimed.
    let asks_for_promise = asked.reserve_at.is_some() || (policy.admission != Admission::Off && description.deadline().is_some());
    let mut turn = asks_for_promise.then(|| unconfirmed.promises.turn(&current.snapshot, now));
    let prepared = {
        let fields = DirectFields::from(&*description);
        let submission = submission_reader::submission(&fields, asked);
        let user = submission.user;
        let own = current.claims.of(user, partition.index);
        let claimed_by =
            |turn: Option<&Turn<'_>>, whose| turn.map_or(own, |turn| turn.claimed(partition.name, submission.deadline, own, whose));
        let claimed = claimed_by(turn.as_ref(), Whose::All);
        let bounds = Bounds::of(&submission, &partition, &current.snapshot);
        let promised_shares = turn.as_mut().and_then(|turn| turn.shared_nodes(&partition, &current.snapshot));
        let shared_nodes = promised_shares.as_ref().map_or(partition.shared_nodes, |nodes| nodes.as_slice());
        let with_claims = Partition { shared_nodes, ..partition };
        let situation =
            DecisionInputs { forecasts: &current.snapshot, partition: with_claims, policy, submission: &submission, bounds, now, claimed };
        let decision = decide(&situation);
        if decision.is_about_nothing(&submission, &policy) {
            state.count(Counter::NothingAsked);
            return Answer::Accepted;
        }
        if let Some(refusal) = decision.refusal() {
            // What others were promised may never come to be.
            if let Some(turn) = turn.as_ref().filter(|turn| turn.has_others(user)) {
                let shared_nodes = &turn.own_shared_nodes(user, &partition, &current.snapshot);
                let claimed = claimed_by(Some(turn), Whose::Own(user));
                let without_others = DecisionInputs { partition: Partition { shared_nodes, ..partition }, claimed, ..situation };
                if decide(&without_others).refusal().is_none() {
                    return undecided(message, "room that it needs was promised to others a moment ago");
                }
            }
            state.count(Counter::Refused);
            tell(message, &decision, &submission, &policy, now);
            return match refusal {
                Refusal::NotReserved(_) | Refusal::NoSlot(_) => Answer::Refused,
                Refusal::NotAdmitted(_) => {
                    state.refused(&NotedRefusal::new(now, submission.user, partition.name, policy.admission));
                    Answer::NotAdmitted
                }
            };
        }
        let mut record = decision.record(&situation, current.snapshot.generation());
        record.nonce = Some(record_key::nonce());
        let record = record_key.and_then(|key| record.sealed(&key, submission.user, None));
        let before = submission.size(&partition);
        let given = decision.given_share.as_ref().filter(|_| decision.mode == Mode::Enforce);
        let given: Vec<&SharedNode> =
            given.iter().flat_map(|given| &given.nodes).filter_map(|place| partition.shared_nodes.get(*place as usize)).collect();
        let names: Vec<&str> = given.into_iter().map(|node| current.snapshot.shared_node_name(node)).collect();
        // Without a record nobody would know of a promise, of a wait on the nodes, nor of a slot
        // that is asked for, so that these need one.
        let changes = decision.changes();
        let needs_record = changes.clears_deadline
            || changes.hold_until.is_some()
            || !names.is_empty()
            || submission.asked.reserve_at.is_some()
            || decision.slot.is_some();
        let is_writable = record.is_some() || !needs_record;
        let prepare = || Rewrite::prepare(description, before, submission.unit(), decision.changes(), &names, record.as_deref());
        let rewrite = is_writable.then(prepare).flatten().ok_or(NotCarriedOut::NotWritable).and_then(|rewrite| {
            let Some((judged, after)) = judged else { return Ok(rewrite) };
            match rewrite.sizes_and_limits(description, submission.unit()) {
                written if written.is_empty() => Ok(rewrite),
                written => judged.allows(description, after, &written).map(|()| rewrite).map_err(NotCarriedOut::AgainstRule),
            }
        });
        let line = decision.line(&submission, &policy, now).map(|line| format!("queuecast: {line}"));
        // Whether the job is only tested, or is refused in the end, shows at the next reading.
        let claims = decision.claims(&situation);
        let mut is_promised = matches!(decision.admission, Some(Ok(_))) || matches!(decision.reservation, Some(Ok(_)));
        // Under admission by the order of deadlines alone, a job is let into the queue whatever its
        // user was promised before. It counts for others as far as it may be promised something.
        let is_owed = policy.admission != Admission::Edf || matches!(decision.reservation, Some(Ok(_)));
        let allowed = match (turn.as_ref().filter(|_| is_promised), &claims) {
            (Some(turn), Some(claims)) => turn.allowed(user, &partition, claims.cpus),
            _ => Allowed::Yes,
        };
        match allowed {
            Allowed::Yes => {}
            _ if !is_owed => is_promised = false,
            Allowed::AfterReading => return undecided(message, "much was promised to you a moment ago"),
            Allowed::NotTrusted(missing) => {
                message.add(&format!(
                    "queuecast: nothing is promised: {missing} of your jobs that were promised something did not come to be; \
                     submit without --deadline and --reserve-at, or again in an hour"
                ));
                state.count(Counter::Refused);
                return Answer::Refused;
            }
        }
        PreparedDecision {
            wanted: Wanted::of(&decision, &submission),
            unit: submission.unit(),
            user,
            partition,
            claims,
            is_promised,
            size: decision.decided.as_ref().map_or(before, |decided| decided.size),
            has_whole_nodes: submission.whole_nodes || partition.whole_nodes,
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
    rewrite: Result<Rewrite, NotCarriedOut>,
    line: Option<String>,
    unit: job_types::size::Unit,
    wanted: Wanted,
    user: UserId,
    partition: Partition<'a>,
    /// What the job takes from those that are decided about after it.
    claims: Option<Claims>,
    is_promised: bool,
    size: Size,
    has_whole_nodes: bool,
}

fn written(
    state: &State,
    current: &Current,
    turn: Option<Turn<'_>>,
    description: &mut JobDescription<'_>,
    message: &mut UserMessage<'_>,
    prepared: PreparedDecision<'_>,
) -> Answer {
    let written = prepared.rewrite.and_then(|rewrite| {
        let is_written = rewrite.write(description, prepared.unit);
        is_written.then_some(()).ok_or(NotCarriedOut::NotWritable)
    });
    if let Err(reason) = written {
        return not_carried_out(state, message, &reason, prepared.wanted, prepared.decision.changes().clears_deadline);
    }
    if let Some(claims) = &prepared.claims {
        current.claims.add(prepared.user, &prepared.partition, claims);
        if let Some(mut turn) = turn.filter(|_| prepared.is_promised) {
            let PreparedDecision { user, size, has_whole_nodes, ref decision, ref partition, .. } = prepared;
            let reserved_at = decision.reservation.as_ref().and_then(|reservation| Some(reservation.as_ref().ok()?.at));
            let job = PromisedJob { user, reserved_at, claims, size, has_whole_nodes };
            turn.add(partition, &current.snapshot, job, decision.given_share.as_ref());
        }
    }
    if let Some(line) = &prepared.line {
        message.add(line);
    }
    count(state, &prepared.decision);
    Answer::Accepted
}

/// Leaves a submission to be repeated once the queue has been read again.
fn undecided(message: &mut UserMessage<'_>, why: &str) -> Answer {
    message.add(&format!("queuecast: not decided yet: {why}; submit again in half a minute, as sbatch, srun and salloc do by themselves"));
    Answer::Undecided
}

/// What a job is not to go on without, where that can't be written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// It goes on as its user wrote it.
    Nothing,
    /// A virtual reservation.
    Reservation,
    /// A firm slot.
    Slot,
}

impl Wanted {
    /// A default window wants nothing, because its user may not have thought of it.
    fn of(decision: &Decision, submission: &Submission<'_>) -> Wanted {
        if decision.mode < Mode::Enforce {
            Wanted::Nothing
        } else if submission.asked.reserve_at.is_some() {
            Wanted::Reservation
        } else if decision.slot.is_some() && !submission.asked.is_default_window {
            Wanted::Slot
        } else {
            Wanted::Nothing
        }
    }

    /// Returns what the user is told where it can't be had; `None` where nothing is wanted.
    fn missing(self, reason: &NotCarriedOut) -> Option<String> {
        match (self, reason) {
            (Wanted::Nothing, _) => None,
            (Wanted::Reservation, NotCarriedOut::NotWritable) => Some(
                "queuecast: no reservation: it could not be written into the job; submit without --reserve-at, or try again later"
                    .to_owned(),
            ),
            (Wanted::Reservation, NotCarriedOut::AgainstRule(rule)) => Some(format!(
                "queuecast: no reservation: what was decided would not keep to the site's rule {rule}; submit without --reserve-at"
            )),
            (Wanted::Slot, NotCarriedOut::NotWritable) => Some(
                "queuecast: no firm slot: it could not be written into the job; submit without --reserve-window, or try again later"
                    .to_owned(),
            ),
            (Wanted::Slot, NotCarriedOut::AgainstRule(rule)) => Some(format!(
                "queuecast: no firm slot: what was decided would not keep to the site's rule {rule}; submit without --reserve-window"
            )),
        }
    }
}

/// Leaves a job as it is, but for one that asked for a reservation or a firm slot, and says why.
fn not_carried_out(state: &State, message: &mut UserMessage<'_>, reason: &NotCarriedOut, wanted: Wanted, clears_deadline: bool) -> Answer {
    state.count(match reason {
        NotCarriedOut::NotWritable => Counter::RewriteFailed,
        NotCarriedOut::AgainstRule(_) => Counter::Unchanged,
    });
    if let Some(missing) = wanted.missing(reason) {
        message.add(&missing);
        return Answer::Refused;
    }
    match reason {
        NotCarriedOut::NotWritable if clears_deadline => {
            message.add("queuecast: the deadline is left to Slurm: what was decided could not be written into the job");
        }
        NotCarriedOut::NotWritable => {}
        NotCarriedOut::AgainstRule(rule) => {
            let left = if clears_deadline { "the deadline is left to Slurm" } else { "the job is left as it is" };
            message.add(&format!("queuecast: {left}: what was decided would not keep to the site's rule {rule}"));
        }
    }
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
