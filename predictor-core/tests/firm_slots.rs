//! What is decided about a submission that asks for a firm slot.

#![allow(clippy::unwrap_used)]

use job_types::number::UserId;
use job_types::options::{IfRefused, Mode, UserOptions};
use job_types::policy::{Admission, Policy, When};
use job_types::promise::Promise;
use job_types::promise::SlotAsked;
use job_types::record::{Affiliation, Record};
use job_types::time::{Seconds, UnixTime};
use job_types::window::Window;
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decisions::firm::NoSlot;
use predictor_core::decisions::{Changes, Decision, FixedSizeReason, OutsidePlan, Refusal, StartBlocker, Submission, TimeLimit, decide};
use proptest::prelude::*;

const HOUR: i64 = 3_600;

/// Large jobs wait 5,000 s and run 500 s, small ones wait 100 s and run 1,000 s, so that a large
/// one is molded where it may be.
fn cluster(policy: Policy) -> Cluster {
    let past = (0..200).flat_map(|n| {
        [(16, 3_600, 5_000, 500), (4, 7_200, 100, 1_000)]
            .map(|(nodes, limit, wait, run)| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), nodes, limit, wait, run))
    });
    MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
}

/// What asks for a slot in a window, by its begin and its end in seconds from now.
fn slot(earliest: i64, latest: i64) -> UserOptions {
    let window = Window { earliest: NOW + Seconds(earliest), latest: NOW + Seconds(latest) };
    UserOptions { reserve_window: Some(window), ..UserOptions::default() }
}

fn decided(cluster: &Cluster, submission: &Submission<'_>) -> Decision {
    decide(&cluster.situation(submission))
}

#[test]
fn a_job_with_a_window_begins_with_it_and_stays_what_it_is() {
    let cluster = cluster(enforcing());
    let plain = submission(16, slot(HOUR, 13 * HOUR));
    let decision = decided(&cluster, &plain);
    assert_eq!(decision.changes(), Changes { begin: Some(NOW + Seconds(HOUR)), ..Changes::default() });
    assert!(decision.refusal().is_none() && decision.molding.is_none() && decision.deferral.is_none());
    // What is forecast is the job that may begin in an hour, and waits as any other from then on.
    assert_eq!(decision.decided.as_ref().unwrap().wait.unwrap().0, Seconds(HOUR + 5_000));
    assert_eq!(
        decision.line(&plain, &enforcing(), NOW).unwrap(),
        "asked for 16 nodes for 1 h between 1 h and 13 h from now; queuecastd looks for the slot, see `queuecast reservations`"
    );
}

#[test]
fn a_window_that_has_begun_changes_nothing_and_is_recorded() {
    let cluster = cluster(enforcing());
    let asked = UserOptions { if_refused: Some(IfRefused::Cancel), ..slot(-HOUR, 13 * HOUR) };
    let begun = submission(16, asked);
    let decision = decided(&cluster, &begun);
    assert_eq!(decision.changes(), Changes::default());
    let line = decision.line(&begun, &enforcing(), NOW).unwrap();
    assert!(line.contains(" between now and 13 h from now; ") && line.ends_with("; the job is cancelled if there is none"), "{line}");
    let record = decision.record(&cluster.situation(&begun), 7);
    assert_eq!(record.last_begin(), None);
    let window = Window { earliest: NOW - Seconds(HOUR), latest: NOW + Seconds(13 * HOUR) };
    assert_eq!(SlotAsked::of(&record), Some(SlotAsked { window, notice: None, if_refused: IfRefused::Cancel }));
}

