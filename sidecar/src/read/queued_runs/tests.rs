use std::collections::HashSet;
use std::sync::Arc;

use job_types::job::{Job, WaitingJob};
use job_types::number::{JobId, UserId};
use job_types::promise::PromiseState;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::RunId;
use slurm_sys::client::JobState;
use slurm_sys::client::controller::QueuedJob;

use super::{asked, ended, live};
use crate::known::cluster::{Ended, QueuedRun};
use crate::known::made_up::{NOW, job, running};

/// The job as a run that waits or goes on, read at [`NOW`].
fn live_run(job: &QueuedJob) -> Option<QueuedRun> {
    live(job, &mut HashSet::new(), UnixTime(NOW))
}

/// The job as a run that has ended.
fn ended_run(job: &QueuedJob) -> Option<Ended> {
    ended(job, &mut HashSet::new())
}

/// The job while it waits; fails where it does not.
fn waiting(run: &QueuedRun) -> &WaitingJob<Arc<str>, Arc<str>, Arc<str>> {
    let Job::Waiting(job) = &run.run.job else { panic!("{run:?} does not wait") };
    job
}

/// A job that waits for two nodes with four CPUs each.
fn pending() -> QueuedJob {
    job(1, JobState::Pending, 2)
}

/// A job that started 60 seconds before now on two nodes with four CPUs each.
fn started(state: JobState) -> QueuedJob {
    QueuedJob { state, ..running(1, 0, 1, 60) }
}

/// A job that started 60 seconds before now, and ended 20 seconds before now.
fn ended_job(state: JobState) -> QueuedJob {
    QueuedJob { ended: Some(NOW - 20), ..started(state) }
}

/// The record of a job whose nodes are reserved from a moment on. It may start earlier, and then
/// waits on its nodes until `hold_until`.
fn record(reserved_at: i64, hold_until: i64) -> Option<String> {
    Some(format!(
        r#"{{"queuecast":{{"version":1,"generation":7,"at":{},"mode":"enforce","asked":{{"nodes":2,"cpus":8}},
        "written":{{"begin":{},"reserved_at":{reserved_at},"wanted":0.9,"hold_until":{hold_until}}},
        "forecast":{{"wait_s":50,"wait_95_s":90,"wait_from":"blended","wait_jobs":10,
        "run_s":60,"run_range_s":[60,60],"run_jobs":0,"reservation_probability":0.93}}}}}}"#,
        NOW - 100,
        NOW - 100,
    ))
}

#[test]
fn a_job_that_waits_its_turn_is_pending_and_has_not_ended() {
    let job = QueuedJob { account: Some("a".to_owned()), qos: Some("normal".to_owned()), ..pending() };
    let run = live_run(&job).unwrap();
    let expected = WaitingJob {
        user: UserId(7),
        account: Arc::from("a"),
        partition: Arc::from("main"),
        qos: Arc::from("normal"),
        size: Size { nodes: 2, cpus: 8 },
        limit: Some(Seconds(3_600)),
        eligible: UnixTime(NOW - 100),
    };
    assert_eq!(*waiting(&run), expected);
    assert_eq!(run.run.id, RunId { submitted: NOW - 100, job: JobId(1) });
    assert_eq!((run.run.tasks, run.run.array, run.run.is_held, run.runs), (1, None, false, false));
    assert_eq!(run.size, Size { nodes: 2, cpus: 8 });
    assert!(run.is_pending(UnixTime(NOW)));
    assert_eq!(ended_run(&job), None);
}

#[test]
fn a_job_that_is_held_or_waits_for_another_one_has_no_turn_yet() {
    // slurmctld tells no eligible time of either.
    let held = QueuedJob { eligible: None, priority: 0, ..pending() };
    let dependent = QueuedJob { eligible: None, has_dependency: true, ..pending() };
    for job in [held, dependent] {
        let run = live_run(&job).unwrap();
        assert!(run.run.is_held && !run.is_pending(UnixTime(NOW)) && run.coming(UnixTime(NOW)).is_none());
        assert_eq!(waiting(&run).eligible, UnixTime(NOW), "it has not waited at all");
        assert_eq!(run.run.recorded_forecast, None, "a forecast of its wait counts from when it became eligible");
    }
}

