//! Memory that a daemon shares with slurmctld, and files that are read into memory: none of it can
//! fault.
//!
//! A mapped file ends whoever looks at it as soon as somebody truncates the file (SIGBUS). So no
//! file is mapped here. What is mapped is memory that the kernel has sealed: nobody can shorten it,
//! not even the process that made it. Files are read, with a bound on what they may take.

mod counts;
mod hand_over;
mod sealed;

pub use counts::CountsPage;
pub use hand_over::{HandOver, HandOverError, HandedCounts, HandedSnapshot};
pub use sealed::{Memory, SealedMemory};
pub use slurm_conf::trusted::{Distrust, distrust, hold_directory, open_trusted, read_start, read_whole};
