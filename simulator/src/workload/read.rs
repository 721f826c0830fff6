//! From a log to the engine's jobs.

use std::io::BufRead;

use super::Rules;
use crate::engine::Job;
use crate::swf::{Header, ReadError, Reader};

/// A log as the engine runs it.
#[derive(Debug, Clone)]
pub struct Workload {
    /// What the log says of itself.
    pub header: Header,
    /// Size of the machine.
    pub processors: u32,
    /// The jobs, in order of submission; those of one moment in the log's order.
    pub jobs: Vec<Job>,
    /// Records that the rules left out.
    pub left_out: usize,
}

/// Why a log can't be replayed.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It does not say how large its machine is.
    #[error("the log does not say how many processors its machine has (MaxProcs in its header); name it with --processors")]
    NoProcessors,
    /// There is nothing in it.
    #[error("there are no jobs in the log")]
    NoJobs,
}

/// Reads a log as a stream. The machine has `processors`, or as many as the log's header says.
///
/// # Errors
///
/// [`Unusable`]; a line and field that can't be read are named.
pub fn read(reader: Reader<impl BufRead>, processors: Option<u32>, rules: &Rules) -> Result<Workload, Unusable> {
    let header = reader.header().clone();
    let stated = || header.max_processors().and_then(|stated| u32::try_from(stated).ok());
    let processors = processors.or_else(stated).filter(|&processors| processors > 0).ok_or(Unusable::NoProcessors)?;
    let (mut jobs, mut left_out) = (Vec::new(), 0);
    for record in reader {
        match rules.job(&record?, processors) {
            Some(job) => jobs.push(job),
            None => left_out += 1,
        }
    }
    if jobs.is_empty() {
        return Err(Unusable::NoJobs);
    }
    if !jobs.is_sorted_by_key(|job: &Job| job.submit_seconds) {
        jobs.sort_by_key(|job| job.submit_seconds);
    }
    jobs.shrink_to_fit();
    Ok(Workload { header, processors, jobs, left_out })
}