#[test]
fn a_job_that_may_begin_later_is_coming_and_not_pending() {
    let run = live_run(&QueuedJob { eligible: Some(NOW + 600), ..pending() }).unwrap();
    assert!(!run.run.is_held && !run.is_pending(UnixTime(NOW)));
    assert_eq!(run.coming(UnixTime(NOW)).map(|coming| (coming.at, coming.cpus)), Some((UnixTime(NOW + 600), 8)));
}

#[test]
fn a_job_that_names_several_partitions_waits_in_the_first_of_them() {
    let run = live_run(&QueuedJob { partition: Some("short,main,long".to_owned()), ..pending() }).unwrap();
    assert_eq!(&**run.partition(), "short");
    assert_eq!(live_run(&QueuedJob { partition: None, ..pending() }), None);
    assert_eq!(ended_run(&QueuedJob { partition: None, ..ended_job(JobState::Completed) }), None);
}

#[test]
fn an_array_waits_as_one_run_of_all_its_tasks_and_runs_task_by_task() {
    let array = QueuedJob { array_job_id: Some(JobId(1)), task_count: 30, ..pending() };
    let run = live_run(&array).unwrap();
    assert_eq!((run.run.tasks, run.run.array, run.size), (30, Some(JobId(1)), Size { nodes: 60, cpus: 240 }));
    assert_eq!(waiting(&run).size, Size { nodes: 2, cpus: 8 }, "each task asks for this");
    // slurmctld counts the tasks of a record that waits, and gives each one that runs its own.
    let task = QueuedJob { job_id: JobId(9), array_job_id: Some(JobId(1)), task_count: 30, ..started(JobState::Running) };
    let run = live_run(&task).unwrap();
    assert_eq!((run.run.id.job, run.run.tasks, run.size), (JobId(9), 1, Size { nodes: 2, cpus: 8 }));
    let ended = ended_run(&QueuedJob { ended: Some(NOW), state: JobState::Completed, ..task }).unwrap();
    assert_eq!((ended.id.job, ended.array, ended.tasks), (JobId(9), Some(JobId(1)), 1));
    let many = QueuedJob { task_count: u32::MAX, ..pending() };
    assert_eq!(live_run(&many).unwrap().size, Size { nodes: u32::MAX, cpus: u32::MAX });
}

#[test]
fn a_running_job_has_its_start_and_what_it_got_where_that_is_not_what_it_asked_for() {
    let job = started(JobState::Running);
    let Job::Running(run) = live_run(&job).unwrap().run.job else { panic!("it does not run") };
    assert_eq!((run.start, run.allocated, run.submitted.size), (UnixTime(NOW - 60), None, Size { nodes: 2, cpus: 8 }));
    // A job that asks for three CPUs gets whole nodes.
    let rounded = QueuedJob { requested_nodes: Some(1), requested_cpus: Some(3), ..job };
    let run = live_run(&rounded).unwrap();
    let Job::Running(job) = &run.run.job else { panic!("it does not run") };
    assert_eq!((job.submitted.size, job.allocated), (Size { nodes: 1, cpus: 3 }, Some(Size { nodes: 2, cpus: 8 })));
    assert_eq!(run.size, Size { nodes: 2, cpus: 8 }, "it occupies what it got");
}

#[test]
fn a_job_asks_for_at_least_one_node_and_one_cpu_whatever_slurmctld_shows() {
    let nothing = QueuedJob { nodes: 0, cpus: 0, requested_nodes: Some(0), requested_cpus: None, ..pending() };
    assert_eq!(asked(&nothing), Size { nodes: 1, cpus: 1 });
    let shown = QueuedJob { requested_nodes: Some(0), requested_cpus: Some(0), ..pending() };
    assert_eq!(asked(&shown), Size { nodes: 2, cpus: 8 });
}

