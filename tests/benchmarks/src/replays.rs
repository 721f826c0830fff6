//! What the benchmarks share that replay workload logs and print the tables of a page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use end_to_end::{built, project};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::failure::WrongUsage;
use crate::log::{FROM, ModelLog};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Logs in the Standard Workload Format, plain or packed; without one, every log in the
    /// directory that QUEUECAST_TRACES names.
    #[arg(value_name = "LOG", conflicts_with = "check")]
    logs: Vec<PathBuf>,

    /// Where the text and SVG files go [default: in the project, target/ and the benchmark's name].
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "check")]
    output: Option<PathBuf>,

    /// The small form, for tests: look on a small workload of the Lublin-Feitelson model whether
    /// everything is there and as it follows from the workload.
    #[arg(long)]
    check: bool,
}

/// What is replayed, and where tables and pictures go.
#[derive(Debug)]
pub(crate) struct Replays {
    pub(crate) logs: Vec<PathBuf>,
    /// The workload of the small form.
    pub(crate) model: Option<ModelLog>,
    output: PathBuf,
    _scratch: Option<TempDir>,
}

impl Replays {
    /// # Errors
    ///
    /// [`WrongUsage`] where there is no log, or one that is named is not there; or that the model's
    /// workload can't be made.
    pub(crate) fn new(arguments: &Arguments, benchmark: &str) -> anyhow::Result<Replays> {
        if arguments.check {
            let scratch = tempfile::tempdir()?;
            let model = ModelLog::write(scratch.path())?;
            let output = scratch.path().to_owned();
            return Ok(Replays { logs: vec![model.path.clone()], model: Some(model), output, _scratch: Some(scratch) });
        }
        let logs = if arguments.logs.is_empty() { logs_of_the_environment()? } else { arguments.logs.clone() };
        for log in &logs {
            ensure!(log.is_file(), WrongUsage(format!("{}: there is no such log", log.display())));
        }
        let output = arguments.output.clone().unwrap_or_else(|| project().join("target").join(benchmark));
        fs::create_dir_all(&output).with_context(|| output.display().to_string())?;
        Ok(Replays { logs, model: None, output, _scratch: None })
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
        let tables = self.evaluate(&[log.to_owned()], &[arguments, &[&plot]].concat())?;
        print!("{tables}");
        fs::write(self.file(log, what, "txt"), tables)?;
        let drawn = fs::read_to_string(&picture).with_context(|| picture.display().to_string())?;
        ensure!(drawn.contains("</svg>"), "{what}: there is no picture");
        Ok(())
    }

    /// What `queuecast evaluate` prints with these arguments for logs.
    ///
    /// # Errors
    ///
    /// Where it fails or prints nothing.
    pub(crate) fn evaluate(&self, logs: &[PathBuf], arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(built().join("queuecast"));
        command.arg("evaluate").args(arguments).stderr(Stdio::inherit());
        if self.model.is_some() {
            command.args(["--from", &FROM.to_string()]);
        }
        let printed = command.arg("--").args(logs).output().with_context(|| format!("{command:?}"))?;
        ensure!(printed.status.success() && !printed.stdout.is_empty(), "{command:?} failed");
        Ok(String::from_utf8(printed.stdout)?)
    }

    /// The figures of the tables that the same arguments have printed, one entry for each log,
    /// protocol and policy.
    ///
    /// # Errors
    ///
    /// Where `queuecast evaluate` fails, or does not tell the figures that `T` names.
    pub(crate) fn figures<T: DeserializeOwned>(&self, arguments: &[&str]) -> anyhow::Result<Vec<T>> {
        let printed = self.evaluate(&self.logs, &[arguments, &["--format", "json"]].concat())?;
        entries(&printed).with_context(|| format!("queuecast evaluate {arguments:?}"))
    }
}

/// The entries of one JSON object: it is the only one, or has a list of them.
fn entries<T: DeserializeOwned>(printed: &str) -> anyhow::Result<Vec<T>> {
    let mut printed: Value = serde_json::from_str(printed)?;
    Ok(match printed.get_mut("logs") {
        Some(logs) => serde_json::from_value(logs.take())?,
        None => vec![serde_json::from_value(printed)?],
    })
}

/// All logs in the directory that QUEUECAST_TRACES names, in the order of their names.
fn logs_of_the_environment() -> anyhow::Result<Vec<PathBuf>> {
    let none = || WrongUsage("name a log, or set QUEUECAST_TRACES to a directory of logs".to_owned());
    let directory = PathBuf::from(std::env::var_os("QUEUECAST_TRACES").filter(|name| !name.is_empty()).ok_or_else(none)?);
    let mut logs = Vec::new();
    for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".swf")) {
            logs.push(path);
        }
    }
    logs.sort();
    ensure!(!logs.is_empty(), none());
    Ok(logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_stands_by_itself_and_several_in_a_list() {
        assert_eq!(entries::<Value>(r#"{"log": "a"}"#).unwrap().len(), 1);
        assert_eq!(entries::<Value>(r#"{"logs": [{"log": "a"}, {"log": "b"}]}"#).unwrap().len(), 2);
        assert!(entries::<Value>("no JSON").is_err());
    }
}
