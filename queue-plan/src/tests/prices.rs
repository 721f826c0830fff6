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
fn what_waits_longer_for_a_change_is_the_sum_over_all_others() {
    let mut state = cluster(4);
    state.pending = vec![pending(2, 4, exactly(200)), pending(3, 4, exactly(50))];
    let first = PendingJob { priority: 2_000, ..pending(9, 1, exactly(30)) };
    assert_eq!(Pass::of_state(&state, Assumption::Expected).effect(Change::Submitted(&first)).waited(), 60);
}
