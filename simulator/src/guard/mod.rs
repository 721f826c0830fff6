//! The guard: whether molding and deferral pay on the site's own past, and what follows from that.
//!
//! - [`judge`](mod@judge) replays the last weeks of a partition with a policy and without,
//!   [`hysteresis`] says what that changes, and [`not_known`] what it leaves open.
//! - [`state`] is what the daemon keeps of it in `guard.json`, with the reader of that file.
//!
//! Nothing here reads a clock or a file.

pub mod hysteresis;
pub mod judge;
pub mod not_known;
pub mod state;
