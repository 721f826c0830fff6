//! How one process finds the memory of another: a line of text that says where.
//!
//! The kernel lets a process open `/proc/PROCESS/fd/DESCRIPTOR` of another if both belong to one
//! user, or if it is root. The daemon need not answer for it, so that nothing waits.

use std::fmt::{self, Display};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use thiserror::Error;

use super::counts::CountsPage;
use super::sealed::Memory;
use slurm_conf::trusted;

/// Longest text of a hand-over, in bytes.
const MOST_BYTES: usize = 512;
/// First word of the text; another form of it gets another number.
const FORM: &str = "queuecast-memory-1";

/// The places of a snapshot and of a page of counts in a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// Number of the process that has the snapshot and the pages of counts.
    pub process: u32,
    /// When the process began, in ticks since the machine started, so that a later process of that
    /// number is not taken for it.
    pub began: u64,
    /// The process's snapshot.
    pub snapshot: HandedSnapshot,
    /// The process's page of counts.
    pub counts: HandedCounts,
    /// The process's page of counts by rule, where it has one.
    pub rule_counts: Option<HandedCounts>,
}

/// A snapshot in sealed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandedSnapshot {
    /// The descriptor of the snapshot's memory in the process that hands it over.
    pub descriptor: i32,
    /// The snapshot's generation.
    pub generation: u64,
    /// The snapshot's length in bytes.
    pub length: u64,
    /// The snapshot's checksum.
    pub checksum: u64,
}

/// A page of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandedCounts {
    /// The descriptor of the page's memory in the process that hands it over.
    pub descriptor: i32,
}

/// Why memory that was handed over can't be taken.
#[derive(Debug, Error)]
pub enum HandOverError {
    /// The file that says where the memory is can't be read, or is not trusted.
    #[error("the file that names it: {0}")]
    File(#[source] io::Error),
    /// The text is not one of a hand-over.
    #[error("the file that names it is not one of this release")]
    Text,
    /// The process has ended, or can't be seen from here.
    #[error("process {0} has ended, or can't be seen from here")]
    Process(u32),
    /// The process's memory can't be opened, or is not what it should be.
    #[error("memory of process {0}: {1}")]
    Memory(u32, #[source] io::Error),
}

impl HandOver {
    /// A hand-over by this process.
    ///
    /// # Errors
    /// Where this process can't be looked up.
    pub fn by_this_process(snapshot: HandedSnapshot, counts: HandedCounts) -> io::Result<HandOver> {
        let process = std::process::id();
        let began = began(&std::fs::read_to_string("/proc/self/stat")?).ok_or(io::ErrorKind::InvalidData)?;
        Ok(HandOver { process, began, snapshot, counts, rule_counts: None })
    }

    /// Adds a page of counts by rule.
    #[must_use]
    pub fn with_rule_counts(self, page: HandedCounts) -> HandOver {
        HandOver { rule_counts: Some(page), ..self }
    }

    /// Reads a file with a hand-over.
    ///
    /// # Errors
    /// Where it can't be read, others could have written it, or it says something else.
    pub fn read(path: &Path) -> Result<HandOver, HandOverError> {
        let (file, _) = trusted::open_trusted(path).map_err(HandOverError::File)?;
        let text = trusted::read_start(&file, MOST_BYTES).map_err(HandOverError::File)?;
        std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).ok_or(HandOverError::Text)
    }

    /// Maps the snapshot.
    ///
    /// # Errors
    /// Where the process has ended, or the memory is not what was announced.
    pub fn open_snapshot(&self) -> Result<Memory, HandOverError> {
        let file = self.open(self.snapshot.descriptor, OpenOptions::new().read(true))?;
        Memory::shared(&file, self.snapshot.length).map_err(|error| HandOverError::Memory(self.process, error))
    }

    /// Maps the page of so many counts.
    ///
    /// # Errors
    /// As [`HandOver::open_snapshot`].
    pub fn open_counts(&self, counts: usize) -> Result<CountsPage, HandOverError> {
        self.open_page(self.counts, counts)
    }

    /// Maps the page of so many counts by rule; `None` where there is none.
    ///
    /// # Errors
    /// As [`HandOver::open_snapshot`].
    pub fn open_rule_counts(&self, counts: usize) -> Result<Option<CountsPage>, HandOverError> {
        self.rule_counts.map(|page| self.open_page(page, counts)).transpose()
    }

    fn open_page(&self, page: HandedCounts, counts: usize) -> Result<CountsPage, HandOverError> {
        let file = self.open(page.descriptor, OpenOptions::new().read(true).write(true))?;
        CountsPage::of(file, counts).map_err(|error| HandOverError::Memory(self.process, error))
    }

    fn open(&self, descriptor: i32, how: &mut OpenOptions) -> Result<File, HandOverError> {
        let gone = |_| HandOverError::Process(self.process);
        let fails = |error| HandOverError::Memory(self.process, error);
        // An open directory of a process stays that process's: what is opened through it fails once
        // it has ended.
        let directory = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_CLOEXEC)
            .open(format!("/proc/{}", self.process))
            .map_err(gone)?;
        let directory = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let stat = std::fs::read_to_string(format!("{directory}/stat")).map_err(gone)?;
        if began(&stat) != Some(self.began) {
            return Err(HandOverError::Process(self.process));
        }
        let path = format!("{directory}/fd/{descriptor}");
        // What a descriptor stands for may be anything. It is looked at before it is opened, as a
        // file is.
        trusted::check(&std::fs::metadata(&path).map_err(fails)?).map_err(fails)?;
        how.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC).open(path).map_err(fails)
    }
}

