//! The demonstration's table: asked, written, forecast, outcome.

use crate::submissions::{FinishedSubmission, Kind};
use comfy_table::{ContentArrangement, Table, presets};
use job_types::time::Seconds;

/// The table.
pub(crate) fn of(submissions: &[FinishedSubmission]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL).set_content_arrangement(ContentArrangement::Dynamic).set_width(150);
    table.set_header(["job", "asked", "written", "forecast", "what happened"]);
    for submission in submissions {
        table.add_row([submission.name(), asked(submission), written(submission), forecast(submission), happened(submission)]);
    }
    table
}

fn asked(submission: &FinishedSubmission) -> String {
    format!("{} tasks {}", submission.tasks, submission.options)
}

fn written(submission: &FinishedSubmission) -> String {
    let Some(written) = submission.record.as_ref().and_then(|record| record.written.as_ref()) else {
        return if submission.id.is_empty() { "refused".to_owned() } else { "as asked".to_owned() };
    };
    let after = |time: i64| Seconds(time - submission.submitted);
    let parts = [
        written.tasks.map(|tasks| format!("{tasks} tasks")),
        written.begin.map(|begin| format!("begin in {}", after(begin))),
        written.limit_s.map(|limit| format!("limit {}", Seconds(limit))),
        written.hold_until.map(|until| format!("hold until {}", after(until))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn forecast(submission: &FinishedSubmission) -> String {
    let Some(forecast) = submission.record.as_ref().and_then(|record| record.forecast.as_ref()) else { return "-".to_owned() };
    let parts = [
        forecast.wait_s.filter(|_| forecast.reservation_probability.is_none()).map(|wait| format!("wait {}", Seconds(wait))),
        forecast.wait_95_s.filter(|_| forecast.reservation_probability.is_none()).map(|wait| format!("at most {} (95 %)", Seconds(wait))),
        Some(format!("run {} to {}", Seconds(forecast.run_range_s.0), Seconds(forecast.run_range_s.1))),
        forecast.reservation_probability.map(|probability| format!("in time with {probability:.2}")),
        forecast.deadline_probability.map(|probability| format!("done in time with {probability:.2}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn happened(submission: &FinishedSubmission) -> String {
    if submission.id.is_empty() {
        return submission.said.lines().next().map_or("-", |line| line.trim_start_matches("sbatch: error: queuecast: ")).to_owned();
    }
    let waited = Seconds(submission.started - submission.submitted);
    let mut happened = format!("{}: waited {waited}", submission.state.to_lowercase());
    if let (Some(began), true) = (submission.began, matches!(submission.kind, Kind::Reserve | Kind::ReserveAndRun)) {
        let held = Seconds(began - submission.started);
        happened += &format!(", held {held}, began {} after submission", Seconds(began - submission.submitted));
    }
    let ran = submission.began.map_or(submission.started, |began| began.max(submission.started));
    happened + &format!(", ran {}", Seconds(submission.ended - ran))
}
