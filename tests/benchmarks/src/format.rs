//! How a benchmark prints its figures.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people.
    Text,
    /// One object for programs.
    Json,
}
