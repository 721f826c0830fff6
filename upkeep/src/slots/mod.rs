//! Firm slots: what becomes of a real reservation of Slurm's that a user asked for, from the
//! request on until nothing of it is left.
//!
//! [`FirmSlot`] is what the daemon keeps of it, and [`FirmSlot::wanted`] says what is to be done by
//! what slurmctld has at a moment. That is all that it goes by: whatever happened while the daemon
//! was away is seen in the same way.

mod look;
mod observed;
mod slot;
#[cfg(test)]
mod tests;

pub use look::{JobSeen, ReservationSeen, SlotSeen, SlotWanted};
pub use observed::{ObservedSlot, ObservedSlots};
pub use slot::{ASKED_EVERY, ATTACHED_BEFORE, FAR_BEFORE, FirmSlot, Part, RANKED_EVERY, ReservedTime, SlotJob};
