//! What the daemon knows about users and jobs, in a file beside the rules: who is an operator, the
//! users' names and groups, how many jobs each user has, and the jobs that are pending or running.
//!
//! slurmctld's threads look a user up at each submission, and a job at each modification, while the
//! file of a large cluster has tens of MB and is written anew every half minute. So the file is
//! read into memory as it is and verified by its checksum, and of what it holds only the user or
//! job that is looked up is decoded. Behind the head ([`crate::file`] has the same) come how many
//! there are of each, the operators, the numbers of jobs by user, and for users, jobs and tasks of
//! arrays each an index in ascending order that says where in the rest of the file they stand.

use crate::derived;
use crate::field::{self, FieldNumber, Fields, GpuCounts, Name};
use crate::head::{Head, HeadError};
use crate::submission::UserJobs;
use crate::value::{Kind, Resources, Texts, Value};
use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::HashMap;
use thiserror::Error;
use zerocopy::byteorder::little_endian::{I64, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The largest file, in bytes.
pub const LARGEST: usize = 64 << 20;

/// The most users that are kept.
pub const MOST_USERS: usize = 200_000;

/// The most jobs that are kept.
pub const MOST_JOBS: usize = 100_000;

const HEAD: Head = Head { magic: *b"QCSITED\n", layout: 2, largest: LARGEST };

/// What stands between the texts of a list: none of them can hold it, as they are C's texts.
const SEPARATOR: char = '\0';

/// What the daemon writes into the file.
#[derive(Clone, Debug, Default)]
pub struct SiteData {
    /// When it was written.
    pub written_at: UnixTime,
    /// The users whose administrative level is Operator or Administrator.
    pub operators: Vec<UserId>,
    /// All users with an association.
    pub users: Vec<SiteUser>,
    /// The jobs that are pending or running.
    pub jobs: Vec<SiteJob>,
    /// How many jobs each user has who has any, of those that were submitted before
    /// `counted_before`; those that have no place in `jobs` are counted too.
    pub job_counts: Vec<(UserId, UserJobs)>,
    /// The time by slurmctld's clock from which on submissions are not among the counted ones.
    pub counted_before: UnixTime,
}

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteUser {
    /// The number.
    pub id: UserId,
    /// The name.
    pub name: String,
    /// The names of the user's groups.
    pub groups: Vec<String>,
}

/// A job as the daemon read it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteJob {
    /// Its number.
    pub number: JobId,
    /// Of a task of an array that has a number of its own: the array's number and the task's.
    /// Slurm's tools call such a job `ARRAY_TASK`, and ask for its modification by that name.
    pub task: Option<(JobId, u32)>,
    /// When it was read.
    pub read_at: UnixTime,
    /// Its fields; those that are left out are absent. What is derived of others is not read.
    pub fields: Vec<(FieldNumber, OwnedValue)>,
}

impl SiteJob {
    /// The number of its user, where that is among its fields.
    fn user(&self) -> Option<i64> {
        let name = FieldNumber::from(Name::UserId);
        self.fields.iter().find_map(|(field, value)| match value {
            OwnedValue::Integer(number) if *field == name => Some(*number),
            _ => None,
        })
    }
}

/// A value that owns what it holds.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// `bool`.
    Truth(bool),
    /// `int`.
    Integer(i64),
    /// `double`.
    Real(f64),
    /// `string`.
    Text(String),
    /// `duration`.
    Duration(Seconds),
    /// `timestamp`.
    Moment(UnixTime),
    /// `list(string)`; empty texts are left out.
    Texts(Vec<String>),
    /// A list of generic resources.
    Resources(String),
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> OwnedValue {
        match value {
            Value::Truth(truth) => OwnedValue::Truth(truth),
            Value::Integer(number) => OwnedValue::Integer(number),
            Value::Real(number) => OwnedValue::Real(number),
            Value::Text(text) => OwnedValue::Text(text.to_owned()),
            Value::Duration(duration) => OwnedValue::Duration(duration),
            Value::Moment(moment) => OwnedValue::Moment(moment),
            Value::Texts(texts) => OwnedValue::Texts(texts.iter().map(str::to_owned).collect()),
            Value::Resources(Resources(text)) => OwnedValue::Resources(text.to_owned()),
        }
    }
}

/// The file's bytes, and what had no place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What is not among them.
    pub left_out: LeftOut,
}

/// What had no place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Users, those with the highest numbers.
    pub users: u32,
    /// Jobs: of the users who have more than their share of the room, those with the lowest
    /// numbers, which are the oldest.
    pub jobs: u32,
}

