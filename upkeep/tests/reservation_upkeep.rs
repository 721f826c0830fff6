//! What is to be changed in jobs that carry reservations.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::options::{IfMissed, Mode};
use job_types::policy::Policy;
use job_types::promise::Promise;
use job_types::record::{Affiliation, Changed, EndOfPromise, Record, Written};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, reserved_job};
use predictor_core::decisions::limits::{Applying, CapOwner, Caps};
use upkeep::{QueuedJob, ReservationState, Step, UPDATE_DELAY, Upkeep, Wanted, upkeep};

const NEXT: Seconds = Seconds(30);
const HOUR: Seconds = Seconds(3_600);

/// A site where jobs of a user on 4 nodes have waited from 0 to 99 times so many seconds.
fn site(policy: Policy, more_wait: i64) -> Cluster {
    let past = (0..400).map(|n| {
        let eligible = NOW - Seconds(40_000_000 - n * 90_000);
        ended_job(UserId(USER), eligible, 4, 3_600, n * 37 % 100 * more_wait, 600)
    });
    MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
}

fn at(job: &QueuedJob) -> UnixTime {
    UnixTime(job.record.written.as_ref().unwrap().reserved_at.unwrap())
}

fn look(job: &QueuedJob, site: &Cluster, now: UnixTime) -> Upkeep {
    upkeep(job, site, now, NEXT)
}

/// The job after the steps that are wanted at a moment, as slurmctld would have it, and whether it
/// was cancelled.
fn carried_out(job: &QueuedJob, wanted: Wanted, now: UnixTime) -> (QueuedJob, bool) {
    let (mut after, mut is_cancelled) = (job.clone(), false);
    for step in wanted.steps(job, now, UPDATE_DELAY) {
        match step {
            Step::Update { begin, limit, shortest_limit, record } => {
                after.eligible = begin.or(after.eligible);
                after.limit = limit.or(after.limit);
                after.shortest_limit = shortest_limit.or(after.shortest_limit);
                after.record = *record;
                assert!(after.shortest_limit.is_none_or(|shortest| Some(shortest) <= after.limit), "slurmctld refuses that");
                // As a restarted daemon reads it back.
                after.record = Record::parse(&after.record.to_json().unwrap()).unwrap();
            }
            Step::Cancel => is_cancelled = true,
        }
    }
    (after, is_cancelled)
}

fn changed(record: Record, change: impl FnOnce(&mut Written)) -> Record {
    let mut written = record.written.clone().unwrap();
    change(&mut written);
    Record { written: Some(written), ..record }
}

#[test]
fn a_job_as_the_filter_wrote_it_is_kept() {
    let site = site(enforcing(), 40);
    let job = reserved_job(&site);
    let written = job.record.written.as_ref().unwrap();
    assert_eq!((written.own_limit_s, written.wanted, written.if_missed), (Some(3_600), Some(0.9), IfMissed::Run));
    assert_eq!(look(&job, &site, NOW), Upkeep { state: ReservationState::Deferred, wanted: None });
}

#[test]
fn a_deferred_job_is_moved_as_the_forecast_changes_and_what_was_written_is_taken_for_its_own_afterwards() {
    let job = reserved_job(&site(enforcing(), 40));
    let longer_waits = site(enforcing(), 100);
    let Upkeep { wanted: Some((wanted, due)), .. } = look(&job, &longer_waits, NOW) else { panic!("it is kept") };
    let (after, _) = carried_out(&job, wanted, NOW);
    assert!(after.eligible < job.eligible && after.limit > job.limit && Some(due) == after.eligible);
    let changed = after.record.changed.as_ref().unwrap();
    assert_eq!((changed.count, changed.begin, changed.limit_s), (1, after.eligible.map(|at| at.0), after.limit.map(|limit| limit.0)));
    assert!(changed.probability.unwrap() >= 0.9);
    assert_eq!(look(&after, &longer_waits, NOW), Upkeep { state: ReservationState::Deferred, wanted: None });
}

