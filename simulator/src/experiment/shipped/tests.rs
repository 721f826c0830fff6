//! The decision from the simulation's own state, held against the one from a snapshot of it; and
//! what becomes of reservations and deadlines.

use job_types::number::QosIndex;
use predictor_core::decisions::{Admitted, NotAdmitted};
use predictor_core::forecasts::forecast::QueueForecaster;
use predictor_core::forecasts::levels::Levels;
use predictor_core::forecasts::queue_plan::{PlannedPartition, QueuePlan};
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::Snapshot;

use super::super::tests::{jobs, so_many_jobs};
use super::super::{Changed, ExperimentPolicy, MoldedRunTimes, ReservationWish, Reviewed, SpeedUpModel, VarqChoice, easy, speed_ups};
use super::*;
use crate::engine::{Machine, simulate};

const PROCESSORS: u32 = 64;

/// The shipped decision from the simulation's own state, held against the one from a snapshot of
/// that state at each submission; and the upkeep of reservations, likewise at each look.
struct AgainstSnapshot {
    shipped: Shipped,
    published: Vec<u8>,
    /// How often upkeep changed a job.
    revised: usize,
}

impl AgainstSnapshot {
    fn new(shipped: Shipped) -> Self {
        Self { shipped, published: Vec::new(), revised: 0 }
    }

    /// Publishes all that the state has: the simulation's own decision asks that of run times and
    /// of the plan itself, and of waits a snapshot that holds nothing else.
    fn publish(&mut self, now: UnixTime) {
        let Shipped { state, site, parts, .. } = &mut self.shipped;
        let learnt = state.learnt_waits().map(|waits| (waits.model(), waits.partitions(now)));
        let (model, partitions) = learnt.map_or_else(|| (None, site.partitions()), |(model, partitions)| (Some(model), partitions));
        // What jobs with deadlines have taught comes with what else was learnt.
        let taught = |index| state.deadline_history(index).map(|history| (index, history));
        let deadlines: Vec<_> = partitions_of(site).filter_map(taught).collect();
        let model = match deadlines.is_empty() {
            true => model,
            false => Some(WaitModel { deadlines, ..model.unwrap_or_default() }),
        };
        let promised = |index: PartitionIndex| state.promised_jobs(index).to_vec().into_iter().map(move |job| (index, job));
        let plan = parts.plan.then(|| {
            let free = state.queue_plan(PartitionIndex(0)).unwrap();
            let planned = |index| PlannedPartition { index, cpus_per_node: 1, free: free.steps.to_vec(), ..PlannedPartition::default() };
            QueuePlan {
                at: now,
                pending_jobs: free.pending_jobs as u32,
                is_complete: true,
                jobs: Vec::new(),
                partitions: partitions_of(site).map(planned).collect(),
                promised: partitions_of(site).flat_map(promised).collect(),
            }
        });
        let run_times = state.run_times().published().published().iter().map(|(key, model)| (*key, (**model).clone())).collect();
        self.published = site.snapshot(now, &partitions, run_times, model.as_ref(), plan.as_ref());
    }

