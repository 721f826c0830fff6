//! How a long stretch of time is cut into windows for slurmdbd.

use std::ops::Range;

use proptest::prelude::*;
use slurm_sys::client::WindowWidth;

/// How many records a window is meant to hold.
const MEANT: usize = 16_000;

/// Reads a stretch backwards where `density` records end in each second. Returns the windows
/// with their records.
fn read(stretch: Range<i64>, density: impl Fn(i64) -> f64) -> Vec<(Range<i64>, usize)> {
    let mut width = WindowWidth::new();
    let mut rest = stretch;
    let mut windows = Vec::new();
    while !rest.is_empty() {
        let window = width.last_of(&rest);
        let records = window.clone().step_by(60).map(|second| density(second) * 60.0).sum::<f64>() as usize;
        width.learn(records);
        rest.end = window.start;
        windows.push((window, records));
    }
    windows
}

#[test]
fn a_steady_site_is_read_in_windows_of_the_meant_size() {
    // One million jobs in a year.
    let windows = read(0..365 * 86_400, |_second| 1e6 / (365.0 * 86_400.0));
    assert!(windows.len() < 120, "{}", windows.len());
    assert!(windows.iter().all(|(_window, records)| *records <= MEANT * 5 / 4));
}

#[test]
fn a_site_that_becomes_four_times_as_busy_fills_a_window_four_times_at_the_most_and_not_for_long() {
    let windows = read(0..30 * 86_400, |second| if second > 15 * 86_400 { 0.02 } else { 0.08 });
    assert!(windows.iter().all(|(_window, records)| *records <= 4 * MEANT));
    assert!(windows.iter().filter(|(_window, records)| *records > MEANT * 5 / 4).count() <= 2);
}

proptest! {
    #[test]
    fn windows_cover_a_stretch_without_gap_or_overlap(start in 0i64..1_000_000, length in 1i64..40_000_000, records in prop::collection::vec(0usize..200_000, 1..50)) {
        let stretch = start..start + length;
        let mut width = WindowWidth::new();
        let (mut backwards, mut forwards) = (stretch.clone(), stretch.clone());
        for records in records {
            let (last, first) = (width.last_of(&backwards), width.first_of(&forwards));
            prop_assert_eq!(last.end, backwards.end);
            prop_assert_eq!(first.start, forwards.start);
            prop_assert!(last.start >= stretch.start && first.end <= stretch.end);
            prop_assert!(backwards.is_empty() || !last.is_empty());
            prop_assert!(forwards.is_empty() || !first.is_empty());
            (backwards.end, forwards.start) = (last.start, first.end);
            width.learn(records);
        }
    }
}
