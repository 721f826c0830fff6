//! What a CPU costs those who wait and those who come.

use super::*;

fn waited(state: &State) -> Vec<f32> {
    let prices = Pass::of_state(state, Assumption::Expected).prices(0);
    assert_eq!(prices.iter().map(|step| step.until).collect::<Vec<_>>(), WINDOW_ENDS);
    prices.into_iter().map(|step| step.waited).collect()
}

/// A job of all four nodes that came so many seconds ago and runs for an hour.
fn came(seconds_ago: i64) -> PendingJob {
    PendingJob { eligible: after(-seconds_ago), ..pending(1, 4, exactly(3_600)) }
}

#[test]
fn the_time_of_an_idle_machine_costs_nothing() {
    assert_eq!(waited(&cluster(4)), [0.0; WINDOW_ENDS.len()]);
    // Nobody gives way to a job behind all that wait.
    let mut state = cluster(4);
    let lowest = PendingJob { priority: 1, ..pending(2, 4, exactly(600)) };
    state.pending = vec![pending(1, 4, exactly(600)), lowest];
    assert_eq!(waited(&state), [0.0; WINDOW_ENDS.len()]);
}

#[test]
fn a_cpu_costs_what_those_who_come_wait_longer_for_it() {
    // Tomorrow's first job comes in 300 s: a CPU that is taken for the first 900 s makes it wait
    // for 600 of them, and one that is taken from then on finds its hole behind that job.
    let state = cluster(4).with_coming([came(86_100)]);
    let prices = waited(&state);
    assert!((prices[0] - 600.0 / 900.0).abs() < 1e-6, "{prices:?}");
    assert_eq!(prices[4], 0.0, "from the second hour on nobody comes");
    // Two of them wait both.
    let both = waited(&cluster(4).with_coming([came(86_100), came(86_000)]));
    assert!((both[0] - 1_200.0 / 900.0).abs() < 1e-6, "{both:?}");
}

#[test]
fn jobs_of_the_last_day_come_again_behind_all_that_wait() {
    let past = [came(0), came(86_399), came(86_400), came(-1), PendingJob { priority: 500, ..came(3_600) }];
    let mut state = cluster(4);
    state.pending = vec![pending(7, 1, exactly(10))];
    let state = state.with_coming(past);
    let coming: Vec<(i64, u32)> = state.pending[1..].iter().map(|job| ((job.eligible - NOW).0, job.priority)).collect();
    assert_eq!(coming, [(1, 0), (82_800, 0), (86_400, 0)], "in the order in which they come");
    let all = cluster(4).with_coming((0..2_000).map(came));
    assert_eq!((all.pending.len(), all.pending[0].eligible), (MOST_COMING as usize, after(86_400 - 1_999)));
    let array = |seconds_ago| PendingJob { tasks: 700, ..came(seconds_ago) };
    let tasks: Vec<u32> = cluster(4).with_coming([array(3), array(2), array(1)]).pending.iter().map(|job| job.tasks).collect();
    assert_eq!(tasks, [700, 300], "no more tasks than jobs");
}

#[test]
fn a_partition_without_nodes_has_no_prices() {
    let mut state = cluster(4);
    state.partitions.push(Partition { nodes: Vec::new(), ..state.partitions[0].clone() });
    let pass = Pass::of_state(&state, Assumption::Expected);
    assert_eq!((pass.prices(1), pass.prices(9)), (Vec::new(), Vec::new()));
}

#[test]
fn a_partition_that_allows_few_nodes_and_short_jobs_has_prices_as_well() {
    // In 300 s a job comes for each of the 64 nodes, and runs for 450 s. A small job has two nodes,
    // where one is allowed that one, and runs no longer than allowed.
    let prices = |most_nodes, longest_limit| {
        let mut state = cluster(64);
        (state.partitions[0].most_nodes, state.partitions[0].longest_limit) = (most_nodes, longest_limit);
        waited(&state.with_coming((1..=64).map(|id| PendingJob { eligible: after(-86_100), ..pending(id, 1, exactly(450)) })))
    };
    let [free, narrow, short] = [prices(None, None), prices(Some(1), None), prices(None, Some(Seconds(450)))];
    // Who finds no node waits until the first of the others have ended, or until the small job has.
    assert!((free[0] - 2.0 * 450.0 / (900.0 * 8.0)).abs() < 1e-6, "{free:?}");
    assert!((narrow[0] - 450.0 / (900.0 * 4.0)).abs() < 1e-6, "{narrow:?}");
    assert!((short[0] - 2.0 * 150.0 / (450.0 * 8.0)).abs() < 1e-6, "{short:?}");
}

#[test]
fn where_jobs_get_whole_nodes_a_cpu_costs_by_what_the_small_job_takes() {
    let prices = |whole_nodes| {
        let mut state = cluster(4);
        state.nodes.iter_mut().for_each(|node| node.offers.cpus = 16);
        state.partitions[0].whole_nodes = whole_nodes;
        let all = Resources { nodes: 4, cpus: 64 };
        waited(&state.with_coming([PendingJob { asks: all, eligible: after(-86_100), ..pending(1, 4, exactly(3_600)) }]))
    };
    // A 32nd of the CPUs is two, and takes all sixteen of its node.
    assert!((prices(false)[0] - 600.0 / (900.0 * 2.0)).abs() < 1e-6);
    assert!((prices(true)[0] - 600.0 / (900.0 * 16.0)).abs() < 1e-6);
}

#[test]
fn what_waits_longer_for_a_change_is_the_sum_over_all_others() {
    let mut state = cluster(4);
    state.pending = vec![pending(2, 4, exactly(200)), pending(3, 4, exactly(50))];
    let first = PendingJob { priority: 2_000, ..pending(9, 1, exactly(30)) };
    assert_eq!(Pass::of_state(&state, Assumption::Expected).effect(Change::Submitted(&first)).waited(), 60);
}
