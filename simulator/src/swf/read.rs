//! Reading a log as a stream.

use std::io::{self, BufRead, BufReader, Read};

use super::{Header, ReadError, Record, Status};

/// A whole log in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// What the log says of its machine.
    pub header: Header,
    /// Its jobs, in the log's order.
    pub records: Vec<Record>,
}

/// Reads a log job by job: an iterator of [`Record`]s. After an error in one line, the next call
/// goes on with the next line; after an error of the input it ends.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    /// The line in hand: the first job's line after `new`, which reads one line too far.
    line: Vec<u8>,
    line_number: u64,
    line_is_ahead: bool,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Begins to read a log that is not compressed: reads its header.
    ///
    /// # Errors
    ///
    /// [`ReadError::Input`] if the bytes cannot be had.
    pub fn new(input: R) -> Result<Self, ReadError> {
        let mut reader = Self { input, header: Header::new(), line: Vec::new(), line_number: 0, line_is_ahead: false, ended: false };
        while reader.read_line()? {
            match reader.line.trim_ascii().split_first() {
                Some((b';', comment)) => reader.header.push_line(&String::from_utf8_lossy(comment)),
                Some(_) => {
                    reader.line_is_ahead = true;
                    break;
                }
                None => {}
            }
        }
        Ok(reader)
    }

    /// The comments before the first job.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads all that is left.
    ///
    /// # Errors
    ///
    /// The first error of any line.
    pub fn into_log(mut self) -> Result<Log, ReadError> {
        let records = self.by_ref().collect::<Result<_, _>>()?;
        Ok(Log { header: self.header, records })
    }

    /// Takes the next line in hand; false at the end.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        if std::mem::take(&mut self.line_is_ahead) {
            return Ok(true);
        }
        self.line.clear();
        self.line_number += 1;
        match self.input.read_until(b'\n', &mut self.line) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(source) => {
                self.ended = true;
                return Err(ReadError::Input { line: self.line_number, source });
            }
        }
        Ok(!self.ended)
    }
}

impl Reader<Box<dyn BufRead>> {
    /// Begins to read a log that may be packed with gzip, xz or zstd; see [`decompressed`].
    ///
    /// # Errors
    ///
    /// [`ReadError::Input`] if the bytes cannot be had.
    pub fn detecting_compression(input: impl Read + 'static) -> Result<Self, ReadError> {
        Self::new(decompressed(input).map_err(|source| ReadError::Input { line: 1, source })?)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.read_line() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            let line = self.line.trim_ascii();
            if !line.is_empty() && !line.starts_with(b";") {
                return Some(record(line, self.line_number));
            }
        }
        None
    }
}

/// Unpacks gzip, xz and zstd, told by the first bytes whatever the file's name; anything else is
/// passed on as it is.
///
/// # Errors
///
/// What the input says.
pub fn decompressed(input: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut input = input;
    let mut signature = Vec::with_capacity(6);
    input.by_ref().take(6).read_to_end(&mut signature)?;
    let whole = BufReader::with_capacity(1 << 18, io::Cursor::new(signature.clone()).chain(input));
    Ok(if signature.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(whole)))
    } else if signature.starts_with(b"\xfd7zXZ\0") {
        Box::new(BufReader::new(liblzma::bufread::XzDecoder::new_multi_decoder(whole)))
    } else if signature.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(BufReader::new(zstd::stream::read::Decoder::with_buffer(whole)?))
    } else {
        Box::new(whole)
    })
}

/// The fields of one line, taken one after the other.
struct Fields<'a> {
    rest: &'a [u8],
    line: u64,
    field: u8,
    text: &'a [u8],
}

impl<'a> Fields<'a> {
    fn error(&self, expected: &'static str) -> ReadError {
        let text = String::from_utf8_lossy(self.text).chars().take(40).collect();
        ReadError::Field { line: self.line, field: self.field, text, expected }
    }

