use job_types::time::{Seconds, UnixTime};

use super::workload::Drawn;
use super::*;
use crate::swf::{Log, Reader};

/// A job for each line: submission, run time, processors, requested time.
fn log(jobs: &[[i64; 4]]) -> Log {
    let lines: String = jobs
        .iter()
        .enumerate()
        .map(|(place, [submit, run, processors, requested])| {
            format!("{} {submit} 0 {run} {processors} -1 -1 {processors} {requested} -1 1 3 1 -1 1 -1 -1 -1\n", place + 1)
        })
        .collect();
    Reader::new(lines.as_bytes()).unwrap().into_log().unwrap()
}

#[test]
fn sound_jobs_ran_for_no_longer_than_they_had_asked_for() {
    let log = log(&[[0, 60, 16, 90], [1, 0, 16, 90], [2, 91, 16, 90], [3, 90, 17, 90], [4, 10, 80, 90]]);
    let sound = SoundJobs::of(&log, 64, 3, 8, None).unwrap();
    let sizes: Vec<_> = sound.jobs.iter().map(|job| (job.number, job.processors)).collect();
    assert_eq!((sizes, sound.processors, sound.made_smaller), (vec![(1, 2), (4, 3), (5, 8)], 8, 0));
    let smaller = SoundJobs::of(&log, 64, 3, 8, Some(2)).unwrap();
    assert_eq!((smaller.jobs.iter().map(|job| job.processors).collect::<Vec<_>>(), smaller.made_smaller), (vec![2, 2, 2], 2));
    assert_eq!(SoundJobs::of(&log, 64, 4, 8, None).unwrap_err(), TooFewSoundJobs::Fewer { found: 3, wanted: 4 });
    assert_eq!(SoundJobs::of(&log, 7, 1, 8, None).unwrap_err(), TooFewSoundJobs::NoNode { processors: 7 });
}

#[test]
fn a_log_without_requested_times_is_refused() {
    let log = log(&[[0, 60, 16, -1]]);
    assert_eq!(SoundJobs::of(&log, 64, 1, 1, None).unwrap_err(), TooFewSoundJobs::NoTimeLimits);
}

fn sound(jobs: i64) -> SoundJobs {
    let job = |place: i64| [place * 40, 30 + place * 37 % 200, 1 + place * 5 % 8, 230 + place * 91 % 500];
    SoundJobs::of(&log(&(0..jobs).map(job).collect::<Vec<_>>()), 8, jobs as usize, 1, None).unwrap()
}

#[test]
fn one_of_each_ten_jobs_in_a_row_is_a_request() {
    let sound = sound(35);
    let drawn = Drawn::of(&sound, 1);
    assert_eq!((drawn.jobs.len(), drawn.requests.len()), (32, 3), "five are left over");
    for (block, request) in drawn.requests.iter().enumerate() {
        assert!(sound.jobs[block * 10..block * 10 + 10].contains(request));
    }
    assert_eq!(drawn.requests, Drawn::of(&sound, 1).requests);
    assert!((2..9).any(|seed| Drawn::of(&sound, seed).requests != drawn.requests));
}

fn options() -> PlacementOptions {
    PlacementOptions {
        methods: PlacementMethod::ALL.to_vec(),
        book_ahead: vec![Seconds::ZERO, Seconds(600)],
        windows: vec![Seconds::ZERO, Seconds(3_600)],
        seeds: 3,
        ..PlacementOptions::default()
    }
}

