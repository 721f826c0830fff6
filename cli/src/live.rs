//! A report that is told anew every so many seconds, as by `squeue --iterate`.
//!
//! On a terminal it stands still on a screen of its own, which goes away at the end. Elsewhere one
//! report follows the other, each below the date, as squeue writes them.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments, Written};
use jiff::Zoned;
use jiff::fmt::strtime;
use nix::sys::signal::{SigSet, Signal, raise};
use slurm_conf::duration;
use terminal_size::{Height, terminal_size};

use crate::exit_status;

/// A screen of its own, without a cursor and without wrapped lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// What was there before.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// To the first place of the screen.
const HOME: &str = "\x1b[H";
/// Clears the rest of the line.
const REST_OF_LINE: &str = "\x1b[K";
/// Clears the screen below.
const REST_OF_SCREEN: &str = "\x1b[J";
/// Lines of a terminal that does not say how many it has.
const USUAL_LINES: u16 = 24;

/// Says whether a report is told once or again and again.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct IterateArguments {
    /// Tell it anew every so many seconds (or 5m, 1h), until Ctrl-C.
    #[arg(short, long, value_name = "SECONDS", value_parser = interval)]
    iterate: Option<Duration>,
}

/// Reads the time between two reports: as squeue does in seconds, or with a unit.
fn interval(text: &str) -> Result<Duration, String> {
    let seconds = match text.parse::<u32>() {
        Ok(seconds) => i64::from(seconds),
        Err(_) if text.ends_with(|last: char| last.is_ascii_alphabetic()) => duration::parse(text).map_err(|error| error.to_string())?,
        Err(_) => 0,
    };
    match u64::try_from(seconds) {
        Ok(seconds) if (1..=u64::from(u32::MAX)).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err("use a number of seconds of at least 1, or one with a unit, as 5m".to_owned()),
    }
}

/// Writes what `report` tells, once or again and again, and gives its exit status. A snapshot that
/// is not there and a Slurm that does not answer do not end a live view: they may come back.
pub(crate) fn show(
    iterate: IterateArguments,
    format: FormatArguments,
    report: impl Fn() -> Result<(Written, ExitCode), Failure>,
) -> Result<ExitCode, Failure> {
    let Some(interval) = iterate.iterate else {
        let (written, status) = report()?;
        written.print()?;
        return Ok(status);
    };
    let is_screen = format.is_text() && io::stdout().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
    let view = View { is_screen, is_text: format.is_text(), interval };
    // What is wrong with the question is told before there is a screen.
    let mut next = told(report())?;
    view.begin().context("cannot wait for signals").map_err(Failure::Input)?;
    loop {
        match view.frame(next.as_ref()) {
            // The reader has closed the pipe, as `head` does.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            Err(error) => {
                view.end();
                return Err(Failure::Input(anyhow::Error::new(error).context("cannot write to standard output")));
            }
            Ok(()) => {}
        }
        thread::sleep(interval);
        next = told(report()).inspect_err(|_| view.end())?;
    }
}

/// A report, or why there is none for now.
fn told(report: Result<(Written, ExitCode), Failure>) -> Result<Result<Written, Failure>, Failure> {
    match report {
        Ok((written, _)) => Ok(Ok(written)),
        Err(failure) if exit_status::may_pass(&failure) => Ok(Err(failure)),
        Err(failure) => Err(failure),
    }
}

#[derive(Debug, Clone, Copy)]
struct View {
    is_screen: bool,
    is_text: bool,
    interval: Duration,
}

impl View {
    /// Takes the screen, and sees to it that it is given back whatever ends the view.
    fn begin(self) -> nix::Result<()> {
        let mut ends = SigSet::empty();
        [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT].into_iter().for_each(|signal| ends.add(signal));
        if self.is_screen {
            ends.add(Signal::SIGTSTP);
        }
        // A thread of its own waits for them, so that nothing that Slurm is asked meanwhile puts
        // the end off.
        ends.thread_block()?;
        self.enter();
        thread::spawn(move || self.wait(ends));
        Ok(())
    }

