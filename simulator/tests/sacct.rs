//! What sacct printed, read as a log.

#![allow(clippy::unwrap_used)] // helpers of tests

use jiff::tz::TimeZone;
use job_types::size::Size;
use learning::sweep::Sweep;
use proptest::prelude::*;
use simulator::accounting::Choices;
use simulator::evaluation;
use simulator::sacct::{ReadError, Reader, is_header};
use simulator::swf::{Log, Record, Status};

/// What `sacct --allusers --duplicates --parsable2` of Slurm 22.05 prints of jobs of each kind: one
/// that ended, with its steps; one without a limit; one that was cancelled while it waited, whose
/// start that release notes as its end; one that was requeued while it ran, and its second run;
/// tasks of an array, the last of which never ran; the parts of a heterogeneous job; one that was
/// suspended; one that its user cancelled while it ran; one that was never eligible; one that runs.
const PRINTED: &str = "\
JobID|JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Suspended|ReqCPUS|AllocCPUS|AllocNodes|Timelimit|ReqMem|State|AllocTRES
1|1|root|root|normal|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:20|2026-11-23T17:10:23|00:00:03|00:00:00|4|4|1|00:10:00|1M|COMPLETED|billing=4,cpu=4,node=1
1.batch|1.batch||root||2026-11-23T17:10:20|2026-11-23T17:10:20|2026-11-23T17:10:20|2026-11-23T17:10:23|00:00:03|00:00:00|4|4|1|||COMPLETED|cpu=4,mem=0,node=1
1.0|1.0||root||2026-11-23T17:10:20|2026-11-23T17:10:20|2026-11-23T17:10:20|2026-11-23T17:10:23|00:00:03|00:00:00|4|4|1|||COMPLETED|cpu=4,mem=0,node=1
2|2|root|root|normal|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:18|00:00:05|00:00:00|4|4|1|UNLIMITED|1T|COMPLETED|billing=4,cpu=4,node=1
4|4|root|root|short,normal|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:43|2026-11-23T17:10:43|00:00:00|00:00:00|2|2|0|Partition_Limit|1T|CANCELLED by 0|
6|6|root|root|normal|2026-11-23T17:10:13|2026-11-23T17:10:13|None|2026-11-23T17:10:16|00:00:00|00:00:00|1|1|1|Partition_Limit|1T|REQUEUED|billing=1,cpu=1,node=1
6|6|root|root|normal|2026-11-23T17:10:16|2026-11-23T17:12:17|2026-11-23T17:12:18|2026-11-23T17:12:38|00:00:20|00:00:00|1|1|1|UNLIMITED|1T|COMPLETED|billing=1,cpu=1,node=1
3_1|7|root|root|normal|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:14|00:00:01|00:00:00|1|1|1|00:05:00|4K|TIMEOUT|billing=1,cpu=1,node=1
3_[4-5]|3|root|root|normal|2026-11-23T17:10:13|2026-11-23T17:10:13|2026-11-23T17:10:15|2026-11-23T17:10:15|00:00:00|00:00:00|1|1|0|00:05:00|4K|CANCELLED by 1000|
12+0|12|games|main|normal|2026-11-23T17:10:16|2026-11-23T17:10:16|2026-11-23T17:10:19|2026-11-23T17:10:23|00:00:04|00:00:00|2|2|1|1-00:00:00|1T|COMPLETED|billing=2,cpu=2,node=1
12+1|13|games|main|normal|2026-11-23T17:10:16|2026-11-23T17:10:16|2026-11-23T17:10:19|2026-11-23T17:10:23|00:00:04|00:00:00|1|1|1|1-00:00:00|1T|COMPLETED|billing=1,cpu=1,node=1
14|14|root|root|normal|2026-11-23T17:10:16|2026-11-23T17:10:16|2026-11-23T17:10:16|2026-11-23T17:10:24|00:00:06|00:00:02|1|1|1|365-00:00:00|1T|COMPLETED|billing=1,cpu=1,node=1
15|15|games|main|normal|2026-11-23T17:10:19|2026-11-23T17:10:19|2026-11-23T17:10:19|2026-11-23T17:10:20|00:00:01|00:00:00|2|2|2|UNLIMITED|3000M|CANCELLED by 0|billing=2,cpu=2,node=2
16|16|root|root|normal|2026-11-23T17:10:19|Unknown|2026-11-23T17:10:30|2026-11-23T17:10:30|00:00:00|00:00:00|1|0|0|UNLIMITED|1T|CANCELLED by 0|
17|17|root|root|normal|2026-11-23T17:10:19|2026-11-23T17:10:19|2026-11-23T17:10:30|Unknown|00:00:09|00:00:00|1|1|1|UNLIMITED|1T|RUNNING|billing=1,cpu=1,node=1
";

