//! Rules that ask for the job that is to be modified, as it is now.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::asking::{ACCEPTED, ask, refused, set_job_id, with_rules};
use common::{Description, now, put, text};
use job_submit_queuecast::filter::{Answer, State, modification, submission};
use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use made_up_site::USER;
use site_rules::data::{MOST_JOBS, OwnedValue, SiteData, SiteJob, encode};
use site_rules::field::{FieldNumber, Name};

/// Rules that read the job as it is: a limit may only become shorter, and in `gpu` there are GPUs.
const OF_CURRENT: &str = r#"
[[rule]]
name = "only-lower"
on = ["modify"]
when = 'has(job.time_limit) && job.time_limit > current.?time_limit.orValue(limit("0"))'
reject = { message = "longer", error = "ESLURM_INVALID_TIME_LIMIT" }
[[rule]]
name = "gpu"
on = ["modify"]
when = 'job.?partition.orValue("") == "gpu" && job.gpus == 0 && current.gpus == 0'
reject = { message = "without GPUs", error = "ESLURM_INVALID_GRES" }
"#;

/// Asks for a modification of a job.
fn modify(state: &State, job_id: u32, change: impl FnOnce(&mut Description)) -> (Answer, String) {
    let mut job = Description::unset();
    set_job_id(&mut job, Some(job_id));
    change(&mut job);
    let answer = ask(modification, state, &mut job, USER);
    common::free(&mut job.0.tres_per_node);
    common::free(&mut job.0.partition);
    answer
}

fn limit(minutes: u32) -> impl FnOnce(&mut Description) {
    move |job| job.0.time_limit = minutes
}

fn gres(list: &str) -> impl FnOnce(&mut Description) {
    move |job| job.0.tres_per_node = text(list)
}

fn to_gpu(job: &mut Description) {
    job.0.partition = text("gpu");
}

#[test]
fn what_was_let_through_is_laid_over_the_job_as_it_was_read() {
    let (directory, state) = with_rules(OF_CURRENT);
    let of_job = |read_at: UnixTime, minutes: i64, gres: Option<&str>| {
        let limit = (FieldNumber::from(Name::TimeLimit), OwnedValue::Duration(Seconds(minutes * 60)));
        let gres = gres.map(|list| (FieldNumber::from(Name::TresPerNode), OwnedValue::Resources(list.to_owned())));
        let job = SiteJob { number: JobId(5), task: None, read_at, fields: [limit].into_iter().chain(gres).collect() };
        encode(&SiteData { written_at: read_at, counted_before: read_at, jobs: vec![job], ..SiteData::default() }).bytes
    };
    put(directory.path(), "rules-data", &of_job(now(), 60, Some("gres:gpu:2")));
    assert_eq!(modify(&state, 5, limit(10)).0, ACCEPTED);
    assert_eq!(modify(&state, 5, limit(60)).0, refused("ESLURM_INVALID_TIME_LIMIT"));
    assert_eq!(modify(&state, 5, limit(9)).0, ACCEPTED);
    // A text that is taken out counts as much as another one.
    assert_eq!(modify(&state, 5, gres("")).0, ACCEPTED);
    assert_eq!(modify(&state, 5, to_gpu).0, refused("ESLURM_INVALID_GRES"));
    // A newer reading shows what became of it.
    put(directory.path(), "rules-data", &of_job(now() + Seconds(10), 60, Some("gres:gpu:2")));
    assert_eq!([modify(&state, 5, limit(60)).0, modify(&state, 5, to_gpu).0], [ACCEPTED, ACCEPTED]);

    // Whether Slurm has taken the GPUs that were let through is not known, and whoever asks for
    // them can see to it that it does not.
    put(directory.path(), "rules-data", &of_job(now() + Seconds(20), 60, None));
    let (answer, said) = modify(&state, 5, to_gpu);
    assert_eq!((answer, said.as_str()), (refused("ESLURM_INVALID_GRES"), "without GPUs"));
    put(directory.path(), "rules-data", &of_job(now(), 60, None));
    assert_eq!(modify(&state, 5, gres("gres:gpu:1")).0, ACCEPTED);
    let (answer, said) = modify(&state, 5, to_gpu);
    assert_eq!(answer, refused("ESLURM_TRANSITION_STATE_NO_UPDATE"));
    assert!(said.starts_with("without GPUs (unless what was submitted or modified before is confirmed first"), "{said}");
    // Of more than can be told apart nothing is known.
    for minutes in [50, 40, 30] {
        modify(&state, 5, limit(minutes));
    }
    assert!(modify(&state, 5, limit(20)).1.starts_with("E_NOT_KNOWN_YET: "));
}

