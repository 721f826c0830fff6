//! What is to be changed in jobs that were admitted with deadlines.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::{JobId, UserId};
use job_types::options::{Mode, UserOptions};
use job_types::policy::{Admission, Policy};
use job_types::promise::Promise;
use job_types::record::{EndOfPromise, Record, Written};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{Cluster, MadeUpSite, NOW, USER, batch, ended_job, enforcing, submission};
use predictor_core::decisions::{Submission, decide};
use upkeep::{AdmissionState, AdmissionStep, AdmissionUpkeep, AdmissionWanted, QueuedJob, admission_upkeep, noted};

const HOUR: Seconds = Seconds(3_600);
const DEADLINE: UnixTime = UnixTime(NOW.0 + 2 * HOUR.0);

fn policy(admission: Admission) -> Policy {
    Policy { admission, ..enforcing() }
}

/// A site where jobs of a user on 4 nodes have run for ten minutes of their hour, and have waited
/// from 0 to 99 times so many seconds.
fn site(policy: Policy, more_wait: i64) -> Cluster {
    let past = (0..400).map(|n| {
        let eligible = NOW - Seconds(40_000_000 - n * 90_000);
        ended_job(UserId(USER), eligible, 4, 3_600, n * 37 % 100 * more_wait, 600)
    });
    MadeUpSite::new(NOW).partition(batch(policy)).ended_jobs(past).state()
}

/// A job of an hour on 4 nodes as the filter admitted it with a deadline in two hours, eligible
/// since then.
fn admitted(admission: Admission) -> QueuedJob {
    let site = site(policy(admission), 1);
    let submission = Submission { deadline: Some(DEADLINE), ..submission(4, UserOptions::default()) };
    let situation = site.situation(&submission);
    let decision = decide(&situation);
    assert!(decision.changes().clears_deadline, "{:?}", decision.admission);
    let job = QueuedJob::as_recorded(JobId(1), UserId(USER), decision.record(&situation, 7));
    QueuedJob { partition: Some("batch".to_owned()), limit: Some(HOUR), eligible: Some(NOW), priority: 1_000, ..job }
}

/// What a site without much to wait for makes of it.
fn look(job: &QueuedJob, now: UnixTime) -> AdmissionUpkeep {
    let by = job.record.written.as_ref().unwrap().admitted_by.unwrap();
    admission_upkeep(job, &site(policy(by), 1), now)
}

/// The job after the step that is wanted, as slurmctld has it and a daemon that was started anew
/// reads it; its priority follows its factor.
fn carried_out(job: &QueuedJob, wanted: AdmissionWanted, now: UnixTime) -> QueuedJob {
    let AdmissionStep::Update(update) = wanted.step(job, now) else { panic!("it is cancelled") };
    let site_factor = update.site_factor.unwrap_or(job.site_factor);
    QueuedJob {
        slurm_deadline: update.deadline.or(job.slurm_deadline),
        shortest_limit: update.shortest_limit.or(job.shortest_limit),
        priority: u32::try_from(i64::from(job.priority) + site_factor - job.site_factor).unwrap(),
        site_factor,
        record: Record::parse(&update.record.to_json().unwrap()).unwrap(),
        ..job.clone()
    }
}

/// The comment after what is wanted, where its user has written one.
fn comment(job: &QueuedJob, wanted: AdmissionWanted, now: UnixTime, own: Option<&str>) -> Option<String> {
    let AdmissionStep::Update(update) = wanted.step(job, now) else { panic!("it is cancelled") };
    noted(own, &update.note?)
}

fn wanted(found: &AdmissionUpkeep) -> Option<AdmissionWanted> {
    found.wanted.map(|(wanted, _)| wanted)
}

#[test]
fn a_job_as_the_filter_admitted_it_waits_in_the_order_by_its_deadline() {
    for by in [Admission::Edf, Admission::Probability] {
        let found = look(&admitted(by), NOW);
        assert_eq!(found, AdmissionUpkeep { state: AdmissionState::Waiting, ordered_by: Some(DEADLINE), wanted: None });
    }
}

