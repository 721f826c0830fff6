//! What Slurm allows one job: limits of qualities of service and of associations, and how those
//! that apply are found.
//!
//! The rules are Slurm's own (src/slurmctld/acct_policy.c): of the job's quality of service and the
//! partition's the partition's goes first, unless the job's has the flag `OverPartQOS`; a limit
//! that is set there takes the place of the same limit behind it, and the association's counts
//! where neither sets it. Where Slurm's reading depends on what else runs, the stricter one is
//! taken here.

use job_types::number::{QosId, UserId};
use job_types::time::Seconds;

/// Caps on one job; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caps {
    /// Longest time limit (`MaxWall`, `GrpWall`).
    pub wall: Option<Seconds>,
    /// Most CPUs (`MaxTRES`, `GrpTRES`).
    pub cpus: Option<u32>,
    /// Most nodes.
    pub nodes: Option<u32>,
    /// Most CPUs on each node (`MaxTRESPerNode`).
    pub cpus_per_node: Option<u32>,
    /// Most CPUs times minutes of time limit (`MaxTRESMins`, `GrpTRESMins`, `GrpTRESRunMins`).
    pub cpu_minutes: Option<u64>,
    /// Whether some other resource is capped, such as memory or billing: what that comes to for a
    /// job is slurmctld's to say, so that a job under such a cap is not made larger.
    pub other: bool,
    /// Whether there is a cap on some other resource times minutes.
    pub other_minutes: bool,
}

impl Caps {
    /// Returns each of these caps, or that of `behind` if there is none. Caps on other resources
    /// add up, because it is not known which resources they are about.
    #[must_use]
    pub fn before(self, behind: Caps) -> Caps {
        Caps {
            wall: self.wall.or(behind.wall),
            cpus: self.cpus.or(behind.cpus),
            nodes: self.nodes.or(behind.nodes),
            cpus_per_node: self.cpus_per_node.or(behind.cpus_per_node),
            cpu_minutes: self.cpu_minutes.or(behind.cpu_minutes),
            other: self.other || behind.other,
            other_minutes: self.other_minutes || behind.other_minutes,
        }
    }

    /// The stricter of each cap.
    #[must_use]
    pub fn and(self, also: Caps) -> Caps {
        Caps {
            wall: stricter(self.wall, also.wall),
            cpus: stricter(self.cpus, also.cpus),
            nodes: stricter(self.nodes, also.nodes),
            cpus_per_node: stricter(self.cpus_per_node, also.cpus_per_node),
            cpu_minutes: stricter(self.cpu_minutes, also.cpu_minutes),
            other: self.other || also.other,
            other_minutes: self.other_minutes || also.other_minutes,
        }
    }

    /// The caps on CPUs and nodes multiplied by a quality of service's `LimitFactor`. A factor
    /// above 1 is passed over, which is the stricter reading.
    #[must_use]
    fn scaled(self, factor: f32) -> Caps {
        if !(0.0..1.0).contains(&factor) {
            return self;
        }
        let scale = |count: u32| (f64::from(count) * f64::from(factor)) as u32;
        Caps { cpus: self.cpus.map(scale), nodes: self.nodes.map(scale), ..self }
    }
}

/// The lesser of two caps, of which either may be absent.
fn stricter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The caps that a quality of service or an association sets, by what they take the place of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JobLimits {
    /// Caps on each job.
    pub job: Caps,
    /// Caps on all jobs together. A single job that exceeds them can't run.
    pub group: Caps,
    /// Caps on all jobs of one user or account. A single job that exceeds them can't run, and no
    /// other limit takes their place.
    pub member: Caps,
}

/// Slurm's flags of a quality of service that change which limits apply, and what it demands of a
/// job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QosRules {
    /// `OverPartQOS`: it goes before the partition's.
    pub over_partition_qos: bool,
    /// `PartitionTimeLimit`: the partition's longest time limit does not hold.
    pub over_partition_time: bool,
    /// `PartitionMaxNodes`, likewise.
    pub over_partition_max_nodes: bool,
    /// `PartitionMinNodes`, likewise.
    pub over_partition_min_nodes: bool,
    /// Fewest CPUs of a job (`MinTRES`), 0 for no such limit.
    pub least_cpus: u32,
    /// Fewest nodes of a job, likewise.
    pub least_nodes: u32,
    /// Whether some other resource has a least amount: such a job is not made smaller.
    pub least_other: bool,
    /// The factor by which the association's caps on resources are multiplied.
    pub limit_factor: f32,
}

