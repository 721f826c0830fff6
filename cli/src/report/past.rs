//! The stretch of the past that a report is about, and slurmdbd's records of it.

use anyhow::{Context, anyhow};
use clap::Args;
use command_parts::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use slurm_conf::moment;
use slurm_sys::client::{AccountingConnection, EndedJobRecord};

/// How much of the past is asked for at once, in seconds: libslurm holds an answer in memory.
const WINDOW_S: i64 = 86_400;

/// Says which jobs a report is about.
#[derive(Debug, Args)]
pub(crate) struct PastArguments {
    /// Jobs that have ended since then, as sbatch --begin takes a time: 2026-03-01, now-90days.
    #[arg(long, value_name = "TIME", default_value = "now-30days")]
    since: String,

    /// Only jobs of these partitions, separated by commas.
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    partition: Vec<String>,
}

/// A stretch of the past that ends now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past {
    pub(crate) since: UnixTime,
    pub(crate) until: UnixTime,
}

impl PastArguments {
    /// The stretch that is meant.
    pub(crate) fn past(&self) -> anyhow::Result<Past> {
        let until = output::now();
        let since = moment::parse(&self.since, until.0, &TimeZone::system()).map(UnixTime).context("--since")?;
        if since >= until {
            return Err(anyhow!("--since: that is still to come, and nothing has ended since"));
        }
        Ok(Past { since, until })
    }

    /// Whether jobs of all partitions are meant.
    pub(crate) fn means_all_partitions(&self) -> bool {
        self.partition.is_empty()
    }

    /// The partition of a job, which is the first of those that it names; `None` where jobs of that
    /// partition are not asked for.
    pub(crate) fn wanted<'a>(&self, partitions: Option<&'a str>) -> Option<&'a str> {
        let partition = partitions.and_then(|names| names.split(',').next()).unwrap_or_default();
        let is_wanted = self.partition.is_empty() || self.partition.iter().any(|wanted| wanted == partition);
        is_wanted.then_some(partition)
    }

    /// Reads what has ended in a stretch, a day at a time, and tells each record of the partitions
    /// that are asked for, with its partition.
    pub(crate) fn read(&self, cluster: &str, past: Past, mut tell: impl FnMut(&EndedJobRecord<'_>, &str)) -> anyhow::Result<()> {
        let mut connection = AccountingConnection::open()?;
        let bar = bar(past);
        let mut from = past.since.0;
        // What ends in this very second belongs to it.
        while from <= past.until.0 {
            let to = (from + WINDOW_S).min(past.until.0 + 1);
            connection.ended_jobs(cluster, from..to, |record| {
                if let Some(partition) = self.wanted(record.partition.as_deref()) {
                    tell(&record, partition);
                }
            })?;
            from = to;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// A bar on a terminal, with a day for a step. It has no thread of its own, because standard error
/// is closed while libslurm works.
fn bar(past: Past) -> ProgressBar {
    let days = (past.until - past.since).0 / WINDOW_S + 1;
    let bar = ProgressBar::with_draw_target(Some(days.unsigned_abs()), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} days, about {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
