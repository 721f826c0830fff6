//! Each job's forecast and wait as comma-separated values.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use simulator::evaluation::JobForecast;

use super::WaitsOfLog;

/// Writes the forecasts of all logs into one file.
///
/// # Errors
///
/// The file can't be written; it is named.
pub(super) fn write(path: &Path, logs: &[WaitsOfLog]) -> anyhow::Result<()> {
    let written = || -> anyhow::Result<()> { write_to(BufWriter::new(File::create(path)?), logs) };
    written().with_context(|| format!("cannot write {}", path.display()))
}

fn write_to(output: impl Write, logs: &[WaitsOfLog]) -> anyhow::Result<()> {
    let mut lines = csv::Writer::from_writer(output);
    for log in logs {
        for forecast in &log.found.forecasts {
            lines.serialize(Line::of(&log.log, forecast))?;
        }
    }
    Ok(lines.flush()?)
}

/// One line; the names of its fields are the columns, which the command's help explains.
#[derive(Serialize)]
struct Line<'a> {
    log: &'a str,
    job: usize,
    submit: i64,
    queue: &'a str,
    processors: u32,
    limit_s: Option<i64>,
    point_s: f64,
    q50_s: Option<u32>,
    q75_s: Option<u32>,
    q90_s: Option<u32>,
    q95_s: Option<u32>,
    wait_s: i64,
    pit: Option<f64>,
    in_force: &'a str,
    in_force_point_s: Option<f64>,
    qbets_q50_s: Option<u32>,
    qbets_q75_s: Option<u32>,
    qbets_q90_s: Option<u32>,
    qbets_q95_s: Option<u32>,
}

impl<'a> Line<'a> {
    fn of(log: &'a str, forecast: &'a JobForecast) -> Self {
        let thousandth = |value: f64| (value * 1e3).round() / 1e3;
        // The quantiles are in the order of `simulator::evaluation::QUANTILES`.
        let [q50_s, q75_s, q90_s, q95_s] = each(forecast.quantiles_s);
        let [qbets_q50_s, qbets_q75_s, qbets_q90_s, qbets_q95_s] = each(forecast.qbets_quantiles_s);
        Self {
            log,
            job: forecast.job,
            submit: forecast.submit,
            queue: &forecast.queue,
            processors: forecast.processors,
            limit_s: forecast.limit_s,
            point_s: thousandth(forecast.point_s),
            q50_s,
            q75_s,
            q90_s,
            q95_s,
            wait_s: forecast.wait_s,
            pit: forecast.transform,
            in_force: forecast.in_force,
            in_force_point_s: forecast.in_force_point_s.map(thousandth),
            qbets_q50_s,
            qbets_q75_s,
            qbets_q90_s,
            qbets_q95_s,
        }
    }
}

fn each<const N: usize>(all: Option<[u32; N]>) -> [Option<u32>; N] {
    all.map_or([None; N], |all| all.map(Some))
}
