//! A cluster of four nodes with four CPUs each, computed on paper.

use job_types::number::JobId;
use job_types::size::Size;

use super::*;
use crate::run_time::RunTimes;
use crate::state::{Node, Partition, RunningJob};

const NOW: UnixTime = UnixTime(1_000_000);

fn after(seconds: i64) -> UnixTime {
    NOW + Seconds(seconds)
}

fn run_times(expected: i64, limit: i64) -> RunTimes {
    RunTimes { optimistic: Seconds(expected), expected: Seconds(expected), limit: Seconds(limit) }
}

fn cluster() -> State {
    let partition = Partition { nodes: (0..4).collect(), is_up: true, whole_nodes: true, ..Partition::default() };
    State {
        now: NOW,
        nodes: vec![Node { offers: Size { nodes: 1, cpus: 4 }.into(), takes_jobs: true }; 4],
        partitions: vec![partition],
        ..State::default()
    }
}

fn running(nodes: std::ops::Range<u32>, remaining: RunTimes) -> RunningJob {
    let holds = Size { nodes: nodes.len() as u32, cpus: 4 * nodes.len() as u32 }.into();
    RunningJob { holds, nodes: nodes.collect(), reservation: None, remaining }
}

fn job(id: u32, nodes: u32, run_time: RunTimes) -> PendingJob {
    PendingJob {
        id: JobId(id),
        partitions: vec![0],
        asks: Size { nodes, cpus: 4 * nodes }.into(),
        tasks: 1,
        whole_nodes: true,
        priority: 1_000 - id,
        eligible: after(-10),
        limit: Some(run_time.limit),
        run_time,
        ..PendingJob::default()
    }
}

/// Two nodes for 100 s, inside a window from now on.
fn two_nodes(window: i64) -> NodesWanted {
    NodesWanted {
        partition: 0,
        nodes: 2,
        duration: Seconds(100),
        earliest_start: NOW,
        latest_end: after(window),
        lead: Seconds::ZERO,
        preference: Preference::Earliest,
        job: PendingJob { id: JobId(u32::MAX), priority: 0, ..job(0, 2, run_times(100, 100)) },
    }
}

/// Slots that begin each 100 s.
const EACH_HUNDRED: Probing = Probing { slots: 100, gap: Seconds(100) };

fn probed(state: &State, wanted: &NodesWanted) -> Found {
    probe(state, wanted, EACH_HUNDRED, WhatIf::default())
}

fn starts(found: &Found) -> Vec<i64> {
    found.slots.iter().map(|slot| (slot.slot.start - NOW).0).collect()
}

#[test]
fn an_idle_cluster_has_every_slot_and_the_earliest_is_taken() {
    let found = probed(&cluster(), &two_nodes(300));
    assert_eq!(starts(&found), [0, 100, 200]);
    assert!(found.slots.iter().all(|slot| slot.availability == 1.0 && slot.harm == Some(Harm::default())), "{found:?}");
    assert_eq!((found.best, found.ordinary_start.unwrap().expected), (Some(0), NOW));
    let latest = probed(&cluster(), &NodesWanted { preference: Preference::Latest, ..two_nodes(300) });
    assert_eq!(latest.best, Some(2));
}

#[test]
fn running_jobs_keep_their_nodes_until_their_time_limits_although_they_end_before() {
    let mut state = cluster();
    // It is expected to end after 50 s, and may run for 150 s.
    state.running = vec![running(0..3, run_times(50, 150))];
    let found = probed(&state, &two_nodes(300));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    // The ordinary job would start at 50, where as a reservation it has no nodes.
    assert_eq!(starts(&found), [0, 50, 100, 200]);
    let one_free = Some(SlotConflict::Nodes { free: 1 });
    assert_eq!(conflicts, [one_free, one_free, one_free, None]);
    assert_eq!(found.best, Some(3));
    assert!(found.slots[0].harm.is_none() && found.slots[0].availability == 0.0);
}

