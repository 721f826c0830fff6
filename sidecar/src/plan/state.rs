//! The planner's state of the cluster, with forecast run times.

use job_types::number::{PartitionIndex, UserId};
use std::collections::HashMap;
use std::sync::Arc;

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::deadline_history::DeadlineHistory;
use predictor_core::forecasts::forecast::RunTimeForecast;
use predictor_core::forecasts::queue_plan::PlanObstacle;
use queue_plan::{LONGEST, Node, Partition, PendingJob, Reservation, Resources, RunTimes, RunningJob, State};
use slurm_sys::client::controller::{PendingReason, ReservationFlag, Sharing};

use super::arrived::{Arrived, arrived};
use super::promised::{Deadlines, Promised, as_ranges};
use crate::known::cluster::{Cluster, Phase, PlanJob, PlanNode, Queue};
use crate::known::names::PartitionIndices;

/// What is to be planned, and what its publication needs besides.
#[derive(Debug, Default)]
pub(crate) struct Question {
    pub(crate) state: State,
    /// The user of each pending job.
    pub(crate) users: Vec<UserId>,
    /// The partitions, in the state's order.
    pub(crate) partitions: Vec<AskedPartition>,
    /// The names of Slurm's reservations, in the state's order.
    pub(crate) reservation_names: Vec<String>,
    /// Whether some reservation recurs, of which the next occurrence alone is planned.
    pub(crate) has_recurring_reservations: bool,
    /// The index of each partition in the snapshot, in the state's order; `None` where it has none.
    pub(crate) partition_indices: Vec<Option<PartitionIndex>>,
    /// The pending jobs that were admitted by their probability.
    pub(super) promised: Vec<Promised>,
    /// The jobs that wait or run, as they came, and from when on they may start.
    pub(super) arrived: Vec<(UnixTime, Arrived)>,
    /// The partitions of which it is asked what their time costs.
    pub(super) priced: Vec<PartitionIndex>,
}

/// A partition, as far as somebody who asks for nodes needs it.
#[derive(Debug)]
pub(crate) struct AskedPartition {
    pub(crate) name: Arc<str>,
    /// Whether jobs that name no partition go to this one.
    pub(crate) is_default: bool,
    /// The time limit of a job that asks for none; `None` where that is the longest one.
    pub(crate) default_limit: Option<Seconds>,
    /// The longest time limit; `None` where there is none.
    pub(crate) longest_limit: Option<Seconds>,
    /// How many nodes it has.
    pub(crate) nodes: u32,
    /// The most nodes of one job; `None` where there is no such limit.
    pub(crate) most_nodes: Option<u32>,
    /// Whether it starts jobs.
    pub(crate) is_up: bool,
}

