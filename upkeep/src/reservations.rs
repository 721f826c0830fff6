//! What is to be changed in a job that carries a reservation, from what slurmctld and the job's
//! record say of it.
//!
//! Nothing is remembered from one look to the next: the record has what was promised and what was
//! written last. Where the job is not as it was written last, somebody else has changed it, and it
//! is theirs from then on.

use super::queued_job::QueuedJob;
use super::reserved_job::is_cut_back;
use super::review::{GivenReservation, Progress, Review, Revision, review};
use super::within_limits::{Excess, excess};
use job_types::options::{EarlyStart, IfMissed, Mode};
use job_types::promise::{Promise, PromiseState, ReservedRun};
use job_types::record::{Changed, EndOfPromise, Record};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::slurm_reservations::leaves_room;
use predictor_core::decisions::{Begins, LONGEST_AHEAD, Reservable, governing, latest_point};
use predictor_core::forecasts::forecast::{Claimed, JobShape, Moment, WaitForecaster};
use predictor_core::forecasts::promise::reservable_part;

/// How much later than it was written a begin may stand in slurmctld that had passed, or nearly, as
/// it was written: slurmctld puts its own present in its place.
const LATENESS: Seconds = Seconds(60);
/// How long an update takes at most to arrive in slurmctld. No begin before that is written.
pub const UPDATE_DELAY: Seconds = Seconds(2);
/// How far a job is put off that is about to be cancelled, so that it does not start in between.
const PUT_OFF: Seconds = LONGEST_AHEAD;

/// How a reservation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ReservationState {
    /// The job is not eligible yet.
    Deferred,
    /// The job is eligible and waits for nodes.
    Waiting,
    /// The job has its nodes.
    Running,
    /// The reserved time has passed while the job waited for nodes. A job that came back into the
    /// queue after it had them then waits.
    Missed,
    /// The job is held, suspended or waits for others.
    Blocked,
    /// Somebody else has changed the job, which is left alone.
    Stopped,
    /// The record says too little, or what can't be: the job is left alone.
    Unusable,
    /// The site does not change jobs of this partition, or the user wants none of it.
    NotEnforced,
}

impl ReservationState {
    /// All of them.
    pub const ALL: &[ReservationState] = <ReservationState as strum::VariantArray>::VARIANTS;

    /// The name of the state in metrics and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is wanted of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// Another begin or time limit.
    Revision(Revision),
    /// An end of it, because its time has passed and its user wants no later start.
    Cancellation,
    /// An end of it, because one that it belongs together with has its nodes.
    Withdrawal,
    /// A note in its record that it is left alone from now on.
    NoteOfStop,
    /// A time limit that partition, quality of service and account allow now.
    CutBack(Excess),
    /// The same promise for the larger size that its user gave it, with this begin and limit.
    Renewal(Revision),
    /// An end of the promise: the job is an ordinary one from now on.
    EndOfPromise(EndOfPromise),
}

/// What a look at a reservation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Upkeep {
    /// How it stands.
    pub state: ReservationState,
    /// What is to be changed, and by when that has to be done to be of use.
    pub wanted: Option<(Wanted, UnixTime)>,
}

/// One step of a change. Steps are done in order, each only if the one before has succeeded.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An update of the job.
    Update {
        /// When it becomes eligible.
        begin: Option<UnixTime>,
        /// The time limit, in whole minutes.
        limit: Option<Seconds>,
        /// The shortest time limit, in whole minutes.
        shortest_limit: Option<Seconds>,
        /// The record that goes with it.
        record: Box<Record>,
    },
    /// The job's cancellation.
    Cancel,
}

/// The promise in the record of a reservation, where that can be true and says enough for changes
/// of the job.
struct Upheld {
    at: UnixTime,
    wanted: f64,
    own_limit: Seconds,
    early_start: EarlyStart,
    if_missed: IfMissed,
}

impl Upheld {
    /// `None` where something is missing, or is what no filter writes.
    fn of(record: &Record, now: UnixTime) -> Option<Upheld> {
        let promise = Promise::given(record)?.reservation()?;
        let (at, own_limit, wanted) = (promise.at, promise.own_limit?, promise.asked?);
        let is_possible = (Seconds(-LONGEST_AHEAD.0)..=LONGEST_AHEAD).contains(&(at - now))
            && wanted > 0.0
            && wanted <= 1.0
            && own_limit > Seconds::ZERO
            && promise.begin.is_some()
            && promise.limit.is_some_and(|limit| limit >= own_limit)
            && (promise.molded_from.is_some() || promise.asked_limit.is_none_or(|asked| asked == own_limit))
            && promise.hold_until.is_none_or(|until| until == at);
        is_possible.then_some(Upheld { at, wanted, own_limit, early_start: promise.early_start(), if_missed: promise.if_missed })
    }
}

