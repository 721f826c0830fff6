//! Running another program for no longer than it may take.

use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use wait_timeout::ChildExt;

/// The most that is read of what a program prints.
const MOST_BYTES: u64 = 4 << 20;
/// How long output may still come after the program has ended.
const REST: Duration = Duration::from_millis(500);

/// How long a program that is asked to end may take.
const GRACE: Duration = Duration::from_secs(2);

/// The output and the exit status of a program.
#[derive(Debug)]
pub struct Said {
    /// The exit status of the process; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it has printed, at most 4 MiB.
    pub output: String,
    /// What stands on its standard error, at most 4 MiB.
    pub error: String,
}

impl Said {
    /// The last line of its error, or else of its output, that is not empty.
    pub fn last_words(&self) -> &str {
        last_line(&self.error).or_else(|| last_line(&self.output)).unwrap_or("nothing")
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// Why a program said nothing.
#[derive(Debug)]
pub enum Silence {
    /// It could not be started.
    NotStarted(io::Error),
    /// It took too long, and was ended with all that it had started.
    TooLong(Duration),
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::NotStarted(error) => error.fmt(f),
            Silence::TooLong(limit) => write!(f, "no answer within {} s", limit.as_secs()),
        }
    }
}

/// Runs a program without input, and ends it with all that it has started when that takes longer
/// than `limit`.
pub fn run(command: &mut Command, limit: Duration) -> Result<Said, Silence> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(Silence::NotStarted)?;
    let output = child.stdout.take().map(read);
    let error = child.stderr.take().map(read);
    let Ok(Some(status)) = child.wait_timeout(limit) else {
        kill(&mut child);
        return Err(Silence::TooLong(limit));
    };
    let text = |from: Option<Receiver<String>>| from.and_then(|from| from.recv_timeout(REST).ok()).unwrap_or_default();
    Ok(Said { status: status.code(), output: text(output), error: text(error) })
}

/// Ends a program and all that it has started. It is asked first, so that an srun takes its job
/// back.
fn kill(child: &mut Child) {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // The child leads a process group of its own, whose number is the child's, and it has not
        // been waited for.
        if let Ok(number) = i32::try_from(child.id()) {
            let _ = killpg(Pid::from_raw(number), signal);
        }
        if !matches!(child.wait_timeout(GRACE), Ok(None)) {
            return;
        }
    }
    let _ = child.wait();
}

/// Reads on a thread, so that neither pipe fills up while the other one is read.
fn read(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.take(MOST_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_and_the_status_are_kept() {
        let said = run(&mut shell("echo out; echo error >&2; exit 3"), Duration::from_secs(10)).unwrap();
        assert_eq!((said.status, said.output.as_str(), said.error.as_str()), (Some(3), "out\n", "error\n"));
        assert_eq!(said.last_words(), "error");
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let begin = Instant::now();
        let silence = run(&mut shell("sleep 60 & sleep 60"), Duration::from_millis(100)).unwrap_err();
        assert!(matches!(silence, Silence::TooLong(_)) && silence.to_string() == "no answer within 0 s");
        assert!(begin.elapsed() < Duration::from_secs(10));
        assert!(matches!(run(&mut Command::new("/nonexistent"), Duration::from_secs(1)), Err(Silence::NotStarted(_))));
    }
}