    fn advance(&mut self) {
        self.field += 1;
        self.rest = self.rest.trim_ascii_start();
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        (self.text, self.rest) = self.rest.split_at(end);
    }

    fn text(&self) -> Result<&'a str, ReadError> {
        std::str::from_utf8(self.text).map_err(|_| self.error("a number"))
    }

    /// The next field if it is written as almost all are, in digits alone or as -1, in one pass
    /// over it; `None`, and nothing taken, where it is written otherwise.
    fn next_in_digits(&mut self) -> Option<Option<u64>> {
        let rest = self.rest.trim_ascii_start();
        let digits = rest.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10);
        let (length, number) =
            digits.fold((0, 0_u64), |(length, number), digit| (length + 1, number.wrapping_mul(10).wrapping_add(u64::from(digit))));
        let (length, number) = if rest.starts_with(b"-1") { (2, None) } else { (length, Some(number)) };
        // More digits than these may not fit.
        let is_whole = (1..=18).contains(&length) && rest.get(length).is_none_or(u8::is_ascii_whitespace);
        is_whole.then(|| {
            self.field += 1;
            (self.text, self.rest) = rest.split_at(length);
            number
        })
    }

    /// A whole number, or `None` for -1. Some logs write whole numbers with a fraction of zero, as
    /// in `3.0`.
    fn count(&mut self) -> Result<Option<u64>, ReadError> {
        const EXPECTED: &str = "a whole number, or -1 for not known";
        if let Some(number) = self.next_in_digits() {
            return Ok(number);
        }
        self.advance();
        let text = self.text()?;
        let digits = match text.split_once('.') {
            Some((digits, fraction)) if fraction.bytes().all(|byte| byte == b'0') => digits,
            _ => text,
        };
        match digits.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(number) => u64::try_from(number).map(Some).map_err(|_| self.error(EXPECTED)),
            Err(_) => Err(self.error(EXPECTED)),
        }
    }

    fn real(&mut self) -> Result<Option<f64>, ReadError> {
        if let Some(number) = self.next_in_digits() {
            return Ok(number.map(|number| number as f64));
        }
        self.advance();
        match self.text()?.parse::<f64>() {
            Ok(-1.0) => Ok(None),
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            _ => Err(self.error("a number, or -1 for not known")),
        }
    }

    fn status(&mut self) -> Result<Option<Status>, ReadError> {
        let number = self.count()?;
        let status = number.map(|number| i64::try_from(number).ok().and_then(Status::from_number));
        match status {
            None => Ok(None),
            Some(Some(status)) => Ok(Some(status)),
            Some(None) => Err(self.error("a status from 0 to 5, or -1 for not known")),
        }
    }

    fn record(&mut self) -> Result<Record, ReadError> {
        let job_number = match self.count()? {
            Some(number) => number,
            None => return Err(self.error("the number of a job")),
        };
        Ok(Record {
            job_number,
            submit_time_seconds: self.count()?,
            wait_time_seconds: self.count()?,
            run_time_seconds: self.count()?,
            allocated_processors: self.count()?,
            average_cpu_time_seconds: self.real()?,
            used_memory_kilobytes: self.real()?,
            requested_processors: self.count()?,
            requested_time_seconds: self.count()?,
            requested_memory_kilobytes: self.real()?,
            status: self.status()?,
            user: self.count()?,
            group: self.count()?,
            executable: self.count()?,
            queue: self.count()?,
            partition: self.count()?,
            preceding_job: self.count()?,
            think_time_seconds: self.count()?,
        })
    }
}

fn record(line: &[u8], line_number: u64) -> Result<Record, ReadError> {
    let mut fields = Fields { rest: line, line: line_number, field: 0, text: b"" };
    let record = fields.record();
    // A line with another number of fields is of another format: that is told first.
    if record.is_err() || !fields.rest.is_empty() {
        let found = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        if found != 18 {
            return Err(ReadError::FieldCount { line: line_number, found });
        }
    }
    record
}
