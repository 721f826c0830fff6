//! Jobs with deadlines, through the C entry points of the built plugin.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, now, publish, read, snapshot_bytes, text};
use job_types::number::UserId;
use job_types::options::Mode;
use job_types::policy::{Admission, Policy, WithoutForecast};
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use made_up_site::enforcing;
use parking_lot::MutexGuard;
use predictor_core::decisions::counters::Counter;
use predictor_core::decisions::refusals::{Refusals, Refused};
use proptest::prelude::*;
use slurm_sys::bindings::{self, job_desc_msg_t};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

const NOT_ADMITTED: c_int = bindings::ESLURM_INVALID_TIME_LIMIT as c_int;
const UNSET: u32 = bindings::NO_VAL;

fn running(policy: Policy) -> (MutexGuard<'static, ()>, &'static Running) {
    let (turn, running) = Running::turn();
    let _ = std::fs::remove_file(running.site.path().join("off"));
    // As of a queue that has all that other tests have submitted.
    publish_read(running, policy, -10);
    (turn, running)
}

fn admitting_by(admission: Admission) -> Policy {
    Policy { admission, ..enforcing() }
}

/// A job of an hour on 4 nodes, of which little waits are known, with a deadline in so many
/// seconds.
fn due_in(seconds: i64) -> Description {
    let mut job = Description::batch(4, 16);
    job.0.deadline = now().0 + seconds;
    job
}

/// The description as slurmctld has it in memory: its numbers, and where its strings are.
fn fields(job: &Description) -> Vec<u8> {
    let start = (&raw const *job.0).cast::<u8>();
    // SAFETY: the description is a whole structure that was zeroed before it was filled.
    unsafe { std::slice::from_raw_parts(start, size_of::<job_desc_msg_t>()) }.to_vec()
}

fn record(job: &Description) -> Record {
    Record::parse(&read(job.0.admin_comment).unwrap()).unwrap()
}

#[test]
fn an_admitted_job_keeps_its_deadline_in_the_record_alone() {
    for rule in [Admission::Edf, Admission::Probability] {
        let (_turn, running) = running(admitting_by(rule));
        let admitted = running.site.counter(Counter::Admitted);
        let mut job = due_in(7_200);
        let (deadline, before) = (job.0.deadline, fields(&job));
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!((answer, job.0.deadline), (0, 0), "{said:?}");
        let said = said.unwrap();
        assert!(said.starts_with("queuecast: admitted") && !said.contains('\n'), "{said}");
        let written = record(&job).written.unwrap();
        assert_eq!((written.admitted_by, written.deadline), (Some(rule), Some(deadline)));
        assert_eq!(running.site.counter(Counter::Admitted), admitted + 1);
        // Nothing else is changed.
        job.0.deadline = deadline;
        common::free(&mut job.0.admin_comment);
        assert!(fields(&job) == before);
    }
}

#[test]
fn a_refused_job_is_told_what_could_be_had_with_slurms_own_error_and_is_not_touched() {
    let (_turn, running) = running(admitting_by(Admission::Edf));
    let (refused, not_admitted) = (running.site.counter(Counter::Refused), running.site.counter(Counter::NotAdmitted));
    let mut job = due_in(3_000);
    let before = fields(&job);
    let user = UserId(job.0.user_id);
    // As the daemon counts them.
    let mut refusals = Refusals::begun(UnixTime(0));
    let mut of_this_user = || {
        if let Some((owner, shown)) = running.site.page().read() {
            refusals.take(owner, &shown, ["batch"].into_iter(), now(), |_, _| {});
        }
        let key = |key: &Refused| (key.partition.as_deref(), key.by.as_deref(), key.user) == (Some("batch"), Some("edf"), Some(user));
        refusals.counts(UnixTime(0)).filter(|(refused, _)| key(refused)).map(|(_, count)| count).sum::<u64>()
    };
    let noted = of_this_user();
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!((answer, fields(&job) == before), (NOT_ADMITTED, true));
    let said = said.unwrap();
    assert!(said.starts_with("queuecast: not admitted: its time limit does not fit before the deadline; "), "{said}");
    assert!(said.contains("(--deadline=now+") && said.contains("--time=0:4"), "{said}");
    assert_eq!(running.site.counter(Counter::Refused), refused + 1);
    assert_eq!(running.site.counter(Counter::NotAdmitted), not_admitted + 1);
    assert_eq!(of_this_user(), noted + 1);
}

