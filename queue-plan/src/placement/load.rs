//! The load method.

use super::ranking::{Probe, Ranking, Rated};
use super::slot::Slot;
use super::workload::Workload;

/// Takes all slots to be free that begin after the present workload is done, and no other (section
/// 4.1, equation 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The part of their estimates that jobs are taken to run.
    pub accuracy: f64,
}

impl Default for Load {
    /// Jobs are taken to run for half of their estimates, as published.
    fn default() -> Self {
        Self { accuracy: 0.5 }
    }
}

impl Load {
    /// Returns in how many seconds the workload is done, approximately: what running and waiting
    /// jobs need, spread over the whole cluster, and what those reservations take from now on that
    /// begin before. A reservation that begins within what others have added counts as well, and
    /// each counts once.
    #[must_use]
    pub fn done_in(&self, workload: &Workload) -> f64 {
        let mut done = self.accuracy * workload.backlog_of_jobs();
        let mut granted: Vec<_> = workload.granted.iter().collect();
        granted.sort_unstable_by_key(|granted| granted.slot.start);
        for granted in granted {
            if ((granted.slot.start - workload.now).0 as f64) < done {
                done += workload.area(granted);
            }
        }
        done
    }
}

impl Ranking for Load {
    fn rate(&self, probe: &Probe<'_>) -> Vec<Rated> {
        let done = self.done_in(probe.workload);
        let is_after = |slot: Slot| (slot.start - probe.workload.now).0 as f64 >= done;
        let rate = |slot| Rated { slot, availability: if is_after(slot) { 1.0 } else { 0.0 } };
        probe.slots().into_iter().map(rate).collect()
    }
}
