//! Run times of a job with a deadline, which says something of them.

use crate::forecasts::deadline_history::Ratios;
use crate::forecasts::forecast::{RunTimeForecast, RunTimeRange};
use job_types::time::Seconds;

/// The most by which a run time that is looked at exceeds the one before it within a range.
const POINTS_OF_A_DOUBLING: f64 = 4.0;

/// Most run times that are looked at in one range.
const MOST_POINTS: f64 = 24.0;

/// How many times the time limit is halved for the ranges of a run time of which nothing is known.
const UNKNOWN_DOUBLINGS: i32 = 10;

/// The run times of a job whose user has run none of its size: anything up to the limit, each
/// doubling as likely as any other.
#[must_use]
pub fn unknown(limit: Seconds) -> Vec<RunTimeRange> {
    let limit_s = f64::from(limit.clamped_u32().max(1));
    let end = |halved: i32| ((limit_s / 2_f64.powi(halved)).round() as u32).max(1);
    let range = |halved: i32| RunTimeRange::new(end(halved + 1), end(halved), 1.0 / UNKNOWN_DOUBLINGS as f32);
    (0..UNKNOWN_DOUBLINGS).rev().map(range).collect()
}

/// The part of the jobs that run for as long as none of their user's before.
const UNLIKE_PART: f32 = 0.05;

/// Run times down to a second, of a job that nothing is known of but its limit: each doubling as
/// likely as any other.
#[must_use]
pub fn any(limit: Seconds) -> Vec<RunTimeRange> {
    let limit_s = limit.clamped_u32().max(1);
    let mut ends: Vec<u32> = std::iter::successors(Some(limit_s), |end| Some(end / 2).filter(|end| *end > 0)).collect();
    ends.reverse();
    if ends.len() < 2 {
        return vec![RunTimeRange::new(limit_s, limit_s, 1.0)];
    }
    let probability = 1.0 / (ends.len() - 1) as f32;
    ends.windows(2).map(|ends| RunTimeRange::new(ends[0], ends[1], probability)).collect()
}

/// The run times of a job with a deadline, in seconds with their probabilities, ascending: by what
/// its user's past jobs of that size ran for, within its time limit, and by its deadline, which is
/// `given` after its submission. A job without a limit runs until its deadline at the longest.
#[must_use]
pub fn with_deadline(past: Option<RunTimeForecast<'_>>, limit: Option<Seconds>, given: Seconds, ratios: &Ratios) -> Vec<(f64, f64)> {
    let ranges = past.filter(|past| !past.ranges.is_empty()).map(|past| past.within(limit));
    open_minded(ranges.as_deref(), limit.unwrap_or(given), given, ratios)
}

