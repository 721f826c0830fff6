use job_types::time::{Seconds, UnixTime};
use proptest::prelude::*;
use queue_plan::Resources;
use queue_plan::placement::{ClusterService, Earliest, Load, Moving, Preference, Probing, Ranking, Request, WhatIf};

use super::super::Job;
use super::{Afterwards, AsEstimated, AsTheyWill, Outcome, simulate};

const PROCESSORS: u32 = 8;

fn job(submit: i64, processors: u32, run_time: i64, estimate: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(estimate), ..Job::default() }
}

fn request(submitted: i64, takes: u32, duration: i64, [earliest_start, window]: [i64; 2]) -> Request {
    Request {
        submitted: UnixTime(submitted),
        duration: Seconds(duration),
        earliest_start: UnixTime(earliest_start),
        latest_end: UnixTime(earliest_start + window + duration),
        takes: Resources::of_cpus(takes.into()),
        preference: Preference::Earliest,
    }
}

fn run(jobs: &[Job], requests: &[Request], ranking: impl Ranking, is_patient: bool) -> Outcome {
    let service = ClusterService { ranking, probing: Probing { slots: 5, gap: Seconds(10) } };
    simulate(jobs, requests, PROCESSORS, &service, Afterwards { is_patient, ..Afterwards::default() }, &mut AsEstimated)
}

fn run_moving(jobs: &[Job], requests: &[Request], ranking: impl Ranking, moving: Moving) -> Outcome {
    let service = ClusterService { ranking, probing: Probing { slots: 5, gap: Seconds(10) } };
    simulate(jobs, requests, PROCESSORS, &service, Afterwards { moving: Some(moving), ..Afterwards::default() }, &mut AsEstimated)
}

const MOVING: Moving = Moving { notice: Seconds::ZERO, every: Seconds(10), least: Seconds(1) };

fn starts(outcome: &Outcome) -> Vec<i64> {
    outcome.starts.iter().map(|start| start.0).collect()
}

fn slots(outcome: &Outcome) -> Vec<Option<i64>> {
    outcome.requests.iter().map(|record| record.granted.map(|slot| slot.start.0)).collect()
}

#[test]
fn jobs_start_around_a_reservation_and_by_true_run_times() {
    // The first ends long before its estimate, and so does the last.
    let jobs = [job(0, 4, 10, 100), job(1, 8, 50, 50), job(1, 4, 5, 5), job(2, 4, 5, 40)];
    let outcome = run(&jobs, &[request(0, 8, 20, [40, 0])], Earliest::default(), false);
    assert_eq!(slots(&outcome), [None], "the first job runs until 100 by its estimate");
    assert_eq!(starts(&outcome), [0, 11, 1, 6]);
    let outcome = run(&jobs, &[request(0, 4, 20, [40, 0])], Earliest::default(), false);
    assert_eq!(slots(&outcome), [Some(40)]);
    // The head is locked at 100, from 10 on at 60. The fourth would run into the reservation at
    // 40 while the first runs, and no more when that has ended.
    assert_eq!(starts(&outcome), [0, 60, 1, 10]);
}

#[test]
fn the_heads_start_before_requests_are_answered_and_the_others_after() {
    let patient = [request(3, 2, 10, [5, 5])];
    // When the first job ends, the head starts, the request is granted what is left, and the last
    // job finds that taken.
    let jobs = [job(0, 8, 10, 10), job(1, 6, 10, 10), job(2, 7, 10, 10), job(2, 2, 10, 10)];
    let outcome = run(&jobs, &patient, Earliest::default(), true);
    assert_eq!((slots(&outcome), starts(&outcome)), (vec![Some(10)], vec![0, 10, 20, 30]));
    assert_eq!(outcome.requests[0].backlog_s, (8.0 * 7.0 + 60.0 + 70.0 + 20.0) / 8.0);
    let jobs = [job(0, 8, 10, 10), job(1, 7, 10, 10)];
    let outcome = run(&jobs, &patient, Earliest::default(), true);
    assert_eq!((slots(&outcome), starts(&outcome)), (vec![None], vec![0, 10]), "the head leaves too little");
}

#[test]
fn requests_are_answered_in_the_order_in_which_they_came() {
    let requests = [request(1, 5, 10, [20, 0]), request(2, 5, 10, [20, 0]), request(2, 3, 10, [20, 0])];
    assert_eq!(slots(&run(&[], &requests, Earliest::default(), false)), [Some(20), None, Some(20)]);
}

#[test]
fn a_first_answer_is_final_unless_the_request_is_patient() {
    // By its estimate the job is in the way, and it ends early.
    let jobs = [job(0, 8, 10, 100)];
    let requests = [request(1, 4, 10, [5, 20])];
    assert_eq!(slots(&run(&jobs, &requests, Earliest::default(), false)), [None]);
    assert_eq!(slots(&run(&jobs, &requests, Earliest::default(), true)), [Some(10)]);
    let late = [request(1, 4, 10, [2, 3])];
    assert_eq!(slots(&run(&jobs, &late, Earliest::default(), true)), [None], "its window has passed when the job ends");
}

