//! What the machine's time costs those who wait, where decisions weigh that.

use command_parts::output::{Lines, duration, moment_and_distance, table};
use job_types::policy::Others;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::price;
use serde::Serialize;

use super::Report;

/// The prices of a CPU of one partition.
#[derive(Debug, Serialize)]
pub(super) struct Prices {
    made_at: i64,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    until_s: i64,
    waited_s: f64,
}

impl From<price::Prices<'_>> for Prices {
    fn from(prices: price::Prices<'_>) -> Self {
        let rounded = |waited: f32| (f64::from(waited) * 1e4).round() / 1e4;
        let step = |step: &price::PriceStep| Step { until_s: step.until.0, waited_s: rounded(step.waited) };
        Self { made_at: prices.at.0, steps: prices.steps.iter().map(step).collect() }
    }
}

/// The part of the report for people.
pub(super) fn text(lines: &mut Lines, report: &Report) {
    let is_asked = |others: &str| others != Others::Ignore.as_str();
    let asked: Vec<_> = report.partitions.iter().filter(|partition| is_asked(partition.policy.others)).collect();
    let Some(steps) = asked.iter().find_map(|partition| Some(&partition.prices.as_ref()?.steps)) else {
        if !asked.is_empty() {
            lines.heading("What the machine's time costs others");
            lines.plain("not worked out yet: until then nothing is forbidden for what it does to others");
        }
        return;
    };
    lines.heading("What the machine's time costs others");
    let ends: Vec<String> = steps.iter().map(|step| duration(Seconds(step.until_s))).collect();
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let mut prices = table(&[&["partition"], &ends[..]].concat(), &ends);
    for partition in &asked {
        let Some(known) = &partition.prices else { continue };
        let cells = known.steps.iter().map(|step| format!("{:.2}", step.waited_s));
        prices.add_row(std::iter::once(partition.name.clone()).chain(cells));
    }
    lines.table(&prices);
    lines.plain("by how many seconds all others together wait longer for each CPU that is taken for a");
    lines.plain("second, up to so far ahead");
    if let Some(made_at) = asked.iter().filter_map(|partition| partition.prices.as_ref()).map(|prices| prices.made_at).min() {
        lines.plain(format!("worked out {}", moment_and_distance(UnixTime(made_at), report.now)));
    }
}
