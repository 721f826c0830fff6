//! The files of rules that a command is about, and what is wrong with them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use rules_compiler::Compiled;
use rules_compiler::files::{compile_files_with, of_site};
use rules_compiler::in_force;
use rules_compiler::problem::{Problem, Severity};
use rules_compiler::site_tables::SiteTables;
use serde::Serialize;
use slurm_conf::Configuration;

use crate::installation::Installation;

/// Names files of rules, for a command that is about rules alone.
#[derive(Debug, Args)]
pub(super) struct FilesArguments {
    /// The files, in the order in which their rules apply [default: queuecast.toml, and the files
    /// of rules.d beside it].
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
}

/// Names files of rules, for a command that is about jobs as well.
#[derive(Debug, Args)]
pub(super) struct RulesArguments {
    /// Files of rules in their order; once for each [default: queuecast.toml, and the files of
    /// rules.d beside it].
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

impl FilesArguments {
    /// Compiles the files that are named, or else those of the site.
    ///
    /// # Errors
    /// The site's own files can't be listed.
    pub(super) fn read(&self) -> Result<Sources, Failure> {
        Sources::read_with(&self.files, None)
    }
}

impl RulesArguments {
    /// Compiles the files that are named, or else those of the site, with the rows of qualities of
    /// service, associations, users and partitions that the daemon has left in the state
    /// directory, where they can be read.
    ///
    /// # Errors
    /// The site's own files can't be listed.
    pub(super) fn read_at(&self, installation: &Installation) -> Result<Sources, Failure> {
        Sources::read_with(&self.rules, in_force::site_tables(&installation.directory).ok().flatten().as_ref())
    }
}

/// Something that is wrong at a place of a file.
#[derive(Debug, Serialize)]
pub(super) struct ProblemLine {
    pub(super) severity: &'static str,
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// Files of rules, compiled.
pub(super) struct Sources {
    /// The files in their order.
    pub(super) files: Vec<PathBuf>,
    /// What came of them.
    pub(super) compiled: Compiled,
}

impl Sources {
    fn read_with(named: &[PathBuf], rows: Option<&SiteTables>) -> Result<Self, Failure> {
        let configuration = Configuration::path();
        let files = named_or_of_site(named, &configuration)?;
        let compiled = compile_files_with(&files, &configuration, rows);
        Ok(Self { files, compiled })
    }

    /// The names of the files.
    pub(super) fn names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.display().to_string()).collect()
    }

    /// What is wrong with them.
    pub(super) fn problems(&self) -> Vec<ProblemLine> {
        self.compiled.problems.iter().map(line).collect()
    }

    /// How many problems of a kind there are.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.compiled.problems.iter().filter(|problem| problem.severity == severity).count()
    }
}

/// The files that are named, or else those of the site, of which there may be none.
///
/// # Errors
/// The site's own files can't be listed.
pub(super) fn named_or_of_site(named: &[PathBuf], configuration: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    of_site(configuration).with_context(|| format!("the rules beside {} can't be read", configuration.display())).map_err(Failure::Input)
}

/// A problem as commands write it.
pub(super) fn line(problem: &Problem) -> ProblemLine {
    let Problem { severity, file, line, column, message } = problem;
    ProblemLine { severity: severity.into(), file: file.clone(), line: *line, column: *column, message: message.clone() }
}

/// The lines of problems, as compilers write them.
pub(super) fn problem_lines(problems: &[ProblemLine]) -> String {
    let mut text = String::new();
    for ProblemLine { severity, file, line, column, message } in problems {
        let style = if *severity == "error" { output::BAD } else { output::HEADING };
        // Writing into a text can't fail.
        let _ = writeln!(text, "{file}:{line}:{column}: {style}{severity}{style:#}: {message}");
    }
    text
}

/// A number and what is counted, with an s where there is not one.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