#[test]
fn what_jobs_would_have_had_but_for_a_reservation_is_counted() {
    // The job of 4 processors has to wait from 1 to 30: by its estimate it would run into the
    // reservation from 10 to 30. Before that begins it is kept from four processors.
    let jobs = [job(1, 4, 20, 20)];
    let outcome = run(&jobs, &[request(0, 8, 20, [10, 0])], Earliest::default(), false);
    assert_eq!((starts(&outcome), outcome.idle_processor_s), (vec![30], 4 * 9));
    assert_eq!(run(&jobs, &[], Earliest::default(), false).idle_processor_s, 0);
}

#[test]
fn a_reservation_begins_as_soon_as_there_is_room_inside_its_window() {
    let jobs = [job(0, 8, 10, 100)];
    let requests = [request(1, 4, 10, [5, 120]), request(1, 4, 10, [40, 100])];
    assert_eq!(slots(&run(&jobs, &requests, Earliest::default(), false)), [Some(125), Some(115)]);
    let outcome = run_moving(&jobs, &requests, Earliest::default(), Moving { least: Seconds(1_000), ..MOVING });
    assert_eq!(slots(&outcome), [Some(10), Some(40)], "not before the window of the second");
    assert!(outcome.requests.iter().all(|record| record.is_early && record.moved == 0));
}

#[test]
fn a_slot_that_delays_jobs_moves_and_what_it_leaves_is_used() {
    // Two jobs run, and the reservation is granted from 50 to 80. Then four jobs come, of which the
    // third would fit from 40 to 60: the slot moves behind all of them, to 200. From 60 on there is
    // room for it beside the lock of the first of them, which starts at 100.
    let jobs = [job(0, 4, 100, 100), job(0, 2, 40, 40), job(1, 6, 50, 50), job(1, 2, 30, 30), job(1, 4, 20, 20), job(1, 8, 10, 10)];
    let requests = [request(0, 4, 30, [0, 200])];
    let fixed = run(&jobs, &requests, Earliest::default(), false);
    assert_eq!((slots(&fixed), starts(&fixed)), (vec![Some(50)], vec![0, 0, 100, 1, 80, 150]));
    let moved = run_moving(&jobs, &requests, Earliest::default(), MOVING);
    assert_eq!((slots(&moved), starts(&moved)), (vec![Some(60)], vec![0, 0, 100, 1, 40, 150]));
    assert_eq!((moved.requests[0].moved, moved.requests[0].is_early), (1, true));
}

/// The same by plans that know all jobs that come, and how long each will run.
fn run_knowing_all(jobs: &[Job], requests: &[Request]) -> Outcome {
    let service = ClusterService { ranking: WhatIf::default(), probing: Probing { slots: 5, gap: Seconds(10) } };
    let afterwards = Afterwards { moving: Some(MOVING), foresight: Some(Seconds(10_000)), ..Afterwards::default() };
    simulate(jobs, requests, PROCESSORS, &service, afterwards, &mut AsTheyWill)
}

#[test]
fn who_knows_all_that_come_places_reservations_beside_them() {
    // A job that needs the whole machine comes at 20. By plans that know nobody the first slot is
    // as good as any.
    let jobs = [job(20, 8, 30, 30)];
    let requests = [request(0, 4, 40, [0, 100])];
    let fixed = run(&jobs, &requests, WhatIf::default(), false);
    assert_eq!((slots(&fixed), starts(&fixed)), (vec![Some(0)], vec![40]));
    let knowing = run_knowing_all(&jobs, &requests);
    assert_eq!((slots(&knowing), starts(&knowing)), (vec![Some(50)], vec![20]));
}

#[test]
fn a_reservation_does_not_begin_early_where_that_delays_who_is_known_to_come() {
    // From 10 on there is room, until the second job comes at 30.
    let jobs = [job(0, 8, 10, 100), job(30, 8, 10, 10)];
    let requests = [request(1, 4, 40, [0, 200])];
    assert_eq!(starts(&run_moving(&jobs, &requests, WhatIf::default(), MOVING)), [0, 50]);
    let knowing = run_knowing_all(&jobs, &requests);
    assert_eq!((starts(&knowing), slots(&knowing)), (vec![0, 30], vec![Some(40)]));
}

/// How many processors jobs and reservations have at each time at which that changes.
fn used(jobs: &[Job], requests: &[Request], outcome: &Outcome) -> Vec<i64> {
    let of_jobs = jobs.iter().zip(&outcome.starts).map(|(job, start)| (start.0, (*start + job.run_time).0, i64::from(job.processors)));
    let granted = outcome.requests.iter().zip(requests).filter_map(|(record, request)| Some((record.granted?, request.takes.cpus)));
    let all: Vec<_> = of_jobs.chain(granted.map(|(slot, takes)| (slot.start.0, slot.end.0, takes))).collect();
    all.iter().map(|(at, ..)| all.iter().filter(|(start, end, _)| start <= at && at < end).map(|(.., takes)| takes).sum()).collect()
}

