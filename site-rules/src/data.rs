//! What the daemon knows about users and jobs, in a file beside the rules: who is an operator, the
//! users' names and groups, how many jobs each user has, and the jobs that are pending or running.
//!
//! slurmctld's threads look a user up at each submission, and a job at each modification, while the
//! file of a large cluster has tens of MB and is written anew every half minute. So the file is
//! read into memory as it is and verified by its checksum, and of what it holds only the user or
//! job that is looked up is decoded. In an envelope, as [`crate::file`] has one, are how many
//! there are of each, the operators, the numbers of jobs by user, and for users, jobs and tasks of
//! arrays each an index in ascending order that says where in the rest of the file they stand.

mod known_job;
mod shares;

use crate::field::{FIELDS, FieldNumber, Name};
use crate::file::fingerprint;
use crate::submission::UserJobs;
use crate::value::{Resources, Texts, Value};
use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use shares::Shares;
use slurm_conf::envelope::{Envelope, EnvelopeError, HEAD_BYTES};
use thiserror::Error;
use zerocopy::byteorder::little_endian::{I64, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub use known_job::{FieldChanges, KnownJob};

/// The largest file, in bytes.
pub const LARGEST: usize = 64 << 20;

/// The most users that are kept.
pub const MOST_USERS: usize = 200_000;

/// The most jobs that are kept.
pub const MOST_JOBS: usize = 100_000;

const ENVELOPE: Envelope = Envelope::new(*b"QCSITED\n", 2, LARGEST);

fn envelope() -> Envelope {
    ENVELOPE.referring_to(fingerprint(FIELDS))
}

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
    /// The job's number.
    pub number: JobId,
    /// The array's number and the task's, of a task of an array that has a number of its own;
    /// `None` for other jobs. Slurm's tools call such a job `ARRAY_TASK`, and ask for its
    /// modification by that name.
    pub task: Option<(JobId, u32)>,
    /// When the job was read.
    pub read_at: UnixTime,
    /// The job's fields; those that are left out are absent. What is derived of others is not read.
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
    /// The file is none of this release, too large, or damaged.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The parts of the file don't belong together.
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

/// What the content of the file begins with.
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
    encode_within(data, ENVELOPE.most(), MOST_USERS, MOST_JOBS)
}

fn encode_within(data: &SiteData, most_bytes: usize, most_users: usize, most_jobs: usize) -> Encoded {
    let mut operators: Vec<U32> = data.operators.iter().map(|user| U32::new(user.0)).collect();
    operators.sort_unstable();
    operators.dedup();
    // Each operator stands in the file with its number as well.
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
    Encoded { bytes: envelope().sealed(&parts.concat()).unwrap_or_default(), left_out }
}

/// Puts a value behind the others, if there is room for it and for its entry; where it begins.
fn append(rest: &mut Vec<u8>, room: &mut usize, entry: usize, value: &impl Serialize) -> Option<U32> {
    append_bytes(rest, room, entry, &postcard::to_allocvec(value).ok()?)
}

/// Puts a value that is encoded already behind the others, as [`append`] does.
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
        let parts = Parts::of(envelope().content(&bytes)?).ok_or(DataError::Malformed)?;
        if parts.is_well_formed() { Ok(DataFile(bytes)) } else { Err(DataError::Malformed) }
    }

    fn parts(&self) -> Option<Parts<'_>> {
        Parts::of(self.0.get(HEAD_BYTES..)?)
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

#[cfg(test)]
mod tests;