    /// What is decided from the snapshot, as far as it shows in what a replay keeps.
    fn by_snapshot(&self, index: JobIndex, asked: &Job, now: UnixTime) -> Kept {
        let snapshot = Snapshot::open(&self.published).unwrap();
        let named = Named::from(self.shipped.in_partition(asked));
        let mut submission = self.shipped.submission(&named, now);
        submission.deadline = self.shipped.deadlines.get(index as usize).copied().or(submission.deadline);
        let standing = FilterState { is_off: false, is_transparent: snapshot.has_transparent_policy() };
        let verdict = gate(&Arrival::from(&submission), Some(standing), || {
            assert_eq!(snapshot.timeliness(now), Timeliness::Current);
            Ok(submission.governed_by(&snapshot).unwrap().1)
        });
        assert_eq!(verdict, Gate::Decide(Mode::Enforce));
        let (partition, policy) = submission.governed_by(&snapshot).unwrap();
        let bounds = Bounds::of(&submission, &partition, &snapshot);
        let claimed = self.shipped.claimed(asked.user, partition.index);
        let situation = DecisionInputs { forecasts: &snapshot, partition, policy, submission: &submission, bounds, now, claimed };
        let decision = decide(&situation);
        let changes = if decision.refusal().is_some() { Default::default() } else { decision.changes() };
        let processors = changes.size.map_or(asked.processors, |(size, _)| size.cpus);
        let estimate = changes.limit.unwrap_or(asked.estimate);
        let eligible = match &decision.admission {
            Some(Err(_)) => NEVER + Seconds(self.shipped.refused + 1),
            _ => changes.begin.unwrap_or(now),
        };
        Kept {
            admission: decision.admission.as_ref().map(answer),
            submitted: Submitted { job: Job { processors, estimate, ..*asked }, eligible, hold_until: changes.hold_until },
            reservation: decision.reservation.map(|reservation| reservation.map(|reservation| reservation.point)),
            deadline_probability: decision
                .decided
                .filter(|decided| decided.wait.is_some() && self.shipped.deadlines.is_empty())
                .and_then(|decided| decided.deadline_probability),
        }
    }
}

/// The partitions, by their indices.
fn partitions_of(site: &PublishedSite) -> impl Iterator<Item = PartitionIndex> + use<> {
    (0..site.partitions).map(PartitionIndex)
}

/// When an admitted job begins, where that is later than at once, and with how many parts of
/// 100,000 it is done in time; `None` of a job that is refused.
type Answer = Option<(Option<UnixTime>, i64)>;

/// The snapshot has numbers of 32 bits.
fn answer(admission: &Result<Admitted, NotAdmitted>) -> Answer {
    let admitted = admission.as_ref().ok()?;
    Some((admitted.begin, (admitted.probability.unwrap() * 1e5).round() as i64))
}

/// What shows of a decision.
#[derive(Debug, PartialEq)]
struct Kept {
    admission: Option<Answer>,
    submitted: Submitted,
    reservation: Option<Result<TrajectoryPoint, NotReserved>>,
    deadline_probability: Option<f64>,
}

impl Decider for AgainstSnapshot {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now();
        if self.shipped.state.renew(cluster) {
            self.shipped.claims.clear();
            self.publish(now);
        }
        let by_snapshot = self.by_snapshot(index, asked, now);
        let submitted = self.shipped.decide(index, asked, cluster);
        let reservation = self.shipped.asked_reservations().last().filter(|asked| asked.job == index);
        // Where jobs are admitted with deadlines, the answer has what was forecast.
        let is_told = |forecast: &&DeadlineForecast| forecast.job == index && self.shipped.deadlines.is_empty();
        let deadline = self.shipped.deadline_forecasts().last().filter(is_told);
        let simulated = Kept {
            admission: self.shipped.admissions().get(&index).map(answer),
            submitted,
            reservation: reservation.map(|asked| asked.answer),
            deadline_probability: deadline.and_then(|forecast| forecast.probability),
        };
        assert_eq!(simulated, by_snapshot, "job {index} at {now:?}");
        submitted
    }

    fn passed(&mut self, index: JobIndex, asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        self.shipped.passed(index, asked, submitted, cluster);
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.shipped.started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.shipped.ended(index, job, record);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.shipped.wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        let now = cluster.now();
        if self.shipped.state.renew(cluster) {
            self.shipped.claims.clear();
            self.publish(now);
        }
        let snapshot = Snapshot::open(&self.published).unwrap();
        let mut given = self.shipped.given.clone();
        let by_snapshot: Vec<Revised> = given.due(now).into_iter().filter_map(|index| given.look(index, &snapshot, now)).collect();
        let revised = self.shipped.revise(cluster);
        assert_eq!(revised, by_snapshot, "at {now:?}");
        self.revised += revised.len();
        revised
    }
}

