//! Admission by forecast run times to nodes that jobs share in time, as decisions make it.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::options::UserOptions;
use job_types::policy::{Admission, Policy};
use job_types::promise::Promise;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, NOW, USER, batch, ended_job, enforcing, situation, submission};
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::decisions::shared_nodes::SharingJob;
use predictor_core::decisions::{
    Alternatives, Decision, DecisionInputs, FixedSizeReason, LeftToSlurm, NodeRange, NotAdmitted, NotDeferred, Submission, TimeLimit,
    decide,
};
use predictor_core::forecasts::forecast::{Claimed, Claims};
use predictor_core::snapshot::Snapshot;
use proptest::prelude::*;
use snapshot_writer::{PartitionState, SharedNodeState};

const HOUR: i64 = 3_600;

/// A job with that share of one CPU until ten hours from now.
fn has(mean: f64, variance: f64) -> SharingJob {
    SharingJob { cpus: 1, admitted: Some((NeededShare { mean, variance }, NOW + Seconds(10 * HOUR))) }
}

/// Nodes of one CPU, which forty jobs may share, with these jobs. The user's jobs on one node have
/// run for 1,000 s, and those on two for 500.
fn site(jobs: &[&[SharingJob]]) -> Snapshot<Vec<u8>> {
    let nodes = (1..).zip(jobs).map(|(n, jobs)| SharedNodeState { name: format!("n{n}"), cpus: 1, jobs_to_a_cpu: 40, jobs: jobs.to_vec() });
    let policy = Policy { admission: Admission::Probability, ..enforcing() };
    let shared_nodes: Vec<_> = nodes.collect();
    let count = shared_nodes.len() as u32;
    let partition = PartitionState { whole_nodes: false, nodes: count, cpus: count, shared_nodes, ..batch(policy) };
    let past = (0..100).flat_map(|n| {
        let at = NOW - Seconds(900_000 - n * 3_000);
        [(1, 1_000), (2, 500)].map(|(nodes, run_time)| ended_job(UserId(USER), at, nodes, 4 * HOUR, 10, run_time + n % 9))
    });
    MadeUpSite::new(NOW).partition(partition).ended_jobs(past).snapshot()
}

/// A job of four hours at the most on so many nodes of one CPU, with a deadline in so many seconds.
fn due_in(nodes: u32, seconds: i64) -> Submission<'static> {
    let limit = TimeLimit::Limited(Seconds(4 * HOUR));
    Submission { deadline: Some(NOW + Seconds(seconds)), limit, ..submission(nodes, UserOptions::default()) }
}

fn decided(site: &Snapshot<Vec<u8>>, job: &Submission<'_>) -> Decision {
    decide(&situation(site, job))
}

fn nodes(decision: &Decision) -> Vec<u32> {
    decision.given_share.as_ref().map(|given| given.nodes.clone()).unwrap_or_default()
}

#[test]
fn the_nodes_that_need_least_are_given_and_the_job_adds_what_its_run_time_is_forecast_to_need() {
    let site = site(&[&[has(0.4, 0.0)], &[has(0.1, 0.2)], &[has(0.2, 0.0)]]);
    // 1,000 s in three hours, where its limit would need more than all.
    let job = due_in(1, 3 * HOUR);
    let decision = decided(&site, &job);
    assert_eq!(nodes(&decision), [2]);
    let given = decision.given_share.as_ref().unwrap();
    let (share, deadline) = given.job.admitted.unwrap();
    assert_eq!((given.job.cpus, deadline), (1, NOW + Seconds(3 * HOUR)));
    assert!((0.08..0.2).contains(&share.mean) && share.variance > 0.0, "{share:?}");
    assert_eq!(nodes(&decided(&site, &due_in(2, 3 * HOUR))), [0, 2]);
    let admitted = decision.admission.unwrap().unwrap();
    assert!(admitted.probability.unwrap() >= 0.9 && admitted.wanted == Some(0.9) && admitted.begin.is_none(), "{admitted:?}");
    let line = decision.line(&job, &enforcing(), NOW).unwrap();
    assert!(line.starts_with("admitted: done by the deadline in 3 h with probability 1.00"), "{line}");
}

#[test]
fn the_record_has_rule_probability_and_estimate_and_the_limit_reaches_to_the_deadline() {
    let site = site(&[&[]]);
    let job = due_in(1, 9 * HOUR + 30);
    let decision = decided(&site, &job);
    assert_eq!((decision.changes().limit, decision.changes().clears_deadline), (Some(Seconds(9 * HOUR)), true));
    let record = decision.record(&situation(&site, &job), 1);
    let promise = Promise::standing(&record).and_then(Promise::deadline).unwrap();
    assert_eq!((promise.by, promise.wanted), (Admission::Probability, Some(0.9)));
    assert_eq!((promise.deadline, promise.shared_estimate), (NOW + Seconds(9 * HOUR + 30), Some(Seconds(4 * HOUR))));
    assert!(record.forecast.unwrap().deadline_probability.unwrap() >= 0.9);
    // The job's time limit is beyond its deadline, and is left as it is.
    assert_eq!(decided(&site, &due_in(1, 3 * HOUR)).changes().limit, None);
    // Without a time limit the job may run until its deadline.
    let unlimited = Submission { limit: TimeLimit::Unlimited, ..due_in(1, 3 * HOUR) };
    assert_eq!(decided(&site, &unlimited).given_share.unwrap().estimate, Seconds(3 * HOUR));
}