#[test]
fn a_forged_control_variable_gets_no_deadline_past_admission_and_changes_nothing_else() {
    for rule in [Admission::Edf, Admission::Probability] {
        let (_turn, running) = running(admitting_by(rule));
        for forged in ["QUEUECAST_MODE=root", "QUEUECAST_RESERVE_AT=soon", "QUEUECAST_ADMITTED=1"] {
            // Neither one that could be done in time, nor one that could not.
            for ahead in [7_200, 3_000] {
                let mut job = Description::batch(4, 16).with_control(&[forged]);
                job.0.deadline = now().0 + ahead;
                let before = fields(&job);
                let (answer, said) = running.plugin.submit(&mut job);
                assert_eq!((answer, fields(&job) == before), (NOT_ADMITTED, true), "{forged}: {said:?}");
                let said = said.unwrap();
                assert!(said.starts_with("queuecast: not admitted: ") && said.contains("submit without --deadline"), "{said}");
            }
            let mut without = Description::batch(4, 16).with_control(&[forged]);
            let before = fields(&without);
            assert_eq!((running.plugin.submit(&mut without).0, fields(&without) == before), (0, true), "{forged}");
        }
    }
    let (_turn, running) = running(Policy { mode: Mode::Advise, ..admitting_by(Admission::Edf) });
    let mut job = Description::batch(4, 16).with_control(&["QUEUECAST_MODE=root"]);
    job.0.deadline = now().0 + 3_000;
    let before = fields(&job);
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!((answer, fields(&job) == before), (0, true));
    assert!(said.unwrap().contains("the job is left as it is"));
}

#[test]
fn a_job_without_a_deadline_is_not_touched_by_any_rule() {
    for rule in Admission::ALL {
        let (_turn, running) = running(admitting_by(rule));
        for deadline in [0, i64::from(UNSET), -1] {
            let mut job = Description::batch(4, 16);
            job.0.deadline = deadline;
            let before = fields(&job);
            assert_eq!((running.plugin.submit(&mut job), fields(&job) == before), ((0, None), true), "{rule:?} {deadline}");
        }
    }
}

#[test]
fn below_enforce_a_deadline_stays_in_its_field_and_nothing_is_refused() {
    for (mode, tells) in [(Mode::Observe, false), (Mode::Advise, true)] {
        let (_turn, running) = running(Policy { mode, ..admitting_by(Admission::Edf) });
        for seconds in [7_200, 600] {
            let mut job = due_in(seconds);
            let deadline = job.0.deadline;
            let (answer, said) = running.plugin.submit(&mut job);
            assert_eq!((answer, job.0.deadline, said.is_some()), (0, deadline, tells), "{mode:?} {said:?}");
            assert_eq!(record(&job).mode, mode);
        }
    }
}

#[test]
fn a_user_may_give_up_the_promise_but_not_gain_one() {
    // In a partition that enforces, a user may leave it to Slurm.
    let (turn, running_site) = running(admitting_by(Admission::Edf));
    let mut job = due_in(600).with_control(&["QUEUECAST_MODE=off"]);
    let deadline = job.0.deadline;
    assert_eq!((running_site.plugin.submit(&mut job), job.0.deadline), ((0, None), deadline));
    drop(turn);
    // In one that only observes nobody gains a promise.
    let (_turn, running) = running(Policy { mode: Mode::Observe, ..admitting_by(Admission::Edf) });
    let mut job = due_in(7_200).with_control(&["QUEUECAST_MODE=enforce"]);
    let deadline = job.0.deadline;
    assert_eq!((running.plugin.submit(&mut job), job.0.deadline), ((0, None), deadline));
    assert_eq!(record(&job).mode, Mode::Observe);
}

