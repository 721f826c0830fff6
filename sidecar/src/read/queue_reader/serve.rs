//! The process that reads jobs.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use slurm_sys::client::ClientError;
use slurm_sys::client::controller;

use super::parts::{Part, Request, read_frame, write_frame};

/// How much memory it may have after an answer to be asked again, in bytes. One that has more ends,
/// and the next question starts another: a start takes some hundredths of a second.
const MOST_RESIDENT: u64 = 48 << 20;

/// Answers on standard output what is asked on standard input, until that is closed or this process
/// has grown.
pub(crate) fn serve() -> ExitCode {
    // The daemon lives as well without these two settings.
    let _ = nix::sys::prctl::set_name(c"queue-reader");
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let mut input = io::stdin().lock();
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    while let Ok(request) = read_frame(&mut input) {
        match answer(&request, &mut output).and_then(|last| finish(last, &mut output)) {
            Ok(false) => {}
            Ok(true) => break,
            Err(_) => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

/// Writes all parts of an answer but the last one, which it returns.
fn answer(request: &Request, output: &mut impl Write) -> io::Result<Result<Option<i64>, ClientError>> {
    let read = match *request {
        Request::Job(job) => {
            controller::jobs_with_number(job).map(|known| (known.into_iter().map(|job| Part::Known(Box::new(job))).collect(), None))
        }
        Request::Queue { is_described } => {
            let read = if is_described { controller::queue_described() } else { controller::queue().map(|queue| (queue, Vec::new())) };
            read.map(|(queue, described)| {
                let jobs = queue.jobs.into_iter().map(|job| Part::Job(Box::new(job)));
                let described = described.into_iter().map(|job| Part::Described(Box::new(job)));
                (jobs.chain(described).collect::<Vec<_>>(), queue.answered_at)
            })
        }
    };
    let (parts, answered_at) = match read {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    for part in parts {
        write_frame(&mut *output, &part)?;
    }
    Ok(Ok(answered_at))
}

/// Writes the last part. Returns whether this process ends now.
fn finish(last: Result<Option<i64>, ClientError>, output: &mut impl Write) -> io::Result<bool> {
    let leaves = resident_bytes().is_none_or(|bytes| bytes > MOST_RESIDENT);
    let part = match last {
        Ok(answered_at) => Part::End { answered_at, leaves },
        Err(error) => Part::Failed { failed: error.into(), leaves },
    };
    write_frame(&mut *output, &part)?;
    output.flush()?;
    Ok(leaves)
}

/// How much memory this process has (proc(5), `VmRSS`, in KiB however large a page is).
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(resident.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.saturating_mul(1_024))
}