impl Question {
    /// The cluster at the moment at which it was read. `run_times` gives the forecast of the run
    /// times of a user's job in a partition, of a size and with a time limit, if there is one;
    /// `histories` is what jobs with deadlines have taught.
    pub(crate) fn new<'a>(
        cluster: &Cluster,
        indices: &PartitionIndices,
        whole_nodes: bool,
        run_times: impl Fn(UserId, PartitionIndex, Size, Option<Seconds>) -> Option<RunTimeForecast<'a>>,
        histories: &[(PartitionIndex, DeadlineHistory)],
    ) -> Self {
        let now = cluster.read_at;
        let deadlines = Deadlines::new(cluster, histories);
        let Queue { nodes, reservations, jobs } = &cluster.queue;
        let places: HashMap<&str, u16> = (0u16..).zip(&cluster.partitions).map(|(place, partition)| (&*partition.name, place)).collect();
        let reservation_places: HashMap<&str, u32> =
            (0u32..).zip(reservations).map(|(place, reservation)| (&*reservation.name, place)).collect();
        let mut question = Self {
            state: State {
                now,
                nodes: nodes.iter().map(|node| node.as_ref().map_or_else(Node::default, self::node)).collect(),
                partitions: partitions(cluster, &places, whole_nodes),
                reservations: reservations.iter().map(|reservation| self::reservation(reservation, nodes.len())).collect(),
                ..State::default()
            },
            partitions: cluster.partitions.iter().map(asked_partition).collect(),
            reservation_names: reservations.iter().map(|reservation| reservation.name.clone()).collect(),
            has_recurring_reservations: reservations.iter().any(|reservation| reservation.flags.has(ReservationFlag::Recurring)),
            users: Vec::new(),
            promised: Vec::new(),
            arrived: Vec::new(),
            priced: Vec::new(),
            partition_indices: cluster.partitions.iter().map(|partition| indices.get(&*partition.name).copied()).collect(),
        };
        let mut nodes_in_use = NodesInUse { cluster, of_partitions: HashMap::new() };
        for job in jobs {
            let forecast = |partition| run_times(job.user, partition, job.size, job.limit_of_run());
            let forecasts = || job.partitions.iter().filter_map(|partition| forecast(*indices.get(partition)?));
            // The user's own jobs of that size in another of its partitions come before others'.
            let known = forecasts().find(|forecast| forecast.jobs > 0).or_else(|| forecasts().next()).map(|forecast| forecast.ranges);
            let partition = job.partitions.first().and_then(|partition| indices.get(partition).copied());
            let promise = deadlines.of(job.job_id).zip(partition);
            let weighed = promise.map(|(given, partition)| deadlines.run_times(given, partition, known, job.limit));
            let by_deadline = weighed.as_deref().map(as_ranges);
            let remaining_after = |elapsed, limit| RunTimes::after(elapsed, by_deadline.as_deref().or(known).unwrap_or(&[]), limit);
            let reservation = job.reservation.as_deref().map(|name| reservation_places.get(name).copied());
            let running = |remaining, held: &[(usize, usize)]| RunningJob {
                nodes: numbers(held, nodes.len()),
                holds: job.size.into(),
                reservation: reservation.flatten(),
                remaining,
            };
            question.arrived.extend(arrived(job, indices, remaining_after(Seconds::ZERO, job.limit_of_run()), now));
            match &job.phase {
                Phase::Running { start, suspended, waits_on_nodes, nodes } => {
                    // The time limit counts from the job's start. The job runs in what its wait
                    // leaves of the limit.
                    let waited = (*waits_on_nodes).min((now - *start).max(Seconds::ZERO));
                    let remaining =
                        remaining_after(now - *start - *suspended - waited, job.limit_of_run()).later_by(*waits_on_nodes - waited);
                    question.state.running.push(running(remaining, nodes));
                }
                Phase::Completing { nodes } => question.state.running.push(running(RunTimes::of_limit(Some(Seconds(1))), nodes)),
                Phase::Pending { tasks, exclusive, priority, reason, eligible } => {
                    // A job that becomes eligible later was admitted with that place, and keeps it.
                    if let (Some((given, partition)), Some(run_times)) = (promise, weighed)
                        && eligible.is_none_or(|eligible| eligible <= now)
                    {
                        let (deadline, wanted) = (given.deadline, given.wanted.unwrap_or_default());
                        let place = question.state.pending.len();
                        question.promised.push(Promised { place, partition, deadline, wanted, run_times });
                    }
                    question.users.push(job.user);
                    question.state.pending.push(PendingJob {
                        id: job.job_id,
                        partitions: job.partitions.iter().filter_map(|name| places.get(&**name).copied()).collect(),
                        asks: job.size.into(),
                        tasks: *tasks,
                        whole_nodes: *exclusive,
                        priority: *priority,
                        eligible: eligible.unwrap_or(now),
                        limit: job.limit,
                        run_time: remaining_after(Seconds::ZERO, job.limit),
                        reservation: reservation.flatten(),
                        obstacle: obstacle(*reason, *priority, reservation, || nodes_in_use.lack_what_it_needs(job)),
                    });
                }
            }
        }
        question
    }

    /// Asks as well what the time of these partitions costs those who wait.
    pub(crate) fn priced(self, priced: impl IntoIterator<Item = PartitionIndex>) -> Self {
        Self { priced: priced.into_iter().collect(), ..self }
    }
}

