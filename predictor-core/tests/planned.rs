//! Molding by a plan of the queue.

#![allow(clippy::unwrap_used)]

use job_types::number::UserId;
use job_types::options::{MoldSizes, UserOptions};
use job_types::policy::{Others, Policy, When};
use job_types::size::Size;
use job_types::time::Seconds;
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decisions::{Decision, DecisionInputs, NotDeferred, NotMolded, Submission, decide};
use predictor_core::forecasts::forecast::{Claimed, Claims, FreePlan};
use predictor_core::forecasts::price::PriceStep;

/// A partition of 64 nodes of 4 CPUs, of which so many CPUs are free for the next 10,000 seconds;
/// then all are. The user has run jobs of 500 seconds on 16 nodes.
fn planned(policy: Policy, free: u32, pending_jobs: u64) -> Cluster {
    planned_until(policy, free, pending_jobs, 10_000, 500)
}

/// The same, where all CPUs are free in so many seconds, and the user's jobs ran for so long.
fn planned_until(policy: Policy, free: u32, pending_jobs: u64, all_free_in: i64, run: i64) -> Cluster {
    let past = (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, run));
    let steps = vec![(NOW, free), (NOW + Seconds(all_free_in), 256)];
    Cluster {
        plan: Some(FreePlan { steps: steps.into(), pending_jobs }),
        ..MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
    }
}

fn decided(cluster: &Cluster, asked: UserOptions, claimed: Claimed) -> Decision {
    let submission = Submission { tasks: Some(64), ..submission(16, asked) };
    decide(&DecisionInputs { claimed, ..cluster.situation(&submission) })
}

fn mold() -> UserOptions {
    UserOptions { auto_mold: true, ..UserOptions::default() }
}

#[test]
fn a_job_is_made_as_small_as_it_needs_to_be_to_start_now() {
    let decision = decided(&planned(enforcing(), 40, 3), mold(), Claimed::default());
    assert_eq!(decision.molding, Some(Ok(())));
    let changes = decision.changes();
    // 40 CPUs are 10 of the 16 nodes; limit and run time are taken to grow by 16/10.
    assert_eq!(changes.size, Some((Size { nodes: 10, cpus: 40 }, Some(40))));
    assert_eq!(changes.limit, Some(Seconds(5_760)));
    let (written, decided) = (decision.as_written.unwrap(), decision.decided.unwrap());
    assert_eq!((written.wait.unwrap().0, decided.wait.unwrap().0), (Seconds(10_000), Seconds::ZERO));
    assert!((decided.run_time.0 - 800).abs() <= 2, "{}", decided.run_time);
}

#[test]
fn a_size_is_held_against_others_by_what_the_users_jobs_run_there_whatever_their_limit() {
    // Half of the user's jobs have a limit of an hour and run for 500 s, as this one's limit has
    // it; the others have two hours and run for 3,000 s. What another size is stretched from is the
    // run time of both, and so is what it is held against.
    let past = (0..400).map(|n| {
        let (limit, run) = if n % 2 == 0 { (3_600, 500) } else { (7_200, 3_000) };
        ended_job(UserId(USER), NOW - Seconds(900_000 - n * 300), 16, limit, 5_000, run)
    });
    let state = MadeUpSite::new(NOW).partition(batch(enforcing())).ended_jobs(past).state();
    let cluster = Cluster { plan: planned(enforcing(), 40, 3).plan, ..state };
    let Decision { molding, as_written, decided, .. } = decided(&cluster, mold(), Claimed::default());
    let (written, other) = (as_written.unwrap().run_time, decided.unwrap().run_time);
    assert!(molding == Some(Ok(())) && (1_650..1_850).contains(&written.0), "{written}");
    assert!((other.0 - written.0 * 16 / 10).abs() <= 5, "{written} on 16 nodes, {other} on 10");
}