fn shipped(jobs: &[Job], refresh: Seconds, wishes: RequestedFeatures, parts: Ablations) -> Shipped {
    let longest_limit = jobs.iter().map(|job| job.estimate).max();
    Shipped::new(jobs, &Site { processors: PROCESSORS, longest_limit, refresh }, wishes, parts, 1)
}

fn replay<D: Decider>(jobs: &[Job], decider: D) -> (Vec<Record>, ExperimentPolicy<D>) {
    let run_times = MoldedRunTimes::Computation(speed_ups(jobs, SpeedUpModel::Downey, 1));
    let mut policy = ExperimentPolicy::new(decider, run_times, 0..jobs.len() as JobIndex, vec![true; jobs.len()], None);
    let records = simulate(jobs, &Machine::new(PROCESSORS), &mut easy(), &mut policy).unwrap();
    (records, policy)
}

/// Replays the jobs and asserts at each submission that a snapshot of the state decides the same.
fn replayed_against_snapshots(jobs: &[Job], refresh: Seconds, wishes: RequestedFeatures, parts: Ablations) -> (Changed, Shipped) {
    let (_, policy) = replay(jobs, AgainstSnapshot::new(shipped(jobs, refresh, wishes, parts)));
    let (changed, against) = (policy.changed(), policy.into_decider());
    assert!(wishes.reservation.is_none() || against.revised > 20, "{} changes by upkeep", against.revised);
    (changed, against.shipped)
}

const HALF_A_MINUTE: Seconds = Seconds(30);

const TEN_MINUTES: Seconds = Seconds(600);

const RESERVATION: ReservationWish =
    ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point: VarqChoice::Latest };

#[test]
fn molding_in_the_simulation_is_as_from_a_snapshot_of_its_state() {
    let jobs = jobs();
    for (refresh, parts) in [
        (HALF_A_MINUTE, Ablations::default()),
        (Seconds(3_600), Ablations::default()),
        (HALF_A_MINUTE, Ablations { any_size: false, ..Ablations::default() }),
        (HALF_A_MINUTE, Ablations { growth: false, ..Ablations::default() }),
        (
            HALF_A_MINUTE,
            Ablations { site: Policy { min_gain: 0.15, min_gain_time: Seconds(7), ..Policy::default() }, ..Ablations::default() },
        ),
    ] {
        let (changed, _) = replayed_against_snapshots(&jobs, refresh, RequestedFeatures::default(), parts);
        assert!(changed.smaller > 20, "{changed:?}");
        assert!(parts.growth || changed.larger == 0, "{changed:?}");
    }
}

#[test]
fn molding_without_a_plan_is_as_from_a_snapshot() {
    let parts = Ablations { plan: false, ..Ablations::default() };
    let (changed, _) = replayed_against_snapshots(&jobs(), HALF_A_MINUTE, RequestedFeatures::default(), parts);
    assert!(changed.smaller > 10, "{changed:?}");
}

#[test]
fn deferral_is_as_from_a_snapshot_with_a_plan_and_without() {
    // Enough jobs for the default forecasts to be in force: by those of QBETS, which know nothing
    // of the state, no wait becomes shorter by coming later.
    let jobs = so_many_jobs(3_000);
    let wishes = RequestedFeatures { deferral: true, ..RequestedFeatures::default() };
    for plan in [true, false] {
        let (changed, _) = replayed_against_snapshots(&jobs, HALF_A_MINUTE, wishes, Ablations { plan, ..Ablations::default() });
        assert!(plan || changed.deferred > 0, "{changed:?}");
    }
}

#[test]
fn reservations_and_their_upkeep_are_as_from_a_snapshot() {
    for (jobs, refresh, molding) in [(jobs(), HALF_A_MINUTE, true), (so_many_jobs(2_000), TEN_MINUTES, false)] {
        let wishes = RequestedFeatures { molding, reservation: Some(RESERVATION), ..RequestedFeatures::default() };
        let (_, shipped) = replayed_against_snapshots(&jobs, refresh, wishes, Ablations::default());
        let accepted = shipped.asked_reservations().iter().filter(|asked| asked.answer.is_ok()).count();
        assert_eq!(shipped.asked_reservations().len(), jobs.len());
        assert!(accepted > 20 && accepted < jobs.len() - 20, "{accepted}");
    }
}