#[test]
fn reservations_and_nodes_that_are_away_are_not_reserved_again() {
    let mut state = cluster();
    state.reservations = vec![Reservation { start: after(100), end: after(200), nodes: vec![0, 1], keeps: None }];
    state.nodes[3].takes_jobs = false;
    let found = probed(&state, &two_nodes(400));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    assert_eq!(starts(&found), [0, 100, 200, 300]);
    assert_eq!(conflicts, [None, Some(SlotConflict::Nodes { free: 1 }), None, None]);
}

#[test]
fn the_head_of_the_queue_is_not_kept_beyond_the_start_that_time_limits_give_it() {
    let mut state = cluster();
    state.running = vec![running(0..1, run_times(100, 100))];
    // All four nodes from 100 to 300 s.
    state.pending = vec![job(1, 4, run_times(200, 200))];
    let found = probed(&state, &two_nodes(500));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    assert_eq!(starts(&found), [0, 100, 200, 300, 400]);
    // The one from now to 100 s ends when the head begins.
    assert_eq!(conflicts, [None, Some(SlotConflict::Head), Some(SlotConflict::Head), None, None]);
    assert_eq!(found.best, Some(0));
}

#[test]
fn what_is_granted_already_delays_the_head_and_is_no_conflict() {
    let mut state = cluster();
    state.running = vec![running(0..1, run_times(100, 100))];
    // It has all nodes from 100 to 300 s.
    state.pending = vec![job(1, 4, run_times(200, 200))];
    let delay = |start| harm_of_granted(&state, &two_nodes(500), after(start)).map(|harm| (harm.delayed_jobs, harm.total_delay.0));
    assert_eq!([0, 100, 200, 300].map(delay), [Some((0, 0)), Some((1, 100)), Some((1, 200)), Some((0, 0))]);
    let more = NodesWanted { nodes: 4, ..two_nodes(500) };
    assert_eq!(harm_of_granted(&state, &more, NOW), None, "a job runs on one of the nodes");
}

#[test]
fn a_job_that_could_just_end_before_a_slot_is_in_its_way_where_nodes_have_to_be_free_before() {
    let mut state = cluster();
    // It has all nodes for 200 s from now on.
    state.pending = vec![job(1, 4, run_times(200, 200))];
    let delays = |lead: i64| {
        let found = probed(&state, &NodesWanted { lead: Seconds(lead), ..two_nodes(400) });
        let delay = |slot: &SlotInQueue| ((slot.slot.start - NOW).0, slot.harm.map(|harm| harm.total_delay.0));
        found.slots.iter().map(delay).collect::<Vec<_>>()
    };
    // The job behind all others starts at 200 s, or as much later as nodes have to be free before.
    assert_eq!(delays(0), [(0, Some(100)), (100, Some(200)), (200, Some(0)), (300, Some(0))]);
    assert_eq!(delays(50), [(0, Some(100)), (100, Some(200)), (200, Some(300)), (250, Some(0)), (300, Some(0))]);
    let granted = |lead: i64, start| {
        let wanted = NodesWanted { lead: Seconds(lead), ..two_nodes(400) };
        harm_of_granted(&state, &wanted, after(start)).map(|harm| harm.total_delay.0)
    };
    assert_eq!([granted(0, 200), granted(50, 200), granted(50, 250)], [Some(0), Some(300), Some(0)]);
    // What began before the slot was granted is not in its way.
    state.pending.clear();
    state.running = vec![running(0..4, run_times(200, 200))];
    let wanted = NodesWanted { lead: Seconds(50), ..two_nodes(400) };
    assert_eq!(harm_of_granted(&state, &wanted, after(200)), Some(Harm::default()));
}

#[test]
fn a_job_that_is_not_eligible_yet_is_not_the_head() {
    let mut state = cluster();
    state.running = vec![running(0..1, run_times(100, 100))];
    // The first has all nodes from 300 to 500 s, and the second, the head, before that.
    let later = PendingJob { eligible: after(300), ..job(1, 4, run_times(200, 200)) };
    state.pending = vec![later, job(2, 4, run_times(200, 200))];
    let found = probed(&state, &two_nodes(500));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    assert_eq!(starts(&found), [0, 100, 200, 300, 400]);
    assert_eq!(conflicts, [None, Some(SlotConflict::Head), Some(SlotConflict::Head), None, None]);
}

