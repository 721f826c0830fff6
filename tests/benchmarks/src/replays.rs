//! What the benchmarks share that replay workload logs and write tables and a picture of each.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use end_to_end::project;

use crate::evaluated::{EvaluatedLogs, LogArguments};
use crate::log::FROM;

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    logs: LogArguments,

    /// Where the text and SVG files go [default: in the project, target/ and the benchmark's name].
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "check")]
    output: Option<PathBuf>,
}

/// What is replayed, and where tables and pictures go.
#[derive(Debug)]
pub(crate) struct Replays {
    pub(crate) logs: EvaluatedLogs,
    output: PathBuf,
}

impl Replays {
    /// # Errors
    ///
    /// As [`EvaluatedLogs::new`], or where the files have no place.
    pub(crate) fn new(arguments: &ReplayArguments, benchmark: &str) -> anyhow::Result<Replays> {
        let logs = EvaluatedLogs::new(&arguments.logs, &[], &["--from", &FROM.to_string()])?;
        let in_project = || project().join("target").join(benchmark);
        let output = logs.scratch().map(Path::to_owned).or_else(|| arguments.output.clone()).unwrap_or_else(in_project);
        fs::create_dir_all(&output).with_context(|| output.display().to_string())?;
        Ok(Replays { logs, output })
    }

    /// The file with the tables of `what` of a log, or with another extension that of the picture.
    pub(crate) fn file(&self, log: &Path, what: &str, extension: &str) -> PathBuf {
        let name = log.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split(".swf").next().unwrap_or_default();
        self.output.join(format!("{name}-{what}.{extension}"))
    }

    /// Returns the path of a file of all logs together.
    pub(crate) fn common_file(&self, name: &str) -> PathBuf {
        self.output.join(name)
    }

    /// Prints the tables of `queuecast evaluate` with these arguments for a log, and writes them
    /// and their picture into files.
    ///
    /// # Errors
    ///
    /// Where that fails, or there is no picture.
    pub(crate) fn show(&self, log: &Path, what: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let picture = self.file(log, what, "svg");
        let plot = format!("--plot={}", picture.display());
        let tables = self.logs.evaluate(&[log.to_owned()], &[arguments, &[&plot]].concat())?;
        print!("{tables}");
        fs::write(self.file(log, what, "txt"), tables)?;
        let drawn = fs::read_to_string(&picture).with_context(|| picture.display().to_string())?;
        ensure!(drawn.contains("</svg>"), "{what}: there is no picture");
        Ok(())
    }
}
