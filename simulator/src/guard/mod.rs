//! The guard: whether molding and deferral pay on the site's own past, and what follows from that.
//!
//! - [`state`] is what the daemon keeps of it in `guard.json`, with the reader of that file.
//!
//! Nothing here reads a clock or a file.

pub mod state;
