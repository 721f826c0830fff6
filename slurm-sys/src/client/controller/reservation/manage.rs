//! Making, changing and deleting reservations.
//!
//! slurmctld lets only operators do so (`_slurm_rpc_resv_create` and its neighbours in
//! src/slurmctld/proc_req.c), and does all of a request or nothing (`create_resv` and `update_resv`
//! of src/slurmctld/reservation.c). Of running jobs it goes by the ends of their time limits;
//! waiting jobs do not count, and are put off.

use std::ffi::{CStr, CString, c_char};

use super::error::ReservationError;
use crate::bindings;
use crate::client::controller::{last_error, start};
use crate::client::error::ClientError;
use crate::client::library::libslurm;
use crate::client::list::c_text;
use crate::client::value;
use crate::sentinel;
use job_types::time::{Seconds, UnixTime};

/// A reservation that is to be made, of whole nodes that slurmctld chooses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewReservation {
    /// Its name, any text; slurmctld makes one up where it is empty. In the reservation of a job a
    /// comma separates several.
    pub name: String,
    /// When it begins: now, later, or at most ten minutes ago.
    pub start: UnixTime,
    /// How long it lasts, in whole minutes: it is rounded up.
    pub duration: Seconds,
    /// The names of the users who may use it. Where accounts are named as well, a user has to be
    /// one of these and in one of the accounts, and the time that is not used is charged to those
    /// associations; with users alone it is charged to all of their accounts (`_set_assoc_list`).
    pub users: Vec<String>,
    /// The names of the accounts that may use it.
    pub accounts: Vec<String>,
    /// The partition that its nodes are of; without a name the default one.
    pub partition: Option<String>,
    /// How many nodes it has.
    pub nodes: u32,
    /// How long it stays without jobs, from its start on, before slurmctld deletes it
    /// (`PURGE_COMP`), at least one second; `None` leaves it until its end. slurmctld looks every
    /// half a minute, and leaves one alone for which a job waits.
    pub purge_after: Option<Seconds>,
    /// Whether jobs that wait for it when it ends are let go (`NO_HOLD_JOBS_AFTER_END`) rather than
    /// held.
    pub no_hold_jobs_after_end: bool,
    /// Whether nodes that can't be used any more are replaced (`REPLACE_DOWN`).
    pub replace_down: bool,
    /// What is noted with it. Releases before 23.02 have no room for it, and leave it out.
    pub comment: Option<String>,
}

/// What is changed in a reservation; what is `None` stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReservationUpdate {
    /// When it begins. Its end moves along where its length is known as a duration: not after
    /// somebody has set its end. One that has begun is refused
    /// ([`Started`](ReservationError::Started)).
    pub start: Option<UnixTime>,
    /// How long it lasts, in whole minutes: it is rounded up. Its end follows.
    pub duration: Option<Seconds>,
    /// Whether slurmctld chooses as many nodes anew, by the new times. Otherwise the nodes stay, and
    /// times at which they are not free are refused ([`NodesBusy`](ReservationError::NodesBusy),
    /// [`Overlaps`](ReservationError::Overlaps)) even if others are free.
    pub choose_nodes: bool,
}

/// Makes a reservation, and returns its name.
///
/// # Errors
/// [`ReservationError`]. After [`Away`](ReservationError::Away) it may be there: if so, one more
/// attempt says [`NameTaken`](ReservationError::NameTaken).
pub fn create_reservation(new: &NewReservation) -> Result<String, ReservationError> {
    let mut description = Description::new(&new.name)?;
    description.text(&new.users.join(","), |message| &mut message.users)?;
    description.text(&new.accounts.join(","), |message| &mut message.accounts)?;
    description.text(new.partition.as_deref().unwrap_or_default(), |message| &mut message.partition)?;
    #[cfg(reservation_has_comment)]
    description.text(new.comment.as_deref().unwrap_or_default(), |message| &mut message.comment)?;
    let message = &mut description.message;
    message.start_time = new.start.0.max(1);
    message.duration = value::minutes(new.duration);
    message.flags = flags(new);
    if let Some(purge_after) = new.purge_after {
        // 0 becomes five minutes when slurmctld is started anew.
        message.purge_comp_time = sentinel::written(purge_after.clamped_u32().max(1));
    }
    let nodes = sentinel::written(new.nodes);
    #[cfg(reservation_counts_are_lists)]
    let mut nodes = [nodes, 0];
    #[cfg(reservation_counts_are_lists)]
    {
        message.node_cnt = nodes.as_mut_ptr();
    }
    #[cfg(not(reservation_counts_are_lists))]
    {
        message.node_cnt = nodes;
    }
    last_error::forget();
    // SAFETY: a description as libslurm initialised it. Its texts and the list of counts, which
    // ends with 0, are ours; they live until the call has returned, and libslurm only reads them.
    let name = unsafe { libslurm().slurm_create_reservation(&raw mut *message) };
    // SAFETY: what the call has just returned, and nothing else has or frees.
    match unsafe { taken_over(name) } {
        Some(name) => Ok(name),
        None => Err(ReservationError::of("new reservation", last_error::last())),
    }
}

