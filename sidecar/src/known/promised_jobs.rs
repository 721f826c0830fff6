//! The jobs in a queue to which something was promised.

use job_types::promise::Promise;
use job_types::size::Size;
use slurm_sys::client::controller::QueuedJob;

use crate::known::admitted::Admitted;
use crate::known::promised::Promised;
use crate::known::reserved::Reserved;

/// The jobs of a queue that carry a reservation, and those that were admitted with a deadline.
/// `size_of` is the size that a job has or asks for; `accounting_is_enforced` is whether slurmctld
/// holds jobs to limits of accounting.
pub(crate) fn promised_jobs(
    queue: &[QueuedJob],
    size_of: impl Fn(&QueuedJob) -> Size,
    accounting_is_enforced: bool,
) -> (Vec<Reserved>, Vec<Admitted>) {
    let (mut reserved, mut admitted) = (Vec::new(), Vec::new());
    for job in queue {
        let Some(promised) = Promised::of(job) else { continue };
        match Promise::decided(&promised.record) {
            Some(Promise::Reservation(_)) => reserved.push(Reserved::new(job, promised, size_of(job), accounting_is_enforced)),
            Some(Promise::Deadline(_)) => admitted.push(Admitted::new(job, promised, size_of(job))),
            None => {}
        }
    }
    (reserved, admitted)
}
