//! Figures by hand: two jobs with shares of 0.5 and 0.25 of one node.

use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::deadline_methods::{NodeLoad, SparePower};

use super::node::Node;
use super::{Answer, DeadlineJob, Fate, Late, Policy, Sharing, simulate};

fn job(submit: i64, run_time: i64, estimate: i64, deadline: i64) -> DeadlineJob {
    DeadlineJob {
        submit: UnixTime(submit),
        run_time: Seconds(run_time),
        estimate: Seconds(estimate),
        nodes: 1,
        deadline: UnixTime(deadline),
    }
}

/// Starts each job at once, on the nodes from the first on.
#[derive(Default)]
struct AtOnce(Vec<(u32, u32)>);

impl Policy for AtOnce {
    fn submit(&mut self, index: u32, job: &DeadlineJob) {
        self.0.push((index, job.nodes));
    }

    fn decide(&mut self, _now_s: f64, _nodes: &[NodeLoad], chosen: &mut Vec<u32>) -> Option<Answer> {
        let (index, nodes) = self.0.pop()?;
        chosen.clear();
        chosen.extend(0..nodes);
        Some(Answer::Starts(index))
    }

    fn has_jobs(&self) -> bool {
        !self.0.is_empty()
    }
}

const GIVEN: Sharing = Sharing { spare: SparePower::Given, late: Late::Claims, is_capped: false };
const KEPT: Sharing = Sharing { spare: SparePower::Kept, late: Late::Claims, is_capped: false };

fn ends(jobs: &[DeadlineJob], sharing: Sharing) -> Vec<f64> {
    let fates = simulate(jobs, 4, sharing, &mut AtOnce::default());
    fates
        .iter()
        .map(|fate| match fate {
            Fate::Done { end_s, .. } => (end_s * 1e6).round() / 1e6,
            _ => f64::NAN,
        })
        .collect()
}

#[test]
fn each_job_is_done_at_its_deadline_where_spare_power_is_kept() {
    assert_eq!(ends(&[job(0, 50, 50, 100), job(0, 50, 50, 200)], KEPT), [100.0, 200.0]);
    assert_eq!(ends(&[job(0, 50, 50, 100)], KEPT), [100.0]);
}

/// Shares of 0.5 and 0.25 get two and one third of the node: the first is done at 75, when the
/// second has done 25 and gets the whole node for the other 25.
#[test]
fn spare_power_is_given_in_proportion_to_the_shares() {
    assert_eq!(ends(&[job(0, 50, 50, 100), job(0, 50, 50, 200)], GIVEN), [75.0, 100.0]);
}

/// Shares of 0.8 and 0.6, as for the projection.
#[test]
fn shares_beyond_the_node_stretch_all_and_are_dealt_anew_when_a_job_ends() {
    let jobs = [job(0, 80, 80, 100), job(0, 120, 120, 200)];
    assert_eq!(ends(&jobs, KEPT), [140.0, 200.0]);
    assert_eq!(ends(&jobs, GIVEN), [140.0, 200.0]);
}

/// The estimate is twice the run time, and so is the share that follows from it.
#[test]
fn a_job_whose_estimate_is_too_long_is_done_before_its_deadline() {
    assert_eq!(ends(&[job(0, 50, 100, 200)], KEPT), [100.0]);
}

/// A share of 0.25 for 200 s does the estimated 50 of the 80 s. Nothing starts or ends on the node
/// then, so that it goes on with its share although it is late.
#[test]
fn a_job_that_outlives_its_estimate_keeps_its_share_until_the_next_deal() {
    let jobs = [job(0, 80, 50, 200), job(100, 100, 100, 400)];
    let ended = ends(&jobs, KEPT);
    // The second has a third of the node, and is done in time.
    assert_eq!(ended, [320.0, 400.0]);
    // With spare power it has outlived its estimate when the second comes at 60, and keeps 0.25.
    let node = |now: f64| {
        let mut node = Node::default();
        node.start(0, &jobs[0], 0.0, GIVEN);
        node.start(1, &job(60, 70, 70, 200), now, GIVEN);
        node.powers()
    };
    assert_eq!(node(60.0), [(0, 0.25 / 0.75), (1, 0.5 / 0.75)]);
}

/// At 100 the first has done 50 of its 100 s. It asks for the whole node from the next deal on, or
/// yields at once.
#[test]
fn a_late_job_claims_the_node_or_yields_to_those_in_time() {
    let mut node = Node::default();
    node.start(0, &job(0, 100, 50, 100), 0.0, KEPT);
    node.start(1, &job(100, 50, 50, 300), 100.0, KEPT);
    assert_eq!(node.powers(), [(0, 0.8), (1, 0.2)]);
    let yields = Sharing { late: Late::Yields, ..KEPT };
    let mut node = Node::default();
    node.start(0, &job(0, 100, 50, 100), 0.0, yields);
    node.start(1, &job(0, 50, 50, 200), 0.0, yields);
    assert_eq!(node.powers(), [(0, 0.5), (1, 0.25)]);
    assert_eq!(node.next_event(yields), 100.0);
    node.pass(100.0, yields, |_| panic!("nothing has ended"));
    assert_eq!(node.powers(), [(0, 0.75), (1, 0.25)]);
}

/// Estimates of twice and four times what the deadline leaves: as published the second gets two
/// thirds of the node, and half of it where nobody asks for more than there is.
#[test]
fn a_share_is_capped_at_the_node_where_that_is_asked_for() {
    let powers = |sharing| {
        let mut node = Node::default();
        node.start(0, &job(0, 50, 200, 100), 0.0, sharing);
        node.start(1, &job(0, 50, 400, 100), 0.0, sharing);
        node.powers()
    };
    assert_eq!(powers(GIVEN), [(0, 2.0 / 6.0), (1, 4.0 / 6.0)]);
    assert_eq!(powers(Sharing { is_capped: true, ..GIVEN }), [(0, 0.5), (1, 0.5)]);
}

/// A job on two nodes, of which one has another job: it ends with its slower task, and its first
/// node is free before.
#[test]
fn a_job_ends_with_its_last_task() {
    let wide = DeadlineJob { nodes: 2, ..job(0, 50, 50, 200) };
    let fates = simulate(&[job(0, 50, 50, 100), wide], 4, GIVEN, &mut AtOnce::default());
    // Alone it is done at 50 on the second node; on the first it shares with the job of 0.5.
    assert_eq!(fates[1], Fate::Done { start_s: 0.0, end_s: 100.0 });
}

#[test]
fn a_node_that_is_full_is_busy_whatever_is_dealt() {
    let jobs: Vec<DeadlineJob> = (0..5).map(|n| job(n, 100 + n, 90, 300 + 10 * n)).collect();
    let all: f64 = jobs.iter().map(|job| job.run_time.0 as f64).sum();
    for sharing in [GIVEN, KEPT, Sharing { late: Late::Yields, ..GIVEN }] {
        let last = ends(&jobs, sharing).into_iter().fold(0.0, f64::max);
        assert!((last - all).abs() < 8.0, "{last} {all}");
    }
}

#[test]
fn a_load_is_the_shares_that_are_asked_for_now() {
    let mut node = Node::default();
    node.start(0, &job(0, 50, 50, 100), 0.0, GIVEN);
    // It has the whole node: at 25 it needs 25 of the 75 s that are left.
    let load = node.load(25.0);
    assert!((load.total_share - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((load.jobs, load.earliest_deadline), (1, UnixTime(100)));
}
