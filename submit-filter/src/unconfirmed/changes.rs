//! The modifications that were let through lately, by job: which fields each is to write.
//!
//! Slurm may refuse any of them in the end, so that a job may be in the state after any selection
//! of them until it has been read again.

use super::{UNDERWAY, weight};
use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use parking_lot::Mutex;
use site_rules::data::OwnedValue;
use site_rules::field::FieldNumber;
use std::collections::HashMap;
use std::sync::Arc;

/// The most modifications that are kept, and the most of one user.
const MOST: Kept = Kept { count: 16_384, bytes: 16 << 20 };
const MOST_OF_USER: Kept = Kept { count: 1_024, bytes: 1 << 20 };

/// The most bytes of one modification.
const LONGEST: usize = 16 << 10;

/// How long a modification is kept where no newer reading comes.
const KEPT: Seconds = Seconds(900);

/// What one modification is to write.
pub(crate) type Change = Arc<[(FieldNumber, Option<OwnedValue>)]>;

/// The modifications that were let through.
#[derive(Debug, Default)]
pub(crate) struct ChangeTable(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// The modifications by the number of the job or, for a task, of its array.
    jobs: HashMap<JobId, Vec<LetThrough>>,
    /// How many each user has asked for of these, and how many bytes they take.
    users: HashMap<UserId, Kept>,
    all: Kept,
    /// The reading, and the moment, by which modifications were forgotten last.
    forgotten_at: Option<(UnixTime, UnixTime)>,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kept {
    count: usize,
    bytes: usize,
}

impl Kept {
    /// Whether a modification of so many bytes has no room beside these.
    fn is_full(self, bytes: usize, most: Kept) -> bool {
        self.count >= most.count || self.bytes + bytes > most.bytes
    }

    fn add(&mut self, bytes: usize) {
        (self.count, self.bytes) = (self.count + 1, self.bytes + bytes);
    }

    fn remove(&mut self, bytes: usize) {
        (self.count, self.bytes) = (self.count.saturating_sub(1), self.bytes.saturating_sub(bytes));
    }
}

#[derive(Debug)]
struct LetThrough {
    at: UnixTime,
    asker: UserId,
    /// Whether the daemon had read the job by then.
    was_known: bool,
    change: Change,
    bytes: usize,
}

/// The error that there is no room to keep a modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl ChangeTable {
    /// Keeps a modification; `read_at` is when the daemon has read the queue last. Where there is
    /// no room, those are forgotten that this reading shows, or that are too old.
    ///
    /// # Errors
    /// There is no room for it: its texts are too long, or too many wait to be confirmed.
    pub(crate) fn add(
        &self,
        job: JobId,
        asker: UserId,
        was_known: bool,
        change: Vec<(FieldNumber, Option<OwnedValue>)>,
        read_at: UnixTime,
        now: UnixTime,
    ) -> Result<(), NoRoom> {
        let bytes = change.iter().map(|(_, value)| weight(value.as_ref())).sum();
        if bytes > LONGEST {
            return Err(NoRoom);
        }
        let mut changes = self.0.lock();
        if changes.is_full(asker, bytes) {
            changes.forget(read_at, now);
            if changes.is_full(asker, bytes) {
                return Err(NoRoom);
            }
        }
        changes.all.add(bytes);
        changes.users.entry(asker).or_default().add(bytes);
        changes.jobs.entry(job).or_default().push(LetThrough { at: now, asker, was_known, change: change.into(), bytes });
        Ok(())
    }

    /// How many bytes the modifications take that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().all.bytes
    }

    /// The modifications of a job that a reading at a moment may not show, the earliest first.
    pub(crate) fn after_reading(&self, job: JobId, read_at: UnixTime) -> Vec<Change> {
        let mut changes = self.0.lock();
        let Changes { jobs, users, all, .. } = &mut *changes;
        let Some(of_job) = jobs.get_mut(&job) else { return Vec::new() };
        retain(of_job, users, all, read_at - UNDERWAY);
        let left = of_job.iter().map(|change| change.change.clone()).collect();
        if of_job.is_empty() {
            jobs.remove(&job);
        }
        left
    }

    /// The modifications of a job that a reading at a moment did not find: those under its number,
    /// and those of who asks that name jobs which were not known then, as an array's task has a
    /// number of its own. What was modified before that reading is another job, as this one was not
    /// there yet.
    pub(crate) fn of_unread(&self, job: JobId, asker: UserId, read_at: UnixTime) -> Vec<Change> {
        let changes = self.0.lock();
        let all = changes.jobs.iter().flat_map(|(number, of_job)| of_job.iter().map(move |change| (*number, change)));
        let mut of_job: Vec<&LetThrough> = all
            .filter(|(_, change)| change.at >= read_at - UNDERWAY)
            .filter(|(number, change)| *number == job || (change.asker == asker && !change.was_known))
            .map(|(_, change)| change)
            .collect();
        of_job.sort_by_key(|change| change.at);
        of_job.into_iter().map(|change| change.change.clone()).collect()
    }
}

