//! The mean of a user's last two run times.

use job_types::time::Seconds;
use published_methods::run_times::LastTwoRunTimes;

use super::{Estimates, Job, Record};

/// The mean of the run times of the last two jobs of the same user that have ended, no more than
/// the user's own estimate; that estimate where there are not two ([`LastTwoRunTimes`]).
#[derive(Debug, Clone, Default)]
pub struct LastTwo {
    run_times: LastTwoRunTimes,
}

impl Estimates for LastTwo {
    fn expect(&mut self, job: &Job) -> Seconds {
        let mean_s = self.run_times.mean_s(job.user);
        mean_s.map_or(job.estimate, |mean_s| Seconds(mean_s as i64).clamp(Seconds(1), job.estimate))
    }

    fn ended(&mut self, job: &Job, record: &Record) {
        // A scheduler knows nothing of waits on the nodes, and sees when the job left them.
        self.run_times.ended(job.user, record.occupied());
    }
}