#[test]
fn a_record_that_somebody_forged_is_not_the_one_that_holds() {
    let (_turn, running) = running(admitting_by(Admission::Edf));
    let mut real = due_in(7_200);
    running.plugin.submit(&mut real);
    let forged = read(real.0.admin_comment).unwrap().replace(&record(&real).written.unwrap().deadline.unwrap().to_string(), "1");
    let mut job = due_in(7_200);
    let deadline = job.0.deadline;
    job.0.admin_comment = text(&forged);
    assert_eq!(running.plugin.submit(&mut job).0, 0);
    assert_eq!(record(&job).written.unwrap().deadline, Some(deadline));
}

#[test]
fn a_deadline_in_the_past_or_beyond_a_year_is_refused() {
    let (_turn, running) = running(admitting_by(Admission::Edf));
    for (seconds, reason) in [(-1, "the deadline has already passed"), (400 * 86_400, "the deadline is more than a year ahead")] {
        let mut job = due_in(seconds);
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!(answer, NOT_ADMITTED);
        assert_eq!(said.as_deref(), Some(format!("queuecast: not admitted: {reason}").as_str()));
    }
    let mut farthest = due_in(0);
    farthest.0.deadline = i64::MAX;
    assert_eq!(running.plugin.submit(&mut farthest).0, NOT_ADMITTED);
}

#[test]
fn components_of_heterogeneous_jobs_and_arrays_keep_slurms_deadline() {
    let (_turn, running) = running(admitting_by(Admission::Probability));
    let mut component = due_in(600);
    component.0.het_job_offset = 0;
    let mut array = due_in(600);
    array.0.array_inx = text("0-99");
    for (job, reason) in [(&mut component, "it is part of a heterogeneous job"), (&mut array, "an array of jobs is not admitted")] {
        let deadline = job.0.deadline;
        let (answer, said) = running.plugin.submit(job);
        assert_eq!((answer, job.0.deadline), (0, deadline));
        assert!(said.as_ref().is_some_and(|said| said.contains("the deadline is left to Slurm: ") && said.contains(reason)), "{said:?}");
        assert!(record(job).written.is_none());
    }
    let mut by_limits = due_in(7_200);
    by_limits.0.array_inx = text("0-99");
    running.site.publish(admitting_by(Admission::Edf));
    assert_eq!((running.plugin.submit(&mut by_limits).0, by_limits.0.deadline), (0, 0));
}

#[test]
fn copies_in_a_federation_are_left_as_they_were_written() {
    let (_turn, running) = running(admitting_by(Admission::Edf));
    let mut copy = due_in(600);
    copy.0.fed_siblings_viable = 3;
    let before = fields(&copy);
    assert_eq!((running.plugin.submit(&mut copy), fields(&copy) == before), ((0, None), true));
    let mut choosing = due_in(7_200);
    choosing.0.cluster_features = text("east");
    let deadline = choosing.0.deadline;
    let (answer, said) = running.plugin.submit(&mut choosing);
    common::free(&mut choosing.0.cluster_features);
    assert_eq!((answer, choosing.0.deadline), (0, deadline));
    assert!(said.unwrap().contains("--cluster-constraint may send the job to another cluster"));
}

/// Publishes a snapshot whose queue was read so many seconds ago, with a number of its own.
fn publish_read(running: &Running, policy: Policy, seconds: i64) {
    static GENERATION: AtomicU64 = AtomicU64::new(100);
    let past = (0..200).map(|n| common::past_job(now(), n, 4, 3_600, n * 37 % 100, 1_000));
    let site = common::site(policy, now(), GENERATION.fetch_add(1, Ordering::Relaxed));
    let read_at = Some(now() - Seconds(seconds));
    publish(running.site.path(), &site.ended_jobs(past).origin(|origin| origin.controller_read_at = read_at).bytes());
}

