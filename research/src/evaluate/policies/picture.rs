//! The picture: mean response by the work of the jobs, as figures 7 and 9 of Hariharan et al. 2020,
//! one row for each log and protocol.

use std::path::Path;

use command_parts::plot::{self, ErrorsByClass, Series};
use simulator::experiment::WorkClass;

use super::PolicyReport;

/// Draws the picture into a file.
pub(super) fn draw(path: &Path, reports: &[PolicyReport]) -> anyhow::Result<()> {
    plot::write_rows(path, 1, reports, |areas, report| match areas {
        [area, ..] => plot::errors_by_class(area, &diagram(report)),
        [] => Ok(()),
    })
}

fn diagram(report: &PolicyReport) -> ErrorsByClass {
    let classes = &report.found.by_work;
    let series = |name: &str, is_ours, response: fn(&WorkClass) -> f64| Series {
        name: name.to_owned(),
        points: classes
            .iter()
            .enumerate()
            .filter(|(_, class)| class.jobs > 0)
            .map(|(place, class)| (place, response(class) / 60.0))
            .collect(),
        is_ours,
    };
    let name = |(place, class): (usize, &WorkClass)| match classes.get(place + 1) {
        Some(next) => format!("{} to {}", class.at_least_processor_hours, next.at_least_processor_hours),
        None => format!("≥ {}", class.at_least_processor_hours),
    };
    ErrorsByClass {
        title: format!("{}: response by size of job, protocol {}", report.replayed.log, report.protocol.name()),
        what: "processor hours of the job as written",
        classes: classes.iter().enumerate().map(name).collect(),
        errors: "mean response (minutes)",
        series: vec![
            series("as submitted", false, |class| class.baseline_response_s),
            series(&format!("policy {}", report.policy), true, |class| class.response_s),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::reports;
    use super::*;
    use crate::evaluate::picture::drawn;

    #[test]
    fn each_protocol_has_its_diagram() {
        let svg = drawn(|path| draw(path, &reports()));
        for text in ["protocol paper", "protocol work-conserving", "as submitted", "policy best", "processor hours", "(minutes)"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
