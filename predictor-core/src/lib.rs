//! Forecasts of wait and run time, decisions about submissions, and the snapshot that carries them.
//!
//! This is the pure part of queuecast: it does no I/O, knows no C, and takes the time as an
//! argument. It has three rooms, of which each knows those before it alone:
//!
//! - [`forecasts`] is what is known of waits, run times and the queue.
//! - [`decisions`] is what is done with a submission by them.
//! - [`snapshot`] is how forecasts, and what else decisions ask, come from the daemon to those who
//!   decide.
//!
//! What the submit filter does without stands in crates of its own: what is done with a job that
//! was promised something, from its submission on, in `upkeep`, and what writes a snapshot in
//! `snapshot-writer`.

pub mod decisions;
pub mod forecasts;
pub mod snapshot;
