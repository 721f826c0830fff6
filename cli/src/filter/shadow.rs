//! `queuecast filter shadow`: what would differ under other rules.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use rules_compiler::command_line::{self, Release, Setting};
use rules_compiler::described::{DescribedForecasts, DescribedSubmission, DescribedUser, borrowed};
use rules_compiler::in_force;
use rules_compiler::rule_test::{label, written_in_words};
use rules_compiler::trace::{Trace, trace};
use rules_compiler::words::in_words;
use serde::Serialize;
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::rules::{Mode, RuleSet};
use site_rules::submission::Request;
use slurm_sys::client::site;

use super::people::People;
use super::reasons::{self, ReasonLine, Reasons};
use super::recorded::{Filled, RecordedJob};
use super::replay::{AboutJob, recorded_jobs, rules_of, say_left_out, show};
use super::sources::{RulesArguments, counted};
use crate::installation::InstallationArguments;
use crate::report::past::PastArguments;
use crate::slurm_release::SlurmReleaseArguments;
use crate::user;

/// The fields of which a record says what became of them.
const RECORDED: [Name; 6] = [Name::Account, Name::Features, Name::Partition, Name::Qos, Name::TimeLimit, Name::Wckey];

/// The longest command in a file, in bytes.
const LONGEST_COMMAND: usize = 64 << 10;

const EXAMPLES: &str = "\
Examples:
  queuecast filter shadow --rules new.toml
      what these rules would have done otherwise than those in force, with the jobs of thirty days
  queuecast filter shadow --against records --as-enforced
      what the site's rules, those that are only observed as well, would have made otherwise than a
      Lua script has, by what slurmdbd says of the jobs
  queuecast filter shadow --rules new.toml --commands submissions.txt
      the same as the first for commands in a file, one in a line
  queuecast filter shadow --rules new.toml --commands submissions.txt --slurm 25.11
      the same, with the options that sbatch has in that release

Keys of --format json (times in Unix seconds, null where not known):
  against       what the rules are held against: in-force or records
  looked_at, same, different, not_understood
                numbers of jobs; the last three add up to the first
  reasons       why commands are not understood: reason, jobs
  differences   as many as --jobs says: job_id (null for commands of a file), line (of the file),
                user, partition, submitted, before, after
  left_out      how many differences are not among them
  notes         what else is to be known";

/// Replay submissions through rules, and print what would differ from the rules in force, or from
/// what was recorded.
///
/// Submissions are those of slurmdbd's records, or the commands of a file. Against the rules in
/// force a job is read of its command and, where that says nothing, of the record; against records,
/// of its command alone, and what the rules make of it is held against the account, partition, QOS,
/// limit, features and wckey of the record. The #SBATCH lines of scripts are not in the records, so
/// that jobs that were described there differ where nothing does.
///
/// Exit status: 0 if nothing differs; 1 if something does, or the rules have errors; 2 for wrong
/// usage, or where submissions can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rules: RulesArguments,

    /// What the rules are held against.
    #[arg(long, value_enum, default_value_t)]
    against: Against,

    /// Take rules that are only observed, or only warn, as enforced.
    #[arg(long)]
    as_enforced: bool,

    /// Commands in the place of slurmdbd's records, one in a line; - for standard input. You submit
    /// them now.
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,

    #[command(flatten)]
    slurm: SlurmReleaseArguments,

    #[command(flatten)]
    past: PastArguments,

    /// How many differences are shown one by one.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    jobs: usize,

    #[command(flatten)]
    installation: InstallationArguments,

    #[command(flatten)]
    format: FormatArguments,
}

/// What rules are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Against {
    /// The rules in force, in the state directory.
    #[default]
    InForce,
    /// What slurmdbd recorded of the jobs.
    Records,
}

/// The answer.
#[derive(Debug, Default, Serialize)]
struct Report {
    against: Against,
    looked_at: usize,
    same: usize,
    different: usize,
    not_understood: usize,
    reasons: Vec<ReasonLine>,
    differences: Vec<DifferenceLine>,
    left_out: usize,
    notes: Vec<String>,
}

