//! The nodes whose CPUs jobs share, with the shares of the jobs that were admitted to them.

use std::collections::HashMap;

use job_types::options::Mode;
use job_types::record::Record;
use job_types::time::UnixTime;
use predictor_core::admission::{Claim, NeededShare};
use predictor_core::shared_nodes::SharingJob;
use predictor_core::snapshot::SharedNodeState;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{Node, NodeState, Partition, QueuedJob, Sharing};

/// The nodes of each partition with `OverSubscribe=FORCE` that take jobs, in the order of
/// slurmctld's node table, with all jobs that they have, whatever their partition, and with those
/// that wait for these very nodes.
pub(crate) fn by_partition(
    partitions: &[Partition],
    nodes: &[Node],
    queue: &[QueuedJob],
    now: UnixTime,
) -> HashMap<String, Vec<SharedNodeState>> {
    let shared = partitions.iter().filter_map(|partition| match partition.sharing {
        Sharing::Forced(jobs) if jobs > 1 && partition.is_up => Some((partition, jobs)),
        _ => None,
    });
    let mut shared = shared.peekable();
    if shared.peek().is_none() {
        return HashMap::new();
    }
    let jobs = by_place(nodes, queue, now);
    let of_partition = |(partition, jobs_to_a_cpu): (&Partition, u16)| {
        let takes_jobs =
            |node: &&Node| matches!(node.state, NodeState::Idle | NodeState::Busy) && node.partitions.contains(&partition.name);
        let state = |node: &Node| {
            let jobs = jobs.get(node.index).cloned().unwrap_or_default();
            SharedNodeState { name: node.name.clone(), cpus: node.cpus, jobs_to_a_cpu, jobs }
        };
        (partition.name.clone(), nodes.iter().filter(takes_jobs).map(state).collect())
    };
    shared.map(of_partition).collect()
}

/// The jobs of each node, by its place in slurmctld's node table.
fn by_place(nodes: &[Node], queue: &[QueuedJob], now: UnixTime) -> Vec<Vec<SharingJob>> {
    let count = nodes.iter().map(|node| node.index + 1).max().unwrap_or(0);
    let mut jobs = vec![Vec::new(); count];
    for job in queue {
        let ranges = match job.state {
            JobState::Running | JobState::Suspended | JobState::Completing => &job.node_ranges,
            JobState::Pending | JobState::Requeued => &job.required_node_ranges,
            _ => continue,
        };
        let cpus = job.cpus.max(1).div_ceil(u32::try_from(places(ranges, count).count()).unwrap_or(1).max(1));
        for place in places(ranges, count) {
            if let Some(jobs) = jobs.get_mut(place) {
                jobs.push(SharingJob { cpus, admitted: admitted(job, now) });
            }
        }
    }
    jobs
}

/// The places of ranges, no further than there are nodes.
fn places(ranges: &[(usize, usize)], count: usize) -> impl Iterator<Item = usize> {
    ranges.iter().flat_map(move |(first, last)| *first..last.saturating_add(1).min(count))
}

