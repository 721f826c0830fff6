//! `queuecast filter explain`: what rules do with a submission, rule by rule.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use jiff::tz::TimeZone;
use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use rules_compiler::command_line::{self, Setting};
use rules_compiler::described::{DescribedForecasts, DescribedJob, DescribedSubmission, DescribedUser};
use rules_compiler::modification;
use rules_compiler::problem::Severity;
use rules_compiler::rule_test::written_in_words;
use rules_compiler::trace::{RuleOutcome, Trace, TracedRule, trace};
use rules_compiler::{Compiled, Origin};
use serde::Serialize;
use site_rules::data::{DataFile, OwnedValue};
use site_rules::field::{FieldNumber, Fields as _, Name};
use site_rules::named_job::{self, Named};
use site_rules::rules::{Mode, RuleSet};
use site_rules::submission::{Request, UserJobs};
use site_rules::value::Value;
use slurm_conf::{duration, moment};

use super::people::People;
use super::sources::{ProblemLine, RulesArguments, problem_lines};
use crate::installation::InstallationArguments;
use crate::slurm_release::SlurmReleaseArguments;
use crate::user;

const EXAMPLES: &str = "\
Examples:
  queuecast filter explain -- sbatch -p gpu --gres=gpu:2 job.sh
      what the site's rules would do, if you submitted that now
  queuecast filter explain --user ann --group physics -- sbatch -t 3-0 job.sh
      if ann did, as a member of physics alone
  queuecast filter explain --at 2026-03-02T03:00 --operator -- sbatch job.sh
      if an operator did, that night
  queuecast filter explain --rules new.toml --forecast batch=1-12:00:00 -- sbatch job.sh
      what other rules would do, if it were forecast to wait so long in batch
  queuecast filter explain -- scontrol update JobId=4711 TimeLimit=2-0
      what they would do with a change of a job that queuecastd knows
  queuecast filter explain --current 'sbatch -t 60 job.sh' -- scontrol update TimeLimit=2-0
      with the same change of a job that was submitted so";

/// Show which rules are asked about a submission or a modification, which match, what each does,
/// and what comes of it.
///
/// Nothing is submitted or changed, and no cluster is needed. The command is read as sbatch reads
/// it, with the #SBATCH lines of its script; what SBATCH_ variables and plugins of sbatch would add
/// is not known here.
///
/// Exit status: 0 if it would be accepted; 1 if it would be refused, or the rules have errors; 2
/// for wrong usage, or a command that is not understood.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rules: RulesArguments,

    /// Who submits, by name or number [default: you].
    #[arg(short, long, value_name = "USER")]
    user: Option<String>,

    /// The user's groups, by name; once for each [default: those that queuecastd has resolved, or
    /// else those that this machine knows].
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,

    #[command(flatten)]
    slurm: SlurmReleaseArguments,

    /// The user is an operator or administrator of Slurm.
    #[arg(long)]
    operator: bool,

    /// The user is root or SlurmUser.
    #[arg(long)]
    root: bool,

    /// How many jobs the user has submitted within the last hour.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    submissions_last_hour: u32,

    /// How many jobs of the user wait.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    jobs_pending: u32,

    /// How many jobs of the user run.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    jobs_running: u32,

    /// When, as sbatch --begin takes a time [default: now].
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// The forecast wait in a partition; once for each.
    #[arg(long, value_name = "PARTITION=TIME")]
    forecast: Vec<String>,

    /// The partition in which the job is forecast to begin first.
    #[arg(long, value_name = "PARTITION")]
    soonest: Option<String>,

    /// Of a modification: the job as it is, by the command that submitted it [default: as
    /// queuecastd knows the job that JobId names].
    #[arg(long, value_name = "COMMAND")]
    current: Option<String>,

    /// Show the rules that are not asked or do not match as well.
    #[arg(short, long)]
    all: bool,

    #[command(flatten)]
    installation: InstallationArguments,

    #[command(flatten)]
    format: FormatArguments,

    /// The command, behind --: of sbatch, salloc or srun, or scontrol update.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Report {
    submission: String,
    user: Option<String>,
    rules: Vec<RuleLine>,
    /// Whether it is accepted.
    accepted: bool,
    /// The refusal.
    refusal: Option<RefusalLine>,
    /// What is written, as `partition = "gpu"`.
    writes: Vec<String>,
    /// What the user is told.
    warnings: Vec<String>,
    problems: Vec<ProblemLine>,
    #[serde(skip)]
    shows_all: bool,
}