#[test]
fn a_begin_that_becomes_later_is_changed_before_the_limit_that_becomes_shorter() {
    let given = reserved_job(&site(enforcing(), 100));
    // Of a promise of 0.9 no point spares enough for the job to be put off.
    let job = QueuedJob { record: changed(given.record.clone(), |written| written.wanted = Some(0.5)), ..given };
    let shorter_waits = site(enforcing(), 20);
    let now = job.eligible.unwrap() - Seconds(20);
    let Upkeep { wanted: Some((wanted, _)), .. } = look(&job, &shorter_waits, now) else { panic!("it is kept") };
    let steps = wanted.steps(&job, now, UPDATE_DELAY);
    let [Step::Update { begin: Some(begin), limit: None, record, .. }, Step::Update { begin: None, limit: Some(limit), .. }] = &steps[..]
    else {
        panic!("{steps:?}")
    };
    assert!(Some(*begin) > job.eligible && Some(*limit) < job.limit);
    // Where the second step never comes, the job is as its record says.
    let between = QueuedJob { eligible: Some(*begin), record: (**record).clone(), ..job.clone() };
    assert_eq!(look(&between, &shorter_waits, now).state, ReservationState::Deferred);
}

#[test]
fn a_waiting_job_sheds_padding_down_to_its_users_limit_with_its_shortest_limit() {
    let site = site(enforcing(), 100);
    let mut job = QueuedJob { shortest_limit: Some(HOUR), ..reserved_job(&site) };
    let reserved_at = at(&job);
    let mut limits = vec![job.limit.unwrap()];
    let mut now = job.eligible.unwrap();
    while now < reserved_at + Seconds(120) {
        now = now + NEXT;
        if let Some((wanted, _)) = look(&job, &site, now).wanted {
            job = carried_out(&job, wanted, now).0;
            limits.push(job.limit.unwrap());
            // Were it to start right after this look, it would have all of its limit from its time.
            assert!(now + job.limit.unwrap() >= reserved_at.max(now) + HOUR);
        }
    }
    assert!(limits.len() > 4 && limits.windows(2).all(|pair| pair[1] < pair[0]), "{limits:?}");
    assert_eq!((limits.last(), job.shortest_limit), (Some(&HOUR), Some(Seconds::MINUTE)));
    assert_eq!(look(&job, &site, now).state, ReservationState::Missed);
}

#[test]
fn a_running_job_ends_at_its_time_plus_its_users_limit() {
    let site = site(enforcing(), 100);
    let job = reserved_job(&site);
    let started = QueuedJob { started: Some(at(&job) - HOUR), ..job };
    let now = at(&started) - Seconds(3_000);
    let Upkeep { state, wanted: Some((wanted, _)) } = look(&started, &site, now) else { panic!("it is kept") };
    let (after, _) = carried_out(&started, wanted, now);
    assert_eq!((state, after.limit), (ReservationState::Running, Some(Seconds(7_200))));
    assert_eq!(look(&after, &site, now).wanted, None);
}

#[test]
fn a_change_by_somebody_else_ends_all_changes_and_is_noted() {
    let site = site(enforcing(), 40);
    let job = reserved_job(&site);
    let begin = job.eligible.unwrap();
    let theirs = [
        QueuedJob { limit: Some(job.limit.unwrap() + Seconds(60)), ..job.clone() },
        QueuedJob { limit: Some(HOUR), ..job.clone() },
        QueuedJob { limit: None, ..job.clone() },
        QueuedJob { eligible: Some(begin + Seconds(60)), ..job.clone() },
        QueuedJob { eligible: Some(NOW), ..job.clone() },
        QueuedJob { limit: Some(HOUR), started: Some(NOW), ..job.clone() },
    ];
    for theirs in theirs {
        let Upkeep { state: ReservationState::Stopped, wanted: Some((wanted, _)) } = look(&theirs, &site, NOW) else {
            panic!("{theirs:?}")
        };
        let (after, _) = carried_out(&theirs, wanted, NOW);
        assert_eq!((after.limit, after.eligible), (theirs.limit, theirs.eligible), "nothing but the record is written");
        // Also where it is set back to what it was.
        let back = QueuedJob { limit: job.limit, eligible: job.eligible, ..after };
        assert_eq!(look(&back, &site, NOW), Upkeep { state: ReservationState::Stopped, wanted: None });
    }
}