fn read_in(text: &str, zone: TimeZone) -> Result<(Log, Vec<String>), ReadError> {
    let mut reader = Reader::new(text.as_bytes(), zone)?;
    while let Some(read) = reader.read_next() {
        read?;
    }
    let (log, remarks) = reader.finish(&Choices { with_partition_names: true, ..Choices::default() });
    let told = remarks.iter().map(|remark| remark.records.map_or(String::new(), |records| format!("{records} ")) + &remark.what).collect();
    Ok((log, told))
}

fn read(text: &str) -> Result<(Log, Vec<String>), ReadError> {
    read_in(text, TimeZone::UTC)
}

/// Submission, wait, run time, CPUs that a job had, and its limit.
type Figures = (u64, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

fn figures(record: &Record) -> Figures {
    let Record { wait_time_seconds, run_time_seconds, allocated_processors, requested_time_seconds, .. } = record;
    (record.submit_time_seconds.unwrap(), *wait_time_seconds, *run_time_seconds, *allocated_processors, *requested_time_seconds)
}

#[test]
fn jobs_of_each_kind_are_read() {
    let (log, told) = read(PRINTED).unwrap();
    let unlimited = Some(2_147_483_647);
    assert_eq!(
        log.records.iter().map(figures).collect::<Vec<_>>(),
        [
            (0, Some(7), Some(3), Some(4), Some(600)),
            (0, Some(0), Some(5), Some(4), unlimited),
            // The task whose record is job 3's, before that of the others.
            (0, Some(2), None, None, Some(300)),
            (0, Some(30), None, None, None),
            (0, None, None, None, None),
            (0, Some(0), Some(1), Some(1), Some(300)),
            (3, Some(3), Some(4), Some(2), Some(86_400)),
            (3, Some(3), Some(4), Some(1), Some(86_400)),
            (3, Some(0), Some(6), Some(1), Some(31_536_000)),
            (6, Some(0), Some(1), Some(2), unlimited),
            (124, Some(1), Some(20), Some(1), unlimited),
        ] as [Figures; 11]
    );
    let ends: Vec<_> = log.records.iter().map(|record| record.status).collect();
    let (completed, failed, cancelled) = (Some(Status::Completed), Some(Status::Failed), Some(Status::Cancelled));
    assert_eq!(ends, [completed, completed, cancelled, cancelled, None, failed, completed, completed, completed, cancelled, completed]);
    assert_eq!(log.header.unix_start_time(), Some(1_795_453_813));
    assert_eq!(Vec::from_iter(log.header.partitions()), [(1, "normal".to_owned()), (2, "short".to_owned())]);
    assert_eq!(log.records[6].user, Some(2));
    assert_eq!(log.records[9].requested_memory_kilobytes, Some(1_536_000.0));
    assert_eq!(
        told,
        [
            "2 of job steps, left out",
            "1 of jobs that had not ended, left out",
            "1 of jobs that were never eligible to run, as held ones, or whose times can't be, left out",
            "1 of requeued jobs whose start is not known",
            "1 of jobs that were suspended, for a time that is taken off their run times",
            "the machine is taken to have 8 processors, the most that were in use at once",
            "nothing is known of qualities of service: there is no column QOS",
        ]
    );
}

/// The lines with their columns in another order, and other delimiters.
fn turned(delimiter: &str, end: &str) -> String {
    let turned = |line: &str| line.split('|').rev().collect::<Vec<_>>().join(delimiter) + end;
    PRINTED.lines().map(turned).collect()
}

#[test]
fn columns_are_found_by_their_names_in_any_order() {
    let expected = read(PRINTED).unwrap();
    for text in [turned("|", "\n"), turned("|", "|\n"), turned(";", "\r\n"), turned("@#", "\n"), PRINTED.replacen("JobID|", "jobid|", 1)] {
        assert_eq!(read(&text).unwrap(), expected, "{text}");
    }
}

#[test]
fn outputs_that_stand_behind_each_other_are_one_past() {
    let (log, told) = read(PRINTED).unwrap();
    let (again, told_again) = read(&format!("{PRINTED}\n{}", turned("|", "\n"))).unwrap();
    assert_eq!(again, log);
    assert!(told_again.contains(&format!("{} that were there twice, of which one was taken", log.records.len())), "{told_again:?}");
    assert!(told.iter().all(|told| !told.contains("twice")));
}

#[test]
fn times_are_those_of_the_zone_or_unix_seconds() {
    let text = |times: [&str; 3]| format!("JobID|User|State|NCPUS|Submit|Start|End\n1|a|COMPLETED|1|{}\n", times.join("|"));
    let expected = (0, Some(60), Some(3_600), Some(1), None);
    for times in [
        ["2026-11-23T08:00:00", "2026-11-23T08:01:00", "2026-11-23T09:01:00"],
        ["1795417200", "1795417260", "1795420860"],
        ["2026/11/23 08:00:00", "2026/11/23 08:01:00", "2026/11/23 09:01:00"],
        ["23.11.2026 08:00", "23.11.2026 08:01", "23.11.2026 09:01"],
    ] {
        let (log, told) = read(&text(times)).unwrap();
        assert_eq!(figures(&log.records[0]), expected, "{times:?}");
        assert!(told.iter().any(|told| told.contains("no column Timelimit")), "{told:?}");
    }
    let zone = TimeZone::fixed(jiff::tz::offset(1));
    let (log, _) = read_in(&text(["2026-11-23T08:00:00", "2026-11-23T08:01:00", "2026-11-23T09:01:00"]), zone).unwrap();
    assert_eq!(log.header.unix_start_time(), Some(1_795_417_200));
    let error = read(&text(["08:00:00", "08:01:00", "09:01:00"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: Start: \"08:01:00\" is not a time as in 2026-03-27T14:30:00, or Unix seconds (SLURM_TIME_FORMAT=%s)"
    );
}

#[test]
fn columns_that_are_missing_are_named() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        error("JobID|User|Start|End|NCPUS\n"),
        "line 1: sacct's output lacks how it ended (State), when it was submitted (Eligible or Submit); name the columns in sacct's --format"
    );
    assert!(error("JobID           JobName  Partition\n------------ ---------- ----------\n").contains("--parsable2"));
    assert!(error("1|alice|COMPLETED\n").contains("without --noheader"));
}

#[test]
fn anything_may_stand_in_a_name() {
    let text = |name: &str| {
        format!("JobID|JobName|User|State|NCPUS|Submit|Start|End\n1|{name}|a|COMPLETED|1|100|160|220\n2|sleep|b|COMPLETED|1|100|160|220\n")
    };
    for name in ["model", "a|b", "|||", "two\nlines", "a|b\nc\n\nd|", ""] {
        let (log, _) = read(&text(name)).unwrap();
        let users: Vec<_> = log.records.iter().map(|record| (record.user, record.run_time_seconds)).collect();
        assert_eq!(users, [(Some(1), Some(60)), (Some(2), Some(60))], "{name:?}");
    }
}

/// Jobs whose names and directories are texts with a delimiter in them.
fn with_two_texts(lines: &[&str]) -> (Vec<Figures>, Vec<Option<u64>>, Vec<String>) {
    let header = "JobIDRaw|JobName|User|State|Submit|Eligible|Start|End|Elapsed|AllocCPUS|Timelimit|Partition|WorkDir\n";
    let (log, told) = read(&format!("{header}{}\n", lines.join("\n"))).unwrap();
    (log.records.iter().map(figures).collect(), log.records.iter().map(|record| record.user).collect(), told)
}

#[test]
fn which_of_several_texts_has_a_delimiter_in_it_is_told_by_what_stands_between() {
    let rest = "COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T10:05:00|2026-03-02T10:15:00|00:10:00|8|01:00:00|batch";
    let ran = (0, Some(300), Some(600), Some(8), Some(3_600));
    for odd in [
        format!("2002|crazy|name|bob|{rest}|/scratch/bob"),
        format!("2002|fine|bob|{rest}|/scratch/b|ob"),
        format!("2002|a|||b|bob|{rest}|/scratch/|bob|"),
        format!("2002|two\nlines|more|bob|{rest}|/scratch/bob"),
        format!("2002|x|COMPLETED|bob|{rest}|/scratch/bob"),
    ] {
        let (records, users, told) = with_two_texts(&[&format!("2001|run 1|alice|{rest}|/scratch/alice"), &odd]);
        assert_eq!((records, users), (vec![ran; 2], vec![Some(1), Some(2)]), "{odd}");
        assert!(told.iter().all(|told| !told.contains("delimiter") && !told.contains("had not ended")), "{told:?}");
    }
    let (records, _, told) = with_two_texts(&[&format!("2001|run|alice|{rest}|/a"), "2002|crazy|name|bob||||||||||/b"]);
    assert_eq!(records, [ran]);
    assert!(told[0].starts_with("1 with a delimiter in a name or another text"), "{told:?}");
}

#[test]
fn a_job_that_ran_while_summer_time_ended_is_kept_and_told() {
    // At 03:00 it is 02:00 again: the job was submitted at 02:50, ran for 300 s from 02:55, and
    // ended at 02:00 of the second time.
    let header = "JobID|User|State|Submit|Eligible|Start|End|Elapsed|NCPUS|Timelimit";
    let day = |hours: &str| format!("2016-10-30T{hours}:00");
    let ran = format!("1|u|COMPLETED|{}|{}|{}|{}|00:05:00|4|02:00:00", day("02:50"), day("02:50"), day("02:55"), day("02:00"));
    let held = format!("2|u|CANCELLED|{}|{}|Unknown|{}|00:00:00|4|02:00:00", day("02:50"), day("02:50"), day("02:00"));
    let far = format!("3|u|COMPLETED|{}|{}|{}|{}|00:05:00|4|02:00:00", day("06:50"), day("06:50"), day("02:55"), day("02:00"));
    let (log, told) = read_in(&format!("{header}\n{ran}\n{held}\n{far}\n"), TimeZone::get("Europe/Berlin").unwrap()).unwrap();
    assert_eq!(log.records.iter().map(figures).collect::<Vec<_>>(), [(0, Some(300), Some(300), Some(4), Some(7_200))]);
    for what in ["2 of jobs that were never eligible to run", "1 with a start before they were eligible, or an end before the start"] {
        assert!(told.iter().any(|told| told.starts_with(what)), "{what}: {told:?}");
    }
}

#[test]
fn whatever_stands_beside_a_name_it_is_read_where_no_other_text_can_have_the_delimiter() {
    let times = "2016-08-01T06:00:00|2016-08-01T06:00:00|2016-08-01T06:04:00|2016-08-01T07:04:00";
    let header = "JobID|JobName|User|Group|State|Submit|Eligible|Start|End|NCPUS|Timelimit";
    let text = format!("{header}\n1|a|b|u|domain users|COMPLETED|{times}|4|soon\n2|c|u|domain users|COMPLETED|{times}|4|02:00:00\n");
    let (log, told) = read(&text).unwrap();
    let ran = |limit| (0, Some(240), Some(3_600), Some(4), limit);
    assert_eq!(log.records.iter().map(figures).collect::<Vec<_>>(), [ran(None), ran(Some(7_200))]);
    assert_eq!(told[0], "1 with an undefined Timelimit");
}

#[test]
fn whose_a_job_was_is_left_open_where_several_readings_make_sense() {
    let text = "JobID|JobName|User|Comment|State|NCPUS|Submit|Start|End\n1|a|b|c|d|COMPLETED|1|100|160|220\n";
    let (log, told) = read(text).unwrap();
    assert_eq!((log.records[0].run_time_seconds, log.records[0].user), (Some(60), None));
    assert!(told[0].contains("it can't be told whose jobs they are"), "{told:?}");
}

#[test]
fn a_column_that_is_not_needed_ends_no_reading() {
    let header = "JobID|JobIDRaw|User|State|Submit|Eligible|Start|End|Elapsed|NCPUS|ReqCPUS|ReqTRES|AllocTRES|ReqMem|Timelimit\n";
    let times = "2016-08-01T06:00:00|2016-08-01T06:00:00|2016-08-01T06:04:00|2016-08-01T07:04:00";
    let text = format!(
        "{header}1|1|u|COMPLETED|{times}|01:00:00|4|4|cpu=4,node=1|cpu=4,node=1|4Gc|02:00:00\n\
         2|2|v|COMPLETED|2016-08-01T06:01:08|Unknown|2016-08-01T07:04:09|2016-08-01T07:04:09|00:00:00|0|0||gres/gpu=2|0n|\n\
         3|3|v|COMPLETED|{times}|an hour|4|4||cpu=4|16 gigabytes|soon\n\
         4|4|v|COMPLETED|{times}|01:00:00|4|many||billing=4|?|02:00:00\n"
    );
    let (log, told) = read(&text).unwrap();
    let ran = (0, Some(240), Some(3_600), Some(4), Some(7_200));
    assert_eq!(log.records.iter().map(figures).collect::<Vec<_>>(), [ran, (0, Some(240), Some(3_600), Some(4), None), ran]);
    let columns =
        ["2 with an undefined ReqMem", "1 with an undefined Elapsed", "1 with an undefined Timelimit", "1 with an undefined ReqCPUS"];
    assert!(columns.iter().all(|column| told.iter().any(|told| told == column)), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("1 of jobs that were never eligible to run")), "{told:?}");
}