/// Why a file is not taken for data about the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DataError {
    /// It is none of this release, too large, or damaged.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// Its parts don't belong together.
    #[error("its parts don't belong together")]
    Malformed,
}

/// A value as it stands in the file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum StoredValue<'a> {
    Truth(bool),
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Duration(i64),
    Moment(i64),
    Texts(&'a str),
    Resources(&'a str),
}

/// What stands behind the head.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Numbers {
    written_at: I64,
    counted_before: I64,
    operators: U32,
    job_counts: U32,
    users: U32,
    jobs: U32,
    tasks: U32,
    left_out_users: U32,
    left_out_jobs: U32,
}

/// How many jobs a user has.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct JobCount {
    user: U32,
    pending: U32,
    running: U32,
}

/// A user's or job's number, and where in the rest of the file it stands.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Entry {
    number: U32,
    start: U32,
}

/// A task of an array, and where in the rest of the file its job stands.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct TaskEntry {
    array: U32,
    task: U32,
    start: U32,
}

/// Writes data to bytes. What is beyond [`MOST_USERS`], [`MOST_JOBS`] or [`LARGEST`] is left out.
#[must_use]
pub fn encode(data: &SiteData) -> Encoded {
    encode_within(data, HEAD.most(), MOST_USERS, MOST_JOBS)
}

fn encode_within(data: &SiteData, most_bytes: usize, most_users: usize, most_jobs: usize) -> Encoded {
    let mut operators: Vec<U32> = data.operators.iter().map(|user| U32::new(user.0)).collect();
    operators.sort_unstable();
    operators.dedup();
    // Each of them stands in the file with its number as well.
    operators.truncate(most_users);
    let count_of = |(user, jobs): &(UserId, UserJobs)| JobCount {
        user: U32::new(user.0),
        pending: U32::new(jobs.pending),
        running: U32::new(jobs.running),
    };
    let mut job_counts: Vec<JobCount> = data.job_counts.iter().map(count_of).collect();
    job_counts.sort_by_key(|count| count.user);
    job_counts.dedup_by_key(|count| count.user);
    job_counts.truncate(most_users);
    let fixed = size_of::<Numbers>() + operators.as_bytes().len() + job_counts.as_bytes().len();
    let mut room = most_bytes.saturating_sub(fixed);
    let mut rest = Vec::new();

    let mut users: Vec<&SiteUser> = data.users.iter().collect();
    users.sort_by_key(|user| user.id);
    users.dedup_by_key(|user| user.id);
    let mut user_entries = Vec::new();
    for user in users.iter().take(most_users) {
        let Some(start) = append(&mut rest, &mut room, size_of::<Entry>(), &(user.name.as_str(), joined(&user.groups))) else { continue };
        user_entries.push(Entry { number: U32::new(user.id.0), start });
    }

    let mut jobs: Vec<&SiteJob> = data.jobs.iter().collect();
    jobs.sort_by_key(|job| std::cmp::Reverse(job.number));
    jobs.dedup_by_key(|job| job.number);
    let (mut job_entries, mut task_entries) = (Vec::new(), Vec::new());
    let encoded = jobs.iter().map(|job| encoded_job(job)).collect::<Vec<_>>();
    let mut shares = Shares::new(jobs.iter().zip(&encoded).map(|(job, (size, bytes))| (job.user(), size + bytes.len())), room, most_jobs);
    for (job, (size, bytes)) in jobs.iter().zip(&encoded) {
        if job_entries.len() == most_jobs || !shares.takes(job.user(), size + bytes.len()) {
            continue;
        }
        let Some(start) = append_bytes(&mut rest, &mut room, *size, bytes) else { continue };
        job_entries.push(Entry { number: U32::new(job.number.0), start });
        if let Some((array, task)) = job.task {
            task_entries.push(TaskEntry { array: U32::new(array.0), task: U32::new(task), start });
        }
    }
    job_entries.reverse();
    task_entries.sort_by_key(TaskEntry::key);
    task_entries.dedup_by_key(|entry| entry.key());

    let count = |count: usize| U32::new(u32::try_from(count).unwrap_or(u32::MAX));
    let left_out = LeftOut { users: count(users.len() - user_entries.len()).get(), jobs: count(jobs.len() - job_entries.len()).get() };
    let numbers = Numbers {
        written_at: I64::new(data.written_at.0),
        counted_before: I64::new(data.counted_before.0),
        operators: count(operators.len()),
        job_counts: count(job_counts.len()),
        users: count(user_entries.len()),
        jobs: count(job_entries.len()),
        tasks: count(task_entries.len()),
        left_out_users: U32::new(left_out.users),
        left_out_jobs: U32::new(left_out.jobs),
    };
    let parts = [
        numbers.as_bytes(),
        operators.as_bytes(),
        job_counts.as_bytes(),
        user_entries.as_bytes(),
        job_entries.as_bytes(),
        task_entries.as_bytes(),
        &rest,
    ];
    // It fits, as it was counted.
    Encoded { bytes: HEAD.sealed(&parts.concat()).unwrap_or_default(), left_out }
}

