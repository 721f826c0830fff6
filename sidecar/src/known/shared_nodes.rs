//! The nodes whose CPUs jobs share, with what the jobs that were admitted to them need.

use std::collections::HashMap;
use std::sync::Arc;

use job_types::number::UserId;
use job_types::policy::Admission;
use job_types::promise::Promise;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::deadline_methods::{Claim, NeededShare};
use predictor_core::decisions::shared_nodes::SharingJob;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{Node, NodeState, Partition, QueuedJob, Sharing};
use snapshot_writer::SharedNodeState;

use crate::known::names::first_partition;

/// The nodes of each partition with `OverSubscribe=FORCE` that take jobs, with their jobs.
#[derive(Debug, Default)]
pub(crate) struct SharedNodes {
    /// The jobs that run on nodes or wait for very nodes, as they are added to each of these.
    jobs: Vec<Sharer>,
    /// The nodes of each partition, in the order of slurmctld's node table. Each has all its jobs,
    /// whatever their partition, and the jobs that wait for this very node.
    partitions: HashMap<String, Vec<NodeWithJobs>>,
}

#[derive(Debug)]
struct NodeWithJobs {
    name: String,
    cpus: u32,
    jobs_to_a_cpu: u16,
    /// The places of its jobs among all.
    jobs: Vec<usize>,
}

/// A job on such nodes.
#[derive(Debug)]
struct Sharer {
    /// The job's CPUs on each of its nodes.
    cpus: u32,
    admitted: Option<AdmittedSharer>,
}

/// A job that was admitted with a share of nodes.
#[derive(Debug, PartialEq)]
struct AdmittedSharer {
    deadline: UnixTime,
    share: Share,
}

/// What such a job needs of each of its CPUs.
#[derive(Debug, PartialEq)]
enum Share {
    /// The share follows its user's estimate. The job keeps to that share by itself on its nodes,
    /// so that it needs the same until its end as at its start.
    Estimated(f64),
    /// The share follows what remains of the run time that is forecast for the job.
    Forecast(ForecastSharer),
}

/// A job that was admitted by its probability, for the forecast of what remains of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForecastSharer {
    pub(crate) user: UserId,
    /// The first of its partitions.
    pub(crate) partition: Arc<str>,
    pub(crate) size: Size,
    /// How long it runs at the longest, by its user's estimate.
    pub(crate) estimate: Seconds,
    /// How far ahead its deadline was when it was admitted.
    pub(crate) given: Seconds,
    /// How long it has run.
    pub(crate) done: Seconds,
    /// How long it has from the present, or from its begin, until its deadline.
    pub(crate) left: Seconds,
}

impl SharedNodes {
    /// The nodes and jobs as slurmctld described them at `now`. `asked` says what size a job asked
    /// for.
    pub(crate) fn new(partitions: &[Partition], nodes: &[Node], queue: &[QueuedJob], asked: fn(&QueuedJob) -> Size, now: UnixTime) -> Self {
        let shared = partitions.iter().filter_map(|partition| match partition.sharing {
            Sharing::Forced(jobs) if jobs > 1 && partition.is_up => Some((partition, jobs)),
            _ => None,
        });
        let mut shared = shared.peekable();
        if shared.peek().is_none() {
            return Self::default();
        }
        let (jobs, places) = by_place(nodes, queue, asked, now);
        let of_partition = |(partition, jobs_to_a_cpu): (&Partition, u16)| {
            let takes_jobs =
                |node: &&Node| matches!(node.state, NodeState::Idle | NodeState::Busy) && node.partitions.contains(&partition.name);
            let with_jobs = |node: &Node| {
                let jobs = places.get(node.index).cloned().unwrap_or_default();
                NodeWithJobs { name: node.name.clone(), cpus: node.cpus, jobs_to_a_cpu, jobs }
            };
            (partition.name.clone(), nodes.iter().filter(takes_jobs).map(with_jobs).collect())
        };
        Self { jobs, partitions: shared.map(of_partition).collect() }
    }

