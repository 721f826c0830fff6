//! What bounds a rewrite: how many nodes and CPUs a job may be given, and how long a time limit, so
//! that Slurm takes it and certainly starts it. Molding, deferral and reservation all ask here.
//!
//! A job that names several partitions must be allowed in each of them, because Slurm chooses one.
//! Limits of accounting bound a rewrite whether or not `AccountingStorageEnforce` has them enforced
//! today: a job may still be in the queue when that changes.

use super::submission::{Placement, Submission};
use crate::decisions::limits::{Applying, CapOwner};
use crate::decisions::site::{Partition, Site};
use job_types::size::{Size, Unit};
use job_types::time::Seconds;
use std::fmt;

/// What forbids a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The nodes or CPUs of a partition.
    PartitionSize,
    /// A partition's `MaxTime`.
    PartitionMaxTime,
    /// A partition's `MaxNodes`.
    PartitionMaxNodes,
    /// A partition's `MinNodes`.
    PartitionMinNodes,
    /// A partition's `MaxCPUsPerNode`.
    PartitionMaxCpusPerNode,
    /// `MaxWall` or `GrpWall` of a quality of service.
    QosWall,
    /// `MaxWall` or `GrpWall` of an association.
    AssociationWall,
    /// The most CPUs that a quality of service or an association allows.
    MostCpus,
    /// The most nodes that a quality of service or an association allows.
    MostNodes,
    /// The most CPUs times minutes that a quality of service or an association allows.
    CpuMinutes,
    /// A cap of a quality of service or an association on some other resource.
    OtherResource,
    /// The least that a quality of service demands.
    LeastOfQos,
    /// More nodes like those that it needs may not exist.
    Placement(Placement),
    /// Some nodes that it could get are too small, or take no jobs now.
    Nodes,
    /// The site does not know one of the submission's partitions.
    UnknownPartition,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::PartitionSize => "the size of the partition",
            Limit::PartitionMaxTime => "the partition's MaxTime",
            Limit::PartitionMaxNodes => "the partition's MaxNodes",
            Limit::PartitionMinNodes => "the partition's MinNodes",
            Limit::PartitionMaxCpusPerNode => "the partition's MaxCPUsPerNode",
            Limit::QosWall => "MaxWall or GrpWall of the quality of service",
            Limit::AssociationWall => "MaxWall or GrpWall of the association",
            Limit::MostCpus => "the most CPUs that the quality of service or the association allows",
            Limit::MostNodes => "the most nodes that the quality of service or the association allows",
            Limit::CpuMinutes => "the CPU minutes that the quality of service or the association allows",
            Limit::OtherResource => "a limit of the quality of service or the association on another resource",
            Limit::LeastOfQos => "MinTRES of the quality of service",
            Limit::Placement(placement) => return write!(f, "{placement}, which more nodes may not have"),
            Limit::Nodes => "the nodes that certainly can run it",
            Limit::UnknownPartition => "a partition of which nothing is known",
        })
    }
}

/// A number and what sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound<T> {
    /// The number.
    pub value: T,
    /// The limit that sets the number.
    pub by: Limit,
}

/// The limits that bound the rewrites of one submission.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The size of the submission as its user wrote it.
    written: Size,
    /// CPUs that it asks for, which are fewer than it gets where it gets whole nodes.
    asked_cpus: u32,
    /// The time limit in force as written; `None` is unlimited.
    limit: Option<Seconds>,
    least_nodes: Bound<u32>,
    most_nodes: Bound<u32>,
    least_cpus: Bound<u32>,
    most_cpus: Bound<u32>,
    /// CPUs of the largest node, for a job that gets whole nodes, and of the largest partition.
    largest_node: Option<u32>,
    all_cpus: u32,
    longest: Option<Bound<Seconds>>,
    cpu_minutes: Option<u64>,
    no_larger: Option<Limit>,
    no_smaller: Option<Limit>,
    no_more_minutes: bool,
}

/// Lowers a bound.
fn at_most(bound: &mut Bound<u32>, value: Option<u32>, by: Limit) {
    if let Some(value) = value.filter(|value| *value < bound.value) {
        *bound = Bound { value, by };
    }
}

