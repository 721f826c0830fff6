#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::sweep::{EventKind, PUBLISHED_FOR, Sweep, events};
use crate::training::Training;
use crate::waits::blended::Settings;
use crate::waits::qbets::Qbets;
use job_types::number::{AccountIndex, JobId, PartitionIndex, QosIndex, UserId};
use job_types::record::WaitSource;
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::reliability::WaitSourceReason;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CPUS: u32 = 16;
/// When the synthetic pasts begin.
const BEGIN: i64 = 1_000_000;

type Told = Run<NamedJob<'static>>;

/// A job with a start and an end, where it has them.
fn told(
    submitted: WaitingJob<&'static str, PartitionIndex, &'static str>,
    start: Option<UnixTime>,
    end: Option<UnixTime>,
) -> NamedJob<'static> {
    let job = Job::Waiting(submitted);
    let job = start.map_or(job, |start| job.started(start, None));
    end.map_or(job, |end| job.ended(end, Seconds::ZERO))
}

fn run(job: u32, eligible: i64, start: Option<i64>, end: Option<i64>) -> Told {
    let submitted = WaitingJob {
        user: UserId(1_000 + job % 5),
        account: if job.is_multiple_of(2) { "physics" } else { "biology" },
        partition: PartitionIndex(0),
        qos: "normal",
        size: Size { nodes: 1, cpus: 1 + job % 4 },
        limit: Some(Seconds(600 * i64::from(1 + job % 3))),
        eligible: UnixTime(eligible),
    };
    Run {
        id: RunId { submitted: eligible, job: JobId(job) },
        array: None,
        tasks: 1,
        is_held: false,
        job: told(submitted, start.map(UnixTime), end.map(UnixTime)),
        recorded_forecast: None,
        promise: None,
        admission: None,
        is_in_slot: false,
        is_interrupted: false,
    }
}

/// The latest end.
fn last_end(runs: &[Told]) -> i64 {
    runs.iter().filter_map(|run| run.job.end()).max().unwrap().0
}

fn eligible(run: &Told) -> UnixTime {
    run.job.submitted().eligible
}

/// Tells of a run that has ended.
fn ended(learner: &mut Learner, run: &Told) -> bool {
    let Job::Ended(job) = run.job else { panic!("it has not ended") };
    learner.ended(&run.with(job))
}

/// Jobs first come, first served on a small machine, some of them cancelled while they wait; in
/// order of eligibility.
fn past(jobs: u32, seed: u64) -> Vec<Told> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut free_at = vec![BEGIN; CPUS as usize];
    let mut eligible = BEGIN;
    (1..=jobs)
        .map(|job| {
            eligible += random.random_range(1..60);
            free_at.sort_unstable();
            let cpus = run(job, eligible, None, None).job.submitted().size.cpus as usize;
            let start = free_at[cpus - 1].max(eligible);
            let patience = random.random_range(0..500);
            if job % 17 == 0 && eligible + patience < start {
                return run(job, eligible, None, Some(eligible + patience));
            }
            let end = start + random.random_range(1..300);
            free_at[..cpus].fill(end);
            run(job, eligible, Some(start), Some(end))
        })
        .collect()
}

/// What slurmctld shows at a moment.
fn live(runs: &[Told], now: i64) -> Vec<Told> {
    let now = UnixTime(now);
    let shown = runs.iter().filter(|run| eligible(run) <= now && run.job.end() > Some(now));
    shown.map(|run| run.with(told(*run.job.submitted(), run.job.start().filter(|start| *start <= now), None))).collect()
}

/// Tells what ended in a stretch, and refreshes at its end.
fn refresh(learner: &mut Learner, runs: &[Told], from: i64, now: i64) -> Refreshed {
    for run in runs.iter().filter(|run| run.job.end() > Some(UnixTime(from)) && run.job.end() <= Some(UnixTime(now))) {
        assert!(ended(learner, run));
    }
    learner.refresh(live(runs, now), UnixTime(now))
}

