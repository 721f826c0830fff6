//! Which forecasts of waits are in force in a partition, and how well the default ones have done
//! there.

use std::collections::BTreeMap;

use command_parts::output::{Lines, count, duration, table};
use job_types::record::WaitSource;
use job_types::time::Seconds;
use predictor_core::forecasts::reliability::{DECISION_LEVELS, PartitionScore, RELIABILITY, WaitSourceReason};
use serde::Serialize;

use super::Report;

/// What the daemon found in one partition.
#[derive(Debug, Serialize)]
pub(super) struct WaitForecasts {
    in_force: WaitSource,
    reason: WaitSourceReason,
    jobs_scored: u32,
    median_error_s: f64,
    pinball_s: f64,
    coverage: BTreeMap<&'static str, f64>,
    reliability: Vec<[f64; 2]>,
}

/// A number of single precision as it was meant.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1e4).round() / 1e4
}

impl From<&PartitionScore> for WaitForecasts {
    fn from(score: &PartitionScore) -> Self {
        let observed = |place: usize| score.reliability.get(place).copied().map_or(0.0, rounded);
        // Shares of nothing say nothing.
        let is_scored = score.jobs > 0;
        Self {
            in_force: score.source,
            reason: score.reason,
            jobs_scored: score.jobs,
            median_error_s: rounded(score.median_error_s),
            pinball_s: rounded(score.pinball_s),
            coverage: DECISION_LEVELS.iter().filter(|_| is_scored).map(|(level, place)| (*level, observed(*place))).collect(),
            reliability: RELIABILITY.into_iter().enumerate().filter(|_| is_scored).map(|(place, level)| [level, observed(place)]).collect(),
        }
    }
}

/// The part of the report for people.
pub(super) fn text(lines: &mut Lines, report: &Report) {
    lines.heading("Forecasts of waits");
    let known: Vec<(&str, &WaitForecasts)> =
        report.partitions.iter().filter_map(|partition| Some((partition.name.as_str(), partition.wait_forecasts.as_ref()?))).collect();
    if known.is_empty() {
        lines.plain("by class of job (QBETS) where there is history; the default's have not been tried yet");
        return;
    }
    let levels = DECISION_LEVELS.map(|(level, _)| level);
    let numbers = [&["jobs scored", "median error"], &levels[..]].concat();
    let header = [&["partition", "in force", "because"], &numbers[..]].concat();
    let mut forecasts = table(&header, &numbers);
    for (name, waits) in &known {
        let is_scored = waits.jobs_scored > 0;
        let mut row =
            vec![(*name).to_owned(), waits.in_force.name().to_owned(), waits.reason.in_short().to_owned(), count(waits.jobs_scored.into())];
        row.push(if is_scored { duration(Seconds(waits.median_error_s.round() as i64)) } else { "-".to_owned() });
        row.extend(levels.map(|level| waits.coverage.get(level).map_or("-".to_owned(), |share| format!("{share:.3}"))));
        forecasts.add_row(row);
    }
    lines.table(&forecasts);
    lines.plain("0.5 to 0.95: the share of the jobs scored that waited at most as long as the default's bound at that level");

    let scored: Vec<&(&str, &WaitForecasts)> = known.iter().filter(|(_, waits)| waits.jobs_scored > 0).collect();
    if scored.is_empty() {
        return;
    }
    lines.heading("Reliability of the default forecasts of waits");
    // Every other level; all are in the JSON.
    let places = || (1..RELIABILITY.len()).step_by(2);
    let nominal: Vec<String> = places().filter_map(|place| RELIABILITY.get(place)).map(|level| format!("{level:.1}")).collect();
    let numbers: Vec<&str> = nominal.iter().map(String::as_str).collect();
    let mut reliability = table(&[&["nominal"], &numbers[..]].concat(), &numbers);
    for (name, waits) in scored {
        let observed = places().filter_map(|place| waits.reliability.get(place)).map(|[_, share]| format!("{share:.2}"));
        reliability.add_row([(*name).to_owned()].into_iter().chain(observed));
    }
    lines.table(&reliability);
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::PartitionIndex;

    fn score(jobs: u32) -> PartitionScore {
        PartitionScore {
            partition: PartitionIndex(0),
            jobs,
            median_error_s: 12.5,
            pinball_s: 3.0,
            reliability: RELIABILITY.map(|level| level as f32 + 0.01),
            source: WaitSource::Blended,
            reason: WaitSourceReason::Calibrated,
        }
    }

    #[test]
    fn coverage_is_taken_from_its_place_in_the_reliability_table() {
        let waits = WaitForecasts::from(&score(300));
        let coverage: Vec<(&str, f64)> = waits.coverage.into_iter().collect();
        assert_eq!(coverage, [("0.5", 0.51), ("0.75", 0.76), ("0.9", 0.91), ("0.95", 0.96)]);
        assert_eq!((waits.reliability.len(), waits.reliability[0]), (19, [0.05, 0.06]));
    }

    #[test]
    fn nothing_is_said_of_shares_where_nothing_was_scored() {
        let waits = WaitForecasts::from(&score(0));
        assert!(waits.coverage.is_empty() && waits.reliability.is_empty());
    }
}