#[test]
fn a_running_job_that_was_never_shown_as_eligible_became_so_as_it_started() {
    let run = live_run(&QueuedJob { eligible: None, ..started(JobState::Running) }).unwrap();
    assert!(!run.run.is_held);
    assert_eq!(run.run.job.submitted().eligible, UnixTime(NOW - 60));
}

#[test]
fn a_job_that_runs_without_nodes_is_not_taken_for_one_that_waits() {
    // slurmctld runs a job with `--nodes=0` on no node, and slurm-sys gives it no start.
    let job = QueuedJob { started: None, nodes: 0, node_ranges: Vec::new(), ..started(JobState::Running) };
    assert_eq!(live_run(&job), None);
    assert_eq!(live_run(&QueuedJob { state: JobState::Suspended, ..job }), None);
}

#[test]
fn a_suspended_job_keeps_its_start_and_does_not_get_on() {
    let run = live_run(&started(JobState::Suspended)).unwrap();
    assert_eq!(run.run.job.start(), Some(UnixTime(NOW - 60)));
    assert!(!run.runs && run.running().is_none());
    assert!(live_run(&started(JobState::Running)).unwrap().running().is_some());
}

#[test]
fn a_job_in_between_neither_goes_on_nor_has_ended() {
    // It still holds its nodes, is about to be put back into the queue, has another record with its
    // new size, or runs on another cluster.
    for state in [JobState::Completing, JobState::Resized, JobState::Revoked, JobState::Unknown(77)] {
        assert_eq!(live_run(&ended_job(state)), None, "{state:?}");
        assert_eq!(ended_run(&ended_job(state)), None, "{state:?}");
    }
    let requeued = QueuedJob { started: None, ended: None, expected_start: Some(NOW), restarts: 1, ..started(JobState::Requeued) };
    assert_eq!((live_run(&requeued), ended_run(&requeued)), (None, None));
}

#[test]
fn a_job_that_was_put_back_into_the_queue_waits_again_as_another_run() {
    let again = QueuedJob { restarts: 1, submitted: Some(NOW - 10), eligible: Some(NOW + 110), ..pending() };
    let run = live_run(&again).unwrap();
    assert_eq!(run.run.id, RunId { submitted: NOW - 10, job: JobId(1) });
    assert_eq!((waiting(&run).eligible, run.run.job.start()), (UnixTime(NOW + 110), None));
    assert_eq!(ended_run(&again), None);
}

#[test]
fn an_ended_job_has_its_times_and_its_run_without_suspensions() {
    let job = QueuedJob { suspended_seconds: 15, ..ended_job(JobState::Completed) };
    let run = ended_run(&job).unwrap();
    assert_eq!((run.job.start, run.job.end, run.job.suspended), (Some(UnixTime(NOW - 60)), UnixTime(NOW - 20), Seconds(15)));
    assert_eq!((run.job.submitted.eligible, run.job.allocated, run.is_interrupted), (UnixTime(NOW - 100), None, false));
    assert_eq!(live_run(&job), None);
    let other_size = ended_run(&QueuedJob { requested_nodes: Some(1), requested_cpus: Some(3), ..job }).unwrap();
    assert_eq!(other_size.job.allocated, Some(Size { nodes: 2, cpus: 8 }));
}

#[test]
fn a_run_is_interrupted_where_its_program_had_not_ended() {
    let interrupted = |state| ended_run(&ended_job(state)).unwrap().is_interrupted;
    for state in [JobState::Completed, JobState::Failed, JobState::Cancelled, JobState::TimedOut, JobState::OutOfMemory] {
        assert!(!interrupted(state), "{state:?}");
    }
    for state in [JobState::Preempted, JobState::NodeFailed, JobState::BootFailed] {
        assert!(interrupted(state), "{state:?}");
    }
}

