//! The jobs that firm slots are for.

use job_types::firm::FirmPolicy;
use job_types::number::UserId;
use job_types::promise::SlotAsked;
use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};
use nix::unistd::{Uid, User};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;
use upkeep::{FirmSlot, JobSeen, SlotJob};

use crate::known::promised_job::PromisedJob;

/// The slot that a job asks for, whatever its mode; `None` where it is over already, or has too
/// little to reserve by.
pub(super) fn asked_by(promised: &PromisedJob, now: UnixTime) -> Option<FirmSlot> {
    let job = &promised.job;
    let asked = SlotAsked::decided(&job.record)?;
    if job.record.changed.as_ref().and_then(|changed| changed.slot.as_ref()).is_some_and(|told| told.state.is_over()) {
        return None;
    }
    let policy = FirmPolicy::default();
    Some(FirmSlot {
        id: 0,
        user: job.user,
        user_name: name_of(job.user),
        account: job.account.clone(),
        qos: job.qos.clone(),
        partition: job.partition.clone()?,
        nodes: job.size.nodes,
        limit: job.limit?,
        earliest: asked.window.earliest,
        latest: asked.window.latest,
        near: None,
        asked_notice: asked.notice,
        notice: policy.notice_of(asked.notice),
        idle: policy.idle,
        job: Some(SlotJob { id: job.id, submitted: job.submitted }),
        if_refused: asked.if_refused,
        asked_at: now,
        state: SlotState::Asked,
        reserved: None,
        charged_before: 0,
        ranked_at: None,
        used_at: None,
        moved: 0,
        why: None,
        over_at: None,
        is_left: false,
        part: None,
    })
}

/// What slurmctld knows a user by: the name, or the number where this machine knows no name.
pub(super) fn name_of(user: UserId) -> String {
    let found = User::from_uid(Uid::from_raw(user.0)).ok().flatten();
    found.map_or_else(|| user.0.to_string(), |user| user.name)
}

/// What is seen of the job of a slot, whose reservation has that name. `known` is what slurmctld
/// has under the job's number.
pub(super) fn seen(slot: &FirmSlot, known: Option<&QueuedJob>, reservation: &str) -> JobSeen {
    let Some(of_slot) = slot.job else { return JobSeen::NotNamed };
    // A number may be given again, and a requeue counts as another submission.
    let is_the_same = |job: &&QueuedJob| job.user_id == slot.user && (job.submitted == Some(of_slot.submitted.0) || job.restarts > 0);
    let Some(job) = known.filter(is_the_same) else { return JobSeen::Ended { has_run: None } };
    let is_inside = job.reservation.as_deref() == Some(reservation);
    match job.state {
        JobState::Pending | JobState::Requeued => JobSeen::Waits {
            is_blocked: job.priority == 0 || job.has_dependency,
            is_as_asked: is_as_asked(slot, job) && (is_inside || job.reservation.is_none()),
            is_attached: is_inside,
            eligible: job.eligible.map(UnixTime),
        },
        // One that completes is done, or waits again once its nodes are free.
        JobState::Running | JobState::Suspended | JobState::Completing => JobSeen::Runs { is_inside },
        _ => JobSeen::Ended { has_run: Some(job.started.is_some()) },
    }
}

