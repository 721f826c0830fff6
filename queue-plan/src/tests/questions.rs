//! Questions about one state have the answers that a plan of the changed state gives.

use super::*;

type Start = Result<UnixTime, PlanObstacle>;

fn pass(state: &State) -> Pass<'_> {
    Pass::of_state(state, Assumption::Expected)
}

/// The starts by the place of each job in the state.
fn by_place(pass: &Pass<'_>) -> Vec<Start> {
    let mut starts = pass.starts.clone();
    starts.sort_unstable_by_key(|(index, _)| *index);
    starts.into_iter().map(|(_, start)| start).collect()
}

/// The starts before a change with those of the moved jobs in their places.
fn with_moved(before: &[Start], moved: &[Moved]) -> Vec<Start> {
    let mut starts = before.to_vec();
    for moved in moved {
        assert_eq!((starts[moved.index], moved.before == moved.after), (moved.before, false));
        starts[moved.index] = moved.after;
    }
    starts
}

fn placeholder(start: i64, end: i64, cpus: i64, location: Location) -> Placeholder {
    Placeholder { start: after(start), end: after(end), takes: Resources::of_cpus(cpus), location }
}

/// Four nodes of which three are taken for 100 s; a job of all nodes waits for them, and a small
/// one behind it is done by then.
fn busy() -> State {
    let mut state = cluster(4);
    state.running = vec![running(0..3, exactly(100))];
    state.pending = vec![pending(1, 4, exactly(200)), pending(2, 1, exactly(80))];
    state
}

#[test]
fn a_job_is_told_when_it_would_start_behind_all_that_wait() {
    let state = busy();
    let mut pass = pass(&state);
    assert_eq!(by_place(&pass), [Ok(after(100)), Ok(NOW)]);
    // The hole beside the small job is too short for it; a question takes no room.
    for _ in 0..2 {
        assert_eq!(pass.start_behind_all(&pending(3, 1, exactly(100))), Ok(after(300)));
        assert_eq!(pass.start_behind_all(&pending(3, 1, exactly(20))), Ok(after(80)));
    }
    assert_eq!(pass.start_behind_all(&pending(3, 5, exactly(20))), Err(PlanObstacle::TooLarge));
}

#[test]
fn a_placeholder_moves_those_whose_room_it_takes_and_nobody_else() {
    let state = busy();
    let pass = pass(&state);
    let beside = placeholder(300, 400, 16, Location::Partition(0));
    assert!(pass.has_room_for(&beside));
    assert_eq!(pass.effect(Change::Placed(&beside)), Effect { start: None, moved: Vec::new() });
    let within = placeholder(250, 400, 4, Location::Nodes(vec![1]));
    assert!(!pass.has_room_for(&within) && pass.occupancy().has_room_for(&within));
    let moved = Moved { index: 0, before: Ok(after(100)), after: Ok(after(400)) };
    assert_eq!(pass.effect(Change::Placed(&within)).moved, [moved]);
    let with = Pass::from(&pass.occupancy().with(within));
    assert_eq!(by_place(&with), [Ok(after(400)), Ok(NOW)]);
    let steps = [(NOW, 0), (after(80), 4), (after(100), 16), (after(250), 12), (after(400), 0), (after(600), 16)];
    assert_eq!(with.free(0), steps.map(|(at, cpus)| (at, Resources::of_cpus(cpus))));
}

