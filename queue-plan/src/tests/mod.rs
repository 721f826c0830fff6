mod prices;
mod questions;

use job_types::number::JobId;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use proptest::prelude::*;

use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle};

use super::*;

const NOW: UnixTime = UnixTime(1_000_000);

/// Returns the time so many seconds from now.
fn after(seconds: i64) -> UnixTime {
    NOW + Seconds(seconds)
}

/// Returns a cluster with one partition of `nodes` nodes with 4 CPUs.
fn cluster(nodes: u32) -> State {
    let partition = Partition { nodes: (0..nodes).collect(), is_up: true, longest_limit: Some(Seconds(100_000)), ..Partition::default() };
    State {
        now: NOW,
        nodes: vec![Node { offers: Size { nodes: 1, cpus: 4 }.into(), takes_jobs: true }; nodes as usize],
        partitions: vec![partition],
        ..State::default()
    }
}

fn run_times(optimistic: i64, expected: i64, limit: i64) -> RunTimes {
    RunTimes { optimistic: Seconds(optimistic), expected: Seconds(expected), limit: Seconds(limit) }
}

fn exactly(seconds: i64) -> RunTimes {
    run_times(seconds, seconds, seconds)
}

fn running(nodes: std::ops::Range<u32>, remaining: RunTimes) -> RunningJob {
    RunningJob { holds: Resources::of_cpus(4 * nodes.len() as i64), nodes: nodes.collect(), reservation: None, remaining }
}

fn pending(id: u32, nodes: u32, run_time: RunTimes) -> PendingJob {
    PendingJob {
        id: JobId(id),
        partitions: vec![0],
        asks: Size { nodes, cpus: 4 * nodes }.into(),
        tasks: 1,
        priority: 1_000 - id,
        eligible: after(-10),
        limit: Some(run_time.limit),
        run_time,
        ..PendingJob::default()
    }
}

/// The expected starts from now by job number, or the obstacles.
fn starts(state: &State) -> Vec<(u32, Result<i64, PlanObstacle>)> {
    plan(state).pending.iter().map(|job| (state.pending[job.index].id.0, job.start.map(|start| (start.expected - NOW).0))).collect()
}

#[test]
fn jobs_start_when_running_ones_are_expected_to_end_and_small_ones_fill_holes() {
    // 8 nodes; 6 are taken for 100 s (by limit for 1,000 s).
    let mut state = cluster(8);
    state.running = vec![running(0..6, run_times(50, 100, 1_000))];
    state.pending = vec![
        pending(1, 8, run_times(10, 200, 600)),
        pending(2, 2, run_times(50, 100, 100)),
        pending(3, 2, exactly(101)),
        pending(4, 8, exactly(10)),
    ];
    let plan = plan(&state);
    let of = |job: usize| plan.pending[job].start.unwrap();
    assert_eq!(of(0), ExpectedStart { lower: after(50), expected: after(100), upper: after(1_000) });
    // Fits into the hole before the first one; by limits and by optimistic run times as well.
    assert_eq!(of(1), ExpectedStart { lower: NOW, expected: NOW, upper: NOW });
    // One second too long for the hole; the optimistic plan has the first one end at 60 and this
    // one behind it. By limits the hole is longer, and the start sooner than expected.
    assert_eq!(of(2), ExpectedStart { lower: after(60), expected: after(300), upper: after(300) });
    assert_eq!(of(3).expected, after(401));
    assert!(plan.is_complete);
    assert_eq!(
        plan.partitions[0].free,
        [(NOW, 0), (after(300), 24), (after(401), 0), (after(411), 32)].map(|(at, cpus)| (at, Resources::of_cpus(cpus)))
    );
}

#[test]
fn the_order_is_reservation_then_tier_then_priority_then_number() {
    let mut state = cluster(2);
    let high = Partition { tier: 2, ..state.partitions[0].clone() };
    state.partitions.push(high);
    state.reservations = vec![Reservation { start: NOW, end: after(10_000), nodes: vec![1], keeps: None }];
    state.pending = vec![pending(4, 1, exactly(10)), pending(3, 1, exactly(10)), pending(2, 1, exactly(10)), pending(1, 1, exactly(10))];
    state.pending[0].priority = 5;
    state.pending[1].priority = 5;
    state.pending[2].partitions = vec![1];
    state.pending[2].priority = 1;
    state.pending[3].reservation = Some(0);
    state.pending[3].priority = 0;
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(0)), (3, Ok(10)), (4, Ok(20))]);
}

