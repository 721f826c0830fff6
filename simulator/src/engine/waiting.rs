//! The jobs that wait.

use job_types::time::Seconds;

use super::JobIndex;

/// A job in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The job's place in the queue: lower comes first, equals in the order in which they came.
    pub key: i64,
    /// How long the job is expected to run.
    pub expected: Seconds,
    /// Processors that the job asks for.
    pub processors: u32,
    /// Index of the job.
    pub job: JobIndex,
}

/// The queue, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    entries: Vec<Waiting>,
    /// What stands before this has left.
    first: usize,
    /// Positions that have started in the pass under way, relative to `first`.
    started: Vec<usize>,
}

impl Queue {
    pub(super) fn entries(&self) -> &[Waiting] {
        self.entries.get(self.first..).unwrap_or_default()
    }

    pub(super) fn entries_mut(&mut self) -> &mut [Waiting] {
        self.entries.get_mut(self.first..).unwrap_or_default()
    }

    /// Puts a job behind all whose key is not larger. Returns its position.
    pub(super) fn insert(&mut self, entry: Waiting) -> usize {
        let position = match self.entries().last() {
            Some(last) if last.key > entry.key => self.entries().partition_point(|other| other.key <= entry.key),
            _ => self.entries().len(),
        };
        self.entries.insert(self.first + position, entry);
        position
    }

    /// Takes a job out. Returns whether it was there.
    pub(super) fn remove(&mut self, job: JobIndex) -> bool {
        let position = self.entries().iter().position(|entry| entry.job == job);
        position.map(|position| self.entries.remove(self.first + position)).is_some()
    }

    /// Marks the job at a position as started; positions stay as they are until the queue is closed
    /// up.
    pub(super) fn mark_started(&mut self, position: usize) -> Option<Waiting> {
        let entry = self.entries().get(position).copied()?;
        self.started.push(position);
        Some(entry)
    }

    /// The jobs that were marked, in the order in which they were.
    pub(super) fn started(&self) -> impl Iterator<Item = JobIndex> + '_ {
        self.started.iter().filter_map(|&position| self.entries().get(position)).map(|entry| entry.job)
    }

    /// Takes the marked jobs out.
    pub(super) fn close_up(&mut self) {
        if self.started.is_empty() {
            return;
        }
        self.started.sort_unstable();
        let heads = self.started.iter().enumerate().take_while(|&(place, &position)| place == position).count();
        if heads < self.started.len() {
            self.close_gaps(heads);
        }
        self.started.clear();
        self.first += heads;
        // What has left the front is dropped when it is half of all, which costs each job a
        // constant in the mean.
        if self.first > self.entries.len() / 2 {
            self.entries.drain(..self.first);
            self.first = 0;
        }
    }

    /// Moves what stands between the marked positions from the `heads`-th on together.
    fn close_gaps(&mut self, heads: usize) {
        let mut gaps = self.started[heads..].iter().map(|position| position + self.first).peekable();
        let Some(&first_gap) = gaps.peek() else { return };
        let mut kept = first_gap;
        for position in first_gap..self.entries.len() {
            if gaps.next_if_eq(&position).is_none() {
                self.entries[kept] = self.entries[position];
                kept += 1;
            }
        }
        self.entries.truncate(kept);
    }
}
