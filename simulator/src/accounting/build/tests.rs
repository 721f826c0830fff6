use super::*;

fn run(id: u64, eligible: i64, started: Option<i64>, ended: i64) -> AccountedRun<'static> {
    AccountedRun {
        id,
        submitted: Some(UnixTime(eligible)),
        eligible: Some(UnixTime(eligible)),
        started: started.map(UnixTime),
        ended: Some(UnixTime(ended)),
        allocated_cpus: started.map(|_| 4),
        requested_cpus: Some(4),
        limit: Limit::Seconds(600),
        ending: Some(Status::Completed),
        user: "alice",
        account: "physics",
        partition: "batch",
        name: "model",
        ..AccountedRun::default()
    }
}

fn log(runs: &[AccountedRun<'_>], choices: &Choices<'_>) -> (Log, Vec<String>) {
    let mut builder = LogBuilder::new();
    runs.iter().for_each(|run| builder.add(run));
    let (log, remarks) = builder.finish(choices);
    let told = remarks.iter().map(|remark| format!("{} {}", remark.records.unwrap_or(0), remark.what)).collect();
    (log, told)
}

#[test]
fn runs_are_jobs_in_the_order_in_which_they_became_eligible() {
    let runs = [
        AccountedRun { user: "bob", partition: "short,batch", name: "", ..run(7, 2_000, Some(2_060), 2_160) },
        run(3, 1_000, Some(1_010), 1_310),
        AccountedRun { ending: Some(Status::Cancelled), limit: Limit::Unlimited, ..run(4, 1_500, None, 1_600) },
    ];
    let (log, told) = log(&runs, &Choices { with_partition_names: true, ..Choices::default() });
    assert_eq!(told, ["0 the machine is taken to have 4 processors, the most that were in use at once"]);
    assert_eq!((log.header.unix_start_time(), log.header.max_processors()), (Some(1_000), Some(4)));
    assert_eq!(Vec::from_iter(log.header.partitions()), [(1, "batch".to_owned()), (2, "short".to_owned())]);
    let first = Record {
        job_number: 1,
        submit_time_seconds: Some(0),
        wait_time_seconds: Some(10),
        run_time_seconds: Some(300),
        allocated_processors: Some(4),
        requested_processors: Some(4),
        requested_time_seconds: Some(600),
        status: Some(Status::Completed),
        user: Some(1),
        group: Some(1),
        executable: Some(1),
        partition: Some(1),
        ..Record::default()
    };
    assert_eq!(log.records[0], first);
    let cancelled = Record {
        job_number: 2,
        submit_time_seconds: Some(500),
        wait_time_seconds: Some(100),
        run_time_seconds: None,
        allocated_processors: None,
        requested_time_seconds: Some(NO_LIMIT_SECONDS),
        status: Some(Status::Cancelled),
        ..first.clone()
    };
    assert_eq!(log.records[1], cancelled);
    let other = &log.records[2];
    assert_eq!((other.user, other.group, other.executable, other.partition), (Some(2), Some(1), None, Some(2)));
}

#[test]
fn what_is_told_does_not_depend_on_the_order_in_which_it_comes() {
    let runs = [run(1, 10, Some(20), 30), AccountedRun { user: "bob", ..run(2, 10, Some(20), 30) }, run(3, 5, None, 9)];
    let mut turned = runs.clone();
    turned.reverse();
    assert_eq!(log(&runs, &Choices::default()), log(&turned, &Choices::default()));
}

#[test]
fn nodes_go_with_a_job_and_qualities_of_service_are_numbered_in_the_order_of_the_log() {
    let runs = [
        AccountedRun { qos: "express", requested_nodes: Some(2), allocated_nodes: Some(4), ..run(2, 20, Some(30), 40) },
        AccountedRun { qos: "normal", requested_nodes: Some(0), allocated_nodes: Some(0), ..run(1, 10, Some(20), 30) },
        AccountedRun { qos: "normal", ..run(3, 30, None, 40) },
        run(4, 40, None, 50),
    ];
    let (log, _) = log(&runs, &Choices::default());
    let accounted = |nodes: Option<(u32, u32)>, qos: Option<u16>| Accounted {
        requested_nodes: nodes.map(|(requested, _)| requested),
        allocated_nodes: nodes.map(|(_, allocated)| allocated),
        qos: qos.map(QosIndex),
    };
    let found: Vec<Accounted> = log.records.iter().map(|record| record.accounted).collect();
    assert_eq!(found, [accounted(None, Some(1)), accounted(Some((2, 4)), Some(2)), accounted(None, Some(1)), accounted(None, None)]);
}

#[test]
fn names_are_left_out_unless_they_are_asked_for() {
    let (log, _) = log(&[run(1, 10, Some(20), 30)], &Choices::default());
    let mut text = Vec::new();
    crate::swf::write(&mut text, &log.header, &log.records).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(["alice", "physics", "batch", "model"].iter().all(|name| !text.contains(name)), "{text}");
}

#[test]
fn suspended_time_is_no_run_time() {
    let suspended = AccountedRun { suspended: Seconds(40), ..run(1, 0, Some(10), 110) };
    let (log, told) = log(&[suspended], &Choices { processors: Some(8), ..Choices::default() });
    assert_eq!(log.records[0].run_time_seconds, Some(60));
    assert_eq!(told, ["1 of jobs that were suspended, for a time that is taken off their run times"]);
    assert_eq!(log.header.max_processors(), Some(8));
}

#[test]
fn the_machine_is_as_large_as_it_is_now_unless_more_was_in_use() {
    let runs = [run(1, 0, Some(10), 110), run(2, 0, Some(20), 110), run(3, 0, Some(110), 120)];
    let size = |processors, processors_now| {
        let (log, told) = log(&runs, &Choices { processors, processors_now, ..Choices::default() });
        (log.header.max_processors(), told.len())
    };
    assert_eq!([size(None, Some(16)), size(None, Some(6)), size(None, None)], [(Some(16), 0), (Some(8), 1), (Some(8), 1)]);
    assert_eq!(size(Some(6), Some(16)), (Some(6), 0));
}

#[test]
fn each_run_of_a_requeued_job_is_one_and_what_is_there_twice_is_one() {
    let requeued = AccountedRun { is_requeued: true, ending: Some(Status::Failed), ..run(1, 0, Some(10), 20) };
    let (log, told) = log(&[requeued.clone(), run(1, 20, Some(30), 90), requeued], &Choices { processors: Some(8), ..Choices::default() });
    assert_eq!(log.records.iter().map(|record| record.run_time_seconds).collect::<Vec<_>>(), [Some(10), Some(60)]);
    assert_eq!(told, ["1 that were there twice, of which one was taken"]);
}

#[test]
fn what_can_be_no_job_of_the_log_is_counted() {
    let runs = [
        AccountedRun { ended: None, ..run(1, 0, Some(10), 20) },
        AccountedRun { eligible: None, ..run(2, 0, None, 20) },
        AccountedRun { eligible: None, submitted: None, ..run(3, 0, Some(10), 20) },
        AccountedRun { is_requeued: true, ..run(4, 0, None, 20) },
        run(5, 100, Some(90), 200),
        // Eligible, and submitted, after the end.
        run(6, 4_294_967_295, None, 200),
        AccountedRun { submitted: Some(UnixTime(9_000)), ..run(7, 100, Some(150), 200) },
    ];
    let (log, told) = log(&runs, &Choices { processors: Some(8), ..Choices::default() });
    let told: Vec<&str> = told.iter().map(|told| told.split(',').next().unwrap()).collect();
    assert_eq!(
        told,
        [
            "1 of jobs that had not ended",
            "3 of jobs that were never eligible to run",
            "1 without a submission",
            "1 of requeued jobs whose start is not known",
            "1 with a start before they were eligible",
        ]
    );
    let waits: Vec<_> = log.records.iter().map(|record| (record.wait_time_seconds, record.run_time_seconds)).collect();
    assert_eq!(waits, [(None, None), (Some(0), Some(100))]);
}
