//! Limits of accounting as records: each set of limits once, because thousands of associations
//! share a few of them, and associations in the order in which they are looked up.

use crate::text::Text;
use predictor_core::decisions::limits::{AccountingLimits, AssociationLimits, Caps, JobLimits, Qos};
use predictor_core::snapshot::layout::{
    self, ALL_PARTITIONS, AssociationRecord, CapsRecord, LimitsRecord, NO_RECORD, QosRecord, TextRecord,
};
use std::collections::HashMap;

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
            let record = limits_record(of);
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
                // An association is left out if its partition has no index. A job there falls back
                // to the user's other association.
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

fn caps_record(caps: &Caps) -> CapsRecord {
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

fn limits_record(limits: &JobLimits) -> LimitsRecord {
    LimitsRecord { job: caps_record(&limits.job), group: caps_record(&limits.group), member: caps_record(&limits.member) }
}