fn settings() -> LearnerSettings {
    let training = Training { trees: 10, leaves: 8, ..Training::default() };
    LearnerSettings {
        waits: Settings { training, first_training: 200, training_interval: 400, ..Settings::default() },
        most_taught: 100,
        ..LearnerSettings::default()
    }
}

fn learner() -> Learner {
    let mut learner = Learner::new(settings());
    learner.set_cpus(CPUS);
    learner
}

/// The job as the learner knows it, which numbers accounts in the order in which it hears of them.
fn job_of(run: &Told, account: AccountIndex) -> EndedJob {
    let Job::Ended(job) = run.job else { panic!("it has not ended") };
    job.of(account, job.submitted.partition, QosIndex(1))
}

#[test]
fn refresh_by_refresh_jobs_see_what_they_see_in_one_sweep() {
    let runs = past(1_500, 1);
    let end = last_end(&runs);
    let mut learner = learner();
    let mut from = 0;
    // The learner is refreshed on the grid of minutes, as the sweep has its rounds.
    for now in (BEGIN / 60 * 60..=end + 60).step_by(60) {
        refresh(&mut learner, &runs, from, now);
        from = now;
    }
    assert_eq!((learner.past().len(), learner.open_runs()), (1_500, 0));
    // Accounts are numbered as they were first heard of: of job 1, then of job 2.
    let heard = learner.past().job(0).unwrap().submitted().account;
    let jobs: Vec<EndedJob> = runs
        .iter()
        .map(|run| job_of(run, if run.job.submitted().account == "biology" { heard } else { AccountIndex(3 - heard.0) }))
        .collect();
    let whole = Sweep::over_rounds(&jobs, CPUS, 0, Seconds(60));
    for (row, job) in jobs.iter().enumerate() {
        assert_eq!(learner.past().job(row), Some(&Job::Ended(*job)), "{row}");
        assert_eq!(learner.past().features(row), whole.features(row), "{row}");
    }
}

#[test]
fn the_first_refresh_sees_what_one_sweep_sees_and_goes_on_from_there() {
    let runs = past(1_200, 2);
    let every = PUBLISHED_FOR.0;
    let middle = (eligible(&runs[800]).0 / every + 1) * every;
    let end = last_end(&runs);
    let mut learner = learner();
    refresh(&mut learner, &runs, 0, middle);
    assert!(learner.is_filled() && learner.open_runs() > 0);
    for from in (middle..end).step_by(every as usize) {
        refresh(&mut learner, &runs, from, from + every);
    }
    assert_eq!((learner.past().len(), learner.open_runs()), (1_200, 0));
    let heard = learner.past().job(0).unwrap().submitted().account;
    let jobs: Vec<EndedJob> = runs
        .iter()
        .map(|run| job_of(run, if run.job.submitted().account == "biology" { heard } else { AccountIndex(3 - heard.0) }))
        .collect();
    let whole = Sweep::over(&jobs, CPUS, 0);
    assert!((0..jobs.len()).all(|row| learner.past().features(row) == whole.features(row)));
}

#[test]
fn no_forecast_changes_when_the_future_does() {
    let runs = past(2_000, 3);
    let now = eligible(&runs[1_500]).0;
    let known = |marker: bool| {
        let mut runs = runs.clone();
        for run in &mut runs {
            // What starts or ends later does so a month later, and who arrives later is somebody
            // else.
            let later = |moment: UnixTime| moment + Seconds(2_592_000);
            let (mut submitted, mut start, mut end) = (*run.job.submitted(), run.job.start(), run.job.end());
            if end > Some(UnixTime(now)) && marker {
                end = end.map(later);
                start = start.map(|start| if start.0 > now { later(start) } else { start });
            }
            if submitted.eligible > UnixTime(now) && marker {
                submitted.user = UserId(9);
            }
            *run = run.with(told(submitted, start, end));
        }
        let mut learner = learner();
        refresh(&mut learner, &runs, 0, now);
        let mut model = learner.model(0.95);
        model.groups.sort_unstable_by_key(|(key, _)| *key);
        model.users.sort_unstable_by_key(|user| user.user);
        format!("{model:?}")
    };
    assert!(known(false) == known(true));
}

