//! Which of several jobs of which one is enough is withdrawn, once one of them has its nodes.
//!
//! Each cluster's daemon looks at its own jobs alone and sees the others through slurmdbd, later
//! than they change, so that two daemons may look at the same time and see different things. Still
//! they never withdraw all of the jobs:
//!
//! * A job gives way only to one that started earlier (in the same second: on the cluster whose
//!   name comes first), or to any that has started while it has not.
//! * A job that was put back into the queue never gives way, so that of the jobs that may, each has
//!   started at most once, at a time that does not change any more.
//!
//! Of all the jobs that ever start the one whose first start is the earliest therefore never gives
//! way: whatever is seen of another, late or not, is a start that is no earlier than that one's
//! first. And one that has not started gives way only by being put off first, which slurmctld
//! refuses once it has started.
//!
//! A program that has begun is left to run: a job that has its nodes gives way only while it waits
//! on them.

use super::queued_job::QueuedJob;
use super::reservations::{ReservationState, Wanted};
use job_types::number::{JobId, UserId};
use job_types::promise::Promise;
use job_types::time::{Seconds, UnixTime};

/// How long before its program begins a job is withdrawn at the latest: by then the cancellation
/// has arrived.
const SOONEST: Seconds = Seconds(5);

/// How much earlier than a job was decided about one that it belongs together with may have been
/// submitted. What is older bears the same number by chance.
const LONGEST_APART: Seconds = Seconds(600);

/// A run of a job on another cluster, as slurmdbd has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// The cluster that the job is on.
    pub cluster: String,
    /// The job's number on that cluster.
    pub job: JobId,
    /// The number of the user whose job it is.
    pub user: UserId,
    /// When the job was submitted, or put back into the queue.
    pub submitted: UnixTime,
    /// The reserved time in the job's record, where slurmdbd has the record already: it gets it
    /// when the job ends, and with some changes before that.
    pub reserved_at: Option<UnixTime>,
    /// When the run started.
    pub started: UnixTime,
    /// When the run ended.
    pub ended: Option<UnixTime>,
    /// Whether the job's program came to its own end.
    pub is_done: bool,
}

impl Sibling {
    /// Whether it has its nodes, or had them at the reserved time or for all of its program.
    fn serves(&self, at: UnixTime) -> bool {
        self.is_done || self.ended.is_none_or(|ended| ended > at)
    }
}

/// Whether a job with a reservation, which [`super::upkeep()`] has found in a state, is to be
/// withdrawn in favour of one of those that it belongs together with, and until when that can be
/// done. `cluster` is its own; `now` is by this daemon's clock.
#[must_use]
pub fn withdrawal(
    job: &QueuedJob,
    state: ReservationState,
    cluster: &str,
    siblings: &[Sibling],
    now: UnixTime,
) -> Option<(Wanted, UnixTime)> {
    use ReservationState::{Blocked, Deferred, Missed, NotEnforced, Running, Stopped, Unusable, Waiting};
    let at = Promise::standing(&job.record)?.reservation()?.at;
    let is_ours = match state {
        Deferred | Waiting | Missed | Running => !job.is_requeued(),
        Blocked | Stopped | Unusable | NotEnforced => false,
    };
    let until = match job.started {
        None => job.eligible.unwrap_or(at).max(at),
        Some(started) => program_begins(job, started)? - SOONEST,
    };
    if !is_ours || (job.started.is_some() && now >= until) {
        return None;
    }
    // It has been put off already, and the cancellation is still to come.
    let is_under_way = job.started.is_none() && job.record.changed.as_ref().is_some_and(|changed| changed.withdrawn);
    let comes_before = |sibling: &Sibling| {
        job.started.is_none_or(|started| (sibling.started, sibling.cluster.as_str(), sibling.job) < (started, cluster, job.id))
    };
    let gives_way_to = |sibling: &Sibling| {
        sibling.user == job.user
            && sibling.submitted >= job.record.at - LONGEST_APART
            && sibling.reserved_at.is_none_or(|reserved| reserved == at)
            && sibling.serves(at)
            && comes_before(sibling)
    };
    (is_under_way || siblings.iter().any(gives_way_to)).then_some((Wanted::Withdrawal, until))
}

