//! Writing a log.

use std::fmt::{self, Display};
use std::io::{self, Write};

use super::{Header, Record};

/// A number of the format: `-1` where the log does not know.
struct Field<T>(Option<T>);

impl<T: Display> Display for Field<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(number) => number.fmt(formatter),
            None => formatter.write_str("-1"),
        }
    }
}

/// Writes a log: the header's comments, then one line a job.
///
/// # Errors
///
/// What the output says.
pub fn write<'a>(mut output: impl Write, header: &Header, records: impl IntoIterator<Item = &'a Record>) -> io::Result<()> {
    for line in header.lines() {
        writeln!(output, ";{line}")?;
    }
    for record in records {
        writeln!(
            output,
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            record.job_number,
            Field(record.submit_time_seconds),
            Field(record.wait_time_seconds),
            Field(record.run_time_seconds),
            Field(record.allocated_processors),
            Field(record.average_cpu_time_seconds),
            Field(record.used_memory_kilobytes),
            Field(record.requested_processors),
            Field(record.requested_time_seconds),
            Field(record.requested_memory_kilobytes),
            Field(record.status.map(super::Status::number)),
            Field(record.user),
            Field(record.group),
            Field(record.executable),
            Field(record.queue),
            Field(record.partition),
            Field(record.preceding_job),
            Field(record.think_time_seconds),
        )?;
    }
    output.flush()
}