/// What keeps a job from starting at a time that can be foreseen. Whether its partition is up, and
/// whether the job fits into it, the planner sees for each of several.
fn obstacle(
    reason: PendingReason,
    priority: u32,
    reservation: Option<Option<u32>>,
    needs_nodes_that_are_away: impl FnOnce() -> bool,
) -> Option<PlanObstacle> {
    match reason {
        // slurmctld holds a job for some of these as well.
        PendingReason::Constraints => Some(PlanObstacle::Constraints),
        PendingReason::NotAllowed => Some(PlanObstacle::NotAllowed),
        PendingReason::ReservationGone => Some(PlanObstacle::Reservation),
        PendingReason::DependencyNeverSatisfied => Some(PlanObstacle::DependencyNeverSatisfied),
        PendingReason::Held => Some(PlanObstacle::Held),
        _ if priority == 0 => Some(PlanObstacle::Held),
        PendingReason::Dependency => Some(PlanObstacle::Dependency),
        PendingReason::Licences => Some(PlanObstacle::Licences),
        PendingReason::BurstBuffer => Some(PlanObstacle::BurstBuffer),
        PendingReason::Power => Some(PlanObstacle::Power),
        PendingReason::Channels => Some(PlanObstacle::Channels),
        PendingReason::Federation => Some(PlanObstacle::Federation),
        PendingReason::ArrayLimit => Some(PlanObstacle::ArrayLimit),
        PendingReason::AccountLimit => Some(PlanObstacle::Limit),
        PendingReason::PartitionLimit => Some(PlanObstacle::PartitionLimit),
        PendingReason::NodesAway => Some(PlanObstacle::NodesAway),
        PendingReason::NodesAwayOrInTurn if needs_nodes_that_are_away() => Some(PlanObstacle::NodesAway),
        PendingReason::NotKnown => Some(PlanObstacle::NotKnown),
        PendingReason::NodesAwayOrInTurn
        | PendingReason::Resources
        | PendingReason::LastRunFailed
        | PendingReason::PartitionDown
        | PendingReason::Reservation => {
            // The reservation is gone, or is not to be seen.
            reservation.is_some_and(|place| place.is_none()).then_some(PlanObstacle::Reservation)
        }
    }
}

/// How many nodes of some partitions take jobs and how many do not, counted once for each list of
/// partitions: many jobs wait, and there are many nodes.
struct NodesInUse<'a> {
    cluster: &'a Cluster,
    of_partitions: HashMap<&'a [Arc<str>], (u32, u32)>,
}

impl<'a> NodesInUse<'a> {
    /// Whether some nodes of a job's partitions take no jobs and the others would be enough: then
    /// it is for what the others lack that it waits. Where they are not enough, the planner says
    /// so.
    fn lack_what_it_needs(&mut self, job: &'a PlanJob) -> bool {
        let (in_use, away) = *self.of_partitions.entry(&job.partitions).or_insert_with(|| {
            let nodes = self.cluster.queue.nodes.iter().flatten();
            let (mut in_use, mut away) = (0, 0);
            for node in nodes.filter(|node| node.partitions.iter().any(|name| job.partitions.contains(name))) {
                *(if node.takes_jobs { &mut in_use } else { &mut away }) += 1;
            }
            (in_use, away)
        });
        away > 0 && in_use >= job.size.nodes
    }
}

fn asked_partition(partition: &slurm_sys::client::controller::Partition) -> AskedPartition {
    AskedPartition {
        name: Arc::from(partition.name.as_str()),
        is_default: partition.is_default,
        default_limit: partition.default_time_seconds.map(Seconds),
        longest_limit: partition.max_time_seconds.map(Seconds),
        nodes: partition.total_nodes,
        most_nodes: partition.max_nodes,
        is_up: partition.is_up,
    }
}

fn partitions(cluster: &Cluster, places: &HashMap<&str, u16>, whole_nodes: bool) -> Vec<Partition> {
    let partitions = cluster.partitions.iter().map(|partition| Partition {
        nodes: Vec::new(),
        is_up: partition.is_up,
        longest_limit: partition.max_time_seconds.map(Seconds),
        most_nodes: partition.max_nodes,
        whole_nodes: whole_nodes || partition.sharing == Sharing::Exclusive,
        tier: partition.priority_tier,
    });
    let mut partitions: Vec<Partition> = partitions.collect();
    for (number, node) in (0u32..).zip(&cluster.queue.nodes) {
        let names: &[Arc<str>] = node.as_ref().map_or(&[], |node| &node.partitions);
        for place in names.iter().filter_map(|name| places.get(&**name)) {
            if let Some(partition) = partitions.get_mut(usize::from(*place)) {
                partition.nodes.push(number);
            }
        }
    }
    partitions
}

fn node(node: &PlanNode) -> Node {
    Node { offers: Size { nodes: 1, cpus: node.cpus }.into(), takes_jobs: node.takes_jobs }
}

fn reservation(reservation: &slurm_sys::client::controller::Reservation, nodes: usize) -> Reservation {
    let start = UnixTime(reservation.start);
    let end = reservation.end.map_or(start + LONGEST, UnixTime);
    let keeps = reservation.cpus.map(|cpus| Resources::of_cpus(cpus.into()));
    Reservation { start, end, nodes: numbers(&reservation.node_ranges, nodes), keeps }
}

/// The numbers in inclusive ranges, below `count`.
fn numbers(ranges: &[(usize, usize)], count: usize) -> Vec<u32> {
    let numbers = ranges.iter().flat_map(|(first, last)| *first..last.saturating_add(1).min(count));
    numbers.filter_map(|number| u32::try_from(number).ok()).collect()
}