#[test]
fn a_placeholder_without_a_location_lies_in_a_pool_that_has_room() {
    // Two partitions of two nodes each; the first is taken for 100 s.
    let mut state = cluster(4);
    state.partitions = [0..2, 2..4].map(|nodes| Partition { nodes: nodes.collect(), ..state.partitions[0].clone() }).to_vec();
    state.running = vec![running(0..2, exactly(100))];
    state.pending = vec![PendingJob { partitions: vec![0], ..pending(1, 2, exactly(50)) }];
    state.pending.push(PendingJob { partitions: vec![1], ..pending(2, 2, exactly(50)) });
    let pass = pass(&state);
    let starts_with = |start, end| {
        let anywhere = placeholder(start, end, 8, Location::Anywhere);
        with_moved(&by_place(&pass), &pass.effect(Change::Placed(&anywhere)).moved)
    };
    assert_eq!(starts_with(0, 90), [Ok(after(100)), Ok(after(90))], "only the second has room at once");
    assert_eq!(starts_with(120, 130), [Ok(after(130)), Ok(NOW)], "both have room then");
    let too_large = placeholder(0, 10, 9, Location::Anywhere);
    assert!(!pass.occupancy().has_room_for(&too_large));
    assert_eq!(pass.effect(Change::Placed(&too_large)).moved, [], "it lies in the first, which is taken for longer");
}

#[test]
fn a_change_of_one_job_says_what_it_does_to_it_and_to_all_others() {
    let state = busy();
    let pass = pass(&state);
    let moved = |index, before, then| Moved { index, before: Ok(after(before)), after: Ok(after(then)) };
    // Without the large job the small one starts as before; without the small one nobody moves.
    assert_eq!(pass.effect(Change::Removed(0)), Effect { start: None, moved: Vec::new() });
    assert_eq!(pass.effect(Change::Removed(1)), Effect { start: None, moved: Vec::new() });
    // One more that comes before both, and one that comes behind.
    let first = PendingJob { priority: 2_000, ..pending(3, 4, exactly(30)) };
    assert_eq!(pass.effect(Change::Submitted(&first)), Effect { start: Some(Ok(after(100))), moved: vec![moved(0, 100, 130)] });
    let last = pending(3, 1, exactly(30));
    assert_eq!(pass.effect(Change::Submitted(&last)), Effect { start: Some(Ok(after(300))), moved: Vec::new() });
    // The large job wants less, begins later, or the small one runs longer.
    let smaller = pending(1, 1, exactly(200));
    assert_eq!(pass.effect(Change::Replaced(0, &smaller)), Effect { start: Some(Ok(NOW)), moved: vec![moved(1, 0, 100)] });
    let later = PendingJob { eligible: after(500), ..pending(1, 4, exactly(200)) };
    assert_eq!(pass.effect(Change::Replaced(0, &later)), Effect { start: Some(Ok(after(500))), moved: Vec::new() });
    let longer = pending(2, 1, exactly(101));
    assert_eq!(pass.effect(Change::Replaced(1, &longer)), Effect { start: Some(Ok(after(300))), moved: Vec::new() });
    // With another place in the order it is the other that waits for it.
    let first = PendingJob { priority: 2_000, ..longer };
    assert_eq!(pass.effect(Change::Replaced(1, &first)), Effect { start: Some(Ok(NOW)), moved: vec![moved(0, 100, 101)] });
    // No such job, no effect.
    assert_eq!(pass.effect(Change::Removed(2)), Effect { start: None, moved: Vec::new() });
}

#[test]
fn reservations_come_and_go_between_questions() {
    let state = busy();
    let stands = Occupancy::of(&state, Assumption::Expected).with(placeholder(300, 310, 1, Location::Anywhere));
    assert_eq!(by_place(&Pass::from(&stands)), [Ok(after(100)), Ok(NOW)]);
    let maintenance = Reservation { start: after(250), end: after(290), nodes: vec![0], keeps: None };
    let reserved = stands.with_reservations(vec![maintenance]);
    assert_eq!(by_place(&Pass::from(&reserved)), [Ok(after(310)), Ok(NOW)], "the placeholder is still there");
    assert_eq!(by_place(&Pass::from(&reserved.with_reservations(vec![Reservation::default()]))), [Ok(after(100)), Ok(NOW)]);
}

