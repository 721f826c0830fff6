//! The picture: a reliability diagram and errors by class of run time, one row for each log.

use std::path::Path;

use command_parts::plot::{self, ErrorsByClass, Reliability, Series};

use super::RunTimesOfLog;
use crate::evaluate::tables::class_name;
use crate::evaluate::{methods, picture};

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, logs: &[RunTimesOfLog]) -> anyhow::Result<()> {
    picture::draw(path, logs, reliability, errors)
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
    use super::super::sample::report;
    use super::*;

    #[test]
    fn each_log_has_its_diagrams() {
        let svg = picture::drawn(|path| draw(path, &[report("SDSC-SP2-1998-4.2-cln"), report("KTH-SP2-1996-2.1-cln")]));
        for text in ["SDSC-SP2-1998-4.2-cln: run times", "KTH-SP2-1996-2.1-cln: error by class", "rangeSets", "(minutes)"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
