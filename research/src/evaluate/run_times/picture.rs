//! The picture: a reliability diagram and errors by class of run time, one row for each log.

use std::path::Path;

use command_parts::plot::{self, ErrorsByClass, Reliability, Series};

use super::RunTimesOfLog;
use crate::evaluate::methods;
use crate::evaluate::tables::class_name;

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, logs: &[RunTimesOfLog]) -> anyhow::Result<()> {
    plot::write_rows(path, 2, logs, |areas, log| {
        if let [left, right, ..] = areas {
            plot::reliability(left, &reliability(log))?;
            plot::errors_by_class(right, &errors(log))?;
        }
        Ok(())
    })
}

fn reliability(log: &RunTimesOfLog) -> Reliability {
    let points = log.found.reliability.clone();
    Reliability {
        observed: plot::AT_OR_BELOW,
        title: format!("{}: run times, reliability", log.log),
        series: vec![Series { name: methods::name(methods::DEFAULT), points, is_ours: true }],
    }
}

fn errors(log: &RunTimesOfLog) -> ErrorsByClass {
    let classes = &log.found.by_run_time;
    ErrorsByClass {
        title: format!("{}: error by class of run time", log.log),
        what: "run time",
        classes: classes.iter().map(|class| class_name(class.from_s.into(), class.below_s.map(u64::from))).collect(),
        errors: "mean absolute error (minutes)",
        series: methods::series(classes.iter().map(|class| (class.jobs, &class.aae_minutes))),
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
        let path = folder.path().join("runtimes.svg");
        draw(&path, &[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]).unwrap();
        let svg = fs::read_to_string(path).unwrap();
        for text in ["SDSC-SP2-1998-4.2-cln: run times", "KTH-SP2-1996-2.1-cln: error by class", "rangeSets", "(minutes)"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