#[test]
fn a_job_is_refused_for_its_own_run_time_or_for_what_others_need() {
    let full = site(&[&[has(0.5, 0.16)], &[has(1.0, 0.0)]]);
    let Some(Err(NotAdmitted::NoShare { nodes: 1, suitable: 0, alternatives })) = decided(&full, &due_in(1, 3 * HOUR)).admission else {
        panic!()
    };
    assert!(alternatives.deadline.is_none(), "on neither node is there room with 0.9 for anything");
    let idle = site(&[&[], &[]]);
    let job = due_in(1, 900);
    let decision = decided(&idle, &job);
    let Some(Err(NotAdmitted::Unlikely { probability, wanted, alternatives })) = decision.admission else { panic!() };
    assert!(probability < 0.5 && wanted == 0.9, "{probability}");
    let size = alternatives.size.unwrap();
    assert_eq!(size.count, 2, "its user's jobs on two nodes run for 500 s");
    let line = decision.line(&job, &enforcing(), NOW).unwrap();
    assert!(line.contains("; the earliest deadline that can be kept is in ") && line.contains("; or --nodes=2"), "{line}");
}

#[test]
fn what_was_admitted_since_counts_on_its_nodes_and_not_as_work_of_the_whole_partition() {
    let site = site(&[&[], &[]]);
    let admitted = Claims { expected_work: 2 * 3 * HOUR as u64, ..Claims::default() };
    let job = due_in(1, 3 * HOUR);
    let claimed = Claimed { admitted, ..Claimed::default() };
    let decision = decide(&DecisionInputs { claimed, ..situation(&site, &job) });
    assert!(matches!(decision.admission, Some(Ok(_))), "{:?}", decision.admission);
}

#[test]
fn a_job_that_gets_a_share_of_nodes_begins_at_once() {
    let asked = UserOptions { auto_defer: true, ..UserOptions::default() };
    let decision = decided(&site(&[&[]]), &Submission { asked, ..due_in(1, 3 * HOUR) });
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::Immediate))), "{:?}", decision.deferral);
    assert_eq!((decision.changes().begin, nodes(&decision)), (None, vec![0]));
}

#[test]
fn a_job_whose_nodes_are_chosen_by_something_else_is_left_to_slurm_where_nodes_are_shared() {
    let left = |site: &Snapshot<Vec<u8>>, job: &Submission<'_>| decided(site, job).left_to_slurm;
    let listed = Submission { tie: Some(FixedSizeReason::NodeList), ..due_in(1, 3 * HOUR) };
    assert_eq!(left(&site(&[&[]]), &listed), Some(LeftToSlurm::Tied(FixedSizeReason::NodeList)));
    let whole = Submission { whole_nodes: true, ..due_in(1, 3 * HOUR) };
    assert_eq!(left(&site(&[&[]]), &whole), Some(LeftToSlurm::WholeNodes));
    // Where jobs have their CPUs to themselves no nodes are chosen.
    assert_eq!((left(&site(&[]), &listed), left(&site(&[]), &whole)), (None, None));
}

/// The submission with each of the alternatives taken, at a moment so many seconds from [`NOW`].
fn taken<'a>(asked: &Submission<'a>, alternatives: &Alternatives, later: i64) -> Vec<Submission<'a>> {
    let deadline = alternatives.deadline.map(|deadline| Submission { deadline: Some(deadline + Seconds(later)), ..asked.clone() });
    let size = alternatives.size.map(|size| {
        let nodes = Some(NodeRange { least: size.count, most: size.count });
        Submission { nodes, tasks: size.tasks, limit: size.limit.map_or(asked.limit, TimeLimit::Limited), ..asked.clone() }
    });
    let limit = alternatives.limit.map(|limit| Submission { limit: TimeLimit::Limited(limit), ..asked.clone() });
    [deadline, size, limit].into_iter().flatten().collect()
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_admitted_when_it_is_taken_within_two_minutes(
        loads in prop::collection::vec((0.0..1.1_f64, 0.0..0.1_f64), 1..6), nodes in 1u32..4, ahead in 1i64..40_000,
        minutes in 1i64..600, later in 0i64..=119, begin in prop::option::of(0i64..10_000),
    ) {
        let jobs: Vec<[SharingJob; 1]> = loads.iter().map(|(mean, variance)| [has(*mean, *variance)]).collect();
        let site = site(&jobs.iter().map(|jobs| &jobs[..]).collect::<Vec<_>>());
        let limit = TimeLimit::Limited(Seconds(minutes * 60));
        let asked = Submission { limit, begin: begin.map(|begin| NOW + Seconds(begin)), ..due_in(nodes, ahead) };
        match decided(&site, &asked).admission {
            Some(Err(why)) => {
                for taken in taken(&asked, &why.alternatives(), later) {
                    let now: UnixTime = NOW + Seconds(later);
                    let then = decide(&DecisionInputs { now, ..situation(&site, &taken) });
                    prop_assert!(matches!(then.admission, Some(Ok(_))), "{why:?}\n{taken:?}\n{:?}", then.admission);
                }
            }
            admission => prop_assert!(matches!(admission, Some(Ok(_)))),
        }
    }
}
