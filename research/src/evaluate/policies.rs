//! What the evaluations of molding and of deferral share: the options, the runs, and the report.

mod picture;
#[cfg(test)]
mod sample;
mod text;

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use command_parts::duration::{self, between};
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions, read_workload};
use indicatif::{MultiProgress, ProgressDrawTarget};
use job_types::policy::{Others, Policy};
use job_types::time::Seconds;
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use simulator::engine::Scheduler;
use simulator::experiment::{Ablations, Comparison, Method, Options, Protocol, SpeedUpModel, compare_under, easy, slurm_defaults};
use simulator::remarks::Remarks;
use simulator::workload::{Rules, Workload};
use slurm_conf::duration::DAY_SECONDS;

use super::published::{Published, PublishedMinutes};
use super::run;
use super::run::{CellProgress, CommonArguments, OfLogs};

/// The oldest state that a replay can decide from, in seconds.
pub(super) const OLDEST_STATE: i64 = 365 * DAY_SECONDS;

/// The most that jobs may be submitted later, in seconds: more would be another log.
const LONGEST_JITTER: i64 = 3_600;

/// Which logs, which of their jobs, and how.
#[derive(Debug, Args)]
pub(super) struct PolicyArguments {
    /// What a job runs at another size [default: both, one after the other].
    #[arg(long, value_enum)]
    protocol: Option<ProtocolName>,

    /// Which curve the speed-up of a computation follows, with --protocol work-conserving.
    #[arg(long, value_enum, default_value_t)]
    speedup: SpeedUpName,

    /// The part of the jobs that may be changed, drawn job by job: 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 1.0, value_parser = part)]
    adoption: f64,

    /// The scheduler under which the log is replayed.
    #[arg(long, value_enum, default_value_t)]
    scheduler: SchedulerName,

    /// How old the state gets that the default decides from: as a snapshot that is published so
    /// often, by the daemon every 30s. With 0 it sees the present.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = between::<0, OLDEST_STATE>)]
    refresh: Seconds,

    /// Leave a part of the default out, to see what it is worth.
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    without: Vec<Part>,

    /// Also change jobs at sizes that their user never ran, which the plugin leaves alone.
    #[arg(long)]
    first_runs: bool,

    /// The least part of its response time that a job has to gain to be changed by the default, as
    /// the setting of that name: 0 to 0.999.
    #[arg(long, value_name = "PART", default_value_t = Policy::default().min_gain, value_parser = least_part)]
    min_gain: f64,

    /// The least time that it has to gain as well, as the setting of that name.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::any)]
    min_gain_time: Seconds,

    /// What a change by the default may do to others, as the setting of that name: "ignore", "sum"
    /// or "not worse".
    #[arg(long, value_name = "RULE", default_value = Policy::default().others.as_str(), value_parser = run::others)]
    others: Others,

    /// Submit each job up to so much later, drawn job by job with --seed, with the policy and
    /// without: over several seeds that shows how far chance alone moves the figures. With 0s the
    /// log is replayed as it is.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = between::<0, LONGEST_JITTER>)]
    jitter: Seconds,

    /// The first job that may be changed, counted from 1 among the jobs that ran, in order of
    /// submission. Those before it are the history [default: 10001, of a log with fewer than 15000
    /// jobs the one behind its first third].
    #[arg(long, value_name = "N")]
    from: Option<NonZeroUsize>,

    #[command(flatten)]
    common: CommonArguments,
}

/// The first job that may be changed, or ask, in a log that is long enough.
pub(super) const USUAL_FIRST_JOB: usize = 10_001;

/// What a job runs at another size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProtocolName {
    /// A run time drawn from the user's own runs at that size: the job becomes another one.
    Paper,
    /// What the same computation takes there, by a speed-up curve that no policy sees.
    WorkConserving,
}

impl ProtocolName {
    fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::WorkConserving => "work-conserving",
        }
    }
}

/// Schedulers of the replays, first come, first served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SchedulerName {
    /// EASY backfilling.
    #[default]
    Easy,
    /// Slurm's two schedulers with their defaults.
    Slurm,
}

impl SchedulerName {
    fn scheduler(self) -> Scheduler {
        match self {
            Self::Easy => easy(),
            Self::Slurm => slurm_defaults(),
        }
    }
}

/// Curves of speed-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SpeedUpName {
    /// A. Downey's model, HPDC 1997.
    #[default]
    Downey,
    /// Amdahl's law.
    Amdahl,
}