/// Whether the time at which a job became eligible is what was written last.
fn is_begin_as_written(eligible: UnixTime, record: &Record) -> bool {
    let Some(begin) = record.last_begin() else { return false };
    let had_passed = begin <= record.last_at() + UPDATE_DELAY;
    eligible == begin || (had_passed && eligible >= begin && eligible <= record.last_at().max(begin) + LATENESS)
}

/// Looks at a job's reservation, with what forecasts and limits say at `now`, a moment at which the
/// job had not started if it is said not to have. The next look is `next_review` later.
///
/// A limit that the daemon has written is held to what is allowed now whatever else has become of
/// the job, because slurmctld does not hold it to that any more.
pub fn upkeep<S: Site + WaitForecaster>(job: &QueuedJob, site: &S, now: UnixTime, next_review: Seconds) -> Upkeep {
    let found = as_promised(job, site, now, next_review);
    match excess(job, site, now) {
        None => found,
        Some(Excess::HeldBySlurm) => {
            let keeps_the_limit = |wanted: &(Wanted, UnixTime)| !matches!(wanted.0, Wanted::Revision(_) | Wanted::Renewal(_));
            Upkeep { wanted: found.wanted.filter(keeps_the_limit), ..found }
        }
        Some(excess) => Upkeep { wanted: Some((Wanted::CutBack(excess), now)), ..found },
    }
}

/// The same for a job whose time limit is allowed.
fn as_promised<S: Site + WaitForecaster>(job: &QueuedJob, site: &S, now: UnixTime, next_review: Seconds) -> Upkeep {
    let keep = |state| Upkeep { state, wanted: None };
    let record = &job.record;
    let governing = governing(job.partition.as_deref(), site);
    let enforced = governing.filter(|(_, policy)| policy.reserve && policy.mode.min(record.mode) == Mode::Enforce);
    let Some((partition, _)) = enforced else {
        return keep(ReservationState::NotEnforced);
    };
    if record.changed.as_ref().is_some_and(|changed| changed.stopped) {
        return keep(ReservationState::Stopped);
    }
    let Some(promise) = Upheld::of(record, now) else { return keep(ReservationState::Unusable) };
    let is_ours = |limit: &Seconds| record.last_limit() == Some(*limit) || is_cut_back(job, *limit);
    let Some(limit) = job.limit.filter(is_ours) else { return stop(now) };
    // A requeue gives it another begin, and a job that has started is over it.
    let is_deferrable = job.started.is_none() && !job.is_requeued();
    if is_deferrable && job.eligible.is_some_and(|eligible| !is_begin_as_written(eligible, record)) {
        return stop(now);
    }
    if job.is_blocked || (job.started.is_none() && job.eligible.is_none()) {
        return keep(ReservationState::Blocked);
    }
    let is_being_cancelled = record.changed.as_ref().is_some_and(|changed| changed.missed);
    if is_being_cancelled && is_deferrable && promise.if_missed == IfMissed::Cancel && now > promise.at {
        return Upkeep { state: ReservationState::Missed, wanted: Some((Wanted::Cancellation, promise.at)) };
    }
    let run = ReservedRun { submitted: job.submitted, started: job.started, ended: None };
    let is_missed = run.state(promise.at, now) == Some(PromiseState::Missed);
    let (progress, state) = match (job.started, job.eligible) {
        (Some(at), _) => (Progress::Started { at }, ReservationState::Running),
        (None, Some(begin)) if begin > now && is_deferrable => (Progress::Deferred { begin }, ReservationState::Deferred),
        (None, _) if is_missed => (Progress::Waiting, ReservationState::Missed),
        (None, _) => (Progress::Waiting, ReservationState::Waiting),
    };
    // A job that has been requeued has started once, and its user's wish was about the first start.
    let if_missed = if job.is_requeued() { IfMissed::Run } else { promise.if_missed };
    let Upheld { at, wanted, own_limit, early_start, .. } = promise;
    let given = GivenReservation { at, wanted, own_limit, limit, early_start, if_missed, progress };
    let longest_limit = job.longest_limit(limit, &partition, site).map(|longest| longest.value);
    let association = site.association(job.user, job.account.as_deref(), job.qos.as_deref());
    let reservable = Reservable {
        forecasts: site,
        shape: JobShape { user: job.user, association, partition: partition.index, size: job.size, limit: Some(own_limit) },
        now: Moment { now, at: now, claimed: Claimed::default() },
        longest_limit,
    };
    // Where Slurm's own reservations leave no room at the reserved time, nothing is padded anew.
    let beside = reservable.beside(&partition, at).map(|(reservable, _)| reservable);
    if job.is_larger_than_promised() {
        let renewed = beside.ok().and_then(|reservable| renewed(&given, &reservable));
        let wanted = renewed.map_or(Wanted::EndOfPromise(EndOfPromise::MadeLarger), Wanted::Renewal);
        return Upkeep { state, wanted: Some((wanted, now)) };
    }
    let reservable = beside.unwrap_or(Reservable { longest_limit: Some(own_limit), ..reservable });
    let longest_limit = reservable.longest_limit;
    let found = match review(&given, &reservable, next_review) {
        Review::Keep if progress == Progress::Waiting => shed_for_slurm_reservations(&given, job.size, &partition, now),
        found => found,
    };
    let wanted = match found {
        Review::Keep => None,
        Review::Cancel => Some((Wanted::Cancellation, at)),
        Review::Change(revision) => {
            // What is longer than before has to be allowed; what is shorter is.
            let is_allowed = revision.limit.is_none_or(|new| new <= limit || longest_limit.is_none_or(|longest| new <= longest));
            let due = match progress {
                Progress::Deferred { begin } => revision.begin.unwrap_or(begin).min(begin),
                Progress::Waiting => at,
                Progress::Started { at } => at + revision.limit.unwrap_or(limit),
            };
            is_allowed.then_some((Wanted::Revision(revision), due))
        }
    };
    Upkeep { state, wanted }
}

