//! The records that the filter leaves in jobs: sealed, and nobody else's.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, now, publish, put_rules, read, snapshot_bytes, text};
use job_submit_queuecast::filter::{Answer, State, modification, submission};
use job_types::number::{JobId, UserId};
use job_types::record::{Bearer, KEY_BYTES, Record, SealKey, Unbelieved};
use job_types::time::Seconds;
use made_up_site::{USER, enforcing};
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::record_key;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::ptr;
use tempfile::TempDir;

const COPIES: &str = r#"
    [[rule]]
    name = "copies"
    on = ["submit", "modify"]
    set = { admin_comment = { cel = 'job.?comment.orValue("")' } }
"#;

/// A state directory in which jobs are molded and reserved for.
fn site() -> (TempDir, State) {
    let directory = tempfile::tempdir().unwrap();
    publish(directory.path(), &snapshot_bytes(enforcing(), 400, now(), 1));
    let state = State::over(directory.path());
    (directory, state)
}

type Filter = fn(&State, &mut JobDescription<'_>, &mut UserMessage<'_>, UserId) -> Answer;

fn ask(filter: Filter, state: &State, job: &mut Description) -> (Answer, String) {
    let mut message = ptr::null_mut();
    let answer = {
        // SAFETY: a description of our own, which nobody else uses meanwhile.
        let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
        // SAFETY: a place for a message of our own.
        let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
        filter(state, &mut description, &mut place, UserId(USER))
    };
    let said = read(message).unwrap_or_default();
    common::free(&mut message);
    (answer, said)
}

fn molded() -> Description {
    Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1"])
}

fn reserved() -> Description {
    let at = format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000);
    Description::batch(4, 16).with_control(&[&at, "QUEUECAST_SUCCESS_PROBABILITY=0.9"])
}

fn free(job: &mut Description) {
    common::free(&mut job.0.comment);
}

#[test]
fn each_record_is_sealed_for_its_user_with_a_number_of_its_own_by_a_key_that_nobody_else_reads() {
    let (directory, state) = site();
    let mut nonces = Vec::new();
    for mut job in [molded(), reserved()] {
        let user = UserId(job.0.user_id);
        assert_eq!(ask(submission, &state, &mut job).0, Answer::Accepted);
        let path = directory.path().join("record-key");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let key = record_key::read(&path).unwrap();
        let comment = read(job.0.admin_comment).unwrap();
        let bearer = Bearer { user, job: JobId(5), submitted: Some(now()), is_first_run: true };
        let (record, rest) = Record::of_job(&comment, &key, &bearer).unwrap().unwrap();
        assert!(rest.is_empty() && comment.len() <= 1023, "{comment}");
        nonces.push(record.nonce.unwrap());
        let others = Bearer { user: UserId(user.0 + 1), ..bearer };
        assert_eq!(Record::of_job(&comment, &key, &others), Some(Err(Unbelieved::OtherSeal)));
        let later = Bearer { submitted: Some(now() + Seconds(900)), ..bearer };
        assert_eq!(Record::of_job(&comment, &key, &later), Some(Err(Unbelieved::OtherTime)));
    }
    assert_ne!(nonces[0], nonces[1]);
    // A key that was lost is made anew, and what it sealed is believed no more.
    let path = directory.path().join("record-key");
    let lost = record_key::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(ask(submission, &state, &mut molded()).0, Answer::Accepted);
    assert_ne!(record_key::read(&path).unwrap(), lost);
}

#[test]
fn the_key_is_not_looked_for_in_a_directory_that_has_not_changed() {
    let (directory, state) = site();
    assert_eq!(ask(submission, &state, &mut molded()).0, Answer::Accepted);
    let path = directory.path().join("record-key");
    let seal_is_by = |key: &SealKey| {
        let mut job = molded();
        assert_eq!(ask(submission, &state, &mut job).0, Answer::Accepted);
        let comment = read(job.0.admin_comment).unwrap();
        let bearer = Bearer { user: UserId(job.0.user_id), job: JobId(5), submitted: Some(now()), is_first_run: true };
        Record::of_job(&comment, key, &bearer).unwrap().is_ok()
    };
    let first = record_key::read(&path).unwrap();
    // Until no other change can bear the time of the last one, each decision looks.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert!(seal_is_by(&first));
    // In place, which changes no directory.
    fs::write(&path, [7; KEY_BYTES]).unwrap();
    let second = record_key::read(&path).unwrap();
    assert!(seal_is_by(&first) && !seal_is_by(&second));
    fs::write(directory.path().join("changes-the-directory"), "").unwrap();
    assert!(seal_is_by(&second));
}

#[test]
fn what_rules_copy_into_the_administrators_comment_is_no_record() {
    let (_elsewhere, other) = site();
    let mut genuine = reserved();
    assert_eq!(ask(submission, &other, &mut genuine).0, Answer::Accepted);
    let record = read(genuine.0.admin_comment).unwrap();
    let directory = tempfile::tempdir().unwrap();
    put_rules(directory.path(), COPIES);
    let state = State::over(directory.path());
    for (filter, forged) in
        [(submission as Filter, record.clone()), (modification, record.clone()), (submission, format!(" {record} ours"))]
    {
        let mut job = Description::batch(4, 16);
        job.0.comment = text(&forged);
        assert_eq!(ask(filter, &state, &mut job).0, Answer::Accepted);
        let comment = read(job.0.admin_comment).unwrap();
        assert!(comment.ends_with(&forged) && Record::parse(&comment).is_none(), "{comment}");
        free(&mut job);
    }
    // What is no record is copied as it is, and what an operator writes is not looked at.
    let mut job = Description::batch(4, 16);
    job.0.comment = text("for the paper");
    let _ = ask(submission, &state, &mut job);
    assert_eq!(read(job.0.admin_comment).as_deref(), Some("for the paper"));
    free(&mut job);
    let (_directory, without_rules) = site();
    let mut update = Description::batch(4, 16);
    update.0.admin_comment = text(&record);
    let _ = ask(modification, &without_rules, &mut update);
    assert_eq!(read(update.0.admin_comment), Some(record));
}

#[test]
fn without_a_key_nothing_is_promised_and_nothing_of_a_promise_is_written() {
    let (directory, state) = site();
    fs::create_dir(directory.path().join("record-key")).unwrap();
    let mut job = reserved();
    let (limit, begin) = (job.0.time_limit, job.0.begin_time);
    let (answer, said) = ask(submission, &state, &mut job);
    assert_eq!(answer, Answer::Refused);
    assert!(said.contains("it could not be written into the job"), "{said}");
    assert_eq!((job.0.time_limit, job.0.begin_time, read(job.0.admin_comment)), (limit, begin, None));
    assert_eq!(job.variable("QUEUECAST_HOLD_UNTIL"), None, "all or nothing");
    // What needs no record to be right is done without.
    let mut job = molded();
    assert_eq!(ask(submission, &state, &mut job).0, Answer::Accepted);
    assert_eq!((job.0.min_nodes, read(job.0.admin_comment)), (4, None));
}
