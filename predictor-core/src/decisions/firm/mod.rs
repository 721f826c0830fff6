//! What the site's policy says of firm slots, real reservations of Slurm's inside a window that a
//! user gives.
//!
//! [`AskedSlot`] is what a submission asks for, where it can. [`firm_window`] says of a request,
//! before any slot is looked at, whether there may be one and in which part of its window.
//! [`check_slot`] says it of each slot, by what that does to the jobs that wait. What stands
//! already, and the slots with what they do, are found by whoever asks.

mod asked;
mod request;
mod reserved;
mod slot;

pub(super) use asked::asked_slot;
pub use asked::{AskedSlot, NoSlot};
pub use request::{FirmRefusal, FirmRequest, FirmStanding, LongestBy, MostNodesBy, Whose, firm_window};
pub use reserved::{ReservedNodes, most_reserved};
pub use slot::{RatedSlot, SlotRefusal, check_slot};
