//! The jobs that were let through lately, by who submitted them.
//!
//! They serve three ends. A user's count of submissions has those that became jobs, and the others
//! for a minute. A submission that its client repeats by itself is the same submission: sbatch,
//! salloc and srun do so where slurmctld's table of jobs is full (`EAGAIN` of `_job_create` in
//! src/slurmctld/job_mgr.c, also for an array that is larger than what is left of it), where its
//! record can't be made, and where a submission can't be decided yet. And a job that is modified
//! before the daemon has read it is one of those that its user submitted.

use super::seen_jobs::SeenJobs;
use super::{UNDERWAY, missing_since, weight};
use job_types::number::UserId;
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use parking_lot::Mutex;
use predictor_core::snapshot::Snapshot;
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Name};
use site_rules::throttle::Throttle;
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::{NumberField, TextField};
use slurm_sys::process::own_user;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most submissions that are kept, in some 2 MB without their fields.
const MOST: usize = 16_384;

/// How many users are kept before those are forgotten of whom no submission is kept.
const MANY_USERS: usize = 16_384;

/// The most bytes of fields that are kept, of all jobs together and of one user's.
const MOST_BYTES: usize = 16 << 20;
const MOST_BYTES_OF_USER: usize = 1 << 20;

/// How many seconds a submission counts that the queue does not show.
const COUNTED: Seconds = Seconds(60);

const HOUR: Seconds = Seconds(3_600);

/// By how many seconds the clock may be set back without hiding a submission.
const CLOCK_SET_BACK: Seconds = Seconds(60);

/// The most repetitions of one submission by its client (`MAX_RETRIES` of src/sbatch/sbatch.c).
const MOST_RETRIES: u32 = 15;

/// The longest that a client waits before it repeats a submission.
const LONGEST_WAIT: Duration = Duration::from_secs(MOST_RETRIES as u64);

/// How much later than it says a client may repeat.
const RETRY_LATE: Duration = Duration::from_millis(400);

/// How much of a text tells submissions apart, in bytes.
const TOLD_APART_BY: usize = 1_024;

/// How many bytes of a text are counted to tell submissions apart.
const LONGEST_COUNTED: usize = 65_536;

/// What a job that was let through has in its fields.
pub type SubmittedFields = Arc<[(FieldNumber, OwnedValue)]>;

/// Submissions that were let through, or that are to be repeated.
#[derive(Debug, Default)]
pub struct SubmissionTable(Mutex<Submissions>);

#[derive(Debug, Default)]
struct Submissions {
    /// A ring, in the order of time: the entry with a number stands at the remainder by [`MOST`].
    entries: Vec<Entry>,
    /// The number of the next entry; the first is 1.
    next: u64,
    /// The number of the latest entry of each user.
    latest: HashMap<UserId, u64>,
    bytes: FieldBytes,
    /// Which snapshot has told what became of them.
    settled: Option<u64>,
    /// The number before which there is no entry that was let through and that nobody knows more
    /// of.
    open_from: u64,
}

/// How many bytes the fields of the entries take, of all and by whose job it is.
#[derive(Debug, Default)]
struct FieldBytes {
    all: usize,
    owners: HashMap<UserId, usize>,
}

impl FieldBytes {
    fn has_room(&self, owner: UserId, more: usize) -> bool {
        let of_owner = self.owners.get(&owner).copied().unwrap_or_default();
        self.all + more <= MOST_BYTES && of_owner + more <= MOST_BYTES_OF_USER
    }

    fn add(&mut self, entry: &Entry) {
        if let Some(fields) = &entry.fields {
            let bytes = bytes_of(fields);
            self.all += bytes;
            *self.owners.entry(entry.owner).or_default() += bytes;
        }
    }

    /// Takes the fields out of an entry.
    fn give_back(&mut self, entry: &mut Entry) {
        let Some(fields) = entry.fields.take() else { return };
        let bytes = bytes_of(&fields);
        self.all = self.all.saturating_sub(bytes);
        if let Some(of_owner) = self.owners.get_mut(&entry.owner) {
            *of_owner = of_owner.saturating_sub(bytes);
            if *of_owner == 0 {
                self.owners.remove(&entry.owner);
            }
        }
    }
}