#[test]
fn no_job_runs_into_a_reservation_that_is_not_its_own_even_at_its_limit() {
    let mut state = cluster(4);
    state.reservations = vec![Reservation { start: after(1_000), end: after(2_000), nodes: vec![0, 1, 2, 3], keeps: None }];
    // The first is expected to be done before, but its limit reaches into the reservation.
    state.pending = vec![pending(1, 4, run_times(50, 100, 1_001)), pending(2, 4, run_times(50, 100, 1_000)), pending(3, 2, exactly(300))];
    state.pending[2].reservation = Some(0);
    assert_eq!(starts(&state), [(3, Ok(1_000)), (1, Ok(2_000)), (2, Ok(0))]);
    // Jobs that run in it take nothing beyond it.
    state.running = vec![RunningJob { reservation: Some(0), ..running(0..2, exactly(1_500)) }];
    assert_eq!(starts(&state)[1..], [(1, Ok(2_000)), (2, Ok(2_100))]);
}

#[test]
fn nodes_that_take_no_jobs_count_for_nothing() {
    let mut state = cluster(4);
    state.nodes[3].takes_jobs = false;
    // One that runs on a draining node leaves nothing behind.
    state.running = vec![running(2..4, exactly(50))];
    state.pending = vec![pending(1, 3, exactly(10)), pending(2, 4, exactly(10)), pending(3, 1, exactly(10))];
    assert_eq!(starts(&state), [(1, Ok(50)), (2, Err(PlanObstacle::TooLarge)), (3, Ok(0))]);
}

#[test]
fn partitions_share_the_nodes_that_they_have_in_common() {
    // The second partition has nodes 0 and 1 of four.
    let mut state = cluster(4);
    state.partitions.push(Partition { nodes: vec![0, 1], ..state.partitions[0].clone() });
    state.running = vec![running(0..1, exactly(100))];
    state.pending = vec![pending(1, 1, exactly(1_000)), pending(2, 2, exactly(10)), pending(3, 2, exactly(10)), pending(4, 3, exactly(10))];
    state.pending[0].partitions = vec![1];
    state.pending[1].partitions = vec![1];
    // 1 has node 1; 2 wants both, and waits for it; 3 finds nodes 2 and 3; 4 waits for the running
    // one.
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(1_000)), (3, Ok(0)), (4, Ok(100))]);
    // Where it may choose, a job starts where it can first.
    state.pending[1].partitions = vec![1, 0];
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(0)), (3, Ok(10)), (4, Ok(100))]);
}

#[test]
fn whole_nodes_are_taken_where_they_are_asked_for_or_the_partition_gives_them() {
    let mut state = cluster(2);
    let small = |id| PendingJob { asks: Size { nodes: 1, cpus: 1 }.into(), ..pending(id, 1, exactly(100)) };
    state.pending =
        vec![PendingJob { whole_nodes: true, ..small(1) }, small(2), PendingJob { asks: Size { nodes: 1, cpus: 4 }.into(), ..small(3) }];
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(0)), (3, Ok(100))]);
    state.partitions[0].whole_nodes = true;
    state.pending[0].whole_nodes = false;
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(0)), (3, Ok(100))]);
    assert_eq!(plan(&state).partitions[0].grid.cpus, [4, 8]);
}

#[test]
fn jobs_that_cannot_be_foreseen_take_no_room_and_say_why() {
    let mut state = cluster(2);
    state.partitions[0].most_nodes = Some(1);
    state.partitions.push(Partition { is_up: false, ..state.partitions[0].clone() });
    state.pending = (1..=6).map(|id| pending(id, 1, exactly(100))).collect();
    state.pending[0].obstacle = Some(PlanObstacle::Held);
    state.pending[1].partitions = vec![1];
    state.pending[2].asks.nodes = 2;
    state.pending[3].limit = Some(Seconds(100_001));
    state.pending[4].reservation = Some(7);
    assert_eq!(
        starts(&state),
        [
            (5, Err(PlanObstacle::Reservation)),
            (1, Err(PlanObstacle::Held)),
            (2, Err(PlanObstacle::PartitionDown)),
            (3, Err(PlanObstacle::PartitionLimit)),
            (4, Err(PlanObstacle::PartitionLimit)),
            (6, Ok(0)),
        ]
    );
}