#[test]
fn a_job_that_starts_now_is_not_the_head_and_stands_before_it() {
    let mut state = cluster();
    // The first has two nodes until 100 s, and the second, the head, all four from then to 300 s.
    state.pending = vec![job(1, 2, run_times(100, 100)), job(2, 4, run_times(200, 200))];
    let found = probed(&state, &two_nodes(500));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    assert_eq!(starts(&found), [0, 100, 200, 300, 400]);
    assert_eq!(conflicts, [None, Some(SlotConflict::Head), Some(SlotConflict::Head), None, None]);
}

#[test]
fn the_head_is_the_first_task_of_an_array_that_does_not_start_now() {
    let mut state = cluster();
    // One after the other on all nodes, the second from 100 to 200 s.
    state.pending = vec![PendingJob { tasks: 3, ..job(1, 4, run_times(100, 100)) }];
    let found = probed(&state, &two_nodes(300));
    let conflicts: Vec<_> = found.slots.iter().map(|slot| slot.conflict).collect();
    assert_eq!(starts(&found), [0, 100, 200]);
    assert_eq!(conflicts, [Some(SlotConflict::Head), Some(SlotConflict::Head), None]);
}

#[test]
fn more_jobs_that_start_now_than_are_kept_leave_the_head_last() {
    let mut state = cluster();
    state.partitions[0].nodes = (0..2_004).collect();
    state.nodes = vec![Node { offers: Size { nodes: 1, cpus: 4 }.into(), takes_jobs: true }; 2_004];
    let array = |id, tasks| PendingJob { tasks, ..job(id, 1, run_times(100, 100)) };
    state.pending = vec![array(1, 600), array(2, 600), array(3, 700), job(4, 2_004, run_times(100, 100))];
    let limit = Occupancy::of(&state, Assumption::Limit);
    let alone = alone_with_head(&limit, 0).unwrap();
    let kept: Vec<_> = alone.pending.iter().map(|job| (job.id.0, job.tasks)).collect();
    assert_eq!(kept, [(1, 600), (2, 400), (4, 1)]);
    let delays = |start| {
        let reservation = Reservation { start: after(start), end: after(start + 100), nodes: vec![0], keeps: None };
        Head::of(&alone).unwrap().is_delayed(&reservation)
    };
    assert_eq!([0, 100, 200].map(delays), [false, true, false]);
}

#[test]
fn each_task_of_an_array_is_delayed_and_the_array_counts_once() {
    let mut state = cluster();
    // Its tasks take all nodes from now, 100, 200 and 300 s on.
    state.pending = vec![PendingJob { tasks: 4, ..job(1, 4, run_times(100, 100)) }];
    let found = probed(&state, &NodesWanted { earliest_start: after(200), ..two_nodes(300) });
    assert_eq!(starts(&found), [200]);
    let harm = Harm { delayed_jobs: 1, total_delay: Seconds(200), most_delay: Seconds(100), idle_node_seconds: 0 };
    assert_eq!(found.slots[0].harm, Some(harm));
    // Plans ORG and JOB: ends at 100, 200, 300 and 400 s, together 1,000. Plan RSV: the last two at
    // 400 and 500 s, together 1,200.
    let expected = 0.5 * 400.0 / 500.0 + 0.5 * 1_000.0 / 1_200.0;
    assert!((found.slots[0].availability - expected).abs() < 1e-12, "{}", found.slots[0].availability);
    // The third task would have begun 50 s before a slot at 250 s.
    let wanted = NodesWanted { earliest_start: after(250), duration: Seconds(50), ..two_nodes(300) };
    assert_eq!(probed(&state, &wanted).slots[0].harm.unwrap().idle_node_seconds, 4 * 50);
}

