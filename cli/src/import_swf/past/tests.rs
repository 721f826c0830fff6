use super::{JobNumbers, Machine, Selected, Selection, Skipped, TimeScale};
use simulator::swf::{Header, Reader};
use slurm_sys::accounting::{EndState, TimeLimit};

const ENDS_AT: i64 = 1_800_000_000;

fn header(lines: &[(&str, &str)]) -> Header {
    let mut header = Header::new();
    lines.iter().for_each(|(key, value)| header.push(key, value));
    header
}

/// Selects from jobs on a machine of 128 processors, four to a node.
fn select(jobs: &str, scale: f64) -> Selected {
    let machine = Machine { processors: Some(128), cpus_per_node: 4 };
    let mut selection = Selection::new(None, None, machine);
    for record in Reader::new(jobs.as_bytes()).unwrap() {
        selection.add(&record.unwrap());
    }
    selection.finish(ENDS_AT, TimeScale(scale))
}

#[test]
fn the_last_end_is_now_and_the_rest_keeps_its_distance() {
    let selected = select("1 0 10 100 6 -1 -1 8 120 -1 1 3 1 7 2 -1 -1 -1\n2 50 0 1000 1 -1 -1 -1 -1 -1 0 3 1 7 2 -1 -1 -1\n", 1.0);
    let [first, second] = selected.jobs.as_slice() else { panic!("two jobs") };
    assert_eq!((second.submitted, second.started, second.ended), (ENDS_AT - 1000, Some(ENDS_AT - 1000), ENDS_AT));
    assert_eq!((first.submitted, first.started, first.ended), (ENDS_AT - 1050, Some(ENDS_AT - 1040), ENDS_AT - 940));
    assert_eq!((first.requested, first.allocated), ((8, 2), Some((6, 2))));
    assert_eq!((first.end_state, first.time_limit), (EndState::Completed, TimeLimit::Minutes(2)));
    assert_eq!((second.end_state, second.time_limit, second.requested), (EndState::Failed, TimeLimit::NotGiven, (1, 1)));
}

#[test]
fn a_cancelled_job_that_did_not_run_never_started() {
    for run_time in ["-1", "0"] {
        let selected = select(&format!("1 0 60 {run_time} -1 -1 -1 8 120 -1 5 3 1 7 2 -1 -1 -1\n"), 1.0);
        let job = &selected.jobs[0];
        assert_eq!((job.submitted, job.started, job.ended), (ENDS_AT - 60, None, ENDS_AT));
        assert_eq!((job.end_state, job.allocated, job.requested), (EndState::Cancelled, None, (8, 2)));
    }
}

#[test]
fn a_job_that_failed_at_once_did_start() {
    let selected = select("1 0 60 0 8 -1 -1 8 120 -1 0 3 1 7 2 -1 -1 -1\n", 1.0);
    assert_eq!((selected.jobs[0].started, selected.jobs[0].ended), (Some(ENDS_AT), ENDS_AT));
}

#[test]
fn what_cannot_be_a_record_is_counted_by_reason() {
    let selected = select(
        "1 -1 60 10 8 -1 -1 8 120 -1 1 3 1 7 2 -1 -1 -1\n\
         2 0 -1 10 8 -1 -1 8 120 -1 1 3 1 7 2 -1 -1 -1\n\
         3 0 60 -1 8 -1 -1 8 120 -1 1 3 1 7 2 -1 -1 -1\n\
         4 0 60 10 -1 -1 -1 0 120 -1 1 3 1 7 2 -1 -1 -1\n\
         5 0 60 10 129 -1 -1 8 120 -1 1 3 1 7 2 -1 -1 -1\n",
        1.0,
    );
    assert!(selected.jobs.is_empty());
    let reasons = [Skipped::SubmitTimeUnknown, Skipped::WaitUnknown, Skipped::RunTimeUnknown, Skipped::SizeUnknown, Skipped::TooLarge];
    assert_eq!(Vec::from_iter(selected.skipped), reasons.map(|reason| (reason, 1)));
}

#[test]
fn times_are_scaled_and_limits_stay_whole_minutes() {
    let selected = select("1 0 600 3600 1 -1 -1 1 36000 -1 1 3 1 7 2 -1 -1 -1\n", 0.01);
    let job = &selected.jobs[0];
    assert_eq!((job.submitted, job.started), (ENDS_AT - 42, Some(ENDS_AT - 36)));
    assert_eq!(job.time_limit, TimeLimit::Minutes(6));
    let selected = select("1 0 600 3600 1 -1 -1 1 60 -1 1 3 1 7 2 -1 -1 -1\n", 0.01);
    assert_eq!(selected.jobs[0].time_limit, TimeLimit::Minutes(1));
}

#[test]
fn the_largest_number_is_no_limit() {
    let selected = select("1 0 600 3600 1 -1 -1 1 2147483647 -1 1 3 1 7 2 -1 -1 -1\n", 1.0);
    assert_eq!(selected.jobs[0].time_limit, TimeLimit::Unlimited);
}

#[test]
fn the_last_of_a_range_of_numbers_are_taken() {
    let log: String = (1..=9).map(|number| format!("{number} 0 0 1 1 -1 -1 1 60 -1 1 3 1 7 2 -1 -1 -1\n")).collect();
    let machine = Machine { processors: None, cpus_per_node: 1 };
    let mut selection = Selection::new(Some("2-7".parse().unwrap()), std::num::NonZeroU64::new(2), machine);
    for record in Reader::new(log.as_bytes()).unwrap() {
        selection.add(&record.unwrap());
    }
    let selected = selection.finish(ENDS_AT, TimeScale(1.0));
    assert_eq!(Vec::from_iter(selected.jobs.iter().map(|job| job.number)), [6, 7]);
    assert_eq!(Vec::from_iter(selected.skipped), [(Skipped::NotAskedFor, 7)]);
}

#[test]
fn the_header_says_how_many_processors_a_node_has() {
    let curie = header(&[("MaxNodes", "5544"), ("MaxProcs", "93312")]);
    assert_eq!(Machine::of(&curie, None, None), Machine { processors: Some(93_312), cpus_per_node: 16 });
    assert_eq!(Machine::of(&header(&[]), None, None), Machine { processors: None, cpus_per_node: 1 });
}

#[test]
fn wrong_ranges_and_scales_are_refused() {
    for text in ["", "5", "5-", "-5", "7-2", "a-b"] {
        assert!(text.parse::<JobNumbers>().is_err(), "{text:?}");
    }
    for text in ["", "0", "-1", "nan", "inf", "1e9"] {
        assert!(text.parse::<TimeScale>().is_err(), "{text:?}");
    }
}