/// Puts a value behind the others, if there is room for it and for its entry; where it begins.
fn append(rest: &mut Vec<u8>, room: &mut usize, entry: usize, value: &impl Serialize) -> Option<U32> {
    append_bytes(rest, room, entry, &postcard::to_allocvec(value).ok()?)
}

/// The same with a value that is encoded already.
fn append_bytes(rest: &mut Vec<u8>, room: &mut usize, entry: usize, bytes: &[u8]) -> Option<U32> {
    *room = room.checked_sub(bytes.len() + entry)?;
    let start = u32::try_from(rest.len()).ok()?;
    rest.extend(bytes);
    Some(U32::new(start))
}

/// A job as it stands in the file, and the size of its entries.
fn encoded_job(job: &SiteJob) -> (usize, Vec<u8>) {
    let size = size_of::<Entry>() + job.task.map_or(0, |_| size_of::<TaskEntry>());
    let texts: Vec<String> = job.fields.iter().map(|(_, value)| value.joined()).collect();
    let fields: Vec<_> = job.fields.iter().zip(&texts).map(|((field, value), text)| (*field, value.stored(text))).collect();
    (size, postcard::to_allocvec(&(job.task.map(|(array, _)| array.0), job.read_at.0, fields)).unwrap_or_default())
}

/// How much of the room each user's jobs may take: users who need no more than their part have what
/// they need, and the others share the rest evenly.
struct Shares {
    most_bytes: usize,
    most_jobs: usize,
    taken: HashMap<Option<i64>, (usize, usize)>,
}

impl Shares {
    /// For jobs by their users and sizes.
    fn new(jobs: impl Iterator<Item = (Option<i64>, usize)>, room: usize, most_jobs: usize) -> Shares {
        let mut wanted: HashMap<Option<i64>, (usize, usize)> = HashMap::new();
        for (user, bytes) in jobs {
            let wanted = wanted.entry(user).or_default();
            *wanted = (wanted.0.saturating_add(bytes), wanted.1 + 1);
        }
        let most_bytes = even_share(wanted.values().map(|(bytes, _)| *bytes), room);
        let most_jobs = even_share(wanted.values().map(|(_, jobs)| *jobs), most_jobs);
        Shares { most_bytes, most_jobs, taken: HashMap::new() }
    }

    /// Whether one more job of that size is within its user's share, of which it is taken then.
    fn takes(&mut self, user: Option<i64>, bytes: usize) -> bool {
        let taken = self.taken.entry(user).or_default();
        let next = (taken.0.saturating_add(bytes), taken.1 + 1);
        let fits = next.0 <= self.most_bytes && next.1 <= self.most_jobs;
        if fits {
            *taken = next;
        }
        fits
    }
}

/// The most that each may have so that all together have no more than the room.
fn even_share(wanted: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut wanted: Vec<usize> = wanted.collect();
    wanted.sort_unstable();
    let (mut left, mut others) = (room, wanted.len());
    for want in wanted {
        let share = left / others.max(1);
        if want > share {
            return share;
        }
        (left, others) = (left - want, others - 1);
    }
    usize::MAX
}

fn joined(texts: &[String]) -> String {
    let separator = SEPARATOR.encode_utf8(&mut [0; 4]).to_owned();
    texts.iter().filter(|text| !text.contains(SEPARATOR)).map(String::as_str).collect::<Vec<_>>().join(&separator)
}

