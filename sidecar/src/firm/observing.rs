//! What would have been reserved for jobs that ask for a firm slot in a mode below `enforce`: the
//! window is ranked once by the plan that stands, and the log has the slot that is best. No job is
//! changed in such a mode, so that a file has it for `queuecast report reservations`.

use std::sync::Arc;

use job_types::promise::SlotAsked;
use job_types::time::UnixTime;
use upkeep::{FirmSlot, ObservedSlot};

use super::placing::{self, NotRanked};
use super::room::Room;
use super::{Round, jobs};
use crate::api::Ranked;
use crate::clock::now;
use crate::known::promised_job::PromisedJob;

/// How many windows are ranked in one look, so that slots which are made do not wait long.
const MOST_RANKED: usize = 4;

impl Room<'_> {
    /// Ranks the windows that are new, and notes what would have been reserved.
    pub(super) fn observe(&mut self) {
        let Some(Round { cluster, .. }) = &self.round else { return };
        let cluster = Arc::clone(cluster);
        let is_new = |promised: &&PromisedJob| {
            let job = &promised.job;
            SlotAsked::of(&job.record).is_none() && job.started.is_none() && !self.observed.has(job.id, job.record.at)
        };
        let new: Vec<&PromisedJob> = cluster.slots.iter().filter(is_new).take(MOST_RANKED).collect();
        for promised in new {
            let job = &promised.job;
            let would_be = match jobs::asked_by(promised, UnixTime(now())) {
                Some(slot) => would_be(&slot, placing::rank(self.api.prober(), &slot, "", slot.earliest)),
                None => Some(Err("the job says too little of its size or time limit".to_owned())),
            };
            match &would_be {
                // There is no plan: it is tried again.
                None => continue,
                Some(Ok(start)) => tracing::info!(job = job.id.0, start = start.0, nodes = job.size.nodes, "would reserve a firm slot"),
                Some(Err(why)) => tracing::info!(job = job.id.0, why, "would refuse a firm slot"),
            }
            let start = would_be.and_then(Result::ok);
            self.observed.add(ObservedSlot { job: job.id, decided_at: job.record.at, start });
        }
        self.observed.keep();
    }
}

/// When the slot would begin, or why there would be none; `None` where nothing is known for now.
fn would_be(slot: &FirmSlot, ranked: Result<Ranked, NotRanked>) -> Option<Result<UnixTime, String>> {
    match ranked {
        Ok(ranked) => Some(placing::in_order(&ranked, slot.near).first().copied().ok_or_else(|| placing::why_none(&ranked, 0))),
        Err(NotRanked::Later) => None,
        Err(NotRanked::Never(why)) => Some(Err(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up::slot;

    #[test]
    fn a_window_that_can_not_be_ranked_for_now_is_ranked_later_and_one_that_never_can_is_refused() {
        assert_eq!(would_be(&slot(), Err(NotRanked::Later)), None);
        assert_eq!(would_be(&slot(), Err(NotRanked::Never("no".to_owned()))), Some(Err("no".to_owned())));
    }
}
