//! The API of `queuecastd`, as both ends know it: JSON over HTTP/1.1 on the socket
//! `slurm_conf::state_directory::API`, and to other hosts by TCP.
//!
//! Whoever asks is known by the socket, which the kernel vouches for, or from another host by a
//! [`credential`] of munge, and never by what is in a request. What a request may say is checked by
//! the one reader that belongs to it, in bounded time and memory: an unknown key, a value of
//! another kind and a number out of range are refused with the name of the key and what is allowed.

pub mod credential;
mod firm_slot;
mod keys;
mod predict;
mod probe;
mod refusal;
mod reserve;
mod together;

pub use firm_slot::{FirmSlot, FirmSlots, SlotRefused, SlotWindow};
pub use predict::Predict;
pub use probe::{Answer, OrdinaryStart, Preferred, Probe, Slot};
pub use refusal::Refusal;
pub use reserve::{Cancel, Confirm, Reserve};
pub use together::{Decided, Question};

/// The path of [`Probe`], which is answered with an [`Answer`].
pub const PROBE: &str = "/v1/probe";

/// The path of [`Reserve`], which is answered with a [`FirmSlot`].
pub const RESERVE: &str = "/v1/reserve";

/// The path of [`Cancel`], which is answered with a [`FirmSlot`].
pub const CANCEL: &str = "/v1/cancel";

/// The path of [`Confirm`], which is answered with a [`FirmSlot`].
pub const CONFIRM: &str = "/v1/confirm";

/// The path of [`Question`], which is answered with what was [`Decided`].
pub const DECISION: &str = "/v1/decision";

/// The path of the caller's [`FirmSlots`].
pub const RESERVATIONS: &str = "/v1/reservations";

/// The path of [`Predict`], which is answered with what `queuecast predict` forecasts.
pub const PREDICT: &str = "/v1/predict";

/// The path of the queue, as `queuecast queue` lists it.
pub const QUEUE: &str = "/v1/queue";

/// The path of the snapshot without what is other users', where users' jobs are private.
pub const SNAPSHOT: &str = "/v1/snapshot";

/// What the paths of this version begin with.
pub const VERSION: &str = "/v1/";

/// The most bytes of a request.
pub const MOST_REQUEST_BYTES: usize = 64 << 10;
