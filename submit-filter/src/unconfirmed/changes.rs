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
const MOST: usize = 16_384;
const MOST_OF_USER: usize = 1_024;

/// The most bytes of one modification, of all that one user asks for, and of all that are kept.
const LONGEST: usize = 16 << 10;
const MOST_BYTES_OF_USER: usize = 1 << 20;
const MOST_BYTES: usize = 16 << 20;

/// How long a modification is kept where no newer reading comes.
const KEPT: Seconds = Seconds(900);

/// What one modification is to write.
pub(crate) type Change = Arc<[(FieldNumber, Option<OwnedValue>)]>;

/// The modifications that were let through.
#[derive(Debug, Default)]
pub(crate) struct ChangeTable(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// By the number of the job or, of a task, of the array.
    jobs: HashMap<JobId, Vec<LetThrough>>,
    count: usize,
    bytes: usize,
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

/// That there is no room to keep a modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl ChangeTable {
    /// Keeps a modification.
    ///
    /// # Errors
    /// There is no room for it: its texts are too long, or too many wait to be confirmed.
    pub(crate) fn add(
        &self,
        job: JobId,
        asker: UserId,
        was_known: bool,
        change: Vec<(FieldNumber, Option<OwnedValue>)>,
        now: UnixTime,
    ) -> Result<(), NoRoom> {
        let bytes = change.iter().map(|(_, value)| weight(value.as_ref())).sum();
        if bytes > LONGEST {
            return Err(NoRoom);
        }
        let mut changes = self.0.lock();
        if changes.count >= MOST / 2 || changes.bytes >= MOST_BYTES / 2 {
            changes.forget(now);
        }
        if changes.count >= MOST || changes.bytes + bytes > MOST_BYTES {
            return Err(NoRoom);
        }
        // Below what one user may have it need not be counted whose they are.
        if changes.count >= MOST_OF_USER || changes.bytes + bytes > MOST_BYTES_OF_USER {
            let of_user = changes.jobs.values().flatten().filter(|other| other.asker == asker);
            let (count, kept) = of_user.fold((0, 0), |(count, kept), other| (count + 1, kept + other.bytes));
            if count >= MOST_OF_USER || kept + bytes > MOST_BYTES_OF_USER {
                return Err(NoRoom);
            }
        }
        changes.count += 1;
        changes.bytes += bytes;
        changes.jobs.entry(job).or_default().push(LetThrough { at: now, asker, was_known, change: change.into(), bytes });
        Ok(())
    }

    /// How many bytes the modifications take that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().bytes
    }

    /// The modifications of a job that a reading at a moment may not show, the earliest first.
    pub(crate) fn after_reading(&self, job: JobId, read_at: UnixTime) -> Vec<Change> {
        let mut changes = self.0.lock();
        let Changes { jobs, count, bytes } = &mut *changes;
        let Some(of_job) = jobs.get_mut(&job) else { return Vec::new() };
        of_job.retain(|change| {
            let is_kept = change.at >= read_at - UNDERWAY;
            if !is_kept {
                *count -= 1;
                *bytes -= change.bytes;
            }
            is_kept
        });
        let left = of_job.iter().map(|change| change.change.clone()).collect();
        if of_job.is_empty() {
            jobs.remove(&job);
        }
        left
    }

    /// The modifications of a job that was not read yet: those under its number, and those of who
    /// asks that name jobs which were not known then, as an array's task has a number of its own.
    pub(crate) fn of_unread(&self, job: JobId, asker: UserId) -> Vec<Change> {
        let changes = self.0.lock();
        let all = changes.jobs.iter().flat_map(|(number, of_job)| of_job.iter().map(move |change| (*number, change)));
        let mut of_job: Vec<&LetThrough> = all
            .filter(|(number, change)| *number == job || (change.asker == asker && !change.was_known))
            .map(|(_, change)| change)
            .collect();
        of_job.sort_by_key(|change| change.at);
        of_job.into_iter().map(|change| change.change.clone()).collect()
    }
}

impl Changes {
    fn forget(&mut self, now: UnixTime) {
        self.jobs.retain(|_, of_job| {
            of_job.retain(|change| change.at >= now - KEPT);
            !of_job.is_empty()
        });
        self.count = self.jobs.values().map(Vec::len).sum();
        self.bytes = self.jobs.values().flatten().map(|change| change.bytes).sum();
    }
}