#[test]
fn a_size_that_gains_less_than_a_person_would_want_is_passed_over_and_told() {
    // On 16 nodes the job waits until all CPUs are free; on ten it runs at once, and 16/10 as long.
    let molding = |policy, all_free_in, run| {
        let decision = decided(&planned_until(policy, 40, 3, all_free_in, run), mold(), Claimed::default());
        let changed = decision.changes().size.map(|(size, _)| size.nodes);
        (changed, decision.molding.unwrap().err().map(|why| why.to_string()))
    };
    let told = |text: &str| (None, Some(text.to_owned()));
    let wanted = "and 5 % and 1 min are wanted here";
    // 850 s as written and 800 s on ten nodes are 5.9 %, and not a minute.
    assert_eq!(
        molding(enforcing(), 350, 500),
        told(&format!("10 nodes would gain too little: done about 50 s sooner than in 14 min, {wanted}"))
    );
    // 3,100 s and 2,880 s are minutes, and 7 %; 2,980 s and 2,880 s are 3.4 %.
    assert_eq!(molding(enforcing(), 1_300, 1_800), (Some(10), None));
    assert_eq!(
        molding(enforcing(), 1_180, 1_800),
        told(&format!("10 nodes would gain too little: done about 1 min sooner than in 49 min, {wanted}"))
    );
    assert_eq!(molding(enforcing(), 360, 500), (Some(10), None));
    // 12 s and 11.2 s.
    assert_eq!(molding(enforcing(), 5, 7), told("its size is the one forecast to finish first"));
    assert_eq!(molding(enforcing(), 6, 7), told(&format!("10 nodes would gain too little: done about 1 s sooner than in 13 s, {wanted}")));
    // A site may want less, or more.
    let wanting = |min_gain, seconds| Policy { min_gain, min_gain_time: Seconds(seconds), ..enforcing() };
    assert_eq!(molding(wanting(0.0, 0), 6, 7), (Some(10), None));
    assert_eq!(molding(wanting(0.0, 0), 350, 500), (Some(10), None));
    assert_eq!(molding(wanting(0.2, 0), 400, 500).0, None);
    assert_eq!(molding(wanting(0.1, 0), 400, 500).0, Some(10));
    assert_eq!(molding(wanting(0.0, 3_600), 4_399, 500).0, Some(10));
    assert_eq!(molding(wanting(0.0, 3_600), 3_899, 500).0, None);
}

#[test]
fn a_size_for_which_others_would_wait_longer_than_the_site_allows_is_passed_over_and_told() {
    // The job gains 9,700 s on ten nodes: it runs for 800 s on 40 CPUs at once, in the place of 500
    // s on 64 CPUs in 10,000 s. What it takes then costs nothing.
    let molding = |others, price_s: f32| {
        let prices = [(5_000, price_s), (20_000, 0.0)].map(|(until, waited)| PriceStep { until: Seconds(until), waited });
        let policy = Policy { others, ..enforcing() };
        let cluster = Cluster { prices: Some(prices.to_vec()), ..planned(policy, 40, 3) };
        let decision = decided(&cluster, mold(), Claimed::default());
        let changed = decision.changes().size.map(|(size, _)| size.nodes);
        (changed, decision.molding.unwrap().err().map(|why| why.to_string()))
    };
    let nodes = |others, price_s| molding(others, price_s).0;
    // All sizes take 32,000 CPU seconds now: the price of one is what the others wait for each.
    assert_eq!([0.0, 0.01, 0.02, 0.25, 0.4].map(|price| nodes(Others::NotWorse, price)), [Some(10), Some(10), None, None, None]);
    assert_eq!([0.0, 0.02, 0.25, 0.4].map(|price| nodes(Others::Sum, price)), [Some(10), Some(10), Some(10), None]);
    assert_eq!(nodes(Others::Ignore, 100.0), Some(10));
    let told = "10 nodes would have it done about 2 h 41 min sooner, and others together wait about 3 h 33 min longer, which is not \
                wanted here";
    assert_eq!(molding(Others::Sum, 0.4), (None, Some(told.to_owned())));
    // Where nobody has worked that out, nothing is forbidden by it.
    let unknown = planned(Policy { others: Others::NotWorse, ..enforcing() }, 40, 3);
    assert_eq!(decided(&unknown, mold(), Claimed::default()).changes().size.map(|(size, _)| size.nodes), Some(10));
}