    /// The nodes as a snapshot has them, by partition. `forecast` says what a job needs that was
    /// admitted by its probability.
    pub(crate) fn states(&self, forecast: impl Fn(&ForecastSharer) -> NeededShare) -> HashMap<&str, Vec<SharedNodeState>> {
        let needed = |admitted: &AdmittedSharer| {
            let share = match &admitted.share {
                Share::Estimated(share) => NeededShare::sure(*share),
                Share::Forecast(sharer) => forecast(sharer),
            };
            (share, admitted.deadline)
        };
        let sharing = |job: &Sharer| SharingJob { cpus: job.cpus, admitted: job.admitted.as_ref().map(needed) };
        let jobs: Vec<SharingJob> = self.jobs.iter().map(sharing).collect();
        let state = |node: &NodeWithJobs| SharedNodeState {
            name: node.name.clone(),
            cpus: node.cpus,
            jobs_to_a_cpu: node.jobs_to_a_cpu,
            jobs: node.jobs.iter().filter_map(|place| jobs.get(*place).copied()).collect(),
        };
        self.partitions.iter().map(|(name, nodes)| (name.as_str(), nodes.iter().map(state).collect())).collect()
    }
}

/// The jobs, and the places of those of each node, by its place in slurmctld's node table.
fn by_place(nodes: &[Node], queue: &[QueuedJob], asked: fn(&QueuedJob) -> Size, now: UnixTime) -> (Vec<Sharer>, Vec<Vec<usize>>) {
    let count = nodes.iter().map(|node| node.index + 1).max().unwrap_or(0);
    let (mut jobs, mut of_nodes) = (Vec::new(), vec![Vec::new(); count]);
    for job in queue {
        let ranges = match job.state {
            JobState::Running | JobState::Suspended | JobState::Completing => &job.node_ranges,
            JobState::Pending | JobState::Requeued => &job.required_node_ranges,
            _ => continue,
        };
        let held = places(ranges, count).count();
        if held == 0 {
            continue;
        }
        let cpus = job.cpus.max(1).div_ceil(u32::try_from(held).unwrap_or(u32::MAX));
        for place in places(ranges, count) {
            if let Some(of_node) = of_nodes.get_mut(place) {
                of_node.push(jobs.len());
            }
        }
        jobs.push(Sharer { cpus, admitted: admitted(job, asked(job), now) });
    }
    (jobs, of_nodes)
}

/// The places of ranges, no further than there are nodes.
fn places(ranges: &[(usize, usize)], count: usize) -> impl Iterator<Item = usize> {
    ranges.iter().flat_map(move |(first, last)| *first..last.saturating_add(1).min(count))
}

/// What a job was admitted with that has a share of its nodes. One that waits needs its share from
/// when it can begin.
fn admitted(job: &QueuedJob, size: Size, now: UnixTime) -> Option<AdmittedSharer> {
    let promise = Promise::read(job.admin_comment.as_deref()?)?.deadline()?;
    let (deadline, estimate) = (promise.deadline, promise.shared_estimate?);
    let begin = job.eligible.map_or(now, UnixTime).max(now);
    let share = if promise.by == Admission::Probability {
        let started = job.started.map(UnixTime);
        Share::Forecast(ForecastSharer {
            user: job.user_id,
            partition: first_partition(job.partition.as_deref()?).into(),
            size,
            estimate,
            given: deadline - promise.given_at,
            done: started.map_or(Seconds::ZERO, |started| (now - started - Seconds(job.suspended_seconds)).max(Seconds::ZERO)),
            left: deadline - started.map_or(begin, |_| now),
        })
    } else {
        let since = job.started.map_or(begin, UnixTime);
        let claim = Claim { remaining_run_s: estimate.0 as f64, remaining_deadline_s: (deadline - since).0 as f64 };
        Share::Estimated(claim.share())
    };
    Some(AdmittedSharer { deadline, share })
}