#[test]
fn forecasts_are_scored_and_take_over_where_they_hold() {
    let runs = past(3_000, 4);
    let end = last_end(&runs);
    let mut learner = learner();
    let middle = eligible(&runs[2_000]).0;
    let first = refresh(&mut learner, &runs, 0, middle);
    assert!(learner.scores(PartitionIndex(0)).unwrap().jobs() > 500);
    assert_eq!(first.changes.len(), 1);
    assert_eq!(first.changes[0].now, Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated }, "{first:?}");
    let before = learner.scores(PartitionIndex(0)).unwrap().clone();
    refresh(&mut learner, &runs, middle, end);
    assert_ne!(learner.scores(PartitionIndex(0)), Some(&before), "and go on to be scored, as jobs come");
    let retraining = learner.retraining().unwrap();
    learner.adopt(retraining.run().unwrap());
    let model = learner.model(0.95);
    assert_eq!((model.scores.len(), model.scores[0].source, model.cpus), (1, WaitSource::Blended, CPUS));
    assert_eq!(model.qos, ["", "normal"]);
}

#[test]
fn a_long_queue_does_not_take_the_place_of_the_past_that_forecasts_are_tried_on() {
    let mut runs = past(3_000, 4);
    let now = last_end(&runs);
    let is_in_force = |runs: &[Told]| {
        let mut learner = learner();
        refresh(&mut learner, runs, 0, now);
        (learner.choice(PartitionIndex(0)).unwrap().source, learner.scores(PartitionIndex(0)).unwrap().jobs() > 500)
    };
    let before = is_in_force(&runs);
    let waiting = (0..REPLAYED as u32 + 1_000).map(|job| run(10_000 + job, now - 10, Some(now + 500), Some(now + 1_000)));
    runs.extend(waiting);
    assert_eq!(is_in_force(&runs), before);
    assert_eq!(before, (WaitSource::Blended, true));
}

#[test]
fn a_short_past_falls_back_and_says_why() {
    let short = |jobs| {
        let runs = past(jobs, 5);
        let mut learner = learner();
        let refreshed = refresh(&mut learner, &runs, 0, BEGIN + 10_000_000);
        assert_eq!(refreshed.changes.len(), 1);
        (learner.choice(PartitionIndex(0)).unwrap().source, learner.choice(PartitionIndex(0)).unwrap().reason)
    };
    assert_eq!(short(40), (WaitSource::Nothing, WaitSourceReason::NotTrained));
    assert_eq!(short(150), (WaitSource::Qbets, WaitSourceReason::NotTrained));
    assert_eq!(short(400), (WaitSource::Qbets, WaitSourceReason::TooFewJobs));
}

#[test]
fn forecasts_that_stop_to_hold_are_given_up() {
    let mut runs = past(3_000, 4);
    let middle = eligible(&runs[2_000]).0;
    let mut learner = learner();
    let first = refresh(&mut learner, &runs, 0, middle);
    assert_eq!(learner.choice(PartitionIndex(0)).unwrap().source, WaitSource::Blended, "{first:?}");
    // From here on jobs wait for a day, whatever the queue is like.
    runs.retain(|run| eligible(run) > UnixTime(middle));
    for run in &mut runs {
        if let (Some(start), Some(end)) = (run.job.start(), run.job.end()) {
            let day = Seconds(86_400);
            *run = run.with(told(*run.job.submitted(), Some(start + day), Some(end + day)));
        }
    }
    let mut from = middle;
    let mut given_up = Vec::new();
    for now in (middle..middle + 2 * 86_400).step_by(600) {
        given_up.extend(refresh(&mut learner, &runs, from, now).changes);
        from = now;
    }
    let now = given_up.first().unwrap().now;
    assert_eq!((now.source, now.reason), (WaitSource::Qbets, WaitSourceReason::NotCalibrated));
}

