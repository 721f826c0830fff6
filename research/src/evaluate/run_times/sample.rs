//! A made-up report for tests.

use simulator::evaluation::{ByMethod, RunTimeClassReport, RunTimeReport};

use super::RunTimesOfLog;
use crate::evaluate::sample::{self, coverage};

const METHODS: [&str; 7] = ["baseline", "last_two", "li", "range_sets", "requested", "smith", "best"];

fn by_method<T>(value: impl Fn(usize) -> T) -> ByMethod<T> {
    sample::by_method(&METHODS, value)
}

/// A report on a log of this name. The i-th method errs by 70 - 5 i minutes.
pub(super) fn report(name: &str) -> RunTimesOfLog {
    let class = |from_s: u32, below_s: Option<u32>, jobs: usize| RunTimeClassReport {
        from_s,
        below_s,
        jobs,
        aae_minutes: by_method(|place| (f64::from(from_s).max(20.0) / 60.0) * (1.0 - place as f64 / 20.0)),
    };
    let found = RunTimeReport {
        test_jobs: 34_041,
        success_rate: by_method(|place| 0.6 + place as f64 / 20.0),
        coverage_percent: by_method(|place| 100.0 - 10.0 * place as f64),
        aae_minutes: by_method(|place| 70.0 - 5.0 * place as f64),
        median_ae_minutes: by_method(|place| 7.0 - 0.5 * place as f64),
        by_queue: Vec::new(),
        by_size: Vec::new(),
        pit_coverage: coverage(0.01),
        from: 20_001,
        to: 54_041,
        success_rate_beyond_limit: by_method(|place| 0.55 + place as f64 / 20.0),
        coverage_with_new_percent: by_method(|place| 110.0 - 10.0 * place as f64),
        median_coverage_percent: by_method(|place| 90.0 - 10.0 * place as f64),
        with_range: by_method(|_| 0.97),
        by_run_time: vec![
            class(0, Some(100), 10_000),
            class(100, Some(1_000), 8_000),
            class(1_000, Some(10_000), 8_041),
            class(10_000, Some(100_000), 8_000),
            class(100_000, None, 0),
        ],
        reliability: sample::reliability(),
        block_pit_coverage: vec![coverage(0.0), coverage(-0.03), coverage(0.02)],
        notes: vec!["a remark of the evaluation".to_owned()],
    };
    sample::log_report(name, found)
}
