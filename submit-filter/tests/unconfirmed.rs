//! Which submissions count, by what readings of the queue show of them.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Plugin, now, site};
use job_submit_queuecast::unconfirmed::submissions::{Answered, SubmissionTable};
use job_types::number::UserId;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{USER, enforcing};
use parking_lot::Mutex;
use predictor_core::snapshot::{SeenSubmission, Snapshot};
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Name};
use site_rules::throttle::Throttle;
use slurm_sys::job_description::JobDescription;
use snapshot_writer::SeenSubmissions;
use std::time::{Duration, Instant};

/// Submissions, and what is counted of them.
struct Counted {
    table: SubmissionTable,
    throttle: Mutex<Throttle>,
    begin: UnixTime,
    generation: u64,
}

impl Counted {
    fn new() -> Counted {
        Counted { table: SubmissionTable::default(), throttle: Mutex::new(Throttle::new()), begin: now(), generation: 0 }
    }

    /// Submits a job after so many seconds.
    fn submit(&self, second: i64) {
        self.submit_with(second, None);
    }

    /// Submits a job after so many seconds, with fields that are kept.
    fn submit_with(&self, second: i64, fields: Option<Vec<(FieldNumber, OwnedValue)>>) {
        let mut job = Description::batch(1, 1).of_user(USER);
        // SAFETY: a description of our own.
        let description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
        let arrival = self.table.arrival(UserId(USER), &description);
        let (asker, owner) = (UserId(USER), UserId(USER));
        let answered = Answered { asker, owner, is_let_through: true, told: Vec::new(), fields };
        self.table.answered(arrival, answered, self.begin + Seconds(second), &self.throttle);
    }

    /// Reads the queue after so many seconds, in which there are jobs that were submitted then.
    fn read(&mut self, second: i64, jobs: &[i64]) {
        self.read_for_rules(second, jobs, self.begin + Seconds(second));
    }

    /// Reads the queue after so many seconds, while rules are asked beside a reading at another
    /// moment.
    fn read_for_rules(&mut self, second: i64, jobs: &[i64], rules_read_at: UnixTime) {
        self.generation += 1;
        let read_at = self.begin + Seconds(second);
        let seen =
            |at: &i64| SeenSubmission { user: UserId(USER), submitted_at: self.begin + Seconds(*at), size: Size { nodes: 1, cpus: 1 } };
        let submissions = SeenSubmissions { since: Some(self.begin - Seconds(60)), jobs: jobs.iter().map(seen).collect() };
        let bytes = site(enforcing(), read_at, self.generation)
            .origin(|origin| (origin.controller_read_at, origin.submissions) = (Some(read_at), submissions.into()))
            .bytes();
        self.table.settle(&Snapshot::open(bytes).unwrap(), &self.throttle, Some(rules_read_at));
    }

    fn count(&self, second: i64) -> u32 {
        let at = self.begin + Seconds(second);
        self.throttle.lock().count(UserId(USER), at).unwrap() + self.table.count(UserId(USER), at)
    }
}

#[test]
fn what_has_not_become_a_job_within_a_minute_is_not_counted_and_what_has_counts_for_an_hour() {
    let _slurm = Plugin::open();
    let mut counted = Counted::new();
    (0..5).for_each(|_| counted.submit(0));
    assert_eq!(counted.count(0), 5);
    counted.read(10, &[0, 1]);
    assert_eq!((counted.count(30), counted.count(59), counted.count(60)), (5, 5, 2));
    // The same reading again changes nothing, and the same jobs stand for no others.
    counted.read(20, &[0, 1]);
    counted.submit(25);
    counted.read(40, &[0, 1]);
    assert_eq!((counted.count(61), counted.count(90)), (3, 2));
    assert_eq!((counted.count(3_500), counted.count(3_700)), (2, 0));
}

#[test]
fn where_the_daemon_can_tell_nothing_all_count() {
    let _slurm = Plugin::open();
    let counted = Counted::new();
    (0..5).for_each(|_| counted.submit(0));
    assert_eq!((counted.count(300), counted.count(3_700)), (5, 0));
    // Also those that no place is left for.
    (0..40_000).for_each(|_| counted.submit(100));
    assert_eq!(counted.count(200), 40_005);
}

#[test]
fn a_submission_that_only_looks_as_one_before_leaves_that_one_its_fields() {
    let _slurm = Plugin::open();
    let limited = |minutes: i64| Some(vec![(Name::TimeLimit.into(), OwnedValue::Duration(Seconds(minutes * 60)))]);
    // How many jobs there are after a second submission when a client would repeat the first one.
    let jobs_after = |first: i64, second: i64| {
        for _ in 0..20 {
            let counted = Counted::new();
            let before = Instant::now();
            counted.submit_with(0, limited(first));
            std::thread::sleep(Duration::from_millis(1_050));
            counted.submit_with(1, limited(second));
            if before.elapsed() < Duration::from_millis(1_350) {
                return counted
                    .table
                    .submitted_since(UserId(USER), counted.begin)
                    .into_iter()
                    .map(|(_, fields)| fields.is_some())
                    .collect();
            }
        }
        Vec::new()
    };
    assert_eq!(jobs_after(60, 60), [true], "it was repeated");
    assert_eq!(jobs_after(60, 10), [true, true], "these are two");
}

#[test]
fn of_a_long_past_that_came_to_nothing_only_what_was_submitted_since_counts() {
    let _slurm = Plugin::open();
    let mut counted = Counted::new();
    (0..16_000).for_each(|_| counted.submit(0));
    // None of them became a job, and nothing more will be known of them.
    counted.read(100, &[]);
    counted.submit(130);
    assert_eq!(counted.table.count(UserId(USER), counted.begin + Seconds(190)), 1);
}

#[test]
fn fields_are_given_back_once_a_reading_shows_their_job_and_one_user_takes_little_of_all_room() {
    let _slurm = Plugin::open();
    let mut counted = Counted::new();
    let comment = || Some(vec![(FieldNumber::from(Name::Comment), OwnedValue::Text("x".repeat(1_000)))]);
    (0..3).for_each(|_| counted.submit_with(0, comment()));
    let three = counted.table.bytes();
    assert!(three > 3_000);
    // The snapshot knows them, and what rules see of the queue is older.
    counted.read_for_rules(10, &[0], counted.begin + Seconds(2));
    assert_eq!(counted.table.bytes(), three);
    counted.read(20, &[0]);
    assert_eq!(counted.table.bytes(), 0, "of what became a job and of what did not");
    (0..2_000).for_each(|_| counted.submit_with(30, comment()));
    assert!(counted.table.bytes() <= 1 << 20, "{}", counted.table.bytes());
}