#[test]
fn a_limit_that_backfilling_has_cut_back_is_nobodys_change() {
    let site = site(enforcing(), 100);
    let job = QueuedJob { shortest_limit: Some(HOUR), ..reserved_job(&site) };
    let started = at(&job) - Seconds(1_200);
    let cut = |limit| QueuedJob { limit: Some(limit), started: Some(started), ..job.clone() };
    let state = |job: &QueuedJob| look(job, &site, started + NEXT).state;
    let needed = HOUR + Seconds(1_200);
    assert!(job.limit.unwrap() > needed + Seconds(60), "{:?}", job.limit);
    // A limit that is still too long is shortened as any other, and one that is not stays.
    let Upkeep { wanted: Some((wanted, _)), .. } = look(&cut(needed + Seconds(60)), &site, started + NEXT) else { panic!("it is kept") };
    assert_eq!(carried_out(&cut(needed + Seconds(60)), wanted, started + NEXT).0.limit, Some(needed));
    assert_eq!(look(&cut(HOUR), &site, started + NEXT), Upkeep { state: ReservationState::Running, wanted: None });
    // Nobody but its user makes it shorter than that or longer than it was, or without a start.
    for theirs in [cut(HOUR - Seconds(60)), cut(job.limit.unwrap() + Seconds(60)), QueuedJob { started: None, ..cut(HOUR) }] {
        assert_eq!(state(&theirs), ReservationState::Stopped, "{:?}", theirs.limit);
    }
    assert_eq!(state(&QueuedJob { shortest_limit: None, ..cut(HOUR) }), ReservationState::Stopped);
    let requeued = QueuedJob { started: None, restarts: 1, ..cut(HOUR) };
    assert_ne!(state(&requeued), ReservationState::Stopped);
}

#[test]
fn a_begin_that_had_passed_as_it_was_written_is_slurms_present_and_nobodys_change() {
    let site = site(enforcing(), 40);
    let job = reserved_job(&site);
    let changed = Changed { count: 1, at: NOW, begin: Some(NOW.0 + 2), ..Changed::default() };
    let at_once = QueuedJob { record: Record { changed: Some(changed), ..job.record.clone() }, ..job };
    for (late, state) in [(0, ReservationState::Waiting), (5, ReservationState::Waiting), (900, ReservationState::Stopped)] {
        let job = QueuedJob { eligible: Some(NOW + Seconds(2 + late)), ..at_once.clone() };
        assert_eq!(look(&job, &site, NOW + Seconds(1_000)).state, state, "{late} s late");
    }
}

#[test]
fn a_missed_job_is_cancelled_where_its_user_wants_that_and_is_first_put_off() {
    let site = site(enforcing(), 40);
    let job = reserved_job(&site);
    let late = at(&job) + Seconds(5);
    let cancels = QueuedJob { record: changed(job.record.clone(), |written| written.if_missed = IfMissed::Cancel), ..job };
    let Upkeep { state, wanted: Some((wanted, _)) } = look(&cancels, &site, late) else { panic!("it is kept") };
    assert_eq!((state, wanted), (ReservationState::Missed, Wanted::Cancellation));
    let (put_off, is_cancelled) = carried_out(&cancels, wanted, late);
    assert!(is_cancelled && put_off.eligible > Some(late + Seconds(365 * 86_400)) && put_off.record.changed.as_ref().unwrap().missed);
    // A daemon that was restarted in between goes on where the other one was.
    let Upkeep { wanted: Some((again, _)), .. } = look(&put_off, &site, late) else { panic!("it is forgotten") };
    assert_eq!(again.steps(&put_off, late, UPDATE_DELAY), [Step::Cancel]);
    // One that has started all the same is left to run, and so is one that was requeued.
    for kept in
        [QueuedJob { started: Some(late), ..cancels.clone() }, QueuedJob { restarts: 1, eligible: Some(late + Seconds(120)), ..cancels }]
    {
        assert_ne!(look(&kept, &site, late).wanted.map(|(wanted, _)| wanted), Some(Wanted::Cancellation));
    }
}