#[test]
fn by_probability_a_job_is_late_once_its_deadline_has_passed_and_by_edf_once_its_limit_does_not_fit() {
    let state = |by, at: UnixTime| look(&admitted(by), at).state;
    assert_ne!(state(Admission::Probability, DEADLINE), AdmissionState::Late);
    assert_eq!(state(Admission::Probability, DEADLINE + Seconds(1)), AdmissionState::Late);
    assert_ne!(state(Admission::Edf, DEADLINE - HOUR), AdmissionState::Late);
    assert_eq!(state(Admission::Edf, DEADLINE - HOUR + Seconds(1)), AdmissionState::Late);
    // What its user calls enough counts by both.
    for by in [Admission::Edf, Admission::Probability] {
        let enough = QueuedJob { shortest_limit: Some(Seconds(600)), ..admitted(by) };
        assert_ne!(look(&enough, DEADLINE - Seconds(600)).state, AdmissionState::Late);
        assert_eq!(look(&enough, DEADLINE - Seconds(599)).state, AdmissionState::Late);
    }
}

#[test]
fn a_late_job_is_ended_by_slurm_and_cancelled_where_that_does_not_come() {
    let job = admitted(Admission::Probability);
    let late = DEADLINE + Seconds(5);
    let found = look(&job, late);
    assert_eq!((found.state, found.ordered_by, wanted(&found)), (AdmissionState::Late, None, Some(AdmissionWanted::End)));
    let after = carried_out(&job, AdmissionWanted::End, late);
    assert!(after.slurm_deadline.unwrap() > late && after.slurm_deadline.unwrap() < late + Seconds(60));
    assert_eq!(after.record.changed.as_ref().unwrap().late, after.slurm_deadline.map(|at| at.0));
    let comment = comment(&job, AdmissionWanted::End, late, Some("ours"));
    assert_eq!(comment.as_deref(), Some("queuecast: ended because it could not be done by its deadline any more | ours"));
    // Slurm takes its time, and nobody else has set that deadline.
    assert_eq!(wanted(&look(&after, late + Seconds(60))), None);
    assert_eq!(look(&after, late + Seconds(60)).state, AdmissionState::Late);
    assert_eq!(wanted(&look(&after, late + Seconds(400))), Some(AdmissionWanted::Cancellation));
    // Without a time limit Slurm would never end it.
    let unlimited = QueuedJob { limit: None, ..job };
    assert_eq!(carried_out(&unlimited, AdmissionWanted::End, late).shortest_limit, Some(Seconds::MINUTE));
}

#[test]
fn a_job_that_has_started_is_left_to_its_limit_and_its_user_is_told_once() {
    let job = QueuedJob { started: Some(DEADLINE - Seconds(300)), ..admitted(Admission::Probability) };
    // Such jobs take ten minutes, so that it is not done in time.
    let found = look(&job, DEADLINE - Seconds(200));
    assert_eq!((found.state, wanted(&found)), (AdmissionState::AtRisk, Some(AdmissionWanted::Note { probability: Some(0.0) })));
    let told = carried_out(&job, wanted(&found).unwrap(), DEADLINE - Seconds(200));
    let comment = comment(&job, wanted(&found).unwrap(), DEADLINE - Seconds(200), None);
    assert_eq!(comment.as_deref(), Some("queuecast: its deadline is at risk: done in time with probability 0.00, promised 0.99"));
    for now in [DEADLINE - Seconds(170), DEADLINE + Seconds(600)] {
        assert_eq!(look(&told, now), AdmissionUpkeep { state: AdmissionState::AtRisk, ordered_by: None, wanted: None });
    }
}

#[test]
fn what_is_at_risk_depends_on_what_was_promised() {
    let admitted_with = |probability| {
        let mut job = admitted(Admission::Probability);
        job.record.forecast.get_or_insert_default().deadline_probability = Some(probability);
        QueuedJob { started: Some(DEADLINE - Seconds(300)), ..job }
    };
    let (likely, unlikely) = (admitted_with(0.97), admitted_with(0.0));
    let now = DEADLINE - Seconds(200);
    assert_eq!(look(&likely, now).state, AdmissionState::AtRisk);
    assert_eq!(look(&unlikely, now).state, AdmissionState::Running, "nobody was promised more");
    let note = comment(&likely, wanted(&look(&likely, now)).unwrap(), now, None).unwrap();
    assert!(note.ends_with("done in time with probability 0.00, promised 0.97"), "{note}");
}

/// A job that was admitted with a share of its nodes until [`DEADLINE`], of a user of whom nothing
/// is known. Its limit reaches to the deadline, and its estimate is so long.
fn with_share(admission: Admission, estimate: Seconds) -> QueuedJob {
    let mut job = QueuedJob { user: UserId(7), limit: Some(HOUR + HOUR), ..admitted(Admission::Probability) };
    let written = job.record.written.as_mut().unwrap();
    (written.admitted_by, written.own_limit_s) = (Some(admission), Some(estimate.0));
    job
}

