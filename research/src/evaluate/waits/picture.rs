//! The picture: a reliability diagram and errors by class of wait, one row for each log.

use std::path::Path;

use command_parts::plot::{self, ErrorsByClass, Reliability, Series};

use super::WaitsOfLog;
use crate::evaluate::tables::{Coverage, class_name};
use crate::evaluate::{methods, picture};

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, logs: &[WaitsOfLog]) -> anyhow::Result<()> {
    picture::draw(path, logs, reliability, errors)
}

fn reliability(log: &WaitsOfLog) -> Reliability {
    let points_of = |coverage: &Coverage| -> Vec<[f64; 2]> {
        coverage.iter().filter_map(|(nominal, observed)| Some([nominal.parse().ok()?, *observed])).collect()
    };
    let series = vec![
        Series { name: "QBETS (upper bounds)".to_owned(), points: points_of(&log.found.qbets_coverage), is_ours: false },
        Series { name: methods::name(methods::DEFAULT), points: log.found.reliability.clone(), is_ours: true },
    ];
    Reliability {
        observed: plot::AT_OR_BELOW,
        title: format!("{}: waits, reliability", log.log),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
    }
}

fn errors(log: &WaitsOfLog) -> ErrorsByClass {
    let classes = &log.found.by_wait;
    ErrorsByClass {
        title: format!("{}: error by class of wait", log.log),
        what: "wait",
        classes: classes.iter().map(|class| class_name(class.at_least_s, class.below_s)).collect(),
        errors: "mean absolute error (hours)",
        series: methods::series(classes.iter().map(|class| (class.jobs, &class.aae_hours))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::report;
    use super::*;

    #[test]
    fn each_log_has_its_diagrams() {
        let svg = picture::drawn(|path| draw(path, &[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]));
        for text in ["SDSC-SP2-1998-4.2-cln: waits", "KTH-SP2-1996-2.1-cln: error by class", "QBETS", "k nearest", "(hours)"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
