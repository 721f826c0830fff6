//! Slurm's advance reservations.

use super::{Answer, node_ranges};
use crate::bindings;
use crate::client::error::ClientError;
use crate::client::library::libslurm;
use crate::client::value::{self, MOST_TEXT};
use job_types::time::Seconds;
use job_types::tres;

mod error;
mod flags;
mod manage;

pub use error::ReservationError;
pub use flags::{ReservationFlag, ReservationFlags};
pub use manage::{NewReservation, ReservationUpdate, create_reservation, delete_reservation, update_reservation};

/// An advance reservation that has not ended. Times are Unix seconds. One that recurs is told by
/// its present or next occurrence. Of each text it has at most the first [`MOST_TEXT`] bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// How many nodes are reserved.
    pub nodes: u32,
    /// The users who may use it, separated by commas, or behind a minus sign those who may not.
    pub users: Option<String>,
    /// The accounts that may use it, written as the users are.
    pub accounts: Option<String>,
    /// The partition that its nodes were chosen from.
    pub partition: Option<String>,
    /// Its flags.
    pub flags: ReservationFlags,
    /// How long it may be without jobs before it is deleted; `None` where it stays until its end.
    pub purge_after: Option<Seconds>,
    /// What was noted with it. Releases before 23.02 have no room for it.
    pub comment: Option<String>,
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
    // SAFETY: the caller's promise, for each of the record's texts.
    let text = |pointer| unsafe { value::start_of_text(pointer, MOST_TEXT) };
    // SAFETY: the caller's promise.
    let resources = unsafe { value::text(record.tres_str) };
    let flags = ReservationFlags::from_raw(record.flags);
    #[cfg(reservation_has_comment)]
    let comment = text(record.comment);
    #[cfg(not(reservation_has_comment))]
    let comment = None;
    Some(Reservation {
        name: text(record.name)?,
        start: record.start_time,
        end: value::moment(record.end_time),
        cpus: resources.and_then(|resources| tres::amount(&resources, "cpu")?.parse().ok()),
        // SAFETY: the caller's promise.
        node_ranges: unsafe { node_ranges(record.node_inx) },
        nodes: value::number(record.node_cnt).unwrap_or(0),
        users: text(record.users),
        accounts: text(record.accounts),
        partition: text(record.partition),
        flags,
        purge_after: flags.has(ReservationFlag::PurgeComp).then_some(Seconds(record.purge_comp_time.into())),
        comment,
    })
}