impl Default for QosRules {
    fn default() -> QosRules {
        QosRules {
            over_partition_qos: false,
            over_partition_time: false,
            over_partition_max_nodes: false,
            over_partition_min_nodes: false,
            least_cpus: 0,
            least_nodes: 0,
            least_other: false,
            limit_factor: 1.0,
        }
    }
}

/// A quality of service with its limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Slurm's number of the quality of service.
    pub id: QosId,
    /// The name of the quality of service.
    pub name: String,
    /// The flags of the quality of service, and the least amounts that it demands of a job.
    pub rules: QosRules,
    /// The caps that the quality of service sets.
    pub limits: JobLimits,
}

/// An association with its limits: those of the accounts above it are among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssociationLimits {
    /// Numeric id of the user; `None` for the association of the account itself.
    pub user: Option<UserId>,
    /// The association's account.
    pub account: String,
    /// The one partition that the association is about, if it is about one.
    pub partition: Option<String>,
    /// Whether the association is the one of the user's jobs that name no account.
    pub is_default: bool,
    /// Number of the quality of service of jobs that name none.
    pub default_qos: Option<QosId>,
    /// Numbers of the qualities of service that its jobs may use; none is named where all may be.
    pub allowed_qos: Vec<QosId>,
    /// The association's caps.
    pub limits: JobLimits,
}

impl AssociationLimits {
    /// Whether jobs of the association may use a quality of service.
    #[must_use]
    pub fn may_use(&self, qos: QosId) -> bool {
        self.allowed_qos.is_empty() || self.allowed_qos.contains(&qos)
    }
}

/// All limits that accounting knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccountingLimits {
    /// The qualities of service.
    pub qos: Vec<Qos>,
    /// The associations of this cluster.
    pub associations: Vec<AssociationLimits>,
}

/// What a partition allows one job, besides its longest time limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionLimits {
    /// `MinNodes`, 0 for no such limit.
    pub least_nodes: u32,
    /// `MaxNodes`.
    pub most_nodes: Option<u32>,
    /// `MaxCPUsPerNode`.
    pub most_cpus_per_node: Option<u32>,
    /// The name of the partition's quality of service.
    pub qos: Option<String>,
    /// The number of the partition's nodes that take jobs and the sizes of its nodes, where they
    /// are known.
    pub nodes: Option<NodeSizes>,
}

/// The nodes of a partition, as far as they say what certainly fits on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSizes {
    /// Nodes that take jobs now.
    pub usable: u32,
    /// CPUs of the smallest of them.
    pub least_cpus: u32,
    /// CPUs of the largest of all.
    pub most_cpus: u32,
}

/// What sets a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapOwner {
    /// A quality of service, the job's or the partition's.
    Qos,
    /// An association.
    Association,
}

/// The limits of accounting that apply to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applying {
    /// The caps.
    pub caps: Caps,
    /// What sets the cap on time.
    pub wall_owner: Option<CapOwner>,
    /// What the qualities of service say besides.
    pub rules: QosRules,
}

