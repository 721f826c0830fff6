use super::*;
use job_types::number::{JobId, UserId};
use job_types::options::IfRefused;
use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};
use job_types::together::{Decision, Together, Token};
use proptest::prelude::*;

const NOW: UnixTime = UnixTime(1_774_618_200);
const HOUR: i64 = 3_600;

/// Two nodes for an hour, in the ten hours from now on, that move until ten minutes before.
fn slot(job: bool) -> FirmSlot {
    FirmSlot {
        id: 7,
        user: UserId(1_000),
        user_name: "alice".to_owned(),
        account: Some("physics".to_owned()),
        qos: None,
        partition: "batch".to_owned(),
        nodes: 2,
        limit: Seconds(HOUR),
        earliest: NOW,
        latest: NOW + Seconds(10 * HOUR),
        near: None,
        asked_notice: None,
        notice: Seconds(600),
        idle: Seconds(300),
        job: job.then_some(SlotJob { id: JobId(41), submitted: NOW }),
        if_refused: IfRefused::Run,
        asked_at: NOW,
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
    }
}

/// The slot with nodes reserved in two hours, ranked now.
fn reserved(job: bool) -> FirmSlot {
    let mut slot = slot(job);
    let start = NOW + Seconds(2 * HOUR);
    slot.reserve(start, start + slot.duration(), NOW);
    FirmSlot { ranked_at: Some(NOW), ..slot }
}

const WAITS: JobSeen = JobSeen::Waits { is_blocked: false, is_as_asked: true, is_attached: false, eligible: None };
const ATTACHED: JobSeen = JobSeen::Waits { is_blocked: false, is_as_asked: true, is_attached: true, eligible: None };

/// What is seen so many seconds from now, with the reservation as the slot has it.
fn seen(slot: &FirmSlot, after: i64, job: JobSeen) -> SlotSeen {
    let reservation = slot.reserved.map(|ReservedTime { start, end }| ReservationSeen {
        start,
        end,
        nodes: slot.nodes,
        usable_nodes: slot.nodes,
        maintained_nodes: 0,
    });
    SlotSeen { now: NOW + Seconds(after), reservation, job, is_in_use: false, is_waited_for: false, has_job_ended_early: false }
}

fn replaced(wanted: SlotWanted) -> &'static str {
    let SlotWanted::Replace { why } = wanted else { panic!("{wanted:?}") };
    why
}

fn ended(wanted: SlotWanted) -> SlotState {
    let SlotWanted::End { state, .. } = wanted else { panic!("{wanted:?}") };
    state
}

#[test]
fn a_slot_that_is_asked_for_is_looked_for_until_none_fits_any_more() {
    for (job, of_job) in [(JobSeen::NotNamed, false), (WAITS, true)] {
        let slot = slot(of_job);
        assert_eq!(slot.wanted(&seen(&slot, 9 * HOUR, job)), SlotWanted::Place);
        assert_eq!(ended(slot.wanted(&seen(&slot, 9 * HOUR + 1, job))), SlotState::Refused);
        let had_one = FirmSlot { moved: 1, ..slot };
        assert_eq!(ended(had_one.wanted(&seen(&had_one, 9 * HOUR + 1, job))), SlotState::Lost);
    }
}

#[test]
fn a_reservation_that_was_made_before_a_crash_is_taken_up() {
    let slot = slot(true);
    let there = seen(&reserved(true), 60, WAITS);
    assert_eq!(slot.wanted(&there), SlotWanted::Adopt);
}

#[test]
fn a_slot_is_ranked_each_hour_until_it_is_fixed() {
    let slot = reserved(true);
    assert_eq!(slot.wanted(&seen(&slot, HOUR - 1, WAITS)), SlotWanted::Nothing);
    assert_eq!(slot.wanted(&seen(&slot, HOUR, WAITS)), SlotWanted::Rank);
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR - 601, WAITS)), SlotWanted::Rank);
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR - 600, WAITS)), SlotWanted::Note(SlotState::Fixed));
}