#[test]
fn a_job_that_comes_back_after_it_had_its_nodes_waits_and_one_that_came_back_before_is_missed() {
    let site = site(enforcing(), 40);
    let job = reserved_job(&site);
    let late = at(&job) + Seconds(60);
    let back = |submitted| QueuedJob { restarts: 1, submitted, eligible: Some(submitted), ..job.clone() };
    assert_eq!(look(&back(at(&job) + Seconds(1)), &site, late).state, ReservationState::Waiting);
    assert_eq!(look(&back(at(&job) - Seconds(1)), &site, late).state, ReservationState::Missed);
}

#[test]
fn nothing_is_changed_where_the_site_or_the_user_does_not_enforce_or_somebody_holds_the_job() {
    let enforced = site(enforcing(), 100);
    let job = reserved_job(&site(enforcing(), 40));
    assert!(look(&job, &enforced, NOW).wanted.is_some());
    for policy in [Policy { mode: Mode::Advise, ..enforcing() }, Policy { reserve: false, ..enforcing() }] {
        assert_eq!(look(&job, &site(policy, 100), NOW), Upkeep { state: ReservationState::NotEnforced, wanted: None });
    }
    let advised = QueuedJob { record: Record { mode: Mode::Advise, ..job.record.clone() }, ..job.clone() };
    assert_eq!(look(&advised, &enforced, NOW).state, ReservationState::NotEnforced);
    let held = QueuedJob { is_blocked: true, ..job.clone() };
    assert_eq!(look(&held, &enforced, NOW), Upkeep { state: ReservationState::Blocked, wanted: None });
    let unknown = QueuedJob { partition: Some("gone".to_owned()), ..job };
    assert_eq!(look(&unknown, &enforced, NOW).state, ReservationState::NotEnforced);
}

#[test]
fn a_record_that_no_filter_writes_changes_nothing() {
    let site = site(enforcing(), 100);
    let job = reserved_job(&made_up(40));
    type Damage = fn(&mut Written);
    let damages: [Damage; 11] = [
        |written| written.reserved_at = None,
        |written| written.reserved_at = Some(i64::MAX),
        |written| written.reserved_at = Some(i64::MIN),
        |written| written.own_limit_s = None,
        |written| written.own_limit_s = Some(60),
        |written| written.own_limit_s = Some(-1),
        |written| written.own_limit_s = Some(i64::MAX),
        |written| written.wanted = None,
        |written| written.wanted = Some(f64::NAN),
        |written| written.begin = None,
        |written| written.hold_until = Some(0),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let damaged = QueuedJob { record: changed(job.record.clone(), damage), ..job.clone() };
        assert_eq!(look(&damaged, &site, NOW), Upkeep { state: ReservationState::Unusable, wanted: None }, "damage {number}");
    }
}

fn made_up(more_wait: i64) -> Cluster {
    site(enforcing(), more_wait)
}

#[test]
fn no_limit_becomes_longer_than_the_site_allows() {
    let job = reserved_job(&site(enforcing(), 40));
    let mut longer_waits = site(enforcing(), 100);
    longer_waits.partition.max_time = job.limit;
    if let Some((Wanted::Revision(revision), _)) = look(&job, &longer_waits, NOW).wanted {
        assert!(revision.limit.is_none_or(|limit| Some(limit) <= job.limit), "{revision:?}");
    }
}

/// The same site, where quality of service and association allow a job so long a time limit today.
fn with_wall(site: Cluster, wall: Seconds) -> Cluster {
    let caps = Caps { wall: Some(wall), ..Caps::default() };
    Cluster { limits: Applying { caps, wall_owner: Some(CapOwner::Qos), ..Applying::default() }, ..site }
}