#[test]
fn a_line_that_was_cut_is_one_error_and_the_others_are_read() {
    let cut = PRINTED.replace("|COMPLETED|billing=2,cpu=2,node=1\n", "\n");
    let mut reader = Reader::new(cut.as_bytes(), TimeZone::UTC).unwrap();
    let mut errors = Vec::new();
    while let Some(read) = reader.read_next() {
        errors.extend(read.err());
    }
    assert_eq!(errors.len(), 1);
    assert!(errors[0].is_of_one_line());
    assert_eq!(errors[0].to_string(), "line 11: 16 columns where the header names 18");
    assert_eq!(reader.finish(&Choices::default()).0.records.len(), 10);
}

#[test]
fn a_state_that_is_not_known_is_counted() {
    let (log, told) = read(&PRINTED.replace("TIMEOUT", "HAUNTED")).unwrap();
    assert_eq!((log.records[5].status, told[0].as_str()), (None, "1 with an undefined State"));
}

#[test]
fn a_log_is_no_header_of_sacct() {
    for line in ["; MaxProcs: 128", "1 0 5 3600 16 -1", "", "JobID", "1|JobID"] {
        assert!(!is_header(line.as_bytes()), "{line}");
    }
    assert!(is_header(b"State|JobIDRaw"));
}