impl OwnedValue {
    /// The value, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            OwnedValue::Truth(truth) => Value::Truth(*truth),
            OwnedValue::Integer(number) => Value::Integer(*number),
            OwnedValue::Real(number) => Value::Real(*number),
            OwnedValue::Text(text) => Value::Text(text),
            OwnedValue::Duration(duration) => Value::Duration(*duration),
            OwnedValue::Moment(moment) => Value::Moment(*moment),
            OwnedValue::Texts(texts) => Value::Texts(Texts::Listed(texts)),
            OwnedValue::Resources(text) => Value::Resources(Resources(text)),
        }
    }

    /// The text of a list.
    fn joined(&self) -> String {
        match self {
            OwnedValue::Texts(texts) => joined(texts),
            _ => String::new(),
        }
    }

    /// The value as it stands in the file; `joined` is the text of a list.
    fn stored<'a>(&'a self, joined: &'a str) -> StoredValue<'a> {
        match self {
            OwnedValue::Truth(truth) => StoredValue::Truth(*truth),
            OwnedValue::Integer(number) => StoredValue::Integer(*number),
            OwnedValue::Real(number) => StoredValue::Real(*number),
            OwnedValue::Text(text) => StoredValue::Text(text),
            OwnedValue::Duration(duration) => StoredValue::Duration(duration.0),
            OwnedValue::Moment(moment) => StoredValue::Moment(moment.0),
            OwnedValue::Texts(_) => StoredValue::Texts(joined),
            OwnedValue::Resources(text) => StoredValue::Resources(text),
        }
    }
}

impl<'a> From<StoredValue<'a>> for Value<'a> {
    fn from(value: StoredValue<'a>) -> Value<'a> {
        match value {
            StoredValue::Truth(truth) => Value::Truth(truth),
            StoredValue::Integer(number) => Value::Integer(number),
            StoredValue::Real(number) => Value::Real(number),
            StoredValue::Text(text) => Value::Text(text),
            StoredValue::Duration(seconds) => Value::Duration(Seconds(seconds)),
            StoredValue::Moment(moment) => Value::Moment(UnixTime(moment)),
            StoredValue::Texts(texts) => Value::Texts(Texts::Separated(texts, SEPARATOR)),
            StoredValue::Resources(text) => Value::Resources(Resources(text)),
        }
    }
}

impl TaskEntry {
    fn key(&self) -> (u32, u32) {
        (self.array.get(), self.task.get())
    }
}

/// A file that was read and verified.
#[derive(Debug)]
pub struct DataFile(Vec<u8>);

/// The parts of a file.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    numbers: &'a Numbers,
    operators: &'a [U32],
    job_counts: &'a [JobCount],
    users: &'a [Entry],
    jobs: &'a [Entry],
    tasks: &'a [TaskEntry],
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(content: &'a [u8]) -> Option<Parts<'a>> {
        let (numbers, content) = Numbers::ref_from_prefix(content).ok()?;
        let (operators, content) = part(content, numbers.operators)?;
        let (job_counts, content) = part(content, numbers.job_counts)?;
        let (users, content) = part(content, numbers.users)?;
        let (jobs, content) = part(content, numbers.jobs)?;
        let (tasks, rest) = part(content, numbers.tasks)?;
        Some(Parts { numbers, operators, job_counts, users, jobs, tasks, rest })
    }

    /// Whether look-ups can rely on the order of the indexes, and all that they lead to is there.
    fn is_well_formed(&self) -> bool {
        let Parts { numbers: _, operators, job_counts, users, jobs, tasks, rest } = self;
        let by_number = |entries: &[Entry]| entries.is_sorted_by(|one, next| one.number < next.number);
        let mut starts = users.iter().chain(*jobs).map(|entry| entry.start).chain(tasks.iter().map(|entry| entry.start));
        operators.is_sorted_by(|one, next| one < next)
            && job_counts.is_sorted_by(|one, next| one.user < next.user)
            && users.len() <= MOST_USERS
            && jobs.len() <= MOST_JOBS
            && by_number(users)
            && by_number(jobs)
            && tasks.is_sorted_by(|one, next| one.key() < next.key())
            && starts.all(|start| usize::try_from(start.get()).is_ok_and(|start| start < rest.len()))
    }

    fn decoded<T: Deserialize<'a>>(&self, start: U32) -> Option<T> {
        let bytes = self.rest.get(usize::try_from(start.get()).ok()?..)?;
        postcard::take_from_bytes(bytes).ok().map(|(value, _)| value)
    }
}

fn part<T: FromBytes + KnownLayout + Immutable + Unaligned>(content: &[u8], count: U32) -> Option<(&[T], &[u8])> {
    <[T]>::ref_from_prefix_with_elems(content, usize::try_from(count.get()).ok()?).ok()
}

impl DataFile {
    /// Takes a file's bytes.
    ///
    /// # Errors
    /// [`DataError`] says why they can't be used.
    pub fn decode(bytes: Vec<u8>) -> Result<DataFile, DataError> {
        let parts = Parts::of(HEAD.content(&bytes)?).ok_or(DataError::Malformed)?;
        if parts.is_well_formed() { Ok(DataFile(bytes)) } else { Err(DataError::Malformed) }
    }

