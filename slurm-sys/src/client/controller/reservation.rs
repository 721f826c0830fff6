//! Slurm's advance reservations.

use super::{Answer, node_ranges};
use crate::bindings;
use crate::client::error::ClientError;
use crate::client::library::libslurm;
use crate::client::value;
use job_types::tres;

/// An advance reservation that has not ended. Times are Unix seconds. One that recurs is told by
/// its present or next occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The reservation's name.
    pub name: String,
    /// When the reservation begins.
    pub start: i64,
    /// When the reservation ends; `None` is never.
    pub end: Option<i64>,
    /// CPUs reserved, on all the reservation's nodes; `None` where slurmctld does not say.
    pub cpus: Option<u32>,
    /// Inclusive ranges of places in slurmctld's node table: the reservation's nodes; none where it
    /// reserves no nodes.
    pub node_ranges: Vec<(usize, usize)>,
}

/// The reservations.
///
/// # Errors
/// As [`jobs`](super::jobs).
pub fn reservations() -> Result<Vec<Reservation>, ClientError> {
    // SAFETY: time 0 asks for everything; the place for the answer is ours.
    let answer = Answer::ask(
        "reservations",
        |libslurm| libslurm.slurm_free_reservation_info_msg,
        |place| unsafe { libslurm().slurm_load_reservations(0, place) },
    )?;
    // SAFETY: not null (checked by `ask`), and its own array and count.
    let records = unsafe { answer.records((*answer.message).reservation_array, (*answer.message).record_count) };
    // SAFETY: records of a live answer.
    Ok(records.iter().filter_map(|record| unsafe { reservation(record) }).collect())
}

/// `None` for a record without a name.
///
/// # Safety
/// The record's texts are null or null-terminated, and its list of nodes is null or ends with -1.
unsafe fn reservation(record: &bindings::reserve_info_t) -> Option<Reservation> {
    // SAFETY: the caller's promise.
    let (name, resources) = unsafe { (value::owned_text(record.name)?, value::text(record.tres_str)) };
    let cpus = resources.and_then(|resources| tres::amount(&resources, "cpu")?.parse().ok());
    Some(Reservation {
        name,
        start: record.start_time,
        end: value::moment(record.end_time),
        cpus,
        // SAFETY: the caller's promise.
        node_ranges: unsafe { node_ranges(record.node_inx) },
    })
}