/// A submission that would end otherwise.
#[derive(Debug, Default, Serialize)]
struct DifferenceLine {
    #[serde(flatten)]
    about: AboutJob,
    line: Option<usize>,
    before: String,
    after: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut rules = rules_of(arguments.rules.read_at(&arguments.installation.find())?)?;
    if arguments.as_enforced {
        rules.rules.iter_mut().for_each(|rule| rule.mode = Mode::Enforce);
    }
    let report = report(arguments, &rules).map_err(Failure::Input)?;
    output::print(arguments.format, &report, text)?;
    Ok(if report.different == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn report(arguments: &Arguments, rules: &RuleSet) -> anyhow::Result<Report> {
    let mut notes = Vec::new();
    let installation = arguments.installation.find();
    let before = match arguments.against {
        Against::Records if arguments.commands.is_some() => {
            return Err(anyhow!("--against records needs records: leave --commands out"));
        }
        Against::Records => None,
        Against::InForce => Some(in_force(&installation.directory, &mut notes)?),
    };
    let mut shadow = Shadow::new(rules, before.as_ref(), arguments.jobs);
    shadow.report.against = arguments.against;
    shadow.report.notes = notes;
    let release = arguments.slurm.release();
    if let Some(path) = &arguments.commands {
        replay_commands(&mut shadow, path, &mut People::of(&installation), release)?;
    } else {
        let past = arguments.past.past()?;
        let cluster = site()?.cluster;
        let mut people = People::of(&installation);
        recorded_jobs(&arguments.past, &cluster, past, |job| shadow.add_recorded(job, &mut people, release))?;
    }
    Ok(shadow.finish())
}

/// The rules in force.
fn in_force(directory: &Path, notes: &mut Vec<String>) -> anyhow::Result<RuleSet> {
    let found = in_force::read(directory)?.map(|(rules, _)| rules);
    if found.is_none() {
        notes.push(format!("no rules are in force in {}", directory.display()));
    }
    Ok(found.unwrap_or_default())
}

/// Submits each line of a file, as sbatch of a release reads it.
fn replay_commands(shadow: &mut Shadow<'_>, path: &Path, people: &mut People, release: Release) -> anyhow::Result<()> {
    let reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).with_context(|| format!("{} can't be read", path.display()))?))
    };
    let (id, name) = user::find(None)?;
    let directory = std::env::current_dir().context("the working directory is not known")?;
    let environment = std::collections::BTreeMap::new();
    let setting = Setting {
        release,
        now: output::now(),
        zone: TimeZone::system(),
        user: id,
        directory: directory.display().to_string(),
        environment,
    };
    let user = people.user(id, name);
    for (number, line) in (1..).zip(reader.lines()) {
        let line = line.with_context(|| format!("line {number} of {} can't be read", path.display()))?;
        let command = line.trim();
        if command.is_empty() || command.starts_with('#') {
            continue;
        }
        shadow.add_command(number, command, &setting, &user);
    }
    Ok(())
}

/// Submissions under two sets of rules.
struct Shadow<'r> {
    rules: &'r RuleSet,
    /// The rules in force; `None` where they are held against records.
    before: Option<&'r RuleSet>,
    most: usize,
    reasons: Reasons,
    report: Report,
}

impl<'r> Shadow<'r> {
    fn new(rules: &'r RuleSet, before: Option<&'r RuleSet>, most: usize) -> Self {
        Shadow { rules, before, most, reasons: Reasons::default(), report: Report::default() }
    }

    fn add_command(&mut self, line: usize, command: &str, setting: &Setting, user: &DescribedUser) {
        self.report.looked_at += 1;
        let is_short = command.len() <= LONGEST_COMMAND;
        let parsed = command_line::parse(command, setting, |script| std::fs::read_to_string(script).ok());
        match parsed {
            Ok(job) if is_short => {
                let submission = DescribedSubmission {
                    request: Request::Submit,
                    now: setting.now,
                    job,
                    current: None,
                    user: user.clone(),
                    forecasts: DescribedForecasts::default(),
                };
                let about = AboutJob { user: user.name.clone(), ..AboutJob::default() };
                let told = DifferenceLine { about, line: Some(line), ..DifferenceLine::default() };
                let before = self.before.map(|before| outcome(&trace(before, &submission))).unwrap_or_default();
                let after = outcome(&trace(self.rules, &submission));
                self.compare(told, before, after);
            }
            Ok(_) => self.not_understood(&format!("a command of more than {LONGEST_COMMAND} bytes")),
            Err(error) => self.not_understood(&error.to_string()),
        }
    }

