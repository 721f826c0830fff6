//! A made-up report for tests.

use simulator::evaluation::{ByMethod, IN_FORCE, PartReport, PredictionTime, QueueReport, SizeReport, WaitClassReport, WaitReport};

use super::WaitsOfLog;
use crate::evaluate::sample::{self, coverage};

const METHODS: [&str; 8] = ["zero", "knn", "qbets", "ibl", "apq", "trees", "best", IN_FORCE];

fn by_method<T>(value: impl Fn(usize) -> T) -> ByMethod<T> {
    sample::by_method(&METHODS, value)
}

/// A report on a log of this name. The i-th method errs by 9 - i hours.
pub(super) fn report(name: &str) -> WaitsOfLog {
    let class = |at_least_s: u64, below_s: Option<u64>, jobs: usize| WaitClassReport {
        at_least_s,
        below_s,
        jobs,
        aae_hours: by_method(|place| (at_least_s.max(10) as f64 / 3_600.0) * (1.0 - place as f64 / 20.0)),
    };
    let part = |jobs: usize, shift: f64| PartReport {
        jobs,
        jobs_without_bounds: 5,
        aae_hours: by_method(|place| 9.0 - place as f64),
        median_ae_hours_by_method: by_method(|place| 1.0 - place as f64 / 10.0),
        coverage: coverage(shift),
        qbets_coverage: coverage(0.03),
        in_force: [("blended", 0.9), ("qbets", 0.1)].into(),
        in_force_coverage: coverage(0.02),
    };
    let found = WaitReport {
        test_jobs: 34_041,
        aae_hours: by_method(|place| 9.0 - place as f64),
        median_ae_hours: 0.75,
        coverage: coverage(0.01),
        within_factor_2: 0.4,
        prediction_us: PredictionTime { p50: 12.0, p99: 80.0 },
        jobs_without_bounds: [("best", 41), ("qbets", 0), (IN_FORCE, 17)].into(),
        from: 20_001,
        to: 54_041,
        aae_interval_hours: by_method(|place| [8.5 - place as f64, 9.5 - place as f64]),
        scaled_aae: by_method(|place| 100.0 - place as f64),
        median_ae_hours_by_method: by_method(|place| 1.0 - place as f64 / 10.0),
        within_factor_2_by_method: by_method(|place| place as f64 / 10.0),
        by_wait: vec![
            class(0, Some(100), 12_000),
            class(100, Some(1_000), 4_000),
            class(1_000, Some(10_000), 8_041),
            class(10_000, Some(100_000), 9_000),
            class(100_000, None, 1_000),
        ],
        block_coverage: vec![coverage(0.0), coverage(-0.03), coverage(0.02)],
        reliability: sample::reliability(),
        pinball_hours: [("best", 1.5), ("qbets", 4.25), (IN_FORCE, 1.75)].into(),
        qbets_coverage: coverage(0.03),
        member_weights: [("trees", 0.7), ("knn", 0.2), ("zero", 0.1)].into(),
        in_force: [("blended", 0.9), ("qbets", 0.1)].into(),
        in_force_coverage: coverage(0.02),
        by_queue: vec![
            QueueReport { queue: "3".to_owned(), part: part(30_000, 0.0) },
            QueueReport { queue: "4/1".to_owned(), part: part(4_041, -0.04) },
        ],
        by_size: vec![
            SizeReport { at_least_processors: 1, at_most_processors: Some(1), part: part(34_000, 0.0) },
            SizeReport { at_least_processors: 4_097, at_most_processors: None, part: part(41, -0.2) },
        ],
        forecasts: Vec::new(),
        notes: vec!["a remark of the evaluation".to_owned()],
    };
    sample::log_report(name, found)
}