/// A job of tests, which waits.
#[cfg(test)]
pub(crate) fn test_job() -> QueuedJob {
    tests::job(JobState::Pending, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{JobId, UserId};
    use slurm_sys::client::controller::{Access, PendingReason};

    const NOW: UnixTime = UnixTime(1_000_000);

    const SIZE: Size = Size { nodes: 2, cpus: 4 };

    fn asked(_job: &QueuedJob) -> Size {
        SIZE
    }

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
            state: "UP",
            access: Access::default(),
            tres: None,
        }
    }

    fn node(index: usize, state: NodeState) -> Node {
        Node { name: format!("n{index}"), cpus: 4, state, index, partitions: vec!["shared".to_owned()] }
    }

    pub(super) fn job(state: JobState, comment: Option<String>) -> QueuedJob {
        QueuedJob {
            job_id: JobId(7),
            array_job_id: None,
            task_count: 1,
            name: None,
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
            mail_of_failure: None,
            site_factor: 0,
            priority: 1,
            reason: PendingReason::Resources,
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
        let found = SharedNodes::new(&[partition(Sharing::Forced(4))], &nodes, &queue, asked, NOW);
        let states = found.states(|_| NeededShare::default());
        let shared = states.get("shared").map(Vec::as_slice).unwrap_or_default();
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
            assert!(SharedNodes::new(&[partition(sharing)], &nodes, &[], asked, NOW).partitions.is_empty(), "{sharing:?}");
        }
        let down = Partition { is_up: false, ..partition(Sharing::Forced(2)) };
        assert!(SharedNodes::new(&[down], &nodes, &[], asked, NOW).partitions.is_empty());
        for comment in [record("advise", "libra", NOW.0 + 100), record("enforce", "edf", NOW.0 + 100), Some("libra".to_owned()), None] {
            assert_eq!(admitted(&job(JobState::Running, comment.clone()), SIZE, NOW), None, "{comment:?}");
        }
    }

    #[test]
    fn a_job_whose_deadline_has_passed_before_it_began_needs_all_of_its_cpus() {
        let late = admitted(&job(JobState::Pending, record("enforce", "libra", NOW.0 - 5)), SIZE, NOW);
        assert_eq!(late, Some(AdmittedSharer { deadline: UnixTime(NOW.0 - 5), share: Share::Estimated(1.0) }));
    }

    #[test]
    fn of_a_job_that_was_admitted_by_its_probability_what_remains_is_forecast_once_for_all_its_nodes() {
        let nodes = [node(0, NodeState::Busy), node(1, NodeState::Busy), node(2, NodeState::Idle)];
        let (deadline, comment) = (NOW.0 + 1_100, record("enforce", "probability", NOW.0 + 1_100));
        let running = QueuedJob { suspended_seconds: 30, ..job(JobState::Running, comment.clone()) };
        let later = QueuedJob { eligible: Some(NOW.0 + 100), ..job(JobState::Pending, comment) };
        let found = SharedNodes::new(&[partition(Sharing::Forced(4))], &nodes, &[running, later], asked, NOW);
        let asked = std::cell::RefCell::new(Vec::new());
        let share = NeededShare { mean: 0.25, variance: 0.01 };
        let states = found.states(|sharer| {
            asked.borrow_mut().push(sharer.clone());
            share
        });
        let sharer = |done, left| ForecastSharer {
            user: UserId(5),
            partition: "shared".into(),
            size: SIZE,
            estimate: Seconds(600),
            given: Seconds(deadline - 1),
            done: Seconds(done),
            left: Seconds(left),
        };
        assert_eq!(asked.into_inner(), [sharer(70, 1_100), sharer(0, 1_000)]);
        let counts: Vec<usize> = states["shared"].iter().map(|node| node.jobs.len()).collect();
        assert_eq!(counts, [1, 2, 1]);
        assert_eq!(states["shared"][2].jobs, [SharingJob { cpus: 2, admitted: Some((share, UnixTime(deadline))) }]);
    }

    #[test]
    fn a_job_that_was_admitted_by_its_probability_to_cpus_of_its_own_has_no_share() {
        let own = record("enforce", "probability", NOW.0 + 100).map(|record| record.replace(r#""own_limit_s":600,"#, ""));
        assert_eq!(admitted(&job(JobState::Running, own), SIZE, NOW), None);
    }
}