/// The promise for the size that the job has now, by the same measure as one that is asked for
/// anew; `None` where it can't be given.
///
/// The reservations that are known hold the job's own at its present size already.
fn renewed<S: WaitForecaster>(given: &GivenReservation, reservable: &Reservable<'_, S>) -> Option<Revision> {
    let now = reservable.now.now;
    let ahead = given.at - now;
    let reserved = reservable.forecasts.reserved_part(reservable.shape.partition, 0, &reservable.now.at(given.at));
    if ahead <= Seconds::ZERO || reserved > reservable_part(given.wanted) {
        return None;
    }
    let asked = reservable.level_to_ask(ahead, given.wanted);
    let point = latest_point(reservable, ahead, asked, Begins::BeforeReserved).ok()?;
    let limit = if given.early_start == EarlyStart::Run { given.limit_from(point.begin) } else { point.padded_limit };
    let probability = reservable.probability_to_tell(ahead, given.wanted, point.probability);
    Some(Revision { begin: Some(point.begin), limit: (limit != given.limit).then_some(limit), probability: Some(probability) })
}

/// Padding is shed before it is worth a change where with it, and not without it, the limit reaches
/// into Slurm's own reservations: slurmctld would not start the job.
fn shed_for_slurm_reservations(given: &GivenReservation, size: Size, partition: &Partition<'_>, now: UnixTime) -> Review {
    let all = Size { nodes: partition.nodes, cpus: partition.cpus };
    let could_start = |limit| leaves_room(partition.slurm_reservations, all, size, now, now + limit);
    let limit = given.limit_from(now);
    let is_to_be_shed = limit < given.limit && !could_start(given.limit) && could_start(limit);
    if is_to_be_shed { Review::Change(Revision { begin: None, limit: Some(limit), probability: None }) } else { Review::Keep }
}

/// The job is somebody else's from now on, which its record is to say.
fn stop(now: UnixTime) -> Upkeep {
    // It has all the time: without the note, the job's state says the same.
    Upkeep { state: ReservationState::Stopped, wanted: Some((Wanted::NoteOfStop, now + LONGEST_AHEAD)) }
}

