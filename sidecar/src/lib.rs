//! The command line of `queuecastd`, for its manual page; the daemon itself is the program.

pub mod arguments;