/// The share that a job was admitted with by shares, and its deadline. The job keeps to its share
/// by itself, on its nodes, so that it needs the same until its end as at its start.
fn admitted(job: &QueuedJob, now: UnixTime) -> Option<(NeededShare, UnixTime)> {
    let comment = job.admin_comment.as_deref().filter(|comment| comment.contains("\"admitted_by\""))?;
    let record = Record::parse(comment)?;
    let written = record.written.filter(|_| record.mode == Mode::Enforce)?;
    written.admitted_by.filter(|rule| rule.shares_nodes())?;
    let (deadline, estimate) = (UnixTime(written.deadline?), written.own_limit_s?);
    let since = job.started.map_or(now, UnixTime);
    let claim = Claim { remaining_run_s: estimate as f64, remaining_deadline_s: (deadline - since).0 as f64 };
    Some((NeededShare::sure(claim.share()), deadline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{JobId, UserId};
    use slurm_sys::client::controller::PendingReason;

    const NOW: UnixTime = UnixTime(1_000_000);

    fn partition(sharing: Sharing) -> Partition {
        Partition {
            name: "shared".to_owned(),
            total_cpus: 12,
            total_nodes: 3,
            max_time_seconds: None,
            default_time_seconds: None,
            max_nodes: None,
            min_nodes: 0,
            max_cpus_per_node: None,
            qos: None,
            is_default: true,
            is_up: true,
            sharing,
            priority_tier: 1,
            node_ranges: vec![(0, 2)],
        }
    }

    fn node(index: usize, state: NodeState) -> Node {
        Node { name: format!("n{index}"), cpus: 4, state, index, partitions: vec!["shared".to_owned()] }
    }

    fn job(state: JobState, comment: Option<String>) -> QueuedJob {
        QueuedJob {
            job_id: JobId(7),
            array_job_id: None,
            task_count: 1,
            user_id: UserId(5),
            user: None,
            account: None,
            partition: Some("shared".to_owned()),
            qos: None,
            state,
            cpus: 4,
            nodes: 2,
            requested_cpus: None,
            requested_nodes: None,
            time_limit_seconds: Some(3_600),
            shortest_limit_seconds: None,
            submitted: Some(NOW.0 - 200),
            eligible: Some(NOW.0 - 200),
            started: (state == JobState::Running).then_some(NOW.0 - 100),
            ended: None,
            suspended_seconds: 0,
            expected_start: None,
            deadline: None,
            reservation: None,
            admin_comment: comment,
            comment: None,
            site_factor: 0,
            priority: 1,
            reason: PendingReason::from_raw(0),
            restarts: 0,
            has_dependency: false,
            exclusive: false,
            node_ranges: if state == JobState::Running { vec![(0, 1)] } else { Vec::new() },
            required_node_ranges: if state == JobState::Running { Vec::new() } else { vec![(1, 2)] },
        }
    }

    fn record(mode: &str, rule: &str, deadline: i64) -> Option<String> {
        Some(format!(
            r#"{{"queuecast":{{"version":1,"generation":1,"at":1,"mode":"{mode}","asked":{{"nodes":2,"cpus":4,"limit_s":900}},"written":{{"own_limit_s":600,"admitted_by":"{rule}","deadline":{deadline}}}}}}}"#
        ))
    }

    #[test]
    fn nodes_of_partitions_that_force_jobs_to_share_are_told_with_the_jobs_that_have_or_want_them() {
        let nodes = [node(0, NodeState::Busy), node(1, NodeState::Busy), node(2, NodeState::Idle), node(3, NodeState::Draining)];
        let deadline = NOW.0 + 1_100;
        let queue = [
            job(JobState::Running, record("enforce", "libra", deadline)),
            job(JobState::Pending, record("enforce", "libra-risk", deadline)),
            job(JobState::Running, None),
        ];
        let found = by_partition(&[partition(Sharing::Forced(4))], &nodes, &queue, NOW);
        let shared = found.get("shared").map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = shared.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n0", "n1", "n2"], "draining ones get no more jobs");
        // 600 s over the 1,200 s that were left when it began, and over the 1,100 s that are left.
        let running = SharingJob { cpus: 2, admitted: Some((NeededShare::sure(0.5), UnixTime(deadline))) };
        let waiting = SharingJob { cpus: 2, admitted: Some((NeededShare::sure(600.0 / 1_100.0), UnixTime(deadline))) };
        let other = SharingJob { cpus: 2, admitted: None };
        let jobs: Vec<&[SharingJob]> = shared.iter().map(|node| node.jobs.as_slice()).collect();
        assert_eq!(jobs, [&[running, other][..], &[running, waiting, other], &[waiting]]);
    }

    #[test]
    fn other_partitions_and_other_records_share_nothing() {
        let nodes = [node(0, NodeState::Idle)];
        for sharing in [Sharing::Exclusive, Sharing::Cpus, Sharing::OnRequest(4), Sharing::Forced(1)] {
            assert!(by_partition(&[partition(sharing)], &nodes, &[], NOW).is_empty(), "{sharing:?}");
        }
        let down = Partition { is_up: false, ..partition(Sharing::Forced(2)) };
        assert!(by_partition(&[down], &nodes, &[], NOW).is_empty());
        for comment in [record("advise", "libra", NOW.0 + 100), record("enforce", "edf", NOW.0 + 100), Some("libra".to_owned()), None] {
            assert_eq!(admitted(&job(JobState::Running, comment.clone()), NOW), None, "{comment:?}");
        }
    }

    #[test]
    fn a_job_whose_deadline_has_passed_before_it_began_needs_all_of_its_cpus() {
        let late = admitted(&job(JobState::Pending, record("enforce", "libra", NOW.0 - 5)), NOW);
        assert_eq!(late, Some((NeededShare::sure(1.0), UnixTime(NOW.0 - 5))));
    }
}
