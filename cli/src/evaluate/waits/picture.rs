//! The picture: a reliability diagram and errors by class of wait, one row for each log.

use std::collections::BTreeMap;
use std::path::Path;

use super::WaitsOfLog;
use super::text::class_name;
use crate::evaluate::methods;
use crate::plot::{self, ErrorsByClass, Reliability, Series};

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, logs: &[WaitsOfLog]) -> anyhow::Result<()> {
    plot::write_rows(path, 2, logs, |areas, log| {
        if let [left, right, ..] = areas {
            plot::reliability(left, &reliability(log))?;
            plot::errors_by_class(right, &errors(log))?;
        }
        Ok(())
    })
}

fn reliability(log: &WaitsOfLog) -> Reliability {
    let points_of = |coverage: &BTreeMap<&'static str, f64>| -> Vec<[f64; 2]> {
        coverage.iter().filter_map(|(nominal, observed)| Some([nominal.parse().ok()?, *observed])).collect()
    };
    let series = vec![
        Series { name: "QBETS (upper bounds)".to_owned(), points: points_of(&log.found.qbets_coverage), is_ours: false },
        Series { name: methods::name(methods::DEFAULT), points: log.found.reliability.clone(), is_ours: true },
    ];
    Reliability { title: format!("{}: waits, reliability", log.log), series: series.into_iter().filter(|series| !series.points.is_empty()).collect() }
}

fn errors(log: &WaitsOfLog) -> ErrorsByClass {
    let classes = &log.found.by_wait;
    let keys = methods::ordered(classes.iter().flat_map(|class| class.aae_hours.keys().copied()));
    let series = keys.into_iter().map(|key| Series {
        name: methods::name(key),
        points: classes
            .iter()
            .enumerate()
            .filter(|(_, class)| class.jobs > 0)
            .filter_map(|(place, class)| Some((place, *class.aae_hours.get(key)?)))
            .collect(),
        is_ours: key == methods::DEFAULT,
    });
    ErrorsByClass {
        title: format!("{}: error by class of wait", log.log),
        what: "wait",
        classes: classes.iter().map(class_name).collect(),
        errors: "mean absolute error (hours)",
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::sample::report;
    use super::*;

    #[test]
    fn each_log_has_its_diagrams() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waits.svg");
        draw(&path, &[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]).unwrap();
        let svg = fs::read_to_string(path).unwrap();
        for text in ["SDSC-SP2-1998-4.2-cln: waits", "KTH-SP2-1996-2.1-cln: error by class", "QBETS", "k nearest", "(hours)"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
