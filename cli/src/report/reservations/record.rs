//! Ended reservations, from slurmdbd's records.

use std::collections::BTreeMap;

use job_types::number::JobId;
use job_types::promise::Promise;
use job_types::record::waited_on_nodes;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::EndedJobRecord;

/// A reservation of which the job has ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EndedReservation {
    pub(super) partition: String,
    /// The probability that was promised.
    pub(super) promised: f64,
    /// Whether the job had its nodes by the reserved time; `None` where it was cancelled before
    /// that without a start.
    pub(super) kept: Option<bool>,
    /// What the job ran.
    pub(super) required_node_seconds: i64,
    /// What it had its nodes, with the waits on them.
    pub(super) used_node_seconds: i64,
}

/// The reservations that ended in a period, one entry for each job and time at which its
/// reservation was given. A requeued job has several accounting records and one entry.
#[derive(Debug, Default)]
pub(super) struct EndedReservations(BTreeMap<(JobId, UnixTime), EndedReservation>);

impl EndedReservations {
    /// Takes one run of a job into account, if it has a reservation.
    pub(super) fn add(&mut self, run: &EndedJobRecord<'_>, partition: &str) {
        let Some(comment) = run.admin_comment.as_deref() else { return };
        let Some(promise) = Promise::read(comment).and_then(Promise::reservation) else { return };
        let Some(promised) = promise.promised else { return };
        let (started, ended) = (run.started.map(UnixTime), UnixTime(run.ended));
        let nodes = i64::from(run.allocated_nodes);
        let used = started.map_or(Seconds::ZERO, |started| ended - started - Seconds(run.suspended_seconds)).max(Seconds::ZERO);
        let held = started
            .map_or(Seconds::ZERO, |started| waited_on_nodes(Some(comment), started, run.time_limit_seconds.map(Seconds), ended))
            .min(used);
        let kept = promise.state(started, Some(ended), ended).is_kept();
        let known = self.0.entry((run.job_id, promise.given_at)).or_insert_with(|| EndedReservation {
            partition: partition.to_owned(),
            promised,
            kept: None,
            required_node_seconds: 0,
            used_node_seconds: 0,
        });
        // If one of several runs was in time, the reservation was kept. Only the first run can have
        // been in time.
        known.kept = match (known.kept, kept) {
            (Some(one), Some(other)) => Some(one || other),
            (one, other) => one.or(other),
        };
        known.used_node_seconds += nodes * used.0;
        known.required_node_seconds += nodes * (used - held).0;
    }

    /// Returns the reservations whose outcome is known: kept or missed.
    pub(super) fn reservations(&self) -> impl Iterator<Item = &EndedReservation> {
        self.0.values().filter(|reservation| reservation.kept.is_some())
    }

    /// How many were cancelled before their time without a start.
    pub(super) fn withdrawn(&self) -> u64 {
        self.0.values().filter(|reservation| reservation.kept.is_none()).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{QosId, UserId};
    use slurm_sys::client::JobState;
    use std::borrow::Cow;

    const RESERVED: i64 = 1_000_000;

    fn comment(mode: &str) -> String {
        let written =
            format!(r#""written":{{"limit_s":4200,"begin":{},"reserved_at":{RESERVED},"hold_until":{RESERVED}}}"#, RESERVED - 600);
        let forecast = r#""forecast":{"wait_jobs":9,"run_s":60,"run_range_s":[60,60],"run_jobs":1,"reservation_probability":0.96}"#;
        format!(
            r#"{{"queuecast":{{"version":1,"generation":1,"at":5,"mode":"{mode}","asked":{{"nodes":4,"cpus":4}},{written},{forecast}}}}}"#
        )
    }

    fn run(comment: &str, started: Option<i64>, ended: i64) -> EndedJobRecord<'_> {
        EndedJobRecord {
            job_id: JobId(7),
            array: None,
            user_id: UserId(1),
            user: None,
            account: None,
            partition: None,
            qos_id: QosId(1),
            name: None,
            features: None,
            wckey: None,
            work_dir: None,
            submit_line: None,
            requested_cpus: 4,
            allocated_cpus: started.map(|_| 4),
            requested_nodes: Some(4),
            allocated_nodes: if started.is_some() { 4 } else { 0 },
            requested_memory_mebibytes: None,
            time_limit_seconds: Some(4_200),
            is_unlimited: false,
            submitted: Some(5),
            eligible: Some(RESERVED - 600),
            started,
            ended,
            suspended_seconds: 0,
            state: JobState::Completed,
            admin_comment: Some(Cow::Borrowed(comment)),
        }
    }

    fn found(mode: &str, runs: &[(Option<i64>, i64)]) -> EndedReservations {
        let comment = comment(mode);
        let mut found = EndedReservations::default();
        runs.iter().for_each(|(started, ended)| found.add(&run(&comment, *started, *ended), "batch"));
        found
    }

    #[test]
    fn a_wait_on_the_nodes_is_used_and_not_required() {
        // Ten minutes before its time, and an hour of work.
        let found = found("enforce", &[(Some(RESERVED - 600), RESERVED + 3_600)]);
        let expected = EndedReservation {
            partition: "batch".to_owned(),
            promised: 0.96,
            kept: Some(true),
            required_node_seconds: 4 * 3_600,
            used_node_seconds: 4 * 4_200,
        };
        assert_eq!(found.reservations().collect::<Vec<_>>(), [&expected]);
    }

    #[test]
    fn a_requeued_job_has_one_promise_and_pays_for_each_run() {
        let found = found("enforce", &[(Some(RESERVED + 900), RESERVED + 1_000), (Some(RESERVED - 60), RESERVED + 40)]);
        let reservations: Vec<_> = found.reservations().collect();
        assert_eq!((reservations.len(), reservations[0].kept), (1, Some(true)));
        assert_eq!((reservations[0].used_node_seconds, reservations[0].required_node_seconds), (4 * 200, 4 * 140));
    }

    #[test]
    fn without_a_start_it_is_missed_after_its_time_and_withdrawn_before() {
        let missed = found("enforce", &[(None, RESERVED + 1)]);
        assert_eq!((missed.reservations().next().unwrap().kept, missed.withdrawn()), (Some(false), 0));
        let withdrawn = found("enforce", &[(None, RESERVED - 1)]);
        assert_eq!((withdrawn.reservations().count(), withdrawn.withdrawn()), (0, 1));
    }

    #[test]
    fn what_was_only_advised_is_no_reservation() {
        let found = found("advise", &[(Some(RESERVED - 600), RESERVED)]);
        assert_eq!((found.reservations().count(), found.withdrawn()), (0, 0));
    }
}