    fn wait(self, ends: SigSet) {
        while let Ok(signal) = ends.wait() {
            self.end();
            match signal {
                // Ctrl-C is how a view is meant to end.
                Signal::SIGINT => process::exit(0),
                Signal::SIGTSTP => {
                    let _ = raise(Signal::SIGSTOP);
                    self.enter();
                }
                // The others end it as if nobody had waited for them.
                other => {
                    let _ = ends.thread_unblock();
                    let _ = raise(other);
                }
            }
        }
    }

    fn enter(self) {
        self.say(ENTER);
    }

    fn end(self) {
        self.say(LEAVE);
    }

    fn say(self, sequence: &str) {
        if self.is_screen {
            let mut output = io::stdout().lock();
            let _ = output.write_all(sequence.as_bytes()).and_then(|()| output.flush());
        }
    }

    /// Writes one report.
    fn frame(self, report: Result<&Written, &Failure>) -> io::Result<()> {
        let text = match report {
            Ok(written) => written.text(),
            Err(failure) if self.is_screen => &format!("{}\n", failure.message()),
            Err(failure) => {
                output::warn(&failure.message());
                return Ok(());
            }
        };
        let mut output = anstream::stdout().lock();
        if self.is_screen {
            let lines = terminal_size().map_or(USUAL_LINES, |(_, Height(lines))| lines);
            output.write_all(screen(text, &self.date(), usize::from(lines)).as_bytes())?;
        } else if self.is_text && report.is_ok_and(|written| !written.is_bare()) {
            output.write_all(format!("{}\n{text}\n", self.date()).as_bytes())?;
        } else {
            output.write_all(text.as_bytes())?;
        }
        output.flush()
    }

    /// The date as squeue writes it above each report.
    fn date(self) -> String {
        let date = strtime::format("%a %b %d %H:%M:%S %Y", &Zoned::now()).unwrap_or_default();
        if self.is_screen { format!("{date}, every {} s, Ctrl-C ends", self.interval.as_secs()) } else { date }
    }
}

/// What fills a screen of so many lines, over what was there before.
fn screen(text: &str, date: &str, lines: usize) -> String {
    let room = lines.saturating_sub(1).max(1);
    let all: Vec<&str> = text.lines().collect();
    let mut shown = vec![date.to_owned()];
    if all.len() < room {
        shown.extend(all.iter().map(|line| (*line).to_owned()));
    } else {
        let fits = room.saturating_sub(2);
        shown.extend(all.iter().take(fits).map(|line| (*line).to_owned()));
        shown.push(format!("... and {} lines more", all.len() - fits));
    }
    let body: Vec<String> = shown.iter().map(|line| format!("{line}{REST_OF_LINE}")).collect();
    format!("{HOME}{}\n{REST_OF_SCREEN}", body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_in_seconds_unless_it_has_a_unit() {
        let read = |text: &str| interval(text).map(|interval| interval.as_secs());
        assert_eq!((read("1"), read("90"), read("5m"), read("1h")), (Ok(1), Ok(90), Ok(300), Ok(3_600)));
        for wrong in ["0", "-1", "", "1:30", "0s", "soon", "1.5", "99999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_screen_holds_what_fits_and_says_what_does_not() {
        let lines = |text: &str, lines| {
            let said = anstream::adapter::strip_str(&screen(text, "date", lines)).to_string();
            said.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines("a\nb\n", 24), ["date", "a", "b"]);
        assert_eq!(lines("1\n2\n3\n4\n5\n6\n7\n", 6), ["date", "1", "2", "3", "... and 4 lines more"]);
        assert_eq!(lines("1\n2\n3\n4\n", 6), ["date", "1", "2", "3", "4"]);
        // However small it is.
        for few in 0..3 {
            assert_eq!(lines("1\n2\n", few)[0], "date");
        }
    }
}