#[derive(Debug)]
struct Entry {
    number: u64,
    /// The number of the user's entry before; 0 for none.
    previous: u64,
    at: UnixTime,
    /// When the client had its answer.
    answered: Instant,
    asker: UserId,
    owner: UserId,
    /// What tells it from other submissions.
    likeness: u64,
    retries: u32,
    state: State,
    /// Lines that its user was told.
    told: Vec<u64>,
    fields: Option<SubmittedFields>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Was not let through; its client repeats it.
    ToBeRepeated,
    /// Was let through, and its client seems to have repeated it since.
    Repeated,
    /// Was let through.
    LetThrough,
    /// Was let through, and the queue does not show it.
    Missing,
    /// Became a job; the throttle counts it.
    Confirmed,
    /// Is counted by the throttle as nothing is known of it, or not to be counted at all.
    Settled,
}

/// A submission as it arrives.
#[derive(Debug)]
pub struct Arrival {
    likeness: u64,
    /// The number of the entry that it repeats.
    repeats: Option<u64>,
    /// The lines that its user was told before.
    pub told: Vec<u64>,
}

/// How a submission was answered.
#[derive(Debug)]
pub struct Answered {
    /// The user who submitted the job.
    pub asker: UserId,
    /// The user whose job it is.
    pub owner: UserId,
    /// Whether it was let through; otherwise it is to be repeated.
    pub is_let_through: bool,
    /// The lines that its user was told.
    pub told: Vec<u64>,
    /// The fields of the submission that rules may ask for.
    pub fields: Option<Vec<(FieldNumber, OwnedValue)>>,
}

impl SubmissionTable {
    /// Looks whether a submission is one that its client repeats.
    #[must_use]
    pub fn arrival(&self, asker: UserId, description: &JobDescription<'_>) -> Arrival {
        let likeness = likeness(description);
        let submissions = self.0.lock();
        let now = Instant::now();
        // What was answered before is repeated no more.
        let mut recent =
            submissions.of(asker).take_while(|entry| now.saturating_duration_since(entry.answered) < LONGEST_WAIT + RETRY_LATE);
        let repeated = recent.find(|entry| entry.likeness == likeness).filter(|entry| entry.is_repeated_at(now));
        let told = repeated.filter(|entry| entry.has_told()).map(|entry| entry.told.clone()).unwrap_or_default();
        Arrival { likeness, repeats: repeated.map(|entry| entry.number), told }
    }

    /// Keeps how a submission was answered. What gives way to it is counted by the throttle, as
    /// nothing will be known of it.
    pub fn answered(&self, arrival: Arrival, answered: Answered, now: UnixTime, throttle: &Mutex<Throttle>) {
        let mut submissions = self.0.lock();
        let Answered { asker, owner, is_let_through, told, fields } = answered;
        let repeated = arrival.repeats.and_then(|number| submissions.take(number, fields.as_deref()));
        let retries = repeated.map_or(0, |entry| entry.retries + 1);
        let number = submissions.next.max(1);
        let fields = fields.filter(|fields| submissions.bytes.has_room(owner, bytes_of(fields)));
        let entry = Entry {
            number,
            previous: submissions.latest.insert(asker, number).unwrap_or(0),
            at: now,
            answered: Instant::now(),
            asker,
            owner,
            likeness: arrival.likeness,
            retries,
            state: if is_let_through { State::LetThrough } else { State::ToBeRepeated },
            told,
            fields: fields.map(Arc::from),
        };
        if let Some(gone) = submissions.put(entry).filter(|gone| matches!(gone.state, State::LetThrough)) {
            throttle.lock().note(gone.asker, gone.at);
        }
        submissions.forget_users();
    }

    /// How many submissions were kept so far.
    pub(crate) fn kept(&self) -> u64 {
        self.0.lock().next.saturating_sub(1)
    }

    /// How many bytes the fields take that are kept.
    pub fn bytes(&self) -> usize {
        self.0.lock().bytes.all
    }