#[test]
fn a_requeued_runs_wait_counts_and_its_run_time_does_not() {
    let mut learner = learner();
    learner.refresh([], UnixTime(BEGIN));
    let whole = run(5, BEGIN + 1, Some(BEGIN + 11), Some(BEGIN + 111));
    let interrupted = Run { is_interrupted: true, ..run(5, BEGIN + 2, Some(BEGIN + 30), Some(BEGIN + 33)) };
    let again = Run { id: RunId { submitted: BEGIN + 33, job: JobId(5) }, ..run(5, BEGIN + 40, Some(BEGIN + 50), None) };
    assert!(ended(&mut learner, &whole) && ended(&mut learner, &interrupted));
    learner.refresh([again], UnixTime(BEGIN + 200));
    assert_eq!((learner.past().len(), learner.open_runs()), (3, 1));
    let model = learner.model(0.95);
    assert_eq!(model.users[0].last_two_s, Some([100.0; 2]));
    let of_sizes = model.run_times.iter().filter(|(like, _)| like.is_users_size());
    let told: Vec<u32> = of_sizes.map(|(_, run_times)| run_times.jobs).collect();
    assert_eq!(told, [1, 1], "once in nodes, once in CPUs");
    let waits: Vec<i64> = (0..3).map(|row| learner.past().job(row).unwrap().wait().unwrap().0).collect();
    assert_eq!(waits, [10, 28, 10]);
}

#[test]
fn tasks_of_an_array_wait_together_and_start_one_by_one() {
    let mut learner = learner();
    learner.refresh([], UnixTime(BEGIN));
    let array = Run { array: Some(JobId(7)), tasks: 5, ..run(7, BEGIN + 10, None, None) };
    learner.refresh([array], UnixTime(BEGIN + 20));
    assert_eq!((learner.past().len(), learner.open_runs()), (5, 5));
    // The first task becomes a job of its own, the second has started and ended between two looks.
    let task =
        |job, start, end| Run { id: RunId { submitted: BEGIN + 10, job }, array: Some(JobId(7)), ..run(7, BEGIN + 10, Some(start), end) };
    assert!(ended(&mut learner, &task(JobId(9), BEGIN + 30, Some(BEGIN + 40))));
    learner.refresh([task(JobId(8), BEGIN + 25, None), Run { tasks: 3, ..array }], UnixTime(BEGIN + 50));
    assert_eq!((learner.past().len(), learner.open_runs()), (5, 4));
    let started = (0..5).filter(|row| learner.past().job(*row).unwrap().start().is_some());
    assert_eq!(started.count(), 2);
    // Told again by slurmctld, which still shows it, and by slurmdbd.
    assert!(ended(&mut learner, &task(JobId(9), BEGIN + 30, Some(BEGIN + 40))));
    learner.refresh(
        [task(JobId(8), BEGIN + 25, None), task(JobId(9), BEGIN + 30, Some(BEGIN + 40)), Run { tasks: 3, ..array }],
        UnixTime(BEGIN + 60),
    );
    assert_eq!((learner.past().len(), learner.open_runs()), (5, 4));
    // The others are cancelled: one record for all, at once.
    let rest = Run { array: Some(JobId(7)), ..run(7, BEGIN + 10, None, Some(BEGIN + 70)) };
    assert!(ended(&mut learner, &rest));
    learner.refresh([task(JobId(8), BEGIN + 25, None)], UnixTime(BEGIN + 80));
    assert_eq!((learner.past().len(), learner.open_runs()), (5, 1));
}

#[test]
fn a_held_job_leaves_the_queue_and_arrives_anew_when_it_is_released() {
    let mut learner = learner();
    learner.refresh([run(1, BEGIN - 10, None, None)], UnixTime(BEGIN));
    assert_eq!(learner.open_runs(), 1);
    let id = RunId { submitted: BEGIN - 10, job: JobId(1) };
    learner.refresh([Run { id, is_held: true, ..run(1, BEGIN + 30, None, None) }], UnixTime(BEGIN + 30));
    assert_eq!((learner.past().len(), learner.open_runs()), (1, 0));
    learner.refresh([Run { id, ..run(1, BEGIN + 40, None, None) }], UnixTime(BEGIN + 60));
    learner.refresh([Run { id, ..run(1, BEGIN + 40, Some(BEGIN + 70), None) }], UnixTime(BEGIN + 90));
    assert_eq!((learner.past().len(), learner.open_runs()), (2, 1));
    assert_eq!(learner.past().job(1).unwrap().wait(), Some(Seconds(30)));
    assert_eq!(learner.past().job(0).unwrap().wait(), None);
}