/// Raises a bound.
fn at_least(bound: &mut Bound<u32>, value: u32, by: Limit) {
    if value > bound.value {
        *bound = Bound { value, by };
    }
}

impl Bounds {
    /// The bounds of a submission that `partition` is the first partition of.
    #[must_use]
    pub fn of(submission: &Submission<'_>, partition: &Partition<'_>, site: &impl Site) -> Bounds {
        let written = submission.size(partition);
        let mut bounds = Bounds {
            written,
            asked_cpus: submission.asked_cpus(),
            limit: None,
            least_nodes: Bound { value: 1, by: Limit::PartitionMinNodes },
            most_nodes: Bound { value: u32::MAX, by: Limit::PartitionSize },
            least_cpus: Bound { value: 1, by: Limit::LeastOfQos },
            most_cpus: Bound { value: u32::MAX, by: Limit::PartitionSize },
            largest_node: None,
            all_cpus: 0,
            longest: None,
            cpu_minutes: None,
            no_larger: submission.placement.map(Limit::Placement),
            no_smaller: None,
            no_more_minutes: false,
        };
        let applying =
            |partition: &Partition<'_>| site.accounting_limits(submission.user, submission.account, submission.qos, partition.index);
        let first = applying(partition);
        bounds.add(submission, partition, &first);
        // If the partition has no default time limit, slurmctld takes the longest that is allowed
        // (_set_time_limit in src/slurmctld/acct_policy.c).
        let longest = bounds.longest.map(|longest| longest.value);
        bounds.limit = submission.limit.or_default(partition.own_default_time.or(longest));
        for name in submission.partitions().skip(1) {
            match site.partition(name) {
                Some(other) => bounds.add(submission, &other, &applying(&other)),
                None => bounds.freeze(Limit::UnknownPartition),
            }
        }
        bounds
    }

    /// Adds what holds in a partition.
    fn add(&mut self, submission: &Submission<'_>, partition: &Partition<'_>, applying: &Applying) {
        let Applying { caps, wall_owner, rules } = applying;
        at_most(&mut self.most_nodes, Some(partition.nodes), Limit::PartitionSize);
        at_most(&mut self.most_cpus, Some(partition.cpus), Limit::PartitionSize);
        self.all_cpus = self.all_cpus.max(partition.cpus);
        if !rules.over_partition_max_nodes {
            at_most(&mut self.most_nodes, partition.most_nodes, Limit::PartitionMaxNodes);
        }
        if !rules.over_partition_min_nodes {
            at_least(&mut self.least_nodes, partition.least_nodes, Limit::PartitionMinNodes);
        }
        at_most(&mut self.most_nodes, caps.nodes, Limit::MostNodes);
        at_most(&mut self.most_cpus, caps.cpus, Limit::MostCpus);
        let nodes = self.most_nodes.value;
        let on_all_nodes = |per_node: u32| per_node.saturating_mul(nodes);
        at_most(&mut self.most_cpus, partition.most_cpus_per_node.map(on_all_nodes), Limit::PartitionMaxCpusPerNode);
        at_most(&mut self.most_cpus, caps.cpus_per_node.map(on_all_nodes), Limit::MostCpus);
        at_least(&mut self.least_nodes, rules.least_nodes, Limit::LeastOfQos);
        at_least(&mut self.least_cpus, rules.least_cpus, Limit::LeastOfQos);

        let partition_time = partition.max_time.filter(|_| !rules.over_partition_time);
        let wall = match wall_owner {
            Some(CapOwner::Association) => Limit::AssociationWall,
            _ => Limit::QosWall,
        };
        for (value, by) in [(partition_time, Limit::PartitionMaxTime), (caps.wall, wall)] {
            if let Some(value) = value.filter(|value| self.longest.is_none_or(|longest| *value < longest.value)) {
                self.longest = Some(Bound { value, by });
            }
        }
        self.cpu_minutes = [self.cpu_minutes, caps.cpu_minutes].into_iter().flatten().min();
        self.no_more_minutes |= caps.other_minutes;
        if caps.other {
            self.no_larger.get_or_insert(Limit::OtherResource);
        }
        if rules.least_other {
            self.no_smaller.get_or_insert(Limit::LeastOfQos);
        }
        let Some(sizes) = partition.node_sizes else { return };
        if submission.whole_nodes || partition.whole_nodes {
            self.largest_node = self.largest_node.max(Some(sizes.most_cpus));
        }
        let task_cpus = submission.cpus_per_task.unwrap_or(1).max(1);
        let needed = match submission.unit() {
            Unit::Nodes => {
                let evenly = self.asked_cpus.div_ceil(self.written.nodes.max(1));
                submission.tasks_per_node.unwrap_or(1).saturating_mul(task_cpus).max(evenly)
            }
            Unit::Cpus => task_cpus,
        };
        let certain_cpus = (sizes.least_cpus / task_cpus * task_cpus).saturating_mul(sizes.usable);
        if needed > sizes.least_cpus || self.written.nodes >= sizes.usable || self.asked_cpus >= certain_cpus {
            self.no_larger.get_or_insert(Limit::Nodes);
        } else {
            // Only what is made larger has to fit into the nodes of now; what was written may wait
            // for others. Both hold, because these are more than as written.
            at_most(&mut self.most_nodes, Some(sizes.usable), Limit::Nodes);
        }
    }

