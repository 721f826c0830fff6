//! `queuecast evaluate deadlines --admission`: admission by probability, on nodes that jobs share
//! in time and on nodes that they have to themselves, beside the published methods on the same jobs
//! and deadlines.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use comfy_table::Table;
use command_parts::log_file::{self, LogFileOptions, read_workload};
use command_parts::output::{Lines, count};
use indicatif::{MultiProgress, ProgressDrawTarget};
use job_types::job::Ending;
use job_types::time::UnixTime;
use serde::Serialize;
use simulator::deadlines::{BaseJob, ByProbabilityOptions, Method, Outcome, StandardErrors, Urgencies, by_probability, fates_of};
use simulator::engine::Job;
use simulator::experiment::{AdmissionBackfill, AdmissionOptions, AdmissionOutcome, Calibration, Held, admissions};
use simulator::remarks::Remarks;
use simulator::workload::Rules;

use super::Arguments;
use crate::evaluate::run::{self as evaluation, OfLogs};
use crate::evaluate::tables::{NOT_KNOWN, figure, figures_table, probability};

/// What is found on one log.
#[derive(Debug, Serialize)]
pub(super) struct AdmissionReport {
    log: String,
    file: String,
    /// Jobs that count.
    jobs: usize,
    /// Jobs before them, which the daemon learnt from.
    history: usize,
    nodes: u32,
    seed: u64,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calibration: Vec<InShadow>,
    /// What was left out of the log, or taken as not known.
    remarks: Remarks,
}

impl OfLogs for AdmissionReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![(&self.file, &self.remarks)]
    }
}

/// What was forecast, held against what happened where refused jobs run as others do.
#[derive(Debug, Serialize)]
struct InShadow {
    scheduler: &'static str,
    wanted: f64,
    #[serde(flatten)]
    found: Calibration,
}

/// What became of the jobs under one policy.
#[derive(Debug, Serialize)]
struct Row {
    policy: &'static str,
    /// The scheduler that starts the jobs.
    scheduler: &'static str,
    /// The probability with which deadlines are to be kept.
    wanted: Option<f64>,
    /// Whether users take another size that is offered.
    molding: bool,
    fulfilled_percent: f64,
    mean_slowdown: Option<f64>,
    accepted: usize,
    late: usize,
    withdrawn: usize,
    /// Jobs that came to their own end by the log, of which the fulfilled ones are a part.
    completing: usize,
    fulfilled_standard_error: Option<f64>,
    kept: Option<f64>,
    kept_standard_error: Option<f64>,
    refused_in_time: Option<usize>,
    molded: Option<usize>,
    /// The part of the processor time of all jobs that those admitted have.
    admitted_work: Option<f64>,
}

impl Row {
    fn published(method: Method, outcome: &Outcome) -> Self {
        let is_shared = matches!(method, Method::Libra | Method::LibraRisk);
        Self {
            policy: method.name(),
            scheduler: if is_shared { "shared nodes" } else { "in order" },
            wanted: None,
            molding: false,
            fulfilled_percent: outcome.fulfilled_percent(),
            mean_slowdown: outcome.mean_slowdown,
            accepted: outcome.accepted,
            late: outcome.late(),
            withdrawn: outcome.withdrawn,
            completing: outcome.completing,
            fulfilled_standard_error: None,
            kept: outcome.kept(),
            kept_standard_error: None,
            refused_in_time: None,
            molded: None,
            admitted_work: None,
        }
    }

    /// Admission by probability on nodes that are shared in time.
    fn on_shared_nodes(wanted: f64, outcome: &Outcome, errors: &StandardErrors) -> Self {
        Self {
            policy: "probability",
            scheduler: "shared nodes",
            wanted: Some(wanted),
            fulfilled_standard_error: Some(errors.fulfilled_percent),
            kept_standard_error: Some(errors.kept),
            ..Self::published(Method::LibraRisk, outcome)
        }
    }

    fn replayed(options: &AdmissionOptions, outcome: &AdmissionOutcome, shadow: &AdmissionOutcome) -> Self {
        Self {
            policy: if options.wanted.is_some() { "probability" } else { "all" },
            scheduler: scheduler(options.backfill),
            wanted: options.wanted,
            molding: options.molding,
            fulfilled_percent: outcome.fulfilled_percent,
            mean_slowdown: outcome.mean_slowdown,
            accepted: outcome.accepted,
            late: outcome.late,
            withdrawn: outcome.withdrawn,
            completing: outcome.completing,
            fulfilled_standard_error: Some(outcome.fulfilled_standard_error),
            kept: outcome.kept,
            kept_standard_error: Some(outcome.kept_standard_error),
            refused_in_time: Some(outcome.refused_in_time(shadow)),
            molded: Some(outcome.molded),
            admitted_work: Some(outcome.admitted_work),
        }
    }
}