/// The features of the jobs, as forecasts of waits see them.
fn features(text: &str) -> Vec<Vec<f32>> {
    let workload = evaluation::read(&read(text).unwrap().0);
    let past = Sweep::over(&workload.queue, workload.processors, 0);
    (0..past.len()).map(|row| past.features(row).unwrap().to_vec()).collect()
}

/// Two jobs of one partition, the second of which arrives while the first waits, with what more is
/// said of each.
fn two_jobs(columns: &str, of_first: &str, of_second: &str) -> String {
    format!(
        "JobID|User|Partition|State|Eligible|Start|End|ReqCPUS|AllocCPUS|Timelimit{columns}\n\
         1|a|batch|COMPLETED|1000|1400|2000|2|32|01:00:00{of_first}\n\
         2|b|batch|COMPLETED|1300|1500|2000|64|64|01:00:00{of_second}\n"
    )
}

#[test]
fn nodes_and_qualities_of_service_of_a_past_reach_the_features() {
    let of = |first: &str, second: &str| features(&two_jobs("|QOS|ReqTRES|AllocTRES", first, second));
    let of_one_qos = of("|normal|cpu=2,node=2|cpu=32,node=2", "|normal|cpu=64,node=4|cpu=64,node=4");
    let of_two = of("|express|cpu=2,node=2|cpu=32,node=2", "|normal|cpu=64,node=4|cpu=64,node=4");
    let nodes = |features: &[Vec<f32>]| features.iter().map(|of_job| of_job[1]).collect::<Vec<_>>();
    assert_eq!((nodes(&of_one_qos), nodes(&of_two)), (vec![2.0, 4.0], vec![2.0, 4.0]));
    // The second job sees another of its QOS wait, or none.
    assert_eq!(of_one_qos[0], of_two[0]);
    assert_ne!(of_one_qos[1], of_two[1]);
    let without_qos = features(&two_jobs("|ReqTRES|AllocTRES", "|cpu=2,node=2|cpu=32,node=2", "|cpu=64,node=4|cpu=64,node=4"));
    assert_eq!(without_qos, of_one_qos);
    // A QOS that slurmdbd has no more is not known.
    assert_eq!(of("|Unknown|cpu=2,node=2|", "||cpu=64,node=4|"), of("||cpu=2,node=2|", "||cpu=64,node=4|"));
}

