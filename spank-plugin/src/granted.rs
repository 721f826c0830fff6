//! What slurmctld granted to the job of a salloc or srun.

use job_types::number::JobId;
use job_types::options::Mode;
use job_types::record::Record;
use slurm_sys::allocation;

/// A wait on the nodes that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The time until which the job may wait on its nodes, in Unix seconds.
    pub(crate) until: i64,
    /// When the allocation's time limit ends it, in Unix seconds.
    pub(crate) end: Option<i64>,
}

/// Reads until when slurmctld lets a job wait on its nodes. `None` if nothing was granted or
/// nothing can be learnt.
///
/// A batch job carries the grant in its environment. salloc and srun send no environment with their
/// request, so that the submit filter has none to write to: the grant is read back from the record
/// that the filter leaves in the job's `admin_comment`.
pub(crate) fn hold(job: JobId) -> Option<Grant> {
    let allocation = allocation::load(job)?;
    let record = Record::parse(&allocation.admin_comment?)?;
    // In a lower mode, the record says what would have been written.
    let until = if record.mode == Mode::Enforce { record.written?.hold_until? } else { return None };
    Some(Grant { until, end: allocation.end.map(|end| end.0) })
}
