//! `queuecast filter scan`: which jobs rules would touch or refuse.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use job_types::number::JobId;
use job_types::time::UnixTime;
use rules_compiler::rule_test::written_in_words;
use rules_compiler::trace::{RuleOutcome, Trace, trace};
use serde::Serialize;
use site_rules::rules::RuleSet;
use slurm_sys::client::controller::{self, QueuedJob};
use slurm_sys::client::site;

use super::people::People;
use super::reasons::{self, ReasonLine, Reasons};
use super::recorded::{Filled, RecordedJob};
use super::replay::{AboutJob, recorded_jobs, rules_of, say_left_out, show};
use super::sources::{RulesArguments, counted};
use crate::installation::InstallationArguments;
use crate::report::past::PastArguments;
use crate::slurm_release::own_release;

const EXAMPLES: &str = "\
Examples:
  queuecast filter scan
      which jobs of the queue and of the last thirty days the site's rules would touch or refuse
  queuecast filter scan --queue
      those of the queue alone
  queuecast filter scan --rules rules.d/50-gpus.toml --since now-90days -p gpu
      the rules of one file, and the jobs of one partition since then
  queuecast filter scan --format json --jobs 100000 | jq '.jobs[] | select(.outcome == \"refused\") | .user'
      whose jobs would have been refused

Keys of --format json (times in Unix seconds, null where not known):
  cluster, since, until
                what was looked at
  in_queue      how many of them are in the queue
  looked_at, refused, changed, warned, untouched, not_understood
                numbers of jobs; the last five add up to the first
  rules         for each: rule, matched, failed (could not be evaluated), refused, changed, warned,
                observed (would have done something, but is only observed)
  reasons       why commands are not understood: reason, jobs
  jobs          of those that are refused, changed or warned, as many as --jobs says: job_id, user,
                partition, submitted, outcome (refused, changed, warned), code, message, writes,
                warnings
  left_out      how many of these are not among them
  notes         what else is to be known";

/// Say which jobs of the queue and of the past rules would touch or refuse, from slurmctld and from
/// slurmdbd's records.
///
/// An ended job is read of the command by which it was submitted, and what that says nothing of, of
/// the record: account, partition, QOS, time limit, nodes, CPUs, name, features, wckey and
/// directory. A job in the queue is read of what slurmctld shows. What slurmctld or a script of the
/// site filled in can't be told from what the user wrote, so that a rule for what is absent finds
/// little. The text of scripts, environments, forecasts and counts of submissions are absent.
///
/// Exit status: 0 if slurmdbd has answered; 1 if the rules have errors; 2 for wrong usage; 4 where
/// Slurm cannot be asked at all; 5 where slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rules: RulesArguments,

    #[command(flatten)]
    past: PastArguments,

    /// Only the jobs in the queue.
    #[arg(long)]
    queue: bool,

    /// How many jobs are shown one by one: those in the queue, and then those that ended first.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    jobs: usize,

    #[command(flatten)]
    installation: InstallationArguments,

    #[command(flatten)]
    format: FormatArguments,
}

/// The answer.
#[derive(Debug, Default, Serialize)]
struct Report {
    cluster: String,
    since: i64,
    until: i64,
    looked_at: usize,
    /// How many of these are in the queue.
    in_queue: usize,
    refused: usize,
    changed: usize,
    warned: usize,
    untouched: usize,
    not_understood: usize,
    rules: Vec<RuleLine>,
    reasons: Vec<ReasonLine>,
    jobs: Vec<JobLine>,
    left_out: usize,
    notes: Vec<String>,
}

/// What a rule did.
#[derive(Debug, Default, Serialize)]
struct RuleLine {
    rule: String,
    matched: usize,
    failed: usize,
    refused: usize,
    changed: usize,
    warned: usize,
    observed: usize,
}

/// What becomes of a job.
#[derive(Debug, Serialize)]
struct JobLine {
    #[serde(flatten)]
    about: AboutJob,
    outcome: &'static str,
    code: Option<String>,
    message: Option<String>,
    writes: Vec<String>,
    warnings: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let rules = rules_of(arguments.rules.read_at(&arguments.installation.find())?)?;
    let report = report(arguments, &rules).map_err(Failure::Input)?;
    output::print(arguments.format, &report, text)?;
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &Arguments, rules: &RuleSet) -> anyhow::Result<Report> {
    let past = arguments.past.past()?;
    let cluster = site()?.cluster;
    let mut scan = Scan::new(rules, arguments.jobs, People::of(&arguments.installation.find()));
    match controller::queue_described() {
        Ok((queue, jobs)) => {
            let by_number: BTreeMap<JobId, &QueuedJob> = queue.jobs.iter().map(|job| (job.job_id, job)).collect();
            for job in jobs {
                let queued = by_number.get(&job.job_id).copied();
                if arguments.past.wanted(queued.and_then(|job| job.partition.as_deref())).is_some() {
                    scan.report.in_queue += 1;
                    scan.add(&RecordedJob::of_queued(job, queued));
                }
            }
        }
        Err(error) => scan.report.notes.push(format!("the queue is not among them: {error}")),
    }
    if !arguments.queue {
        recorded_jobs(&arguments.past, &cluster, past, |job| scan.add(job))?;
    }
    let (since, until) = (past.since.0, past.until.0);
    Ok(Report { cluster, since, until, ..scan.finish() })
}

