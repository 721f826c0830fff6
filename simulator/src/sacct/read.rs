//! Reading sacct's output line by line.

use std::io::BufRead;

use jiff::tz::TimeZone;

use super::ReadError;
use super::columns::{Column, Columns, is_header};
use super::readings::Reading;
use super::row::{Fields, Row};
use super::value;
use crate::accounting::{Choices, LogBuilder};
use crate::lines::{LONGEST_LINE, Line, Lines};
use crate::remarks::Remarks;
use crate::swf::Log;

/// How many lines a name with line breaks in it may take.
const MOST_LINES: u32 = 32;

/// Reads sacct's output record by record, and makes a log of what it has read.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    zone: TimeZone,
    columns: Columns,
    /// The line in hand; several where a name has line breaks in it.
    line: Vec<u8>,
    /// The number of its first line.
    number: u64,
    /// A line that was read too far, with its number.
    ahead: Option<(Vec<u8>, u64)>,
    /// The begin and end of each column of the line.
    ends: Vec<(usize, usize)>,
    builder: LogBuilder,
    steps: u64,
    elsewhere: u64,
    /// Records whose delimiters leave open whose job it was, and those that were left out for them.
    owner_open: u64,
    unclear: u64,
    /// How many records have values without meaning, by column.
    undefined: Vec<(Column, u64)>,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Begins to read: reads the header. `zone` is the time zone in which sacct printed times.
    ///
    /// # Errors
    ///
    /// The bytes cannot be had, there is no header, or it lacks a column that is needed.
    pub fn new(input: R, zone: TimeZone) -> Result<Self, ReadError> {
        let mut lines = Lines::new(input);
        loop {
            let read = lines.next().map_err(|source| ReadError::Input { line: lines.number(), source })?;
            match read {
                Line::Read if lines.line().is_empty() => {}
                Line::Read if is_header(lines.line()) => break,
                _ => return Err(ReadError::NoHeader { line: lines.number() }),
            }
        }
        let columns = Columns::of(lines.line(), lines.number())?;
        Ok(Self {
            lines,
            zone,
            columns,
            line: Vec::new(),
            number: 0,
            ahead: None,
            ends: Vec::new(),
            builder: LogBuilder::new(),
            steps: 0,
            elsewhere: 0,
            owner_open: 0,
            unclear: 0,
            undefined: Vec::new(),
            ended: false,
        })
    }

    /// Reads the next record; `None` at the end. After an error in one line
    /// ([`ReadError::is_of_one_line`]), the next call goes on with the next line.
    ///
    /// # Errors
    ///
    /// The bytes cannot be had, or the line cannot be read.
    pub fn read_next(&mut self) -> Option<Result<(), ReadError>> {
        loop {
            match self.take_line() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if self.line.is_empty() {
                continue;
            }
            // Outputs of several months may stand behind each other, each with its header.
            if !self.line.first().is_some_and(u8::is_ascii_digit) && is_header(&self.line) {
                match Columns::of(&self.line, self.number) {
                    Ok(columns) => self.columns = columns,
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                }
                continue;
            }
            return Some(self.read_record());
        }
    }

    /// The log of what was read, and what is to be said of it.
    #[must_use]
    pub fn finish(self, choices: &Choices<'_>) -> (Log, Remarks) {
        let mut remarks = Remarks::default();
        for (column, records) in &self.undefined {
            remarks.count(*records, format!("with an undefined {}", column.name()));
        }
        remarks.count(self.steps, "of job steps, left out");
        remarks.count(
            self.unclear,
            "with a delimiter in a name or another text, from which it can't be told where their columns begin, left out; print such texts \
             with a delimiter that is not in them (sacct --delimiter)",
        );
        remarks.count(
            self.owner_open,
            "with a delimiter in a name or another text, from which it can't be told whose jobs they are: user, account, partition or QOS \
             is taken as not known",
        );
        remarks.count(self.elsewhere, "of jobs that another cluster of the federation ran, left out");
        let (log, of_jobs) = self.builder.finish(choices);
        remarks.extend(of_jobs);
        self.columns.unsaid().for_each(|unsaid| remarks.note(unsaid));
        (log, remarks)
    }

    /// Takes the next line in hand; false at the end.
    fn take_line(&mut self) -> Result<bool, ReadError> {
        if let Some((line, number)) = self.ahead.take() {
            (self.line, self.number) = (line, number);
            return Ok(true);
        }
        if self.ended {
            return Ok(false);
        }
        let read = self.lines.next();
        self.number = self.lines.number();
        match read {
            Ok(Line::Read) => {
                self.line.clear();
                self.line.extend_from_slice(self.lines.line());
                Ok(true)
            }
            Ok(Line::TooLong) => Err(ReadError::LineLength { line: self.number }),
            Ok(Line::End) => {
                self.ended = true;
                Ok(false)
            }
            Err(source) => {
                self.ended = true;
                Err(ReadError::Input { line: self.number, source })
            }
        }
    }

    /// Adds the lines that follow as long as the line in hand has too few columns: there is a name
    /// with line breaks in it.
    fn complete_line(&mut self) -> Result<(), ReadError> {
        let expected = self.columns.count();
        self.columns.split(&self.line, &mut self.ends);
        for _ in 1..MOST_LINES {
            if self.ends.len() >= expected || !self.columns.has_free_text() {
                break;
            }
            let (line, number) = (std::mem::take(&mut self.line), self.number);
            let has_next = self.take_line()?;
            let next = std::mem::replace(&mut self.line, line);
            let next_number = std::mem::replace(&mut self.number, number);
            if !has_next {
                break;
            }
            self.columns.split(&next, &mut self.ends);
            // A line that is whole is a record of its own, and the one before it was cut.
            let is_whole = self.ends.len() >= expected && self.columns.job(&next, &self.ends).and_then(value::job_number).is_some();
            if is_whole || self.line.len() + next.len() >= LONGEST_LINE {
                self.ahead = Some((next, next_number));
                break;
            }
            self.line.push(b'\n');
            self.line.extend_from_slice(&next);
            self.columns.split(&self.line, &mut self.ends);
        }
        self.columns.split(&self.line, &mut self.ends);
        let found = self.ends.len();
        let is_right = if self.columns.has_free_text() { found >= expected } else { found == expected };
        if is_right { Ok(()) } else { Err(ReadError::ColumnCount { line: self.number, found, expected }) }
    }

    fn read_record(&mut self) -> Result<(), ReadError> {
        self.complete_line()?;
        match self.columns.resolve(&self.line, &mut self.ends, &self.zone) {
            Reading::Sure => {}
            Reading::OwnerOpen => self.owner_open += 1,
            Reading::Unclear => {
                self.unclear += 1;
                return Ok(());
            }
        }
        let mut fields = Fields {
            columns: &self.columns,
            line: &self.line,
            ends: &self.ends,
            number: self.number,
            zone: &self.zone,
            undefined: Vec::new(),
        };
        let row = fields.row()?;
        for column in &fields.undefined {
            match self.undefined.iter_mut().find(|(counted, _)| counted == column) {
                Some((_, count)) => *count += 1,
                None => self.undefined.push((*column, 1)),
            }
        }
        match row {
            Row::Run(run) => self.builder.add(&run),
            Row::Step => self.steps += 1,
            Row::Elsewhere => self.elsewhere += 1,
        }
        Ok(())
    }
}
