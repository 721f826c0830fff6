//! The jobs of a user that a reading of the queue shows, each of which stands for one that was let
//! through.

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::snapshot::SeenSubmission;
use std::collections::BTreeMap;

/// By how many seconds slurmctld may note a submission earlier than the plugin's clock had it.
const EARLIER: Seconds = Seconds(1);

/// By how many seconds slurmctld may note it later, because it waits for its own locks in between.
const LATER: Seconds = Seconds(10);

/// How many jobs of each size were submitted in each second, by the number of CPUs and nodes.
///
/// A user may have any number of jobs, and all that was let through is looked up in it under a
/// lock, so that a look-up goes through those of a few seconds alone, those of a size together.
#[derive(Debug, Default)]
pub(super) struct SeenJobs(BTreeMap<UnixTime, BTreeMap<(u32, u32), u32>>);

impl FromIterator<SeenSubmission> for SeenJobs {
    fn from_iter<T: IntoIterator<Item = SeenSubmission>>(jobs: T) -> SeenJobs {
        let mut seen = SeenJobs::default();
        for SeenSubmission { submitted_at, size, .. } in jobs {
            *seen.0.entry(submitted_at).or_default().entry((size.cpus, size.nodes)).or_default() += 1;
        }
        seen
    }
}

impl SeenJobs {
    /// Takes out the earliest job, of those the smallest, that slurmctld may have made of what was
    /// let through at a moment, if its size may be of it; the job's size.
    pub(super) fn take(&mut self, let_through_at: UnixTime, may_be: impl Fn(Size) -> bool) -> Option<Size> {
        let within = let_through_at - EARLIER..=let_through_at + LATER;
        let (second, size) = self.0.range(within).find_map(|(second, sizes)| {
            let mut sizes = sizes.keys().map(|(cpus, nodes)| Size { nodes: *nodes, cpus: *cpus });
            Some((*second, sizes.find(|size| may_be(*size))?))
        })?;
        let sizes = self.0.get_mut(&second)?;
        let key = (size.cpus, size.nodes);
        let count = sizes.get_mut(&key)?;
        *count -= 1;
        if *count == 0 {
            sizes.remove(&key);
        }
        if sizes.is_empty() {
            self.0.remove(&second);
        }
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::UserId;

    fn seen(at: i64, cpus: u32) -> SeenSubmission {
        SeenSubmission { user: UserId(1_000), submitted_at: UnixTime(at), size: Size { nodes: 1, cpus } }
    }

    #[test]
    fn each_job_stands_for_one_that_was_let_through_about_then_and_is_as_large() {
        let mut jobs: SeenJobs = [seen(100, 1), seen(100, 4), seen(100, 4), seen(111, 2)].into_iter().collect();
        let mut take = |at: i64, cpus: u32| jobs.take(UnixTime(at), |size| size.cpus >= cpus).map(|size| size.cpus);
        assert_eq!([take(89, 1), take(102, 1), take(100, 5)], [None, Some(2), None]);
        assert_eq!([take(90, 4), take(101, 4), take(100, 2)], [Some(4), Some(4), None]);
        assert_eq!([take(100, 1), take(100, 1)], [Some(1), None]);
    }
}