#[test]
fn a_slot_that_may_still_move_is_ranked_once_a_job_has_ended_far_before_its_limit() {
    let slot = reserved(true);
    let ahead = |after| SlotSeen { has_job_ended_early: true, ..seen(&slot, after, WAITS) };
    assert_eq!(slot.wanted(&ahead(5)), SlotWanted::Rank);
    assert_eq!(slot.wanted(&ahead(2 * HOUR - 600)), SlotWanted::Note(SlotState::Fixed));
}

#[test]
fn a_slot_is_replaced_whose_nodes_are_to_be_maintained_and_not_where_enough_others_are_left() {
    for job in [WAITS, JobSeen::NotNamed] {
        let slot = reserved(job != JobSeen::NotNamed);
        let maintained = |nodes, maintained_nodes| {
            let there = seen(&slot, 5, job).reservation.map(|there| ReservationSeen { nodes, maintained_nodes, ..there });
            slot.wanted(&SlotSeen { reservation: there, ..seen(&slot, 5, job) })
        };
        assert_eq!(replaced(maintained(2, 1)), "maintenance is planned on nodes of its reservation");
        assert_eq!(maintained(3, 1), SlotWanted::Nothing);
    }
}

#[test]
fn a_job_is_attached_shortly_before_its_slot_and_let_go_once_too_little_is_left_of_it() {
    let slot = reserved(true);
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR - 11, WAITS)), SlotWanted::Note(SlotState::Fixed));
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR - 10, WAITS)), SlotWanted::Attach);
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR + 120, WAITS)), SlotWanted::Attach);
    assert_eq!(slot.wanted(&seen(&slot, 2 * HOUR, ATTACHED)), SlotWanted::Note(SlotState::Attached));
    for job in [WAITS, ATTACHED] {
        assert!(replaced(slot.wanted(&seen(&slot, 2 * HOUR + 121, job))).contains("too little is left"), "{job:?}");
    }
}

#[test]
fn a_slot_is_replaced_in_which_its_job_may_not_start_before_too_little_is_left() {
    let slot = reserved(true);
    for is_attached in [false, true] {
        let put_off = |after| {
            let eligible = Some(NOW + Seconds(after));
            slot.wanted(&seen(&slot, 5, JobSeen::Waits { is_blocked: false, is_as_asked: true, is_attached, eligible }))
        };
        assert!(!matches!(put_off(2 * HOUR + 120), SlotWanted::Replace { .. }), "the two minutes beyond are left");
        assert_eq!(replaced(put_off(2 * HOUR + 121)), "the job may not start yet when its slot begins");
    }
}

#[test]
fn another_slot_begins_no_sooner_than_slurm_starts_the_job() {
    let slot = slot(true);
    let first_start = |after| {
        let eligible = Some(NOW + Seconds(after));
        slot.first_start(&seen(&slot, 5, JobSeen::Waits { is_blocked: false, is_as_asked: true, is_attached: false, eligible }))
    };
    assert_eq!([-60, 121].map(first_start), [NOW, NOW + Seconds(121)]);
    assert_eq!(slot.first_start(&seen(&slot, 5, JobSeen::NotNamed)), slot.earliest);
}

#[test]
fn a_job_that_starts_ends_its_slot_or_begins_to_use_it() {
    let slot = reserved(true);
    let runs = |is_inside| JobSeen::Runs { is_inside };
    assert_eq!(ended(slot.wanted(&seen(&slot, HOUR, runs(false)))), SlotState::Early);
    let attached = FirmSlot { state: SlotState::Attached, ..slot };
    assert_eq!(attached.wanted(&seen(&attached, 2 * HOUR, runs(true))), SlotWanted::Note(SlotState::Running));
    let running = FirmSlot { state: SlotState::Running, ..attached };
    assert_eq!(running.wanted(&seen(&running, 2 * HOUR + 9, runs(true))), SlotWanted::Nothing);
    assert_eq!(replaced(running.wanted(&seen(&running, 2 * HOUR + 9, WAITS))), "the job was put back into the queue");
}

