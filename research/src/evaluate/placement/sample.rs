//! A made-up report, for tests.

use job_types::time::Seconds;
use simulator::experiment::{PlacementMethod, PlacementOptions, PlacementPreference, PlacementRunTimes, SoundJobs, placements};
use simulator::remarks::Remarks;
use simulator::swf::Reader;

use super::published::Published;
use super::{PlacementReport, Settings};

/// What is found on a made-up log of 160 jobs on eight processors, with what was published or
/// without.
pub(super) fn report(is_published: bool) -> PlacementReport {
    let job = |place: u32| {
        let (run_time, processors) = (300 + place * 37 % 2_000, 1 + place * 5 % 8);
        let requested = run_time + place * 91 % 5_000;
        format!("{place} {} 0 {run_time} {processors} -1 -1 {processors} {requested} -1 1 3 1 -1 1 -1 -1 -1\n", place * 600)
    };
    let log = Reader::new((1..=160).map(job).collect::<String>().as_bytes()).unwrap().into_log().unwrap();
    let sound = |most| SoundJobs::of(&log, 8, 160, 1, most).unwrap();
    let hours = |hours: &[i64]| hours.iter().map(|hours| Seconds(hours * 3_600)).collect::<Vec<_>>();
    let options = PlacementOptions {
        methods: PlacementMethod::ALL.to_vec(),
        book_ahead: hours(&[0, 12]),
        windows: hours(&[0, 2, 30]),
        seeds: 2,
        ..PlacementOptions::default()
    };
    let widest = PlacementOptions { windows: hours(&[30]), ..options.clone() };
    PlacementReport {
        log: "a-log".to_owned(),
        file: "a-log.swf".to_owned(),
        jobs: 160,
        processors: 8,
        settings: Settings {
            node_processors: 1,
            most_nodes: None,
            made_smaller: 0,
            slots: 20,
            gap_s: 300,
            makespan_weight: 0.5,
            prefer: PlacementPreference::Earliest,
            patience: false,
            run_times: PlacementRunTimes::Estimated,
            oracle_run_times: PlacementRunTimes::Actual,
            notice_s: 0,
            move_every_s: 3_600,
            least_gain_s: 600,
            seed: 1,
            seeds: 2,
        },
        found: placements(&sound(None), &options, &|| ()),
        smaller: is_published.then(|| (placements(&sound(Some(6)), &widest, &|| ()), 4)),
        published: is_published.then(Published::all),
        remarks: Remarks::default(),
    }
}