#[test]
fn the_tasks_of_an_array_are_placed_one_by_one() {
    let mut state = cluster(2);
    state.pending = vec![PendingJob { tasks: 5, ..pending(1, 1, exactly(100)) }, pending(2, 1, exactly(10))];
    // Two, two, and one beside which the other job fits.
    assert_eq!(starts(&state), [(1, Ok(0)), (2, Ok(200))]);
}

#[test]
fn a_grid_tells_when_a_job_submitted_now_would_start() {
    let mut state = cluster(4);
    state.running = vec![running(0..3, run_times(100, 1_000, 5_000))];
    state.pending = vec![pending(1, 4, exactly(4_000))];
    let grid = plan(&state).partitions[0].grid.clone();
    assert_eq!(
        (grid.cpus.as_slice(), grid.limits.as_slice()),
        (&[1, 2, 4, 8, 16][..], &[600, 3_600, 14_400, 43_200, 86_400, 100_000].map(Seconds)[..])
    );
    let start = |size: usize, limit: usize| grid.starts[size * grid.limits.len() + limit].map(|start| (start.expected - NOW).0);
    // One node is free for 1,000 s; everything else comes behind the waiting job.
    assert_eq!((start(2, 0), start(2, 1), start(3, 0), start(4, 5)), (Some(0), Some(5_000), Some(5_000), Some(5_000)));
    assert_eq!(grid.starts[0].unwrap().upper, NOW);
}

#[test]
fn more_jobs_than_are_planned_are_told_so() {
    let mut state = cluster(2);
    state.pending = (0..21).map(|id| PendingJob { tasks: 1_500, ..pending(id, 1, exactly(60)) }).collect();
    let plan = plan(&state);
    assert!(!plan.is_complete);
    assert_eq!(plan.pending[19].start.unwrap().expected, after(19 * 1_000 / 2 * 60));
    assert_eq!(plan.pending[20].start, Err(PlanObstacle::TooFarBehind));
    assert!(plan.partitions[0].free.len() <= MOST_STEPS);
}