/// What the daemon writes about a queue without jobs that was read at a moment.
fn queue_without_jobs(read_at: UnixTime) -> Vec<u8> {
    encode(&SiteData { written_at: read_at, counted_before: read_at, ..SiteData::default() }).bytes
}

/// Submits a job with so many minutes as its limit.
fn submit_limited(state: &State, minutes: u32, asker: u32) -> Answer {
    let mut job = Description::batch(1, 1);
    job.0.time_limit = minutes;
    ask(submission, state, &mut job, asker).0
}

#[test]
fn a_job_that_was_not_read_yet_is_one_of_those_that_its_user_submitted() {
    let (directory, state) = with_rules(OF_CURRENT);
    assert!(modify(&state, 7, limit(10)).1.starts_with("E_NOT_KNOWN_YET: "));
    put(directory.path(), "rules-data", &queue_without_jobs(now()));
    let of = |minutes: u32| submit_limited(&state, minutes, USER);
    assert!(modify(&state, 7, limit(10)).1.starts_with("E_NOT_KNOWN_YET: "));
    assert_eq!(of(60), ACCEPTED);
    assert_eq!(modify(&state, 7, limit(61)).0, refused("ESLURM_INVALID_TIME_LIMIT"));
    assert_eq!(modify(&state, 7, limit(30)).0, ACCEPTED);
    assert_eq!(modify(&state, 7, limit(60)).0, refused("ESLURM_INVALID_TIME_LIMIT"));
    assert_eq!(modify(&state, 7, to_gpu).0, refused("ESLURM_INVALID_GRES"));
    // It may be either of two.
    assert_eq!(of(20), ACCEPTED);
    assert_eq!(modify(&state, 7, limit(25)).0, refused("ESLURM_TRANSITION_STATE_NO_UPDATE"));
    assert_eq!(modify(&state, 7, limit(15)).0, ACCEPTED);
}

#[test]
fn a_job_that_may_have_been_left_out_of_what_the_daemon_wrote_is_not_taken_for_a_new_one() {
    let (directory, state) = with_rules(OF_CURRENT);
    // Nothing is known, so that any job may be an old one.
    assert_eq!(submit_limited(&state, 60, USER), ACCEPTED);
    assert!(modify(&state, 7, limit(30)).1.starts_with("E_NOT_KNOWN_YET: "));
    put(directory.path(), "rules-data", &queue_without_jobs(now()));
    assert_eq!(modify(&state, 7, limit(30)).0, ACCEPTED);
    // One job more than there is room for.
    let job = |number| SiteJob { number: JobId(number), ..SiteJob::default() };
    let jobs = (1_000..=1_000 + MOST_JOBS as u32).map(job).collect();
    let data = encode(&SiteData { written_at: now(), counted_before: now(), jobs, ..SiteData::default() });
    assert_eq!(data.left_out.jobs, 1);
    put(directory.path(), "rules-data", &data.bytes);
    assert!(modify(&state, 7, limit(30)).1.starts_with("E_NOT_KNOWN_YET: "));
}