#[test]
fn a_job_with_a_share_is_not_at_risk_because_its_limit_reaches_to_its_deadline() {
    let half = Seconds(1_800);
    let later = HOUR + HOUR + HOUR;
    // By its limit none of these would be done in time, if they start a second after they came.
    for (rule, estimate) in [(Admission::Libra, half), (Admission::Probability, half), (Admission::Probability, later)] {
        let waits = with_share(rule, estimate);
        let found = look(&waits, NOW + Seconds(1));
        assert_eq!((found.state, wanted(&found)), (AdmissionState::Waiting, None), "{rule:?} {estimate:?}");
        let runs = QueuedJob { started: Some(NOW + Seconds(1)), ..waits };
        for after in [10, 3_000, 5_000] {
            let found = look(&runs, NOW + Seconds(after));
            assert_eq!((found.state, wanted(&found)), (AdmissionState::Running, None), "{rule:?} {estimate:?} after {after} s");
        }
    }
    // It is where its estimate itself does not fit any more.
    let late = QueuedJob { started: Some(DEADLINE - Seconds(1_500)), ..with_share(Admission::Libra, half) };
    assert_eq!(look(&late, DEADLINE - Seconds(1_000)).state, AdmissionState::AtRisk);
}

#[test]
fn a_job_whose_node_has_failed_is_forecast_anew_and_its_user_is_told() {
    let job = QueuedJob { restarts: 1, eligible: Some(NOW + HOUR), ..admitted(Admission::Probability) };
    let now = NOW + HOUR;
    let found = look(&job, now);
    let Some(AdmissionWanted::Note { probability: Some(probability) }) = wanted(&found) else { panic!("{found:?}") };
    assert!(probability > 0.9 && found.state == AdmissionState::Waiting, "an hour is enough here: {probability}");
    let told = carried_out(&job, wanted(&found).unwrap(), now);
    let changed = told.record.changed.as_ref().unwrap();
    assert_eq!((changed.told_restarts, changed.deadline_probability.is_some()), (Some(1), true));
    assert!(
        comment(&job, wanted(&found).unwrap(), now, None)
            .unwrap()
            .starts_with("queuecast: put back into the queue, which puts its deadline at risk")
    );
    assert_eq!((wanted(&look(&told, now)), look(&told, now).ordered_by), (None, Some(DEADLINE)), "it is told once");
    // The next failure is told again, and where jobs wait for hours by now, that it is likely late.
    let again = QueuedJob { restarts: 2, ..told };
    let found = admission_upkeep(&again, &site(policy(Admission::Probability), 400), now);
    let Some(AdmissionWanted::Note { probability: Some(probability) }) = wanted(&found) else { panic!("{found:?}") };
    assert!(probability < 0.5 && found.state == AdmissionState::AtRisk, "{probability}");
}

#[test]
fn a_suspended_or_held_job_is_left_and_the_time_that_it_was_suspended_counts_afterwards() {
    let job = admitted(Admission::Probability);
    for blocked in [QueuedJob { is_blocked: true, ..job.clone() }, QueuedJob { eligible: None, ..job.clone() }] {
        assert_eq!(look(&blocked, DEADLINE + HOUR), AdmissionUpkeep { state: AdmissionState::Blocked, ordered_by: None, wanted: None });
    }
    // It has run for five of its ten minutes, and six are left.
    let now = DEADLINE - Seconds(360);
    let resumed = |suspended| QueuedJob { started: Some(now - Seconds(300) - suspended), suspended, ..job.clone() };
    assert_eq!([Seconds::ZERO, HOUR].map(|suspended| look(&resumed(suspended), now).state), [AdmissionState::Running; 2]);
    let late = QueuedJob { started: Some(now - Seconds(100) - HOUR), suspended: HOUR, ..job };
    assert_eq!(look(&late, now).state, AdmissionState::AtRisk);
}

