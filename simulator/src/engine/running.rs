//! The jobs that run.

use job_types::time::UnixTime;

use super::JobIndex;

/// The running jobs by their expected ends.
///
/// Sorted arrays, latest end first: the walk from the soonest end on, which EASY backfilling makes
/// at each termination, goes through memory in one direction, and what is inserted or removed near
/// the soonest end moves little. With the hundreds to thousands of jobs that run at once on the
/// machines of the logs this beats a balanced tree.
#[derive(Debug, Clone, Default)]
pub struct Running {
    expected_ends: Vec<UnixTime>,
    jobs: Vec<(u32, JobIndex)>,
}

impl Running {
    /// Returns the number of running jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns whether no job is running.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The soonest expected end.
    #[must_use]
    pub fn soonest_end(&self) -> Option<UnixTime> {
        self.expected_ends.last().copied()
    }

    /// Expected end, processors and index of each, soonest end first.
    pub fn by_expected_end(&self) -> impl Iterator<Item = (UnixTime, u32, JobIndex)> + '_ {
        let ends = self.expected_ends.iter().rev();
        ends.zip(self.jobs.iter().rev()).map(|(&end, &(processors, job))| (end, processors, job))
    }

    pub(super) fn insert(&mut self, expected_end: UnixTime, processors: u32, job: JobIndex) {
        let position = self.expected_ends.partition_point(|&end| end > expected_end);
        self.expected_ends.insert(position, expected_end);
        self.jobs.insert(position, (processors, job));
    }

    pub(super) fn remove(&mut self, expected_end: UnixTime, job: JobIndex) {
        let first = self.expected_ends.partition_point(|&end| end > expected_end);
        let found = self.jobs.iter().skip(first).position(|&(_, running)| running == job);
        if let Some(offset) = found {
            self.expected_ends.remove(first + offset);
            self.jobs.remove(first + offset);
        }
    }
}
