//! Whether a component of a heterogeneous job belongs to a batch job.
//!
//! Only the first component has the script. slurmctld asks about all components of a job one after
//! the other in one thread (`_slurm_rpc_submit_batch_het_job` and `_slurm_rpc_allocate_het_job` in
//! src/slurmctld/proc_req.c), so that what the first was is kept in the thread for those behind it.

use job_types::number::UserId;
use slurm_sys::job_description::{JobDescription, ListField};
use slurm_sys::job_fields::NumberField;
use std::cell::Cell;

/// The job whose components are asked about.
#[derive(Clone, Copy)]
struct Components {
    user: UserId,
    /// The place of the component that was asked about last.
    last: i64,
    is_batch: bool,
}

thread_local! {
    static COMPONENTS: Cell<Option<Components>> = const { Cell::new(None) };
}

/// Notes what is submitted, before anything else asks about it.
pub(crate) fn note(description: &JobDescription<'_>) {
    let noted = match offset(description) {
        Some(0) => Some(Components { user: description.user(), last: 0, is_batch: description.is_batch() }),
        Some(offset) => {
            let is_next = |before: &Components| before.user == description.user() && before.last + 1 == offset;
            COMPONENTS.get().filter(is_next).map(|before| Components { last: offset, ..before })
        }
        None => None,
    };
    COMPONENTS.set(noted);
}

/// Whether a job is a batch job: it has a script, or is a component of a job whose first component
/// has one. Of a component whose first was not seen its own environment says it, as sbatch sends
/// one with each component, and salloc and srun with none.
pub(crate) fn is_batch(description: &JobDescription<'_>) -> bool {
    if description.is_batch() {
        return true;
    }
    let Some(offset) = offset(description).filter(|offset| *offset > 0) else { return false };
    let noted = COMPONENTS.get().filter(|noted| noted.user == description.user() && noted.last == offset);
    noted.map_or_else(|| description.entries(ListField::Environment) > 0, |noted| noted.is_batch)
}

fn offset(description: &JobDescription<'_>) -> Option<i64> {
    description.number(NumberField::HetJobOffset)
}
