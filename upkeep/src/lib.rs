//! Upkeep: what becomes of a job with a promise after its submission.
//!
//! The daemon looks at each job that carries a promise, again and again, and asks here what is to
//! be changed in it. The begin and the padding of a reservation follow the queue
//! ([`upkeep()`]); of several jobs of which one is enough the others are withdrawn
//! ([`withdrawal()`]); a job with a deadline is ended once it is late, or its user is told how it
//! stands ([`admission_upkeep`]). A firm slot is made, moved, used and given back
//! ([`FirmSlot::wanted`]). Nothing is remembered from one look to the next.
//!
//! It does no I/O, knows no C, and takes the time as an argument. It leans on the decisions that
//! gave the promises (`predictor_core::decisions`), and the submit filter does without it.

mod deadline_chance;
mod deadlines;
mod queued_job;
mod reservation_chance;
mod reservations;
mod reserved_job;
mod review;
mod slots;
mod withdrawal;
mod within_limits;

pub use deadlines::{
    AdmissionState, AdmissionStep, AdmissionUpdate, AdmissionUpkeep, AdmissionWanted, admission_upkeep, clocks_agree, noted,
};
pub use queued_job::QueuedJob;
pub use reservation_chance::present_probability;
pub use reservations::{ReservationState, Step, UPDATE_DELAY, Upkeep, Wanted, upkeep};
pub use review::Revision;
pub use slots::{
    ASKED_EVERY, ATTACHED_BEFORE, FAR_BEFORE, FirmSlot, JobSeen, ObservedSlot, ObservedSlots, Part, RANKED_EVERY, ReservationSeen,
    ReservedTime, SlotJob, SlotSeen, SlotWanted,
};
pub use withdrawal::{Sibling, withdrawal};
pub use within_limits::Excess;
