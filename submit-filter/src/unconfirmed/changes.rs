//! The modifications that were let through lately, by job: which fields each is to write.
//!
//! Slurm may refuse any of them in the end, so that a job may be in the state after any selection
//! of them until it has been read again.

use super::UNDERWAY;
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

/// The most bytes of texts in one modification.
const LONGEST: usize = 16_384;

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
}

#[derive(Debug)]
struct LetThrough {
    at: UnixTime,
    asker: UserId,
    /// Whether the daemon had read the job by then.
    was_known: bool,
    change: Change,
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
        if change.iter().map(|(_, value)| length(value.as_ref())).sum::<usize>() > LONGEST {
            return Err(NoRoom);
        }
        let mut changes = self.0.lock();
        if changes.count >= MOST / 2 {
            changes.forget(now);
        }
        let of_user = || changes.jobs.values().flatten().filter(|other| other.asker == asker).count();
        if changes.count >= MOST || (changes.count >= MOST_OF_USER && of_user() >= MOST_OF_USER) {
            return Err(NoRoom);
        }
        changes.count += 1;
        changes.jobs.entry(job).or_default().push(LetThrough { at: now, asker, was_known, change: change.into() });
        Ok(())
    }

    /// The modifications of a job that a reading at a moment may not show, the earliest first.
    pub(crate) fn after_reading(&self, job: JobId, read_at: UnixTime) -> Vec<Change> {
        let mut changes = self.0.lock();
        let Changes { jobs, count } = &mut *changes;
        let Some(of_job) = jobs.get_mut(&job) else { return Vec::new() };
        let before = of_job.len();
        of_job.retain(|change| change.at >= read_at - UNDERWAY);
        *count -= before - of_job.len();
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
    }
}

fn length(value: Option<&OwnedValue>) -> usize {
    match value {
        Some(OwnedValue::Text(text) | OwnedValue::Resources(text)) => text.len(),
        _ => 0,
    }
}
