//! The workload logs that `queuecast evaluate` replays for a benchmark.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use end_to_end::built;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::failure::WrongUsage;
use crate::log::ModelLog;

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Logs in the Standard Workload Format, plain or packed; without one, every log of the
    /// benchmark's tables that is in the directory that QUEUECAST_TRACES names.
    #[arg(value_name = "LOG", conflicts_with = "check")]
    logs: Vec<PathBuf>,

    /// The small form, for tests: look on a small workload of the Lublin-Feitelson model whether
    /// everything is there and as it follows from the workload.
    #[arg(long)]
    check: bool,
}

/// The logs of a benchmark.
#[derive(Debug)]
pub(crate) struct EvaluatedLogs {
    pub(crate) paths: Vec<PathBuf>,
    /// The workload of the small form.
    pub(crate) model: Option<ModelLog>,
    /// What `queuecast evaluate` is told of the model's workload beside what it is told of any log.
    in_small: Vec<String>,
    scratch: Option<TempDir>,
}

impl EvaluatedLogs {
    /// The logs that were named, those of the environment whose names have one of `beginnings`
    /// (all, without any), or the small form, of which `queuecast evaluate` is told `in_small`.
    ///
    /// # Errors
    ///
    /// [`WrongUsage`] where there is no log, or one that is named is not there; or that the model's
    /// workload can't be made.
    pub(crate) fn new(arguments: &LogArguments, beginnings: &[&str], in_small: &[&str]) -> anyhow::Result<Self> {
        if arguments.check {
            let scratch = tempfile::tempdir()?;
            let model = ModelLog::write(scratch.path())?;
            let in_small = in_small.iter().map(|option| (*option).to_owned()).collect();
            return Ok(Self { paths: vec![model.path.clone()], model: Some(model), in_small, scratch: Some(scratch) });
        }
        let paths = if arguments.logs.is_empty() { logs_of_the_environment(beginnings)? } else { arguments.logs.clone() };
        for path in &paths {
            ensure!(path.is_file(), WrongUsage(format!("{}: there is no such log", path.display())));
        }
        Ok(Self { paths, model: None, in_small: Vec::new(), scratch: None })
    }

    /// The directory of the small form, which is taken away with it.
    pub(crate) fn scratch(&self) -> Option<&Path> {
        self.scratch.as_ref().map(TempDir::path)
    }

    /// What `queuecast evaluate` prints with these arguments for some of the logs.
    ///
    /// # Errors
    ///
    /// Where it fails or prints nothing.
    pub(crate) fn evaluate(&self, logs: &[PathBuf], arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(built().join("queuecast"));
        command.arg("evaluate").args(arguments).args(&self.in_small).stderr(Stdio::inherit());
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
    pub(crate) fn figures<T: DeserializeOwned>(&self, logs: &[PathBuf], arguments: &[&str]) -> anyhow::Result<Vec<T>> {
        let printed = self.evaluate(logs, &[arguments, &["--format", "json"]].concat())?;
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

/// The logs in the directory that QUEUECAST_TRACES names whose names have one of these beginnings
/// (all, without any), in the order of their names.
fn logs_of_the_environment(beginnings: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let none = || WrongUsage("name a log, or set QUEUECAST_TRACES to a directory of logs".to_owned());
    let directory = PathBuf::from(std::env::var_os("QUEUECAST_TRACES").filter(|name| !name.is_empty()).ok_or_else(none)?);
    let is_wanted =
        |name: &str| name.contains(".swf") && (beginnings.is_empty() || beginnings.iter().any(|beginning| name.starts_with(beginning)));
    let mut logs = Vec::new();
    for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| is_wanted(&name.to_string_lossy())) {
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
