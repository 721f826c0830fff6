//! The past of the partitions that are asked about, each as a log of its own, and who used what.

use std::collections::HashMap;

use job_types::options::Key;
use job_types::record::Record;
use simulator::accounting::{Choices, LogBuilder};
use simulator::guard::state::GuardedPolicy;
use simulator::swf::Log;
use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord, JobState};
use slurmdbd_log::{add, read};

use super::question::{AskedPolicy, Question};
use crate::known::genuine::Genuine;

/// The past of a partition.
#[derive(Debug, Default)]
pub(super) struct PartitionPast {
    log: LogBuilder,
    /// Jobs of the cluster itself that started; those of earlier clusters carry no records.
    own_jobs: u64,
    /// How many of them asked to be molded, and to be deferred.
    asked: [u64; 2],
}

impl PartitionPast {
    /// The part of the jobs that use a policy, 0 to 1.
    pub(super) fn adoption(&self, asked: AskedPolicy) -> f64 {
        if asked.is_unasked {
            return 1.0;
        }
        let [molding, deferral] = self.asked;
        let using = match asked.policy {
            GuardedPolicy::Molding => molding,
            GuardedPolicy::Deferral => deferral,
        };
        using as f64 / self.own_jobs.max(1) as f64
    }

    /// The jobs as a log of a machine of so many processors.
    pub(super) fn log(self, processors: u32) -> Log {
        let choices = Choices { source: "from slurmdbd, by queuecast", processors: Some(u64::from(processors)), ..Choices::default() };
        self.log.finish(&choices).0
    }

    /// Counts what the user of a job of the cluster itself asked for.
    fn count(&mut self, record: Option<&Record>) {
        self.own_jobs += 1;
        let Some(record) = record else { return };
        let asked = |key: Key| record.asked.options.iter().any(|(name, value)| name == key.option().variable && value == "1");
        for (place, key) in [Key::AutoMold, Key::AutoDefer].into_iter().enumerate() {
            if let Some(count) = self.asked.get_mut(place) {
                *count += u64::from(asked(key));
            }
        }
    }
}

/// Reads the past of the partitions that are asked about. Returns how many records that were.
///
/// # Errors
/// slurmdbd does not answer, or does not know the cluster.
pub(super) fn of(question: &Question) -> Result<(HashMap<String, PartitionPast>, u64), ClientError> {
    let mut pasts: HashMap<String, PartitionPast> =
        question.partitions.iter().map(|partition| (partition.name.clone(), PartitionPast::default())).collect();
    let genuine = Genuine::by_key_at(question.record_key.clone());
    let mut connection = AccountingConnection::open()?;
    let qos = connection.qos_names()?;
    let ended = question.at.0.saturating_sub(question.window.0)..question.at.0;
    let mut jobs = 0;
    let earlier = question.earlier_clusters.iter().filter(|name| !name.eq_ignore_ascii_case(&question.cluster));
    for cluster in std::iter::once(&question.cluster).chain(earlier) {
        let is_own = *cluster == question.cluster;
        if !is_own && matches!(connection.check(cluster), Err(ClientError::ClusterUnknown { .. })) {
            // The reader of ended jobs has told so.
            continue;
        }
        let mut each = |record: &EndedJobRecord<'_>| {
            let partition = record.partition.as_deref().and_then(|names| names.split(',').next()).unwrap_or_default();
            let Some(past) = pasts.get_mut(partition).filter(|_| record.state != JobState::Revoked) else { return };
            jobs += 1;
            add(&mut past.log, record, &qos);
            if is_own && record.started.is_some() {
                past.count(genuine.comment(record).as_deref().and_then(Record::parse).as_ref());
            }
        };
        read(&mut connection, cluster, &ended, &mut each, &mut |_| ())?;
    }
    Ok((pasts, jobs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::record::AskedFor;

    fn asking(options: &[(&str, &str)]) -> Record {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let parsed = Record::parse(r#"{"queuecast":{"version":1,"generation":1,"at":1,"mode":"enforce","asked":{"nodes":1,"cpus":1}}}"#);
        let record = parsed.unwrap();
        Record { asked: AskedFor { options, ..record.asked.clone() }, ..record }
    }

    #[test]
    fn what_is_adopted_is_the_part_of_the_own_jobs_that_asked_for_it() {
        let mut past = PartitionPast::default();
        let (molded, deferred) = (asking(&[("QUEUECAST_AUTO_MOLD", "1")]), asking(&[("QUEUECAST_AUTO_DEFER", "1")]));
        for record in [Some(&molded), Some(&molded), Some(&deferred), None] {
            past.count(record);
        }
        let of = |policy, is_unasked| past.adoption(AskedPolicy { policy, is_unasked });
        assert_eq!([of(GuardedPolicy::Molding, false), of(GuardedPolicy::Deferral, false)], [0.5, 0.25]);
        assert_eq!(of(GuardedPolicy::Molding, true), 1.0, "all that can be");
        assert_eq!(PartitionPast::default().adoption(AskedPolicy { policy: GuardedPolicy::Molding, is_unasked: false }), 0.0);
    }
}
