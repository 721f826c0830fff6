//! Limits of accounting as records: each set of limits once, because thousands of associations
//! share a few of them, and associations in the order in which they are looked up.

use super::layout::{self, AssociationRecord, CapsRecord, LimitsRecord, NO_RECORD, QosRecord, TextRecord};
use super::text::Text;
use crate::decisions::limits::{AccountingLimits, AssociationLimits, Caps, JobLimits, Qos, QosRules};
use std::collections::HashMap;

/// Stands for "all partitions" in an association's record.
pub(super) const ALL_PARTITIONS: u16 = u16::MAX;

/// Sections of the snapshot.
#[derive(Debug, Default)]
pub(super) struct LimitRecords {
    pub(super) limits: Vec<LimitsRecord>,
    pub(super) qos: Vec<QosRecord>,
    pub(super) associations: Vec<AssociationRecord>,
}

impl LimitRecords {
    /// The records of these limits, which know partitions by their place in `partitions`.
    pub(super) fn of(accounting: &AccountingLimits, partitions: &[&str], text: &mut Text) -> LimitRecords {
        let mut places: HashMap<LimitsRecord, u32> = HashMap::new();
        let mut limits: Vec<LimitsRecord> = Vec::new();
        let mut place = |of: &JobLimits| {
            let record = LimitsRecord::from(of);
            *places.entry(record).or_insert_with(|| {
                limits.push(record);
                limits.len() as u32 - 1
            })
        };
        let qos = accounting.qos.iter().map(|qos| qos_record(qos, place(&qos.limits), text)).collect();
        let mut names: HashMap<&str, TextRecord> = HashMap::new();
        let key = |association: &AssociationLimits| {
            (association.user.map_or(NO_RECORD, |user| user.0), association.account.to_ascii_lowercase(), association.partition.clone())
        };
        let mut sorted: Vec<&AssociationLimits> = accounting.associations.iter().collect();
        sorted.sort_by_cached_key(|association| key(association));
        let index_of = |name: &str| partitions.iter().position(|partition| *partition == name).and_then(|index| u16::try_from(index).ok());
        let associations = sorted.into_iter().filter_map(|association| {
            let partition = match &association.partition {
                None => ALL_PARTITIONS,
                // Without room for its partition an association is left out: a job there falls back
                // to the user's other one.
                Some(name) => index_of(name)?,
            };
            Some(AssociationRecord {
                user: association.user.map_or(NO_RECORD, |user| user.0).into(),
                account: *names.entry(&association.account).or_insert_with(|| text.add(&association.account)),
                partition: partition.into(),
                is_default: association.is_default.into(),
                reserved: 0,
                default_qos: association.default_qos.map_or(NO_RECORD, |qos| qos.0).into(),
                limits: place(&association.limits).into(),
            })
        });
        let associations = associations.collect();
        LimitRecords { qos, associations, limits }
    }
}

fn qos_record(qos: &Qos, limits: u32, text: &mut Text) -> QosRecord {
    let rules = &qos.rules;
    let flags = [
        rules.over_partition_qos,
        rules.over_partition_time,
        rules.over_partition_max_nodes,
        rules.over_partition_min_nodes,
        rules.least_other,
    ];
    QosRecord {
        name: text.add(&qos.name),
        id: qos.id.0.into(),
        limits: limits.into(),
        least_cpus: rules.least_cpus.into(),
        least_nodes: rules.least_nodes.into(),
        limit_factor: rules.limit_factor.into(),
        flags: flags.iter().enumerate().fold(0, |bits, (place, flag)| bits | u8::from(*flag) << place),
        reserved: [0; 3],
    }
}

impl From<&QosRecord> for QosRules {
    fn from(record: &QosRecord) -> QosRules {
        let flag = |place: u8| record.flags >> place & 1 == 1;
        QosRules {
            over_partition_qos: flag(0),
            over_partition_time: flag(1),
            over_partition_max_nodes: flag(2),
            over_partition_min_nodes: flag(3),
            least_other: flag(4),
            least_cpus: record.least_cpus.get(),
            least_nodes: record.least_nodes.get(),
            limit_factor: record.limit_factor.get(),
        }
    }
}

impl From<&Caps> for CapsRecord {
    fn from(caps: &Caps) -> CapsRecord {
        CapsRecord {
            wall_s: layout::seconds_or_none(caps.wall),
            cpus: layout::number_or_none(caps.cpus),
            nodes: layout::number_or_none(caps.nodes),
            cpus_per_node: layout::number_or_none(caps.cpus_per_node),
            cpu_minutes: caps.cpu_minutes.unwrap_or(u64::MAX).into(),
            other: caps.other.into(),
            other_minutes: caps.other_minutes.into(),
            reserved: [0; 2],
        }
    }
}

impl From<&CapsRecord> for Caps {
    fn from(record: &CapsRecord) -> Caps {
        Caps {
            wall: layout::seconds(record.wall_s),
            cpus: layout::number(record.cpus),
            nodes: layout::number(record.nodes),
            cpus_per_node: layout::number(record.cpus_per_node),
            cpu_minutes: Some(record.cpu_minutes.get()).filter(|minutes| *minutes != u64::MAX),
            other: record.other == 1,
            other_minutes: record.other_minutes == 1,
        }
    }
}

impl From<&JobLimits> for LimitsRecord {
    fn from(limits: &JobLimits) -> LimitsRecord {
        LimitsRecord { job: (&limits.job).into(), group: (&limits.group).into(), member: (&limits.member).into() }
    }
}

impl From<&LimitsRecord> for JobLimits {
    fn from(record: &LimitsRecord) -> JobLimits {
        JobLimits { job: (&record.job).into(), group: (&record.group).into(), member: (&record.member).into() }
    }
}
