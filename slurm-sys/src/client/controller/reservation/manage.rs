//! Making, changing and deleting reservations.
//!
//! slurmctld lets only operators do so (`_slurm_rpc_resv_create` and its neighbours in
//! src/slurmctld/proc_req.c). It does all of a request or nothing (`create_resv` and `update_resv`
//! of src/slurmctld/reservation.c), but for one thing: where too many nodes are down, drained or
//! in other reservations, some releases (22.05) make do with fewer than they were asked for, and
//! say so in their log only (`_pick_node_cnt`: "Reducing requested node count"). So what was
//! chosen is read here, and undone where it is too little. Of running jobs slurmctld goes by the
//! ends of their time limits; waiting jobs do not count, and are put off.

use std::ffi::{CStr, CString, c_char};

use super::error::ReservationError;
use super::{Reservation, reservations};
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
    /// Of a name that slurmctld does not know it says [`Denied`](ReservationError::Denied), or in
    /// 26.05 an unspecified error, which counts as [`Away`](ReservationError::Away).
    pub users: Vec<String>,
    /// The names of the accounts that may use it. Where associations are not enforced, some
    /// releases take any.
    pub accounts: Vec<String>,
    /// The partition that its nodes are of; without a name the default one.
    pub partition: Option<String>,
    /// How many nodes it has.
    pub nodes: u32,
    /// How long it stays without jobs, from its start on, before slurmctld deletes it
    /// (`PURGE_COMP`), at least one second; `None` leaves it until its end. slurmctld looks every
    /// half a minute, and leaves one alone for which a job waits.
    pub purge_after: Option<Seconds>,
    /// Whether jobs that wait for it when it ends are let go (`NO_HOLD_JOBS_AFTER_END`) rather
    /// than held.
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
    /// How many nodes slurmctld chooses anew, by the new times. Without it the nodes stay, and
    /// times at which they are not free are refused ([`NodesBusy`](ReservationError::NodesBusy),
    /// [`Overlaps`](ReservationError::Overlaps)) even if others are free.
    pub nodes: Option<u32>,
}

/// Makes a reservation of as many nodes as are asked for, and returns its name.
///
/// # Errors
/// [`ReservationError`]; where other reservations have too many of the nodes that is
/// [`NodesBusy`](ReservationError::NodesBusy) as well. After [`Away`](ReservationError::Away) it
/// may be there, and with fewer nodes: one more attempt then says
/// [`NameTaken`](ReservationError::NameTaken). After [`InUse`](ReservationError::InUse) it is
/// there with fewer, because somebody's job has been sent to it already.
pub fn create_reservation(new: &NewReservation) -> Result<String, ReservationError> {
    let name = create(new)?;
    if find(&name)?.is_some_and(|made| made.nodes >= new.nodes) {
        return Ok(name);
    }
    delete_reservation(&name)?;
    Err(ReservationError::NodesBusy)
}

/// Changes the reservation of this name. One that gets new nodes gets as many as are asked for, or
/// stays as it is but for its nodes, which may then be others.
///
/// # Errors
/// [`ReservationError`].
pub fn update_reservation(name: &str, update: &ReservationUpdate) -> Result<(), ReservationError> {
    let Some(wanted) = update.nodes else { return change(name, update) };
    let before = find(name)?.ok_or(ReservationError::NotThere)?;
    change(name, update)?;
    let nodes = || find(name)?.map(|reservation| reservation.nodes).ok_or(ReservationError::NotThere);
    if nodes()? >= wanted {
        return Ok(());
    }
    let length = before.end.map(|end| Seconds(end - before.start));
    let back = ReservationUpdate {
        start: update.start.map(|_| UnixTime(before.start)),
        duration: update.duration.and(length),
        nodes: Some(before.nodes),
    };
    change(name, &back)?;
    let nodes = nodes()?;
    Err(if nodes >= before.nodes { ReservationError::NodesBusy } else { ReservationError::Shrunk { nodes } })
}

/// Deletes the reservation of this name.
///
/// # Errors
/// [`ReservationError`]; [`InUse`](ReservationError::InUse) for as long as a job waits for it or
/// runs in it.
pub fn delete_reservation(name: &str) -> Result<(), ReservationError> {
    let name = c_text(name)?;
    start::initialise()?;
    let mut message = bindings::reservation_name_msg_t { name: name.as_ptr().cast_mut() };
    last_error::forget();
    // SAFETY: a name of ours, which lives until the call has returned, and which libslurm only
    // reads.
    answered(unsafe { libslurm().slurm_delete_reservation(&raw mut message) }, "deletion of a reservation")
}

/// The reservation of this name, if it is there.
fn find(name: &str) -> Result<Option<Reservation>, ClientError> {
    Ok(reservations()?.into_iter().find(|reservation| reservation.name == name))
}

/// Makes a reservation with as many nodes as slurmctld likes, at most those asked for.
fn create(new: &NewReservation) -> Result<String, ReservationError> {
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
    let mut counts = [sentinel::written(new.nodes), 0];
    set_nodes(message, &mut counts);
    last_error::forget();
    // SAFETY: a description as libslurm initialised it. Its texts and the counts, which end with
    // 0, are ours; they live until the call has returned, and libslurm only reads them.
    let name = unsafe { libslurm().slurm_create_reservation(&raw mut *message) };
    // SAFETY: what the call has just returned, and nothing else has or frees.
    match unsafe { taken_over(name) } {
        Some(name) => Ok(name),
        None => Err(ReservationError::of("new reservation", last_error::last())),
    }
}

/// Changes the reservation of this name, with as many new nodes as slurmctld likes.
fn change(name: &str, update: &ReservationUpdate) -> Result<(), ReservationError> {
    let mut description = Description::new(name)?;
    let message = &mut description.message;
    if let Some(start) = update.start {
        message.start_time = start.0.max(1);
    }
    if let Some(duration) = update.duration {
        message.duration = value::minutes(duration);
    }
    let mut counts = [sentinel::written(update.nodes.unwrap_or_default()), 0];
    if update.nodes.is_some() {
        // An empty list of nodes has slurmctld choose all of them.
        message.node_list = c"".as_ptr().cast_mut();
        set_nodes(message, &mut counts);
    }
    last_error::forget();
    // SAFETY: as in `create`.
    answered(unsafe { libslurm().slurm_update_reservation(&raw mut *message) }, "change of a reservation")
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
        // SAFETY: numbers and pointers, for which zero is a value; libslurm fills it in right
        // away.
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

/// Sets how many nodes a reservation has: by number, or in releases up to 23.02 by a list of
/// numbers that ends with 0, and that has to live for as long as the description.
fn set_nodes(message: &mut bindings::resv_desc_msg_t, counts: &mut [u32; 2]) {
    #[cfg(reservation_counts_are_lists)]
    {
        message.node_cnt = counts.as_mut_ptr();
    }
    #[cfg(not(reservation_counts_are_lists))]
    {
        message.node_cnt = counts[0];
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