#[test]
fn the_record_says_which_slot_is_asked_for_and_promises_nothing() {
    let cluster = cluster(enforcing());
    let asked = UserOptions { reserve_notice: Some(1_800), ..slot(HOUR, 13 * HOUR) };
    let asked = Submission { account: Some("physics"), qos: Some("normal"), ..submission(16, asked) };
    let record = decided(&cluster, &asked).record(&cluster.situation(&asked), 7);
    let read = Record::parse(&record.to_json().unwrap()).unwrap();
    assert_eq!(read, record);
    let window = Window { earliest: NOW + Seconds(HOUR), latest: NOW + Seconds(13 * HOUR) };
    let expected = SlotAsked { window, notice: Some(Seconds(1_800)), if_refused: IfRefused::Run };
    assert_eq!((SlotAsked::of(&read), read.last_begin()), (Some(expected), Some(window.earliest)));
    let affiliation = Affiliation { partition: Some("batch".into()), account: Some("physics".into()), qos: Some("normal".into()) };
    assert_eq!(read.affiliation, Some(affiliation));
    assert_eq!((Promise::decided(&read), read.last_limit()), (None, None));
}

#[test]
fn a_job_with_a_window_is_neither_molded_nor_deferred_and_is_told_so_where_it_asked() {
    let always = Policy { mold: When::Always, defer: When::Always, ..enforcing() };
    let cluster = cluster(always);
    let unasked = decided(&cluster, &submission(16, slot(HOUR, 13 * HOUR)));
    assert!(unasked.changes().size.is_none() && unasked.molding.is_none() && unasked.deferral.is_none());
    let asked = submission(16, UserOptions { auto_mold: true, auto_defer: true, ..slot(HOUR, 13 * HOUR) });
    let decision = decided(&cluster, &asked);
    assert_eq!(decision.changes(), Changes { begin: Some(NOW + Seconds(HOUR)), ..Changes::default() });
    let line = decision.line(&asked, &always, NOW).unwrap();
    assert!(line.starts_with("not molded: its firm slot is asked for at its own size; asked for 16 nodes"), "{line}");
    assert!(line.ends_with("; not deferred: the window of its firm slot says when it may begin"), "{line}");
    // The same job without a window is molded.
    let without = submission(16, UserOptions { auto_mold: true, ..UserOptions::default() });
    assert!(decided(&cluster, &without).changes().size.is_some());
}

#[test]
fn what_no_slot_can_be_asked_for_is_refused_with_the_reason() {
    let cluster = cluster(enforcing());
    let plain = || submission(16, slot(HOUR, 13 * HOUR));
    let with = |asked: UserOptions| submission(16, asked);
    let cases = [
        (Submission { tie: Some(FixedSizeReason::Heterogeneous), ..plain() }, "a heterogeneous job can't have a firm slot"),
        (Submission { is_array: true, ..plain() }, "an array of jobs can't have a firm slot; submit its tasks one by one"),
        (Submission { is_immediate: true, ..plain() }, "--immediate and --reserve-window contradict each other; give one of them"),
        (
            with(UserOptions { reserve_at: Some(NOW.0 + HOUR), ..slot(HOUR, 13 * HOUR) }),
            "--reserve-at and --reserve-window contradict each other; give one of them",
        ),
        (Submission { begin: Some(NOW + Seconds(60)), ..plain() }, "--begin and --reserve-window contradict each other; give one of them"),
        (
            Submission { deadline: Some(NOW + Seconds(20 * HOUR)), ..plain() },
            "--deadline and --reserve-window contradict each other; give one of them",
        ),
        (
            Submission { obstacle: Some(StartBlocker::Dependency), ..plain() },
            "--dependency lets other jobs decide when this one starts; give only one of it and --reserve-window",
        ),
        (
            Submission { obstacle: Some(StartBlocker::Reservation), ..plain() },
            "the job runs inside a reservation already; give only one of --reservation and --reserve-window",
        ),
        (
            Submission { obstacle: Some(StartBlocker::Held), ..plain() },
            "a held job does not start by itself; submit it without --hold or --priority=0",
        ),
        (Submission { partition: Some("batch,other"), ..plain() }, "a firm slot is in one partition; name one with --partition"),
        (
            Submission { chooses_clusters: true, ..plain() },
            "--cluster-constraint may send the job to another cluster; give only one of it and --reserve-window",
        ),
        (
            Submission { nodes: None, tasks: Some(64), ..plain() },
            "a firm slot has whole nodes, and the job does not say how many; give --nodes",
        ),
        (Submission { limit: TimeLimit::Unlimited, ..plain() }, "the job has no time limit; give one with --time"),
        (submission(65, slot(HOUR, 13 * HOUR)), "the job does not keep to the size of the partition"),
        (
            Submission { limit: TimeLimit::Limited(Seconds(49 * HOUR)), ..with(slot(HOUR, 100 * HOUR)) },
            "the job does not keep to the partition's MaxTime",
        ),
        (with(slot(-2 * HOUR, 0)), "the window has already ended; the nearest window that is possible is now,now+2hours"),
        (
            with(slot(HOUR, HOUR + 1_800)),
            "what is left of the window is 30 min too short for the time limit of 1 h; give a longer window or a shorter --time; \
             the nearest window that is possible is now+1hours,now+2hours",
        ),
        (
            with(UserOptions { reserve_notice: Some(13 * HOUR), ..slot(HOUR, 13 * HOUR) }),
            "the notice of 13 h is 1 h longer than what is left of the window; give a shorter --reserve-notice; \
             the nearest window that is possible is now+1hours,now+14hours",
        ),
    ];
    for (submission, words) in cases {
        let decision = decided(&cluster, &submission);
        assert!(matches!(decision.refusal(), Some(Refusal::NoSlot(_))), "{words}: {:?}", decision.refusal());
        assert_eq!(decision.line(&submission, &enforcing(), NOW).unwrap(), format!("no firm slot: {words}"));
        assert_eq!(decision.changes().begin, None, "{words}");
    }
}