/// A rule, and what it did.
#[derive(Debug, Serialize)]
struct RuleLine {
    rule: String,
    file: String,
    line: usize,
    outcome: &'static str,
    /// Why it can't be evaluated, or was not asked.
    reason: Option<String>,
    mode: &'static str,
    steps: u32,
    /// What it writes; of a rule that is only observed, would write.
    writes: Vec<String>,
    warning: Option<String>,
    refusal: Option<String>,
}

#[derive(Debug, Serialize)]
struct RefusalLine {
    rule: String,
    code: Option<String>,
    error: Option<String>,
    message: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let sources = arguments.rules.read_at(&arguments.installation.find())?;
    let problems = sources.problems();
    let Some(rules) = &sources.compiled.rules else {
        debug_assert!(sources.count(Severity::Error) > 0);
        return Err(Failure::No(anyhow!("the rules have errors:\n{}", problem_lines(&problems).trim_end())));
    };
    let submission = submission(arguments).map_err(Failure::Input)?;
    let trace = trace(rules, &submission);
    let report = report(arguments, rules, &sources.compiled, &submission, trace, problems);
    output::print(arguments.format, &report, text)?;
    if let Some(Value::Text(script)) = submission.job.field(FieldNumber::from(Name::Script))
        && let Some(lines) = command_line::unread_lines(script)
    {
        output::warn(&lines.to_string());
    }
    Ok(if report.accepted { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn submission(arguments: &Arguments) -> anyhow::Result<DescribedSubmission> {
    let (id, name) = user::find(arguments.user.as_deref())?;
    let zone = TimeZone::system();
    let present = output::now();
    let now = match &arguments.at {
        Some(at) => UnixTime(moment::parse(at, present.0, &zone).context("--at")?),
        None => present,
    };
    let directory = std::env::current_dir().context("the working directory is not known")?;
    let setting = Setting {
        release: arguments.slurm.release(),
        now,
        zone,
        user: id,
        directory: directory.display().to_string(),
        environment: std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect(),
    };
    let is_modification = arguments.command.first().is_some_and(|program| modification::is_program(program));
    if arguments.current.is_some() && !is_modification {
        return Err(anyhow!("--current is the job that scontrol update is to change, and this command submits one"));
    }
    let installation = arguments.installation.find();
    let (request, job, current) = if is_modification {
        let job = modification::of(&arguments.command, now, &setting.zone)?;
        let current = match &arguments.current {
            Some(line) => {
                let job = command_line::parse(line, &setting, |script| std::fs::read_to_string(script).ok()).context("--current")?;
                Some((job, Seconds::ZERO))
            }
            None => installation.rules_data().and_then(|data| known_job(&data, &job, now)),
        };
        (Request::Modify, job, current)
    } else {
        (Request::Submit, command_line::of(&arguments.command, &setting, |script| std::fs::read_to_string(script).ok())?, None)
    };
    let known = People::of(&installation).user(id, name);
    let is_root = arguments.root || known.is_root;
    let groups = if arguments.group.is_empty() { known.groups.clone() } else { Some(arguments.group.clone()) };
    Ok(DescribedSubmission {
        request,
        now,
        job,
        current,
        user: DescribedUser {
            groups,
            is_root,
            is_operator: arguments.operator || is_root || known.is_operator,
            submissions_last_hour: Some(arguments.submissions_last_hour),
            jobs: Some(UserJobs { pending: arguments.jobs_pending, running: arguments.jobs_running }),
            ..known
        },
        forecasts: DescribedForecasts { waits: waits(&arguments.forecast)?, soonest_partition: arguments.soonest.clone() },
    })
}

/// The job that a modification names, as slurmctld reads the name and queuecastd read the job, and
/// how long ago that was.
fn known_job(data: &DataFile, change: &DescribedJob, now: UnixTime) -> Option<(DescribedJob, Seconds)> {
    let Value::Text(named) = change.field(FieldNumber::from(Name::JobIdStr))? else { return None };
    let job = match named_job::read(named.as_bytes())? {
        Named::Job(job) | Named::Tasks(job) => data.job(JobId(job)),
        Named::Task(array, task) => data.task(JobId(array), task),
        Named::Component(job, place) => data.job(JobId(job.checked_add(place)?)),
    }?;
    let stored = Name::ALL.iter().filter(|name| !name.is_derived());
    let fields = stored.filter_map(|name| Some((*name, OwnedValue::from(job.field(FieldNumber::from(*name))?)))).collect();
    Some((DescribedJob::new(fields, BTreeMap::new()), now - job.read_at))
}

fn waits(given: &[String]) -> anyhow::Result<BTreeMap<String, Seconds>> {
    let wait = |text: &String| {
        let (partition, wait) = text.split_once('=').with_context(|| format!("--forecast: {text:?} is not PARTITION=TIME"))?;
        Ok((partition.to_owned(), Seconds(duration::parse(wait).context("--forecast")?)))
    };
    given.iter().map(wait).collect()
}

fn report(
    arguments: &Arguments,
    rules: &RuleSet,
    compiled: &Compiled,
    submission: &DescribedSubmission,
    trace: Trace,
    problems: Vec<ProblemLine>,
) -> Report {
    let name_of = |place: usize| rules.rules.get(place).map_or_else(String::new, |rule| rule.name.to_string());
    Report {
        submission: arguments.command.join(" "),
        user: submission.user.name.clone(),
        rules: trace.rules.iter().zip(&compiled.origins).map(|(rule, origin)| rule_line(rules, rule, origin)).collect(),
        accepted: trace.refusal.is_none(),
        writes: trace.writes.iter().map(written_in_words).collect(),
        warnings: trace.warnings,
        refusal: trace.refusal.map(|refusal| RefusalLine {
            rule: name_of(usize::from(refusal.rule.0)),
            code: refusal.code,
            error: refusal.error,
            message: refusal.message,
        }),
        problems,
        shows_all: arguments.all,
    }
}

fn rule_line(rules: &RuleSet, traced: &TracedRule, origin: &Origin) -> RuleLine {
    let rule = rules.rules.get(usize::from(traced.rule.0));
    let (outcome, reason) = match traced.asked {
        RuleOutcome::Matched => ("matches", None),
        RuleOutcome::NotMatched => ("does not match", None),
        RuleOutcome::Failed(fault) => ("can't be evaluated", Some(fault.to_string())),
        RuleOutcome::OtherRequest if rule.is_some_and(|rule| rule.on_submit) => ("not asked", Some("it is for submissions".to_owned())),
        RuleOutcome::OtherRequest => ("not asked", Some("it is for changes of jobs".to_owned())),
        RuleOutcome::Bypassed => ("not asked", Some("the user is exempt".to_owned())),
        RuleOutcome::NotReached => (
            "not asked",
            Some(match &origin.ended_by {
                Some(end) => format!("it can never be reached: {end} before it ends all"),
                None => "a rule before it ended".to_owned(),
            }),
        ),
    };
    RuleLine {
        rule: rule.map_or_else(String::new, |rule| rule.name.to_string()),
        file: origin.file.clone(),
        line: origin.line,
        outcome,
        reason,
        mode: match rule.map(|rule| rule.mode) {
            Some(Mode::Warn) => "warn",
            Some(Mode::Observe) => "observe",
            _ => "enforce",
        },
        steps: traced.steps,
        writes: traced.writes.iter().map(written_in_words).collect(),
        warning: traced.warning.clone(),
        refusal: traced.refusal.clone(),
    }
}

fn text(report: &Report) -> String {
    let mut lines = output::Lines::default();
    for rule in report.rules.iter().filter(|rule| report.shows_all || !["not asked", "does not match"].contains(&rule.outcome)) {
        let reason = rule.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let mode = if rule.mode == "enforce" { String::new() } else { format!(" ({} only)", rule.mode) };
        lines.plain(format!("{}:{}: {} {}{reason}{mode}", rule.file, rule.line, rule.rule, rule.outcome));
        for effect in &rule.writes {
            lines.plain(format!("    {effect}"));
        }
        if let Some(warning) = &rule.warning {
            lines.plain(format!("    tells the user: {warning}"));
        }
        if let Some(refusal) = &rule.refusal {
            lines.plain(format!("    refuses: {refusal}"));
        }
        if rule.outcome == "matches" && rule.writes.is_empty() && rule.warning.is_none() && rule.refusal.is_none() {
            lines.plain("    nothing to write");
        }
    }
    let hidden = report.rules.iter().filter(|rule| ["not asked", "does not match"].contains(&rule.outcome)).count();
    if hidden > 0 && !report.shows_all {
        lines.plain(format!("{hidden} of {} rules are not asked or do not match; --all shows them", report.rules.len()));
    }
    lines.heading("Result");
    match &report.refusal {
        Some(refusal) => {
            let error = refusal.error.as_ref().map_or_else(String::new, |error| format!(" ({error})"));
            lines.plain(format!("refused by {}{error}: {}", refusal.rule, refusal.message));
        }
        None if report.writes.is_empty() => lines.plain("accepted as it is"),
        None => lines.plain(format!("accepted, with {}", report.writes.join(", "))),
    }
    for warning in &report.warnings {
        lines.plain(format!("the user is told: {warning}"));
    }
    let warnings = problem_lines(&report.problems);
    if !warnings.is_empty() {
        lines.heading("Warnings about the rules");
        lines.plain(warnings.trim_end());
    }
    lines.text()
}
