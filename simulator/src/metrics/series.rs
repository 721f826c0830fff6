//! What went on over time.

use job_types::time::UnixTime;

use crate::engine::Record;

/// Steps over time: each holds from its moment to that of the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    /// The moments, ascending.
    pub at: Vec<UnixTime>,
    /// Processors in use.
    pub used_processors: Vec<u64>,
    /// Jobs that have been submitted and have not started.
    pub waiting_jobs: Vec<u64>,
    /// The processors that these jobs ask for.
    pub waiting_processors: Vec<u64>,
}

/// Processors in use and the queue, from the first submission to the last end.
#[must_use]
pub fn series(records: &[Record]) -> Series {
    // Each entry is a moment with the change of the processors in use, of the waiting jobs, and of
    // their processors.
    let mut changes: Vec<(UnixTime, i64, i64, i64)> = Vec::with_capacity(records.len() * 3);
    for record in records {
        let processors = i64::from(record.processors);
        changes.push((record.submit, 0, 1, processors));
        changes.push((record.start, processors, -1, -processors));
        changes.push((record.end, -processors, 0, 0));
    }
    changes.sort_unstable_by_key(|change| change.0);
    let mut series = Series::default();
    let (mut used, mut jobs, mut wanted) = (0_i64, 0_i64, 0_i64);
    for same_moment in changes.chunk_by(|one, other| one.0 == other.0) {
        let Some(&(at, ..)) = same_moment.first() else { continue };
        for &(_, of_use, of_jobs, of_wanted) in same_moment {
            used += of_use;
            jobs += of_jobs;
            wanted += of_wanted;
        }
        series.at.push(at);
        series.used_processors.push(used.max(0) as u64);
        series.waiting_jobs.push(jobs.max(0) as u64);
        series.waiting_processors.push(wanted.max(0) as u64);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::Seconds;

    #[test]
    fn a_queue_builds_up_and_empties() {
        let record = |submit, start, end| Record {
            submit: UnixTime(submit),
            eligible: UnixTime(submit),
            start: UnixTime(start),
            end: UnixTime(end),
            estimate: Seconds(1),
            processors: 4,
            ..Record::default()
        };
        let found = series(&[record(0, 0, 10), record(5, 10, 20)]);
        assert_eq!(found.at, [0, 5, 10, 20].map(UnixTime));
        assert_eq!(found.used_processors, [4, 4, 4, 0]);
        assert_eq!(found.waiting_jobs, [0, 1, 0, 0]);
        assert_eq!(found.waiting_processors, [0, 4, 0, 0]);
    }
}
