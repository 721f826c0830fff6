//! How far an assessment has come, on a terminal.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use research::evaluate;
use simulator::assessment::Stage;

/// A bar for each stage on a terminal, nothing elsewhere.
pub(super) struct Bars {
    stages: Vec<ProgressBar>,
}

impl Bars {
    /// Creates the bars before anything is done.
    pub(super) fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let stages = Stage::ALL.map(|stage| {
            let bar = evaluate::bar(&all, name(stage));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self { stages: stages.to_vec() }
    }

    /// Shows that `done` of `all` of a stage is done.
    pub(super) fn show(&self, stage: Stage, done: usize, all: usize) {
        if let Some(bar) = self.stages.get(stage.place()) {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
    }
}

/// Shows on a terminal that a past is read while that is done.
pub(super) fn reading<T>(read: impl FnOnce() -> T) -> T {
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    spinner.set_style(ProgressStyle::with_template("{spinner} {msg}, {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.set_message("reading the past");
    spinner.enable_steady_tick(Duration::from_millis(200));
    let found = read();
    spinner.finish_and_clear();
    found
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.stages.iter().for_each(ProgressBar::finish_and_clear);
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Waits => "forecasts of waits    ",
        Stage::RunTimes => "forecasts of run times",
        Stage::Molding => "molding               ",
        Stage::Schedulers => "schedulers            ",
    }
}
