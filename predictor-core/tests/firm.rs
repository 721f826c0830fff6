//! Whatever a site writes into a `[[firm]]` table and a user asks for, the answer is one that
//! helps: the nearest window of a refused request is one in which it is not refused.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use jiff::tz::TimeZone;
use job_types::firm::{Applicant, FirmPolicy, first_that_holds};
use job_types::time::{Seconds, UnixTime};
use job_types::window::Window;
use predictor_core::decisions::firm::{FirmRefusal, FirmRequest, FirmStanding, RatedSlot, check_slot, firm_window};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use slurm_conf::Configuration;

/// The lines of a table: each key is there or not, with values inside of its range and outside.
fn table() -> impl Strategy<Value = String> {
    let seconds = || (0..40_000_000_i64).prop_map(|seconds| format!("\"{seconds}s\""));
    let hours = || (1..9_000_i64).prop_map(|hours| format!("\"{hours}h\""));
    let count = || (0..2_000_i64).prop_map(|count| count.to_string());
    let part = || (0..=1_010_i64).prop_map(|thousandths| format!("{}", thousandths as f64 / 1_000.0));
    let most_active =
        (0..4, 1..9, 1..90).prop_map(|(user, account, site)| format!("{{ user = {user}, account = {account}, site = {site} }}"));
    let key = |name: &'static str, value: BoxedStrategy<String>| {
        proptest::option::weighted(0.3, value).prop_map(move |value| value.map_or_else(String::new, |value| format!("{name} = {value}\n")))
    };
    let lines = [
        key("ahead", prop_oneof![seconds(), hours()].boxed()),
        key("longest", prop_oneof![seconds(), hours()].boxed()),
        key("most_nodes", count().boxed()),
        key("most_active", most_active.boxed()),
        key("share", part().boxed()),
        key("node_hours", prop_oneof![count(), Just("1000000000".to_owned())].boxed()),
        key("least_availability", part().boxed()),
        key("most_delayed_jobs", count().boxed()),
        key("most_delay", seconds().boxed()),
        key("notice", hours().boxed()),
        key("users", Just("[\"alice\"]".to_owned()).boxed()),
    ];
    lines.to_vec().prop_map(|lines| format!("[[firm]]\n{}", lines.concat()))
}

/// Small numbers, with any among them.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..50_u32, 1 => any::<u32>()]
}

/// Seconds as people give them, with any among them.
fn duration() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..500_000_i64, 1 => any::<i64>()]
}

fn standing() -> impl Strategy<Value = FirmStanding> {
    let longest = proptest::option::of(duration());
    ((0..4_u32, 0..9_u32, 0..90_u32), prop_oneof![4 => 0..3_600_000_u64, 1 => any::<u64>()], number(), longest).prop_map(
        |((of_user, of_account, of_site), charged_node_seconds, partition_nodes, longest)| FirmStanding {
            of_user,
            of_account,
            of_site,
            charged_node_seconds,
            partition_nodes,
            partition_longest: longest.map(Seconds),
        },
    )
}

/// A request whose window is given by seconds from now.
fn request(now: i64) -> impl Strategy<Value = FirmRequest> {
    (number(), duration(), (-200_000..2_000_000_i64, duration()), proptest::option::of(duration()), any::<(i64, i64)>(), 0..8).prop_map(
        move |(nodes, duration, (begins_in, length), notice, (earliest, latest), kind)| {
            let near = Window { earliest: UnixTime(now + begins_in), latest: UnixTime(now + begins_in) + Seconds(length) };
            let window = if kind == 0 { Window { earliest: UnixTime(earliest), latest: UnixTime(latest) } } else { near };
            FirmRequest { nodes, duration: Seconds(duration), window, notice: notice.map(Seconds) }
        },
    )
}

/// The policy of a file that is accepted.
fn accepted(text: &str) -> Option<FirmPolicy> {
    let policies = Configuration::parse(text, Path::new("queuecast.toml")).ok()?.firm;
    let alice = Applicant { partition: "batch", user: "alice", account: "physics", qos: "normal" };
    first_that_holds(&policies, &alice).cloned()
}

const NOW: i64 = 1_774_618_220;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_nearest_window_of_a_refused_request_is_one_in_which_it_is_not_refused(
        text in table(),
        standing in standing(),
        request in request(NOW),
    ) {
        let Some(policy) = accepted(&text) else { return Ok(()) };
        let now = UnixTime(NOW);
        match firm_window(Some(&policy), &request, &standing, now) {
            Ok(open) => {
                prop_assert!(open.earliest >= now.max(request.window.earliest) && open.latest <= request.window.latest);
                prop_assert!(open.length() >= request.duration && open.earliest <= now + policy.ahead);
            }
            Err(refusal) => {
                prop_assert!(refusal.to_string().len() < 400, "{}", refusal);
                if let Some(nearest) = refusal.nearest() {
                    let asked_again = FirmRequest { window: nearest.at(now), ..request };
                    prop_assert!(firm_window(Some(&policy), &asked_again, &standing, now).is_ok(), "{}", nearest);
                    let read = slurm_conf::window::parse(&nearest.to_string(), NOW, &TimeZone::UTC);
                    prop_assert_eq!(read, Ok(nearest.at(now)), "what a user copies is that window");
                } else if let FirmRefusal::Window(_) = refusal {
                    // No slot is as long as what has to be in the window.
                    prop_assert!(request.notice > Some(Seconds(366 * 86_400)));
                }
            }
        }
    }

    #[test]
    fn any_slot_is_allowed_or_refused_with_a_reason(
        text in table(),
        (start, most_delay) in (any::<i64>(), any::<i64>()),
        (nodes, reserved_nodes, delayed_jobs, partition_nodes) in (number(), number(), number(), number()),
        availability in prop_oneof![0.0..1.0_f64, any::<f64>()],
    ) {
        let Some(policy) = accepted(&text) else { return Ok(()) };
        let most_delay = Seconds(most_delay);
        let slot = RatedSlot { start: UnixTime(start), nodes, availability, delayed_jobs, most_delay, reserved_nodes };
        match check_slot(&policy, &slot, partition_nodes, UnixTime(NOW)) {
            Ok(()) => prop_assert!(nodes <= partition_nodes && availability > 0.0),
            Err(refusal) => prop_assert!(refusal.to_string().len() < 400, "{}", refusal),
        }
    }
}

#[test]
fn most_tables_of_the_properties_are_accepted() {
    let mut runner = TestRunner::deterministic();
    let tables = (0..200).map(|_| table().new_tree(&mut runner).unwrap().current());
    let accepted = tables.filter(|text| accepted(text).is_some()).count();
    assert!(accepted > 100, "{accepted}");
}
