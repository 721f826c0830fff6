//! The jobs that Hariharan et al. 2020 take for like ones: of the same user, request size, queue
//! and group.

use super::ArrivingJob;
use job_types::number::{AccountIndex, PartitionIndex, UserId};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Hariharan et al.'s `<userId, requestSize, queueName, groupName>` (III.B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tuple {
    /// Numeric id of the user.
    pub user: UserId,
    /// CPUs.
    pub cpus: u32,
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// Index of the account.
    pub account: AccountIndex,
}

/// The tuple of a job.
impl From<&ArrivingJob> for Tuple {
    fn from(job: &ArrivingJob) -> Self {
        Tuple {
            user: job.submitted.user,
            cpus: job.submitted.size.cpus,
            partition: job.submitted.partition,
            account: job.submitted.account,
        }
    }
}

/// Something for each of the last so many jobs that ended, by tuple (Hariharan et al. 2020, V: a
/// new job's entry removes the earliest one).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TupleHistory<T> {
    most_jobs: usize,
    order: VecDeque<Tuple>,
    entries: HashMap<Tuple, VecDeque<T>>,
}

impl<T> TupleHistory<T> {
    /// An empty store with room for `most_jobs` over all tuples.
    #[must_use]
    pub fn new(most_jobs: usize) -> TupleHistory<T> {
        TupleHistory { most_jobs: most_jobs.max(1), order: VecDeque::new(), entries: HashMap::new() }
    }

    /// Adds an entry, and removes the earliest of all where there is no more room.
    pub fn push(&mut self, tuple: Tuple, entry: T) {
        if self.order.len() == self.most_jobs
            && let Some(earliest) = self.order.pop_front()
            && let Some(entries) = self.entries.get_mut(&earliest)
        {
            entries.pop_front();
            if entries.is_empty() {
                self.entries.remove(&earliest);
            }
        }
        self.order.push_back(tuple);
        self.entries.entry(tuple).or_default().push_back(entry);
    }

    /// The entries of a tuple, earliest first; `None` where there is none.
    #[must_use]
    pub fn get(&self, tuple: &Tuple) -> Option<&VecDeque<T>> {
        self.entries.get(tuple)
    }

    /// How many entries there are over all tuples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_entry_of_all_makes_room() {
        let tuple = |user| Tuple { user, cpus: 1, partition: PartitionIndex(0), account: AccountIndex(0) };
        let mut history = TupleHistory::new(3);
        for (user, entry) in [(1, 10), (2, 20), (1, 11), (1, 12)] {
            history.push(tuple(UserId(user)), entry);
        }
        assert_eq!(history.get(&tuple(UserId(1))).map(Vec::from_iter), Some(vec![&11, &12]));
        history.push(tuple(UserId(3)), 30);
        assert_eq!(history.get(&tuple(UserId(2))), None);
        assert_eq!(history.len(), 3);
    }
}
