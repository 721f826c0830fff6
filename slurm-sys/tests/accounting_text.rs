//! The text of archives, held against what slurmdbd's reader of them can misread
//! (as_mysql_archive.c, `_process_old_sql_line`).

#![allow(clippy::unwrap_used)] // helpers of tests

use slurm_sys::accounting::{EndState, PastJob, TimeLimit, job_insertion};

const JOB: PastJob<'static> = PastJob {
    job_id: 50_000_000,
    association_id: 4,
    account: "g1",
    name: "app7",
    user_id: 1_900_000_012,
    group_id: 1_900_000_012,
    partition: "batch",
    requested: (8, 2),
    allocated: Some((8, 2)),
    end_state: EndState::Failed,
    time_limit: TimeLimit::Minutes(60),
    submitted: 1_700_000_000,
    eligible: 1_700_000_001,
    started: Some(1_700_000_050),
    ended: 1_700_000_100,
    comment: "a, (b); 'c' \"d\" \\",
};

/// The columns of an insertion and the values of one job, paired.
fn columns(archive: &str) -> Vec<(String, String)> {
    let (columns, rest) = archive.strip_prefix("insert into job_table (").unwrap().split_once(") values (").unwrap();
    let (values, _) = rest.split_once(')').unwrap();
    let words = |text: &str| text.split(", ").map(str::to_owned).collect::<Vec<_>>();
    let (columns, values) = (words(columns), words(values));
    assert_eq!(columns.len(), values.len());
    columns.into_iter().zip(values).collect()
}

fn value(archive: &str, column: &str) -> String {
    columns(archive).into_iter().find(|(name, _)| name == column).unwrap().1
}

#[test]
fn a_job_has_the_columns_that_sacct_shows() {
    let archive = job_insertion("swf", &[JOB]);
    for (column, expected) in [
        ("jobid", "50000000"),
        ("associd", "4"),
        ("req_cpus", "8"),
        ("alloc_nodes", "2"),
        ("state", "5"),
        ("exit_code", "256"),
        ("timelimit", "60"),
        ("submit", "1700000000"),
        ("eligible", "1700000001"),
        ("start", "1700000050"),
        ("end", "1700000100"),
        // "1=8,4=2,5=8" and "g1", by `printf '1=8,4=2,5=8' | xxd -p`.
        ("tres_alloc", "0x313d382c343d322c353d38"),
        ("account", "0x6731"),
    ] {
        assert_eq!(value(&archive, column), expected, "{column}");
    }
}

#[test]
fn a_job_that_never_started_has_no_start_and_no_nodes() {
    let job = PastJob { started: None, allocated: None, end_state: EndState::Cancelled, ..JOB };
    let archive = job_insertion("swf", &[job]);
    let found = ["start", "alloc_nodes", "tres_alloc", "state"].map(|column| value(&archive, column));
    assert_eq!(found, ["0", "0", "default", "4"]);
}

#[test]
fn limits_that_are_no_number_have_slurms_values_for_them() {
    for (time_limit, expected) in [(TimeLimit::Unlimited, "4294967295"), (TimeLimit::NotGiven, "4294967294")] {
        assert_eq!(value(&job_insertion("swf", &[PastJob { time_limit, ..JOB }]), "timelimit"), expected);
    }
}

#[test]
fn no_text_can_be_misread() {
    let archive = job_insertion("swf", &[JOB, JOB]);
    assert!(!archive.contains('\''), "slurmdbd puts a backslash before every apostrophe: {archive}");
    assert!(!archive.contains('\\') && !archive.contains('"'));
    assert!(archive.contains("on duplicate key"), "without it the reader finds no values");
    assert_eq!(archive.matches(['(', ')']).count(), 6, "the columns and two jobs, and no bracket in a text");
    assert_eq!(archive.matches(';').count(), 1);
}

#[test]
fn the_cluster_is_a_column_but_not_the_first() {
    let place = columns(&job_insertion("swf", &[JOB])).iter().position(|(name, _)| name == "cluster");
    assert_eq!(place, Some(1));
    assert_eq!(value(&job_insertion("swf", &[JOB]), "cluster"), "`swf`");
}