/// When the program of a job that has its nodes begins; `None` where it did at the start.
fn program_begins(job: &QueuedJob, started: UnixTime) -> Option<UnixTime> {
    let wait = job.record.wait_on_nodes(started, job.limit);
    (wait > Seconds::ZERO).then_some(started + wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::record::Record;
    use proptest::prelude::*;

    const AT: UnixTime = UnixTime(10_000);
    const NOW: UnixTime = UnixTime(5_000);
    const USER: UserId = UserId(7);

    fn job(started: Option<i64>) -> QueuedJob {
        let record = format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":1000,"mode":"enforce","asked":{{"nodes":1,"cpus":1}},
            "written":{{"limit_s":9000,"begin":3000,"reserved_at":{},"hold_until":{},"own_limit_s":600,"wanted":0.9}}}}}}"#,
            AT.0, AT.0
        );
        let started = started.map(UnixTime);
        QueuedJob { started, accounting_is_enforced: true, ..QueuedJob::as_recorded(JobId(12), USER, Record::parse(&record).unwrap()) }
    }

    fn sibling(cluster: &str, started: i64) -> Sibling {
        Sibling {
            cluster: cluster.to_owned(),
            job: JobId(34),
            user: USER,
            submitted: UnixTime(1_003),
            reserved_at: None,
            started: UnixTime(started),
            ended: None,
            is_done: false,
        }
    }

    fn gives_way(job: &QueuedJob, siblings: &[Sibling], now: UnixTime) -> bool {
        let state = if job.started.is_some() { ReservationState::Running } else { ReservationState::Waiting };
        withdrawal(job, state, "middle", siblings, now).is_some()
    }

    #[test]
    fn a_job_that_waits_gives_way_to_one_that_has_started_and_to_nothing_else() {
        assert!(!gives_way(&job(None), &[], NOW));
        assert!(gives_way(&job(None), &[sibling("west", 4_900)], NOW));
        let others = Sibling { user: UserId(8), ..sibling("west", 4_900) };
        let for_another_time = Sibling { reserved_at: Some(AT + Seconds(1)), ..sibling("west", 4_900) };
        let of_long_ago = Sibling { submitted: UnixTime(399), ..sibling("west", 4_900) };
        let cancelled = Sibling { ended: Some(UnixTime(4_950)), ..sibling("west", 4_900) };
        let done = Sibling { is_done: true, reserved_at: Some(AT), ..cancelled.clone() };
        assert!(!gives_way(&job(None), &[others, for_another_time, of_long_ago, cancelled], NOW));
        assert!(gives_way(&job(None), &[done], NOW), "with --early-start=run its program may be done before");
    }

    #[test]
    fn of_two_that_have_their_nodes_the_later_one_gives_way_while_it_waits_on_them() {
        assert!(gives_way(&job(Some(4_000)), &[sibling("west", 3_999)], NOW));
        assert!(!gives_way(&job(Some(4_000)), &[sibling("west", 4_001)], NOW));
        assert!(gives_way(&job(Some(4_000)), &[sibling("east", 4_000)], NOW), "in the same second the name decides");
        assert!(!gives_way(&job(Some(4_000)), &[sibling("west", 4_000)], NOW));
        assert!(!gives_way(&job(Some(4_000)), &[sibling("west", 3_999)], AT - SOONEST), "its program is about to begin");
        let mut at_once = job(Some(4_000));
        at_once.record.written.as_mut().unwrap().hold_until = None;
        assert!(!gives_way(&at_once, &[sibling("west", 3_999)], NOW), "its program has begun");
    }

    #[test]
    fn what_is_not_the_daemons_to_change_does_not_give_way() {
        let seen = [sibling("west", 3_999)];
        assert!(!gives_way(&QueuedJob { restarts: 1, ..job(None) }, &seen, NOW));
        use ReservationState::{Blocked, NotEnforced, Stopped, Unusable};
        for state in [Blocked, NotEnforced, Stopped, Unusable] {
            assert_eq!(withdrawal(&job(None), state, "middle", &seen, NOW), None, "{state:?}");
        }
    }

    #[test]
    fn a_withdrawal_that_was_begun_is_ended_unless_the_job_has_started() {
        let withdrawn = |started| {
            let mut job = job(started);
            job.record.changed = Some(job_types::record::Changed { withdrawn: true, ..Default::default() });
            job
        };
        assert!(gives_way(&withdrawn(None), &[], NOW));
        assert!(!gives_way(&withdrawn(Some(4_000)), &[], NOW));
    }

    proptest! {
        /// Whenever each daemon looks, and whichever of the others' starts it has heard of, one job
        /// that has started stays.
        #[test]
        fn never_do_all_give_way(
            starts in prop::collection::vec(4_000i64..4_010, 2..5), looks in prop::collection::vec((3_990i64..4_020, 0i64..30), 0..40),
        ) {
            let names = ["a", "b", "c", "d"];
            let mut gone = vec![false; starts.len()];
            for (turn, (now, lag)) in looks.into_iter().enumerate() {
                let own = turn % starts.len();
                let seen: Vec<Sibling> = (0..starts.len())
                    .filter(|other| *other != own && starts[*other] <= now - lag)
                    // One that gave way before it started never starts.
                    .filter(|other| !gone[*other])
                    .map(|other| Sibling { job: JobId(12), ..sibling(names[other], starts[other]) })
                    .collect();
                let job = job(Some(starts[own]).filter(|start| *start <= now));
                let state = if job.started.is_some() { ReservationState::Running } else { ReservationState::Deferred };
                gone[own] |= withdrawal(&job, state, names[own], &seen, UnixTime(now)).is_some();
            }
            prop_assert!(gone.iter().any(|gone| !gone), "{starts:?}");
        }
    }
}