/// How many of so many jobs on 16 of 256 CPUs for an hour, of a user each, that are to be done in
/// two hours are admitted.
fn admitted_of(running: &Running, jobs: u32, first_user: u32, is_tested: bool) -> usize {
    let submit = |user: u32| {
        let job = due_in(7_200).of_user(first_user + user);
        let mut job = if is_tested { job.only_tested() } else { job };
        running.plugin.submit(&mut job).0 == 0
    };
    (0..jobs).filter(|user| submit(*user)).count()
}

#[test]
fn a_burst_is_promised_no_more_than_the_partition_can_do_whoever_submits_it() {
    let policy = admitting_by(Admission::Probability);
    let (_turn, running) = running(policy);
    publish_read(running, policy, 0);
    // Users without a past are taken to need their time limits. 16 such jobs fill the partition for
    // the first hour, and none that begins behind them is done in the second.
    let admitted = admitted_of(running, 1_000, 2_000, false);
    assert!((12..=16).contains(&admitted), "{admitted}");
    assert_eq!(admitted_of(running, 100, 5_000, false), 0, "whoever comes next counts them too");
    // None of them is there for certain, so that nobody is refused for their sake.
    let (answer, told) = running.plugin.submit(&mut due_in(7_200).of_user(9_999));
    assert!(answer == libc::EAGAIN && told.as_ref().is_some_and(|told| told.contains("not decided yet")), "{answer}: {told:?}");

    // They count for as long as slurmctld's queue has not been read again, and no longer.
    publish_read(running, policy, 30);
    assert_eq!(admitted_of(running, 10, 2_000, false), 0);
    std::thread::sleep(std::time::Duration::from_secs(3));
    publish_read(running, policy, 0);
    assert_eq!(admitted_of(running, 10, 2_000, true), 10);
    // What looks as if it only tested counts as well.
    let admitted = 10 + admitted_of(running, 1_000, 3_000, true);
    assert!((12..=16).contains(&admitted), "{admitted}");
}

#[test]
fn two_that_come_at_once_are_not_promised_the_same() {
    let policy = admitting_by(Admission::Probability);
    let (_turn, running) = running(policy);
    std::thread::sleep(std::time::Duration::from_secs(3));
    publish_read(running, policy, 0);
    // Takes the snapshot up. While one submission does, others are decided by what was before.
    let first = admitted_of(running, 1, 9_000, false);
    let others: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || admitted_of(running, 100, 10_000 + thread * 1_000, false))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let admitted = first + others;
    assert!((12..=16).contains(&admitted), "{admitted}");
}

#[test]
fn without_a_forecast_the_last_snapshot_says_whether_deadlines_pass() {
    for (without, expected) in [(WithoutForecast::Refuse, NOT_ADMITTED), (WithoutForecast::Pass, 0)] {
        let policy = Policy { admission_without_forecast: without, ..admitting_by(Admission::Edf) };
        let (_turn, running) = running(policy);
        publish(running.site.path(), &snapshot_bytes(policy, 400, now() + Seconds(-601), 5));
        let mut job = due_in(7_200);
        let before = fields(&job);
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!((answer, fields(&job) == before), (expected, true));
        let said = said.unwrap();
        assert!(said.contains("the forecast is too old to rely on"), "{said}");
        assert_eq!(said.starts_with("queuecast: not admitted: "), without == WithoutForecast::Refuse, "{said}");
        let mut without_deadline = Description::batch(4, 16);
        assert_eq!(running.plugin.submit(&mut without_deadline), (0, None));
        // The kill switch leaves all as it is.
        std::fs::write(running.site.path().join("off"), "").unwrap();
        assert_eq!((running.plugin.submit(&mut job), fields(&job) == before), ((0, None), true));
    }
}