#[test]
fn how_a_slot_ends_with_its_job_says_whether_that_ran_in_it() {
    let with = |state, has_run| {
        let slot = FirmSlot { state, ..reserved(true) };
        ended(slot.wanted(&seen(&slot, 2 * HOUR, JobSeen::Ended { has_run })))
    };
    assert_eq!(with(SlotState::Movable, Some(true)), SlotState::Early);
    assert_eq!(with(SlotState::Movable, Some(false)), SlotState::Cancelled);
    assert_eq!(with(SlotState::Attached, Some(true)), SlotState::Used);
    assert_eq!(with(SlotState::Attached, Some(false)), SlotState::Cancelled);
    assert_eq!([Some(true), None].map(|has_run| with(SlotState::Running, has_run)), [SlotState::Used; 2]);
    assert_eq!(with(SlotState::Fixed, None), SlotState::Returned);
}

#[test]
fn a_job_that_is_held_or_changed_keeps_no_slot_and_is_left_alone() {
    let slot = reserved(true);
    for (is_blocked, is_as_asked) in [(true, true), (false, false)] {
        let job = JobSeen::Waits { is_blocked, is_as_asked, is_attached: false, eligible: None };
        assert_eq!(ended(slot.wanted(&seen(&slot, HOUR, job))), SlotState::Returned);
    }
}

#[test]
fn what_somebody_else_does_to_the_reservation_is_kept_where_it_fits_and_replaced_where_not() {
    for (of_job, job) in [(true, WAITS), (false, JobSeen::NotNamed)] {
        let slot = reserved(of_job);
        let changed = |change: &dyn Fn(&mut ReservationSeen)| {
            let mut seen = seen(&slot, HOUR / 2, job);
            seen.reservation.iter_mut().for_each(change);
            slot.wanted(&seen)
        };
        assert_eq!(
            slot.wanted(&SlotSeen { reservation: None, ..seen(&slot, HOUR / 2, job) }),
            SlotWanted::Replace { why: "its reservation is not there any more" }
        );
        let later = |by: i64| {
            move |there: &mut ReservationSeen| {
                (there.start, there.end) = (there.start + Seconds(by), there.end + Seconds(by));
            }
        };
        assert_eq!(changed(&later(7 * HOUR)), SlotWanted::Adopt);
        assert_eq!(replaced(changed(&later(7 * HOUR + 60))), "somebody has changed its reservation");
        assert_eq!(replaced(changed(&later(-3 * HOUR))), "somebody has changed its reservation");
        assert_eq!(replaced(changed(&|there| there.end = there.end - Seconds(60))), "somebody has changed its reservation");
        assert_eq!(replaced(changed(&|there| there.nodes = 1)), "its reservation has fewer nodes than it had");
        let mut without_node = seen(&slot, 2 * HOUR - 60, job);
        without_node.reservation.iter_mut().for_each(|there| there.usable_nodes = 1);
        assert!(replaced(slot.wanted(&without_node)).starts_with("nodes of its reservation are down"));
        assert_eq!(changed(&|there| there.usable_nodes = 1), SlotWanted::Nothing, "there is time yet");
    }
}

#[test]
fn a_slot_without_a_job_is_given_back_once_nobody_has_used_it_for_long_enough() {
    let slot = reserved(false);
    let at = |slot: &FirmSlot, after, is_in_use, is_waited_for| {
        slot.wanted(&SlotSeen { is_in_use, is_waited_for, ..seen(slot, 2 * HOUR + after, JobSeen::NotNamed) })
    };
    let fixed = FirmSlot { state: SlotState::Fixed, ..slot };
    assert_eq!(at(&fixed, 299, false, false), SlotWanted::Nothing);
    assert_eq!(at(&fixed, 300, true, false), SlotWanted::Note(SlotState::Running));
    assert_eq!(at(&fixed, 300, false, true), SlotWanted::Nothing);
    assert_eq!(ended(at(&fixed, 300, false, false)), SlotState::Returned);
    let used = FirmSlot { state: SlotState::Running, used_at: Some(NOW + Seconds(2 * HOUR + 200)), ..fixed.clone() };
    assert_eq!(at(&used, 499, false, false), SlotWanted::Nothing);
    assert_eq!(ended(at(&used, 500, false, false)), SlotState::Used);
    for (slot, state) in [(fixed, SlotState::Returned), (used, SlotState::Used)] {
        let gone = SlotSeen { reservation: None, ..seen(&slot, 3 * HOUR + 120, JobSeen::NotNamed) };
        assert_eq!(ended(slot.wanted(&gone)), state);
    }
}

