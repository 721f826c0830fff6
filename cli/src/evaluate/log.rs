//! The log whose past is forecast again.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use simulator::evaluation::{self, Workload};
use simulator::swf::{Log, Reader};
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
}

impl EvaluatedLog {
    /// Reads a log.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or that lacks what forecasts are held against; the file is named.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let log = reader(path)?.into_log().with_context(|| source.clone())?;
        let workload = evaluation::read(&log);
        if workload.jobs.is_empty() {
            return Err(anyhow!("{source}: {}", what_is_missing(&log)));
        }
        let name = name(path);
        Ok(Self { published: Published::about(&name, &log.header), name, source, workload })
    }
}

/// A reader of a log, packed or not.
///
/// # Errors
///
/// A file that can't be opened or read; it is named.
pub(super) fn reader(path: &Path) -> anyhow::Result<Reader<impl BufRead + use<>>> {
    let source = path.display();
    let file: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open the log {source}"))?)
    };
    Reader::detecting_compression(file).with_context(|| source.to_string())
}

/// The file's name without folder and endings.
pub(super) fn name(path: &Path) -> String {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match file_name.split(".swf").next() {
        Some("" | "-") | None => "standard input".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// Why a log has no job whose wait and run time are known.
fn what_is_missing(log: &Log) -> String {
    let jobs = log.records.len();
    if jobs == 0 {
        return "there are no jobs in it".to_owned();
    }
    let all_lack = |what: &Lack| log.records.iter().all(|record| LoggedJob::of(record).lacks(*what));
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
    use std::path::Path;

    use simulator::swf::Reader;

    use super::{name, what_is_missing};

    #[test]
    fn a_log_is_called_by_its_file_without_folder_and_endings() {
        for (path, called) in
            [("/logs/KTH-SP2-1996-2.1-cln.swf.xz", "KTH-SP2-1996-2.1-cln"), ("log.txt", "log.txt"), ("-", "standard input")]
        {
            assert_eq!(name(Path::new(path)), called);
        }
    }

    #[test]
    fn the_field_that_no_job_has_is_named() {
        let missing = |job: &str| what_is_missing(&Reader::new(job.as_bytes()).unwrap().into_log().unwrap());
        assert!(missing("1 0 -1 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").contains("field 3"));
        assert!(missing("1 0 5 0 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").contains("field 4"));
        assert!(missing("1 0 5 60 4 -1 -1 4 90 -1 1 -1 1 -1 1 -1 -1 -1\n").contains("field 12"));
        assert_eq!(missing("; a header alone\n"), "there are no jobs in it");
    }
}