/// Changes the reservation of this name.
///
/// # Errors
/// [`ReservationError`].
pub fn update_reservation(name: &str, update: &ReservationUpdate) -> Result<(), ReservationError> {
    let mut description = Description::new(name)?;
    let message = &mut description.message;
    if let Some(start) = update.start {
        message.start_time = start.0.max(1);
    }
    if let Some(duration) = update.duration {
        message.duration = value::minutes(duration);
    }
    if update.choose_nodes {
        // An empty list of nodes has slurmctld choose, and without a count as many as there were.
        message.node_list = c"".as_ptr().cast_mut();
    }
    last_error::forget();
    // SAFETY: a description as libslurm initialised it. Its texts are ours; they live until the
    // call has returned, and libslurm only reads them.
    answered(unsafe { libslurm().slurm_update_reservation(&raw mut *message) }, "change of a reservation")
}

/// Deletes the reservation of this name. Jobs that wait for it then wait as others do where it has
/// `NO_HOLD_JOBS_AFTER_END`, and are held where it has not (`_foreach_clear_job_resv`).
///
/// # Errors
/// [`ReservationError`]; [`InUse`](ReservationError::InUse) for as long as a job runs in it.
pub fn delete_reservation(name: &str) -> Result<(), ReservationError> {
    let name = c_text(name)?;
    start::initialise()?;
    let mut message = bindings::reservation_name_msg_t { name: name.as_ptr().cast_mut() };
    last_error::forget();
    // SAFETY: a name of ours, which lives until the call has returned, and which libslurm only
    // reads.
    answered(unsafe { libslurm().slurm_delete_reservation(&raw mut message) }, "deletion of a reservation")
}

/// What libslurm takes of a reservation, and the texts that it points to.
struct Description {
    message: bindings::resv_desc_msg_t,
    texts: Vec<CString>,
}

impl Description {
    /// One in which nothing is set but the name.
    fn new(name: &str) -> Result<Self, ClientError> {
        start::initialise()?;
        // SAFETY: numbers and pointers, for which zero is a value; libslurm fills it in right away.
        let mut message: bindings::resv_desc_msg_t = unsafe { std::mem::zeroed() };
        // SAFETY: a description of our own, and libslurm is initialised.
        unsafe { libslurm().slurm_init_resv_desc_msg(&raw mut message) };
        let mut description = Self { message, texts: Vec::new() };
        description.text(name, |message| &mut message.name)?;
        Ok(description)
    }

    /// Sets a text; an empty one is none.
    fn text(&mut self, text: &str, field: impl FnOnce(&mut bindings::resv_desc_msg_t) -> &mut *mut c_char) -> Result<(), ClientError> {
        if !text.is_empty() {
            let text = c_text(text)?;
            // The buffer stays where it is when the list of texts grows.
            *field(&mut self.message) = text.as_ptr().cast_mut();
            self.texts.push(text);
        }
        Ok(())
    }
}

/// The flags of a reservation that is to be made.
fn flags(new: &NewReservation) -> u64 {
    use super::ReservationFlag::{NoHoldJobsAfterEnd, PurgeComp, ReplaceDown};
    let flags = [(new.purge_after.is_some(), PurgeComp), (new.no_hold_jobs_after_end, NoHoldJobsAfterEnd), (new.replace_down, ReplaceDown)];
    flags.iter().filter(|(is_set, _)| *is_set).fold(0, |bits, (_, flag)| bits | flag.bits())
}

/// A copy of the name that `slurm_create_reservation` returned, which is freed.
///
/// # Safety
/// `name` is null or what that function returned, and nothing else frees it.
unsafe fn taken_over(name: *mut c_char) -> Option<String> {
    if name.is_null() {
        return None;
    }
    // SAFETY: not null, and null-terminated by libslurm.
    let copy = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    #[cfg(reservation_name_is_xfreed)]
    {
        let mut name: *mut std::ffi::c_void = name.cast();
        // SAFETY: libslurm made it by xstrdup (src/api/update_config.c), and hands it over; it is
        // freed here, once.
        unsafe { libslurm().slurm_xfree(&raw mut name) };
    }
    #[cfg(not(reservation_name_is_xfreed))]
    // SAFETY: libslurm made it by strdup (src/api/update_config.c), and hands it over; it is freed
    // here, once.
    unsafe {
        libc::free(name.cast());
    }
    Some(copy)
}

/// What libslurm's return code and the thread's last error say of a request.
fn answered(status: i32, what: &'static str) -> Result<(), ReservationError> {
    if status == 0 { Ok(()) } else { Err(ReservationError::of(what, last_error::last())) }
}
