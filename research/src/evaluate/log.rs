//! The log whose past is forecast again.

use std::path::Path;

use anyhow::anyhow;
use command_parts::log_file::{self, LogFileOptions, read_log};
use simulator::evaluation::{self, Workload};
use simulator::remarks::Remarks;
use simulator::swf::Log;
use simulator::workload::{FOR_FORECAST, Lack, LoggedJob};

use super::published::Published;

/// A log that was read whole.
#[derive(Debug)]
pub(super) struct EvaluatedLog {
    /// The file's name without folder and endings.
    pub(super) name: String,
    /// The file as the user called it.
    pub(super) source: String,
    pub(super) workload: Workload,
    pub(super) published: Option<&'static Published>,
    /// What was left out, or taken as not known.
    pub(super) remarks: Remarks,
}

impl EvaluatedLog {
    /// Reads a log.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or that lacks what forecasts are held against; the file is named.
    pub(super) fn read(path: &Path, options: &LogFileOptions) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let (log, remarks) = read_log(path, options)?;
        let workload = evaluation::read(&log);
        if workload.jobs.is_empty() {
            return Err(anyhow!("{source}: {}", what_is_missing(&log)));
        }
        let name = log_file::name(path);
        Ok(Self { published: Published::about(&name, &log.header), name, source, workload, remarks })
    }
}

/// Why a log has no job whose wait and run time are known.
fn what_is_missing(log: &Log) -> String {
    let jobs = log.records.len();
    if jobs == 0 {
        return "there are no jobs in it".to_owned();
    }
    let all_lack = |what: &Lack| log.records.iter().all(|record| LoggedJob::from(record).lacks(*what));
    let missing = FOR_FORECAST.into_iter().find(all_lack).map(|lack| match lack {
        Lack::Wait => "says how long it waited (field 3); a log of what was submitted needs the starts as well",
        Lack::RunTime => "says how long it ran (field 4)",
        Lack::Submission => "says when it was submitted (field 2)",
        Lack::Size | Lack::Allocation => "says on how many processors it ran (field 5 or 8)",
        Lack::User => "says whose it is (field 12)",
    });
    format!(
        "none of its {jobs} jobs {}",
        missing.unwrap_or("has all of wait, run time, submit time, processors and user (fields 2 to 5 and 12)")
    )
}

#[cfg(test)]
mod tests {
    use simulator::swf::Reader;

    use super::what_is_missing;

    #[test]
    fn the_field_that_no_job_has_is_named() {
        let missing = |job: &str| what_is_missing(&Reader::new(job.as_bytes()).unwrap().into_log().unwrap());
        assert!(missing("1 0 -1 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").contains("field 3"));
        assert!(missing("1 0 5 0 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").contains("field 4"));
        assert!(missing("1 0 5 60 4 -1 -1 4 90 -1 1 -1 1 -1 1 -1 -1 -1\n").contains("field 12"));
        assert_eq!(missing("; a header alone\n"), "there are no jobs in it");
    }
}
