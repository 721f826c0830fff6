//! Lines of a text whose length nobody vouches for.

use std::io::{self, BufRead, ErrorKind};

/// The longest line that is read, in bytes. A job of a log has a few hundred.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// The text of a line, or why there is none.
#[derive(Debug)]
pub(crate) enum Line {
    /// A line is in hand, without its end.
    Read,
    /// The line is longer than [`LONGEST_LINE`]; it was passed over.
    TooLong,
    /// The input has no more lines.
    End,
}

/// Reads line after line. A line ends with a line feed, a carriage return, or the second after the
/// first, and no more than [`LONGEST_LINE`] bytes of it are kept.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    /// The last line ended with a carriage return: a line feed here belongs to it.
    after_return: bool,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader that stands before the first line.
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0, after_return: false, ended: false }
    }

    /// The line in hand, without the white space around it.
    pub(crate) fn line(&self) -> &[u8] {
        let line = self.line.as_slice();
        // What some editors put at the beginning of a text to say that it is in UTF-8.
        let mark = if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf") } else { None };
        mark.unwrap_or(line).trim_ascii()
    }

    /// The number of the line in hand, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Takes the next line in hand.
    ///
    /// # Errors
    ///
    /// What the input says; there are no more lines then.
    pub(crate) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        if self.ended {
            return Ok(Line::End);
        }
        self.number += 1;
        let (mut is_too_long, mut has_begun) = (false, false);
        loop {
            let read = match self.input.fill_buf() {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            };
            if read.is_empty() {
                self.ended = true;
                break;
            }
            if std::mem::take(&mut self.after_return) && read.first() == Some(&b'\n') {
                self.input.consume(1);
                continue;
            }
            has_begun = true;
            let end = memchr::memchr2(b'\n', b'\r', read);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            if self.line.len() + part.len() > LONGEST_LINE {
                is_too_long = true;
                self.line.clear();
            } else if !is_too_long {
                self.line.extend_from_slice(part);
            }
            self.after_return = end.is_some_and(|end| read.get(end) == Some(&b'\r'));
            let taken = part.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        Ok(match (is_too_long, has_begun) {
            (true, _) => Line::TooLong,
            (false, true) => Line::Read,
            (false, false) => Line::End,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &[u8], buffer: usize) -> Vec<String> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text));
        let mut found = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::Read => found.push(format!("{}:{}", lines.number(), String::from_utf8_lossy(lines.line()))),
                Line::TooLong => found.push(format!("{}:too long", lines.number())),
                Line::End => return found,
            }
        }
    }

    #[test]
    fn a_line_ends_with_a_line_feed_a_return_or_both() {
        for buffer in [1, 2, 3, 100] {
            assert_eq!(lines(b"one\ntwo\r\nthree\rfour\n\rsix", buffer), ["1:one", "2:two", "3:three", "4:four", "5:", "6:six"]);
            assert_eq!(lines(b"one\r\n", buffer), ["1:one"]);
            assert_eq!(lines(b"\xef\xbb\xbfone", buffer), ["1:one"]);
            assert!(lines(b"", buffer).is_empty());
        }
    }

    #[test]
    fn a_line_without_end_is_passed_over_and_not_kept() {
        let text = [vec![b'x'; 3 * LONGEST_LINE], b"\nshort\n".to_vec()].concat();
        assert_eq!(lines(&text, 1 << 16), ["1:too long", "2:short"]);
        assert_eq!(lines(&vec![b'x'; LONGEST_LINE], 1 << 16)[0].len(), LONGEST_LINE + 2);
    }
}