fn scheduler(backfill: AdmissionBackfill) -> &'static str {
    match backfill {
        AdmissionBackfill::Easy => "easy",
        AdmissionBackfill::Slurm => "slurm",
    }
}

/// The jobs of a log with their deadlines.
struct WithDeadlines {
    name: String,
    source: String,
    nodes: u32,
    jobs: Vec<Job>,
    deadlines: Vec<UnixTime>,
    /// How many of them count, the last.
    last: usize,
    /// What was left out of the log, or taken as not known.
    remarks: Remarks,
}

impl WithDeadlines {
    fn read(path: &Path, arguments: &Arguments) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let options = LogFileOptions { processors: arguments.nodes.or(arguments.common.log_file.processors), ..arguments.common.log_file };
        let (read, remarks) = read_workload(path, &options, &Rules::of_policies())?;
        let has_limits = read.jobs.iter().any(|job| job.estimate != job.run_time);
        ensure!(has_limits, "{source}: the log does not say how long jobs were asked to run at most (field 9)");
        let wanted = arguments.last.get().saturating_add(arguments.history);
        let jobs = read.jobs.get(read.jobs.len().saturating_sub(wanted)..).unwrap_or_default().to_vec();
        let last = arguments.last.get().min(jobs.len());
        let urgencies = Urgencies { deviation: arguments.deviation, ..Urgencies::default() };
        let drawn = urgencies.jobs(&base(&jobs), arguments.common.seed);
        let deadlines = drawn.iter().zip(&jobs).map(|(drawn, job)| job.submit + (drawn.deadline - drawn.submit)).collect();
        Ok(Self { name: log_file::name(path), source, nodes: read.processors, jobs, deadlines, last, remarks })
    }

    fn report(&self, arguments: &Arguments) -> anyhow::Result<AdmissionReport> {
        let first = self.jobs.len() - self.last;
        let urgencies = Urgencies { deviation: arguments.deviation, ..Urgencies::default() };
        // Each job's deadline depends on its place among all, so that all are drawn.
        let drawn = urgencies.jobs(&base(&self.jobs), arguments.common.seed);
        let counted = drawn.get(first..).unwrap_or_default();
        let endings: Vec<Ending> = self.jobs.iter().skip(first).map(|job| job.ending).collect();
        let published = |method: Method| {
            let fates = fates_of(counted, self.nodes as usize, method, &arguments.choices());
            Row::published(method, &Outcome::of_endings(counted, &fates, &endings))
        };
        let mut rows: Vec<Row> = Method::ALL.into_iter().map(published).collect();
        let refresh = arguments.refresh;
        for &wanted in &arguments.probability {
            let options = ByProbabilityOptions { wanted, refresh };
            let fates = by_probability(&self.jobs, &drawn, self.nodes as usize, arguments.choices().sharing, options);
            let fates = fates.get(first..).unwrap_or_default();
            let outcome = Outcome::of_endings(counted, fates, &endings);
            rows.push(Row::on_shared_nodes(wanted, &outcome, &StandardErrors::of(counted, fates, &endings)));
        }
        let bar = evaluation::bar(&MultiProgress::with_draw_target(ProgressDrawTarget::stderr()), &self.name);
        bar.enable_steady_tick(Duration::from_millis(500));
        let replay = |options: &AdmissionOptions| {
            let progress = |done: usize, all: usize| {
                bar.set_length(all as u64);
                bar.set_position(done as u64);
            };
            admissions(&self.jobs, &self.deadlines, self.nodes, options, &progress).with_context(|| self.source.clone())
        };
        let mut calibration = Vec::new();
        for backfill in [AdmissionBackfill::Easy, AdmissionBackfill::Slurm] {
            let of = |wanted: Option<f64>, molding: bool| AdmissionOptions {
                wanted,
                backfill,
                molding,
                in_shadow: false,
                from: first + 1,
                refresh,
                seed: arguments.common.seed,
            };
            let shadow = replay(&of(None, false))?;
            rows.push(Row::replayed(&of(None, false), &shadow, &shadow));
            for wanted in &arguments.probability {
                let molded = backfill == AdmissionBackfill::Easy;
                for molding in [false, true].into_iter().take(1 + usize::from(molded)) {
                    let options = of(Some(*wanted), molding);
                    rows.push(Row::replayed(&options, &replay(&options)?, &shadow));
                }
                if arguments.shadow {
                    let found = replay(&AdmissionOptions { in_shadow: true, ..of(Some(*wanted), false) })?.calibration;
                    calibration.extend(found.map(|found| InShadow { scheduler: scheduler(backfill), wanted: *wanted, found }));
                }
            }
        }
        bar.finish_and_clear();
        Ok(AdmissionReport {
            log: self.name.clone(),
            file: self.source.clone(),
            jobs: self.last,
            history: first,
            nodes: self.nodes,
            seed: arguments.common.seed,
            rows,
            calibration,
            remarks: self.remarks.clone(),
        })
    }
}