/// The job once the daemon has written its limit, which slurmctld holds to nothing from then on.
fn with_limit_of_the_daemon(job: &QueuedJob) -> QueuedJob {
    let changed = Changed { count: 1, at: NOW, limit_s: job.limit.map(|limit| limit.0), ..Changed::default() };
    QueuedJob { record: Record { changed: Some(changed), affiliation: Some(job.affiliation()), ..job.record.clone() }, ..job.clone() }
}

#[test]
fn a_limit_that_the_daemon_wrote_is_cut_back_to_what_the_job_may_have_now_and_the_promise_ends_where_that_is_less_than_its_own() {
    let job = with_limit_of_the_daemon(&reserved_job(&site(enforcing(), 40)));
    // The job's user has moved it to a quality of service with less than the hour that the user
    // asked for.
    let moved = QueuedJob { qos: Some("short".to_owned()), ..job.clone() };
    let short = with_wall(site(enforcing(), 40), Seconds(30 * 60));
    let running = QueuedJob { started: job.eligible, ..moved.clone() };
    let stopped = QueuedJob { eligible: Some(NOW + Seconds(60)), ..moved.clone() };
    let advised = with_wall(site(Policy { mode: Mode::Advise, ..enforcing() }, 40), Seconds(30 * 60));
    for (job, site) in [(&moved, &short), (&running, &short), (&stopped, &short), (&moved, &advised)] {
        let now = job.started.map_or(NOW, |started| started + NEXT);
        let Upkeep { wanted: Some((wanted, due)), .. } = look(job, site, now) else { panic!("it is kept") };
        assert_eq!(due, now, "before anything else");
        let (after, is_cancelled) = carried_out(job, wanted, now);
        assert_eq!((after.limit, is_cancelled), (Some(Seconds(30 * 60)), false));
        assert_eq!(after.record.end_of_promise(), Some(EndOfPromise::BeyondLimits));
        assert_eq!(look(&after, site, now).wanted, None);
    }
    // Where nobody enforces limits of accounting its user's own limit stays, without padding.
    let unenforced = QueuedJob { accounting_is_enforced: false, ..running };
    let now = unenforced.started.unwrap() + NEXT;
    let Upkeep { wanted: Some((wanted, _)), .. } = look(&unenforced, &short, now) else { panic!("it is kept") };
    let (after, _) = carried_out(&unenforced, wanted, now);
    assert_eq!((after.limit, after.record.end_of_promise()), (Some(HOUR), None));
}

#[test]
fn padding_that_is_not_allowed_any_more_is_taken_away_by_a_later_begin() {
    let today = with_wall(site(enforcing(), 100), Seconds(100 * 60));
    let job = reserved_job(&site(enforcing(), 100));
    assert!(job.limit.unwrap() > Seconds(100 * 60));
    for job in [job.clone(), with_limit_of_the_daemon(&job)] {
        let Upkeep { wanted: Some((wanted, _)), .. } = look(&job, &today, NOW) else { panic!("it is kept") };
        let (after, _) = carried_out(&job, wanted, NOW);
        assert_eq!((after.limit, after.eligible), (Some(Seconds(100 * 60)), Some(at(&job) - Seconds(40 * 60))));
        assert_eq!(look(&after, &today, NOW), Upkeep { state: ReservationState::Deferred, wanted: None }, "it is its own");
    }
}

#[test]
fn a_limit_that_slurmctld_itself_holds_to_what_is_allowed_is_left_to_it() {
    let job = reserved_job(&site(enforcing(), 40));
    let short = with_wall(site(enforcing(), 100), Seconds(30 * 60));
    assert_eq!(look(&job, &short, NOW).wanted, None, "another limit would be marked as an administrator's");
    // What has started is as it was looked at, whatever its quality of service allows by now.
    let started = with_limit_of_the_daemon(&QueuedJob { limit: Some(HOUR), started: Some(at(&job)), ..job.clone() });
    assert_eq!(look(&started, &short, at(&job) + NEXT).wanted, None);
    let shown = QueuedJob { partition: Some("batch".to_owned()), qos: Some("NORMAL".to_owned()), ..started.clone() };
    let affiliation = Affiliation { partition: Some("other,batch".to_owned()), qos: Some("normal".to_owned()), account: None };
    let shown = QueuedJob { record: Record { affiliation: Some(affiliation), ..started.record }, ..shown };
    assert_eq!(look(&shown, &short, at(&job) + NEXT).wanted, None, "one of its partitions, and the same name to Slurm");
}

