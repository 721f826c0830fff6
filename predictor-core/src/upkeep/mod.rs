//! Upkeep: what becomes of a job with a promise after its submission.
//!
//! The daemon looks at each job that carries a promise every few seconds, and asks here what is to
//! be changed in it: a reservation's begin and padding follow the queue, and a deadline stays in
//! the job's priority and comment. Nothing is remembered from one look to the next. The submit
//! filter has no part in it.

mod deadline_chance;
mod deadlines;
mod reservation_chance;
mod reservations;
mod reserved_job;
mod review;
mod withdrawal;
mod within_limits;

pub use deadlines::{
    AdmissionState, AdmissionStep, AdmissionUpdate, AdmissionUpkeep, AdmissionWanted, AdmittedJob, admission_upkeep, clocks_agree, noted,
};
pub use reservation_chance::present_probability;
pub use reservations::{ReservationState, Step, Upkeep, Wanted, upkeep};
pub use reserved_job::ReservedJob;
pub use review::{GivenReservation, Progress, Review, Revision, review};
pub use withdrawal::{Sibling, withdrawal};
pub use within_limits::Excess;