#[test]
fn what_others_have_claimed_is_not_free() {
    let claims = Claims::of(24, Some(Seconds(3_600)), Seconds(500));
    let claimed = Claimed { partition: claims, cluster: claims, ..Claimed::default() };
    let decision = decided(&planned(enforcing(), 40, 3), mold(), claimed);
    // 16 CPUs are left: 4 nodes, and four times the run time.
    assert_eq!(decision.changes().size, Some((Size { nodes: 4, cpus: 16 }, Some(16))));
    let all = Claims::of(40, Some(Seconds(3_600)), Seconds(500));
    let decision = decided(&planned(enforcing(), 40, 3), mold(), Claimed { partition: all, cluster: all, ..Claimed::default() });
    assert_eq!(decision.molding, Some(Err(NotMolded::AlreadyBest)));
}

#[test]
fn a_job_is_doubled_where_half_the_machine_stays_free_and_nobody_waits() {
    let grown = decided(&planned(enforcing(), 256, 0), mold(), Claimed::default()).changes();
    assert_eq!((grown.size, grown.limit), (Some((Size { nodes: 32, cpus: 128 }, Some(128))), None));
    for busier in [planned(enforcing(), 255, 0), planned(enforcing(), 256, 1)] {
        assert_eq!(decided(&busier, mold(), Claimed::default()).molding, Some(Err(NotMolded::AlreadyBest)));
    }
}

#[test]
fn only_named_sizes_are_tried_where_some_are_named_and_only_past_ones_where_nobody_asked() {
    let named = UserOptions { mold_sizes: Some(MoldSizes::list([4, 12]).unwrap()), ..mold() };
    assert_eq!(decided(&planned(enforcing(), 40, 3), named, Claimed::default()).changes().size.unwrap().0.nodes, 4);
    let transparent = Policy { mold: When::Always, ..enforcing() };
    let unasked = decided(&planned(transparent, 40, 3), UserOptions::default(), Claimed::default());
    assert_eq!(unasked.molding, Some(Err(NotMolded::AlreadyBest)));
}

#[test]
fn who_asks_is_molded_to_sizes_never_run_and_who_does_not_to_any_that_was() {
    // Sixteen nodes were run often, twelve and six once each. Ten would start at once, and so would
    // eight and six.
    let jobs = [12, 6].map(|nodes| ended_job(UserId(USER), NOW - Seconds(900_000 - 100_000), nodes, 3_600, 5_000, 500));
    let with_few = |policy| {
        let past = (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500));
        let state = MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past.chain(jobs)).state();
        Cluster { plan: planned(policy, 40, 3).plan, ..state }
    };
    let nodes = |cluster: &Cluster, asked| decided(cluster, asked, Claimed::default()).changes().size.map(|(size, _)| size.nodes);
    assert_eq!(nodes(&with_few(enforcing()), mold()), Some(10), "never run, and larger than six");
    let transparent = Policy { mold: When::Always, ..enforcing() };
    assert_eq!(nodes(&with_few(transparent), UserOptions::default()), Some(6), "run once");
}

#[test]
fn what_was_molded_by_a_plan_is_not_deferred() {
    let both = UserOptions { auto_defer: true, ..mold() };
    let decision = decided(&planned(enforcing(), 40, 3), both, Claimed::default());
    assert_eq!(decision.molding, Some(Ok(())));
    let why = decision.deferral.unwrap().unwrap_err();
    assert!(matches!(why, NotDeferred::GainTooSmall { .. }), "{why:?}");
    assert_eq!(why.to_string(), "waiting gains nothing");
}
