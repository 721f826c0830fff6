//! The bids of a run in a file, from which they can be replayed (the Database user of the thesis,
//! 6.2.4.2.1): the heading `job,bid`, then one line a job, with its number in the log and its bid
//! in credits per node and minute. Lines may be in any order.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use crate::engine::preemptive::Bid;
use crate::lines::{Line, Lines};

const HEADING: &str = "job,bid";

/// Why a bids file can't be used. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub enum BidsError {
    /// The bytes could not be had.
    #[error("line {line}: cannot read on")]
    Input {
        /// The line that was being read.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The first line is another.
    #[error("line 1: a bids file begins with the line `job,bid`")]
    Heading,
    /// A line is no job and its bid.
    #[error("line {line}: {text:?} is not a job's number in the log and its bid, such as `17,2.5`")]
    Form {
        /// The line.
        line: u64,
        /// What stands there, cut to 40 characters.
        text: String,
    },
    /// A bid that nobody can bid.
    #[error("line {line}: {text:?} is not a bid: a number from 0 to 1000000000000 credits per node and minute")]
    Bid {
        /// The line.
        line: u64,
        /// What stands there, cut to 40 characters.
        text: String,
    },
    /// A job has a second bid.
    #[error("line {line}: job {job} has a bid on line {first} already; a file has one line for each job of the log")]
    Twice {
        /// The line.
        line: u64,
        /// The job's number in the log.
        job: u64,
        /// The line of its first bid.
        first: u64,
    },
    /// A job is none of the log's.
    #[error("line {line}: the log has no job {job}; a file has one line for each job of the log")]
    Unknown {
        /// The line.
        line: u64,
        /// The number that stands there.
        job: u64,
    },
    /// A job of the log has no line.
    #[error("line {line}: the file ends without a bid for job {job}; it has one line for each job of the log")]
    Lacking {
        /// The line behind the last.
        line: u64,
        /// The number in the log of the first job that lacks one.
        job: u64,
    },
}

/// Writes a bids file, for jobs with these numbers in the log.
///
/// # Errors
///
/// What the output says.
pub fn write(mut output: impl Write, bids: impl IntoIterator<Item = (u64, f64)>) -> io::Result<()> {
    writeln!(output, "{HEADING}")?;
    for (job, bid) in bids {
        writeln!(output, "{job},{bid}")?;
    }
    output.flush()
}

/// Reads the bids of the jobs with these numbers in the log, in their order.
///
/// # Errors
///
/// [`BidsError`] at the first line that is wrong, or where a job lacks a bid.
pub fn read(input: impl BufRead, numbers: &[u64]) -> Result<Vec<f64>, BidsError> {
    let places: HashMap<u64, usize> = numbers.iter().enumerate().map(|(place, number)| (*number, place)).collect();
    let mut lines = Lines::new(input);
    let mut bids = vec![0.0; numbers.len()];
    // The line of each job's bid.
    let mut found_at: Vec<Option<u64>> = vec![None; numbers.len()];
    loop {
        match lines.next().map_err(|source| BidsError::Input { line: lines.number(), source })? {
            Line::End if lines.number() <= 1 => return Err(BidsError::Heading),
            Line::End => break,
            Line::TooLong => return Err(BidsError::Form { line: lines.number(), text: "a line of more than a mebibyte".to_owned() }),
            Line::Read => {}
        }
        let line = lines.number();
        let text = String::from_utf8_lossy(lines.line());
        if line == 1 {
            if text != HEADING {
                return Err(BidsError::Heading);
            }
            continue;
        }
        let (job, bid) = parse(&text, line)?;
        let unknown = BidsError::Unknown { line, job };
        let Some(&place) = places.get(&job) else { return Err(unknown) };
        if let Some(first) = found_at[place].replace(line) {
            return Err(BidsError::Twice { line, job, first });
        }
        bids[place] = bid;
    }
    match found_at.iter().zip(numbers).find(|(line, _)| line.is_none()) {
        Some((_, &job)) => Err(BidsError::Lacking { line: lines.number(), job }),
        None => Ok(bids),
    }
}

fn parse(text: &str, line: u64) -> Result<(u64, f64), BidsError> {
    let cut = |text: &str| text.chars().take(40).collect();
    let form = || BidsError::Form { line, text: cut(text) };
    let (job, bid) = text.split_once(',').ok_or_else(form)?;
    let job = job.trim().parse().map_err(|_| form())?;
    let wrong = || BidsError::Bid { line, text: cut(bid.trim()) };
    let number: f64 = bid.trim().parse().map_err(|_| wrong())?;
    Bid::new(number).map(|bid| (job, bid.credits_per_node_minute())).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        read(text.as_bytes(), &[1, 4]).unwrap_err().to_string()
    }

    #[test]
    fn bids_that_were_written_are_read_again_exactly() {
        let bids = [0.0, 0.1 + 0.2, Bid::HIGHEST.credits_per_node_minute(), 1.0 / 3.0];
        let mut file = Vec::new();
        write(&mut file, [3, 1, 9, 7].into_iter().zip(bids)).unwrap();
        assert_eq!(read(&file[..], &[3, 1, 9, 7]).unwrap(), bids);
        assert_eq!(read(&file[..], &[7, 9, 1, 3]).unwrap(), [bids[3], bids[2], bids[1], bids[0]]);
    }

    #[test]
    fn a_job_without_a_bid_is_named() {
        assert_eq!(told("job,bid\n1,2\n"), "line 3: the file ends without a bid for job 4; it has one line for each job of the log");
    }

    #[test]
    fn a_job_with_two_bids_is_named_with_both_lines() {
        let told = told("job,bid\n4,1\n1,2\n4,1\n");
        assert_eq!(told, "line 4: job 4 has a bid on line 2 already; a file has one line for each job of the log");
    }

    #[test]
    fn a_job_that_the_log_lacks_is_named() {
        assert_eq!(told("job,bid\n2,1\n"), "line 2: the log has no job 2; a file has one line for each job of the log");
    }

    #[test]
    fn a_bid_is_a_number_from_nothing_to_a_million_millions() {
        for bid in ["-1", "-0.001", "1.1e12", "many", "", "NaN", "inf"] {
            let told = told(&format!("job,bid\n1,{bid}\n"));
            assert_eq!(told, format!("line 2: {bid:?} is not a bid: a number from 0 to 1000000000000 credits per node and minute"));
        }
    }

    #[test]
    fn a_line_of_another_form_is_quoted() {
        assert_eq!(told("job,bid\n1;2\n"), "line 2: \"1;2\" is not a job's number in the log and its bid, such as `17,2.5`");
        assert_eq!(told("1,2\n"), "line 1: a bids file begins with the line `job,bid`");
        assert_eq!(told(""), "line 1: a bids file begins with the line `job,bid`");
    }
}