    fn parts(&self) -> Option<Parts<'_>> {
        Parts::of(HEAD.unchecked_content(&self.0)?)
    }

    /// When it was written.
    #[must_use]
    pub fn written_at(&self) -> UnixTime {
        UnixTime(self.parts().map_or(0, |parts| parts.numbers.written_at.get()))
    }

    /// How many users and jobs are in it.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.parts().map_or((0, 0), |parts| (parts.users.len(), parts.jobs.len()))
    }

    /// What had no place in it.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.parts().map_or_else(LeftOut::default, |parts| LeftOut {
            users: parts.numbers.left_out_users.get(),
            jobs: parts.numbers.left_out_jobs.get(),
        })
    }

    /// Whether a user is an operator or administrator of Slurm.
    #[must_use]
    pub fn is_operator(&self, user: UserId) -> bool {
        self.parts().is_some_and(|parts| parts.operators.binary_search(&U32::new(user.0)).is_ok())
    }

    /// How many jobs a user has, of those that were submitted before [`DataFile::counted_before`].
    #[must_use]
    pub fn jobs_of(&self, user: UserId) -> UserJobs {
        let count = self.parts().and_then(|parts| {
            let place = parts.job_counts.binary_search_by_key(&user.0, |count| count.user.get()).ok()?;
            parts.job_counts.get(place)
        });
        count.map_or_else(UserJobs::default, |count| UserJobs { pending: count.pending.get(), running: count.running.get() })
    }

    /// The time by slurmctld's clock from which on submissions are not among the counted ones.
    #[must_use]
    pub fn counted_before(&self) -> UnixTime {
        UnixTime(self.parts().map_or(0, |parts| parts.numbers.counted_before.get()))
    }

    /// All users of whom something is known.
    pub fn users(&self) -> impl Iterator<Item = (UserId, KnownUser<'_>)> {
        let ids = self.parts().map_or(&[][..], |parts| parts.users).iter().map(|entry| UserId(entry.number.get()));
        ids.filter_map(|id| Some((id, self.user(id)?)))
    }

    /// What is known of a user.
    #[must_use]
    pub fn user(&self, user: UserId) -> Option<KnownUser<'_>> {
        let parts = self.parts()?;
        let place = parts.users.binary_search_by_key(&user.0, |entry| entry.number.get()).ok()?;
        let (name, groups): (&str, &str) = parts.decoded(parts.users.get(place)?.start)?;
        Some(KnownUser { name, groups: Texts::Separated(groups, SEPARATOR) })
    }

    /// A job by its number.
    #[must_use]
    pub fn job(&self, job: JobId) -> Option<KnownJob<'_>> {
        let parts = self.parts()?;
        let place = parts.jobs.binary_search_by_key(&job.0, |entry| entry.number.get()).ok()?;
        KnownJob::of(&parts, parts.jobs.get(place)?.start)
    }

    /// A task of an array: the job of its own, where it has one, or else that of the array, which
    /// stands for all tasks that have none.
    #[must_use]
    pub fn task(&self, array: JobId, task: u32) -> Option<KnownJob<'_>> {
        let parts = self.parts()?;
        match parts.tasks.binary_search_by_key(&(array.0, task), TaskEntry::key) {
            Ok(place) => KnownJob::of(&parts, parts.tasks.get(place)?.start),
            Err(_) => self.job(array),
        }
    }
}

/// A user of whom something is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownUser<'a> {
    /// The name.
    pub name: &'a str,
    /// The names of the user's groups.
    pub groups: Texts<'a>,
}

/// A job as the daemon read it, with the fields that rules read.
#[derive(Debug)]
pub struct KnownJob<'a> {
    /// When it was read.
    pub read_at: UnixTime,
    /// The array that it is a task of.
    pub array: Option<JobId>,
    fields: Vec<(FieldNumber, StoredValue<'a>)>,
    gpu_types: Vec<&'a str>,
    gpu_counts: OnceCell<GpuCounts>,
}

/// Fields that a change of a job writes; `None` makes one absent.
pub type FieldChanges = [(FieldNumber, Option<OwnedValue>)];

