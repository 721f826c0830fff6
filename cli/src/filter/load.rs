//! `queuecast filter load`: puts rules in force without a daemon.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use rules_compiler::difference::Difference;
use rules_compiler::files::compile_files_with;
use rules_compiler::in_force::{self, InForce, LoadState, Loader};
use serde::Serialize;
use site_rules::rules::RuleSet;
use slurm_sys::memory::distrust;

use super::sources::{FilesArguments, ProblemLine, counted, line, named_or_of_site, problem_lines};
use crate::installation::{Installation, ReportArguments};

const EXAMPLES: &str = "\
Examples:
  queuecast filter load
      compile the rules of queuecast.toml and of rules.d beside it, and put them in force
  queuecast filter load --dry-run
      only print what would change
  queuecast filter load /root/maintenance.toml
      put the rules of another file in force, in the place of all others, until queuecastd reads
      the site's own files again: when one of them changes, at a reload, or at its start

Keys of --format json:
  files             the files, in the order in which their rules apply
  loaded            whether the rules are in force now
  rules             how many there are; null if there are errors
  added, removed, changed
                    names of rules, against those that were in force
  reordered         whether rules that stay stand in another order
  other_settings    whether help, steps or expression_steps of [rules] is another
  problems          for each: severity (error, warning), file, line, column, message";

/// Compile files of rules and put them in force, as queuecastd does when it reads them; to be run
/// by root or SlurmUser on the host of slurmctld.
///
/// Nothing is put in force if there is an error. All submissions see the rules before or these,
/// whole; slurmctld need not be told. Without a daemon this is how rules are put in force. Exit
/// status 1 says that the rules are not in force.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FilesArguments,

    /// Only say what would change.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    report: ReportArguments,
}

/// The answer.
#[derive(Debug, Default, Serialize)]
struct Report {
    files: Vec<String>,
    loaded: bool,
    rules: Option<usize>,
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
    reordered: bool,
    other_settings: bool,
    problems: Vec<ProblemLine>,
    #[serde(skip)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let installation = arguments.report.installation();
    let configuration = &installation.configuration_path;
    let files = named_or_of_site(&arguments.files.files, configuration)?;
    if files.is_empty() {
        return Err(Failure::Input(anyhow!(
            "there is no {}; name the files, or the configuration in QUEUECAST_CONF",
            configuration.display()
        )));
    }
    let tables = in_force::site_tables(&installation.directory).or_else(|error| match error.damaged() {
        Some(_) => {
            output::warn(&format!("what queuecastd knew of users and accounts can't be used: {error}"));
            Ok(None)
        }
        None => Err(Failure::Input(error.into())),
    })?;
    let mut compiled = compile_files_with(&files, configuration, tables.as_ref());
    let mut report = Report {
        files: files.iter().map(|file| file.display().to_string()).collect(),
        rules: compiled.rules.as_ref().map(|rules| rules.rules.len()),
        dry_run: arguments.dry_run,
        ..Report::default()
    };
    let mut state = LoadState { compiled_at: output::now().0, ..LoadState::default() };
    state.take_problems(&compiled);
    report.problems = std::mem::take(&mut compiled.problems).iter().map(line).collect();
    if let Some(rules) = &compiled.rules {
        if rules.rules.is_empty() && !arguments.files.files.is_empty() {
            return Err(Failure::No(anyhow!(
                "there are no rules in these files; to switch rules off make the file rules-off in the state directory"
            )));
        }
        if compiled.asks_for_site_tables && tables.is_none() {
            return Err(Failure::No(anyhow!(
                "the rules ask for qualities of service, associations, users or partitions, which queuecastd has not written into {} yet",
                installation.directory.display()
            )));
        }
        if compiled.asks_for_default_partition && tables.is_none() {
            output::warn(
                "the site's default partition is not known before queuecastd has run: until then job.partitions has none for a job that names none",
            );
        }
        let before = before(&installation.directory)?;
        let Difference { added, removed, changed, is_reordered, has_other_settings } = Difference::between(&before, rules);
        (report.added, report.removed, report.changed) = (added, removed, changed);
        (report.reordered, report.other_settings) = (is_reordered, has_other_settings);
        if !arguments.dry_run {
            put(&installation, rules, &report.files, state)?;
            report.loaded = true;
        }
    }
    output::print(arguments.report.format, &report, text)?;
    Ok(if report.rules.is_some() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The rules that are in force until now. What is damaged in their place, or is no file, is none,
/// which is told.
fn before(directory: &Path) -> Result<RuleSet, Failure> {
    match in_force::read(directory) {
        Ok(rules) => Ok(rules.map(|(rules, _)| rules).unwrap_or_default()),
        Err(error) if error.damaged().is_some() => {
            output::warn(&format!("the rules that were in force can't be compared: {error}"));
            Ok(RuleSet::default())
        }
        Err(error) => Err(Failure::No(error.into())),
    }
}

fn put(installation: &Installation, rules: &RuleSet, files: &[String], mut state: LoadState) -> Result<(), Failure> {
    let directory = &installation.directory;
    let metadata = fs::metadata(directory)
        .with_context(|| format!("the state directory {} can't be used", directory.display()))
        .map_err(Failure::No)?;
    if distrust(&metadata, None).is_some() {
        return Err(Failure::No(anyhow!(
            "others than its owner may write in {}, so that the submit filter takes no rules from there; `chmod go-w` it",
            directory.display()
        )));
    }
    let no = |error: in_force::InForceError| Failure::No(anyhow!(error).context("the rules can't be put in force"));
    if rules.rules.is_empty() {
        in_force::remove(directory).map_err(no)?;
    } else {
        let number = in_force::put(directory, rules).map_err(no)?;
        let (since, rules, files) = (state.compiled_at, rules.rules.len(), files.to_vec());
        state.in_force = Some(InForce { since, by: Loader::Command, number: in_force::written(number), rules, files });
    }
    in_force::put_state(directory, &state).map_err(no)
}

fn text(report: &Report) -> String {
    let mut text = problem_lines(&report.problems);
    let Some(rules) = report.rules else {
        text.push_str("nothing was changed: correct the errors first\n");
        return text;
    };
    let lists = [("added", &report.added), ("changed", &report.changed), ("removed", &report.removed)];
    for (what, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        // Writing into a text can't fail.
        let _ = writeln!(text, "{what}: {}", names.join(", "));
    }
    if report.reordered {
        text.push_str("the rules apply in another order\n");
    }
    if report.other_settings {
        text.push_str("settings of [rules] have changed\n");
    }
    let is_same = lists.iter().all(|(_, names)| names.is_empty()) && !report.reordered && !report.other_settings;
    let (counted, news) = (counted(rules, "rule"), if is_same { ", the same as before" } else { "" });
    let _ = match (report.dry_run, rules) {
        (true, _) => writeln!(text, "{counted} would be in force{news}; nothing was changed"),
        (false, 0) => writeln!(text, "the site has no rules: there are none in force"),
        (false, _) => writeln!(text, "{counted} in force{news}"),
    };
    text
}
