//! What the evaluations share: the options, reading the logs, all cores, the progress, and the
//! report.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions};
use command_parts::output::{self, FormatArguments};
use command_parts::plot;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use job_types::policy::Others;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use simulator::remarks::Remarks;

use super::Reports;
use super::log::EvaluatedLog;

/// What all evaluations take beside what each is about: which logs, and how.
#[derive(Debug, Args)]
pub(super) struct CommonArguments {
    /// The logs, in the Standard Workload Format or as sacct printed them, plain or packed with
    /// gzip, xz or zstd; `-` is standard input. Several are shown in one table.
    #[arg(value_name = "LOG", required = true)]
    pub(super) logs: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) log_file: LogFileOptions,

    /// Where random numbers begin: the same options and seed give the same figures, whatever the
    /// number of threads.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// How many threads to use [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Also draw the figures into this file, which has to end in .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = plot::file)]
    plot: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArguments,
}

impl CommonArguments {
    /// The threads to evaluate jobs `from` to `to` on, once it is known that this can be done:
    /// nothing is read before.
    ///
    /// # Errors
    ///
    /// Jobs of which the last stands before the first, and a picture that could not be written.
    pub(super) fn threads(&self, from: usize, to: Option<usize>) -> anyhow::Result<ThreadPool> {
        ensure!(to.is_none_or(|to| from <= to), "--from {from} lies behind --to {}", to.unwrap_or(0));
        plot::check_folder(self.plot.as_deref())?;
        let pool = ThreadPoolBuilder::new().num_threads(self.threads.map_or(0, NonZeroUsize::get)).build();
        pool.context("cannot start the threads; try --threads 1")
    }

    /// Reads each log.
    ///
    /// # Errors
    ///
    /// Those of `read`, of the first log that has one.
    pub(super) fn read_each<L>(&self, read: impl Fn(&Path) -> anyhow::Result<L>) -> anyhow::Result<Vec<L>> {
        self.logs.iter().map(|path| read(path)).collect()
    }

    /// Whether a picture is asked for.
    pub(super) fn has_picture(&self) -> bool {
        self.plot.is_some()
    }

    /// Draws what was found where that is asked for, and prints the report.
    ///
    /// # Errors
    ///
    /// A picture or a report that can't be written.
    pub(super) fn report<L: Serialize + OfLogs>(
        &self,
        found: Vec<L>,
        draw: impl FnOnce(&Path, &[L]) -> anyhow::Result<()>,
        text: impl FnOnce(&Reports<L>) -> String,
    ) -> Result<(), Failure> {
        let reports = Reports::from(found);
        if let Some(path) = &self.plot {
            draw(path, reports.logs()).map_err(Failure::Input)?;
        }
        output::print(self.format, &reports, text)?;
        let mut told: Vec<&str> = Vec::new();
        for (file, remarks) in reports.logs().iter().flat_map(OfLogs::logs) {
            // A log of which there are several reports was read once.
            if !told.contains(&file) {
                told.push(file);
                log_file::tell(file, remarks);
            }
        }
        Ok(())
    }
}

/// A report on logs that were read.
pub(super) trait OfLogs {
    /// The files, each with what was left out of it or taken as not known.
    fn logs(&self) -> Vec<(&str, &Remarks)>;
}

/// Which logs, from which of their jobs on, and how.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// The first job to forecast, counted from 1 among the jobs that ran, in order of submission.
    /// Those before it are the history [default: 20001, of a log with fewer than 30000 jobs the one
    /// behind its first third].
    #[arg(long, value_name = "N")]
    from: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(super) common: CommonArguments,
}

/// The first job that is looked at: the one that was asked for, or else `usual`, unless the log is
/// so short that less than a third of it would be left: then the one behind its first third, as in
/// `assess`. `to` is the last job that is asked for; jobs are counted from 1.
pub(super) fn first_job(asked: Option<NonZeroUsize>, usual: usize, jobs: usize, to: Option<usize>) -> usize {
    let last = to.map_or(jobs, |to| to.min(jobs));
    let left = (last + 1).saturating_sub(usual);
    let default = if left > 0 && left.saturating_mul(3) >= last { usual } else { last / 3 + 1 };
    asked.map_or(default, NonZeroUsize::get)
}

/// Returns the least that [`first_job`] can be, before the log is read.
pub(super) fn least_first_job(asked: Option<NonZeroUsize>) -> usize {
    asked.map_or(1, NonZeroUsize::get)
}

/// The first job that is forecast of a log that is long enough.
const USUAL_FIRST_JOB: usize = 20_001;

/// One evaluation of one log.
pub(super) struct Task<'a> {
    pub(super) log: &'a EvaluatedLog,
    /// First job, counted from 1.
    pub(super) from: usize,
    /// Last job; `None` is the last of the log.
    pub(super) to: Option<usize>,
    pub(super) seed: u64,
    progress: ProgressBar,
}

impl Task<'_> {
    /// Shows that `done` of `all` is done.
    pub(super) fn progress(&self, done: usize, all: usize) {
        self.progress.set_length(all as u64);
        self.progress.set_position(done as u64);
    }
}

