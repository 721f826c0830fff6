//! Reading a log as a stream.

use std::io::{self, BufRead, BufReader, Read};

use super::{Accounted, FIELD_NAMES, Header, ReadError, Record, Status};
use crate::lines::{Line, Lines};
use crate::remarks::Remarks;

/// A whole log in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// What the log says of its machine.
    pub header: Header,
    /// The records of the log's jobs, in the log's order.
    pub records: Vec<Record>,
}

/// The most of a log's header that is kept, in bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// Reads a log job by job: an iterator of [`Record`]s. After an error in one line, the next call
/// goes on with the next line; after an error of the input it ends.
///
/// A value that the format gives no meaning to, such as a status of 265 or a negative number of
/// processors, is taken as not known, and counted ([`Reader::remarks`]); so are fields behind the
/// 18th, which are passed over.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    /// `new` reads one line too far: what it found there.
    ahead: Option<Line>,
    ended: bool,
    /// How many records have an undefined value, by field.
    undefined: [u64; FIELD_NAMES.len()],
    /// How many records have more fields than the format.
    longer: u64,
}

impl<R: BufRead> Reader<R> {
    /// Begins to read a log that is not compressed: reads its header.
    ///
    /// # Errors
    ///
    /// [`ReadError::Input`] if the bytes cannot be had.
    pub fn new(input: R) -> Result<Self, ReadError> {
        let mut reader = Self {
            lines: Lines::new(input),
            header: Header::new(),
            ahead: None,
            ended: false,
            undefined: [0; FIELD_NAMES.len()],
            longer: 0,
        };
        let mut header_bytes = 0;
        loop {
            let line = reader.next_line()?;
            if matches!(line, Line::Read) {
                match reader.lines.line().split_first() {
                    Some((b';', comment)) => {
                        header_bytes += comment.len();
                        if header_bytes <= LONGEST_HEADER {
                            reader.header.push_line(&String::from_utf8_lossy(comment));
                        }
                        continue;
                    }
                    Some(_) => {}
                    None => continue,
                }
            }
            reader.ahead = Some(line);
            return Ok(reader);
        }
    }

    /// The comments before the first job.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was taken as not known, or passed over, in what was read so far.
    #[must_use]
    pub fn remarks(&self) -> Remarks {
        let mut remarks = Remarks::default();
        for (records, name) in self.undefined.iter().zip(FIELD_NAMES) {
            remarks.count(*records, format!("with an undefined {name}"));
        }
        remarks.count(self.longer, "with more than 18 fields, of which the first 18 were read");
        remarks
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

    /// Takes the next line in hand.
    fn next_line(&mut self) -> Result<Line, ReadError> {
        if let Some(line) = self.ahead.take() {
            return Ok(line);
        }
        self.lines.next().map_err(|source| {
            self.ended = true;
            ReadError::Input { line: self.lines.number(), source }
        })
    }

    /// The job in the line in hand.
    fn record(&mut self) -> Result<Record, ReadError> {
        let line = self.lines.line();
        let mut fields = Fields { rest: line, line: self.lines.number(), field: 0, text: b"", undefined: 0 };
        let record = match fields.record() {
            Ok(record) => record,
            Err(error) => {
                // A line with too few fields is of another format: that is told first.
                let found = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
                let is_short = found < FIELD_NAMES.len();
                return Err(if is_short { ReadError::FieldCount { line: self.lines.number(), found } } else { error });
            }
        };
        self.longer += u64::from(!fields.rest.is_empty());
        if fields.undefined != 0 {
            for (place, count) in self.undefined.iter_mut().enumerate() {
                *count += u64::from(fields.undefined >> place & 1);
            }
        }
        Ok(record)
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
            match self.next_line() {
                Ok(Line::Read) => {}
                Ok(Line::TooLong) => return Some(Err(ReadError::LineLength { line: self.lines.number() })),
                Ok(Line::End) => self.ended = true,
                Err(error) => return Some(Err(error)),
            }
            let line = self.lines.line();
            if !self.ended && !line.is_empty() && !line.starts_with(b";") {
                return Some(self.record());
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
    /// A bit for each field whose value the format gives no meaning to, the first field's lowest.
    undefined: u32,
}

impl Fields<'_> {
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

    /// Notes that the value of the field in hand has no meaning.
    fn undefined<T>(&mut self) -> Option<T> {
        self.undefined |= 1_u32.wrapping_shl(u32::from(self.field.wrapping_sub(1)));
        None
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

    /// A whole number, or `None` for -1 and for a value without meaning. Some logs write whole
    /// numbers with a fraction, as in `3.0`; it is rounded off.
    fn count(&mut self) -> Result<Option<u64>, ReadError> {
        if let Some(number) = self.next_in_digits() {
            return Ok(number);
        }
        // Digits alone, and none too many, are read to the last one.
        let whole = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok().filter(|number| *number <= i64::MAX as u64);
        let number = self.real_in_words("a whole number, or -1 for not known")?;
        Ok(match (whole(self.text), number) {
            (Some(number), _) => Some(number),
            (None, Some(number)) if number < i64::MAX as f64 => Some(number.round() as u64),
            (None, Some(_)) => self.undefined(),
            (None, None) => None,
        })
    }

    fn real(&mut self) -> Result<Option<f64>, ReadError> {
        match self.next_in_digits() {
            Some(number) => Ok(number.map(|number| number as f64)),
            None => self.real_in_words("a number, or -1 for not known"),
        }
    }

    /// A number in any form; `None` for -1 and for one without meaning.
    fn real_in_words(&mut self, expected: &'static str) -> Result<Option<f64>, ReadError> {
        self.advance();
        let number = std::str::from_utf8(self.text).ok().and_then(|text| text.parse::<f64>().ok());
        match number.ok_or_else(|| self.error(expected))? {
            -1.0 => Ok(None),
            number if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            _ => Ok(self.undefined()),
        }
    }

    /// A status. Some logs have the exit codes of jobs here.
    fn status(&mut self) -> Result<Option<Status>, ReadError> {
        let number = self.count()?;
        let status = number.map(|number| i64::try_from(number).ok().and_then(Status::from_number));
        Ok(status.and_then(|known| known.or_else(|| self.undefined())))
    }

    fn record(&mut self) -> Result<Record, ReadError> {
        Ok(Record {
            // The number serves to name a job; what the log does not know is none.
            job_number: match self.count()? {
                Some(number) => number,
                None => self.undefined().unwrap_or_default(),
            },
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
            accounted: Accounted::default(),
        })
    }
}