#[test]
fn one_job_more_can_put_those_at_the_end_too_far_behind() {
    let mut state = cluster(2);
    state.pending = (0..20).map(|id| PendingJob { tasks: 1_000, ..pending(id, 1, exactly(60)) }).collect();
    let mut pass = pass(&state);
    assert!(pass.is_complete());
    let last = PendingJob { tasks: 1, ..pending(20, 1, exactly(60)) };
    assert_eq!(pass.start_behind_all(&last), Err(PlanObstacle::TooFarBehind));
    let first = PendingJob { tasks: 1_000, eligible: after(10_000_000), priority: 2_000, ..pending(20, 1, exactly(60)) };
    let moved = pass.effect(Change::Submitted(&first)).moved;
    let [moved] = moved[..] else { panic!("{moved:?}") };
    assert_eq!((moved.index, moved.after), (19, Err(PlanObstacle::TooFarBehind)));
}

/// A state of [`any_state`] with more kinds of jobs in it: in several partitions or a reservation,
/// with nodes of their own, and some that never start.
fn varied_state() -> impl Strategy<Value = State> {
    let kinds = prop::collection::vec(0..12_u32, 25);
    (any_state(), kinds, 0..3_u32, prop::option::of(1..9_i64), 0..400_i64).prop_map(|(mut state, kinds, tier, kept, remaining)| {
        state.partitions[1].tier = tier;
        for reservation in &mut state.reservations {
            reservation.keeps = kept.map(Resources::of_cpus);
        }
        if !state.reservations.is_empty() && remaining > 200 {
            let nodes = state.reservations[0].nodes.clone();
            state.running.push(RunningJob { nodes, holds: Resources::of_cpus(3), reservation: Some(0), remaining: exactly(remaining) });
        }
        state.pending.iter_mut().zip(kinds).for_each(|(job, kind)| vary(job, kind));
        state
    })
}

fn vary(job: &mut PendingJob, kind: u32) {
    match kind {
        0 => job.partitions = vec![0, 1],
        1 => job.partitions = vec![1, 0],
        2 => job.reservation = Some(0),
        3 => (job.whole_nodes, job.asks.cpus) = (true, 1),
        4 => job.asks.cpus = 1,
        5 => job.obstacle = Some(PlanObstacle::Held),
        6 => job.tasks = 7,
        _ => {}
    }
}

/// A job of [`varied_state`], or like one.
fn any_job() -> impl Strategy<Value = PendingJob> {
    (1..30_u32, 1..=9_u32, 0..=1_u16, 0..4_u32, 0..500_i64, (1..400_i64, 0..400_i64), 0..12_u32).prop_map(
        |(id, nodes, partition, priority, eligible, (run_time, left), kind)| {
            let (partitions, eligible) = (vec![partition], after(eligible - 100));
            let run_time = run_times(run_time, run_time, run_time + left);
            let mut job = PendingJob { partitions, priority, eligible, ..pending(id, nodes, run_time) };
            vary(&mut job, kind);
            job
        },
    )
}

