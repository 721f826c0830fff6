//! A submission as the decisions see it: no sentinel values, no pointers.

use crate::decisions::site::{Partition, Site};
use job_types::number::UserId;
use job_types::options::UserOptions;
use job_types::policy::{Admission, Policy};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// A time limit as its user gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeLimit {
    /// The submission gives no limit: the partition's default holds.
    #[default]
    Unset,
    /// Given as unlimited.
    Unlimited,
    /// Given.
    Limited(Seconds),
}

impl TimeLimit {
    /// The limit that holds where `default` does for a job that gives none; `None` is unlimited.
    #[must_use]
    pub fn or_default(self, default: Option<Seconds>) -> Option<Seconds> {
        match self {
            TimeLimit::Unset => default,
            TimeLimit::Unlimited => None,
            TimeLimit::Limited(limit) => Some(limit),
        }
    }
}

/// A node count as its user gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRange {
    /// Fewest nodes.
    pub least: u32,
    /// Most nodes; equal to `least` for a fixed count.
    pub most: u32,
}

/// What ties a job to its size, so that it is not molded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedSizeReason {
    /// A component of a heterogeneous job.
    Heterogeneous,
    /// Nodes are named.
    NodeList,
    /// It runs inside a reservation of Slurm's.
    Reservation,
    /// It asks for licences, which are counted per job.
    Licences,
    /// It asks for generic resources per job.
    GenericResourcesPerJob,
    /// It asks for so many nodes of a feature.
    CountedFeatures,
    /// It asks for at most so many CPUs.
    MostCpus,
    /// sbatch is not its submitter, so that salloc or srun holds the size as well.
    Interactive,
    /// It names several partitions.
    SeveralPartitions,
}

impl FixedSizeReason {
    /// The reasons in the order in which they are tried. The user is told the first that holds.
    const ORDER: [Self; 9] = [
        Self::Heterogeneous,
        Self::Interactive,
        Self::NodeList,
        Self::Reservation,
        Self::Licences,
        Self::GenericResourcesPerJob,
        Self::CountedFeatures,
        Self::MostCpus,
        Self::SeveralPartitions,
    ];

    /// The first that holds for a job.
    #[must_use]
    pub fn first(holds: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ORDER.into_iter().find(|one| holds(*one))
    }
}

impl fmt::Display for FixedSizeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FixedSizeReason::Heterogeneous => "it is part of a heterogeneous job",
            FixedSizeReason::NodeList => "it names its nodes",
            FixedSizeReason::Reservation => "it runs inside a reservation",
            FixedSizeReason::Licences => "it asks for licences, which are counted per job",
            FixedSizeReason::GenericResourcesPerJob => "it asks for generic resources per job",
            FixedSizeReason::CountedFeatures => "it counts nodes by feature",
            FixedSizeReason::MostCpus => "it limits its CPUs",
            FixedSizeReason::Interactive => "only batch jobs can be molded",
            FixedSizeReason::SeveralPartitions => "it names several partitions",
        })
    }
}

/// Why a job can't be placed on just any node, so that more of the nodes that it needs may not
/// exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It asks for features of nodes (`--constraint`).
    Features,
    /// It excludes nodes (`--exclude`).
    ExcludedNodes,
    /// It asks for generic resources, such as GPUs.
    GenericResources,
    /// It asks for memory.
    Memory,
    /// It asks for nodes of a certain shape, or beside each other.
    NodeShape,
}

impl Placement {
    /// The demands in the order in which they are tried. The user is told the first that holds.
    const ORDER: [Self; 5] = [Self::Features, Self::ExcludedNodes, Self::GenericResources, Self::Memory, Self::NodeShape];

    /// The first that holds for a job.
    #[must_use]
    pub fn first(holds: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ORDER.into_iter().find(|one| holds(*one))
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Placement::Features => "it asks for features of nodes",
            Placement::ExcludedNodes => "it excludes nodes",
            Placement::GenericResources => "it asks for generic resources",
            Placement::Memory => "it asks for memory",
            Placement::NodeShape => "it asks for nodes of a certain shape",
        })
    }
}

