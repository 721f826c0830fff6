//! slurmdbd's jobs as a workload log.

use std::collections::HashMap;
use std::ops::Range;

use job_types::number::QosId;
use job_types::time::{Seconds, UnixTime};
use simulator::accounting::{AccountedRun, Limit, LogBuilder};
use simulator::swf::Status;
use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord, JobState, WindowWidth};

/// Calls `each` for every run of a job of a cluster that ended in a stretch of time (Unix seconds,
/// its end excluded), in windows of time so that no answer is large. After each window `read` is
/// told up to which moment it has come.
///
/// # Errors
/// As [`AccountingConnection::ended_jobs`].
pub fn read(
    connection: &mut AccountingConnection,
    cluster: &str,
    ended: &Range<i64>,
    each: &mut dyn FnMut(&EndedJobRecord<'_>),
    read: &mut dyn FnMut(i64),
) -> Result<(), ClientError> {
    let (mut width, mut rest) = (WindowWidth::new(), ended.clone());
    while !rest.is_empty() {
        let window = width.first_of(&rest);
        width.learn(connection.ended_jobs(cluster, window.clone(), |record| each(&record))?);
        rest.start = window.end;
        read(window.end);
    }
    Ok(())
}

/// Adds a run to a log. `qos` are the names of the qualities of service.
pub fn add(builder: &mut LogBuilder, record: &EndedJobRecord<'_>, qos: &HashMap<QosId, String>) {
    let number = record.user_id.0.to_string();
    let requested = Some(u64::from(record.requested_cpus)).filter(|cpus| *cpus > 0);
    let cpus = requested.or(record.allocated_cpus.map(u64::from)).filter(|cpus| *cpus > 0);
    let per_cpu = |mebibytes: u64| cpus.map(|cpus| (mebibytes as f64 * 1_024.0 / cpus as f64).round());
    builder.add(&AccountedRun {
        // The tasks of an array may lack numbers of their own, as in sacct's text.
        id: u64::from(record.job_id.0) << 32,
        submitted: record.submitted.map(UnixTime),
        eligible: record.eligible.map(UnixTime),
        started: record.started.map(UnixTime),
        ended: Some(UnixTime(record.ended)),
        run_time: None,
        suspended: Seconds(record.suspended_seconds.saturating_abs()),
        allocated_cpus: record.allocated_cpus.map(u64::from),
        requested_cpus: requested,
        // A job of which the record names no node has one node, as in the daemon.
        requested_nodes: Some(record.requested_nodes.filter(|nodes| *nodes > 0).unwrap_or(record.allocated_nodes).max(1)),
        allocated_nodes: Some(record.allocated_nodes),
        requested_kilobytes_per_cpu: record.requested_memory_mebibytes.and_then(per_cpu),
        limit: match record.time_limit_seconds {
            Some(seconds) => u64::try_from(seconds).map_or(Limit::NotKnown, Limit::Seconds),
            None if record.is_unlimited => Limit::Unlimited,
            None => Limit::NotKnown,
        },
        ending: status(record.state),
        is_requeued: record.state == JobState::Requeued,
        user: record.user.as_deref().unwrap_or(&number),
        account: record.account.as_deref().unwrap_or_default(),
        partition: record.partition.as_deref().unwrap_or_default(),
        qos: qos.get(&record.qos_id).map(String::as_str).unwrap_or_default(),
        name: record.name.as_deref().unwrap_or_default(),
    });
}

/// How a job ended, in the terms of workload logs.
fn status(state: JobState) -> Option<Status> {
    match state {
        JobState::Completed => Some(Status::Completed),
        JobState::Cancelled => Some(Status::Cancelled),
        JobState::Resized => Some(Status::PartToBeContinued),
        JobState::Failed
        | JobState::TimedOut
        | JobState::NodeFailed
        | JobState::Preempted
        | JobState::BootFailed
        | JobState::DeadlineMissed
        | JobState::OutOfMemory
        | JobState::Requeued => Some(Status::Failed),
        JobState::Pending | JobState::Running | JobState::Suspended | JobState::Completing | JobState::Revoked | JobState::Unknown(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{JobId, QosIndex, UserId};
    use job_types::size::Size;
    use simulator::accounting::Choices;
    use simulator::evaluation;
    use std::borrow::Cow;

    fn record(job: u32, qos: u32, nodes: (Option<u32>, u32)) -> EndedJobRecord<'static> {
        EndedJobRecord {
            job_id: JobId(job),
            array: None,
            user_id: UserId(1_000),
            user: None,
            account: Some(Cow::Borrowed("physics")),
            partition: Some(Cow::Borrowed("batch")),
            qos_id: QosId(qos),
            name: None,
            features: None,
            wckey: None,
            work_dir: None,
            submit_line: None,
            requested_cpus: 2,
            allocated_cpus: Some(32),
            requested_nodes: nodes.0,
            allocated_nodes: nodes.1,
            requested_memory_mebibytes: None,
            time_limit_seconds: Some(3_600),
            is_unlimited: false,
            submitted: Some(1_000 + i64::from(job)),
            eligible: Some(1_000 + i64::from(job)),
            started: Some(1_100),
            ended: 2_000,
            suspended_seconds: 0,
            state: JobState::Completed,
            admin_comment: None,
        }
    }

    #[test]
    fn nodes_and_quality_of_service_of_a_record_are_those_of_the_job_that_forecasts_see() {
        let qos = HashMap::from([(QosId(1), "normal".to_owned()), (QosId(7), "express".to_owned())]);
        let mut builder = LogBuilder::new();
        let nodes = [(Some(2), 4), (None, 4), (Some(0), 4), (None, 0)];
        for ((job, qos_id), nodes) in (1..).zip([7, 1, 7, 9]).zip(nodes) {
            add(&mut builder, &record(job, qos_id, nodes), &qos);
        }
        let workload = evaluation::read(&builder.finish(&Choices::default()).0);
        let found: Vec<_> = workload.jobs.iter().map(|job| (job.submitted.size, job.occupied(), job.submitted.qos)).collect();
        let size = |nodes, cpus| Size { nodes, cpus };
        assert_eq!(
            found,
            [
                (size(2, 2), size(4, 32), QosIndex(1)),
                // What the record lacks is what the job had, or one node.
                (size(4, 2), size(4, 32), QosIndex(2)),
                (size(4, 2), size(4, 32), QosIndex(1)),
                (size(1, 2), size(1, 32), QosIndex(0)),
            ]
        );
    }
}
