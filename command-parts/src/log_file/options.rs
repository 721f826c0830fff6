//! The options of all commands that read a log.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};

/// How a log is read.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct LogFileOptions {
    /// Processors of the machine that the log is from [default: MaxProcs of the log's header; of
    /// what sacct printed, the most that were in use at once].
    #[arg(long, value_name = "N")]
    pub processors: Option<NonZeroU32>,

    /// What becomes of lines that can't be read. A value without meaning in a line that can be read
    /// is taken as not known in any case; how many lines and values there were is said at the end.
    #[arg(long, value_enum, default_value_t)]
    pub bad_lines: BadLines,
}

/// What becomes of lines that can't be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BadLines {
    /// They end the reading, and the command.
    #[default]
    End,
    /// They are left out and counted.
    LeaveOut,
}
