use job_types::job::Ending;
use job_types::number::{JobId, UserId};
use job_types::promise::ReservedRun;
use job_types::record::{AskedFor, Changed, Written};

use super::*;

/// Decided at 10,000: a job on 4 nodes of 4 CPUs, about 100 s of wait and at most 300 s, 900 to
/// 1,100 s of run time.
pub(in crate::explain) fn record() -> Record {
    let forecast = Forecast {
        wait_s: Some(100),
        wait_95_s: Some(300),
        wait_jobs: 200,
        run_s: 1_000,
        run_range_s: (900, 1_100),
        run_jobs: 50,
        ..Forecast::default()
    };
    Record {
        version: 1,
        generation: 7,
        at: UnixTime(10_000),
        nonce: None,
        mode: Mode::Enforce,
        asked: AskedFor { nodes: 4, cpus: 16, limit_s: Some(3_600), ..AskedFor::default() },
        affiliation: None,
        written: None,
        changed: None,
        forecast: Some(forecast),
        instead_of: None,
        left: Vec::new(),
    }
}

/// A job that started at 10,200 and ended at 11,200.
pub(in crate::explain) fn job() -> Job {
    Job {
        id: JobId(1),
        array_task: None,
        source: "slurmdbd",
        state: "completed",
        user: None,
        user_id: UserId(1000),
        partition: None,
        nodes: 4,
        cpus: 16,
        limit_s: Some(3_600),
        submitted: Some(10_000),
        eligible: Some(10_000),
        started: Some(10_200),
        expected_start: None,
        ended: Some(11_200),
        ending: Some(Ending::Completed),
        suspended_s: 0,
        runs: Some(1),
        earlier_runs: Vec::new(),
        admin_comment: None,
        is_believed: true,
    }
}

pub(in crate::explain) fn pending() -> Job {
    Job { state: "pending", started: None, ended: None, ending: None, ..job() }
}

fn running() -> Job {
    Job { state: "running", ended: None, ending: None, ..job() }
}

fn outcome(job: &Job, record: &Record, now: i64) -> JobOutcome {
    JobOutcome::of(job, record, UnixTime(now))
}

#[test]
fn wait_and_run_time_are_held_against_their_forecasts() {
    let kept = outcome(&job(), &record(), 20_000);
    assert_eq!((kept.wait_s, kept.wait_within_bound), (Some(200), Some(true)));
    assert_eq!((kept.run_s, kept.run_time_in_range), (Some(1_000), Some(true)));
    let late = Job { started: Some(10_301), ended: Some(11_402), ..job() };
    let missed = outcome(&late, &record(), 20_000);
    assert_eq!((missed.wait_within_bound, missed.run_time_in_range), (Some(false), Some(false)));
}

#[test]
fn time_in_suspension_is_not_run_time() {
    let suspended = Job { ended: Some(11_700), suspended_s: 500, ..job() };
    assert_eq!(outcome(&suspended, &record(), 20_000).run_s, Some(1_000));
}

#[test]
fn what_goes_on_is_open_until_it_has_missed_its_bound() {
    let waits = |now| outcome(&pending(), &record(), now).wait_within_bound;
    assert_eq!((waits(10_300), waits(10_301)), (None, Some(false)));
    let runs = |now| outcome(&running(), &record(), now).run_time_in_range;
    assert_eq!((runs(11_300), runs(11_301)), (None, Some(false)));
}

fn reserved() -> Record {
    let written = Written { limit_s: Some(4_200), begin: Some(11_400), reserved_at: Some(12_000), ..Written::default() };
    Record { written: Some(Written { hold_until: Some(12_000), ..written }), ..record() }
}

#[test]
fn a_reservation_is_kept_by_a_start_at_or_before_its_time() {
    let kept = |started: i64| outcome(&Job { started: Some(started), ended: Some(13_000), ..job() }, &reserved(), 20_000).reservation_kept;
    assert_eq!([kept(11_500), kept(12_000), kept(12_001)], [Some(true), Some(true), Some(false)]);
    let waits = |now| outcome(&pending(), &reserved(), now).reservation_kept;
    assert_eq!((waits(12_000), waits(12_001)), (None, Some(false)));
}

