//! Which jobs with deadlines are admitted, and what is proposed in the place of those that are not.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::options::{Mode, UserOptions};
use job_types::policy::{Admission, Policy};
use job_types::record::MOST_BYTES;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decisions::{
    Alternatives, Changes, Decision, DecisionInputs, FARTHEST_DEADLINE, FixedSizeReason, LeftToSlurm, NotAdmitted, NotDeferred, Refusal,
    StartBlocker, Submission, TimeLimit, decide,
};
use predictor_core::forecasts::forecast::{JobShape, Moment};
use proptest::prelude::*;

const RULES: [Admission; 2] = [Admission::Edf, Admission::Probability];

fn admitting_by(admission: Admission) -> Policy {
    Policy { admission, ..enforcing() }
}

/// Jobs on 16 nodes wait for 5,000 to 5,099 s and run for 500 s, those on 4 nodes for up to 99 s
/// and 1,000 s.
fn cluster(policy: Policy) -> Cluster {
    let past = (0..200).flat_map(|n| {
        let at = NOW - Seconds(900_000 - n * 600);
        [ended_job(UserId(USER), at, 16, 3_600, 5_000 + n * 37 % 100, 500), ended_job(UserId(USER), at, 4, 7_200, n * 37 % 100, 1_000)]
    });
    MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
}

/// A job of an hour with a deadline in so many seconds.
fn due_in(nodes: u32, seconds: i64) -> Submission<'static> {
    Submission { deadline: Some(NOW + Seconds(seconds)), ..submission(nodes, UserOptions::default()) }
}

fn decided(cluster: &Cluster, submission: &Submission<'_>) -> Decision {
    decide(&cluster.situation(submission))
}

/// Decides about a submission that somebody makes so many seconds from [`NOW`].
fn decided_at(cluster: &Cluster, submission: &Submission<'_>, later: i64) -> Decision {
    decide(&DecisionInputs { now: NOW + Seconds(later), ..cluster.situation(submission) })
}

