//! Keeps what the filters have counted.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use job_types::time::UnixTime;
use predictor_core::decisions::counters::Counted;
use slurm_conf::envelope::Envelope;
use slurm_conf::state_directory::COUNTERS_ENVELOPE;

use crate::metrics::kept_sums::{KeptSums, Sums};

/// How often the filter's page is looked at: who asks for the counters after a submission finds it
/// in them.
const INTERVAL: Duration = Duration::from_secs(1);

/// The sums over all filters, and when they are due.
#[derive(Debug)]
pub(crate) struct FilterCounters {
    kept: KeptSums<Counted>,
    due: Instant,
}

impl Sums for Counted {
    const ENVELOPE: Envelope = COUNTERS_ENVELOPE;
    const NOT_WRITTEN: &'static str = "the filter's counters are not written; they are kept in memory";

    fn begun(now: UnixTime) -> Self {
        Counted::begun(now)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Counted::from_bytes(bytes)
    }

    fn to_bytes(&self) -> Vec<u8> {
        Counted::to_bytes(self)
    }
}

impl FilterCounters {
    /// Goes on where the file ends.
    pub(crate) fn load(path: PathBuf) -> Self {
        Self { kept: KeptSums::load(path), due: Instant::now() }
    }

    /// When the page is to be looked at next.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Adds what the page tells. Also before a filter has counted anything the file is written: a
    /// filter shows itself with its first submission after a hand-over.
    pub(crate) fn refresh(&mut self, page: Option<(u64, Vec<u64>)>) {
        self.due = Instant::now() + INTERVAL;
        self.kept.refresh(|counted| {
            if let Some((owner, numbers)) = page {
                counted.take(owner, &numbers);
            }
        });
    }

    /// Looks whether the file is still what was written.
    pub(crate) fn check(&mut self) {
        self.kept.check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::kept_sums::read;
    use predictor_core::decisions::counters::Counter;
    use std::path::Path;

    fn sum(path: &Path) -> Option<u64> {
        read::<Counted>(path).map(|counted| counted.sum(Counter::Submissions))
    }

    #[test]
    fn sums_go_on_over_restarts_of_the_filter_and_of_the_daemon() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("filter-counters");
        let mut counters = FilterCounters::load(path.clone());
        counters.refresh(None);
        assert_eq!(sum(&path), Some(0), "no filter has been here");
        counters.refresh(Some((1, vec![5])));
        counters.refresh(Some((2, vec![3])));
        assert_eq!(sum(&path), Some(8));
        // The filter has counted on while no daemon was there.
        let mut counters = FilterCounters::load(path.clone());
        counters.refresh(Some((2, vec![10])));
        assert_eq!(sum(&path), Some(15));
    }
}