#[test]
fn nodes_stand_idle_as_a_whole_where_jobs_get_whole_ones() {
    let mut state = cluster();
    state.running = vec![running(0..4, run_times(100, 100))];
    // As slurmctld tells of a job that waits for whole nodes: a CPU on each of three.
    let waiting = PendingJob { asks: Size { nodes: 3, cpus: 3 }.into(), ..job(2, 3, run_times(50, 300)) };
    state.pending = vec![job(1, 1, run_times(100, 100)), waiting];
    let found = probed(&state, &NodesWanted { earliest_start: after(200), ..two_nodes(300) });
    assert_eq!(found.slots[0].harm.unwrap().idle_node_seconds, 3 * 50);
}

#[test]
fn a_job_behind_the_head_is_delayed_by_its_time_limit_and_counted() {
    let mut state = cluster();
    state.running = vec![running(0..4, run_times(100, 100))];
    // The head takes a node from 100 s on, and the second the other three, by whose limit of 300 s
    // it can't start before a reservation of two of them at 200 s.
    state.pending = vec![job(1, 1, run_times(100, 100)), job(2, 3, run_times(50, 300))];
    let wanted = NodesWanted { earliest_start: after(200), ..two_nodes(300) };
    let found = probed(&state, &wanted);
    assert_eq!(starts(&found), [200]);
    // It would have used three nodes for 50 s.
    let harm = Harm { delayed_jobs: 1, total_delay: Seconds(200), most_delay: Seconds(200), idle_node_seconds: 150 };
    assert_eq!(found.slots[0].harm, Some(harm));
    // Plan ORG and JOB: ends at 100, 200 and 150 s, together 450, the last at 200. Plan RSV: 100,
    // 200 and 350, together 650, the last at 350.
    let expected = 0.5 * 200.0 / 350.0 + 0.5 * 450.0 / 650.0;
    assert!((found.slots[0].availability - expected).abs() < 1e-12, "{}", found.slots[0].availability);
}

#[test]
fn the_slot_is_taken_that_hurts_least_and_not_the_first() {
    let mut state = cluster();
    state.running = vec![running(0..4, run_times(100, 100))];
    state.pending = vec![job(1, 1, run_times(100, 100)), job(2, 3, run_times(50, 300))];
    let found = probed(&state, &NodesWanted { earliest_start: after(200), ..two_nodes(700) });
    assert_eq!(starts(&found), [200, 300, 400, 500, 600]);
    // From 400 s on it is beyond the second job's limit.
    assert_eq!(found.best, Some(2));
    assert_eq!(found.slots[2].harm, Some(Harm::default()));
}

#[test]
fn a_window_that_has_passed_has_no_slot() {
    let wanted = NodesWanted { earliest_start: after(-300), latest_end: after(-100), ..two_nodes(0) };
    let found = probed(&cluster(), &wanted);
    assert_eq!((found.slots.len(), found.best), (0, None));
    let unknown = probed(&cluster(), &NodesWanted { partition: 7, ..two_nodes(300) });
    assert!(unknown.slots.iter().all(|slot| slot.conflict == Some(SlotConflict::Nodes { free: 0 })));
}

/// What is found is that of the same plans made anew.
#[test]
fn each_slot_has_what_a_pass_of_the_changed_state_says() {
    let mut state = cluster();
    state.running = vec![running(0..2, run_times(30, 80))];
    state.pending = (1..9).map(|id| job(id, 1 + id % 3, run_times(20 + i64::from(id), 40 + 5 * i64::from(id)))).collect();
    let found = probed(&state, &two_nodes(900));
    let original = Pass::of_state(&state, Assumption::Expected);
    let mut looked_at = 0;
    for slot in found.slots.iter().filter(|slot| slot.conflict.is_none()) {
        let nodes = FreeNodes::of(&state, 0).during(slot.slot).into_iter().take(2).collect();
        let mut changed = state.clone();
        changed.reservations.push(Reservation { start: slot.slot.start, end: slot.slot.end, nodes, keeps: None });
        let with = Pass::of_state(&changed, Assumption::Expected);
        assert_eq!(slot.harm, Some(Harm::of(&state, 0, &original, &with, slot.slot.start)));
        looked_at += 1;
    }
    assert!(looked_at > 3);
}