#[test]
fn another_deadline_or_factor_of_somebody_elses_ends_all_changes_and_is_noted() {
    let job = carried_out(&admitted(Admission::Edf), AdmissionWanted::Place { added: 40 }, NOW);
    assert_eq!((job.priority, job.site_factor, job.added()), (1_040, 40, 40));
    assert_eq!(look(&job, NOW).ordered_by, Some(DEADLINE));
    let theirs = [
        QueuedJob { slurm_deadline: Some(DEADLINE + HOUR), ..job.clone() },
        QueuedJob { slurm_deadline: Some(DEADLINE), ..job.clone() },
        QueuedJob { site_factor: 0, priority: 1_000, ..job.clone() },
    ];
    for theirs in theirs {
        let found = look(&theirs, NOW);
        assert_eq!((found.state, found.ordered_by, wanted(&found)), (AdmissionState::Stopped, None, Some(AdmissionWanted::NoteOfStop)));
        let after = carried_out(&theirs, AdmissionWanted::NoteOfStop, NOW);
        assert_eq!((after.site_factor, after.slurm_deadline), (theirs.site_factor, theirs.slurm_deadline));
        // Also where it is set back to what it was.
        let back = QueuedJob { site_factor: 40, slurm_deadline: None, ..after };
        assert_eq!(look(&back, DEADLINE + HOUR), AdmissionUpkeep { state: AdmissionState::Stopped, ordered_by: None, wanted: None });
    }
}

#[test]
fn a_factor_that_the_site_gave_the_job_at_its_submission_stays_beside_ours() {
    let given = QueuedJob { site_factor: 500, ..admitted(Admission::Edf) };
    let after = carried_out(&given, AdmissionWanted::Place { added: -30 }, NOW);
    assert_eq!((after.site_factor, after.priority, after.added()), (470, 970, -30));
    let after = carried_out(&after, AdmissionWanted::Place { added: 10 }, NOW);
    assert_eq!((after.site_factor, after.priority, after.own_priority()), (510, 1_010, 1_000));
}

#[test]
fn a_priority_that_does_not_follow_is_an_operators_and_is_not_fought() {
    let job = admitted(Admission::Edf);
    let fixed = QueuedJob { priority: job.priority, ..carried_out(&job, AdmissionWanted::Place { added: 40 }, NOW) };
    assert_eq!(look(&fixed, NOW), AdmissionUpkeep { state: AdmissionState::Waiting, ordered_by: None, wanted: None });
    assert!(fixed.is_fixed() && !job.is_fixed());
    // As soon as it moves again the job takes part.
    assert_eq!(look(&QueuedJob { priority: 1_043, ..fixed }, NOW).ordered_by, Some(DEADLINE));
}

#[test]
fn another_limit_counts_as_it_is_because_none_was_written() {
    let longer = QueuedJob { limit: Some(HOUR + HOUR), ..admitted(Admission::Edf) };
    assert_eq!(look(&longer, NOW + Seconds(1)).state, AdmissionState::Late);
    let shorter = QueuedJob { limit: Some(Seconds(60)), ..admitted(Admission::Edf) };
    assert_ne!(look(&shorter, DEADLINE - Seconds(60)).state, AdmissionState::Late);
}

#[test]
fn a_clock_that_is_set_forward_makes_jobs_late_and_one_that_is_set_back_ends_none() {
    let job = admitted(Admission::Probability);
    assert_eq!(look(&job, DEADLINE + HOUR).state, AdmissionState::Late);
    assert_eq!(look(&job, NOW - HOUR).ordered_by, None, "by that clock it is not eligible yet");
    assert_eq!(wanted(&look(&job, NOW - HOUR)), None);
    // What Slurm was told to end stays late, whatever the clock says afterwards, and is not ended
    // twice.
    let ended = carried_out(&job, AdmissionWanted::End, DEADLINE + HOUR);
    let back = look(&ended, NOW);
    assert_eq!((back.state, wanted(&back)), (AdmissionState::Late, None));
    // Beyond a year nothing of the record is believed.
    assert_eq!(look(&job, UnixTime(NOW.0 + 400 * 86_400)).state, AdmissionState::Unusable);
}

#[test]
fn while_the_clocks_are_apart_nobody_is_ended_and_nothing_is_told_but_the_order_is_kept() {
    let job = admitted(Admission::Probability);
    let end = wanted(&look(&job, DEADLINE + Seconds(1))).unwrap();
    assert_eq!(end, AdmissionWanted::End);
    let unended = carried_out(&job, end, DEADLINE + Seconds(1));
    let cancellation = wanted(&look(&unended, DEADLINE + Seconds(3_600))).unwrap();
    assert_eq!(cancellation, AdmissionWanted::Cancellation);
    let note = AdmissionWanted::Note { probability: Some(0.1) };
    // A daemon whose clock is an hour ahead of slurmctld's, or eleven seconds, takes for late what
    // is not; and by one that is behind slurmctld would not take the deadline.
    for apart in [Some(-3_600), Some(-11), Some(11), Some(i64::MAX), Some(i64::MIN), None] {
        let apart = apart.map(Seconds);
        assert!([end, cancellation, note].iter().all(|wanted| !wanted.is_certain(apart)), "{apart:?}");
        assert!([AdmissionWanted::Place { added: 5 }, AdmissionWanted::NoteOfStop].iter().all(|wanted| wanted.is_certain(apart)));
    }
    for near in [-10, 0, 10] {
        assert!([end, cancellation, note].iter().all(|wanted| wanted.is_certain(Some(Seconds(near)))), "{near}");
    }
}