#[test]
fn where_users_name_no_probability_the_same_is_given_and_learnt_as_where_they_name_the_sites() {
    let jobs = jobs();
    let replayed = |names_probability| {
        let wish = ReservationWish { names_probability, ..RESERVATION };
        let wishes = RequestedFeatures { molding: false, reservation: Some(wish), ..RequestedFeatures::default() };
        let (_, mut shipped) = replayed_against_snapshots(&jobs, TEN_MINUTES, wishes, Ablations::default());
        let learnt = shipped.state.learnt_waits().unwrap().model().promises;
        (shipped.asked_reservations().to_vec(), learnt)
    };
    let ((named, learnt_of_named), (unnamed, learnt_of_unnamed)) = (replayed(true), replayed(false));
    assert!(named.iter().any(|asked| asked.answer.is_ok()) && named == unnamed);
    assert!(learnt_of_named.iter().any(|class| class.levels != Levels::default()), "nothing was missed");
    assert_eq!(learnt_of_named, learnt_of_unnamed);
}

#[test]
fn deadlines_are_as_from_a_snapshot() {
    let jobs = jobs();
    for plan in [true, false] {
        let wishes = RequestedFeatures { molding: false, deadline: Some(Seconds(3_600)), ..RequestedFeatures::default() };
        let (changed, shipped) = replayed_against_snapshots(&jobs, TEN_MINUTES, wishes, Ablations { plan, ..Ablations::default() });
        assert_eq!(changed, Changed::default());
        let known = shipped.deadline_forecasts().iter().filter(|forecast| forecast.probability.is_some()).count();
        assert!(known > jobs.len() / 2, "{known}");
    }
}

#[test]
fn a_decision_about_jobs_of_several_qualities_of_service_is_as_from_a_snapshot() {
    let of_qos = |(place, job): (usize, Job)| Job { qos: QosIndex(place as u16 % 3), ..job };
    let jobs: Vec<Job> = jobs().into_iter().enumerate().map(of_qos).collect();
    let wishes = RequestedFeatures { molding: false, deadline: Some(Seconds(3_600)), ..RequestedFeatures::default() };
    let (_, mut shipped) = replayed_against_snapshots(&jobs, TEN_MINUTES, wishes, Ablations { plan: false, ..Ablations::default() });
    assert_eq!(shipped.state.learnt_waits().unwrap().model().qos.len(), 3);
}

#[test]
fn admission_by_probability_is_as_from_a_snapshot() {
    let jobs = so_many_jobs(1_500);
    let deadlines = jobs.iter().map(|job| job.submit + Seconds(job.run_time.0 * 8)).collect();
    let site = Site { processors: PROCESSORS, longest_limit: jobs.iter().map(|job| job.estimate).max(), refresh: HALF_A_MINUTE };
    let shipped = Shipped::admitting(&jobs, &site, deadlines, AdmissionRule { wanted: 0.9, molding: false, in_shadow: false }, 1);
    let (_, policy) = replay(&jobs, AgainstSnapshot::new(shipped));
    let shipped = policy.into_decider().shipped;
    let admitted: Vec<_> = shipped.admissions().values().filter_map(|answer| answer.as_ref().ok()).collect();
    let later = admitted.iter().filter(|admitted| admitted.begin.is_some()).count();
    assert!((100..1_400).contains(&admitted.len()) && later > 20, "{} admitted, {later} of them later", admitted.len());
    let learnt = shipped.state.deadline_history(PartitionIndex(0)).unwrap();
    assert_ne!(learnt, Default::default(), "what was learnt was published");
}

/// Replays the jobs, all of which ask for reservations, of which so much follows the queue.
fn replayed_reservations(jobs: &[Job], reviewed: Reviewed) -> Vec<(AskedReservation, Record)> {
    let wishes = RequestedFeatures { molding: false, reservation: Some(RESERVATION), ..RequestedFeatures::default() };
    let (records, policy) = replay(jobs, shipped(jobs, HALF_A_MINUTE, wishes, Ablations { reviewed, ..Ablations::default() }));
    policy.decider().asked_reservations().iter().map(|asked| (*asked, records[asked.job as usize])).collect()
}