#[test]
fn run_times_of_the_past_and_of_the_present_are_published() {
    let runs = past(600, 8);
    let mut learner = learner();
    let middle = eligible(&runs[400]).0;
    refresh(&mut learner, &runs, 0, middle);
    let jobs = |learner: &mut Learner, unit| -> u32 {
        let run_times = learner.model(0.95).run_times;
        let of_unit = run_times.iter().filter(|(like, _)| like.is_users_size() && like.size.is_some_and(|(of, _)| of == unit));
        of_unit.map(|(_, model)| model.jobs).sum()
    };
    let ran = |until: i64| runs.iter().filter(|run| run.job.start().is_some() && run.job.end() <= Some(UnixTime(until))).count() as u32;
    assert_eq!([jobs(&mut learner, Unit::Nodes), jobs(&mut learner, Unit::Cpus)], [ran(middle); 2]);
    refresh(&mut learner, &runs, middle, BEGIN + 10_000_000);
    assert_eq!([jobs(&mut learner, Unit::Nodes), jobs(&mut learner, Unit::Cpus)], [ran(i64::MAX); 2]);
    // Five users on one node; each of them with one to four CPUs.
    let run_times = learner.model(0.95).run_times;
    assert_eq!(run_times.keys().filter(|like| like.is_users_size()).count(), 5 + 5 * 4);
    let shortest = run_times.values().flat_map(|model| model.ranges.first()).map(|range| range.lower()).min();
    assert!(shortest < Some(Seconds(30)));
}

#[test]
fn memory_is_bounded() {
    let runs = past(30_000, 7);
    let settings = LearnerSettings { most_rows: 5_000, ..settings() };
    let mut learner = Learner::new(settings);
    learner.set_cpus(CPUS);
    refresh(&mut learner, &runs, 0, BEGIN + 100_000_000);
    assert_eq!(learner.past().len(), 30_000);
    assert!(learner.past().first_row() >= 30_000 - 5_000 - 2 * 4_096, "{}", learner.past().first_row());
    assert_eq!(learner.scores(PartitionIndex(0)).unwrap().jobs(), 2_000);
}

#[test]
fn contradictory_records_are_not_taken() {
    let mut learner = learner();
    assert!(!ended(&mut learner, &run(1, BEGIN, Some(BEGIN + 20), Some(BEGIN + 10))));
    assert!(!ended(&mut learner, &run(1, BEGIN, None, Some(BEGIN - 10))));
    assert!(!ended(&mut learner, &run(1, 0, None, Some(BEGIN + 10))), "it was never eligible");
}

#[test]
fn the_fallback_is_qbets_as_it_is_evaluated() {
    let mut runs = past(1_500, 6);
    for run in &mut runs {
        let submitted = *run.job.submitted();
        let partition = PartitionIndex((submitted.user.0 % 2) as u16);
        run.job = run.job.of(submitted.account, partition, submitted.qos);
    }
    // Most have ended by then; some run, whose waits are known; some wait.
    let now = eligible(&runs[1_400]).0;
    let mut learner = learner();
    let mut from = eligible(&runs[700]).0;
    refresh(&mut learner, &runs, 0, from);
    for moment in (from + 60..now).step_by(60).chain([now]) {
        refresh(&mut learner, &runs, from, moment);
        from = moment;
    }
    let jobs: Vec<EndedJob> = runs.iter().map(|run| job_of(run, AccountIndex(0))).collect();
    let mut evaluated = Qbets::new();
    let started = events(&jobs).into_iter().filter(|event| event.kind == EventKind::Start && event.at.0 <= now);
    for event in started {
        let job = &jobs[event.job as usize];
        evaluated.observe(&job.submitted, job.wait().unwrap());
    }
    let classes = learner.model(0.9).classes;
    assert_eq!(classes, evaluated.classes(0.9));
    let partitions: Vec<PartitionIndex> = classes.iter().map(|class| class.partition).collect();
    assert!(
        partitions.contains(&PartitionIndex(0)) && partitions.contains(&PartitionIndex(1)) && classes.iter().all(|class| class.jobs > 100),
        "{partitions:?}"
    );
}