/// Parts of the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    /// Jobs are made larger where many processors are free.
    Growth,
    /// Parts of the size as written and its double are tried; without it the sizes that the user
    /// ran.
    OtherSizes,
    /// Waits come from a plan of the queue; without it from past waits.
    Plan,
    /// What was decided since the state was read is counted.
    Claims,
}

fn part(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err("a part lies between 0 and 1".to_owned()) }
}

fn least_part(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=0.999).contains(&part) { Ok(part) } else { Err("it lies between 0 and 0.999".to_owned()) }
}

/// A policy by the name that it has on the command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedMethod {
    pub(super) name: &'static str,
    pub(super) method: Method,
}

/// What is evaluated.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) policies: Vec<NamedMethod>,
    /// The last job that may be changed.
    pub(super) to: NonZeroUsize,
    /// Which of the published figures are about it, and where they stand.
    pub(super) published: fn(&Published) -> PublishedMinutes,
    pub(super) source: &'a str,
}

/// What was published, in seconds as ours are.
#[derive(Debug, Serialize)]
pub(super) struct PublishedOutcomes {
    baseline: PublishedOutcome,
    ours: PublishedOutcome,
    source: String,
    remark: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct PublishedOutcome {
    mean_wait_s: f64,
    mean_run_s: f64,
    mean_response_s: f64,
}

impl From<[f64; 3]> for PublishedOutcome {
    fn from([wait, run, response]: [f64; 3]) -> Self {
        let [mean_wait_s, mean_run_s, mean_response_s] = [wait, run, response].map(|minutes| minutes * 60.0);
        Self { mean_wait_s, mean_run_s, mean_response_s }
    }
}

/// What was found on one log with one policy by one protocol.
#[derive(Debug, Serialize)]
pub(super) struct PolicyReport {
    #[serde(flatten)]
    replayed: ReplayedJobs,
    protocol: ProtocolName,
    policy: &'static str,
    /// The speed-up curve of the work-conserving protocol; `None` under the other one.
    speedup: Option<SpeedUpName>,
    adoption: f64,
    scheduler: SchedulerName,
    refresh_s: i64,
    without: Vec<Part>,
    first_runs: bool,
    min_gain: f64,
    min_gain_time_s: i64,
    policy_others: Others,
    jitter_s: i64,
    published: Option<PublishedOutcomes>,
    #[serde(flatten)]
    found: Comparison,
}

/// Which jobs of which log were replayed, as reports say it.
#[derive(Debug, Serialize)]
pub(super) struct ReplayedJobs {
    pub(super) log: String,
    pub(super) file: String,
    /// Jobs that ran.
    pub(super) jobs: usize,
    pub(super) processors: u32,
    pub(super) from: usize,
    pub(super) to: usize,
    /// What was left out of the log, or taken as not known.
    pub(super) remarks: Remarks,
}

/// A log that is replayed.
pub(super) struct ReplayedLog {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) workload: Workload,
    published: Option<&'static Published>,
    /// What was left out of the log, or taken as not known.
    pub(super) remarks: Remarks,
}

impl ReplayedLog {
    /// Reads the jobs that ran: bad records are left out, and a job that ran too long is cut at
    /// what it asked for.
    ///
    /// # Errors
    ///
    /// A log that can't be read, with its name.
    pub(super) fn read(path: &std::path::Path, options: &LogFileOptions) -> anyhow::Result<Self> {
        let source = path.display().to_string();
        let (workload, remarks) = read_workload(path, options, &Rules::of_policies())?;
        let name = log_file::name(path);
        Ok(Self { published: Published::about(&name, &workload.header), name, source, workload, remarks })
    }

    /// Returns the jobs `from` to `to` of the log, or to its last job.
    pub(super) fn replayed(&self, from: usize, to: usize) -> ReplayedJobs {
        let Workload { jobs, processors, .. } = &self.workload;
        let (log, file) = (self.name.clone(), self.source.clone());
        ReplayedJobs { log, file, jobs: jobs.len(), processors: *processors, from, to: to.min(jobs.len()), remarks: self.remarks.clone() }
    }