#[test]
fn a_reserved_job_has_its_nodes_until_its_time_and_its_padded_limit() {
    let jobs = jobs();
    let mut held = 0;
    for (asked, record) in replayed_reservations(&jobs, Reviewed { begin: false, limit: false }) {
        let job = &jobs[asked.job as usize];
        assert_eq!(asked.at.0 % 21_600, 0);
        assert!((1..=21_600).contains(&((asked.at - job.submit).0)));
        assert_eq!(record.run_time(), job.run_time, "nobody is cut short");
        let Ok(point) = asked.answer else {
            assert_eq!((record.estimate, record.eligible), (job.estimate, job.submit), "as written");
            continue;
        };
        assert_eq!((record.estimate, record.eligible), (point.padded_limit, point.begin));
        assert_eq!(record.held, (asked.at - record.start).max(Seconds::ZERO));
        assert!(record.occupied() <= point.padded_limit);
        held += usize::from(record.held > Seconds::ZERO);
    }
    assert!(held > 20, "{held}");
}

#[test]
fn a_reservation_that_follows_the_queue_never_cuts_its_job_and_sheds_what_it_has_outlived() {
    let jobs = so_many_jobs(2_000);
    let (mut moved, mut shed) = (0, 0);
    for (asked, record) in replayed_reservations(&jobs, Reviewed::default()) {
        let job = &jobs[asked.job as usize];
        let Ok(point) = asked.answer else { continue };
        assert_eq!(record.run_time(), job.run_time, "nobody is cut short");
        assert!(record.estimate >= job.estimate, "nobody has less than asked for");
        assert!(record.occupied() <= record.estimate);
        assert_eq!(record.held, (asked.at - record.start).max(Seconds::ZERO));
        let outlives_its_first_look = record.occupied() > HALF_A_MINUTE;
        if outlives_its_first_look {
            let at_the_end = asked.at.max(record.start) + job.estimate + Seconds::MINUTE;
            assert!(record.start + record.estimate <= at_the_end, "no node is held longer than was asked");
        }
        moved += usize::from(record.eligible != point.begin);
        shed += usize::from(record.estimate < point.padded_limit);
    }
    assert!(moved > 20 && shed > 20, "{moved} moved, {shed} shed");
}

#[test]
fn deadlines_are_kept_at_least_as_often_as_forecast() {
    let jobs = so_many_jobs(3_000);
    let wishes = RequestedFeatures { molding: false, deadline: Some(Seconds(3_600)), ..RequestedFeatures::default() };
    let (records, policy) = replay(&jobs, shipped(&jobs, TEN_MINUTES, wishes, Ablations { plan: false, ..Ablations::default() }));
    let forecasts = policy.decider().deadline_forecasts().iter();
    let known: Vec<(f64, bool)> =
        forecasts.filter_map(|forecast| Some((forecast.probability?, records[forecast.job as usize].end <= forecast.deadline))).collect();
    let kept = |known: &[(f64, bool)]| known.iter().filter(|(_, kept)| *kept).count() as f64 / known.len() as f64;
    let forecast = known.iter().map(|(probability, _)| probability).sum::<f64>() / known.len() as f64;
    // Run times count with the longer end of their ranges, and bounds of waits hold with more than
    // their probability.
    assert!((0.0..0.2).contains(&(kept(&known) - forecast)), "{forecast} forecast, {} kept", kept(&known));
    let (likely, unlikely): (Vec<_>, Vec<_>) = known.into_iter().partition(|(probability, _)| *probability >= 0.8);
    assert!(likely.len() > 300 && kept(&likely) > 0.85, "{} of {}", kept(&likely), likely.len());
    assert!(kept(&unlikely) < kept(&likely) - 0.2, "{}", kept(&unlikely));
}