/// What rules do to jobs, summed up.
struct Scan<'r> {
    rules: &'r RuleSet,
    most_jobs: usize,
    people: People,
    reasons: Reasons,
    report: Report,
}

impl<'r> Scan<'r> {
    fn new(rules: &'r RuleSet, most_jobs: usize, people: People) -> Self {
        let lines = rules.rules.iter().map(|rule| RuleLine { rule: rule.name.to_string(), ..RuleLine::default() });
        let report = Report { rules: lines.collect(), ..Report::default() };
        Scan { rules, most_jobs, people, reasons: Reasons::default(), report }
    }

    fn add(&mut self, job: &RecordedJob) {
        self.report.looked_at += 1;
        let submission = match job.submission(Filled::CommandAndRecord, &mut self.people, own_release()) {
            Ok(submission) => submission,
            Err(reason) => {
                self.report.not_understood += 1;
                self.reasons.note(&reason);
                return;
            }
        };
        let trace = trace(self.rules, &submission);
        self.count_rules(&trace);
        let report = &mut self.report;
        let outcome = if trace.refusal.is_some() {
            report.refused += 1;
            "refused"
        } else if !trace.writes.is_empty() {
            report.changed += 1;
            "changed"
        } else if !trace.warnings.is_empty() {
            report.warned += 1;
            "warned"
        } else {
            report.untouched += 1;
            return;
        };
        let (code, message) = trace.refusal.map_or((None, None), |refusal| (refusal.code, Some(refusal.message)));
        let writes = trace.writes.iter().map(written_in_words).collect();
        let line = JobLine { about: AboutJob::from(job), outcome, code, message, writes, warnings: trace.warnings };
        show(line, &mut report.jobs, self.most_jobs, &mut report.left_out);
    }

    fn count_rules(&mut self, trace: &Trace) {
        let refused_by = trace.refusal.as_ref().map(|refusal| refusal.rule);
        for (line, (traced, rule)) in self.report.rules.iter_mut().zip(trace.rules.iter().zip(&self.rules.rules)) {
            match traced.asked {
                RuleOutcome::Matched => line.matched += 1,
                RuleOutcome::Failed(_) => line.failed += 1,
                _ => continue,
            }
            let does_something = !traced.writes.is_empty() || traced.warning.is_some() || traced.refusal.is_some();
            if rule.mode == site_rules::rules::Mode::Observe {
                line.observed += usize::from(does_something);
            } else {
                line.refused += usize::from(refused_by == Some(traced.rule));
                line.changed += usize::from(!traced.writes.is_empty());
                line.warned += usize::from(traced.warning.is_some() || (traced.refusal.is_some() && refused_by != Some(traced.rule)));
            }
        }
    }

    fn finish(self) -> Report {
        Report { reasons: self.reasons.lines(), ..self.report }
    }
}

fn text(report: &Report) -> String {
    let mut lines = output::Lines::default();
    let Report { looked_at, refused, changed, warned, untouched, not_understood, left_out, .. } = report;
    let (since, until) = (output::moment(UnixTime(report.since)), output::moment(UnixTime(report.until)));
    let what = counted(*looked_at, "job");
    lines.plain(format!("{what} of {}: {} in the queue, and those that ended from {since} to {until}", report.cluster, report.in_queue));
    for note in &report.notes {
        lines.plain(note);
    }
    lines.line("refused", output::count(*refused as u64));
    lines.line("changed", output::count(*changed as u64));
    lines.line("warned only", output::count(*warned as u64));
    lines.line("untouched", output::count(*untouched as u64));
    lines.line("not understood", output::count(*not_understood as u64));
    if !report.rules.is_empty() {
        lines.heading("Rules");
        let numbers = ["matched", "failed", "refused", "changed", "warned", "observed"];
        let mut table = output::table(&[&["rule"][..], &numbers].concat(), &numbers);
        for rule in &report.rules {
            let counts = [rule.matched, rule.failed, rule.refused, rule.changed, rule.warned, rule.observed];
            table.add_row(std::iter::once(rule.rule.clone()).chain(counts.map(|count| output::count(count as u64))));
        }
        lines.table(&table);
    }
    if !report.jobs.is_empty() {
        lines.heading("Jobs");
        for job in &report.jobs {
            let mut effects = job.writes.clone();
            effects.extend(job.warnings.iter().map(|warning| format!("told: {warning}")));
            effects.extend(job.message.clone());
            let number = job.about.job_id.unwrap_or_default();
            lines.plain(format!("job {number} of {}: {}: {}", job.about.user_name(), job.outcome, effects.join(", ")));
        }
        say_left_out(*left_out, &mut lines);
    }
    reasons::show(&report.reasons, &mut lines);
    lines.text()
}