impl<'a> KnownJob<'a> {
    fn of(parts: &Parts<'a>, start: U32) -> Option<KnownJob<'a>> {
        let (array, read_at, fields): (Option<u32>, i64, Vec<(FieldNumber, StoredValue<'a>)>) = parts.decoded(start)?;
        // A field is of its kind, as whoever reads it relies on.
        let is_of_kind = |(field, value): &(FieldNumber, StoredValue<'_>)| {
            field.get().is_some_and(|field| field.kind != Kind::Variables && field.kind == Value::from(*value).kind())
        };
        if !fields.iter().all(is_of_kind) {
            return None;
        }
        Some(KnownJob { array: array.map(JobId), ..KnownJob::with_fields(UnixTime(read_at), fields) })
    }

    fn with_fields(read_at: UnixTime, fields: Vec<(FieldNumber, StoredValue<'a>)>) -> KnownJob<'a> {
        let of_gpus = |name: Name| {
            let text = fields.iter().find_map(|(field, value)| match value {
                StoredValue::Resources(text) if *field == FieldNumber::from(name) => Some(*text),
                _ => None,
            });
            derived::gpu_types_of(text.unwrap_or_default())
        };
        let gpu_types = derived::RESOURCE_FIELDS.into_iter().flat_map(of_gpus).collect();
        KnownJob { read_at, array: None, fields, gpu_types, gpu_counts: OnceCell::new() }
    }

    /// A job as it was submitted, which nobody has read since. Lists of texts are left out.
    #[must_use]
    pub fn submitted(at: UnixTime, fields: &'a [(FieldNumber, OwnedValue)]) -> KnownJob<'a> {
        let stored = fields.iter().filter(|(_, value)| !matches!(value, OwnedValue::Texts(_)));
        KnownJob::with_fields(at, stored.map(|(field, value)| (*field, value.stored(""))).collect())
    }

    /// The same job after a change, in which lists of texts are left out. What stands in the place
    /// of a field that is written, such as no limit in that of a time limit, goes with it.
    #[must_use]
    pub fn changed(&self, changes: &'a FieldChanges) -> KnownJob<'a> {
        let mut fields = self.fields.clone();
        for (field, value) in changes {
            let displaced = field.name().map_or(&[][..], Name::displaces);
            let value = value.as_ref().filter(|value| !matches!(value, OwnedValue::Texts(_)));
            let is_displaced = |other: &FieldNumber| value.is_some() && displaced.iter().any(|name| FieldNumber::from(*name) == *other);
            fields.retain(|(other, _)| other != field && !is_displaced(other));
            fields.extend(value.map(|value| (*field, value.stored(""))));
            for name in displaced.iter().filter(|_| value.is_some()) {
                if FieldNumber::from(*name).get().is_some_and(|field| field.kind == Kind::Truth) {
                    fields.push((FieldNumber::from(*name), StoredValue::Truth(false)));
                }
            }
        }
        KnownJob { array: self.array, ..KnownJob::with_fields(self.read_at, fields) }
    }
}

impl Fields for KnownJob<'_> {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        match field.name()? {
            Name::GpuTypes => Some(Value::Texts(Texts::Listed(&self.gpu_types))),
            name if name.is_derived() => derived::value(name, self),
            _ => self.fields.iter().find(|(other, _)| *other == field).map(|(_, value)| Value::from(*value)),
        }
    }

    /// The environment of a job that was submitted is not read.
    fn variable(&self, _: &str) -> Option<&str> {
        None
    }

    fn gpu_counts(&self) -> GpuCounts {
        *self.gpu_counts.get_or_init(|| field::gpu_counts(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn user(id: u32, name: &str, groups: &[&str]) -> SiteUser {
        SiteUser { id: UserId(id), name: name.to_owned(), groups: groups.iter().map(|group| (*group).to_owned()).collect() }
    }

    fn job(number: u32, fields: &[(Name, OwnedValue)]) -> SiteJob {
        let fields = fields.iter().map(|(name, value)| (FieldNumber::from(*name), value.clone())).collect();
        SiteJob { number: JobId(number), task: None, read_at: UnixTime(900), fields }
    }

    fn text(text: &str) -> OwnedValue {
        OwnedValue::Text(text.to_owned())
    }

    fn made_up() -> SiteData {
        let task = SiteJob { task: Some((JobId(40), 7)), ..job(43, &[(Name::Partition, text("of the task"))]) };
        SiteData {
            written_at: UnixTime(1_000),
            operators: vec![UserId(30), UserId(10)],
            users: vec![user(20, "berta", &[]), user(10, "anna", &["physics", "the staff"])],
            jobs: vec![
                task,
                job(40, &[(Name::Partition, text("of the array"))]),
                job(
                    12,
                    &[
                        (Name::TimeLimit, OwnedValue::Duration(Seconds(3_600))),
                        (Name::BeginTime, OwnedValue::Moment(UnixTime(5))),
                        (Name::MinCpus, OwnedValue::Integer(-4)),
                        (Name::IsBatch, OwnedValue::Truth(true)),
                        (Name::TresPerNode, OwnedValue::Resources("gres/gpu:a100:2".to_owned())),
                        (Name::Argv, OwnedValue::Texts(vec!["job.sh".to_owned(), "one argument".to_owned()])),
                    ],
                ),
            ],
            job_counts: vec![(UserId(20), UserJobs { pending: 3, running: 1 }), (UserId(10), UserJobs { pending: 0, running: 70_000 })],
            counted_before: UnixTime(990),
        }
    }

    fn read(data: &SiteData) -> DataFile {
        DataFile::decode(encode(data).bytes).unwrap()
    }

    fn in_words(job: &KnownJob<'_>, name: Name) -> Option<String> {
        job.field(FieldNumber::from(name)).map(|value| value.to_string())
    }

    #[test]
    fn users_operators_and_jobs_are_found_by_their_numbers_in_whatever_order_they_were_written() {
        let file = read(&made_up());
        assert_eq!((file.written_at(), file.counts(), file.left_out()), (UnixTime(1_000), (2, 3), LeftOut::default()));
        assert_eq!([9, 10, 20, 30, 31].map(|id| file.is_operator(UserId(id))), [false, true, false, true, false]);
        let anna = file.user(UserId(10)).unwrap();
        assert_eq!((anna.name, anna.groups.iter().collect::<Vec<_>>()), ("anna", vec!["physics", "the staff"]));
        let berta = file.user(UserId(20)).unwrap();
        assert_eq!((berta.name, berta.groups.iter().count()), ("berta", 0));
        assert!(file.user(UserId(11)).is_none());
        let jobs = [9, 10, 20].map(|id| file.jobs_of(UserId(id))).map(|jobs| (jobs.pending, jobs.running));
        assert_eq!((jobs, file.counted_before()), ([(0, 0), (0, 70_000), (3, 1)], UnixTime(990)));
        let job = file.job(JobId(12)).unwrap();
        assert_eq!(job.read_at, UnixTime(900));
        let expected = [
            (Name::TimeLimit, Some("3600s")),
            (Name::BeginTime, Some("@5")),
            (Name::MinCpus, Some("-4")),
            (Name::IsBatch, Some("true")),
            (Name::IsInteractive, Some("false")),
            (Name::Gpus, Some("2")),
            (Name::GpuTypes, Some("a100")),
            (Name::Argv, Some("job.sh|one argument")),
            (Name::Partition, None),
        ];
        for (name, value) in expected {
            assert_eq!(in_words(&job, name).as_deref(), value, "{name:?}");
        }
        assert!(file.job(JobId(13)).is_none());
    }

    #[test]
    fn a_task_of_an_array_is_its_own_job_where_it_has_one_and_else_the_arrays() {
        let file = read(&made_up());
        let partition = |job: Option<KnownJob<'_>>| job.and_then(|job| in_words(&job, Name::Partition));
        assert_eq!(partition(file.task(JobId(40), 7)).as_deref(), Some("of the task"));
        assert_eq!(partition(file.task(JobId(40), 8)).as_deref(), Some("of the array"));
        assert_eq!(partition(file.job(JobId(43))).as_deref(), Some("of the task"));
        assert!(file.task(JobId(41), 7).is_none());
    }

    #[test]
    fn data_of_nobody_is_read_as_such() {
        let file = read(&SiteData::default());
        assert!(file.user(UserId(0)).is_none() && file.job(JobId(1)).is_none() && !file.is_operator(UserId(0)));
    }

    #[test]
    fn what_has_no_place_is_left_out_and_told_the_oldest_jobs_and_the_highest_users_first() {
        let data = SiteData {
            users: (0..20).map(|id| user(id, "somebody", &["group"])).collect(),
            jobs: (0..100).map(|number| job(number, &[(Name::Comment, text(&"x".repeat(100)))])).collect(),
            ..SiteData::default()
        };
        let encoded = encode_within(&data, 3_000, 10, 50);
        let kept = DataFile::decode(encoded.bytes.clone()).unwrap();
        let (users, jobs) = kept.counts();
        assert!(encoded.bytes.len() <= 3_064 && users == 10 && (10..30).contains(&jobs), "{users} users, {jobs} jobs");
        assert_eq!(encoded.left_out, LeftOut { users: 10, jobs: 100 - jobs as u32 });
        assert_eq!(kept.left_out(), encoded.left_out);
        assert!(kept.job(JobId(99)).is_some() && kept.job(JobId(0)).is_none());
        assert!(kept.user(UserId(9)).is_some() && kept.user(UserId(10)).is_none());
        assert_eq!(encode_within(&data, 1 << 20, 20, 50).left_out, LeftOut { users: 0, jobs: 50 });
        // There is hardly place for the numbers themselves.
        assert_eq!(encode_within(&data, 40, 20, 50).left_out, LeftOut { users: 20, jobs: 100 });
    }

    #[test]
    fn one_user_with_many_or_large_jobs_takes_no_room_from_others_and_what_is_too_large_is_passed_over() {
        let of = |user: i64, number: u32, length: usize| {
            job(number, &[(Name::UserId, OwnedValue::Integer(user)), (Name::Comment, text(&"x".repeat(length)))])
        };
        let kept = |jobs: Vec<SiteJob>, most_bytes: usize, most_jobs: usize| {
            let encoded = encode_within(&SiteData { jobs, ..SiteData::default() }, most_bytes, 10, most_jobs);
            let file = DataFile::decode(encoded.bytes).unwrap();
            (0..300).filter(|number| file.job(JobId(*number)).is_some()).collect::<Vec<_>>()
        };
        // Three large jobs that are newer than others' small ones.
        let mut jobs: Vec<SiteJob> = (0..20).map(|number| of(1 + i64::from(number) % 4, number, 50)).collect();
        jobs.extend((100..103).map(|number| of(7, number, 4_000)));
        assert_eq!(kept(jobs.clone(), 8_000, 100), (0..20).chain([102]).collect::<Vec<_>>());
        // One that no share has room for is passed over, and a smaller one of the same user is not.
        jobs.push(of(7, 104, 9_000));
        assert_eq!(kept(jobs, 8_000, 100), (0..20).chain([102]).collect::<Vec<_>>());
        // Many small ones.
        let mut jobs: Vec<SiteJob> = (0..20).map(|number| of(1 + i64::from(number) % 4, number, 5)).collect();
        jobs.extend((100..300).map(|number| of(7, number, 5)));
        assert_eq!(kept(jobs, 1 << 20, 50), (0..20).chain(270..300).collect::<Vec<_>>());
    }

    #[test]
    fn a_field_of_another_kind_than_it_has_makes_the_job_unknown() {
        let file = read(&SiteData { jobs: vec![job(1, &[(Name::TimeLimit, text("an hour"))])], ..SiteData::default() });
        assert!(file.job(JobId(1)).is_none());
        let unknown = SiteJob { fields: vec![(FieldNumber(u16::MAX), text("x"))], ..job(1, &[]) };
        assert!(read(&SiteData { jobs: vec![unknown], ..SiteData::default() }).job(JobId(1)).is_none());
    }

    #[test]
    fn a_file_that_is_damaged_or_cut_off_is_refused() {
        let bytes = encode(&made_up()).bytes;
        for length in 0..bytes.len() {
            assert!(DataFile::decode(bytes[..length].to_vec()).is_err(), "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(DataFile::decode(changed).is_err(), "byte {place}");
        }
        assert_eq!(DataFile::decode(vec![0; LARGEST + 1]).unwrap_err(), HeadError::TooLarge(LARGEST).into());
    }

    /// All look-ups.
    fn look_everything_up(file: &DataFile) {
        for number in 0..50 {
            let _ = (file.is_operator(UserId(number)), file.user(UserId(number)), file.task(JobId(40), number));
            if let Some(job) = file.job(JobId(number)) {
                for name in Name::ALL {
                    let _ = in_words(&job, *name);
                }
            }
        }
    }

    proptest! {
        /// With a right checksum, as whoever can write the file could give it.
        #[test]
        fn whatever_the_content_is_nothing_breaks(changes in prop::collection::vec((32_usize..400, any::<u8>()), 1..5), cut in 0_usize..200) {
            let mut bytes = encode(&made_up()).bytes;
            for (place, byte) in changes {
                if let Some(old) = bytes.get_mut(place) {
                    *old = byte;
                }
            }
            bytes.truncate(bytes.len() - cut.min(bytes.len() - 32));
            let checksum = xxh3_64(&bytes[32..]).to_le_bytes();
            bytes[24..32].copy_from_slice(&checksum);
            if let Ok(file) = DataFile::decode(bytes) {
                look_everything_up(&file);
            }
        }
    }
}