/// When a process began, from its `stat` (proc(5), field 22): the second field, its name, may hold
/// anything but ends with the last bracket.
fn began(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

impl Display for HandOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandOver { process, began, snapshot, counts, rule_counts } = self;
        let HandedSnapshot { descriptor, generation, length, checksum } = snapshot;
        write!(
            formatter,
            "{FORM} process={process} began={began} snapshot={descriptor} generation={generation} length={length} checksum={checksum} \
             counts={}",
            counts.descriptor
        )?;
        // Behind the others, where releases that don't know it look at nothing.
        if let Some(page) = rule_counts {
            write!(formatter, " rules={}", page.descriptor)?;
        }
        formatter.write_str("\n")
    }
}

impl FromStr for HandOver {
    type Err = HandOverError;

    fn from_str(text: &str) -> Result<HandOver, HandOverError> {
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some(FORM) {
            return Err(HandOverError::Text);
        }
        let mut number = |name: &str| {
            let value = words.next()?.strip_prefix(name)?.strip_prefix('=')?;
            value.parse::<u64>().ok()
        };
        let mut parsed = || {
            Some(HandOver {
                process: number("process")?.try_into().ok()?,
                began: number("began")?,
                snapshot: HandedSnapshot {
                    descriptor: number("snapshot")?.try_into().ok()?,
                    generation: number("generation")?,
                    length: number("length")?,
                    checksum: number("checksum")?,
                },
                counts: HandedCounts { descriptor: number("counts")?.try_into().ok()? },
                rule_counts: number("rules").and_then(|number| number.try_into().ok()).map(|descriptor| HandedCounts { descriptor }),
            })
        };
        parsed().ok_or(HandOverError::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_over_says_where_the_counts_by_rule_are_if_there_are_some() {
        let snapshot = HandedSnapshot { descriptor: 3, generation: 4, length: 5, checksum: 6 };
        let without = HandOver::by_this_process(snapshot, HandedCounts { descriptor: 7 }).unwrap();
        let with = without.with_rule_counts(HandedCounts { descriptor: 8 });
        for hand_over in [without, with] {
            assert_eq!(hand_over.to_string().parse::<HandOver>().unwrap(), hand_over);
        }
        assert!(with.to_string().starts_with(without.to_string().trim_end()), "a release that knows none reads the rest");
    }
}
