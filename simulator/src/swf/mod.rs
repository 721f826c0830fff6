//! The Standard Workload Format of the Parallel Workloads Archive.
//!
//! A log is lines of 18 numbers, one job a line; lines that begin with `;` are comments, and those
//! before the first job say which machine the log is from. `-1` stands for "not known" and becomes
//! `None`. The format is described in S. J. Chapin and others, "Benchmarks and Standards for the
//! Evaluation of Parallel Job Schedulers" (JSSPP 1999), and on the archive's pages (version 2.2).
//!
//! ```
//! use simulator::swf::Reader;
//!
//! let log = "; MaxProcs: 128\n1 0 5 3600 16 -1 -1 16 7200 -1 1 3 1 -1 1 -1 -1 -1\n";
//! let mut reader = Reader::new(log.as_bytes())?;
//! assert_eq!(reader.header().max_processors(), Some(128));
//! let job = reader.next().expect("one job")?;
//! assert_eq!((job.run_time_seconds, job.group), (Some(3600), Some(1)));
//! assert_eq!(job.used_memory_kilobytes, None);
//! # Ok::<(), simulator::swf::ReadError>(())
//! ```

mod error;
mod header;
mod read;
mod record;
mod write;

pub use error::ReadError;
pub use header::Header;
pub use read::{Log, Reader, decompressed};
pub use record::{Accounted, FIELD_NAMES, NO_LIMIT_SECONDS, Record, Status};
pub use write::write;
