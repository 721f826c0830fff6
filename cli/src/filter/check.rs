//! `queuecast filter check`: what is wrong with files of rules.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use rules_compiler::files::{compile_files, of_site};
use rules_compiler::problem::{Problem, Severity};
use serde::Serialize;
use slurm_conf::Configuration;

use crate::Format;
use crate::failure::Failure;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  queuecast filter check
      the rules of queuecast.toml and of rules.d beside it
  queuecast filter check rules.d/50-gpus.toml
      those of one file";

/// Check files of rules: what is wrong with them, where, and what was expected.
///
/// Nothing is put in force. Names, types, what may be absent, and cost are checked as they are when
/// rules are loaded. Exit status 1 says that there are errors; a warning is none.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The files, in the order in which their rules apply [default: queuecast.toml, and the files
    /// of rules.d beside it].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How the answer is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Report {
    files: Vec<String>,
    /// How many rules there are; `None` if there are errors.
    rules: Option<usize>,
    /// Bytes of the compiled rules.
    compiled_bytes: Option<usize>,
    errors: usize,
    warnings: usize,
    problems: Vec<Line>,
}

/// Something that is wrong.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) severity: &'static str,
    file: String,
    line: usize,
    column: usize,
    message: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let configuration = Configuration::path();
    let files = if arguments.files.is_empty() {
        of_site(&configuration)
            .with_context(|| format!("the rules beside {} can't be read", configuration.display()))
            .map_err(Failure::Input)?
    } else {
        arguments.files.clone()
    };
    let compiled = compile_files(&files, &configuration);
    let encoded = match &compiled.rules {
        Some(rules) => Some(site_rules::file::encode(rules).context("the rules can't be kept").map_err(Failure::No)?),
        None => None,
    };
    let count = |severity| compiled.problems.iter().filter(|problem| problem.severity == severity).count();
    let report = Report {
        files: files.iter().map(|file| file.display().to_string()).collect(),
        rules: compiled.rules.as_ref().map(|rules| rules.rules.len()),
        compiled_bytes: encoded.map(|bytes| bytes.len()),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        problems: compiled.problems.into_iter().map(line).collect(),
    };
    output::print(arguments.format, &report, text)?;
    Ok(if report.errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub(super) fn line(problem: Problem) -> Line {
    let Problem { severity, file, line, column, message } = problem;
    let severity = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    Line { severity, file, line, column, message }
}

/// Problems for people, each in a line.
pub(super) fn problems(lines: &[Line]) -> String {
    let mut text = String::new();
    for Line { severity, file, line, column, message } in lines {
        let style = if *severity == "error" { output::BAD } else { output::HEADING };
        // Writing into a text can't fail.
        let _ = writeln!(text, "{file}:{line}:{column}: {style}{severity}{style:#}: {message}");
    }
    text
}

/// A number of things.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn text(report: &Report) -> String {
    let mut text = problems(&report.problems);
    let rules = report.rules.map_or_else(String::new, |rules| format!("{}, ", counted(rules, "rule")));
    let files = counted(report.files.len(), "file");
    let _ = writeln!(text, "{rules}{files}: {}, {}", counted(report.errors, "error"), counted(report.warnings, "warning"));
    text
}
