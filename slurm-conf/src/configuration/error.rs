//! What is wrong with a configuration file, and where.

use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use thiserror::Error;

/// What is wrong with a configuration file. The text is one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigurationError {
    /// There is no such file.
    #[error("{}: no such file", path.display())]
    Missing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A line is wrong: its syntax, a key that is not known, or a value that is not allowed.
    #[error("{}:{line}: {reason} (in {text:?})", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the line says, shortened.
        text: String,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// Values that are allowed by themselves contradict each other.
    #[error("{}: {reason}", path.display())]
    Contradiction {
        /// Path of the file.
        path: PathBuf,
        /// The value that is refused, and why.
        reason: String,
    },
}

impl ConfigurationError {
    pub(super) fn read(path: &Path, source: &io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Unreadable { path, reason: source.to_string() },
        }
    }

    pub(super) fn encoding(path: &Path, bytes: &[u8], error: &Utf8Error) -> Self {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let (line, text) = line_at(&String::from_utf8_lossy(valid), valid.len());
        Self::Line { path: path.to_owned(), line, text, reason: "the file is not UTF-8 behind this".to_owned() }
    }

    pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let (line, line_text) = line_at(text, error.span().map_or(0, |span| span.start));
        Self::Line { path: path.to_owned(), line, text: line_text, reason: error.message().trim().replace('\n', "; ") }
    }

    pub(super) fn value(path: &Path, reason: String) -> Self {
        Self::Contradiction { path: path.to_owned(), reason }
    }
}

/// Number and text of the line that holds this byte.
fn line_at(text: &str, at: usize) -> (usize, String) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    (number, job_types::text::shortened(line.trim()))
}
