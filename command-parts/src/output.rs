//! How reports are written: lines for people, one JSON object for programs.

mod spelt_out;

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write as _};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::HumanCount;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use job_types::time::{Seconds, UnixTime};
use serde::Serialize;
use slurm_conf::time_format::{self, TimeFormat};

use crate::failure::Failure;

/// The style of headings.
pub const HEADING: Style = Style::new().bold();
/// The style of what is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of what is not as it should be.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Width of the column that names what a line is about.
const LABEL_WIDTH: usize = 15;

/// The present time.
pub fn now() -> UnixTime {
    UnixTime(Timestamp::now().as_second())
}

/// How a report is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// Says how a report is written.
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArguments {
    /// How to write the report.
    #[arg(long, value_enum, default_value_t, help_heading = None)]
    format: Format,

    /// The same as --format json, as Slurm's commands have it.
    #[arg(long, conflicts_with = "format", help_heading = None)]
    json: bool,
}

impl FormatArguments {
    /// Whether the report is for people.
    pub fn is_text(self) -> bool {
        !self.json && self.format == Format::Text
    }
}

/// Writes a report to standard output. Colours are left out where that is not a terminal.
///
/// # Errors
///
/// Standard output can't be written.
pub fn print<T: Serialize>(format: FormatArguments, report: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    written(if format.is_text() { anstream::stdout().lock().write_all(text(report).as_bytes()) } else { json(report) })
}

fn json<T: Serialize>(report: &T) -> io::Result<()> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, report)?;
    writeln!(output)
}

/// A report as it goes to standard output.
#[derive(Debug)]
pub struct Written {
    text: String,
    is_bare: bool,
}

/// Puts a report about jobs into lines for people or into JSON, there with times and durations
/// spelt out.
///
/// # Errors
///
/// The report can't be put into JSON.
pub fn tell<T: Serialize>(format: FormatArguments, report: &T, text: impl FnOnce(&T) -> String) -> Result<Written, Failure> {
    if format.is_text() {
        return Ok(Written { text: text(report), is_bare: false });
    }
    let mut value = serde_json::to_value(report).context("cannot write JSON").map_err(Failure::Input)?;
    spelt_out::spell_out(&mut value);
    Ok(Written { text: format!("{value}\n"), is_bare: true })
}

impl Written {
    /// Returns the text with nothing above it if `is_bare`.
    pub fn bare(self, is_bare: bool) -> Self {
        Self { is_bare: self.is_bare || is_bare, ..self }
    }

    /// Whether nothing is to stand above it.
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes it to standard output. Colours are left out where that is not a terminal.
    ///
    /// # Errors
    ///
    /// Standard output can't be written.
    pub fn print(&self) -> Result<(), Failure> {
        written(anstream::stdout().lock().write_all(self.text.as_bytes()))
    }
}

/// What comes of writing to standard output.
fn written(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        // The reader has closed the pipe, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output").map_err(Failure::Input),
    }
}

/// Says something to standard error that does not keep the command from its work.
pub fn warn(message: &str) {
    let _ = writeln!(anstream::stderr(), "queuecast: {message}");
}

/// A moment as Slurm's commands would write it here: in this machine's time zone, in the form that
/// SLURM_TIME_FORMAT asks for.
pub fn moment(at: UnixTime) -> String {
    static FORMAT: OnceLock<TimeFormat> = OnceLock::new();
    let format = FORMAT.get_or_init(|| {
        let value = std::env::var_os(time_format::VARIABLE).unwrap_or_default();
        TimeFormat::read(&value.to_string_lossy()).unwrap_or_else(|error| {
            warn(&error.to_string());
            TimeFormat::default()
        })
    });
    format.show(at.0, now().0, &TimeZone::system())
}

/// A moment in the form that Slurm's options take, whatever is asked for elsewhere.
pub fn moment_for_options(at: UnixTime) -> String {
    TimeFormat::Standard.show(at.0, at.0, &TimeZone::system())
}

/// A duration in the column of a table, as squeue writes it: `1:47:00`. In a sentence its own
/// form, `1 h 47 min`, is easier to read.
pub fn duration(length: Seconds) -> String {
    slurm_conf::duration::format(length.0)
}

/// A moment, and how far it is from now.
pub fn moment_and_distance(at: UnixTime, now: UnixTime) -> String {
    let distance = at - now;
    if distance <= Seconds::ZERO { format!("{}, {} ago", moment(at), now - at) } else { format!("{}, in {distance}", moment(at)) }
}

/// Says how far something is ahead of something else, or behind it.
pub fn apart(ahead: Seconds) -> String {
    if ahead < Seconds::ZERO { format!("{} behind", Seconds(ahead.0.saturating_neg())) } else { format!("{ahead} ahead of") }
}

/// A number with a thin line between the thousands, as people read it.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Node-hours with as many digits as tell something.
pub fn node_hours(hours: f64) -> String {
    match hours {
        hours if hours < 10.0 => format!("{hours:.2}"),
        hours if hours < 100.0 => format!("{hours:.1}"),
        hours => count(hours.round() as u64),
    }
}

/// A bar whose length is a probability's part of `width`.
pub fn bar(probability: f64, width: usize) -> String {
    "█".repeat((probability.clamp(0.0, 1.0) * width as f64).round() as usize)
}

/// Probabilities as a row of columns, one character each.
pub fn sparkline(probabilities: impl IntoIterator<Item = f64>) -> String {
    const COLUMNS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |probability: f64| {
        let height = (probability.clamp(0.0, 1.0) * (COLUMNS.len() - 1) as f64).round() as usize;
        COLUMNS.get(height).copied().unwrap_or(' ')
    };
    probabilities.into_iter().map(column).collect()
}

/// Lines of text, each a label and what is to be said of it.
#[derive(Debug, Default)]
pub struct Lines(String);

impl Lines {
    /// A line under a label; an empty label goes on with the one before.
    pub fn line(&mut self, label: &str, value: impl AsRef<str>) {
        let _ = writeln!(self.0, "{label:<LABEL_WIDTH$}{}", value.as_ref());
    }

    /// A heading, behind an empty line unless it is the first.
    pub fn heading(&mut self, heading: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.0, "{gap}{HEADING}{heading}{HEADING:#}");
    }

    /// A line without a label.
    pub fn plain(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.0, "{}", line.as_ref());
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) {
        for line in table.lines() {
            let _ = writeln!(self.0, "{}", line.trim_end());
        }
    }

    /// Adds the rows of a table.
    pub fn table_without_header(&mut self, table: &Table) {
        for line in table.lines().skip(1) {
            let _ = writeln!(self.0, "{}", line.trim_end());
        }
    }

    /// The lines as one text.
    pub fn text(self) -> String {
        self.0
    }
}

/// A table without lines; columns named in `right` are numbers, and stand to the right.
pub fn table(header: &[&str], right: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for (column, name) in table.column_iter_mut().zip(header) {
        column.set_padding((0, 2));
        if right.contains(name) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn node_hours_have_three_digits_or_are_whole() {
        assert_eq!([0.0, 1.234, 12.34, 1_234.5].map(node_hours), ["0.00", "1.23", "12.3", "1,235"]);
    }

    #[test]
    fn a_picture_shows_none_half_and_all() {
        assert_eq!(sparkline([0.0, 0.5, 1.0, 2.0]), " ▄██");
        assert_eq!([bar(0.0, 4), bar(0.5, 4), bar(1.0, 4)], ["", "██", "████"]);
    }
}