#[test]
fn a_wait_until_a_firm_slot_is_no_wait_in_the_queue_though_its_job_has_its_nodes() {
    let mut runs = past(1_500, 6);
    for run in runs.iter_mut().step_by(7) {
        run.is_in_slot = true;
    }
    let now = eligible(&runs[1_400]).0;
    let mut learner = learner();
    let mut from = eligible(&runs[700]).0;
    refresh(&mut learner, &runs, 0, from);
    for moment in (from + 60..now).step_by(60).chain([now]) {
        refresh(&mut learner, &runs, from, moment);
        from = moment;
    }
    let jobs: Vec<EndedJob> = runs.iter().map(|run| job_of(run, AccountIndex(0))).collect();
    let classes = |counts: fn(usize) -> bool| {
        let mut evaluated = Qbets::new();
        let started = events(&jobs).into_iter().filter(|event| event.kind == EventKind::Start && event.at.0 <= now);
        for job in started.filter(|event| counts(event.job as usize)).map(|event| &jobs[event.job as usize]) {
            evaluated.observe(&job.submitted, job.wait().unwrap());
        }
        evaluated.classes(0.9)
    };
    let learnt = learner.model(0.9).classes;
    assert_eq!(learnt, classes(|row| row % 7 != 0));
    assert_ne!(learnt, classes(|_row| true));
    assert_eq!(learner.open_runs(), live(&runs, now).len());
}

/// A learner that has been through a past, and has seen the queue of its end.
fn filled(runs: &[Told], now: i64) -> Learner {
    let mut learner = learner();
    refresh(&mut learner, runs, 0, now);
    learner
}

#[test]
fn who_is_cancelled_has_waited_at_least_so_long_and_counts() {
    let runs = past(3_000, 4);
    let now = last_end(&runs);
    let waiting = |job| run(job, now + 10, None, None);
    let scored = |cancelled: bool| {
        let mut learner = filled(&runs, now);
        let before = learner.scores(PartitionIndex(0)).unwrap().clone();
        for step in (30..=200_000).step_by(10_000) {
            learner.refresh((9_001..9_101).map(waiting), UnixTime(now + step));
        }
        for job in 9_001..9_101 {
            let gone = run(job, now + 10, None, Some(now + 200_000));
            // It is not known how an interrupted run would have gone on.
            assert!(ended(&mut learner, &Run { is_interrupted: !cancelled, ..gone }));
        }
        learner.refresh([], UnixTime(now + 200_030));
        assert_eq!(learner.open_runs(), 0);
        (before, learner.scores(PartitionIndex(0)).unwrap().clone())
    };
    let (before, after) = scored(true);
    // After two days each of them has outwaited every bound.
    assert!(after.coverage(0.95) < before.coverage(0.95) - 0.03, "{} {}", before.coverage(0.95), after.coverage(0.95));
    let (before, after) = scored(false);
    assert_eq!(before, after);
}

#[test]
fn what_the_filter_told_is_held_against_the_wait_and_not_what_would_have_been_forecast() {
    let runs = past(3_000, 4);
    let now = last_end(&runs);
    let coverage = |bound_95_s| {
        let mut learner = filled(&runs, now);
        let recorded_forecast = Some(RecordedForecast { point_s: 0.0, bound_95_s });
        let jobs = |start: Option<i64>| (9_001..9_601).map(move |job| Run { recorded_forecast, ..run(job, now + 10, start, None) });
        learner.refresh(jobs(None), UnixTime(now + 30));
        learner.refresh(jobs(Some(now + 50)), UnixTime(now + 60));
        learner.scores(PartitionIndex(0)).unwrap().coverage(0.95)
    };
    let [kept, broken] = [coverage(1_000), coverage(20)];
    assert!(kept - broken > 0.2, "kept {kept}, broken {broken}");
}

