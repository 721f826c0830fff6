//! The live views: in a pipe, in a terminal, and their end.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use common::{Site, Wanted, now, plan, said};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn planned() -> Site {
    let at = now();
    Site::with(&Wanted { published_at: at, plan: Some(plan(at)), ..Wanted::default() })
}

/// A live view whose output is read line by line.
fn live(site: &Site, arguments: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
    let directory = site.path().to_str().unwrap();
    let mut command = site.command(&[arguments, &["--iterate=1", "--state-directory", directory]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    (child, lines)
}

fn interrupt(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn in_a_pipe_one_report_follows_the_other_until_it_is_interrupted() {
    let site = planned();
    let (mut child, mut lines) = live(&site, &["queue", "--user=61234"]);
    for _ in 0..2 {
        // The date, as squeue has it, what stands above the table, header and rows, a blank line.
        let date = lines.next().unwrap();
        assert_eq!(date.split_whitespace().count(), 5, "{date}");
        let report: Vec<String> = lines.by_ref().take(6).collect();
        assert!(report[0].starts_with("2 of the jobs asked for; 4 jobs wait") && report[2].contains("JOBID"), "{report:?}");
        assert_eq!((report[3].split_whitespace().next(), report[5].as_str()), (Some("11"), ""), "{report:?}");
    }
    interrupt(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn other_signals_end_it_as_they_end_any_program() {
    use std::os::unix::process::ExitStatusExt;
    let site = planned();
    let (mut child, mut lines) = live(&site, &["queue"]);
    assert!(lines.next().is_some());
    interrupt(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn json_is_one_object_in_each_line() {
    let site = planned();
    let (mut child, lines) = live(&site, &["queue", "--json"]);
    for line in lines.take(2) {
        let report: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(report["pending_jobs"], 4);
    }
    // Nobody reads any more, which ends it without a word.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_snapshot_that_comes_later_is_shown_then() {
    let site = Site::empty();
    let (mut child, mut lines) = live(&site, &["queue", "-n", "-O", "jobid"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(errors.next().unwrap().unwrap().contains("no snapshot"));
    let at = now();
    site.publish(&Wanted { published_at: at, plan: Some(plan(at)), ..Wanted::default() }.bytes());
    assert_eq!(lines.by_ref().take(4).map(|line| line.trim().to_owned()).collect::<Vec<_>>(), ["11", "14", "12", "13"]);
    interrupt(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn on_a_terminal_it_has_a_screen_of_its_own_and_gives_it_back() {
    // In a root directory without /dev/pts nobody can make a terminal.
    let terminal = said(Command::new("script").args(["-qec", "true", "/dev/null"]).stdin(Stdio::null()));
    if terminal.status != 0 {
        println!("skipped: script can't make a terminal here: {}", terminal.error.trim());
        return;
    }
    let site = planned();
    let program = env!("CARGO_BIN_EXE_queuecast");
    // script makes a terminal and writes what is written to it; timeout presses Ctrl-C in it where
    // the test does not.
    let directory = site.path().display();
    let view = format!(
        "timeout --foreground -s INT 120 sh -c 'echo $$ >{directory}/process; \
         exec {program} queue --iterate 1 --state-directory {directory}'; echo ended with $?"
    );
    let mut command = Command::new("script");
    command.args(["-qec", &view, "/dev/null"]).env("QUEUECAST_CONF", site.configuration()).env("TERM", "xterm").env("TZ", "UTC");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let (mut screen, mut read, mut is_interrupted) = (Vec::new(), [0; 4_096], false);
    loop {
        let length = output.read(&mut read).unwrap();
        if length == 0 {
            break;
        }
        screen.extend_from_slice(&read[..length]);
        // The first frame has been drawn, and the second has begun.
        if !is_interrupted && String::from_utf8_lossy(&screen).matches("\x1b[H").count() >= 2 {
            let process = std::fs::read_to_string(site.path().join("process")).unwrap();
            kill(Pid::from_raw(process.trim().parse().unwrap()), Signal::SIGINT).unwrap();
            is_interrupted = true;
        }
    }
    child.wait().unwrap();
    let screen = String::from_utf8(screen).unwrap();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("no {text:?} in {screen:?}"));
    assert!(at("\x1b[?1049h") < at("Ctrl-C ends") && at("Ctrl-C ends") < at("JOBID"), "{screen:?}");
    assert!(at("JOBID") < at("\x1b[?1049l") && at("\x1b[?25h") < at("ended with"), "{screen:?}");
    assert!(screen.matches("\x1b[H").count() >= 2, "{screen:?}");
}

#[test]
fn what_is_no_interval_is_wrong_usage() {
    let site = planned();
    for interval in ["0", "-1", "soon", "1:30"] {
        let said = site.run(&["queue", &format!("--iterate={interval}")]);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{interval}: {}", said.error);
    }
}
