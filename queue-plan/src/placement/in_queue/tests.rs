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
fn the_head_of_the_queue_is_not_delayed() {
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
