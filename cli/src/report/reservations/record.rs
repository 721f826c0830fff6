//! Reservations of jobs that have ended, from slurmdbd's records, and of jobs in slurmctld's queue.

use std::collections::BTreeMap;

use job_types::number::JobId;
use job_types::promise::{Promise, PromiseState, ReservedRun};
use job_types::record::waited_on_nodes;
use job_types::time::{Seconds, UnixTime};
use slurm_sys::client::EndedJobRecord;
use slurm_sys::client::controller::QueuedJob;

/// A reservation, and what its job's runs have made of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReportedReservation {
    pub(super) partition: String,
    /// The probability that was promised.
    pub(super) promised: f64,
    at: UnixTime,
    /// What the runs that were told say together; `None` where the one that decides was not.
    told: Option<PromiseState>,
    /// What the job ran.
    pub(super) required_node_seconds: i64,
    /// What it had its nodes, with the waits on them.
    pub(super) used_node_seconds: i64,
}

impl ReportedReservation {
    /// What has become of it.
    fn state(&self, now: UnixTime) -> Option<PromiseState> {
        Some(self.told?.once_all_is_told(self.at, now))
    }
}

/// The reservations that were found, one for each job and reserved time. A requeued job has several
/// runs and one reservation.
#[derive(Debug, Default)]
pub(super) struct ReportedReservations(BTreeMap<(JobId, UnixTime), ReportedReservation>);

/// What a run of a job cost: its nodes, and how it had them.
struct Occupied<'a> {
    nodes: u32,
    suspended: Seconds,
    limit: Option<Seconds>,
    comment: &'a str,
}

impl ReportedReservations {
    /// Takes one run of a job into account that has ended, if it has a reservation.
    pub(super) fn add_ended(&mut self, run: &EndedJobRecord<'_>, partition: &str) {
        let Some(comment) = run.admin_comment.as_deref() else { return };
        let (suspended, limit) = (Seconds(run.suspended_seconds), run.time_limit_seconds.map(Seconds));
        let occupied = Occupied { nodes: run.allocated_nodes, suspended, limit, comment };
        self.add(run.job_id, partition, &run.reserved_run(), &occupied, UnixTime(run.ended));
    }

    /// Takes the run of a job of the queue into account, if it has a reservation and has not ended.
    pub(super) fn add_queued(&mut self, job: &QueuedJob, partition: &str, now: UnixTime) {
        let Some(comment) = job.admin_comment.as_deref().filter(|_| job.ended.is_none()) else { return };
        let (suspended, limit) = (Seconds(job.suspended_seconds), job.time_limit_seconds.map(Seconds));
        let occupied = Occupied { nodes: job.nodes, suspended, limit, comment };
        self.add(job.job_id, partition, &job.reserved_run(), &occupied, now);
    }

    /// Takes a run into account as it was until its end, or until now.
    fn add(&mut self, job: JobId, partition: &str, run: &ReservedRun, occupied: &Occupied<'_>, until: UnixTime) {
        let Some(promise) = Promise::read(occupied.comment).and_then(Promise::reservation) else { return };
        let Some(promised) = promise.promised else { return };
        let nodes = i64::from(occupied.nodes);
        let used = run.started.map_or(Seconds::ZERO, |started| until - started - occupied.suspended).max(Seconds::ZERO);
        let held =
            run.started.map_or(Seconds::ZERO, |started| waited_on_nodes(Some(occupied.comment), started, occupied.limit, until)).min(used);
        let known = self.0.entry((job, promise.at)).or_insert_with(|| ReportedReservation {
            partition: partition.to_owned(),
            promised,
            at: promise.at,
            told: None,
            required_node_seconds: 0,
            used_node_seconds: 0,
        });
        known.told = [known.told, promise.state(run, until)].into_iter().flatten().reduce(PromiseState::beside);
        known.used_node_seconds += nodes * used.0;
        known.required_node_seconds += nodes * (used - held).0;
    }

    /// Returns the reservations whose outcome is known, each with whether it was kept.
    pub(super) fn decided(&self, now: UnixTime) -> impl Iterator<Item = (&ReportedReservation, bool)> {
        self.0.values().filter_map(move |reservation| Some((reservation, reservation.state(now)?.is_kept()?)))
    }

    /// How many were cancelled before their time.
    pub(super) fn withdrawn(&self, now: UnixTime) -> u64 {
        self.0.values().filter(|reservation| reservation.state(now) == Some(PromiseState::Withdrawn)).count() as u64
    }
}