proptest! {
    #[test]
    fn there_are_never_more_processors_in_use_than_there_are(
        jobs in prop::collection::vec((0_i64..300, 1_u32..=PROCESSORS, 1_i64..60, 0_i64..60), 1..40),
        requests in prop::collection::vec((0_i64..300, 1_u32..=PROCESSORS, 1_i64..60, 0_i64..100, 0_i64..100), 0..20),
        is_patient: bool,
    ) {
        let mut jobs: Vec<Job> = jobs.into_iter().map(|(submit, size, run_time, more)| job(submit, size, run_time, run_time + more)).collect();
        jobs.sort_by_key(|job| job.submit);
        let mut requests: Vec<Request> =
            requests.into_iter().map(|(at, size, duration, ahead, window)| request(at, size, duration, [at + ahead, window])).collect();
        requests.sort_by_key(|request| request.submitted);
        let outcomes = [
            run(&jobs, &requests, WhatIf::default(), is_patient),
            run(&jobs, &requests, Load::default(), is_patient),
            run(&jobs, &requests, Earliest::default(), is_patient),
            run_moving(&jobs, &requests, WhatIf::default(), MOVING),
            run_moving(&jobs, &requests, WhatIf::default(), Moving { notice: Seconds(30), ..MOVING }),
            run_knowing_all(&jobs, &requests),
        ];
        for outcome in outcomes {
            prop_assert!(used(&jobs, &requests, &outcome).into_iter().all(|used| used <= PROCESSORS.into()));
            for (job, start) in jobs.iter().zip(&outcome.starts) {
                prop_assert!(*start >= job.submit);
            }
            for (request, record) in requests.iter().zip(&outcome.requests) {
                if let Some(slot) = record.granted {
                    prop_assert!(request.may_start(slot.start) && slot.duration() == request.duration);
                    prop_assert!(slot.start >= request.submitted);
                }
            }
        }
    }

    #[test]
    fn a_plan_that_knows_all_jobs_is_what_becomes_of_them(
        jobs in prop::collection::vec((0_i64..300, 1_u32..=PROCESSORS, 1_i64..60, 0_i64..60), 1..40),
        reserved in (1_i64..=i64::from(PROCESSORS), 1_i64..60, 0_i64..300),
    ) {
        use queue_plan::placement::{Coming, ExecutionPlan, Granted, Placed, Slot, Waiting, Workload};
        let mut jobs: Vec<Job> = jobs.into_iter().map(|(submit, size, run_time, more)| job(submit, size, run_time, run_time + more)).collect();
        jobs.sort_by_key(|job| job.submit);
        let (takes, duration, start) = reserved;
        let placeholder = Granted { slot: Slot::of(UnixTime(start), Seconds(duration)), takes: Resources::of_cpus(takes) };
        let waiting = |job: &Job| Waiting { estimate: job.estimate, runs: job.run_time, asks: Resources::of_cpus(job.processors.into()) };
        let workload = Workload {
            offers: Resources::of_cpus(PROCESSORS.into()),
            coming: jobs.iter().map(|job| Coming { at: job.submit, job: waiting(job) }).collect(),
            ..Workload::default()
        };
        let request = Request { submitted: UnixTime(-1), ..request(0, takes.try_into().unwrap(), duration, [start, 0]) };
        let outcome = run(&jobs, &[request], Earliest::default(), false);
        let plan = ExecutionPlan::of(&workload, Placed::Reservation(placeholder));
        prop_assert_eq!(plan.starts, outcome.starts.iter().map(|start| Some(Seconds(start.0))).collect::<Vec<_>>());
    }

    #[test]
    fn a_request_delays_no_head_that_has_its_lock(
        running in prop::collection::vec((1_i64..4, 1_i64..100), 0..2),
        head in (5_i64..=8, 1_i64..50),
        wanted in (1_i64..=8, 1_i64..50, 0_i64..150),
    ) {
        use queue_plan::placement::{Cycle, Granted, Running, Slot, Waiting, Workload};
        let of = |takes| Resources::of_cpus(takes);
        let mut workload = Workload {
            offers: of(8),
            running: running.into_iter().map(|(holds, until)| Running { until: UnixTime(until), ends: UnixTime(until), holds: of(holds) }).collect(),
            waiting: vec![Waiting { estimate: Seconds(head.1), runs: Seconds(head.1), asks: of(head.0) }],
            ..Workload::default()
        };
        let cycle = |workload: &Workload| Cycle::of_heads(workload.now, workload.profile(), workload.waiting.iter().copied());
        let before = cycle(&workload);
        let granted = Granted { slot: Slot::of(UnixTime(wanted.2), Seconds(wanted.1)), takes: of(wanted.0) };
        if before.has_room_for(&granted) {
            workload.granted.push(granted);
            let after = cycle(&workload);
            prop_assert_eq!((before.started(), before.lock()), (after.started(), after.lock()));
        }
    }
}