#[test]
fn a_limit_that_somebody_else_has_set_is_not_cut_back() {
    let promised = reserved_job(&site(enforcing(), 40));
    let short = with_wall(site(enforcing(), 40), Seconds(90 * 60));
    // An administrator has given it more than is allowed, before and after the daemon's own change.
    for job in [promised.clone(), with_limit_of_the_daemon(&promised)] {
        let extended = QueuedJob { limit: job.limit.map(|limit| limit + HOUR), ..job };
        for job in [extended.clone(), QueuedJob { started: Some(at(&extended)), ..extended.clone() }] {
            let wanted = look(&job, &short, at(&job)).wanted.map(|(wanted, _)| wanted);
            assert!(matches!(wanted, None | Some(Wanted::NoteOfStop)), "{wanted:?}");
        }
    }
    // The filter only advised the limit, which nobody has written then.
    let record = Record { mode: Mode::Advise, ..promised.record.clone() };
    let advised = QueuedJob { record, ..promised };
    assert_eq!(look(&advised, &short, NOW).wanted, None);
}

#[test]
fn a_promise_ends_for_a_job_that_became_larger_also_where_slurmctld_holds_it_to_its_limit() {
    let job = reserved_job(&site(enforcing(), 40));
    let larger = QueuedJob { size: Size { nodes: 8, cpus: 32 }, ..job };
    let short = with_wall(site(enforcing(), 400), Seconds(30 * 60));
    assert_eq!(look(&larger, &short, NOW).wanted, Some((Wanted::EndOfPromise(EndOfPromise::MadeLarger), NOW)));
}

#[test]
fn a_job_that_its_user_has_made_larger_gets_its_promise_anew_or_none() {
    let promised = reserved_job(&site(enforcing(), 40));
    let larger = QueuedJob { size: Size { nodes: 8, cpus: 32 }, ..promised.clone() };
    let state = ReservationState::Deferred;
    let found = look(&larger, &site(enforcing(), 40), NOW);
    let Upkeep { state: found_state, wanted: Some((wanted @ Wanted::Renewal(revision), _)) } = found else { panic!("{found:?}") };
    assert!(revision.probability.unwrap() >= 0.9 && found_state == state);
    let (after, _) = carried_out(&larger, wanted, NOW);
    assert_eq!(after.record.promised_size(), larger.size);
    assert_eq!(look(&after, &site(enforcing(), 40), NOW), Upkeep { state, wanted: None });
    // Where such waits are longer than the time that is left nothing is promised.
    let found = look(&larger, &site(enforcing(), 400), NOW);
    assert_eq!(found.wanted, Some((Wanted::EndOfPromise(EndOfPromise::MadeLarger), NOW)));
    let (after, is_cancelled) = carried_out(&larger, found.wanted.unwrap().0, NOW);
    assert_eq!((after.limit, after.eligible, is_cancelled), (larger.limit, larger.eligible, false));
    assert_eq!(look(&after, &site(enforcing(), 400), NOW), Upkeep { state: ReservationState::Stopped, wanted: None });
    assert_eq!(Promise::standing(&after.record), None);
    // A smaller one is the promised one, and so is one that got more than it asked for.
    for same in [
        QueuedJob { size: Size { nodes: 2, cpus: 8 }, ..promised.clone() },
        QueuedJob { started: Some(NOW), ..larger.clone() },
        QueuedJob { restarts: 1, ..larger },
    ] {
        assert_eq!(look(&same, &site(enforcing(), 40), NOW).wanted.filter(|(wanted, _)| !matches!(wanted, Wanted::Revision(_))), None);
    }
}
