//! `queuecast filter check`: what is wrong with files of rules.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use rules_compiler::problem::Severity;
use serde::Serialize;

use super::sources::{FilesArguments, ProblemLine, counted, problem_lines};

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
    #[command(flatten)]
    files: FilesArguments,

    #[command(flatten)]
    format: FormatArguments,
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
    problems: Vec<ProblemLine>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let sources = arguments.files.read()?;
    let encoded = match &sources.compiled.rules {
        Some(rules) => Some(site_rules::file::encode(rules).context("the rules can't be kept").map_err(Failure::No)?),
        None => None,
    };
    let report = Report {
        files: sources.names(),
        rules: sources.compiled.rules.as_ref().map(|rules| rules.rules.len()),
        compiled_bytes: encoded.map(|bytes| bytes.len()),
        errors: sources.count(Severity::Error),
        warnings: sources.count(Severity::Warning),
        problems: sources.problems(),
    };
    output::print(arguments.format, &report, text)?;
    Ok(if report.errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn text(report: &Report) -> String {
    let rules = report.rules.map_or_else(String::new, |rules| format!("{}, ", counted(rules, "rule")));
    let files = counted(report.files.len(), "file");
    let (errors, warnings) = (counted(report.errors, "error"), counted(report.warnings, "warning"));
    format!("{}{rules}{files}: {errors}, {warnings}\n", problem_lines(&report.problems))
}
