//! What accounting and partitions allow a job, as the snapshot takes it.

use job_types::number::QosId;
use std::collections::HashMap;

use job_types::time::Seconds;
use job_types::tres::Amounts;
use predictor_core::decisions::limits::{AccountingLimits, AssociationLimits, Caps, JobLimits, NodeSizes, PartitionLimits, Qos, QosRules};
use slurm_sys::client::controller::{Accounts, AssociationRecord, Node, NodeState, Partition, QosRecord};

/// Accounts stand at most this deep below each other: a longer chain is a circle.
const DEEPEST: usize = 64;

fn clamped(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Caps from lists of most resources, of most on each node, and of resource minutes.
fn caps(wall_seconds: Option<i64>, most: Amounts, per_node: Amounts, minutes: &[Amounts]) -> Caps {
    Caps {
        wall: wall_seconds.map(Seconds),
        cpus: most.cpus.map(clamped),
        nodes: most.nodes.map(clamped),
        cpus_per_node: per_node.cpus.map(clamped),
        cpu_minutes: minutes.iter().filter_map(|minutes| minutes.cpus).min(),
        other: most.has_others() || per_node.has_others() || per_node.nodes.is_some(),
        other_minutes: minutes.iter().any(|minutes| minutes.has_others() || minutes.nodes.is_some()),
    }
}

/// What slurmctld says of qualities of service and associations, in the snapshot's terms.
pub(crate) fn accounting(accounts: &Accounts) -> AccountingLimits {
    let by_id: HashMap<u32, &AssociationRecord> = accounts.associations.iter().map(|record| (record.id, record)).collect();
    let default_qos = accounts.default_qos();
    let associations = accounts.associations.iter().filter(|record| record.is_account || record.user_id.is_some());
    AccountingLimits {
        qos: accounts.qos.iter().map(qos).collect(),
        associations: associations.map(|record| association(record, &by_id, default_qos(record))).collect(),
    }
}

fn qos(record: &QosRecord) -> Qos {
    let least = record.min_resources;
    let none = Amounts::default();
    let members = record.member_resources.iter().map(|most| caps(None, *most, none, &[]));
    let member_minutes = caps(None, none, none, &record.member_resource_minutes);
    Qos {
        id: record.id,
        name: record.name.clone(),
        rules: QosRules {
            over_partition_qos: record.over_partition_qos,
            over_partition_time: record.over_partition_time,
            over_partition_max_nodes: record.over_partition_max_nodes,
            over_partition_min_nodes: record.over_partition_min_nodes,
            least_cpus: least.cpus.map_or(0, clamped),
            least_nodes: least.nodes.map_or(0, clamped),
            least_other: least.has_others(),
            limit_factor: record.limit_factor.map_or(1.0, |factor| factor as f32),
        },
        limits: JobLimits {
            job: caps(record.max_wall_seconds, record.max_resources, record.max_resources_per_node, &[record.max_resource_minutes]),
            group: caps(record.group_wall_seconds, record.group_resources, none, &record.group_resource_minutes),
            member: members.fold(member_minutes, Caps::and),
        },
    }
}

/// An association with the caps on groups of all accounts above it, of which each holds.
fn association(record: &AssociationRecord, by_id: &HashMap<u32, &AssociationRecord>, default_qos: Option<QosId>) -> AssociationLimits {
    let above = std::iter::successors(Some(record), |below| by_id.get(&below.parent).copied());
    let none = Amounts::default();
    let group =
        above.take(DEEPEST).map(|record| caps(record.group_wall_seconds, record.group_resources, none, &record.group_resource_minutes));
    AssociationLimits {
        user: record.user_id,
        account: record.account.clone(),
        partition: record.partition.clone(),
        is_default: record.is_default,
        default_qos,
        allowed_qos: record.allowed_qos.clone(),
        limits: JobLimits {
            job: caps(record.max_wall_seconds, record.max_resources, record.max_resources_per_node, &[record.max_resource_minutes]),
            group: group.fold(Caps::default(), Caps::and),
            member: caps(None, none, none, &[record.max_running_minutes]),
        },
    }
}

/// What a partition allows one job, with the sizes of its nodes.
pub(crate) fn of_partition(partition: &Partition, nodes: &[Node]) -> PartitionLimits {
    let is_member = |node: &&Node| partition.node_ranges.iter().any(|(first, last)| (*first..=*last).contains(&node.index));
    let members = || nodes.iter().filter(is_member);
    let usable = || members().filter(|node| matches!(node.state, NodeState::Idle | NodeState::Busy));
    PartitionLimits {
        least_nodes: if partition.min_nodes > 1 { partition.min_nodes } else { 0 },
        most_nodes: partition.max_nodes,
        most_cpus_per_node: partition.max_cpus_per_node,
        qos: partition.qos.clone(),
        nodes: Some(NodeSizes {
            usable: u32::try_from(usable().count()).unwrap_or(u32::MAX),
            least_cpus: usable().map(|node| node.cpus).min().unwrap_or(0),
            most_cpus: members().map(|node| node.cpus).max().unwrap_or(0),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::UserId;

    fn record(id: u32, parent: u32, user: Option<u32>) -> AssociationRecord {
        AssociationRecord {
            id,
            parent,
            user_id: user.map(UserId),
            user: user.map(|user| user.to_string()),
            is_account: user.is_none(),
            account: format!("account{id}"),
            partition: None,
            is_default: false,
            default_qos: None,
            allowed_qos: Vec::new(),
            max_wall_seconds: None,
            group_wall_seconds: None,
            max_resources: Amounts::default(),
            max_resources_per_node: Amounts::default(),
            max_resource_minutes: Amounts::default(),
            max_running_minutes: Amounts::default(),
            group_resources: Amounts::default(),
            group_resource_minutes: Default::default(),
        }
    }

    #[test]
    fn limits_of_the_accounts_above_hold_for_a_user() {
        let accounts = Accounts {
            qos: Vec::new(),
            users: Vec::new(),
            associations: vec![
                AssociationRecord { group_resources: Amounts::read("4=8"), account: "root".to_owned(), ..record(1, 0, None) },
                AssociationRecord { group_resources: Amounts::read("1=64,4=16"), ..record(2, 1, None) },
                AssociationRecord { group_wall_seconds: Some(7_200), max_wall_seconds: Some(3_600), ..record(3, 2, Some(1_000)) },
            ],
        };
        let limits = accounting(&accounts).associations[2].limits;
        assert_eq!((limits.group.nodes, limits.group.cpus, limits.group.wall), (Some(8), Some(64), Some(Seconds(7_200))));
        assert_eq!(limits.job.wall, Some(Seconds(3_600)));
    }

    #[test]
    fn a_circle_of_accounts_comes_to_an_end() {
        let accounts = Accounts { associations: vec![record(1, 2, None), record(2, 1, None)], ..Accounts::default() };
        assert_eq!(accounting(&accounts).associations.len(), 2);
    }

    #[test]
    fn the_only_quality_of_service_that_is_allowed_is_the_default() {
        let normal = QosRecord {
            id: QosId(1),
            name: "normal".to_owned(),
            over_partition_qos: false,
            over_partition_time: false,
            over_partition_max_nodes: false,
            over_partition_min_nodes: false,
            limit_factor: None,
            max_wall_seconds: None,
            group_wall_seconds: None,
            max_resources: Amounts::default(),
            max_resources_per_node: Amounts::default(),
            max_resource_minutes: Amounts::default(),
            min_resources: Amounts::default(),
            group_resources: Amounts::default(),
            group_resource_minutes: Default::default(),
            member_resources: Default::default(),
            member_resource_minutes: Default::default(),
        };
        let user = |allowed: &[u32], default| AssociationRecord {
            allowed_qos: allowed.iter().copied().map(QosId).collect(),
            default_qos: default,
            ..record(2, 1, Some(1_000))
        };
        let default_of = |user: AssociationRecord| {
            accounting(&Accounts { qos: vec![normal.clone()], associations: vec![user], users: Vec::new() }).associations[0].default_qos
        };
        assert_eq!(default_of(user(&[7], None)), Some(QosId(7)));
        assert_eq!(default_of(user(&[7, 8], Some(QosId(8)))), Some(QosId(8)));
        assert_eq!(default_of(user(&[7, 8], None)), Some(QosId(1)));
    }
}