#[test]
fn what_root_submitted_for_a_user_is_one_of_the_jobs_that_a_new_one_may_be() {
    let (directory, state) = with_rules(OF_CURRENT);
    put(directory.path(), "rules-data", &queue_without_jobs(now()));
    assert_eq!([submit_limited(&state, 20, 0), submit_limited(&state, 60, USER)], [ACCEPTED, ACCEPTED]);
    assert_eq!(modify(&state, 7, limit(30)).0, refused("ESLURM_TRANSITION_STATE_NO_UPDATE"));
    assert_eq!(modify(&state, 7, limit(20)).0, ACCEPTED);
}

#[test]
fn a_daemon_whose_clock_is_ahead_hides_nothing_that_was_let_through() {
    let (directory, state) = with_rules(OF_CURRENT);
    let read_at = now();
    let of_job = |written_at: UnixTime| {
        let limit = (FieldNumber::from(Name::TimeLimit), OwnedValue::Duration(Seconds(3_600)));
        let job = SiteJob { number: JobId(5), task: None, read_at: written_at, fields: vec![limit] };
        encode(&SiteData { written_at, counted_before: read_at, jobs: vec![job], ..SiteData::default() }).bytes
    };
    put(directory.path(), "rules-data", &of_job(read_at + Seconds(100)));
    assert_eq!(modify(&state, 5, limit(10)).0, ACCEPTED);
    assert_eq!(modify(&state, 5, limit(60)).0, refused("ESLURM_INVALID_TIME_LIMIT"));
    assert_eq!(submit_limited(&state, 60, USER), ACCEPTED);
    assert_eq!(modify(&state, 7, limit(30)).0, ACCEPTED);
    assert_eq!(modify(&state, 7, limit(60)).0, refused("ESLURM_INVALID_TIME_LIMIT"));
}

#[test]
fn a_change_of_all_components_of_a_job_has_to_be_allowed_for_each() {
    let (directory, state) = with_rules(OF_CURRENT);
    let component = |number: u32, place: Option<i64>, minutes: i64| {
        let limit = (FieldNumber::from(Name::TimeLimit), OwnedValue::Duration(Seconds(minutes * 60)));
        let place = place.map(|place| (FieldNumber::from(Name::HetJobOffset), OwnedValue::Integer(place)));
        SiteJob { number: JobId(number), task: None, read_at: now(), fields: [limit].into_iter().chain(place).collect() }
    };
    let named = |name: &str, minutes: u32| {
        let mut job = Description::unset();
        job.0.job_id_str = text(name);
        job.0.time_limit = minutes;
        let answer = ask(modification, &state, &mut job, USER).0;
        common::free(&mut job.0.job_id_str);
        answer
    };
    let longer = refused("ESLURM_INVALID_TIME_LIMIT");
    let put_jobs = |jobs: Vec<SiteJob>| {
        let data = SiteData { written_at: now(), counted_before: now(), jobs, ..SiteData::default() };
        put(directory.path(), "rules-data", &encode(&data).bytes);
    };
    let components = [component(20, Some(0), 60), component(21, Some(1), 30), component(23, Some(3), 40), component(24, None, 5)];
    put_jobs(components.to_vec());
    // One that is named by itself is judged by itself.
    assert_eq!([named("20+1", 50), named("20+3", 35)], [longer, ACCEPTED]);
    // The job behind them is another one.
    assert_eq!([named("20", 35), named("20", 10)], [longer, ACCEPTED]);
    // That was asked for each.
    assert_eq!(named("20+1", 20), longer);
    // One with more components than Slurm's tools send.
    put_jobs((0..1_000).map(|place| component(100 + place, Some(i64::from(place)), if place < 999 { 60 } else { 30 })).collect());
    assert_eq!([named("100", 40), named("100", 20)], [longer, ACCEPTED]);
    put_jobs((0..1_100).map(|place| component(100 + place, Some(i64::from(place)), 60)).collect());
    assert_eq!(named("100", 10), refused("ESLURM_TRANSITION_STATE_NO_UPDATE"));
    // Where the first one has ended.
    put_jobs(components[1..].to_vec());
    assert_eq!(named("20", 45), longer);
}