/// What a job asks for besides nodes and a time limit of which the plan of the queue knows nothing,
/// so that no firm slot can be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsidePlan {
    /// Nodes are named.
    NodeList,
    /// It excludes nodes.
    ExcludedNodes,
    /// It asks for features of nodes (`--constraint`).
    Features,
    /// It asks for generic resources, such as GPUs.
    GenericResources,
    /// It asks for licences.
    Licences,
    /// It asks for nodes of a certain shape, or beside each other.
    NodeShape,
}

impl OutsidePlan {
    /// The demands in the order in which they are tried. The user is told the first that holds.
    const ORDER: [Self; 6] = [Self::NodeList, Self::ExcludedNodes, Self::Features, Self::GenericResources, Self::Licences, Self::NodeShape];

    /// The first that holds for a job.
    #[must_use]
    pub fn first(holds: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ORDER.into_iter().find(|one| holds(*one))
    }
}

impl fmt::Display for OutsidePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutsidePlan::NodeList => "it names its nodes",
            OutsidePlan::ExcludedNodes => "it excludes nodes",
            OutsidePlan::Features => "it asks for features of nodes",
            OutsidePlan::GenericResources => "it asks for generic resources",
            OutsidePlan::Licences => "it asks for licences",
            OutsidePlan::NodeShape => "it asks for nodes of a certain shape",
        })
    }
}

/// What keeps a job from starting whenever its nodes are free, so that no moment can be chosen for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartBlocker {
    /// It depends on other jobs.
    Dependency,
    /// It is held.
    Held,
    /// It runs inside a reservation of Slurm's.
    Reservation,
}

impl StartBlocker {
    /// The obstacles in the order in which they are tried. The user is told the first that holds.
    const ORDER: [Self; 3] = [Self::Reservation, Self::Dependency, Self::Held];

    /// The first that holds for a job.
    #[must_use]
    pub fn first(holds: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ORDER.into_iter().find(|one| holds(*one))
    }
}

/// A submission.
#[derive(Clone, Debug, Default)]
pub struct Submission<'a> {
    /// Numeric id of the user.
    pub user: UserId,
    /// The partition, or several separated by commas; `None` is the default.
    pub partition: Option<&'a str>,
    /// The account, where given.
    pub account: Option<&'a str>,
    /// The quality of service, where given.
    pub qos: Option<&'a str>,
    /// Nodes, where given.
    pub nodes: Option<NodeRange>,
    /// Tasks, where given.
    pub tasks: Option<u32>,
    /// Tasks on each node, where given.
    pub tasks_per_node: Option<u32>,
    /// CPUs of each task, where given.
    pub cpus_per_task: Option<u32>,
    /// Fewest CPUs, where given.
    pub min_cpus: Option<u32>,
    /// Whether it asks for whole nodes.
    pub whole_nodes: bool,
    /// Time limit.
    pub limit: TimeLimit,
    /// The shortest time limit that it can do with, where given (`--time-min`).
    pub shortest_limit: Option<Seconds>,
    /// When it may begin, where given.
    pub begin: Option<UnixTime>,
    /// When it must have ended, where given (Slurm's own `--deadline`).
    pub deadline: Option<UnixTime>,
    /// Whether it is an array of jobs.
    pub is_array: bool,
    /// Whether it must start at once or not at all.
    pub is_immediate: bool,
    /// Whether somebody waits at a terminal for it (`srun`, `salloc`).
    pub is_interactive: bool,
    /// Whether it says on which clusters of a federation it may run (`--cluster-constraint`).
    pub chooses_clusters: bool,
    /// What else keeps it from starting, if something does.
    pub obstacle: Option<StartBlocker>,
    /// Why it can't be placed on just any node, if there is a reason.
    pub placement: Option<Placement>,
    /// What it asks for of which the plan of the queue knows nothing, if there is something.
    pub outside_plan: Option<OutsidePlan>,
    /// Why it can't be molded, if there is a reason.
    pub tie: Option<FixedSizeReason>,
    /// What its user asked of us.
    pub asked: UserOptions,
}

