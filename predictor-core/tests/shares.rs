//! Admission by shares of nodes that jobs have in common, as decisions make it.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::options::{Mode, UserOptions};
use job_types::policy::{Admission, Policy};
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, NOW, batch, enforcing, situation, submission};
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::decisions::shared_nodes::SharingJob;
use predictor_core::decisions::{Decision, FixedSizeReason, LeftToSlurm, NodeRange, NotAdmitted, Placement, Submission, TimeLimit, decide};
use predictor_core::snapshot::Snapshot;
use snapshot_writer::{PartitionState, SharedNodeState};

const HOUR: i64 = 3_600;

/// A job with that share of one CPU until four hours from now.
fn has(share: f64) -> SharingJob {
    SharingJob { cpus: 1, admitted: Some((NeededShare::sure(share), NOW + Seconds(4 * HOUR))) }
}

/// Nodes of so many CPUs, each of which three jobs may share, with these jobs.
fn site(rule: Admission, cpus: u32, jobs: &[&[SharingJob]]) -> Snapshot<Vec<u8>> {
    let nodes = (1..).zip(jobs).map(|(n, jobs)| SharedNodeState { name: format!("n{n}"), cpus, jobs_to_a_cpu: 3, jobs: jobs.to_vec() });
    let policy = Policy { admission: rule, ..enforcing() };
    let shared_nodes: Vec<_> = nodes.collect();
    let count = shared_nodes.len() as u32;
    let partition = PartitionState { whole_nodes: false, nodes: count, cpus: count * cpus, shared_nodes, ..batch(policy) };
    MadeUpSite::new(NOW).partition(partition).snapshot()
}

/// A job of an hour on so many nodes of one CPU, with a deadline in so many seconds.
fn due_in(nodes: u32, seconds: i64) -> Submission<'static> {
    Submission { deadline: Some(NOW + Seconds(seconds)), ..submission(nodes, UserOptions::default()) }
}

fn decided(site: &Snapshot<Vec<u8>>, job: &Submission<'_>) -> Decision {
    decide(&situation(site, job))
}

fn nodes(decision: &Decision) -> Option<Vec<u32>> {
    decision.given_share.as_ref().map(|given| given.nodes.clone())
}

#[test]
fn libra_fills_the_fullest_node_that_has_the_share() {
    let site = site(Admission::Libra, 1, &[&[has(0.2)], &[has(0.5)], &[has(0.8)], &[]]);
    // An hour in two hours needs half of a CPU.
    let decision = decided(&site, &due_in(1, 2 * HOUR));
    assert_eq!(nodes(&decision), Some(vec![1]));
    let given = decision.given_share.as_ref().unwrap();
    assert_eq!(given.job, SharingJob { cpus: 1, admitted: Some((NeededShare::sure(0.5), NOW + Seconds(2 * HOUR))) });
    assert_eq!(nodes(&decided(&site, &due_in(3, 2 * HOUR))), Some(vec![0, 1, 3]));
}

#[test]
fn libra_risk_takes_the_first_nodes_without_risk() {
    let site = site(Admission::LibraRisk, 1, &[&[has(0.2)], &[has(0.5)], &[has(0.8)], &[]]);
    assert_eq!(nodes(&decided(&site, &due_in(1, 2 * HOUR))), Some(vec![0]));
    // Late by its estimate: alone on an idle node it disturbs nobody.
    assert_eq!(nodes(&decided(&site, &due_in(1, HOUR / 2))), Some(vec![3]));
    assert!(decided(&site, &due_in(2, HOUR / 2)).refusal().is_some());
}

#[test]
fn the_limit_leaves_an_admitted_job_until_its_deadline_and_the_record_keeps_its_own() {
    let site = site(Admission::Libra, 1, &[&[]]);
    let job = Submission { shortest_limit: Some(Seconds(600)), ..due_in(1, 2 * HOUR + 30) };
    let decision = decided(&site, &job);
    let changes = decision.changes();
    assert_eq!((changes.limit, changes.shortest_limit), (Some(Seconds(2 * HOUR)), Some(Seconds(2 * HOUR))));
    assert!(changes.clears_deadline);
    let written = decision.record(&situation(&site, &job), 1).written.unwrap();
    assert_eq!((written.own_limit_s, written.limit_s, written.admitted_by), (Some(HOUR), Some(2 * HOUR), Some(Admission::Libra)));
    // The partition lets no job run for longer than two days.
    let far = decided(&site, &due_in(1, 100 * HOUR));
    assert_eq!(far.changes().limit, Some(Seconds(48 * HOUR)));
    // Where the estimate is longer than the deadline leaves, the limit is the user's own.
    let late = self::site(Admission::LibraRisk, 1, &[&[]]);
    assert_eq!(decided(&late, &due_in(1, HOUR / 2)).changes().limit, None);
}