fn refused(decision: &Decision) -> NotAdmitted {
    match decision.refusal() {
        Some(Refusal::NotAdmitted(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn line(decision: &Decision, submission: &Submission<'_>) -> String {
    decision.line(submission, &enforcing(), NOW).unwrap()
}

#[test]
fn by_time_limits_a_job_is_refused_only_where_a_start_now_would_not_do() {
    let cluster = cluster(admitting_by(Admission::Edf));
    // An hour, and a minute into which limits are rounded. That it is forecast to wait for longer
    // is for the order by deadline to mend.
    let admitted = decided(&cluster, &due_in(16, 3_660));
    assert_eq!((admitted.admission.map(|admission| admission.is_ok()), admitted.changes().clears_deadline), (Some(true), true));
    let refused = decided(&cluster, &due_in(16, 3_659));
    assert!(matches!(refused.admission, Some(Err(NotAdmitted::BeyondLimit { .. }))), "{:?}", refused.admission);
    assert!(refused.refusal().is_some());
    let later = Submission { begin: Some(NOW + Seconds(600)), ..due_in(16, 4_259) };
    assert!(decided(&cluster, &later).refusal().is_some(), "it may begin in ten minutes only");
    assert!(decided(&cluster, &Submission { deadline: Some(NOW + Seconds(4_260)), ..later }).refusal().is_none());
    let unlimited = Submission { limit: TimeLimit::Unlimited, ..due_in(16, 100_000) };
    assert!(matches!(refusal_of(&cluster, &unlimited), NotAdmitted::BeyondLimit { .. }));
}

fn refusal_of(cluster: &Cluster, submission: &Submission<'_>) -> NotAdmitted {
    refused(&decided(cluster, submission))
}

#[test]
fn by_probability_a_job_is_refused_where_its_wait_is_likely_too_long() {
    let cluster = cluster(admitting_by(Admission::Probability));
    // The wait is at most 5,099 s and the run time 500 s.
    let admitted = decided(&cluster, &due_in(16, 6_000)).admission.unwrap().unwrap();
    assert!(admitted.probability.unwrap() >= 0.9 && admitted.wanted == Some(0.9), "{admitted:?}");
    let NotAdmitted::Unlikely { probability, wanted, .. } = refusal_of(&cluster, &due_in(16, 5_000)) else { panic!() };
    assert_eq!((probability, wanted), (0.0, 0.9));
}

#[test]
fn what_can_be_had_instead_is_told_as_options() {
    let cluster = cluster(admitting_by(Admission::Probability));
    let asked = due_in(16, 5_000);
    let refused = decided(&cluster, &asked);
    let line = line(&refused, &asked);
    assert!(line.starts_with("not admitted: done by the deadline with probability 0.00, less than 0.9; "), "{line}");
    assert!(line.contains("the earliest deadline that can be kept is in 1 h 3") && line.contains("(--deadline=now+9"), "{line}");
    // On 4 nodes the limit that molding gives is that of the user's jobs there; they run 1,000 s.
    assert!(line.contains("; or --nodes=4 --time=2:00:00 would keep this one"), "{line}");
    assert!(!line.contains('\n'));
    let by_limits = self::cluster(admitting_by(Admission::Edf));
    let asked = due_in(16, 2_400);
    let line = self::line(&decided(&by_limits, &asked), &asked);
    // 2,400 s less two minutes to type in and one of rounding; jobs on 4 nodes have run for
    // 1,000 s, which a forecast has as a range.
    assert!(line.contains("(--deadline=now+63minutes)") || line.contains("(--deadline=now+64minutes)"), "{line}");
    assert!(line.ends_with("; or --nodes=4 --time=0:20:00 would keep this one; or --time=0:37:00 would keep this one"), "{line}");
}

/// The submission with each of the alternatives taken, at a moment so many seconds from [`NOW`].
fn taken<'a>(asked: &Submission<'a>, alternatives: &Alternatives, later: i64) -> Vec<Submission<'a>> {
    let later = Seconds(later);
    let deadline = alternatives.deadline.map(|deadline| Submission { deadline: Some(deadline + later), ..asked.clone() });
    let size = alternatives.size.map(|size| {
        let nodes = asked.nodes.map(|_| predictor_core::decisions::NodeRange { least: size.count, most: size.count });
        let limit = size.limit.map_or(asked.limit, TimeLimit::Limited);
        Submission { nodes, tasks: size.tasks, limit, ..asked.clone() }
    });
    let limit = alternatives.limit.map(|limit| Submission { limit: TimeLimit::Limited(limit), ..asked.clone() });
    [deadline, size, limit].into_iter().flatten().collect()
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_admitted_when_it_is_taken_within_two_minutes(
        rule in prop::sample::select(RULES.to_vec()), nodes in prop::sample::select(vec![1u32, 4, 16]),
        ahead in 1i64..20_000, minutes in 1i64..300, later in 0i64..=119, begin in prop::option::of(0i64..10_000),
    ) {
        let cluster = cluster(admitting_by(rule));
        let limit = TimeLimit::Limited(Seconds(minutes * 60));
        let asked = Submission { limit, begin: begin.map(|begin| NOW + Seconds(begin)), ..due_in(nodes, ahead) };
        let decision = decided(&cluster, &asked);
        if let Some(Err(why)) = decision.admission {
            for taken in taken(&asked, &why.alternatives(), later) {
                let then = decided_at(&cluster, &taken, later);
                prop_assert!(matches!(then.admission, Some(Ok(_))), "{why:?}\n{taken:?}\n{:?}", then.admission);
            }
        }
    }

    #[test]
    fn a_decision_about_a_deadline_is_told_in_one_line_and_recorded_within_bounds(
        rule in prop::sample::select(Admission::ALL.to_vec()), deadline in any::<i64>(), limit in prop::option::of(any::<i64>()),
        nodes in any::<u32>(), begin in prop::option::of(any::<i64>()), is_array in any::<bool>(),
    ) {
        let cluster = cluster(admitting_by(rule));
        let limit = limit.map_or(TimeLimit::Unset, |limit| TimeLimit::Limited(Seconds(limit)));
        let asked = Submission { deadline: Some(UnixTime(deadline)), limit, begin: begin.map(UnixTime), is_array, ..submission(nodes, UserOptions::default()) };
        let situation = cluster.situation(&asked);
        let decision = decide(&situation);
        prop_assert!(decision.line(&asked, &admitting_by(rule), NOW).is_none_or(|line| !line.contains('\n')));
        prop_assert!(decision.record(&situation, 7).to_json().is_some_and(|json| json.len() <= MOST_BYTES));
        if let Some(Ok(admitted)) = decision.admission {
            prop_assert_eq!(admitted.deadline, UnixTime(deadline));
            prop_assert!(admitted.deadline > NOW && admitted.deadline - NOW <= FARTHEST_DEADLINE);
        }
    }
}

#[test]
fn a_deadline_that_has_passed_or_is_beyond_a_year_is_refused_by_every_rule() {
    for rule in RULES {
        let cluster = cluster(admitting_by(rule));
        assert_eq!(refusal_of(&cluster, &due_in(4, 0)), NotAdmitted::InThePast);
        assert_eq!(refusal_of(&cluster, &due_in(4, i64::MIN)), NotAdmitted::InThePast);
        assert_eq!(refusal_of(&cluster, &due_in(4, FARTHEST_DEADLINE.0 + 1)), NotAdmitted::TooFar);
        assert_eq!(refusal_of(&cluster, &due_in(4, i64::MAX)), NotAdmitted::TooFar);
        assert!(decided(&cluster, &due_in(4, FARTHEST_DEADLINE.0)).refusal().is_none());
    }
}

#[test]
fn a_job_whose_start_others_decide_is_not_admitted() {
    for obstacle in [StartBlocker::Dependency, StartBlocker::Held, StartBlocker::Reservation] {
        let cluster = cluster(admitting_by(Admission::Edf));
        let asked = Submission { obstacle: Some(obstacle), ..due_in(4, 100_000) };
        assert_eq!(refusal_of(&cluster, &asked), NotAdmitted::Obstacle(obstacle));
    }
}

#[test]
fn what_belongs_together_is_left_to_slurm_with_a_reason_and_unchanged() {
    for (rule, asked, left) in [
        (Admission::Probability, Submission { tie: Some(FixedSizeReason::Heterogeneous), ..due_in(4, 100) }, LeftToSlurm::Heterogeneous),
        (Admission::Edf, Submission { tie: Some(FixedSizeReason::Heterogeneous), ..due_in(4, 100) }, LeftToSlurm::Heterogeneous),
        (Admission::Probability, Submission { is_array: true, ..due_in(4, 100) }, LeftToSlurm::Array),
    ] {
        let cluster = cluster(admitting_by(rule));
        let decision = decided(&cluster, &asked);
        assert_eq!((decision.left_to_slurm, decision.admission, decision.changes()), (Some(left), None, Changes::default()));
        assert!(line(&decision, &asked).contains(&format!("the deadline is left to Slurm: {left}")));
        let record = decision.record(&cluster.situation(&asked), 7);
        assert_eq!(record.left, [format!("deadline left to Slurm: {left}")]);
    }
    // By time limits what holds for one job of an array holds for each.
    let cluster = cluster(admitting_by(Admission::Edf));
    let array =
        |seconds| decided(&cluster, &Submission { is_array: true, ..due_in(4, seconds) }).admission.map(|admission| admission.is_ok());
    assert_eq!([array(3_660), array(3_600)], [Some(true), Some(false)]);
}

#[test]
fn a_job_without_a_deadline_is_decided_about_as_if_no_job_were_admitted() {
    let asked = submission(16, UserOptions { auto_mold: true, ..UserOptions::default() });
    let by = |rule| {
        let cluster = cluster(admitting_by(rule));
        let decision = decided(&cluster, &asked);
        (decision.changes(), decision.record(&cluster.situation(&asked), 7).to_json(), decision.line(&asked, &enforcing(), NOW))
    };
    let without = by(Admission::Off);
    for rule in Admission::ALL {
        assert_eq!(by(rule), without, "{rule:?}");
    }
}

#[test]
fn a_job_with_a_virtual_reservation_has_that_promise_alone() {
    let cluster = cluster(admitting_by(Admission::Probability));
    let asked = UserOptions { reserve_at: Some(NOW.0 + 20_000), ..UserOptions::default() };
    let decision = decided(&cluster, &Submission { deadline: Some(NOW + Seconds(80_000)), ..submission(4, asked) });
    assert_eq!((decision.admission, decision.left_to_slurm), (None, None));
}

#[test]
fn modes_below_enforce_change_and_refuse_nothing() {
    for (mode, tells) in [(Mode::Observe, false), (Mode::Advise, true)] {
        let cluster = cluster(Policy { mode, ..admitting_by(Admission::Probability) });
        for (asked, part) in [(due_in(16, 5_000), "not admitted: "), (due_in(16, 6_000), "advice, nothing was changed: admitted: ")] {
            let decision = decided(&cluster, &asked);
            assert_eq!((decision.refusal(), decision.changes()), (None, Changes::default()));
            let told = decision.line(&asked, &enforcing(), NOW);
            assert_eq!(told.is_some_and(|told| told.starts_with(part)), tells, "{mode:?}");
        }
        let admitted = decided(&cluster, &due_in(16, 6_000)).record(&cluster.situation(&due_in(16, 6_000)), 7);
        let written = admitted.written.unwrap();
        assert_eq!((written.admitted_by, written.deadline, admitted.mode), (Some(Admission::Probability), Some(NOW.0 + 6_000), mode));
        let refused = decided(&cluster, &due_in(16, 5_000)).record(&cluster.situation(&due_in(16, 5_000)), 7);
        assert!(refused.written.is_none() && refused.left[0].starts_with("not admitted: "), "{:?}", refused.left);
    }
}

#[test]
fn a_size_or_a_begin_that_would_be_late_is_no_reason_to_refuse_the_job_as_written() {
    // Whoever is eligible now waits for 3,000 s and a little; whoever is from the next end on does
    // not wait four times of five, and for hours else. In the middle that is sooner.
    let end = NOW + Seconds(600);
    let wait = move |_: &JobShape, moment: &Moment| if moment.at >= end { 0 } else { 3_000 };
    let sooner = std::array::from_fn(|percentile| if percentile < 80 { 0 } else { 20_000 });
    let certain = std::array::from_fn(|percentile| 3_000 + percentile as u32);
    let cluster =
        Cluster { wait: Some(Box::new(wait)), ends: vec![end], rows: [sooner, certain], ..cluster(admitting_by(Admission::Probability)) };
    let asked = submission(16, UserOptions { auto_mold: true, auto_defer: true, ..UserOptions::default() });
    // Within the 5,040 s a job on four nodes is not done for certain, if it begins later.
    let with_deadline = Submission { deadline: Some(NOW + Seconds(5_040)), ..asked.clone() };
    assert!(matches!(decided(&cluster, &asked).deferral, Some(Ok(_))));
    let decision = decided(&cluster, &with_deadline);
    assert!(matches!(decision.admission, Some(Ok(_))), "{:?}", decision.admission);
    assert_eq!(decision.changes(), Changes { clears_deadline: true, ..Changes::default() }, "{:?}", decision.molding);
    assert!(matches!(decision.deferral, Some(Err(NotDeferred::BeyondDeadline))), "{:?}", decision.deferral);
}