impl Changes {
    /// Whether there is no room for so many bytes more of a user's.
    fn is_full(&self, asker: UserId, bytes: usize) -> bool {
        let of_user = self.users.get(&asker).copied().unwrap_or_default();
        of_user.is_full(bytes, MOST_OF_USER) || self.all.is_full(bytes, MOST)
    }

    /// Forgets what a reading shows, and what is too old; once for each reading and second, so that
    /// whoever finds no room does not have all looked through each time.
    fn forget(&mut self, read_at: UnixTime, now: UnixTime) {
        if self.forgotten_at.replace((read_at, now)) == Some((read_at, now)) {
            return;
        }
        let since = (now - KEPT).max(read_at - UNDERWAY);
        let Changes { jobs, users, all, .. } = self;
        jobs.retain(|_, of_job| {
            retain(of_job, users, all, since);
            !of_job.is_empty()
        });
        users.retain(|_, of_user| of_user.count > 0);
    }
}

/// Keeps the modifications of a job since a moment, and counts the others no more.
fn retain(of_job: &mut Vec<LetThrough>, users: &mut HashMap<UserId, Kept>, all: &mut Kept, since: UnixTime) {
    of_job.retain(|change| {
        let is_kept = change.at >= since;
        if !is_kept {
            all.remove(change.bytes);
            if let Some(of_user) = users.get_mut(&change.asker) {
                of_user.remove(change.bytes);
            }
        }
        is_kept
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use site_rules::field::Name;

    const USER: UserId = UserId(1_000);
    const BEGIN: UnixTime = UnixTime(1_800_000_000);

    fn add(table: &ChangeTable, job: u32, was_known: bool, read_after: i64, after: i64) -> Result<(), NoRoom> {
        let change = vec![(FieldNumber::from(Name::TimeLimit), Some(OwnedValue::Duration(Seconds(i64::from(job)))))];
        table.add(JobId(job), USER, was_known, change, BEGIN + Seconds(read_after), BEGIN + Seconds(after))
    }

    #[test]
    fn more_jobs_than_a_user_may_have_underway_can_be_modified_with_a_reading_between() {
        let table = ChangeTable::default();
        assert!((0..1_024).all(|job| add(&table, job, true, -10, 0).is_ok()));
        assert_eq!(add(&table, 1_024, true, -10, 0), Err(NoRoom));
        // The first reading does not show the modifications yet, and the second one does.
        assert_eq!(add(&table, 1_024, true, 2, 30), Err(NoRoom));
        assert_eq!(add(&table, 1_024, true, 3, 30), Ok(()));
        assert_eq!(table.0.lock().all.count, 1);
        // Without a reading, time decides.
        assert!((1..1_024).all(|job| add(&table, job, true, 3, 30).is_ok()));
        assert_eq!(add(&table, 2_000, true, 3, 930), Err(NoRoom));
        assert_eq!(add(&table, 2_000, true, 3, 931), Ok(()));
    }

    #[test]
    fn a_job_that_is_new_has_not_what_one_was_given_that_was_new_before_the_last_reading() {
        let table = ChangeTable::default();
        add(&table, 7, false, -10, 0).unwrap();
        let of_unread = |job: u32, read_after: i64| table.of_unread(JobId(job), USER, BEGIN + Seconds(read_after)).len();
        assert_eq!((of_unread(7, -10), of_unread(8, -10)), (1, 1));
        assert_eq!((of_unread(8, 2), of_unread(8, 3)), (1, 0));
        add(&table, 8, false, 3, 5).unwrap();
        assert_eq!((of_unread(9, 3), of_unread(7, 3)), (1, 1));
    }
}
