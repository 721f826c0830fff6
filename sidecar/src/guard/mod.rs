//! Replays the site's past, to see whether molding and deferral pay where they are enforced.
//!
//! A process of this program reads the past from slurmdbd and replays it ([`replay`]), at the
//! lowest priority and within bounds of memory and of processor time, so that whatever happens to
//! it nothing happens to the daemon. A thread starts it and waits for its answer.

mod past;
mod question;
mod replay;

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::Receiver;

use crate::worker::Worker;

pub(crate) use question::{Answer, AskedPartition, AskedPolicy, Question, Replayed};
pub(crate) use replay::{ARGUMENT, serve};

/// What its thread is called.
pub(crate) const NAME: &str = "guard";

/// The guard's thread, as the main thread knows it.
pub(crate) type GuardThread = Worker<Box<Question>>;

/// This very program, also where another one has been installed in its place meanwhile.
const PROGRAM: &str = "/proc/self/exe";

/// How long a replay may take by the clock. On a busy host a process of the lowest priority waits
/// for its processor time.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How often it is looked whether the process has ended.
const LOOK: Duration = Duration::from_millis(100);

/// The most bytes of an answer that are read.
const MOST_BYTES: u64 = 64 << 20;

/// Answers until the main thread has dropped its end, or `tell` can reach nobody any more and says
/// so with `false`.
pub(crate) fn run(questions: &Receiver<Box<Question>>, tell: impl Fn(Box<Replayed>) -> bool) {
    for question in questions {
        let began = Instant::now();
        let outcome = ask(&question, LONGEST).unwrap_or_else(|error| Err(format!("the process that replays the past: {error}")));
        let replayed = Replayed { asked_at: question.at, took: began.elapsed(), outcome };
        if !tell(Box::new(replayed)) {
            return;
        }
    }
}

/// Has a process answer. The inner error is what that process says or how it ended.
fn ask(question: &Question, longest: Duration) -> io::Result<Result<Answer, String>> {
    let mut command = Command::new(PROGRAM);
    command.arg0("queuecastd").arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped());
    // It has one core, and each further thread or arena would take of the bound of its memory.
    command.env("RAYON_NUM_THREADS", "1").env("MALLOC_ARENA_MAX", "1");
    let mut child = command.spawn()?;
    let outcome = answer_of(&mut child, question, longest);
    if outcome.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    outcome
}

fn answer_of(child: &mut Child, question: &Question, longest: Duration) -> io::Result<Result<Answer, String>> {
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut input, output) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
    input.write_all(&serde_json::to_vec(question)?)?;
    drop(input);
    // An answer longer than a pipe holds is read while the process is waited for.
    let reader = thread::spawn(move || {
        let mut answer = Vec::new();
        output.take(MOST_BYTES).read_to_end(&mut answer).map(|_| answer)
    });
    let until = Instant::now() + longest;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= until {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("has not answered within {} s", longest.as_secs())));
        }
        thread::sleep(LOOK);
    };
    let answer = reader.join().map_err(|_| io::Error::other("its answer can't be read"))??;
    if !status.success() {
        return Ok(Err(format!("the process that replays the past ended before it had answered ({status}): {}", replay::bounds())));
    }
    Ok(serde_json::from_slice(&answer)?)
}
