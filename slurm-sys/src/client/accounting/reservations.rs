//! What slurmdbd has of reservations.

use std::ops::Range;

use job_types::time::{Seconds, UnixTime};

use super::{AccountingConnection, accounting_error};
use crate::bindings::{self, slurmdb_reservation_rec_t};
use crate::client::library::libslurm;
use crate::client::list::{OwnedList, TextList};
use crate::client::{ClientError, last_error, value};

/// A stretch of time for which a reservation was as slurmdbd has it. One that somebody changes
/// after its begin has several.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReservation {
    /// The reservation's name.
    pub name: String,
    /// How many nodes it had.
    pub nodes: u32,
    /// When the stretch began.
    pub start: UnixTime,
    /// When it ended or is to end.
    pub end: UnixTime,
    /// For how long nobody used it, as if all of it had been idle then. slurmdbd adds to it at the
    /// end of each hour (src/plugins/accounting_storage/mysql/as_mysql_rollup.c): what is later is
    /// not in it.
    pub unused: Seconds,
}

impl AccountingConnection {
    /// The reservations of `cluster` of which some part lies in `window` (Unix seconds, the end
    /// excluded), in no promised order. One that was deleted before its begin is not among them
    /// (src/plugins/accounting_storage/mysql/as_mysql_resv.c, as_mysql_remove_resv).
    ///
    /// # Errors
    /// As [`AccountingConnection::ended_jobs`]; [`ClientError::Accounting`] also for a user who is
    /// no operator where `PrivateData` has reservations.
    pub fn reservations(&mut self, cluster: &str, window: Range<i64>) -> Result<Vec<RecordedReservation>, ClientError> {
        // A question about a cluster that is not there is an error of the database.
        self.check(cluster)?;
        let clusters = TextList::of(&[cluster])?;
        // SAFETY: a structure of numbers and pointers; zero in all of them is "no condition".
        let mut condition: bindings::slurmdb_reservation_cond_t = unsafe { std::mem::zeroed() };
        condition.cluster_list = clusters.as_ptr();
        condition.time_start = window.start.max(1);
        condition.time_end = window.end.max(1);
        last_error::forget();
        // SAFETY: the connection is this object's; the condition and its list outlive the call, and
        // libslurm only reads them.
        let records = unsafe { OwnedList::adopt(libslurm().slurmdb_reservations_get(self.connection, &raw mut condition)) };
        let records = records.ok_or_else(|| accounting_error("records of reservations"))?;
        self.end_transaction()?;
        let mut found = Vec::new();
        // SAFETY: slurmdbd answers with a list of records of reservations, whose strings are null
        // or null-terminated and live as long as the record.
        unsafe { records.for_each_record(|record: &slurmdb_reservation_rec_t| found.extend(recorded(record))) };
        Ok(found)
    }
}

/// `None` for a record without name or times.
///
/// # Safety
/// The record's strings are null or null-terminated.
unsafe fn recorded(record: &slurmdb_reservation_rec_t) -> Option<RecordedReservation> {
    // SAFETY: the caller's promise.
    let name = unsafe { value::owned_text(record.name) }?;
    Some(RecordedReservation {
        name,
        // SAFETY: the caller's promise.
        nodes: unsafe { count(record.nodes) },
        start: UnixTime(value::moment(record.time_start)?),
        end: UnixTime(value::moment(record.time_end)?),
        unused: Seconds(record.unused_wall.max(0.0) as i64),
    })
}

/// How many nodes a list of names with ranges stands for; 0 where there is none.
///
/// # Safety
/// The text is null or null-terminated.
unsafe fn count(nodes: *const std::ffi::c_char) -> u32 {
    if nodes.is_null() {
        return 0;
    }
    // SAFETY: a null-terminated text, as the caller promises.
    let list = unsafe { libslurm().slurm_hostlist_create(nodes) };
    if list.is_null() {
        return 0;
    }
    // SAFETY: a list of our own.
    let count = unsafe { libslurm().slurm_hostlist_count(list) };
    // SAFETY: made above, freed once.
    unsafe { libslurm().slurm_hostlist_destroy(list) };
    u32::try_from(count).unwrap_or(0)
}
