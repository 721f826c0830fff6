//! What Slurm's `sacct` printed, read as a workload log.
//!
//! The text is that of `sacct --allusers --parsable2 --format=...`: a header line with the names of
//! the columns (src/sacct/sacct.c, `fields`), and a line for each record, with `|` or another
//! delimiter between the columns. Columns are found by their names, in any order, and those that
//! are not needed are passed over.
//!
//! ```
//! use jiff::tz::TimeZone;
//! use simulator::accounting::Choices;
//! use simulator::sacct::Reader;
//!
//! let text = "JobID|User|State|Submit|Start|End|AllocCPUS|Timelimit\n\
//!             17|alice|COMPLETED|2026-11-23T08:00:00|2026-11-23T08:01:00|2026-11-23T09:01:00|4|02:00:00\n\
//!             17.batch||COMPLETED|2026-11-23T08:01:00|2026-11-23T08:01:00|2026-11-23T09:01:00|4|\n";
//! let mut reader = Reader::new(text.as_bytes(), TimeZone::UTC)?;
//! while let Some(read) = reader.read_next() {
//!     read?;
//! }
//! let (log, _) = reader.finish(&Choices::default());
//! assert_eq!(log.records.len(), 1);
//! let job = &log.records[0];
//! assert_eq!((job.wait_time_seconds, job.run_time_seconds), (Some(60), Some(3_600)));
//! # Ok::<(), simulator::sacct::ReadError>(())
//! ```

mod columns;
mod error;
mod read;
mod readings;
mod row;
mod value;

pub use columns::is_header;
pub use error::ReadError;
pub use read::Reader;