#[test]
fn a_job_of_two_nodes_with_few_processors_is_one_of_two_nodes_whichever_column_says_so() {
    let sizes = |columns: &str, of_first: &str, of_second: &str| {
        let workload = evaluation::read(&read(&two_jobs(columns, of_first, of_second)).unwrap().0);
        workload.jobs.iter().map(|job| (job.submitted.size, job.occupied())).collect::<Vec<_>>()
    };
    let size = |nodes, cpus| Size { nodes, cpus };
    let of_two_and_four = [(size(2, 2), size(2, 32)), (size(4, 64), size(4, 64))];
    assert_eq!(sizes("|ReqNodes", "|2", "|4"), of_two_and_four);
    assert_eq!(sizes("|NNodes", "|2", "|4"), of_two_and_four);
    assert_eq!(sizes("|AllocNodes|ReqTRES", "|2|cpu=2", "|4|"), of_two_and_four);
    assert_eq!(sizes("|ReqTRES|NNodes", "|cpu=2,node=1|2", "|node=4|4"), [(size(1, 2), size(2, 32)), of_two_and_four[1]]);
    // Where a job does not say it, it is one of a single node, as in the daemon.
    assert_eq!(sizes("|ReqNodes", "|2", "|"), [of_two_and_four[0], (size(1, 64), size(1, 64))]);
    // Where no column does, each processor counts as one, as in a log without nodes.
    assert_eq!(sizes("", "", ""), [(size(2, 2), size(32, 32)), (size(64, 64), size(64, 64))]);
}