/// Whether a job that waits is still what its slot was asked for, and may start in it.
fn is_as_asked(slot: &FirmSlot, job: &QueuedJob) -> bool {
    let same_account = match (&slot.account, &job.account) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        (one, other) => one == other,
    };
    let last_begin = slot.last_start().max(slot.earliest + Seconds::MINUTE);
    let begins_inside = job.eligible.is_none_or(|eligible| UnixTime(eligible) <= last_begin);
    job.requested_nodes.unwrap_or(job.nodes) == slot.nodes
        && job.time_limit_seconds == Some(slot.limit.0)
        && job.partition.as_deref() == Some(slot.partition.as_str())
        && same_account
        // slurmctld itself puts a job off that it has put back into the queue.
        && (begins_inside || job.restarts > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up;
    use crate::known::made_up::job;
    use job_types::number::JobId;

    const NAME: &str = "queuecast-1-0123456789abcdef";

    fn slot() -> FirmSlot {
        let slot = made_up::slot();
        let submitted = slot.asked_at;
        FirmSlot { job: Some(SlotJob { id: JobId(41), submitted }), ..slot }
    }

    /// The job of the slot as slurmctld has it.
    fn known(change: impl FnOnce(&mut QueuedJob)) -> QueuedJob {
        let slot = slot();
        let mut job = QueuedJob {
            user_id: slot.user,
            submitted: Some(slot.asked_at.0),
            requested_nodes: Some(slot.nodes),
            time_limit_seconds: Some(slot.limit.0),
            partition: Some(slot.partition.clone()),
            account: slot.account.clone(),
            priority: 100,
            eligible: None,
            ..job(41, JobState::Pending, slot.nodes)
        };
        change(&mut job);
        job
    }

    fn seen_of(change: impl FnOnce(&mut QueuedJob)) -> JobSeen {
        seen(&slot(), Some(&known(change)), NAME)
    }

    #[test]
    fn a_job_that_waits_as_it_was_asked_for_is_told_from_one_that_was_changed_or_held() {
        let waits = |is_blocked, is_as_asked, is_attached| JobSeen::Waits { is_blocked, is_as_asked, is_attached, eligible: None };
        assert_eq!(seen_of(|_| ()), waits(false, true, false));
        assert_eq!(seen_of(|job| job.reservation = Some(NAME.to_owned())), waits(false, true, true));
        assert_eq!(seen_of(|job| job.priority = 0), waits(true, true, false));
        assert_eq!(seen_of(|job| job.has_dependency = true), waits(true, true, false));
        let changes: [fn(&mut QueuedJob); 5] = [
            |job| job.requested_nodes = Some(3),
            |job| job.time_limit_seconds = Some(60),
            |job| job.partition = Some("debug".to_owned()),
            |job| job.account = Some("biology".to_owned()),
            |job| job.reservation = Some("maintenance".to_owned()),
        ];
        for change in changes {
            assert_eq!(seen_of(change), waits(false, false, false));
        }
        let put_off = |restarts| seen_of(move |job| (job.eligible, job.restarts) = (Some(slot().latest.0), restarts));
        let is_as_asked = [0, 1].map(|restarts| matches!(put_off(restarts), JobSeen::Waits { is_as_asked: true, .. }));
        assert_eq!(is_as_asked, [false, true], "a job that was put back is put off by slurmctld");
    }

    #[test]
    fn a_job_of_that_number_which_is_another_one_is_not_the_slots() {
        assert_eq!(seen(&slot(), None, NAME), JobSeen::Ended { has_run: None });
        assert_eq!(seen_of(|job| job.submitted = Some(5)), JobSeen::Ended { has_run: None });
        assert_eq!(seen_of(|job| job.user_id = UserId(8)), JobSeen::Ended { has_run: None });
        let requeued = seen_of(|job| (job.submitted, job.restarts) = (Some(5), 1));
        assert!(matches!(requeued, JobSeen::Waits { .. }), "{requeued:?}");
    }

    #[test]
    fn where_a_job_runs_and_whether_one_that_has_ended_ran_is_seen() {
        let runs = |reservation: Option<&str>| {
            let reservation = reservation.map(str::to_owned);
            seen_of(move |job| (job.state, job.reservation) = (JobState::Running, reservation))
        };
        assert_eq!(runs(Some(NAME)), JobSeen::Runs { is_inside: true });
        let completes = seen_of(|job| (job.state, job.reservation) = (JobState::Completing, Some(NAME.to_owned())));
        assert_eq!(completes, JobSeen::Runs { is_inside: true }, "it may have been put back into the queue");
        assert_eq!(runs(None), JobSeen::Runs { is_inside: false });
        let ended = |started| seen_of(move |job| (job.state, job.started) = (JobState::Completed, started));
        assert_eq!([ended(Some(5)), ended(None)], [true, false].map(|has_run| JobSeen::Ended { has_run: Some(has_run) }));
        assert_eq!(seen(&made_up::slot(), None, NAME), JobSeen::NotNamed);
    }
}