#[test]
fn what_the_plan_does_not_know_is_refused_and_named() {
    let cluster = cluster(enforcing());
    for (what, words) in [
        (OutsidePlan::NodeList, "it names its nodes"),
        (OutsidePlan::ExcludedNodes, "it excludes nodes"),
        (OutsidePlan::Features, "it asks for features of nodes"),
        (OutsidePlan::GenericResources, "it asks for generic resources"),
        (OutsidePlan::Licences, "it asks for licences"),
        (OutsidePlan::NodeShape, "it asks for nodes of a certain shape"),
    ] {
        let asked = Submission { outside_plan: Some(what), ..submission(16, slot(HOUR, 13 * HOUR)) };
        let refusal = decided(&cluster, &asked).refusal();
        assert_eq!(refusal, Some(Refusal::NoSlot(NoSlot::OutsidePlan(what))));
        let line = decided(&cluster, &asked).line(&asked, &enforcing(), NOW).unwrap();
        assert_eq!(line, format!("no firm slot: {words}, of which the plan of the queue knows nothing; leave that out"));
    }
}

#[test]
fn the_partitions_default_time_limit_counts_as_one() {
    let cluster = cluster(enforcing());
    let unset = Submission { limit: TimeLimit::Unset, ..submission(16, slot(HOUR, 2 * HOUR)) };
    let Some(Ok(slot)) = decided(&cluster, &unset).slot else { panic!("no slot") };
    assert_eq!(slot.request.duration, Seconds(HOUR));
}

#[test]
fn a_default_window_asks_for_nothing_where_there_can_be_no_slot() {
    let cluster = cluster(enforcing());
    let default = |asked: UserOptions| UserOptions { is_default_window: true, ..asked };
    let array = Submission { is_array: true, ..submission(16, default(slot(HOUR, 13 * HOUR))) };
    let decision = decided(&cluster, &array);
    assert_eq!((decision.slot, decision.ignored_window, decision.refusal()), (None, Some(NoSlot::Array), None));
    assert!(decision.is_about_nothing(&array, &enforcing()) && decision.changes().is_empty());
    assert_eq!(decision.line(&array, &enforcing(), NOW), None);
    // What else is asked for is decided as ever.
    let asked = UserOptions { reserve_at: Some(NOW.0 + 10 * HOUR), ..default(slot(HOUR, 13 * HOUR)) };
    let reserved = submission(4, asked);
    let decision = decided(&cluster, &reserved);
    assert!(matches!(decision.reservation, Some(Ok(_))) && !decision.is_about_nothing(&reserved, &enforcing()));
    let record = decision.record(&cluster.situation(&reserved), 7);
    assert_eq!(SlotAsked::of(&record), None);
    assert!(record.left.iter().any(|left| left.starts_with("no firm slot by default: --reserve-at and")), "{:?}", record.left);
    // Where there can be a slot, a default asks for one.
    let possible = submission(16, default(slot(HOUR, 13 * HOUR)));
    let decision = decided(&cluster, &possible);
    assert!(matches!(decision.slot, Some(Ok(_))) && !decision.is_about_nothing(&possible, &enforcing()));
}