fn any_state() -> impl Strategy<Value = State> {
    let run = (1..400_i64, 0..400_i64, 0..400_i64).prop_map(|(least, more, most)| run_times(least, least + more, least + more + most));
    let running = prop::collection::vec((0..8_u32, 1..=4_u32, run.clone()), 0..3);
    let job = (1..=8_u32, 0..=1_u16, 0..3_u32, 0..500_i64, run, 1..3_u32);
    let jobs = prop::collection::vec(job, 0..25);
    let reservation = prop::option::of((0..600_i64, 1..500_i64, 0..6_u32));
    (running, jobs, reservation, 0..9_usize).prop_map(|(running, jobs, reservation, down)| {
        let mut state = cluster(8);
        state.partitions.push(Partition { nodes: (0..4).collect(), ..state.partitions[0].clone() });
        if let Some(node) = state.nodes.get_mut(down) {
            node.takes_jobs = false;
        }
        let mut is_taken = [false; 8];
        for (first, count, remaining) in running {
            let nodes: Vec<u32> = (first..(first + count).min(8)).filter(|node| !is_taken[*node as usize]).collect();
            nodes.iter().for_each(|node| is_taken[*node as usize] = true);
            state.running.push(RunningJob { holds: Resources::of_cpus(4 * nodes.len() as i64), nodes, reservation: None, remaining });
        }
        if let Some((start, length, first)) = reservation {
            let (start, end) = (after(start), after(start + length));
            state.reservations.push(Reservation { start, end, nodes: (first..first + 2).collect(), keeps: None });
        }
        for (id, (nodes, partition, priority, eligible, run_time, tasks)) in (1..).zip(jobs) {
            let (partitions, eligible) = (vec![partition], after(eligible - 100));
            state.pending.push(PendingJob { partitions, priority, eligible, tasks, ..pending(id, nodes, run_time) });
        }
        state
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn never_more_is_taken_than_there_is_and_nothing_starts_before_it_may(state in any_state()) {
        let plan = plan(&state);
        for job in &plan.pending {
            if let Ok(start) = job.start {
                let job = &state.pending[job.index];
                prop_assert!(start.expected >= state.now && start.expected >= job.eligible);
                prop_assert!(start.lower <= start.expected && start.expected <= start.upper);
                // A reservation of all of its room keeps it out.
                if job.tasks == 1 && job.partitions == [0] {
                    for reservation in &state.reservations {
                        let left = state.nodes.iter().filter(|node| node.takes_jobs).count() - 2;
                        let meets = start.expected < reservation.end && start.expected + job.run_time.limit > reservation.start;
                        prop_assert!(!meets || job.asks.nodes as usize <= left + 1);
                    }
                }
            }
        }
        // Counted anew, second by second where anything changes: the tasks of arrays are left out,
        // so that this is a lower bound of what is taken.
        let up: i64 = state.nodes.iter().filter(|node| node.takes_jobs).map(|node| node.offers.cpus).sum();
        let taken = |at: UnixTime, partition: Option<u16>| {
            let waiting = plan.pending.iter().filter_map(|planned| {
                let job = &state.pending[planned.index];
                let start = planned.start.ok()?.expected;
                let is_there = partition.is_none_or(|partition| job.partitions == [partition]);
                (is_there && start <= at && at < start + job.run_time.expected).then_some(job.asks.cpus)
            });
            let holds = |node: &&u32| state.nodes[**node as usize].takes_jobs && partition.is_none_or(|partition| partition == 0 || **node < 4);
            let running = state.running.iter().filter(|job| at < state.now + job.remaining.expected);
            waiting.sum::<i64>() + running.map(|job| 4 * job.nodes.iter().filter(holds).count() as i64).sum::<i64>()
        };
        for start in plan.pending.iter().filter_map(|job| job.start.ok()) {
            prop_assert!(taken(start.expected, None) <= up);
            let up_there: i64 = state.nodes.iter().take(4).filter(|node| node.takes_jobs).map(|node| node.offers.cpus).sum();
            prop_assert!(taken(start.expected, Some(1)) <= up_there);
        }
    }

    #[test]
    fn one_pass_says_what_the_plan_says_under_its_assumption(state in any_state()) {
        let whole = plan(&state);
        let [optimistic, expected, limit] =
            [Assumption::Optimistic, Assumption::Expected, Assumption::Limit].map(|assumption| Pass::of_state(&state, assumption));
        for (place, planned) in whole.pending.iter().enumerate() {
            let starts = [&optimistic, &expected, &limit].map(|pass| pass.starts[place]);
            prop_assert!(starts.iter().all(|(index, _)| *index == planned.index));
            let [optimistic, expected, limit] = starts.map(|(_, start)| start);
            match planned.start {
                Ok(start) => {
                    prop_assert_eq!(Ok(start.expected), expected);
                    prop_assert_eq!((start.lower, start.upper), (start.expected.min(optimistic.unwrap()), start.expected.max(limit.unwrap())));
                }
                Err(_) => prop_assert!(optimistic.is_err() || expected.is_err() || limit.is_err()),
            }
        }
        for (partition, planned) in whole.partitions.iter().enumerate() {
            // There are fewer points than the plan has room for.
            prop_assert_eq!(&expected.free(partition), &planned.free);
        }
    }

    #[test]
    fn a_job_is_never_later_for_those_behind_it(state in any_state(), kept in 0..25_usize) {
        let whole = plan(&state);
        let mut shorter = state.clone();
        let first: Vec<usize> = whole.pending.iter().take(kept).map(|job| job.index).collect();
        shorter.pending = first.iter().map(|index| state.pending[*index].clone()).collect();
        let starts: Vec<_> = plan(&shorter).pending.iter().map(|job| job.start).collect();
        prop_assert_eq!(starts, whole.pending.iter().take(kept).map(|job| job.start).collect::<Vec<_>>());
    }

    #[test]
    fn in_a_grid_neither_larger_nor_longer_jobs_start_earlier(state in any_state()) {
        for partition in plan(&state).partitions {
            let grid = partition.grid;
            let start = |size: usize, limit: usize| grid.starts[size * grid.limits.len() + limit].map_or(UnixTime(i64::MAX), |start| start.expected);
            for size in 1..grid.cpus.len() {
                for limit in 1..grid.limits.len() {
                    prop_assert!(start(size, limit) >= start(size - 1, limit).max(start(size, limit - 1)));
                }
            }
        }
    }
}