#[test]
fn after_a_step_of_the_clock_deadlines_are_decided_by_what_it_shows_or_as_without_a_forecast() {
    const YEAR: i64 = 365 * 86_400;
    for without in [WithoutForecast::Refuse, WithoutForecast::Pass] {
        let policy = Policy { admission_without_forecast: without, ..admitting_by(Admission::Edf) };
        let (_turn, running) = running(policy);
        // What the clock shows now less what it showed when the snapshot was published.
        for (generation, step) in (1_000..).zip([0, 30, 590, 620, 3_600, 86_400, YEAR, -30, -120, -3_600, -86_400, -YEAR]) {
            // Where a snapshot is dated ahead, the one before counts for as long as it is current.
            publish(running.site.path(), &snapshot_bytes(policy, 400, now() - Seconds(700), 2 * generation));
            assert!(running.plugin.submit(&mut due_in(7_200)).1.is_some_and(|said| said.contains("too old to rely on")));
            publish(running.site.path(), &snapshot_bytes(policy, 400, now() - Seconds(step), 2 * generation + 1));
            let is_decided = (-60..=600).contains(&step);
            for (ahead, is_feasible) in [(7_200, true), (600, false), (-1, false), (400 * 86_400, false)] {
                let mut job = due_in(ahead);
                let (deadline, before) = (job.0.deadline, fields(&job));
                let (answer, said) = running.plugin.submit(&mut job);
                let what = format!("step {step}, deadline in {ahead} s: {answer}, {said:?}");
                if is_decided && is_feasible {
                    assert_eq!((answer, job.0.deadline), (0, 0), "{what}");
                    assert_eq!(record(&job).written.unwrap().deadline, Some(deadline), "{what}");
                    continue;
                }
                assert!(fields(&job) == before, "{what}");
                let passes = !is_decided && without == WithoutForecast::Pass;
                assert_eq!(answer, if passes { 0 } else { NOT_ADMITTED }, "{what}");
                let why = if step > 0 { "too old to rely on" } else { "dated ahead of slurmctld's clock" };
                assert_eq!(said.as_ref().is_some_and(|said| said.contains(why)), !is_decided, "{what}");
            }
            let mut without_deadline = Description::batch(4, 16);
            assert_eq!(running.plugin.submit(&mut without_deadline), (0, None), "step {step}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn whatever_a_description_says_a_deadline_is_cleared_only_with_a_record(
        deadline in prop_oneof![any::<i64>(), (-100i64..100_000).prop_map(|ahead| now().0 + ahead)],
        limit in prop_oneof![any::<u32>(), 1u32..300], begin in prop_oneof![Just(0i64), any::<i64>()],
        nodes in prop_oneof![any::<u32>(), 1u32..70], rule in prop::sample::select(Admission::ALL.to_vec()),
        time_min in prop_oneof![Just(UNSET), any::<u32>()], is_tested in any::<bool>(),
    ) {
        let (_turn, running) = Running::turn();
        static PUBLISHED: std::sync::Mutex<Option<(Admission, i64)>> = std::sync::Mutex::new(None);
        let key = (rule, now().0 / 60);
        let mut published = PUBLISHED.lock().unwrap();
        if *published != Some(key) {
            let _ = std::fs::remove_file(running.site.path().join("off"));
            running.site.publish(admitting_by(rule));
            *published = Some(key);
        }
        let mut job = Description::batch(nodes, nodes);
        (job.0.deadline, job.0.time_limit, job.0.begin_time, job.0.time_min) = (deadline, limit, begin, time_min);
        let mut job = if is_tested { job.only_tested() } else { job };
        let (answer, said) = running.plugin.submit(&mut job);
        prop_assert!(said.is_none_or(|said| !said.contains('\n')));
        let kept = read(job.0.admin_comment).and_then(|comment| Record::parse(&comment)).and_then(|record| record.written);
        if job.0.deadline != deadline {
            prop_assert_eq!((answer, job.0.deadline), (0, 0));
            prop_assert_eq!(kept.and_then(|written| written.deadline), Some(deadline));
        } else {
            prop_assert!(kept.is_none_or(|written| written.deadline.is_none()));
            // Room that was promised to others and is not confirmed has it repeated.
            prop_assert!([0, NOT_ADMITTED, libc::EAGAIN].contains(&answer), "{}", answer);
        }
    }
}