    fn add_recorded(&mut self, job: &RecordedJob, people: &mut People, release: Release) {
        self.report.looked_at += 1;
        let filled = if self.before.is_some() { Filled::CommandAndRecord } else { Filled::Command };
        if filled == Filled::Command && job.submit_line.is_none() {
            return self.not_understood("no command is recorded");
        }
        let submission = match job.submission(filled, people, release) {
            Ok(submission) => submission,
            Err(reason) => return self.not_understood(&reason),
        };
        let told = DifferenceLine { about: AboutJob::from(job), ..DifferenceLine::default() };
        let after = trace(self.rules, &submission);
        match self.before {
            Some(before) => {
                let before = outcome(&trace(before, &submission));
                self.compare(told, before, outcome(&after));
            }
            None => {
                let (before, after) = against_record(job, &submission, &after);
                self.compare(told, before, after);
            }
        }
    }

    fn not_understood(&mut self, reason: &str) {
        self.report.not_understood += 1;
        self.reasons.note(reason);
    }

    fn compare(&mut self, told: DifferenceLine, before: String, after: String) {
        if before == after {
            self.report.same += 1;
            return;
        }
        let report = &mut self.report;
        report.different += 1;
        show(DifferenceLine { before, after, ..told }, &mut report.differences, self.most, &mut report.left_out);
    }

    fn finish(self) -> Report {
        Report { reasons: self.reasons.lines(), ..self.report }
    }
}

/// What comes of a submission, in words.
fn outcome(trace: &Trace) -> String {
    let mut outcome = match &trace.refusal {
        Some(refusal) => format!("refused: {}", refusal.message),
        None => {
            let mut writes: Vec<String> = trace.writes.iter().map(written_in_words).collect();
            writes.sort_unstable();
            if writes.is_empty() { "accepted".to_owned() } else { format!("accepted with {}", writes.join(", ")) }
        }
    };
    for warning in &trace.warnings {
        outcome.push_str("; told: ");
        outcome.push_str(warning);
    }
    outcome
}

/// What a record says of a job, and what rules make of it, in the fields in which they differ.
fn against_record(job: &RecordedJob, submission: &DescribedSubmission, after: &Trace) -> (String, String) {
    if let Some(refusal) = &after.refusal {
        return ("accepted".to_owned(), format!("refused: {}", refusal.message));
    }
    let made = after.applied_to(&submission.job);
    let (mut before, mut now) = (Vec::new(), Vec::new());
    for name in RECORDED {
        let Some(value) = made.field(FieldNumber::from(name)) else { continue };
        let recorded = job.known(name);
        // A job of several partitions ran in one of them.
        let is_among = name == Name::Partition
            && matches!((&recorded, OwnedValue::from(value)), (Some(OwnedValue::Text(ran)), OwnedValue::Text(asked))
                if asked.split(',').any(|part| part == ran));
        if recorded == Some(&OwnedValue::from(value)) || is_among {
            continue;
        }
        let shown = |value: Option<&OwnedValue>| {
            let value = value.map(|value| in_words(name, borrowed(value)));
            value.map_or_else(|| format!("no {}", label(name)), |value| format!("{} = {value}", label(name)))
        };
        before.push(shown(recorded));
        now.push(shown(Some(&OwnedValue::from(value))));
    }
    (before.join(", "), now.join(", "))
}

fn text(report: &Report) -> String {
    let mut lines = output::Lines::default();
    let against = match report.against {
        Against::InForce => "the rules in force",
        Against::Records => "what was recorded",
    };
    lines.plain(format!("{} held against {against}", counted(report.looked_at, "submission")));
    lines.line("different", output::count(report.different as u64));
    lines.line("the same", output::count(report.same as u64));
    lines.line("not understood", output::count(report.not_understood as u64));
    for note in &report.notes {
        lines.plain(note);
    }
    if !report.differences.is_empty() {
        lines.heading("Differences");
        for difference in &report.differences {
            let DifferenceLine { about, line, before, after } = difference;
            let which = about.job_id.map_or_else(|| format!("line {}", line.unwrap_or(0)), |job| format!("job {job}"));
            let user = about.user_name();
            let when = about.submitted.map_or_else(String::new, |at| format!(", {}", output::moment(UnixTime(at))));
            lines.plain(format!("{which} of {user}{when}"));
            lines.plain(format!("    before: {before}"));
            lines.plain(format!("    after:  {after}"));
        }
        say_left_out(report.left_out, &mut lines);
    }
    reasons::show(&report.reasons, &mut lines);
    lines.text()
}