fn any_assumption() -> impl Strategy<Value = Assumption> {
    prop_oneof![Just(Assumption::Optimistic), Just(Assumption::Expected), Just(Assumption::Limit)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_queue_is_the_queue_of_the_changed_state(
        state in varied_state(), job in any_job(), index in 0..26_usize, assumption in any_assumption(),
    ) {
        let pass = Pass::of_state(&state, assumption);
        let before = by_place(&pass);
        let mut more = state.clone();
        more.pending.push(job.clone());
        let mut expected = by_place(&Pass::of_state(&more, assumption));
        let effect = pass.effect(Change::Submitted(&job));
        prop_assert_eq!(effect.start, expected.pop());
        prop_assert_eq!(with_moved(&before, &effect.moved), expected);

        // The same job as the last of all in the order, where tiers are alike.
        let mut even = state.clone();
        even.partitions.iter_mut().for_each(|partition| partition.tier = 0);
        let behind_all = Pass::of_state(&even, assumption).start_behind_all(&job);
        even.pending.push(PendingJob { id: JobId(u32::MAX), priority: 0, ..job.clone() });
        prop_assert_eq!(Some(behind_all), by_place(&Pass::of_state(&even, assumption)).pop());

        let mut fewer = state.clone();
        let is_there = index < state.pending.len();
        let effect = pass.effect(Change::Removed(index));
        let mut then = with_moved(&before, &effect.moved);
        if is_there {
            fewer.pending.remove(index);
            then.drain(index..=index);
        }
        prop_assert_eq!(effect.start, None);
        prop_assert_eq!(then, by_place(&Pass::of_state(&fewer, assumption)));

        if is_there {
            let mut other = state.clone();
            other.pending[index] = job.clone();
            let expected = by_place(&Pass::of_state(&other, assumption));
            let effect = pass.effect(Change::Replaced(index, &job));
            let mut then = with_moved(&before, &effect.moved);
            then[index] = effect.start.unwrap();
            prop_assert_eq!(then, expected);
        }
        prop_assert_eq!(by_place(&pass), before);
    }

    #[test]
    fn a_placeholder_is_a_job_that_runs_or_comes_first(
        state in varied_state(), assumption in any_assumption(), (first, count) in (0..8_u32, 1..4_u32), cpus in 1..=4_i64,
        (start, length) in (0..800_i64, 1..500_i64), partition in 0..=1_u16,
    ) {
        let pass = Pass::of_state(&state, assumption);
        let before = by_place(&pass);
        // From now on on some nodes: a running job.
        let nodes: Vec<u32> = (first..(first + count).min(8)).collect();
        let holds = Resources::of_cpus(cpus * nodes.len() as i64);
        let now = Placeholder { start: NOW, end: after(length), takes: holds, location: Location::Nodes(nodes.clone()) };
        let mut running = state.clone();
        running.running.push(RunningJob { nodes, holds, reservation: None, remaining: exactly(length) });
        let expected = Pass::of_state(&running, assumption);
        prop_assert_eq!(with_moved(&before, &pass.effect(Change::Placed(&now)).moved), by_place(&expected));
        let with = Pass::from(&pass.occupancy().with(now));
        prop_assert_eq!((by_place(&with), with.free(0), with.free(1)), (by_place(&expected), expected.free(0), expected.free(1)));
        // Later in a partition: the job of the highest priority, if it has room there.
        let location = Location::Partition(partition);
        let later = placeholder(start, start + length, 4 * i64::from(count), location);
        let mut more = state.clone();
        let whole = PendingJob { priority: u32::MAX, eligible: after(start), partitions: vec![partition], ..pending(99, count, exactly(length)) };
        more.pending.push(whole);
        let whole = Pass::of_state(&more, assumption);
        let mut expected = by_place(&whole);
        if expected.pop() == Some(Ok(after(start))) {
            prop_assert!(pass.occupancy().has_room_for(&later));
            let effect = pass.effect(Change::Placed(&later));
            prop_assert_eq!(with_moved(&before, &effect.moved), expected);
            prop_assert!(effect.moved.is_empty() || !pass.has_room_for(&later));
            let with = Pass::from(&pass.occupancy().with(later));
            prop_assert_eq!((with.free(0), with.free(1)), (whole.free(0), whole.free(1)));
        }
    }

    #[test]
    fn other_reservations_are_those_of_another_state(state in varied_state(), other in varied_state(), assumption in any_assumption()) {
        let mut changed = state.clone();
        changed.reservations = other.reservations.clone();
        let asked = Occupancy::of(&state, Assumption::Limit).with_reservations(other.reservations).under(assumption);
        let (asked, expected) = (Pass::from(&asked), Pass::of_state(&changed, assumption));
        prop_assert_eq!((&asked.starts, asked.free(0), asked.free(1)), (&expected.starts, expected.free(0), expected.free(1)));
    }
}
