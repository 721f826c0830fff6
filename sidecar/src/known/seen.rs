//! Which records have been passed on already, so that stretches of time can be read again for
//! records that arrived late.

use job_types::number::JobId;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The records of a recent stretch of time. A run of a job is known by its number and its submit
/// time, which together are unique in slurmdbd's database
/// (src/plugins/accounting_storage/mysql/as_mysql_cluster.c, key `id_job`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Seen {
    ends: HashMap<(JobId, i64), i64>,
    /// Every record that ended at or after this is known here.
    since: i64,
    most: usize,
}

impl Seen {
    /// Knows nothing of what ended before `since`, and at most `most` records.
    pub(crate) fn new(since: i64, most: usize) -> Self {
        Self { ends: HashMap::new(), since, most: most.max(2) }
    }

    /// Notes a record. Returns whether it is new; one that ended before the stretch is taken for
    /// known.
    pub(crate) fn insert(&mut self, job_id: JobId, submitted: i64, ended: i64) -> bool {
        if ended < self.since {
            return false;
        }
        let is_new = self.ends.insert((job_id, submitted), ended).is_none();
        if self.ends.len() > self.most {
            self.forget_half();
        }
        is_new
    }

    /// Whether a record is known, or ended before the stretch.
    pub(crate) fn knows(&self, job_id: JobId, submitted: i64, ended: i64) -> bool {
        ended < self.since || self.ends.contains_key(&(job_id, submitted))
    }

    /// Lets go of what ended before this.
    pub(crate) fn forget_before(&mut self, since: i64) {
        if since > self.since {
            self.since = since;
            self.ends.retain(|_record, ended| *ended >= since);
        }
    }

    /// Returns the time since which every record is known, in Unix seconds.
    pub(crate) fn since(&self) -> i64 {
        self.since
    }

    /// Lets go of the half that ended first.
    fn forget_half(&mut self) {
        let mut ends: Vec<i64> = self.ends.values().copied().collect();
        let middle = ends.len() / 2;
        let (_, &mut median, _) = ends.select_nth_unstable(middle);
        self.forget_before(median + 1);
        self.ends.shrink_to(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_new_once() {
        let mut seen = Seen::new(100, 10);
        assert!(seen.insert(JobId(1), 90, 100));
        assert!(!seen.insert(JobId(1), 90, 100));
        assert!(seen.insert(JobId(1), 95, 100), "another run of the same job");
        assert!(seen.insert(JobId(2), 90, 100));
    }

    #[test]
    fn what_ended_before_the_stretch_is_taken_for_known() {
        let mut seen = Seen::new(100, 10);
        assert!(!seen.insert(JobId(1), 1, 99));
        assert!(seen.insert(JobId(2), 1, 150));
        seen.forget_before(200);
        assert!(!seen.insert(JobId(2), 1, 150));
        assert_eq!(seen.since(), 200);
    }

    #[test]
    fn the_stretch_shrinks_before_it_holds_too_many() {
        let mut seen = Seen::new(0, 1_000);
        for job in 0..100_000 {
            assert!(seen.insert(JobId(job), 0, i64::from(job)));
            assert!(seen.ends.len() <= 1_000);
        }
        assert!(seen.since() > 98_000, "{}", seen.since());
        assert!(!seen.insert(JobId(99_999), 0, 99_999));
    }
}