/// The run times of a job with a deadline by what is forecast for it, if anything is, and by its
/// deadline, which is `given` after its submission.
///
/// A few jobs run for as long as none of their user's before: where a deadline would be far too
/// near for what is forecast, it is more likely of such a job.
fn open_minded(forecast: Option<&[RunTimeRange]>, limit: Seconds, given: Seconds, ratios: &Ratios) -> Vec<(f64, f64)> {
    let Some(forecast) = forecast else { return weighed(&any(limit), given, ratios) };
    let part = |range: &RunTimeRange, part: f32| {
        RunTimeRange::new(range.lower().clamped_u32(), range.upper().clamped_u32(), range.probability() as f32 * part)
    };
    let mut ranges: Vec<RunTimeRange> = forecast.iter().map(|range| part(range, 1.0 - UNLIKE_PART)).collect();
    ranges.extend(any(limit).iter().map(|range| part(range, UNLIKE_PART)));
    let mut points = weighed(&ranges, given, ratios);
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// Run times in seconds with their probabilities, ascending: those of the ranges, each weighed by
/// how often the time from the submission to the deadline was so many times longer than the run
/// time as what is `given` here would be.
///
/// The deadline is what Bayes' rule calls the evidence: where the ratio does not depend on the run
/// time, its likelihood is that of the ratio.
fn weighed(ranges: &[RunTimeRange], given: Seconds, ratios: &Ratios) -> Vec<(f64, f64)> {
    let (given_s, likelihood) = (given.0.max(1) as f64, ratios.likelihoods());
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(ranges.len() * 4);
    for range in ranges {
        let [lower, upper] = [range.lower(), range.upper()].map(|end| end.0.max(1) as f64);
        let upper = upper.max(lower);
        let parts = ((upper / lower).log2() * POINTS_OF_A_DOUBLING).ceil().clamp(1.0, MOST_POINTS);
        let step = (upper / lower).powf(1.0 / parts);
        let mut run_s = if parts > 1.0 { lower } else { upper / step };
        for _ in 0..parts as usize {
            run_s *= step;
            points.push((run_s, range.probability() / parts * likelihood(given_s / run_s)));
        }
    }
    let sum: f64 = points.iter().map(|(_, weight)| weight).sum();
    if sum > 0.0 {
        points.iter_mut().for_each(|(_, weight)| *weight /= sum);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecasts::promised_job::mean;

    #[test]
    fn a_deadline_says_nothing_of_the_run_time_before_anything_is_known() {
        let ranges = [RunTimeRange::new(100, 100, 0.5), RunTimeRange::new(1_000, 1_000, 0.5)];
        let points = weighed(&ranges, Seconds(2_000), &Ratios::unknown());
        assert_eq!(points.iter().map(|(run_s, _)| run_s.round()).collect::<Vec<_>>(), [100.0, 1_000.0]);
        assert_eq!(mean(&points), Seconds(550));
    }

    #[test]
    fn where_users_give_sixteen_times_the_run_time_a_short_deadline_is_of_a_short_job() {
        let mut ratios = Ratios::unknown();
        (0..500).for_each(|_| ratios.observe(16.5));
        let ranges = [RunTimeRange::new(100, 100, 0.5), RunTimeRange::new(1_000, 1_000, 0.5)];
        assert!(mean(&weighed(&ranges, Seconds(1_650), &ratios)) < Seconds(110));
        assert!(mean(&weighed(&ranges, Seconds(16_500), &ratios)) > Seconds(990));
        let unknown = weighed(&unknown(Seconds(36_000)), Seconds(1_650), &ratios);
        let near: f64 = unknown.iter().filter(|(run_s, _)| (70.0..110.0).contains(run_s)).map(|(_, weight)| weight).sum();
        assert!(near > 0.9, "{near}");
    }

    #[test]
    fn a_deadline_that_is_too_near_for_all_that_is_known_is_of_a_job_that_is_unlike_those_before() {
        let mut ratios = Ratios::unknown();
        (0..2_000).for_each(|_| ratios.observe(16.5));
        let hours = [RunTimeRange::new(7_000, 7_300, 1.0)];
        let points = |given| open_minded(Some(&hours), Seconds(86_400), Seconds(given), &ratios);
        let within =
            |points: &[(f64, f64)], most_s: f64| points.iter().filter(|(run_s, _)| *run_s <= most_s).map(|(_, weight)| weight).sum::<f64>();
        assert!(within(&points(160), 160.0) > 0.7, "{:?}", within(&points(160), 160.0));
        assert!(within(&points(120_000), 6_900.0) < 0.05, "what is forecast is likely where the deadline says the same");
        assert!(points(160).is_sorted_by(|one, other| one.0 <= other.0));
        let unknown = open_minded(None, Seconds(86_400), Seconds(160), &ratios);
        assert!(within(&unknown, 20.0) > 0.8);
    }

    #[test]
    fn any_run_time_is_one_between_a_second_and_the_limit() {
        for limit in [1, 2, 3, 60, 86_400, i64::MAX] {
            let ranges = any(Seconds(limit));
            let sum: f64 = ranges.iter().map(RunTimeRange::probability).sum();
            assert!((sum - 1.0).abs() < 1e-5 && ranges[0].lower() == Seconds(1));
            assert_eq!(ranges.last().unwrap().upper(), Seconds(limit.min(i64::from(Seconds(limit).clamped_u32()))));
        }
    }

    #[test]
    fn run_times_ascend_within_their_ranges_and_sum_to_one() {
        let ranges = [RunTimeRange::new(1, 600, 0.25), RunTimeRange::new(601, 86_400, 0.75)];
        let points = weighed(&ranges, Seconds(7_200), &Ratios::unknown());
        assert!(points.is_sorted_by(|one, other| one.0 <= other.0) && points.len() < 70);
        assert!((points.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((points.last().unwrap().0 - 86_400.0).abs() < 1.0);
    }
}
