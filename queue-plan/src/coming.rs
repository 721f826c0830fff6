//! Jobs that nobody has submitted yet, as the jobs of the day before say that they will be.

use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};

use crate::state::{PendingJob, State};

/// How far back submissions are repeated. People submit by the time of day.
pub const REPEATED: Seconds = Seconds(86_400);

/// The most of them and of tasks of arrays among them: the first to come. The price of what is
/// nearest matters most, and each of them has to be placed again for each question.
pub const MOST_COMING: u32 = 1_000;

impl State {
    /// The state with jobs that come: each of these that became eligible within [`REPEATED`] before
    /// now comes again at that time of the day. They come behind all that wait, in the order in
    /// which they become eligible.
    #[must_use]
    pub fn with_coming(mut self, past: impl IntoIterator<Item = PendingJob>) -> Self {
        let (now, oldest) = (self.now, self.now - REPEATED);
        let again = |job: PendingJob| PendingJob { eligible: job.eligible + REPEATED, priority: 0, reservation: None, ..job };
        let within = |at: UnixTime| at > oldest && at <= now;
        let mut coming: Vec<PendingJob> = past.into_iter().filter(|job| within(job.eligible)).map(again).collect();
        coming.sort_by_key(|job| job.eligible);
        let mut left = MOST_COMING;
        let first = u32::MAX - MOST_COMING;
        for (id, job) in (first..).zip(coming) {
            let tasks = job.tasks.clamp(1, left);
            self.pending.push(PendingJob { id: JobId(id), tasks, ..job });
            left -= tasks;
            if left == 0 {
                break;
            }
        }
        self
    }
}
