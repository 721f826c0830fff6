//! Reads jobs from slurmctld in a process of its own, whose memory goes with it.
//!
//! libslurm takes slurmctld's whole answer into memory, texts of any length included, and some
//! releases lose a part of it: 22.05 never frees `admin_comment`, `prefer`, `cluster_features`,
//! `cronspec` and `system_comment` of a job, and one of the two copies of `container` that it makes
//! (src/common/slurm_protocol_defs.c and slurm_protocol_pack.c), so that nobody else can free it
//! either. A child of this program asks in its place, hands over what the daemon needs, each text
//! cut to a bounded length, and ends once it has grown. If memory runs out, it is the child that
//! the system ends first.

mod parts;
mod serve;

use std::cell::RefCell;
use std::io::{self, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use job_types::number::JobId;
use slurm_sys::client::ClientError;
use slurm_sys::client::controller::{DescribedJob, KnownJob, Queue};

use parts::{Part, Request, read_frame, write_frame};
pub(crate) use serve::serve;

/// The only argument of the process that reads.
pub(crate) const ARGUMENT: &str = "--read-jobs";

/// This very program, also where another one has been installed in its place meanwhile.
const PROGRAM: &str = "/proc/self/exe";

thread_local! {
    /// The child that answers this thread.
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// The queue; if `is_described` is true, also the jobs that wait or run as they were described.
///
/// # Errors
/// As `slurm_sys::client::controller::queue`, and [`ClientError::Reader`] where the child has
/// ended.
pub(crate) fn queue(is_described: bool) -> Result<(Queue, Vec<DescribedJob>), ClientError> {
    let (mut jobs, mut described) = (Vec::new(), Vec::new());
    let answered_at = ask(&Request::Queue { is_described }, |part| match part {
        Part::Job(job) => jobs.push(*job),
        Part::Described(job) => described.push(*job),
        _ => {}
    })?;
    Ok((Queue { jobs, answered_at }, described))
}

/// The records that slurmctld has under a job's number, as
/// `slurm_sys::client::controller::jobs_with_number`.
///
/// # Errors
/// As [`queue`].
pub(crate) fn jobs_with_number(job: JobId) -> Result<Vec<KnownJob>, ClientError> {
    let mut known = Vec::new();
    ask(&Request::Job(job), |part| {
        if let Part::Known(job) = part {
            known.push(*job);
        }
    })?;
    Ok(known)
}

/// Asks this thread's child, which is started where there is none. Returns when slurmctld answered,
/// where it told.
fn ask(request: &Request, mut take: impl FnMut(Part)) -> Result<Option<i64>, ClientError> {
    READER.with_borrow_mut(|place| {
        // A process that ended while nobody asked it says nothing about this question.
        if let Some(reader) = place
            && reader.send(request).is_err()
        {
            *place = None;
        }
        let mut reader = match place.take() {
            Some(reader) => reader,
            None => {
                let mut reader = Reader::start().map_err(|error| failure(format!("can't be started: {error}")))?;
                reader.send(request).map_err(|_| reader.end())?;
                reader
            }
        };
        loop {
            let (answer, leaves) = match read_frame(&mut reader.output) {
                Ok(Part::End { answered_at, leaves }) => (Ok(answered_at), leaves),
                Ok(Part::Failed { failed, leaves }) => (Err(failed.into()), leaves),
                Ok(part) => {
                    take(part);
                    continue;
                }
                Err(_) => return Err(reader.end()),
            };
            *place = (!leaves).then_some(reader);
            return answer;
        }
    })
}

/// A child that reads.
struct Reader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reader {
    fn start() -> io::Result<Self> {
        let mut command = Command::new(PROGRAM);
        command.arg0("queuecastd").arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn send(&mut self, request: &Request) -> io::Result<()> {
        write_frame(&mut self.input, request)?;
        self.input.flush()
    }

    /// Ends a child that has not answered, and says how it went.
    fn end(&mut self) -> ClientError {
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => failure(format!("ended before it had answered ({status})")),
            Err(error) => failure(format!("has not answered: {error}")),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failure(reason: String) -> ClientError {
    ClientError::Reader { reason }
}