#[test]
fn jobs_that_are_not_in_the_queue_of_one_partition_take_no_place() {
    let job = admitted(Admission::Edf);
    let coming = QueuedJob { eligible: Some(NOW + HOUR), ..job.clone() };
    let running = QueuedJob { started: Some(NOW), ..job.clone() };
    let held = QueuedJob { is_blocked: true, priority: 0, ..job };
    for job in [coming, running, held] {
        assert_eq!(look(&job, NOW).ordered_by, None, "{job:?}");
    }
}

#[test]
fn nothing_is_changed_where_the_site_or_the_user_does_not_enforce_or_the_policy_has_changed() {
    let late = DEADLINE + HOUR;
    let job = admitted(Admission::Edf);
    let not_enforced = AdmissionUpkeep { state: AdmissionState::NotEnforced, ordered_by: None, wanted: None };
    for policy in [policy(Admission::Off), Policy { mode: Mode::Advise, ..policy(Admission::Edf) }] {
        assert_eq!(admission_upkeep(&job, &site(policy, 1), late), not_enforced);
    }
    let advised = QueuedJob { record: Record { mode: Mode::Advise, ..job.record.clone() }, ..job.clone() };
    assert_eq!(look(&advised, late), not_enforced);
    let unknown = QueuedJob { partition: Some("gone".to_owned()), ..job.clone() };
    assert_eq!(look(&unknown, late), not_enforced);
    // Under another rule than the one that admitted it, it is still held by its own.
    assert_eq!(admission_upkeep(&job, &site(policy(Admission::Probability), 1), DEADLINE - HOUR + Seconds(1)).state, AdmissionState::Late);
}

#[test]
fn a_record_that_no_filter_writes_changes_nothing() {
    let job = admitted(Admission::Edf);
    type Damage = fn(&mut Written);
    let damages: [Damage; 5] = [
        |written| written.admitted_by = None,
        |written| written.admitted_by = Some(Admission::Off),
        |written| written.deadline = None,
        |written| written.deadline = Some(i64::MAX),
        |written| written.deadline = Some(i64::MIN),
    ];
    let site = site(policy(Admission::Edf), 1);
    for (number, damage) in damages.into_iter().enumerate() {
        let mut damaged = job.clone();
        damage(damaged.record.written.as_mut().unwrap());
        let found = admission_upkeep(&damaged, &site, NOW);
        assert_eq!(found, AdmissionUpkeep { state: AdmissionState::Unusable, ordered_by: None, wanted: None }, "damage {number}");
    }
}

#[test]
fn a_job_that_its_user_has_made_larger_is_not_the_promised_one_and_loses_its_place() {
    let job = carried_out(&admitted(Admission::Edf), AdmissionWanted::Place { added: 40 }, NOW);
    for size in [Size { nodes: job.size.nodes + 1, ..job.size }, Size { cpus: job.size.cpus + 1, ..job.size }] {
        let larger = QueuedJob { size, ..job.clone() };
        let found = look(&larger, NOW);
        assert_eq!((found.ordered_by, wanted(&found)), (None, Some(AdmissionWanted::EndOfPromise(EndOfPromise::MadeLarger))));
        let told = comment(&larger, wanted(&found).unwrap(), NOW, Some("mine")).unwrap();
        assert!(told.contains("is larger than it was") && told.ends_with(" | mine"), "{told}");
        let after = carried_out(&larger, wanted(&found).unwrap(), NOW);
        assert_eq!((after.site_factor, after.priority), (admitted(Admission::Edf).site_factor, admitted(Admission::Edf).priority));
        assert_eq!(look(&after, NOW), AdmissionUpkeep { state: AdmissionState::Stopped, ordered_by: None, wanted: None });
        assert_eq!(Promise::standing(&after.record), None, "nothing is promised any more");
    }
    let started = QueuedJob { size: Size { nodes: 9, cpus: 99 }, started: Some(NOW), ..job };
    assert_ne!(look(&started, NOW).state, AdmissionState::Stopped, "what it got says nothing");
}
