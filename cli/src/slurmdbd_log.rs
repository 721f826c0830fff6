//! slurmdbd's jobs as a workload log.

use std::ops::Range;
use std::time::Duration;

use ::slurmdbd_log::{add, read};
use anyhow::{Context, ensure};
use command_parts::output::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simulator::accounting::{Choices, LogBuilder};
use simulator::remarks::Remarks;
use simulator::swf::Log;
use slurm_sys::client::{self, AccountingConnection, EndedJobRecord, JobState, controller};

/// Which jobs of slurmdbd's, and what their log says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SlurmdbdJobs<'a> {
    /// The cluster; `None` is the one that slurm.conf names.
    pub(crate) cluster: Option<&'a str>,
    /// The stretch in which the jobs ended, in Unix seconds, its end excluded.
    pub(crate) ended: Range<i64>,
    /// Processors of the machine; if `None`, those that slurmctld counts now.
    pub(crate) processors: Option<u64>,
    /// Whether the header tells the names of the partitions.
    pub(crate) with_partition_names: bool,
}

/// Reads ended jobs from slurmdbd, in windows of time so that no answer is large. Also what is to
/// be said of the reading. A bar shows how far it has come, on a terminal.
///
/// # Errors
///
/// slurmdbd can't be asked, or has no job of that time.
pub(crate) fn read_slurmdbd(jobs: &SlurmdbdJobs<'_>) -> anyhow::Result<(Log, Remarks)> {
    // This comes before libslurm can end the process because of a slurm.conf that it cannot use.
    let site = client::site()?;
    let cluster = jobs.cluster.unwrap_or(&site.cluster);
    let mut connection = AccountingConnection::open().context("cannot connect to slurmdbd")?;
    connection.check(cluster)?;
    let qos = connection.qos_names()?;
    let (mut builder, mut elsewhere) = (LogBuilder::new(), 0);
    let bar = bar(&jobs.ended);
    let mut each = |record: &EndedJobRecord<'_>| match record.state {
        JobState::Revoked => elsewhere += 1,
        _ => {
            add(&mut builder, record, &qos);
            bar.set_message(format!("{} jobs", count(builder.len() as u64)));
        }
    };
    read(&mut connection, cluster, &jobs.ended, &mut each, &mut |until| bar.set_position((until - jobs.ended.start).unsigned_abs()))?;
    bar.finish_and_clear();
    ensure!(!builder.is_empty(), "slurmdbd has no job of cluster {cluster:?} that ended in that time; ask for more with --since");
    let mut remarks = Remarks::default();
    remarks.count(elsewhere, "of jobs that another cluster of the federation ran, left out");
    let machine = machine(jobs, cluster == site.cluster, &mut remarks);
    let choices = Choices {
        source: "from slurmdbd, by queuecast",
        processors: jobs.processors,
        processors_now: machine.map(|(processors, _)| processors),
        nodes: machine.map(|(_, nodes)| nodes),
        with_partition_names: jobs.with_partition_names,
    };
    let (log, of_jobs) = builder.finish(&choices);
    remarks.extend(of_jobs);
    Ok((log, remarks))
}

/// Processors and nodes of the cluster as slurmctld counts them now, where nobody said how large
/// the machine is.
fn machine(jobs: &SlurmdbdJobs<'_>, is_own: bool, remarks: &mut Remarks) -> Option<(u64, u64)> {
    if jobs.processors.is_some() || !is_own {
        return None;
    }
    let nodes = controller::partitions().and_then(|partitions| controller::nodes(&partitions));
    match nodes {
        Ok(nodes) => {
            let cpus = nodes.iter().map(|node| u64::from(node.cpus)).sum::<u64>();
            (cpus > 0).then_some((cpus, nodes.len() as u64))
        }
        Err(error) => {
            remarks.note(format!("slurmctld can't be asked how large the machine is ({error})"));
            None
        }
    }
}

/// A bar on a terminal, nothing elsewhere. It has no thread of its own, because standard error is
/// closed while libslurm works.
fn bar(past: &Range<i64>) -> ProgressBar {
    let seconds = (past.end - past.start).max(0).unsigned_abs();
    let bar = ProgressBar::with_draw_target(Some(seconds), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("slurmdbd {wide_bar} {percent:>3} % of the time, {msg}, about {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.with_elapsed(Duration::ZERO)
}