#[test]
fn what_is_proposed_to_a_refused_job_is_admitted_and_a_minute_less_is_not() {
    for rule in [Admission::Libra, Admission::LibraRisk] {
        let site = site(rule, 1, &[&[has(0.75)], &[has(0.5)], &[has(0.9)]]);
        let job = due_in(2, 2 * HOUR);
        let decision = decided(&site, &job);
        let Some(Err(NotAdmitted::NoShare { nodes: 2, suitable: 1, alternatives })) = decision.admission else {
            panic!("{:?}", decision.admission)
        };
        let line = decision.line(&job, &enforcing(), NOW).unwrap();
        assert!(line.contains("of the nodes that it needs, 2, only 1 have the share"), "{line}");
        // The second of the nodes by what is left has a quarter: an hour takes four.
        let deadline = alternatives.deadline.unwrap();
        assert_eq!(deadline, NOW + Seconds(4 * HOUR + 120));
        let with = |deadline: UnixTime, limit: Seconds| {
            let job = Submission { deadline: Some(deadline), limit: TimeLimit::Limited(limit), ..job.clone() };
            matches!(decided(&site, &job).admission, Some(Ok(_)))
        };
        assert!(with(deadline, Seconds(HOUR)) && !with(deadline - Seconds(180), Seconds(HOUR)));
        let limit = alternatives.limit.unwrap();
        assert_eq!(limit, Seconds(29 * 60), "a quarter of 118 minutes");
        assert!(with(NOW + Seconds(2 * HOUR), limit) && !with(NOW + Seconds(2 * HOUR), limit + Seconds(120)));
    }
}

#[test]
fn a_job_takes_its_share_of_each_of_its_cpus_where_slurm_has_room() {
    let two = SharingJob { cpus: 2, ..has(0.75) };
    let site = site(Admission::Libra, 4, &[&[two, two], &[SharingJob { cpus: 4, ..has(0.01) }; 3]]);
    // Three of four CPUs are needed on the first node, and the second has three jobs on each CPU.
    let job = |cpus: u32, seconds: i64| Submission { tasks: Some(cpus), ..due_in(1, seconds) };
    assert_eq!(nodes(&decided(&site, &job(2, 2 * HOUR))), Some(vec![0]));
    assert_eq!(nodes(&decided(&site, &job(3, 2 * HOUR))), None);
    assert_eq!(nodes(&decided(&site, &job(3, 3 * HOUR))), Some(vec![0]));
}

#[test]
fn a_job_whose_nodes_are_chosen_by_something_else_is_left_to_slurm() {
    let site = site(Admission::Libra, 1, &[&[]]);
    let left = |job: Submission<'_>| {
        let decision = decided(&site, &job);
        assert_eq!((decision.admission, decision.given_share.clone()), (None, None));
        assert!(!decision.changes().clears_deadline);
        decision.left_to_slurm.unwrap()
    };
    let job = due_in(1, 2 * HOUR);
    assert_eq!(left(Submission { tie: Some(FixedSizeReason::NodeList), ..job.clone() }), LeftToSlurm::Tied(FixedSizeReason::NodeList));
    assert_eq!(left(Submission { placement: Some(Placement::Memory), ..job.clone() }), LeftToSlurm::Placed(Placement::Memory));
    assert_eq!(left(Submission { whole_nodes: true, ..job.clone() }), LeftToSlurm::WholeNodes);
    let unshared = self::site(Admission::Libra, 1, &[]);
    assert_eq!(decided(&unshared, &job).left_to_slurm, Some(LeftToSlurm::NotShared));
}

#[test]
fn only_enforcing_changes_and_an_unlimited_job_is_refused() {
    let site = site(Admission::Libra, 1, &[&[]]);
    let asked = UserOptions { mode: Some(Mode::Advise), ..UserOptions::default() };
    let advised = decided(&site, &Submission { asked, ..due_in(1, 2 * HOUR) });
    assert!(advised.changes().is_empty() && advised.given_share.is_some());
    let unlimited = Submission { limit: TimeLimit::Unlimited, nodes: Some(NodeRange { least: 1, most: 1 }), ..due_in(1, 2 * HOUR) };
    assert!(matches!(decided(&site, &unlimited).admission, Some(Err(NotAdmitted::BeyondLimit { .. }))));
}