#[test]
fn columns_of_nodes_and_qos_that_are_missing_are_told() {
    let (_, told) = read(&two_jobs("", "", "")).unwrap();
    for what in
        ["qualities of service: there is no column QOS", "nodes: there is no column ReqTRES, ReqNodes, AllocTRES, AllocNodes or NNodes"]
    {
        assert!(told.contains(&format!("nothing is known of {what}")), "{told:?}");
    }
    let (_, told) = read(&two_jobs("|QOSRAW|NNodes", "|1|2", "|1|many")).unwrap();
    assert!(told.iter().all(|told| !told.starts_with("nothing is known of qualities") && !told.starts_with("nothing is known of nodes")));
    assert_eq!(told[0], "1 with an undefined NNodes");
    let (_, told) = read(&two_jobs("|ReqTRES", "|cpu=many,node=many", "|cpu=64,node=4")).unwrap();
    assert_eq!(told[0], "1 with an undefined ReqTRES");
}

const HEADER: &str = "JobID|JobName|User|State|AllocTRES|AllocNodes|Eligible|Start|End|Elapsed|Timelimit|ReqMem|Suspended\n";

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        lines in proptest::collection::vec("\\PC{0,80}|([0-9A-Z:|T_.+\\[\\]-]{0,12}\\|){10,14}", 0..20),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        for text in [lines.join("\n").into_bytes(), bytes.clone(), [HEADER.as_bytes(), lines.join("\n").as_bytes(), &bytes].concat()] {
            let Ok(mut reader) = Reader::new(text.as_slice(), TimeZone::UTC) else { continue };
            let mut lines = 0;
            while let Some(read) = reader.read_next() {
                lines += 1;
                if let Err(error) = read {
                    let is_of_input = matches!(error, ReadError::Input { .. });
                    prop_assert!(!is_of_input, "{}", error);
                }
            }
            prop_assert!(lines <= text.len() + 1);
            let (log, _) = reader.finish(&Choices::default());
            prop_assert!(log.records.len() <= lines);
        }
    }

    #[test]
    fn a_record_with_some_values_changed_is_read_or_refused(
        place in 0_usize..18,
        value in "INVALID|None|Unknown|-?[0-9]{1,25}|[0-9:-]{1,15}|[0-9.]{1,6}[KMGTPEcn]{1,2}|\\PC{0,12}",
    ) {
        let changed = |line: &str| {
            let mut columns: Vec<&str> = line.split('|').collect();
            columns[place] = &value;
            columns.join("|")
        };
        let mut lines = PRINTED.lines();
        let header = lines.next().unwrap().to_owned();
        let text = std::iter::once(header).chain(lines.map(changed)).collect::<Vec<_>>().join("\n");
        let mut reader = Reader::new(text.as_bytes(), TimeZone::UTC).unwrap();
        while reader.read_next().is_some() {}
        let (log, _) = reader.finish(&Choices::default());
        prop_assert!(log.records.len() <= 15);
        for record in &log.records {
            prop_assert!(record.submit_time_seconds.is_some());
        }
    }
}
