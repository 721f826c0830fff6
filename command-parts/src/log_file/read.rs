//! Reading a log, whichever of its forms it has.

mod form;

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::num::NonZeroU32;
use std::path::Path;

use anyhow::{Context, anyhow};
use jiff::tz::TimeZone;
use simulator::accounting::Choices;
use simulator::remarks::Remarks;
use simulator::swf::{self, Header, Log, Record};
use simulator::workload::{self, Rules, Unusable, Workload};
use simulator::{sacct, swf::decompressed};

use super::options::{BadLines, LogFileOptions};

/// A log that is read record by record: an iterator of its records.
pub struct LogFile {
    /// The file as the user called it.
    source: String,
    options: LogFileOptions,
    records: Records,
    /// Lines that were left out, and what was wrong with the first of them.
    bad_lines: (u64, String),
}

enum Records {
    /// Records in the Standard Workload Format.
    Swf(swf::Reader<Box<dyn BufRead>>),
    /// A log that was read whole, because its jobs are in no order before, with what is to be said
    /// of that.
    Whole { header: Header, records: std::vec::IntoIter<Record>, remarks: Remarks },
}

/// Reads a whole log. Its header says the machine that the options say.
///
/// # Errors
///
/// A file that can't be opened or read; it is named.
pub fn read_log(path: &Path, options: &LogFileOptions) -> anyhow::Result<(Log, Remarks)> {
    let mut file = LogFile::open(path, options)?;
    let records = file.by_ref().collect::<anyhow::Result<Vec<_>>>()?;
    let mut header = file.header().clone();
    if let Some(processors) = options.processors {
        header.set_max_processors(u64::from(processors.get()));
    }
    Ok((Log { header, records }, file.remarks()))
}

/// Reads the jobs of a log as the engine runs them, without having all records in memory.
///
/// # Errors
///
/// A log that can't be read or used; the file is named.
pub fn read_workload(path: &Path, options: &LogFileOptions, rules: &Rules) -> anyhow::Result<(Workload, Remarks)> {
    let mut file = LogFile::open(path, options)?;
    let header = file.header().clone();
    let processors = options.processors.map(NonZeroU32::get);
    let workload = workload::of_records(header, file.by_ref(), processors, rules).map_err(|error: NotRead| match error {
        NotRead::Record(error) => error,
        NotRead::Log(error) => anyhow::Error::from(error).context(path.display().to_string()),
    });
    let (workload, mut remarks) = (workload?, file.remarks());
    let larger = format!(
        "of jobs larger than the machine of {} processors, which run on all of it",
        crate::output::count(workload.processors.into())
    );
    remarks.count(workload.larger_than_machine as u64, larger);
    Ok((workload, remarks))
}

/// Why there are no jobs.
enum NotRead {
    /// A record can't be read; the file is named.
    Record(anyhow::Error),
    Log(Unusable),
}

impl From<anyhow::Error> for NotRead {
    fn from(error: anyhow::Error) -> Self {
        Self::Record(error)
    }
}

impl From<Unusable> for NotRead {
    fn from(error: Unusable) -> Self {
        Self::Log(error)
    }
}

impl LogFile {
    /// Opens a log, of which the form is told by the first line that is not empty.
    ///
    /// # Errors
    ///
    /// A file that can't be opened or read; it is named.
    pub fn open(path: &Path, options: &LogFileOptions) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let file: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).with_context(|| format!("cannot open the log {source}"))?)
        };
        Self::of(file, source.clone(), options).with_context(|| source)
    }

    fn of(file: impl Read + 'static, source: String, options: &LogFileOptions) -> anyhow::Result<Self> {
        let mut input = decompressed(file).context("cannot read on")?;
        let mut begin = Vec::new();
        input.by_ref().take(LOOKED_AT).read_to_end(&mut begin).context("cannot read on")?;
        let mut bad_lines = (0, String::new());
        let line = form::first_line(&begin);
        let is_sacct = sacct::is_header(line);
        if let Some(advice) = form::advice(line, options.bad_lines) {
            return Err(advice);
        }
        let input: Box<dyn BufRead> = Box::new(io::Cursor::new(begin).chain(input));
        let records = match is_sacct {
            true => {
                let mut reader = sacct::Reader::new(input, TimeZone::system())?;
                while let Some(read) = reader.read_next() {
                    match read {
                        Err(error) if error.is_of_one_line() => bad_line(error.into(), options, &mut bad_lines)?,
                        read => read?,
                    }
                }
                let choices = Choices {
                    source: "read from what sacct printed",
                    processors: options.processors.map(|processors| u64::from(processors.get())),
                    with_partition_names: true,
                    ..Choices::default()
                };
                let (Log { header, records }, remarks) = reader.finish(&choices);
                Records::Whole { header, records: records.into_iter(), remarks }
            }
            false => Records::Swf(swf::Reader::new(input)?),
        };
        Ok(Self { source, options: *options, records, bad_lines })
    }

    /// What the log says of its machine.
    pub fn header(&self) -> &Header {
        match &self.records {
            Records::Swf(reader) => reader.header(),
            Records::Whole { header, .. } => header,
        }
    }

    /// What was left out or taken as not known in what was read so far.
    pub fn remarks(&self) -> Remarks {
        let mut remarks = Remarks::default();
        let (bad_lines, first) = &self.bad_lines;
        remarks.count(*bad_lines, format!("that can't be read, left out; the first: {first}"));
        remarks.extend(match &self.records {
            Records::Swf(reader) => reader.remarks(),
            Records::Whole { remarks, .. } => remarks.clone(),
        });
        remarks
    }
}

impl Iterator for LogFile {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = match &mut self.records {
            Records::Swf(reader) => reader,
            Records::Whole { records, .. } => return records.next().map(Ok),
        };
        loop {
            let error = match reader.next()? {
                Ok(record) => return Some(Ok(record)),
                Err(error) => error,
            };
            let read = match error {
                swf::ReadError::Input { .. } => Err(error.into()),
                error => bad_line(error.into(), &self.options, &mut self.bad_lines),
            };
            if let Err(error) = read {
                return Some(Err(error.context(self.source.clone())));
            }
        }
    }
}

/// Leaves out a line that can't be read, where that is asked for.
fn bad_line(error: anyhow::Error, options: &LogFileOptions, bad_lines: &mut (u64, String)) -> anyhow::Result<()> {
    if options.bad_lines == BadLines::End {
        return Err(anyhow!("{error} (with --bad-lines leave-out such lines are passed over)"));
    }
    if bad_lines.0 == 0 {
        bad_lines.1 = error.to_string();
    }
    bad_lines.0 += 1;
    Ok(())
}

/// How much of a log is looked at to tell its form, in bytes.
const LOOKED_AT: u64 = 1 << 16;

#[cfg(test)]
mod tests;