impl Wanted {
    /// The steps that bring a job to what is wanted at `now`, each with the record that goes with
    /// it, so that the record is true after each of them. An update takes up to `update_delay` to
    /// arrive: [`UPDATE_DELAY`] on a cluster, nothing in a replay.
    ///
    /// slurmctld refuses another begin for a job that has started in the meantime, and only that.
    /// So a limit that becomes shorter because the begin becomes later is changed after the begin:
    /// a job that has started keeps a limit that its start was reckoned with. A job that is to be
    /// cancelled is first put off, so that one that has started is not.
    #[must_use]
    pub fn steps(&self, job: &QueuedJob, now: UnixTime, update_delay: Seconds) -> Vec<Step> {
        let before = job.record.changed.clone().unwrap_or_default();
        let record = |change: &dyn Fn(&mut Changed)| {
            let mut changed = Changed { count: before.count.saturating_add(1), at: now, ..before.clone() };
            change(&mut changed);
            Box::new(Record { changed: Some(changed), affiliation: Some(job.affiliation()), ..job.record.clone() })
        };
        let update = |begin, limit: Option<Seconds>, record| Step::Update {
            begin,
            limit,
            shortest_limit: limit.and_then(|limit| shortest_limit(job, limit)),
            record,
        };
        match self {
            Wanted::NoteOfStop => {
                let changed = Changed { at: now, stopped: true, ..before.clone() };
                vec![update(None, None, Box::new(Record { changed: Some(changed), ..job.record.clone() }))]
            }
            Wanted::EndOfPromise(why) => {
                let ended = record(&|changed| (changed.stopped, changed.ended) = (true, Some(*why)));
                vec![update(None, None, ended)]
            }
            Wanted::CutBack(Excess::HeldBySlurm) => Vec::new(),
            Wanted::CutBack(Excess::Beyond { limit, ends }) => {
                let cut = record(&|changed| {
                    changed.limit_s = Some(limit.0);
                    if *ends {
                        (changed.stopped, changed.ended) = (true, changed.ended.or(Some(EndOfPromise::BeyondLimits)));
                    }
                });
                vec![update(None, Some(*limit), cut)]
            }
            Wanted::CutBack(Excess::Padding { begin, limit }) => {
                let put_off = record(&|changed| changed.begin = Some(begin.0));
                let cut = record(&|changed| (changed.begin, changed.limit_s) = (Some(begin.0), Some(limit.0)));
                vec![update(Some(*begin), None, put_off), update(None, Some(*limit), cut)]
            }
            Wanted::Cancellation if before.missed => vec![Step::Cancel],
            Wanted::Withdrawal if before.withdrawn => vec![Step::Cancel],
            Wanted::Withdrawal if job.started.is_some() => {
                vec![update(None, None, record(&|changed| changed.withdrawn = true)), Step::Cancel]
            }
            Wanted::Cancellation | Wanted::Withdrawal => {
                let begin = now + PUT_OFF;
                let put_off = record(&|changed| {
                    changed.begin = Some(begin.0);
                    changed.missed |= *self == Wanted::Cancellation;
                    changed.withdrawn |= *self == Wanted::Withdrawal;
                });
                vec![update(Some(begin), None, put_off), Step::Cancel]
            }
            Wanted::Revision(Revision { begin, limit, probability }) | Wanted::Renewal(Revision { begin, limit, probability }) => {
                let begin = begin.map(|begin| begin.max(now + update_delay));
                let is_renewed = matches!(self, Wanted::Renewal(_));
                let with_begin = |changed: &mut Changed| {
                    if is_renewed {
                        (changed.nodes, changed.cpus) = (Some(job.size.nodes), Some(job.size.cpus));
                    }
                    if let Some(begin) = begin {
                        (changed.begin, changed.probability) = (Some(begin.0), probability.map(hundredths));
                    }
                };
                let with_both = record(&|changed| {
                    with_begin(changed);
                    changed.limit_s = limit.map(|limit| limit.0).or(changed.limit_s);
                });
                let shrinks = limit.is_some_and(|limit| job.limit.is_some_and(|present| limit < present));
                if begin.is_some() && shrinks {
                    vec![update(begin, None, record(&with_begin)), update(None, *limit, with_both)]
                } else {
                    vec![update(begin, *limit, with_both)]
                }
            }
        }
    }
}

/// The shortest time limit that goes with another limit: as much shorter or longer as that is,
/// because it is padded as the limit is. slurmctld refuses a limit below it.
fn shortest_limit(job: &QueuedJob, limit: Seconds) -> Option<Seconds> {
    let (shortest, present) = (job.shortest_limit?, job.limit?);
    let moved = Seconds(shortest.0.saturating_add((limit - present).0)).max(Seconds::MINUTE).min(limit);
    (moved != shortest).then_some(moved)
}

fn hundredths(probability: f64) -> f64 {
    (probability * 100.0).round() / 100.0
}