#[test]
fn of_a_slot_that_is_over_nothing_stays_reserved() {
    for state in SlotState::ALL.into_iter().filter(|state| state.is_over()) {
        let slot = FirmSlot { state, ..reserved(true) };
        assert_eq!(slot.wanted(&seen(&slot, HOUR, WAITS)), SlotWanted::GiveBack, "{state}");
        let gone = SlotSeen { reservation: None, ..seen(&slot, HOUR, WAITS) };
        assert_eq!(slot.wanted(&gone), SlotWanted::Nothing, "{state}");
    }
}

#[test]
fn a_slot_is_charged_for_as_long_as_its_nodes_are_kept() {
    let charged = |over_after: Option<i64>| {
        let mut slot = reserved(false);
        if let Some(after) = over_after {
            let moment = NOW + Seconds(2 * HOUR + after);
            slot.end(SlotState::Returned, None, moment);
            slot.given_back(moment);
        }
        slot.charged_node_seconds()
    };
    assert_eq!([None, Some(-600), Some(300), Some(2 * HOUR)].map(charged), [2 * 3_720, 0, 600, 2 * 3_720]);
    // It was over after 300 s, and only after 900 could its reservation be given back.
    let mut late = reserved(false);
    late.end(SlotState::Returned, None, NOW + Seconds(2 * HOUR + 300));
    assert_eq!(late.charged_node_seconds(), 2 * 3_720, "its nodes are still kept");
    late.given_back(NOW + Seconds(2 * HOUR + 900));
    late.given_back(NOW + Seconds(2 * HOUR + 1_000));
    assert_eq!(late.charged_node_seconds(), 2 * 900);
    assert_eq!(slot(false).charged_node_seconds(), 0);
    // What was kept before another reservation took its place is charged as well.
    let mut replaced = reserved(true);
    replaced.begin_anew("its reservation is not there any more", NOW + Seconds(2 * HOUR + 50));
    assert_eq!(replaced.charged_node_seconds(), 100);
    replaced.reserve(NOW + Seconds(3 * HOUR), NOW + Seconds(3 * HOUR) + replaced.duration(), NOW + Seconds(2 * HOUR + 50));
    assert_eq!(replaced.charged_node_seconds(), 100 + 2 * 3_720);
    let mut early = reserved(true);
    early.begin_anew("somebody has changed its reservation", NOW + Seconds(HOUR));
    assert_eq!(early.charged_node_seconds(), 0);
}