#[test]
fn forecasts_whose_bounds_hold_but_are_far_too_long_are_given_up() {
    let runs = past(3_000, 4);
    let now = last_end(&runs);
    let mut learner = filled(&runs, now);
    assert_eq!(learner.choice(PartitionIndex(0)).unwrap().source, WaitSource::Blended);
    let recorded_forecast = Some(RecordedForecast { point_s: 0.0, bound_95_s: 1_000_000 });
    let jobs = |start: Option<i64>| (9_001..9_601).map(move |job| Run { recorded_forecast, ..run(job, now + 10, start, None) });
    learner.refresh(jobs(None), UnixTime(now + 30));
    let given_up = learner.refresh(jobs(Some(now + 50)), UnixTime(now + 60)).changes;
    let [default_s, qbets_s] = given_up[0].losses_s;
    assert_eq!(given_up[0].now, Choice { source: WaitSource::Qbets, reason: WaitSourceReason::LargerLoss });
    assert!(default_s > 2.0 * qbets_s, "{given_up:?}");
}

#[test]
fn what_a_late_arrival_saw_is_not_made_up_from_a_later_state() {
    let runs = past(3_000, 4);
    let now = last_end(&runs);
    let mut learner = filled(&runs, now);
    learner.refresh([], UnixTime(now + 30));
    learner.refresh([], UnixTime(now + 60));
    let outcomes = learner.scores(PartitionIndex(0)).unwrap().clone();
    let trained_on = |learner: &Learner| learner.waits.clone().jobs_known();
    let known = trained_on(&learner);
    // Started and ended before the state that is in force now was published.
    let late = run(9_001, now + 10, Some(now + 20), Some(now + 25));
    assert!(ended(&mut learner, &late));
    learner.refresh([], UnixTime(now + 90));
    assert_eq!((learner.scores(PartitionIndex(0)).unwrap(), trained_on(&learner)), (&outcomes, known));
    // This record comes in time and is learnt from.
    let in_time = run(9_002, now + 100, Some(now + 105), Some(now + 110));
    assert!(ended(&mut learner, &in_time));
    learner.refresh([], UnixTime(now + 120));
    assert_eq!((learner.scores(PartitionIndex(0)).unwrap() == &outcomes, trained_on(&learner)), (false, known + 1));
}

#[test]
fn a_job_is_known_by_what_it_asked_for_and_occupies_what_it_got() {
    let mut learner = learner();
    learner.refresh([], UnixTime(BEGIN));
    let (asked, got) = (Size { nodes: 1, cpus: 2 }, Size { nodes: 1, cpus: 4 });
    let waiting = run(1, BEGIN + 10, None, None);
    learner.refresh([waiting], UnixTime(BEGIN + 30));
    let running = waiting.with(waiting.job.started(UnixTime(BEGIN + 40), Some(got)));
    learner.refresh([running], UnixTime(BEGIN + 60));
    let cluster = |learner: &mut Learner| {
        let groups = learner.model(0.95).groups;
        groups.into_iter().find(|(key, _)| key.kind == predictor_core::forecasts::past::GroupKind::Cluster).unwrap().1
    };
    assert_eq!(cluster(&mut learner).running.cpus, 4.0);
    // The record says the same of a job that was never seen to wait.
    let at = |end: i64| running.with(running.job.ended(UnixTime(end), Seconds::ZERO));
    assert!(ended(&mut learner, &at(BEGIN + 70)));
    assert!(ended(&mut learner, &Run { id: RunId { submitted: BEGIN, job: JobId(2) }, ..at(BEGIN + 80) }));
    learner.refresh([], UnixTime(BEGIN + 90));
    for row in 0..2 {
        let job = learner.past().job(row).unwrap();
        assert_eq!((job.submitted().size, job.occupied()), (asked, got));
    }
    assert_eq!(cluster(&mut learner).running.cpus, 0.0);
}
