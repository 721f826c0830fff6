//! What can be wrong with sacct's output.

/// Why sacct's output, or one line of it, could not be read. Lines are numbered from 1.
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
    /// There is no line with the names of columns.
    #[error("line {line}: no header of sacct with the names of columns; print it with --parsable2, and without --noheader")]
    NoHeader {
        /// The first line that is not empty.
        line: u64,
    },
    /// The columns stand under each other, which cuts what is in them.
    #[error("line {line}: sacct's columns are not delimited; print them with --parsable2")]
    NotParsable {
        /// The header's line.
        line: u64,
    },
    /// Columns that are needed are not there.
    #[error("line {line}: sacct's output lacks {missing}; name the columns in sacct's --format")]
    MissingColumns {
        /// The header's line.
        line: u64,
        /// What is missing, each with the columns that would say it.
        missing: String,
    },
    /// A line has another number of columns than the header.
    #[error("line {line}: {found} columns where the header names {expected}")]
    ColumnCount {
        /// The line.
        line: u64,
        /// How many columns it has.
        found: usize,
        /// How many the header names.
        expected: usize,
    },
    /// A line is so long that it can be no record.
    #[error("line {line}: longer than a mebibyte")]
    LineLength {
        /// The line.
        line: u64,
    },
    /// A column holds something else than what belongs there.
    #[error("line {line}: {column}: {text:?} is not {expected}")]
    Value {
        /// The line.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What stands there, cut to 40 characters.
        text: String,
        /// What was expected in its place.
        expected: &'static str,
    },
}

impl ReadError {
    /// Whether only one line could not be read, so that the next ones still can.
    #[must_use]
    pub fn is_of_one_line(&self) -> bool {
        matches!(self, Self::ColumnCount { .. } | Self::LineLength { .. } | Self::Value { .. })
    }
}