    /// Takes note of what a snapshot's queue shows of the submissions, once for each snapshot.
    /// `rules_read_at` is when the queue was read that rules are asked beside, if there are any:
    /// the fields are given back of what that reading shows.
    pub fn settle<B: AsRef<[u8]>>(&self, snapshot: &Snapshot<B>, throttle: &Mutex<Throttle>, rules_read_at: Option<UnixTime>) {
        let mut submissions = self.0.lock();
        if submissions.settled.replace(snapshot.checksum()) == Some(snapshot.checksum()) {
            return;
        }
        let since = missing_since(snapshot);
        let Some(known_since) = snapshot.provenance().submissions_since else { return };
        let mut seen: HashMap<UserId, SeenJobs> = HashMap::new();
        let Submissions { entries, next, bytes, open_from, .. } = &mut *submissions;
        let mut throttle = throttle.lock();
        let kept = || next.saturating_sub(MOST as u64).max(1)..*next;
        // A job is of what it was before, and rather of the last repetition than of an earlier one.
        let in_order = (0..3).flat_map(|turn| kept().map(move |number| (turn, number)));
        for (turn, number) in in_order {
            let Some(entry) = entries.get_mut(place(number)).filter(|entry| entry.number == number) else { continue };
            let of_turn = match entry.state {
                State::Confirmed => 0,
                State::LetThrough | State::Missing => 1,
                State::Repeated => 2,
                State::ToBeRepeated | State::Settled => continue,
            };
            if turn != of_turn || entry.at >= since {
                continue;
            }
            if entry.at <= known_since {
                // Nothing is known of this submission, and nothing will be.
                if entry.state == State::LetThrough && turn == 1 {
                    throttle.note(entry.asker, entry.at);
                }
                entry.state = State::Settled;
                bytes.give_back(entry);
                continue;
            }
            let of_owner = seen.entry(entry.owner).or_insert_with(|| snapshot.seen_submissions(entry.owner).collect());
            // Each job stands for one submission.
            match of_owner.take(entry.at, |_| true) {
                Some(_) => {
                    if entry.state != State::Confirmed {
                        throttle.note(entry.asker, entry.at);
                    }
                    entry.state = State::Confirmed;
                }
                None if matches!(entry.state, State::LetThrough | State::Missing) => entry.state = State::Missing,
                None => entry.state = State::Settled,
            }
            if rules_read_at.is_none_or(|read_at| entry.at < read_at - UNDERWAY) {
                bytes.give_back(entry);
            }
        }
        let is_open = |number: &u64| entries.get(place(*number)).is_some_and(|entry| entry.state == State::LetThrough);
        *open_from = kept().find(is_open).unwrap_or(*next);
    }

    /// How many jobs a user submitted that the throttle does not count, and that count all the
    /// same: those that the queue was not read for yet, and within a minute those that it does not
    /// show.
    #[must_use]
    pub fn count(&self, asker: UserId, now: UnixTime) -> u32 {
        let counts = |entry: &&Entry| match entry.state {
            State::LetThrough => now - entry.at < HOUR,
            State::Missing => now - entry.at < COUNTED,
            State::ToBeRepeated | State::Repeated | State::Confirmed | State::Settled => false,
        };
        let submissions = self.0.lock();
        let may_count = |entry: &&Entry| entry.number >= submissions.open_from || now - entry.at < COUNTED + CLOCK_SET_BACK;
        u32::try_from(submissions.of(asker).take_while(may_count).filter(counts).count()).unwrap_or(u32::MAX)
    }

    /// The jobs of a user that may be missing in a reading of the queue at a moment, each with when
    /// it was let through and with its fields, the latest first; a job whose fields are not kept is
    /// without. The user has submitted them, or root or SlurmUser for the user.
    #[must_use]
    pub fn submitted_since(&self, user: UserId, read_at: UnixTime) -> Vec<(UnixTime, Option<SubmittedFields>)> {
        let submissions = self.0.lock();
        let mut askers = vec![UserId(0), own_user(), user];
        askers.sort_unstable();
        askers.dedup();
        let is_there = |entry: &&Entry| {
            entry.owner == user && entry.at >= read_at - UNDERWAY && !matches!(entry.state, State::ToBeRepeated | State::Repeated)
        };
        // Entries are in the order of time, unless the clock was set back.
        let is_late = |entry: &&Entry| entry.at >= read_at - UNDERWAY - CLOCK_SET_BACK;
        let entries = askers.into_iter().flat_map(|asker| submissions.of(asker).take_while(is_late));
        let mut submitted: Vec<_> = entries.filter(is_there).map(|entry| (entry.number, entry.at, entry.fields.clone())).collect();
        submitted.sort_unstable_by_key(|(number, ..)| Reverse(*number));
        submitted.into_iter().map(|(_, at, fields)| (at, fields)).collect()
    }
}

fn bytes_of(fields: &[(FieldNumber, OwnedValue)]) -> usize {
    fields.iter().map(|(_, value)| weight(Some(value))).sum()
}

/// Whether a field of a submission is as it was before, but for the record of a decision: each has
/// a number of its own.
fn is_alike(one: &(FieldNumber, OwnedValue), other: &(FieldNumber, OwnedValue)) -> bool {
    let is_record = |(field, value): &(FieldNumber, OwnedValue)| match value {
        OwnedValue::Text(text) => *field == Name::AdminComment.into() && Record::parse(text).is_some(),
        _ => false,
    };
    one == other || (is_record(one) && is_record(other))
}