/// The limits that apply where the job's quality of service, the partition's and the association
/// are these.
#[must_use]
pub fn applying(job_qos: Option<(QosRules, JobLimits)>, partition_qos: Option<(QosRules, JobLimits)>, association: JobLimits) -> Applying {
    let over = job_qos.is_some_and(|(rules, _)| rules.over_partition_qos);
    let ((first_rules, first), (second_rules, second)) = {
        let (job, partition) = (job_qos.unwrap_or_default(), partition_qos.unwrap_or_default());
        if over { (job, partition) } else { (partition, job) }
    };
    let factor = if first_rules.limit_factor == 1.0 { second_rules.limit_factor } else { first_rules.limit_factor };
    let of_qos = first.job.before(second.job).and(first.group.before(second.group)).and(first.member).and(second.member);
    let job = first.job.before(second.job).before(association.job.scaled(factor));
    let group = first.group.before(second.group).before(association.group.scaled(factor));
    let caps = job.and(group).and(first.member).and(second.member).and(association.member);
    let wall_owner = caps.wall.map(|wall| if of_qos.wall == Some(wall) { CapOwner::Qos } else { CapOwner::Association });
    // Only the job's own quality of service can lift a limit of the partition
    // (src/slurmctld/job_mgr.c, job_limits_check).
    let rules = job_qos.map_or_else(QosRules::default, |(rules, _)| rules);
    let rules = QosRules {
        least_cpus: first_rules.least_cpus.max(second_rules.least_cpus),
        least_nodes: first_rules.least_nodes.max(second_rules.least_nodes),
        least_other: first_rules.least_other || second_rules.least_other,
        ..rules
    };
    Applying { caps, wall_owner, rules }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(minutes: i64) -> Caps {
        Caps { wall: Some(Seconds(minutes * 60)), ..Caps::default() }
    }

    fn on_jobs(job: Caps) -> JobLimits {
        JobLimits { job, ..JobLimits::default() }
    }

    fn wall_of(applying: &Applying) -> Option<i64> {
        applying.caps.wall.map(|wall| wall.0 / 60)
    }

    #[test]
    fn a_limit_of_a_quality_of_service_takes_the_place_of_the_associations() {
        let qos = Some((QosRules::default(), on_jobs(wall(600))));
        let both = applying(qos, None, on_jobs(wall(60)));
        assert_eq!((wall_of(&both), both.wall_owner), (Some(600), Some(CapOwner::Qos)));
        let only_nodes = Some((QosRules::default(), on_jobs(Caps { nodes: Some(4), ..Caps::default() })));
        let each = applying(only_nodes, None, on_jobs(wall(60)));
        assert_eq!((wall_of(&each), each.caps.nodes, each.wall_owner), (Some(60), Some(4), Some(CapOwner::Association)));
    }

    #[test]
    fn the_partitions_quality_of_service_goes_first_unless_the_jobs_says_otherwise() {
        let partition = Some((QosRules::default(), on_jobs(wall(30))));
        let plain = Some((QosRules::default(), on_jobs(wall(600))));
        let over = Some((QosRules { over_partition_qos: true, ..QosRules::default() }, on_jobs(wall(600))));
        assert_eq!(wall_of(&applying(plain, partition, JobLimits::default())), Some(30));
        assert_eq!(wall_of(&applying(over, partition, JobLimits::default())), Some(600));
    }

    #[test]
    fn a_cap_on_a_group_does_not_take_the_place_of_one_on_jobs() {
        let group = JobLimits { group: wall(600), ..JobLimits::default() };
        let applying = applying(Some((QosRules::default(), group)), None, on_jobs(wall(60)));
        assert_eq!((wall_of(&applying), applying.wall_owner), (Some(60), Some(CapOwner::Association)));
    }

    #[test]
    fn caps_on_all_jobs_of_a_user_hold_whatever_else_is_set() {
        let member = |cpus| JobLimits { member: Caps { cpus: Some(cpus), ..Caps::default() }, ..JobLimits::default() };
        let both = applying(Some((QosRules::default(), member(64))), Some((QosRules::default(), member(16))), member(8));
        assert_eq!(both.caps.cpus, Some(8));
    }

    #[test]
    fn a_factor_below_one_scales_what_an_association_allows() {
        let association = on_jobs(Caps { cpus: Some(100), ..Caps::default() });
        let half = Some((QosRules { limit_factor: 0.5, ..QosRules::default() }, JobLimits::default()));
        let twice = Some((QosRules { limit_factor: 2.0, ..QosRules::default() }, JobLimits::default()));
        assert_eq!(applying(half, None, association).caps.cpus, Some(50));
        assert_eq!(applying(twice, None, association).caps.cpus, Some(100));
    }
}