/// A reservation of a test.
#[cfg(test)]
pub(super) fn test_reservation(partition: &str, promised: f64) -> ReportedReservation {
    ReportedReservation {
        partition: partition.to_owned(),
        promised,
        at: UnixTime(0),
        told: None,
        required_node_seconds: 3_600,
        used_node_seconds: 5_400,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{QosId, UserId};
    use slurm_sys::client::JobState;
    use slurm_sys::client::controller::PendingReason;
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

    fn queued(comment: &str, state: JobState, started: Option<i64>) -> QueuedJob {
        QueuedJob {
            job_id: JobId(7),
            array_job_id: None,
            task_count: 1,
            name: None,
            user_id: UserId(1),
            user: None,
            account: None,
            partition: None,
            qos: None,
            state,
            cpus: 4,
            nodes: 4,
            requested_cpus: None,
            requested_nodes: None,
            time_limit_seconds: Some(4_200),
            shortest_limit_seconds: None,
            submitted: Some(RESERVED - 399),
            eligible: Some(RESERVED - 399),
            started,
            ended: None,
            suspended_seconds: 0,
            expected_start: None,
            deadline: None,
            reservation: None,
            admin_comment: Some(comment.to_owned()),
            comment: None,
            mail_of_failure: None,
            priority: 1,
            site_factor: 0,
            reason: PendingReason::Resources,
            restarts: 1,
            has_dependency: false,
            exclusive: false,
            node_ranges: Vec::new(),
            required_node_ranges: Vec::new(),
        }
    }

    const NOW: UnixTime = UnixTime(RESERVED + 100_000);

    fn found(mode: &str, runs: &[(Option<i64>, i64)]) -> ReportedReservations {
        let comment = comment(mode);
        let mut found = ReportedReservations::default();
        runs.iter().for_each(|(started, ended)| found.add_ended(&run(&comment, *started, *ended), "batch"));
        found
    }

    /// Whether each was kept, and how many were withdrawn.
    fn outcomes(found: &ReportedReservations, now: UnixTime) -> (Vec<bool>, u64) {
        (found.decided(now).map(|(_, kept)| kept).collect(), found.withdrawn(now))
    }

    #[test]
    fn a_wait_on_the_nodes_is_used_and_not_required() {
        // Ten minutes before its time, and an hour of work.
        let found = found("enforce", &[(Some(RESERVED - 600), RESERVED + 3_600)]);
        let (reservation, kept) = found.decided(NOW).next().unwrap();
        assert_eq!((reservation.partition.as_str(), reservation.promised, kept), ("batch", 0.96, true));
        assert_eq!((reservation.required_node_seconds, reservation.used_node_seconds), (4 * 3_600, 4 * 4_200));
    }

    #[test]
    fn a_requeued_job_has_one_promise_and_pays_for_each_run() {
        let comment = comment("enforce");
        let early = EndedJobRecord { state: JobState::Requeued, ..run(&comment, Some(RESERVED - 200), RESERVED - 100) };
        let again = |started, ended| EndedJobRecord { submitted: Some(RESERVED - 99), ..run(&comment, Some(started), ended) };
        let (late, in_time) = (again(RESERVED + 51, RESERVED + 91), again(RESERVED - 60, RESERVED + 40));
        for (second, kept, used, required) in [(&late, false, 140, 40), (&in_time, true, 200, 40)] {
            for runs in [[&early, second], [second, &early]] {
                let mut found = ReportedReservations::default();
                runs.into_iter().for_each(|run| found.add_ended(run, "batch"));
                let decided: Vec<_> = found.decided(NOW).collect();
                assert_eq!((decided.len(), decided[0].1), (1, kept));
                assert_eq!((decided[0].0.used_node_seconds, decided[0].0.required_node_seconds), (4 * used, 4 * required));
            }
        }
        // Of a run that came into the queue after the time alone it is not known what was before.
        let mut found = ReportedReservations::default();
        found.add_ended(&EndedJobRecord { submitted: Some(RESERVED + 20), ..late }, "batch");
        assert_eq!(outcomes(&found, NOW), (vec![], 0));
    }

    #[test]
    fn a_miss_counts_while_its_job_still_waits_as_well_and_one_that_was_interrupted_is_open_until_its_time() {
        let comment = comment("enforce");
        let queued = |state, started| queued(&comment, state, started);
        let at = |job: &QueuedJob, now| {
            let mut found = ReportedReservations::default();
            found
                .add_ended(&EndedJobRecord { state: JobState::NodeFailed, ..run(&comment, Some(RESERVED - 500), RESERVED - 400) }, "batch");
            found.add_queued(job, "batch", UnixTime(now));
            outcomes(&found, UnixTime(now))
        };
        let waits = queued(JobState::Pending, None);
        assert_eq!((at(&waits, RESERVED), at(&waits, RESERVED + 1)), ((vec![], 0), (vec![false], 0)));
        let runs = queued(JobState::Running, Some(RESERVED - 10));
        assert_eq!((at(&runs, RESERVED - 1), at(&runs, RESERVED)), ((vec![], 0), (vec![true], 0)));
    }

    #[test]
    fn without_a_start_it_is_missed_after_its_time_and_withdrawn_before() {
        let cancelled = |ended| {
            let comment = comment("enforce");
            let mut found = ReportedReservations::default();
            found.add_ended(&EndedJobRecord { state: JobState::Cancelled, ..run(&comment, None, ended) }, "batch");
            outcomes(&found, NOW)
        };
        assert_eq!((cancelled(RESERVED + 1), cancelled(RESERVED - 1)), ((vec![false], 0), (vec![], 1)));
    }

    #[test]
    fn what_was_only_advised_is_no_reservation() {
        let found = found("advise", &[(Some(RESERVED - 600), RESERVED)]);
        assert_eq!(outcomes(&found, NOW), (vec![], 0));
    }
}