#[test]
fn experiments_are_those_that_were_asked_for_and_the_same_each_time() {
    let made = std::sync::atomic::AtomicUsize::new(0);
    let count = || {
        made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let found = placements(&sound(200), &options(), &count);
    assert_eq!((found.experiments.len(), made.into_inner(), options().experiments()), (72, 72, 72));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = pool.install(|| placements(&sound(200), &options(), &|| ()));
    assert_eq!(found.experiments, alone.experiments, "whatever the number of threads");
    for experiment in &found.experiments {
        assert_eq!((experiment.requested, experiment.high_load.requested), (20, 4));
        assert!(experiment.granted <= 20 && experiment.high_load.granted <= 4);
        let each = experiment.affected_wait_s - experiment.original_wait_s;
        assert!((each * experiment.delayed_jobs as f64 - experiment.added_wait_s as f64).abs() < 1.0);
        assert!(experiment.delayed_jobs + experiment.gained_jobs <= 180);
    }
    assert_eq!(found.pictured.added.len(), 12, "of each method and book-ahead, at the widest window");
}

#[test]
fn who_prefers_the_middle_of_a_window_is_placed_nearest_to_it() {
    // Slots lie at 0, 20 and 40 minutes of a window of an hour, or at 60, and nothing else runs.
    let alone =
        SoundJobs { jobs: vec![crate::engine::Job { run_time: Seconds(600), processors: 1, ..Default::default() }; 10], ..sound(10) };
    let start = |preference| {
        let options = PlacementOptions {
            methods: vec![PlacementMethod::Earliest],
            book_ahead: vec![Seconds(86_400)],
            windows: vec![Seconds(3_600)],
            probing: Probing { slots: 4, gap: Seconds(300) },
            preference,
            ..PlacementOptions::default()
        };
        let request = Task { method: PlacementMethod::Earliest, seed: 1, drawn: 0, book_ahead: Seconds(86_400), window: Seconds(3_600) };
        let drawn = Drawn::of(&alone, 1);
        let made = make(&request, &drawn, &Outcome { starts: vec![UnixTime(0); 9], ..Outcome::default() }, 16, &options);
        made.outcome.requests[0].granted.map(|slot| (slot.start - UnixTime(86_400)).0 / 60)
    };
    let preferences = [PlacementPreference::Earliest, PlacementPreference::Middle, PlacementPreference::Latest];
    assert_eq!(preferences.map(start), [Some(0), Some(20), Some(60)]);
}

#[test]
fn plans_of_the_oracle_end_jobs_as_they_will_unless_something_else_is_chosen() {
    let of = |run_times| PlacementOptions { run_times, ..PlacementOptions::default() };
    let [unless_chosen, chosen] = [of(None), of(Some(PlacementRunTimes::Forecast))];
    assert_eq!(unless_chosen.run_times_of(PlacementMethod::Oracle), PlacementRunTimes::Actual);
    assert_eq!(unless_chosen.run_times_of(PlacementMethod::Movable), PlacementRunTimes::Estimated);
    assert_eq!(
        [PlacementMethod::Oracle, PlacementMethod::Movable].map(|method| chosen.run_times_of(method)),
        [PlacementRunTimes::Forecast; 2]
    );
}

#[test]
fn what_is_counted_is_what_became_of_jobs() {
    let jobs: Vec<crate::engine::Job> =
        [0, 10, 20].map(|submit| crate::engine::Job { submit: UnixTime(submit), run_time: Seconds(5), ..Default::default() }).to_vec();
    let outcome = |starts: [i64; 3], granted: &[bool]| crate::engine::reserved::Outcome {
        starts: starts.map(UnixTime).to_vec(),
        requests: (granted.iter().enumerate())
            .map(|(place, granted)| crate::engine::reserved::RequestRecord {
                granted: granted.then_some(queue_plan::placement::Slot::of(UnixTime(0), Seconds(1))),
                backlog_s: place as f64,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let alone = outcome([0, 10, 30], &[]);
    let with = outcome([4, 12, 24], &[true, true, true, true, true, true, false, true, true, false]);
    let experiment = PlacementExperiment::of((PlacementMethod::Load, 7), (Seconds(60), Seconds(120)), &jobs, &alone, &with);
    assert_eq!((experiment.delayed_jobs, experiment.gained_jobs, experiment.added_wait_s), (2, 1, 6));
    assert_eq!((experiment.original_wait_s, experiment.affected_wait_s, experiment.net_wait_s), (0.0, 3.0, 0.0));
    assert_eq!((experiment.original_makespan_s, experiment.makespan_s), (35, 29));
    assert_eq!((experiment.requested, experiment.granted), (10, 8));
    assert_eq!(experiment.high_load, HighLoad { requested: 2, granted: 1 }, "the two that came last met the most work");
    let summary = PlacementSummary::of(PlacementMethod::Load, [&experiment].into_iter());
    assert_eq!((summary.success_rate, summary.small_success_rate), (0.8, Some(0.8)));
    assert_eq!(summary.added_wait_s[&120], OverDraws { mean: 6.0, standard_error: None });
    assert_eq!(OverDraws::of(&[1.0, 3.0]), OverDraws { mean: 2.0, standard_error: Some(1.0) });
}
