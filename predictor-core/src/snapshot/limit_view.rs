//! Looks partitions and limits of accounting up, without allocating: associations lie sorted,
//! partitions and qualities of service are few.

use super::Snapshot;
use super::layout::{self, ALL_PARTITIONS, AssociationRecord, CapsRecord, LimitsRecord, NO_RECORD, QosRecord, sections};
use crate::decisions::limits::{Applying, Caps, JobLimits, QosRules, applying};
use crate::decisions::site::{Partition, Site};
use job_types::number::{PartitionIndex, UserId};
use job_types::policy::Policy;
use std::cmp::Ordering;

/// The account whose association holds for all the others.
pub const ROOT_ACCOUNT: &str = "root";

impl<B: AsRef<[u8]>> Site for Snapshot<B> {
    fn partition(&self, name: &str) -> Option<Partition<'_>> {
        let records = self.partition_records();
        let index = records.iter().position(|record| self.text(record.name) == name)?;
        Some(self.partition_of(PartitionIndex(u16::try_from(index).ok()?), records.get(index)?))
    }

    fn default_partition(&self) -> Option<Partition<'_>> {
        let records = self.partition_records();
        let index = records.iter().position(|record| record.is_default == 1)?;
        Some(self.partition_of(PartitionIndex(u16::try_from(index).ok()?), records.get(index)?))
    }

    fn site_policy(&self) -> Policy {
        self.provenance().site_policy
    }

    /// A job that names no account or no quality of service has the user's default one. A user
    /// without an association in the account is held to the account's own limits, and without an
    /// account of that name to those of the cluster.
    fn accounting_limits(&self, user: UserId, account: Option<&str>, qos: Option<&str>, partition: PartitionIndex) -> Applying {
        let association = self.association_record(user, account, partition);
        let all = self.records(sections::QosRules);
        let named = qos.and_then(|name| all.iter().find(|record| self.text(record.name).eq_ignore_ascii_case(name)));
        let by_default = || {
            let id = association.map(|association| association.default_qos.get()).filter(|id| *id != NO_RECORD)?;
            all.iter().find(|record| record.id.get() == id)
        };
        let job_qos = if qos.is_some() { named } else { by_default() };
        let partition_qos = self.partition_record(partition).and_then(|record| all.get(record.qos.get() as usize));
        // A quality of service that is both the job's and the partition's is looked at once, or it
        // would stand behind itself.
        let partition_qos = partition_qos.filter(|record| job_qos.is_none_or(|job| job.id != record.id));
        let view = |record: &QosRecord| (QosRules::from(record), self.limits_at(record.limits.get()));
        let association = association.map(|record| self.limits_at(record.limits.get())).unwrap_or_default();
        applying(job_qos.map(view), partition_qos.map(view), association)
    }
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// How many qualities of service and associations are known.
    #[must_use]
    pub fn limits_known(&self) -> (usize, usize) {
        let associations = self.records(sections::Associations).len();
        (self.records(sections::QosRules).len(), associations)
    }

    fn limits_at(&self, place: u32) -> JobLimits {
        self.records(sections::Limits).get(place as usize).map(JobLimits::from).unwrap_or_default()
    }

    fn association_record(&self, user: UserId, account: Option<&str>, partition: PartitionIndex) -> Option<&AssociationRecord> {
        let all = self.records(sections::Associations);
        let own = among(all, |record| record.user.get().cmp(&user.0));
        let account = account.or_else(|| own.iter().find(|record| record.is_default == 1).map(|record| self.text(record.account)));
        let is_account = |record: &&AssociationRecord| account.is_some_and(|name| self.text(record.account).eq_ignore_ascii_case(name));
        let here = own.iter().filter(is_account).find(|record| record.partition.get() == partition.0);
        let anywhere = || own.iter().filter(is_account).find(|record| record.partition.get() == ALL_PARTITIONS);
        here.or_else(anywhere).or_else(|| self.of_account(all, account?)).or_else(|| self.of_account(all, ROOT_ACCOUNT))
    }

    /// The association of an account itself.
    fn of_account<'a>(&self, all: &'a [AssociationRecord], name: &str) -> Option<&'a AssociationRecord> {
        let accounts = among(all, |record| record.user.get().cmp(&NO_RECORD));
        among(accounts, |record| without_case(self.text(record.account)).cmp(without_case(name))).first()
    }
}

fn without_case(name: &str) -> impl Iterator<Item = u8> + '_ {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// The records that are equal, of sorted ones.
fn among(records: &[AssociationRecord], order: impl Fn(&AssociationRecord) -> Ordering) -> &[AssociationRecord] {
    let first = records.partition_point(|record| order(record) == Ordering::Less);
    let rest = records.get(first..).unwrap_or(&[]);
    rest.get(..rest.partition_point(|record| order(record) == Ordering::Equal)).unwrap_or(&[])
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

impl From<&LimitsRecord> for JobLimits {
    fn from(record: &LimitsRecord) -> JobLimits {
        JobLimits { job: (&record.job).into(), group: (&record.group).into(), member: (&record.member).into() }
    }
}