impl Submission<'_> {
    /// The unit in which the job's size is counted: CPUs where tasks are given and nodes are not,
    /// else nodes.
    #[must_use]
    pub fn unit(&self) -> Unit {
        if self.nodes.is_none() && self.tasks.is_some() { Unit::Cpus } else { Unit::Nodes }
    }

    /// CPUs that the job asks for.
    #[must_use]
    pub fn asked_cpus(&self) -> u32 {
        let task_cpus = self.cpus_per_task.unwrap_or(1).max(1);
        let nodes_given = self.nodes.map(|nodes| nodes.least.max(1));
        let tasks = self.tasks.or_else(|| Some(self.tasks_per_node?.saturating_mul(nodes_given.unwrap_or(1))));
        tasks.map_or(0, |tasks| tasks.saturating_mul(task_cpus)).max(self.min_cpus.unwrap_or(0)).max(1)
    }

    /// The job's size as written, as near as it can be known before the job has been placed.
    #[must_use]
    pub fn size(&self, partition: &Partition<'_>) -> Size {
        let per_node = (partition.cpus / partition.nodes.max(1)).max(1);
        let asked_cpus = self.asked_cpus();
        let nodes_given = self.nodes.map(|nodes| nodes.least.max(1));
        let nodes = nodes_given.unwrap_or_else(|| asked_cpus.div_ceil(per_node)).max(1);
        let cpus = if self.whole_nodes || partition.whole_nodes { nodes.saturating_mul(per_node) } else { asked_cpus.max(nodes) };
        Size { nodes, cpus }
    }

    /// The time limit that holds for the job in a partition; `None` is unlimited.
    #[must_use]
    pub fn limit_in(&self, partition: &Partition<'_>) -> Option<Seconds> {
        self.limit.or_default(partition.default_time())
    }

    /// The names of its partitions; none for the default.
    pub fn partitions(&self) -> impl Iterator<Item = &str> {
        named(self.partition)
    }

    /// Returns the partition and policy that [`governing`] gives for the partitions that the job
    /// names.
    #[must_use]
    pub fn governed_by<'a>(&self, site: &'a impl Site) -> Option<(Partition<'a>, Policy)> {
        governing(self.partition, site)
    }
}

/// The names in a list of partitions.
fn named(partitions: Option<&str>) -> impl Iterator<Item = &str> {
    partitions.into_iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty())
}

/// The partition that forecasts are about, the first of those named, with the most careful policy
/// of all that are named; without a name that of jobs that name none. `None` where the site does
/// not know that partition.
#[must_use]
pub fn governing<'a>(partitions: Option<&str>, site: &'a impl Site) -> Option<(Partition<'a>, Policy)> {
    let mut named = named(partitions);
    let first = match named.next() {
        None => site.default_partition()?,
        Some(name) => site.partition(name)?,
    };
    let policy = named.fold(first.policy, |policy, name| {
        let other = site.partition(name).map_or_else(|| site.site_policy(), |partition| partition.policy);
        most_careful(&policy, &other)
    });
    Some((first, policy))
}

/// What two policies both allow, with the greater of their least gains; in all else the first of
/// them.
fn most_careful(policy: &Policy, other: &Policy) -> Policy {
    Policy {
        mode: policy.mode.min(other.mode),
        mold: policy.mold.min(other.mold),
        defer: policy.defer.min(other.defer),
        reserve: policy.reserve && other.reserve,
        min_gain: policy.min_gain.max(other.min_gain),
        min_gain_time: policy.min_gain_time.max(other.min_gain_time),
        others: policy.others.max(other.others),
        held_back: policy.held_back.or(other.held_back),
        // A promise that holds in one of them only is none.
        admission: if policy.admission == other.admission { policy.admission } else { Admission::Off },
        ..*policy
    }
}

/// Returns the policy as [`governing`] does, from each partition's policy alone. `site` is the
/// policy of a job that names no partition.
pub fn configured_policy<'a>(partitions: Option<&str>, site: &'a Policy, of: impl Fn(&str) -> &'a Policy) -> Policy {
    let mut named = named(partitions);
    let first = *named.next().map_or(site, &of);
    named.fold(first, |policy, name| most_careful(&policy, of(name)))
}