proptest! {
    #[test]
    fn a_job_is_attached_only_where_its_time_limit_fits_and_a_slot_never_waits_without_a_moment_to_look_again(
        after in 0..12 * HOUR, is_attached in any::<bool>(), is_ranked in any::<bool>(),
    ) {
        let mut slot = reserved(true);
        slot.ranked_at = slot.ranked_at.filter(|_| is_ranked);
        let job = JobSeen::Waits { is_blocked: false, is_as_asked: true, is_attached, eligible: None };
        let seen = seen(&slot, after, job);
        let times = slot.reserved.unwrap();
        match slot.wanted(&seen) {
            SlotWanted::Attach => prop_assert!(times.end - seen.now.max(times.start) >= slot.limit),
            SlotWanted::Nothing | SlotWanted::Note(_) => prop_assert!(slot.due(seen.now).is_some()),
            SlotWanted::Rank | SlotWanted::Replace { .. } => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

/// A part with nodes reserved in two hours, of which that cluster decides.
fn part(decided_by: Option<&str>) -> FirmSlot {
    let of = Together { token: Token::from(7), decided_by: decided_by.map(str::to_owned) };
    FirmSlot { part: Some(Part::asked(of, NOW)), ..reserved(false) }
}

#[test]
fn the_cluster_that_decides_gives_its_part_back_once_two_minutes_are_over() {
    let part = part(None);
    assert_eq!(part.wanted(&seen(&part, 119, JobSeen::NotNamed)), SlotWanted::Nothing);
    let late = part.wanted(&seen(&part, 120, JobSeen::NotNamed));
    assert_eq!(late, SlotWanted::End { state: SlotState::Cancelled, why: Some("it was not confirmed in time") });
    assert_eq!((part.decision(), part.due(NOW)), (Some(Decision::Open), Some(NOW + Seconds(120))));
    let mut over = part;
    over.end(SlotState::Cancelled, None, NOW + Seconds(120));
    assert_eq!(over.decision(), Some(Decision::GivenUp));
}

#[test]
fn any_other_cluster_keeps_its_part_and_asks_until_it_is_told() {
    let mut part = part(Some("east"));
    assert_eq!(part.decision(), None, "it can't tell anybody");
    assert_eq!(part.wanted(&seen(&part, 119, JobSeen::NotNamed)), SlotWanted::Nothing);
    assert_eq!(part.wanted(&seen(&part, 120, JobSeen::NotNamed)), SlotWanted::AskDecision);
    // A part whose reservation is gone must still find out what the others do.
    let gone = SlotSeen { reservation: None, ..seen(&part, 120, JobSeen::NotNamed) };
    assert_eq!(part.wanted(&gone), SlotWanted::AskDecision);
    part.part.as_mut().unwrap().asked_at = Some(NOW + Seconds(120));
    assert_eq!(part.wanted(&seen(&part, 120 + ASKED_EVERY.0 - 1, JobSeen::NotNamed)), SlotWanted::Nothing);
    assert_eq!(part.wanted(&seen(&part, 120 + ASKED_EVERY.0, JobSeen::NotNamed)), SlotWanted::AskDecision);
    assert_eq!(part.due(NOW + Seconds(120)), Some(NOW + Seconds(120) + ASKED_EVERY));
}

#[test]
fn a_part_of_which_nothing_was_ever_decided_ends_with_its_reservation() {
    let part = part(Some("east"));
    let ReservedTime { start, end } = part.reserved.unwrap();
    let at = |now: UnixTime| SlotSeen { now, ..seen(&part, 0, JobSeen::NotNamed) };
    assert_eq!(part.wanted(&at(end - Seconds(1))), SlotWanted::AskDecision, "somebody may use it");
    // slurmctld deletes what nobody uses.
    for over in [at(end), SlotSeen { reservation: None, ..at(start) }] {
        let wanted = part.wanted(&over);
        assert!(matches!(wanted, SlotWanted::End { state: SlotState::Returned, .. }), "{wanted:?}");
    }
}

#[test]
fn a_part_that_is_confirmed_is_a_slot_like_any_other_and_stays_decided() {
    for decided_by in [None, Some("east")] {
        let mut part = part(decided_by);
        part.part.as_mut().unwrap().is_confirmed = true;
        let seen = seen(&part, 600, JobSeen::NotNamed);
        assert_eq!(part.wanted(&seen), reserved(false).wanted(&seen));
        part.end(SlotState::Cancelled, None, NOW);
        assert_eq!(part.decision(), decided_by.is_none().then_some(Decision::Confirmed));
    }
}

#[test]
fn a_part_that_nobody_was_told_of_is_given_back() {
    for reservation in [None, seen(&part(None), 0, JobSeen::NotNamed).reservation] {
        let part = FirmSlot { reserved: None, ..part(Some("east")) };
        let wanted = part.wanted(&SlotSeen { reservation, ..seen(&part, 0, JobSeen::NotNamed) });
        assert!(matches!(wanted, SlotWanted::End { state: SlotState::Cancelled, .. }), "{wanted:?}");
    }
}