impl RunArguments {
    /// Evaluates each log up to its job `to`, which is given here because its default differs. All
    /// logs are read before the first is evaluated, so that a bad one is known at once.
    ///
    /// # Errors
    ///
    /// A log that can't be read or lacks what is asked for, with its name.
    pub(super) fn run<R: Send, E: Into<anyhow::Error>>(
        &self,
        to: Option<NonZeroUsize>,
        evaluate: impl Fn(&Task<'_>) -> Result<R, E> + Sync,
    ) -> Result<Vec<(EvaluatedLog, R)>, Failure> {
        self.evaluated(to.map(NonZeroUsize::get), evaluate).map_err(Failure::Input)
    }

    fn evaluated<R: Send, E: Into<anyhow::Error>>(
        &self,
        to: Option<usize>,
        evaluate: impl Fn(&Task<'_>) -> Result<R, E> + Sync,
    ) -> anyhow::Result<Vec<(EvaluatedLog, R)>> {
        let pool = self.common.threads(least_first_job(self.from), to)?;
        let logs = self.common.read_each(|path| EvaluatedLog::read(path, &self.common.log_file))?;
        let first = |log: &EvaluatedLog| first_job(self.from, USUAL_FIRST_JOB, log.workload.jobs.len(), to);
        for log in &logs {
            let (source, jobs, from) = (&log.source, log.workload.jobs.len(), first(log));
            let [from_text, jobs_text] = [from, jobs].map(|number| output::count(number as u64));
            ensure!(from <= jobs, "{source}: --from asks for job {from_text}, and {jobs_text} jobs ran; choose a smaller --from");
        }
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let tasks: Vec<Task<'_>> =
            logs.iter().map(|log| Task { log, from: first(log), to, seed: self.common.seed, progress: bar(&bars, &log.name) }).collect();
        let reports: Vec<anyhow::Result<R>> = pool.install(|| {
            let one = |task: &Task<'_>| {
                task.progress.reset();
                task.progress.enable_steady_tick(Duration::from_millis(500));
                let report = evaluate(task).map_err(|error| error.into().context(task.log.source.clone()));
                task.progress.finish_and_clear();
                report
            };
            tasks.par_iter().with_max_len(1).map(one).collect()
        });
        drop(tasks);
        let reports = reports.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        Ok(logs.into_iter().zip(reports).collect())
    }
}

/// How far one of several evaluations has come that share a bar.
pub(super) struct CellProgress {
    bar: ProgressBar,
    /// What it has moved the bar by.
    shown: Cell<u64>,
}

impl CellProgress {
    /// The number of steps by which a whole evaluation moves the bar.
    pub(super) const WHOLE: u64 = 1_000;

    /// Creates the progress before anything is done.
    pub(super) fn new(bar: ProgressBar) -> Self {
        Self { bar, shown: Cell::new(0) }
    }

    /// Shows that `done` of `all` is done.
    pub(super) fn show(&self, done: usize, all: usize) {
        let moved = (done as u64 * Self::WHOLE / (all as u64).max(1)).min(Self::WHOLE);
        self.bar.inc(moved.saturating_sub(self.shown.get()));
        self.shown.set(moved.max(self.shown.get()));
    }
}

/// A bar on a terminal, nothing elsewhere.
pub fn bar(bars: &MultiProgress, name: &str) -> ProgressBar {
    let bar = bars.add(ProgressBar::new(1));
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {elapsed} since the start, about {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(name.to_owned());
    bar
}

/// A rule for what a change may do to others, as the setting has it.
pub(super) fn others(text: &str) -> Result<Others, String> {
    let known = || Others::ALL.iter().map(|others| others.as_str());
    let named = Others::ALL.iter().find(|others| others.as_str() == text);
    named.copied().ok_or_else(|| format!("it is one of {}", known().collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_first_job_is_taken_where_a_third_of_the_jobs_is_left() {
        let default = |usual, jobs, to| first_job(None, usual, jobs, to);
        assert_eq!([29_999, 30_000, 100_000].map(|jobs| default(20_001, jobs, None)), [10_000, 20_001, 20_001]);
        assert_eq!([14_999, 15_000].map(|jobs| default(10_001, jobs, None)), [5_000, 10_001]);
        assert_eq!([(100_000, 29_999), (90, 60_000)].map(|(jobs, to)| default(20_001, jobs, Some(to))), [10_000, 31]);
        assert_eq!(default(20_001, 0, None), 1);
        assert_eq!(first_job(NonZeroUsize::new(7), 20_001, 90, None), 7);
    }

    #[test]
    fn a_bar_moves_within_each_of_the_evaluations_that_share_it() {
        let bar = ProgressBar::hidden();
        let (one, other) = (CellProgress::new(bar.clone()), CellProgress::new(bar.clone()));
        one.show(1, 4);
        other.show(1, 2);
        one.show(1, 5);
        assert_eq!(bar.position(), 750, "it never goes back");
        one.show(4, 4);
        other.show(7, 7);
        assert_eq!(bar.position(), 2 * CellProgress::WHOLE);
    }
}
