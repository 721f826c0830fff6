//! The demonstration's table: asked, written, forecast, outcome.

use crate::submissions::{Kind, Outcome};
use comfy_table::{ContentArrangement, Table, presets};
use predictor_core::time::Seconds;

/// The table.
pub(crate) fn of(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL).set_content_arrangement(ContentArrangement::Dynamic).set_width(150);
    table.set_header(["job", "asked", "written", "forecast", "what happened"]);
    for outcome in outcomes {
        table.add_row([outcome.name(), asked(outcome), written(outcome), forecast(outcome), happened(outcome)]);
    }
    table
}

fn asked(outcome: &Outcome) -> String {
    let mut asked = format!("{} tasks", outcome.tasks);
    let relative = |time: i64| Seconds(time - outcome.submitted).to_string();
    for option in outcome.options.split_whitespace() {
        asked += " ";
        asked += &match (option.split_once("=uts"), outcome.time) {
            (Some((name, _)), Some(time)) => format!("{name}=now+{}", relative(time).replace(' ', "")),
            _ => option.to_owned(),
        };
    }
    asked
}

fn written(outcome: &Outcome) -> String {
    let Some(written) = outcome.record.as_ref().and_then(|record| record.written.as_ref()) else {
        return if outcome.id.is_empty() { "refused".to_owned() } else { "as asked".to_owned() };
    };
    let after = |time: i64| Seconds(time - outcome.submitted);
    let parts = [
        written.tasks.map(|tasks| format!("{tasks} tasks")),
        written.begin.map(|begin| format!("begin in {}", after(begin))),
        written.limit_s.map(|limit| format!("limit {}", Seconds(limit))),
        written.hold_until.map(|until| format!("hold until {}", after(until))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn forecast(outcome: &Outcome) -> String {
    let Some(forecast) = outcome.record.as_ref().and_then(|record| record.forecast.as_ref()) else { return "-".to_owned() };
    let parts = [
        forecast.wait_s.filter(|_| forecast.reservation_probability.is_none()).map(|wait| format!("wait {}", Seconds(wait))),
        forecast.wait_95_s.filter(|_| forecast.reservation_probability.is_none()).map(|wait| format!("at most {} (95 %)", Seconds(wait))),
        Some(format!("run {} to {}", Seconds(forecast.run_range_s.0), Seconds(forecast.run_range_s.1))),
        forecast.reservation_probability.map(|probability| format!("in time with {probability:.2}")),
        forecast.deadline_probability.map(|probability| format!("done in time with {probability:.2}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn happened(outcome: &Outcome) -> String {
    if outcome.id.is_empty() {
        return outcome.said.lines().next().map_or("-", |line| line.trim_start_matches("sbatch: error: queuecast: ")).to_owned();
    }
    let waited = Seconds(outcome.started - outcome.submitted);
    let mut happened = format!("{}: waited {waited}", outcome.state.to_lowercase());
    if let (Some(began), true) = (outcome.began, matches!(outcome.kind, Kind::Reserve | Kind::ReserveAndRun)) {
        let held = Seconds(began - outcome.started);
        happened += &format!(", held {held}, began {} after submission", Seconds(began - outcome.submitted));
    }
    let ran = outcome.began.map_or(outcome.started, |began| began.max(outcome.started));
    happened + &format!(", ran {}", Seconds(outcome.ended - ran))
}