#[test]
fn below_enforce_a_slot_is_recorded_and_told_and_nothing_is_asked_for() {
    let plain = submission(16, slot(HOUR, 13 * HOUR));
    let told = |mode| {
        let policy = Policy { mode, ..enforcing() };
        let cluster = cluster(policy);
        let decision = decided(&cluster, &plain);
        assert!(decision.changes().is_empty());
        let record = decision.record(&cluster.situation(&plain), 7);
        assert_eq!((record.written.as_ref().unwrap().window, SlotAsked::of(&record)), (Some((NOW.0 + HOUR, NOW.0 + 13 * HOUR)), None));
        decision.line(&plain, &policy, NOW).unwrap()
    };
    assert_eq!(told(Mode::Advise), "advice, nothing was changed: 16 nodes for 1 h would be asked for, between 1 h and 13 h from now");
    assert_eq!(told(Mode::Observe), "this partition is only observed: the job was submitted as you wrote it");
    // What would be refused is advice as well.
    let advising = Policy { mode: Mode::Advise, ..enforcing() };
    let array = Submission { is_array: true, ..plain.clone() };
    let decision = decided(&cluster(advising), &array);
    assert_eq!(decision.refusal(), None);
    let line = decision.line(&array, &advising, NOW).unwrap();
    assert!(line.starts_with("no firm slot: an array of jobs"), "{line}");
}

#[test]
fn a_deadline_of_a_job_with_a_default_window_is_still_admitted() {
    let admitting = Policy { admission: Admission::Edf, ..enforcing() };
    let asked = UserOptions { is_default_window: true, ..slot(HOUR, 13 * HOUR) };
    let due = Submission { deadline: Some(NOW + Seconds(40 * HOUR)), ..submission(4, asked) };
    let decision = decided(&cluster(admitting), &due);
    assert_eq!(decision.ignored_window, Some(NoSlot::Deadline));
    assert!(matches!(decision.admission, Some(Ok(_))), "{:?}", decision.admission);
}

thread_local! {
    static SITE: Cluster = cluster(enforcing());
}

proptest! {
    /// Control variables can be forged, so that a window and a notice can be anything.
    #[test]
    fn whatever_window_is_asked_for_the_job_begins_inside_it_or_is_refused(
        earliest in prop_oneof![3 => -100_000..100_000_i64, 1 => any::<i64>()],
        length in prop_oneof![3 => 1..200_000_i64, 1 => 1..i64::MAX],
        notice in prop::option::of(prop_oneof![3 => 0..100_000_i64, 1 => 0..i64::MAX]),
        limit in prop_oneof![3 => 60..200_000_i64, 1 => any::<i64>()],
    ) {
        let begin = NOW.0.saturating_add(earliest).max(0);
        let window = Window { earliest: UnixTime(begin), latest: UnixTime(begin.saturating_add(length)) };
        let asked = UserOptions { reserve_window: Some(window), reserve_notice: notice, ..UserOptions::default() };
        let asked = Submission { limit: TimeLimit::Limited(Seconds(limit)), ..submission(16, asked) };
        let (decision, record) = SITE.with(|site| {
            let decision = decided(site, &asked);
            let record = decision.record(&site.situation(&asked), 7);
            (decision, record)
        });
        let changes = decision.changes();
        if decision.refusal().is_some() {
            prop_assert!(changes.is_empty());
        } else {
            prop_assert!(changes.begin.is_none_or(|begin| begin == window.earliest && begin > NOW));
            prop_assert!(window.latest - NOW.max(window.earliest) >= Seconds(limit));
        }
        prop_assert!(decision.line(&asked, &enforcing(), NOW).is_some());
        prop_assert!(record.to_json().is_some());
    }
}
