//! The thread that reads the queue and the partitions from slurmctld.

use std::collections::HashSet;
use std::sync::Arc;

use crossbeam::channel::{Receiver, Sender};
use predictor_core::size::Size;
use predictor_core::time::{Seconds, UnixTime};
use slurm_sys::client::controller::{self, QueuedJob};
use slurm_sys::client::{ClientError, JobState};

use crate::accounting::{first_partition, now, shared};
use crate::news::{Cluster, Live, News};

/// Reads at each request, until nobody asks any more.
pub(crate) fn run(requests: &Receiver<()>, news: &Sender<News>) {
    let mut partitions = HashSet::new();
    for () in requests {
        let answer = read(&mut partitions).map(Box::new);
        if news.send(News::Controller(answer)).is_err() {
            return;
        }
    }
}

fn read(names: &mut HashSet<Arc<str>>) -> Result<Cluster, ClientError> {
    let partitions = controller::partitions()?;
    let jobs = controller::jobs()?;
    let jobs = jobs.iter().filter_map(|job| live(job, names)).collect();
    Ok(Cluster { read_at: UnixTime(now()), partitions, jobs })
}

/// What the demand and the forecasts need of a job; `None` for one that has ended.
fn live(job: &QueuedJob, names: &mut HashSet<Arc<str>>) -> Option<Live> {
    let has_nodes = match job.state {
        JobState::Pending => false,
        JobState::Running | JobState::Suspended => true,
        _ => return None,
    };
    let tasks = if has_nodes { 1 } else { job.task_count };
    let start = job.started.filter(|_start| has_nodes);
    Some(Live {
        user: job.user_id,
        partition: shared(first_partition(job.partition.as_deref()?), names),
        size: Size { nodes: job.nodes.max(1).saturating_mul(tasks), cpus: job.cpus.max(1).saturating_mul(tasks) },
        tasks,
        limit: job.time_limit_seconds.map(Seconds),
        eligible: job.eligible.map(UnixTime).or(start.map(UnixTime)),
        start: start.map(UnixTime),
        runs: job.state == JobState::Running,
    })
}
