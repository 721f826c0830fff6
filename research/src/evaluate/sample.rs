//! What the made-up reports on forecasts have in common, for tests.

use simulator::evaluation::ByMethod;
use simulator::remarks::Remarks;
use simulator::swf::Header;

use super::LogReport;
use super::published::{Published, PublishedFigures};
use super::tables::{Coverage, LEVELS};

/// A report on a log of this name.
pub(super) fn log_report<R, F: PublishedFigures>(name: &str, found: R) -> LogReport<R, F> {
    LogReport {
        log: name.to_owned(),
        file: format!("{name}.swf"),
        jobs: 54_041,
        processors: 128,
        remarks: Remarks::default(),
        published: Published::about(name, &Header::new()).map(Into::into),
        found,
    }
}

/// A value for each method, by its place.
pub(super) fn by_method<T>(methods: &[&'static str], value: impl Fn(usize) -> T) -> ByMethod<T> {
    methods.iter().enumerate().map(|(place, method)| (*method, value(place))).collect()
}

/// Parts of the jobs that are off by `shift` at each level.
pub(super) fn coverage(shift: f64) -> Coverage {
    LEVELS.into_iter().map(|level| (level, level.parse::<f64>().unwrap() + shift)).collect()
}

/// A reliability curve a little above the diagonal.
pub(super) fn reliability() -> Vec<[f64; 2]> {
    (1..20).map(|step| f64::from(step) / 20.0).map(|nominal| [nominal, nominal + 0.04 * (1.0 - nominal)]).collect()
}