fn base(jobs: &[Job]) -> Vec<BaseJob> {
    let base = |job: &Job| BaseJob { submit: job.submit, run_time: job.run_time, estimate: job.estimate, nodes: job.processors };
    jobs.iter().map(base).collect()
}

/// Replays each log.
///
/// # Errors
///
/// A log that can't be read or lacks time limits; it is named.
pub(super) fn reports(arguments: &Arguments) -> anyhow::Result<Vec<AdmissionReport>> {
    ensure!(!arguments.common.has_picture(), "--plot draws the published figures; leave it or --admission out");
    let logs = arguments.common.read_each(|path| WithDeadlines::read(path, arguments))?;
    logs.iter().map(|log| log.report(arguments)).collect()
}

/// The reports for people.
pub(super) fn text(reports: &[AdmissionReport]) -> String {
    let mut lines = Lines::default();
    for report in reports {
        lines.heading(&report.log);
        let [jobs, history, nodes] = [report.jobs as u64, report.history as u64, u64::from(report.nodes)].map(count);
        lines.line("replayed", format!("the last {jobs} jobs on {nodes} processors, after {history} that are the history"));
        lines.line("note", "fulfilled are per cent of the jobs that came to their own end by the log; one that failed or was cancelled");
        lines.line("", "before its deadline is withdrawn, and counts for nobody; ± is a standard error; refused in time are the");
        lines.line("", "refused jobs that are in time where all are admitted");
        let figures =
            ["wanted", "fulfilled %", "±", "kept", "±", "admitted", "late", "withdrawn", "refused in time", "slowdown", "work", "molded"];
        let mut table = figures_table(["policy", "scheduler", "molding"], figures);
        for row in &report.rows {
            let number = |number: Option<usize>| number.map_or_else(|| NOT_KNOWN.to_owned(), |number| count(number as u64));
            table.add_row([
                row.policy.to_owned(),
                row.scheduler.to_owned(),
                if row.molding { "yes" } else { "no" }.to_owned(),
                figure(row.wanted.as_ref()),
                figure(Some(&row.fulfilled_percent)),
                figure(row.fulfilled_standard_error.as_ref()),
                probability(row.kept.as_ref()),
                probability(row.kept_standard_error.as_ref()),
                number(Some(row.accepted)),
                number(Some(row.late)),
                number(Some(row.withdrawn)),
                number(row.refused_in_time),
                figure(row.mean_slowdown.as_ref()),
                figure(row.admitted_work.as_ref()),
                number(row.molded),
            ]);
        }
        lines.table(&table);
        for shadow in &report.calibration {
            lines.heading(&format!("{}, {}, {}: forecast and kept, refused jobs in shadow", report.log, shadow.scheduler, shadow.wanted));
            lines.table(&calibration_table(&shadow.found));
        }
    }
    lines.text()
}

fn calibration_table(found: &Calibration) -> Table {
    let mut table = figures_table(["by", "group"], ["admitted", "forecast", "kept", "refused", "forecast", "kept"]);
    let all = [found.all.clone()];
    let groups = [("", &all[..]), ("forecast", &found.by_forecast), ("queue", &found.by_queue), ("processors", &found.by_size)];
    for (by, groups) in groups {
        for group in groups {
            let [admitted, refused] = [group.admitted, group.refused]
                .map(|held: Held| [count(held.jobs as u64), probability(held.forecast.as_ref()), probability(held.kept.as_ref())]);
            table.add_row([by.to_owned(), group.name.clone()].into_iter().chain(admitted).chain(refused));
        }
    }
    table
}