impl Submissions {
    fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(place(number)).filter(|entry| number > 0 && entry.number == number)
    }

    /// The entries of who submitted, the latest first.
    fn of(&self, asker: UserId) -> impl Iterator<Item = &Entry> {
        let latest = self.latest.get(&asker).and_then(|number| self.get(*number));
        std::iter::successors(latest, |entry| self.get(entry.previous)).filter(move |entry| entry.asker == asker).take(MOST)
    }

    /// Takes out of account what another entry with these fields stands for now. A job that was let
    /// through and has other fields is another one, however alike the two are.
    fn take(&mut self, number: u64, fields: Option<&[(FieldNumber, OwnedValue)]>) -> Option<&Entry> {
        let Submissions { entries, bytes, .. } = self;
        let is_same = |entry: &Entry| match (entry.fields.as_deref(), fields) {
            (Some(before), Some(fields)) => {
                before.len() == fields.len() && before.iter().zip(fields).all(|(one, other)| is_alike(one, other))
            }
            (before, fields) => before.is_none() && fields.is_none(),
        };
        let is_repeated = |entry: &&mut Entry| entry.number == number && (entry.state != State::LetThrough || is_same(entry));
        let entry = entries.get_mut(place(number)).filter(is_repeated)?;
        bytes.give_back(entry);
        if entry.state == State::LetThrough {
            entry.state = State::Repeated;
        }
        Some(entry)
    }

    /// Puts an entry into the place of the earliest, where there is no other; that one.
    fn put(&mut self, entry: Entry) -> Option<Entry> {
        if self.entries.capacity() == 0 {
            self.entries.reserve_exact(MOST);
        }
        self.next = entry.number + 1;
        self.bytes.add(&entry);
        let Some(slot) = self.entries.get_mut(place(entry.number)) else {
            self.entries.push(entry);
            return None;
        };
        let mut gone = std::mem::replace(slot, entry);
        self.bytes.give_back(&mut gone);
        Some(gone)
    }

    fn forget_users(&mut self) {
        let oldest = self.next.saturating_sub(MOST as u64);
        if self.latest.len() > MANY_USERS {
            self.latest.retain(|_, latest| *latest >= oldest);
        }
    }
}

impl Entry {
    /// Whether its client would repeat it at a moment: it waits a second before the first
    /// repetition, two before the next, and so on.
    fn is_repeated_at(&self, now: Instant) -> bool {
        let wait = Duration::from_secs(u64::from(self.retries + 1));
        let passed = now.saturating_duration_since(self.answered);
        self.retries < MOST_RETRIES && passed >= wait && passed < wait + RETRY_LATE
    }

    /// Whether a repetition of this submission leaves out the lines that its user was told. One
    /// that was let through may be followed, a second later, by another job of the user's that
    /// looks the same, and the user is to be told of both. So it counts as repeated by its client
    /// only from the second repetition on, which comes two seconds after the first.
    fn has_told(&self) -> bool {
        self.state == State::ToBeRepeated || self.retries > 0
    }
}

/// Returns the place of the entry with this number.
fn place(number: u64) -> usize {
    usize::try_from(number.saturating_sub(1) % MOST as u64).unwrap_or(0)
}

/// A number that is the same for submissions of the same job from the same session.
fn likeness(description: &JobDescription<'_>) -> u64 {
    const TEXTS: [TextField; 10] = [
        TextField::Name,
        TextField::Partition,
        TextField::Account,
        TextField::Qos,
        TextField::WorkDir,
        TextField::ArrayInx,
        TextField::TresPerNode,
        TextField::StdOut,
        TextField::AllocNode,
        TextField::Script,
    ];
    const NUMBERS: [NumberField; 7] = [
        NumberField::MinNodes,
        NumberField::NumTasks,
        NumberField::MinCpus,
        NumberField::CpusPerTask,
        NumberField::BeginTime,
        NumberField::Deadline,
        NumberField::AllocSid,
    ];
    let mut hasher = DefaultHasher::new();
    for field in TEXTS {
        // To find the end of a script takes milliseconds, where it is long.
        hasher.write_usize(description.text_length(field, LONGEST_COUNTED));
        hasher.write(description.text_start(field, TOLD_APART_BY));
    }
    for field in NUMBERS {
        hasher.write_i64(description.number(field).unwrap_or(i64::MIN));
    }
    hasher.write_u32(description.user().0);
    hasher.finish()
}
