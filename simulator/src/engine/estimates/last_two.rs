//! The mean of a user's last two run times.

use std::collections::HashMap;

use job_types::time::Seconds;

use super::{Estimates, Job, Record};

/// The mean of the run times of the last two jobs of the same user that have ended, no more than
/// the user's own estimate (D. Tsafrir, Y. Etsion and D. Feitelson, IEEE TPDS 18(6), 2007); that
/// estimate where there are not two.
#[derive(Debug, Clone, Default)]
pub struct LastTwo {
    /// The last run time of each user, and the one before.
    latest: HashMap<u32, (Seconds, Option<Seconds>)>,
}

impl Estimates for LastTwo {
    fn expect(&mut self, job: &Job) -> Seconds {
        match self.latest.get(&job.user) {
            Some(&(last, Some(before))) => Seconds((last + before).0 / 2).clamp(Seconds(1), job.estimate),
            _ => job.estimate,
        }
    }

    fn ended(&mut self, job: &Job, record: &Record) {
        // A scheduler knows nothing of waits on the nodes, and sees when the job left them.
        let run = record.occupied();
        self.latest.entry(job.user).and_modify(|(last, before)| *before = Some(std::mem::replace(last, run))).or_insert((run, None));
    }
}