#[test]
fn a_reservation_of_a_job_that_was_requeued_is_kept_by_the_run_that_had_the_nodes_at_its_time() {
    let early = ReservedRun {
        submitted: UnixTime(10_000),
        started: Some(UnixTime(11_500)),
        ended: Some((UnixTime(11_700), Some(Ending::Interrupted))),
    };
    let kept = |started| {
        let again = Job { submitted: Some(11_701), started: Some(started), ended: Some(13_000), runs: Some(2), ..job() };
        outcome(&Job { earlier_runs: vec![early], ..again }, &reserved(), 20_000).reservation_kept
    };
    assert_eq!([kept(11_900), kept(12_051)], [Some(true), Some(false)]);
    let requeued_later = Job { submitted: Some(12_100), ..pending() };
    assert_eq!(outcome(&requeued_later, &reserved(), 20_000).reservation_kept, None, "another run decides");
}

#[test]
fn the_wait_on_the_nodes_belongs_to_the_wait_and_not_to_the_run_time() {
    let job = Job { started: Some(11_500), ended: Some(13_000), ..job() };
    let held = outcome(&job, &reserved(), 20_000);
    assert_eq!((held.held_s, held.wait_s, held.run_s), (Some(500), Some(2_000), Some(1_000)));
    let still = outcome(&Job { ended: None, state: "running", ..job }, &reserved(), 11_600);
    assert_eq!((still.held_s, still.run_s), (Some(100), None));
}

#[test]
fn a_deadline_is_met_by_an_end_at_or_before_it() {
    let met = |deadline, job: &Job, now| {
        let record = record();
        outcome(job, &Record { asked: AskedFor { deadline: Some(deadline), ..record.asked.clone() }, ..record }, now).deadline_met
    };
    assert_eq!([met(11_200, &job(), 20_000), met(11_199, &job(), 20_000)], [Some(true), Some(false)]);
    assert_eq!([met(11_000, &running(), 10_900), met(11_000, &running(), 11_001)], [None, Some(false)]);
    let cancelled_by_slurm = Job { state: "deadline", started: None, ended: Some(10_500), ..job() };
    assert_eq!(met(11_000, &cancelled_by_slurm, 20_000), Some(false));
}

#[test]
fn below_enforce_nothing_was_written_and_the_forecast_of_the_submitted_job_holds() {
    let instead_of = Forecast { wait_95_s: Some(50), ..Forecast::default() };
    let observed = Record { mode: Mode::Observe, instead_of: Some(instead_of.clone()), ..reserved() };
    assert_eq!(forecast_that_holds(&observed), Some(&instead_of));
    let outcome = outcome(&job(), &observed, 20_000);
    assert_eq!((outcome.wait_within_bound, outcome.reservation_kept, outcome.held_s), (Some(false), None, None));
    assert_eq!(changes(&job(), &observed), []);
}

#[test]
fn what_is_not_as_written_any_more_is_named() {
    let as_written = Job { limit_s: Some(4_200), eligible: Some(11_400), ..pending() };
    assert_eq!(changes(&as_written, &reserved()), []);
    let other = Job { limit_s: Some(7_200), eligible: Some(10_000), nodes: 2, ..pending() };
    let whats: Vec<_> = changes(&other, &reserved()).into_iter().map(|change| change.what).collect();
    assert_eq!(whats, ["limit_s", "nodes", "begin"]);
    let unlimited = Job { limit_s: None, ..as_written };
    assert_eq!(changes(&unlimited, &reserved()), [Change { what: "limit_s", written: Some(4_200), now: None }]);
}

#[test]
fn a_job_of_tasks_may_be_placed_on_other_nodes_than_were_thought_of() {
    let record = record();
    let by_tasks = Record { asked: AskedFor { tasks: Some(16), ..record.asked.clone() }, ..record };
    assert_eq!(changes(&Job { nodes: 5, ..job() }, &by_tasks), []);
}

#[test]
fn what_the_daemon_has_moved_is_what_was_written_last() {
    let moved = Changed { count: 1, at: UnixTime(10_500), begin: Some(11_000), limit_s: Some(4_800), ..Changed::default() };
    let record = Record { changed: Some(moved), ..reserved() };
    let differs = |begin, limit| {
        let job = Job { eligible: Some(begin), limit_s: Some(limit), ..pending() };
        changes(&job, &record).iter().map(|change| change.what).collect::<Vec<_>>()
    };
    assert_eq!(differs(11_000, 4_800), Vec::<&str>::new());
    assert_eq!(differs(11_400, 4_200), ["limit_s", "begin"], "somebody has put back what the filter wrote");
}
