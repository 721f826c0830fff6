//! Molding by a plan of the queue.

#![allow(clippy::unwrap_used)]

use job_types::number::UserId;
use job_types::options::{Asked, MoldSizes};
use job_types::policy::{Policy, When};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decision::{Decision, NotDeferred, NotMolded, Situation, Submission, decide};
use predictor_core::forecast::{Claimed, Claims, FreePlan};

/// A partition of 64 nodes of 4 CPUs, of which so many CPUs are free for the next 10,000 seconds;
/// then all are. The user has run jobs of 500 seconds on 16 nodes.
fn planned(policy: Policy, free: u32, pending_jobs: u64) -> Cluster {
    let past = (0..200).map(|n| ended_job(UserId(USER), NOW - Seconds(900_000 - n * 600), 16, 3_600, 5_000, 500));
    let steps = vec![(NOW, free), (UnixTime(NOW.0 + 10_000), 256)];
    Cluster {
        plan: Some(FreePlan { steps: steps.into(), pending_jobs }),
        ..MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
    }
}

fn decided(cluster: &Cluster, asked: Asked, claimed: Claimed) -> Decision {
    let submission = Submission { tasks: Some(64), ..submission(16, asked) };
    decide(&Situation { claimed, ..cluster.situation(&submission) })
}

fn mold() -> Asked {
    Asked { auto_mold: true, ..Asked::default() }
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
    let named = Asked { mold_sizes: Some(MoldSizes::list([4, 12]).unwrap()), ..mold() };
    assert_eq!(decided(&planned(enforcing(), 40, 3), named, Claimed::default()).changes().size.unwrap().0.nodes, 4);
    let transparent = Policy { mold: When::Always, ..enforcing() };
    let unasked = decided(&planned(transparent, 40, 3), Asked::default(), Claimed::default());
    assert_eq!(unasked.molding, Some(Err(NotMolded::AlreadyBest)));
}

#[test]
fn what_was_molded_by_a_plan_is_not_deferred() {
    let both = Asked { auto_defer: true, ..mold() };
    let decision = decided(&planned(enforcing(), 40, 3), both, Claimed::default());
    assert_eq!(decision.molding, Some(Ok(())));
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::GainTooSmall { .. }))), "{:?}", decision.deferral);
}