    /// Forbids every other size and every other time limit.
    fn freeze(&mut self, by: Limit) {
        self.no_larger = Some(by);
        self.no_smaller = Some(by);
        self.longest = Some(Bound { value: Seconds::ZERO, by });
    }

    /// The time limit in force as written; `None` is unlimited.
    #[must_use]
    pub fn limit(&self) -> Option<Seconds> {
        self.limit
    }

    /// The longest time limit at a size, in whole minutes where CPU minutes set it; `None` is any.
    #[must_use]
    pub fn longest_limit(&self, size: Size) -> Option<Bound<Seconds>> {
        let cpus = self.cpus_at_most(size);
        let mut longest = self.longest;
        let minutes = self.cpu_minutes.map(|minutes| (minutes / u64::from(cpus.max(1)), Limit::CpuMinutes));
        let as_now = self.limit.filter(|_| self.no_more_minutes).map(|limit| {
            let product = limit.minutes_rounded_up().max(0) as u64 * u64::from(self.cpus_at_most(self.written));
            (product / u64::from(cpus.max(1)), Limit::OtherResource)
        });
        for (minutes, by) in [minutes, as_now].into_iter().flatten() {
            let value = Seconds(i64::try_from(minutes.saturating_mul(60)).unwrap_or(i64::MAX));
            if longest.is_none_or(|longest| value < longest.value) {
                longest = Some(Bound { value, by });
            }
        }
        longest
    }

    /// Checks that the submission may be rewritten to another size with a time limit.
    ///
    /// # Errors
    /// The limit that forbids it.
    pub fn admit(&self, size: Size, limit: Option<Seconds>) -> Result<(), Limit> {
        let (is_larger, is_smaller) = (
            size.nodes > self.written.nodes || size.cpus > self.written.cpus,
            size.nodes < self.written.nodes || size.cpus < self.written.cpus,
        );
        if let Some(by) = self.no_larger.filter(|_| is_larger).or(self.no_smaller.filter(|_| is_smaller)) {
            return Err(by);
        }
        // Slurm counts one CPU on each node at the least.
        let asked = (u64::from(self.asked_cpus) * u64::from(size.cpus) / u64::from(self.written.cpus.max(1))).max(u64::from(size.nodes));
        let too_much = [(size.nodes, self.most_nodes), (self.cpus_at_most(size), self.most_cpus)];
        let too_little = [(u64::from(size.nodes), self.least_nodes), (asked, self.least_cpus)];
        if let Some((_, bound)) = too_much.into_iter().find(|(count, bound)| *count > bound.value) {
            return Err(bound.by);
        }
        if let Some((_, bound)) = too_little.into_iter().find(|(count, bound)| *count < u64::from(bound.value)) {
            return Err(bound.by);
        }
        match self.longest_limit(size) {
            Some(longest) if limit.is_none_or(|limit| limit > longest.value) => Err(longest.by),
            _ => Ok(()),
        }
    }

    /// CPUs that a job of that size gets at the most.
    fn cpus_at_most(&self, size: Size) -> u32 {
        self.largest_node.map_or(size.cpus, |node| node.saturating_mul(size.nodes).min(self.all_cpus).max(size.cpus))
    }
}
