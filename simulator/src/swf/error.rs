//! What can be wrong with a workload log.

use super::FIELD_NAMES;

/// Why a workload log, or one line of it, could not be read. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes could not be had: no such file, or damaged compression.
    #[error("line {line}: cannot read on")]
    Input {
        /// The line that was being read.
        line: u64,
        /// What the system or the decompressor said.
        source: std::io::Error,
    },
    /// A line is so long that it can be no job.
    #[error("line {line}: longer than a mebibyte, where a job has 18 numbers; is this a Standard Workload Format log?")]
    LineLength {
        /// The line.
        line: u64,
    },
    /// A line that is no comment has too few fields.
    #[error("line {line}: {found} fields where a job has 18 (comments begin with `;`); is this a Standard Workload Format log?")]
    FieldCount {
        /// The line.
        line: u64,
        /// How many fields it has.
        found: usize,
    },
    /// A field holds no number.
    #[error("line {line}: field {field} ({}): {text:?} is not {expected}", FIELD_NAMES[usize::from(*field) - 1])]
    Field {
        /// The line.
        line: u64,
        /// The field, 1 to 18.
        field: u8,
        /// What stands there, cut to 40 characters.
        text: String,
        /// What was expected in its place.
        expected: &'static str,
    },
}

impl ReadError {
    /// The line that could not be read, from 1.
    pub fn line(&self) -> u64 {
        match self {
            Self::Input { line, .. } | Self::LineLength { line } | Self::FieldCount { line, .. } | Self::Field { line, .. } => *line,
        }
    }
}