    /// Replays each of `cells`, which belongs to the log that `log_of` says, on all threads of the
    /// pool, and shows how far they have come together.
    ///
    /// # Errors
    ///
    /// The first cell's that can't be replayed, with the name of its log.
    pub(super) fn replay_all<'a, C: Sync, R: Send>(
        pool: &ThreadPool,
        cells: &[C],
        log_of: impl Fn(&C) -> &'a Self + Sync,
        replay: impl Fn(&C, &CellProgress) -> anyhow::Result<R> + Sync,
    ) -> anyhow::Result<Vec<R>> {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let bar = run::bar(&bars, "replays");
        bar.set_length(cells.len() as u64 * CellProgress::WHOLE);
        bar.enable_steady_tick(Duration::from_millis(500));
        let one = |cell: &C| {
            let progress = CellProgress::new(bar.clone());
            let found = replay(cell, &progress).with_context(|| log_of(cell).source.clone());
            progress.show(1, 1);
            found
        };
        let found: Vec<anyhow::Result<R>> = pool.install(|| cells.par_iter().with_max_len(1).map(one).collect());
        bar.finish_and_clear();
        found.into_iter().collect()
    }
}

impl ReplayedJobs {
    /// The file, with what was left out of it or taken as not known.
    pub(super) fn read_log(&self) -> (&str, &Remarks) {
        (&self.file, &self.remarks)
    }
}

impl OfLogs for PolicyReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![self.replayed.read_log()]
    }
}

impl PolicyArguments {
    /// Answers a question about each log, each policy and each protocol, all side by side, and
    /// prints the report.
    ///
    /// # Errors
    ///
    /// A log that can't be read or has too few jobs, with its name.
    pub(super) fn answer(&self, question: &Question<'_>) -> Result<(), Failure> {
        let reports = self.reports(question).map_err(Failure::Input)?;
        self.common.report(reports, picture::draw, |reports| text::report(reports.logs(), question.source))
    }

    fn reports(&self, question: &Question<'_>) -> anyhow::Result<Vec<PolicyReport>> {
        let pool = self.common.threads(run::least_first_job(self.from), Some(question.to.get()))?;
        let logs = self.common.read_each(|path| ReplayedLog::read(path, &self.common.log_file))?;
        let protocols = self.protocol.map_or_else(|| vec![ProtocolName::Paper, ProtocolName::WorkConserving], |protocol| vec![protocol]);
        let mut tasks = Vec::new();
        for log in &logs {
            for protocol in &protocols {
                tasks.extend(question.policies.iter().map(|policy| (log, *protocol, *policy)));
            }
        }
        ReplayedLog::replay_all(&pool, &tasks, |task| task.0, |(log, protocol, policy), _| self.report(question, log, *protocol, *policy))
    }

    fn report(
        &self,
        question: &Question<'_>,
        log: &ReplayedLog,
        protocol: ProtocolName,
        policy: NamedMethod,
    ) -> anyhow::Result<PolicyReport> {
        let left_out = |part| self.without.contains(&part);
        let options = Options {
            protocol: if protocol == ProtocolName::Paper { Protocol::Paper } else { Protocol::WorkConserving },
            method: policy.method,
            speed_up: if self.speedup == SpeedUpName::Downey { SpeedUpModel::Downey } else { SpeedUpModel::Amdahl },
            adoption: self.adoption,
            from: run::first_job(self.from, USUAL_FIRST_JOB, log.workload.jobs.len(), Some(question.to.get())),
            to: question.to.get(),
            refresh: self.refresh,
            parts: Ablations {
                growth: !left_out(Part::Growth),
                any_size: !left_out(Part::OtherSizes),
                first_runs: self.first_runs,
                plan: !left_out(Part::Plan),
                claims: !left_out(Part::Claims),
                site: Policy { min_gain: self.min_gain, min_gain_time: self.min_gain_time, others: self.others, ..Policy::default() },
                agreement: true,
                ..Ablations::default()
            },
            jitter: self.jitter,
            seed: self.common.seed,
        };
        let Workload { jobs, processors, .. } = &log.workload;
        let found = compare_under(&|_| self.scheduler.scheduler(), jobs, *processors, &options, &|_, _| ())?;
        let published = log.published.map(|published| {
            let minutes = (question.published)(published);
            PublishedOutcomes {
                baseline: PublishedOutcome::from(minutes.baseline),
                ours: PublishedOutcome::from(minutes.ours),
                source: question.source.to_owned(),
                remark: published.remark.as_deref(),
            }
        });
        Ok(PolicyReport {
            replayed: log.replayed(options.from, options.to),
            protocol,
            policy: policy.name,
            speedup: (protocol == ProtocolName::WorkConserving).then_some(self.speedup),
            adoption: self.adoption,
            scheduler: self.scheduler,
            refresh_s: self.refresh.0,
            without: self.without.clone(),
            first_runs: self.first_runs,
            min_gain: self.min_gain,
            min_gain_time_s: self.min_gain_time.0,
            policy_others: self.others,
            jitter_s: self.jitter.0,
            published,
            found,
        })
    }
}
