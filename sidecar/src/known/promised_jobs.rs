//! The jobs in a queue to which something was promised.

use job_types::promise::Promise;
use job_types::promise::SlotAsked;
use job_types::size::Size;
use slurm_sys::client::controller::QueuedJob;

use crate::known::promised_job::PromisedJob;

/// The jobs of a queue to which something was promised, by what it was.
#[derive(Debug, Default)]
pub(crate) struct PromisedJobs {
    /// Jobs that carry a reservation.
    pub(crate) reserved: Vec<PromisedJob>,
    /// Jobs that were admitted with a deadline.
    pub(crate) admitted: Vec<PromisedJob>,
    /// Jobs for which a firm slot is asked, also in a mode that makes none.
    pub(crate) slots: Vec<PromisedJob>,
}

impl PromisedJobs {
    /// `size_of` is the size that a job has or asks for; `accounting_is_enforced` is whether
    /// slurmctld holds jobs to limits of accounting.
    pub(crate) fn new(queue: &[QueuedJob], size_of: impl Fn(&QueuedJob) -> Size, accounting_is_enforced: bool) -> Self {
        let mut jobs = Self::default();
        for promised in queue.iter().filter_map(|job| PromisedJob::new(job, &size_of, accounting_is_enforced)) {
            match Promise::decided(&promised.job.record) {
                Some(Promise::Reservation(_)) => jobs.reserved.push(promised),
                Some(Promise::Deadline(_)) => jobs.admitted.push(promised),
                None if SlotAsked::decided(&promised.job.record).is_some() => jobs.slots.push(promised),
                None => {}
            }
        }
        jobs
    }
}
