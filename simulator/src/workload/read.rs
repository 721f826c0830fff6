//! Makes the engine's jobs of a log.

use std::io::BufRead;

use job_types::time::Seconds;

use super::{LoggedJob, Rules, UnknownRequests};
use crate::engine::Job;
use crate::swf::{Header, ReadError, Reader, Record};

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
    /// Jobs that had more processors than the machine has: each gets the whole machine.
    pub larger_than_machine: usize,
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

/// Reads a log in the Standard Workload Format as a stream. The machine has `processors`, or as
/// many as the log's header says.
///
/// # Errors
///
/// [`Unusable`]; a line and field that can't be read are named.
pub fn read(reader: Reader<impl BufRead>, processors: Option<u32>, rules: &Rules) -> Result<Workload, Unusable> {
    let header = reader.header().clone();
    of_records(header, reader, processors, rules)
}

/// The size of the machine of a log: `processors`, or as many as its header says.
///
/// # Errors
///
/// [`Unusable::NoProcessors`].
pub fn machine(header: &Header, processors: Option<u32>) -> Result<u32, Unusable> {
    let stated = || header.max_processors().and_then(|stated| u32::try_from(stated).ok());
    processors.or_else(stated).filter(|&processors| processors > 0).ok_or(Unusable::NoProcessors)
}

/// Makes the engine's jobs of the records of a log, from wherever they come. The machine has
/// `processors`, or as many as the header says.
///
/// # Errors
///
/// What the records say, and [`Unusable`].
pub fn of_records<E, F: From<E> + From<Unusable>>(
    header: Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    processors: Option<u32>,
    rules: &Rules,
) -> Result<Workload, F> {
    let processors = machine(&header, processors)?;
    let (mut jobs, mut left_out, mut larger_than_machine) = (Vec::new(), 0, 0);
    let (mut has_requests, mut without_request) = (false, Vec::new());
    for record in records {
        let logged = LoggedJob::from(&record?);
        match rules.job(&logged, processors) {
            Some(job) => {
                larger_than_machine += usize::from(logged.allocated.is_some_and(|allocated| allocated > processors));
                match logged.limit {
                    Some(_) => has_requests = true,
                    None => without_request.push(jobs.len()),
                }
                jobs.push(job);
            }
            None => left_out += 1,
        }
    }
    if jobs.is_empty() {
        return Err(Unusable::NoJobs.into());
    }
    if has_requests && rules.unknown_requests == UnknownRequests::OneSecondAmongOthers {
        without_request.iter().for_each(|&place| jobs[place].run_time = Seconds(1));
    }
    if !jobs.is_sorted_by_key(|job: &Job| job.submit) {
        jobs.sort_by_key(|job| job.submit);
    }
    jobs.shrink_to_fit();
    Ok(Workload { header, processors, jobs, left_out, larger_than_machine })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_times(log: &str, rules: Rules) -> Vec<i64> {
        let workload = read(Reader::new(log.as_bytes()).unwrap(), Some(8), &rules).unwrap();
        workload.jobs.iter().map(|job| job.run_time.0).collect()
    }

    const ASKED: &str = "1 0 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n";
    const NOT_ASKED: &str = "2 9 5 70 4 -1 -1 4 -1 -1 1 3 1 -1 1 -1 -1 -1\n";

    #[test]
    fn a_job_without_a_request_runs_one_second_only_among_jobs_with_one() {
        assert_eq!(run_times(&format!("{ASKED}{NOT_ASKED}"), Rules::default()), [60, 1]);
        assert_eq!(run_times(NOT_ASKED, Rules::default()), [70]);
        let as_run = Rules { unknown_requests: UnknownRequests::AsRun, ..Rules::default() };
        assert_eq!(run_times(&format!("{ASKED}{NOT_ASKED}"), as_run), [60, 70]);
    }

    #[test]
    fn jobs_larger_than_the_machine_are_counted_and_get_all_of_it() {
        let log = format!("{ASKED}{NOT_ASKED}");
        let on = |processors| {
            let workload = read(Reader::new(log.as_bytes()).unwrap(), Some(processors), &Rules::default()).unwrap();
            (workload.larger_than_machine, workload.jobs.iter().map(|job| job.processors).collect::<Vec<_>>())
        };
        assert_eq!((on(4), on(3)), ((0, vec![4, 4]), (2, vec![3, 3])));
    }

    #[test]
    fn jobs_come_in_order_of_submission() {
        let workload = read(Reader::new(format!("{NOT_ASKED}{ASKED}").as_bytes()).unwrap(), Some(8), &Rules::default()).unwrap();
        assert_eq!(workload.jobs.iter().map(|job| job.number).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_log_that_does_not_know_its_machine_is_refused_with_what_to_do() {
        let error = read(Reader::new(ASKED.as_bytes()).unwrap(), None, &Rules::default()).unwrap_err();
        assert!(error.to_string().contains("--processors"), "{error}");
    }
}