#[test]
fn a_job_that_was_cancelled_while_it_waited_has_an_end_and_no_start() {
    let job = QueuedJob { ended: Some(NOW - 20), requested_nodes: Some(1), ..job(1, JobState::Cancelled, 2) };
    let run = ended_run(&job).unwrap();
    assert_eq!((run.job.start, run.job.end, run.job.allocated), (None, UnixTime(NOW - 20), None));
    assert_eq!(live_run(&job), None);
    assert_eq!(ended_run(&QueuedJob { eligible: None, ..job }), None, "it was never in the queue");
}

#[test]
fn a_job_that_waits_on_its_nodes_for_its_reserved_time_does_not_run_meanwhile() {
    let job = QueuedJob { admin_comment: record(NOW + 30, NOW + 30), ..started(JobState::Running) };
    assert_eq!(live_run(&job).unwrap().waits_on_nodes, Seconds(90));
    let waiting = QueuedJob { admin_comment: record(NOW + 30, NOW + 30), ..pending() };
    assert_eq!(live_run(&waiting).unwrap().waits_on_nodes, Seconds::ZERO, "it has no nodes");
    let ended = ended_run(&QueuedJob { suspended_seconds: 5, ended: Some(NOW + 50), state: JobState::Completed, ..job.clone() }).unwrap();
    assert_eq!((ended.job.suspended, ended.is_interrupted), (Seconds(95), false));
    let meanwhile = ended_run(&QueuedJob { ended: Some(NOW), state: JobState::Completed, ..job }).unwrap();
    assert!(meanwhile.is_interrupted, "its program never began");
}

#[test]
fn a_run_says_of_its_reservation_whether_the_nodes_were_there_at_the_time() {
    let of = |job: QueuedJob, reserved_at| QueuedJob { admin_comment: record(reserved_at, reserved_at), ..job };
    let live = |job, reserved_at| live_run(&of(job, reserved_at)).unwrap().run.promise.map(|promise| promise.state);
    let ended = |job, reserved_at| ended_run(&of(job, reserved_at)).unwrap().promise.map(|promise| promise.state);
    assert_eq!(live(pending(), NOW + 30), None);
    assert_eq!(live(pending(), NOW - 50), Some(PromiseState::Missed));
    assert_eq!(live(started(JobState::Running), NOW - 50), Some(PromiseState::Kept));
    let requeued = QueuedJob { submitted: Some(NOW - 40), ..pending() };
    assert_eq!(live(requeued, NOW - 50), None, "it was put back into the queue later");
    assert_eq!(ended(ended_job(JobState::Completed), NOW - 50), Some(PromiseState::Kept));
    let preempted = QueuedJob { ended: Some(NOW - 55), ..ended_job(JobState::Preempted) };
    assert_eq!(ended(preempted, NOW - 50), Some(PromiseState::Open));
    let cancelled = QueuedJob { ended: Some(NOW - 20), ..job(1, JobState::Cancelled, 2) };
    assert_eq!(ended(cancelled.clone(), NOW - 50), Some(PromiseState::Missed));
    assert_eq!(ended(cancelled, NOW + 30), Some(PromiseState::Withdrawn));
}

#[test]
fn the_forecast_in_a_jobs_record_counts_from_when_it_became_eligible() {
    let later = QueuedJob { eligible: Some(NOW - 80), admin_comment: record(NOW, NOW), ..pending() };
    let forecast = live_run(&later).unwrap().run.recorded_forecast.unwrap();
    assert_eq!((forecast.point_s, forecast.bound_95_s), (30.0, 70));
    assert_eq!(live_run(&pending()).unwrap().run.recorded_forecast, None);
}

#[test]
fn one_copy_of_each_name_is_kept_for_all_jobs() {
    let mut names = HashSet::new();
    let first = live(&pending(), &mut names, UnixTime(NOW)).unwrap();
    let second = ended(&ended_job(JobState::Completed), &mut names).unwrap();
    assert!(Arc::ptr_eq(first.partition(), &second.job.submitted.partition));
}
