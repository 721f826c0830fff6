//! What slurmctld has answered, as the daemon knows the cluster.

use std::collections::HashSet;
use std::sync::Arc;

use job_types::record::SealKey;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::limits::AccountingLimits;
use slurm_sys::client::controller::{Node, Partition, Priorities, QueuedJob, Reservation};

use crate::known::cluster::{Cluster, Queue};
use crate::known::promised_jobs::PromisedJobs;
use crate::known::shared_nodes::SharedNodes;
use crate::known::submissions::Submissions;
use crate::read::limits;
use crate::read::queued_runs::{asked, ended, live};

/// slurmctld's answers of one reading.
#[derive(Debug)]
pub(super) struct Answers {
    /// When the queue was asked for, by this machine's clock.
    pub(super) read_at: UnixTime,
    /// By how many seconds slurmctld's clock was ahead of this machine's; `None` if it told no
    /// time.
    pub(super) controller_ahead: Option<Seconds>,
    pub(super) partitions: Vec<Partition>,
    pub(super) nodes: Vec<Node>,
    pub(super) reservations: Vec<Reservation>,
    /// The jobs, without records that are not believed.
    pub(super) queue: Vec<QueuedJob>,
    pub(super) limits: Arc<AccountingLimits>,
    pub(super) priorities: Arc<Priorities>,
    /// The key by which records are sealed.
    pub(super) record_key: Option<SealKey>,
}

/// What goes on from one reading to the next.
#[derive(Debug, Default)]
pub(super) struct Conversion {
    /// One shared copy of each name of a partition, an account or a quality of service.
    names: HashSet<Arc<str>>,
    submissions: Submissions,
}

impl Conversion {
    /// The cluster that these answers describe.
    pub(super) fn cluster(&mut self, answers: Answers) -> Cluster {
        let Answers { read_at, controller_ahead, partitions, nodes, reservations, queue, limits, priorities, record_key } = answers;
        let names = &mut self.names;
        let PromisedJobs { reserved, admitted, slots } = PromisedJobs::new(&queue, asked, priorities.enforces_limits);
        Cluster {
            read_at,
            controller_ahead,
            cpus: nodes.iter().fold(0u32, |sum, node| sum.saturating_add(node.cpus)),
            jobs: queue.iter().filter_map(|job| live(job, names, read_at)).collect(),
            ended: queue.iter().filter_map(|job| ended(job, names)).collect(),
            shared_nodes: SharedNodes::new(&partitions, &nodes, &queue, asked, read_at),
            reserved,
            admitted,
            slots,
            submissions: Arc::new(self.submissions.seen(&queue, asked, read_at)),
            priorities,
            queue: Queue::new(&nodes, reservations, &queue, names),
            limits,
            partition_limits: partitions.iter().map(|partition| limits::of_partition(partition, &nodes)).collect(),
            partitions,
            record_key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::made_up::{NOW, job, main_partition, node, running};
    use job_types::number::JobId;
    use slurm_sys::client::JobState;
    use slurm_sys::client::controller::NodeState;

    /// Three nodes with four CPUs each, of which one is down, in the partition `main`.
    fn answers(queue: Vec<QueuedJob>) -> Answers {
        Answers {
            read_at: UnixTime(NOW),
            controller_ahead: Some(Seconds(3)),
            partitions: vec![Partition { max_nodes: Some(2), ..main_partition() }],
            nodes: vec![node(0, NodeState::Busy), node(1, NodeState::Idle), node(2, NodeState::Unavailable)],
            reservations: Vec::new(),
            queue,
            limits: Arc::default(),
            priorities: Arc::new(Priorities { plugin: String::new(), only_grows: false, site_factor_plugin: None, enforces_limits: true }),
            record_key: None,
        }
    }

    /// A job with the record of what was promised to it.
    fn with_record(job: QueuedJob, written: &str) -> QueuedJob {
        let head = format!(r#""version":1,"generation":7,"at":{},"mode":"enforce","asked":{{"nodes":1,"cpus":4}}"#, NOW - 100);
        QueuedJob { admin_comment: Some(format!(r#"{{"queuecast":{{{head},"written":{{{written}}}}}}}"#)), ..job }
    }

    #[test]
    fn each_job_is_where_those_look_that_need_it() {
        let queue = vec![
            job(1, JobState::Pending, 1),
            running(2, 0, 0, 60),
            QueuedJob { state: JobState::Suspended, ..running(3, 0, 0, 60) },
            QueuedJob { state: JobState::Completing, ended: Some(NOW), ..running(4, 0, 0, 60) },
            QueuedJob { state: JobState::Completed, ended: Some(NOW), ..running(5, 0, 0, 60) },
            with_record(job(6, JobState::Pending, 1), &format!(r#""reserved_at":{},"wanted":0.9"#, NOW + 600)),
        ];
        let cluster = Conversion::default().cluster(answers(queue));
        let numbers = |jobs: &[JobId]| jobs.iter().map(|job| job.0).collect::<Vec<_>>();
        let jobs: Vec<JobId> = cluster.jobs.iter().map(|job| job.run.id.job).collect();
        assert_eq!(numbers(&jobs), [1, 2, 3, 6]);
        let ended: Vec<JobId> = cluster.ended.iter().map(|run| run.id.job).collect();
        assert_eq!(numbers(&ended), [5]);
        let planned: Vec<JobId> = cluster.queue.jobs.iter().map(|job| job.job_id).collect();
        assert_eq!(numbers(&planned), [1, 2, 4, 6], "nodes of a job that completes are not free yet");
        let reserved: Vec<JobId> = cluster.reserved.iter().map(|job| job.job.id).collect();
        assert_eq!((numbers(&reserved), cluster.admitted.len()), (vec![6], 0));
        assert!(cluster.reserved[0].job.accounting_is_enforced);
    }

    #[test]
    fn a_cluster_has_the_cpus_of_all_its_nodes_and_what_its_partitions_allow() {
        let cluster = Conversion::default().cluster(answers(Vec::new()));
        assert_eq!((cluster.cpus, cluster.partitions.len(), cluster.queue.nodes.len()), (12, 1, 3));
        assert_eq!((cluster.read_at, cluster.controller_ahead), (UnixTime(NOW), Some(Seconds(3))));
        let [limits] = &cluster.partition_limits[..] else { panic!("one for each partition") };
        let nodes = limits.nodes.unwrap();
        assert_eq!((limits.most_nodes, nodes.usable, nodes.most_cpus), (Some(2), 2, 4));
    }

    #[test]
    fn submissions_and_names_outlive_the_jobs_of_a_reading() {
        let mut conversion = Conversion::default();
        let first = conversion.cluster(answers(vec![job(1, JobState::Pending, 1)]));
        let second = conversion.cluster(Answers { read_at: UnixTime(NOW + 30), ..answers(vec![job(2, JobState::Pending, 1)]) });
        assert_eq!((first.submissions.jobs.len(), second.submissions.jobs.len()), (1, 2));
        assert!(Arc::ptr_eq(first.jobs[0].partition(), second.jobs[0].partition()));
    }
}
