//! What a file is by its first line, where it is no log.

use anyhow::anyhow;
use job_types::text;
use simulator::sacct;

use super::super::options::BadLines;

/// What a log is, for messages.
const EXPECTED: &str = "a log is what `sacct --allusers --parsable2 --format=...` prints, with the names of its columns on the first line, or is in \
     the Standard Workload Format: lines of 18 numbers, and comments that begin with `;`";

/// The first line of a text that is not empty.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default()
}

/// Why a file with this first line is not read, and what to do; `None` where it may be a log.
pub(super) fn advice(line: &[u8], bad_lines: BadLines) -> Option<anyhow::Error> {
    if sacct::is_header(line) {
        return None;
    }
    let shown = text::shortened(&String::from_utf8_lossy(line));
    let begins = |with: &str| line.starts_with(with.as_bytes());
    if is_message(line) {
        return Some(anyhow!(
            "the first line is a message and not the header: {shown:?}; print sacct's output without its messages (2>/dev/null)"
        ));
    }
    if begins("{") || begins("[") || begins("---") {
        return Some(anyhow!("the first line, {shown:?}, looks like `sacct --json` or `--yaml`, which is not read; {EXPECTED}"));
    }
    if !begins(";") && line.contains(&b'|') {
        return Some(anyhow!("this looks like what sacct printed, without the names of its columns; print it without --noheader"));
    }
    let first = line.first().copied()?;
    let is_of_swf = matches!(first, b';' | b'-' | b'+' | b'.' | b'0'..=b'9');
    match bad_lines {
        BadLines::End if first == b'#' => {
            Some(anyhow!("the first line begins with `#`: {shown:?}; comments of the Standard Workload Format begin with `;`"))
        }
        BadLines::End if !is_of_swf => Some(anyhow!("the first line is no part of a log: {shown:?}; {EXPECTED}")),
        BadLines::End | BadLines::LeaveOut => None,
    }
}

/// Whether a line is what a program of Slurm's says on standard error, such as `sacct: error: ...`.
fn is_message(line: &[u8]) -> bool {
    let program = line.split(|byte| *byte == b':').next().unwrap_or_default();
    program.len() < line.len() && [b"sacct".as_slice(), b"slurm", b"slurmdbd", b"error", b"srun"].contains(&program)
}
